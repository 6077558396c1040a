// SPDX-License-Identifier: MIT
#include "formats/files/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"

namespace nw {

OutputFile::OutputFile(const std::filesystem::path &path)
    : path_(path), partial_(path.string() + ".partial") {
    open_unnamed();
}

OutputFile::OutputFile(const std::filesystem::path &path, u64 size) : OutputFile(path) {
    reserve(size); // if it throws, the destructor runs: the other constructor is through
}

OutputFile::~OutputFile() {
    if (file_ >= 0)
        close(file_);
    if (named_)
        unlink(partial_.c_str());
}

void OutputFile::open_unnamed() {
    const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
    file_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    if (file_ >= 0)
        return;
    if (errno != EOPNOTSUPP && errno != EISDIR) // EISDIR: the kernel lacks O_TMPFILE
        fail("can't be created");
    file_ = open(partial_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0)
        fail("can't be created (as .partial, which must not exist)");
    named_ = true;
}

void OutputFile::reserve(u64 size) {
    if (size == 0)
        return;
    int result;
    do
        result = fallocate(file_, 0, 0, static_cast<off_t>(size));
    while (result && errno == EINTR);
    if (result && errno != EOPNOTSUPP && errno != ENOSYS)
        throw Error(fmt::format("{}: {} bytes can't be reserved: {}", path_.string(), size,
                                std::strerror(errno)));
}

void OutputFile::write(u64 at, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("can't be written");
        at += static_cast<u64>(n);
        bytes = bytes.subspan(static_cast<u64>(n));
    }
}

void OutputFile::read(u64 at, std::span<std::byte> bytes) const {
    while (!bytes.empty()) {
        const ssize_t n = pread(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("can't be read back");
        at += static_cast<u64>(n);
        bytes = bytes.subspan(static_cast<u64>(n));
    }
}

void OutputFile::commit() {
    if (!named_) { // linkat can't replace a file: link, then rename
        unlink(partial_.c_str());
        const std::string self = fmt::format("/proc/self/fd/{}", file_);
        if (linkat(AT_FDCWD, self.c_str(), AT_FDCWD, partial_.c_str(), AT_SYMLINK_FOLLOW))
            fail("can't be named");
        named_ = true;
    }
    if (close(std::exchange(file_, -1)))
        fail("can't be written");
    if (std::rename(partial_.c_str(), path_.c_str()))
        fail("can't be renamed from .partial");
    named_ = false;
}

void OutputFile::fail(const char *what) const {
    throw Error(fmt::format("{}: {}: {}", path_.string(), what, std::strerror(errno)));
}

} // namespace nw
