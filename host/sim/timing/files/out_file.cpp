// SPDX-License-Identifier: MIT
#include "sim/timing/files/out_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/error.h"

namespace nw::sim::timing {

OutFile::OutFile(std::string path, Complain complain)
    : path_(std::move(path)), complain_(std::move(complain)) {
    file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file_ < 0)
        throw Error(fmt::format("{}: {}", path_, std::strerror(errno)));
}

OutFile::~OutFile() { ::close(file_); }

void OutFile::write(std::string_view text, u64 at) {
    while (!text.empty() && !failed_) {
        const ssize_t written = pwrite(file_, text.data(), text.size(), static_cast<off_t>(at));
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            failed_ = true;
            complain_(fmt::format("{}: {}: it ends here", path_, std::strerror(errno)));
            return;
        }
        text.remove_prefix(static_cast<size_t>(written));
        at += static_cast<u64>(written);
    }
}

void OutFile::append(std::string_view text) {
    write(text, end_);
    end_ += text.size();
}

void OutFile::close_with(std::string_view tail) {
    write(tail, end_);
    // Pipes and terminals can't be truncated.
    if (!failed_ && ftruncate(file_, static_cast<off_t>(end_ + tail.size())) != 0)
        return;
}

} // namespace nw::sim::timing
