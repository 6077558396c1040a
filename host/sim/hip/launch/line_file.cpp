// SPDX-License-Identifier: MIT
#include "sim/hip/launch/line_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "sim/hip/error.h"

namespace nw::hipsim {

void LineFile::open(const char *variable, const std::string &path) {
    variable_ = variable;
    if (path.empty())
        return;
    file_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file_ < 0)
        throw Error(fmt::format("{}={}: {}; name a file in a writable directory", variable_, path,
                                std::strerror(errno)));
}

LineFile::~LineFile() {
    if (file_ >= 0)
        close(file_);
}

std::string text_of(const nlohmann::ordered_json &line) {
    using Handler = nlohmann::ordered_json::error_handler_t;
    return line.dump(-1, ' ', false, Handler::replace);
}

void LineFile::append(const nlohmann::ordered_json &line) {
    const std::string text = text_of(line) + "\n"; // one write: processes don't mix theirs
    if (write(file_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        say(fmt::format("{}: can't write a line: {}", variable_, std::strerror(errno)));
}

} // namespace nw::hipsim
