// SPDX-License-Identifier: MIT
#include "formats/files/mapped_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "base/error.h"
#include "base/types.h"

namespace nw {

namespace {

[[noreturn]] void fail(const std::filesystem::path &path, const char *what) {
    throw Error(fmt::format("{}: {}: {}", path.string(), what, std::strerror(errno)));
}

// madvise requires whole pages: those that overlap the range.
void advise(std::span<const std::byte> part, int advice) {
    static const u64 page = static_cast<u64>(sysconf(_SC_PAGESIZE));
    const u64 begin = reinterpret_cast<u64>(part.data()) / page * page;
    const u64 end = reinterpret_cast<u64>(part.data() + part.size());
    if (end > begin)
        madvise(reinterpret_cast<void *>(begin), end - begin, advice); // a hint may fail
}

} // namespace

MappedFile::MappedFile(const std::filesystem::path &path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK); // don't wait for a pipe
    if (file < 0)
        fail(path, "can't be opened");
    struct stat info {};
    if (fstat(file, &info) || !S_ISREG(info.st_mode)) {
        close(file);
        throw Error(fmt::format("{}: is not a regular file", path.string()));
    }
    if (info.st_size > 0) {
        const u64 size = static_cast<u64>(info.st_size);
        void *at = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
        if (at == MAP_FAILED) {
            close(file);
            fail(path, "can't be mapped");
        }
        bytes_ = {static_cast<const std::byte *>(at), size};
    }
    close(file);
}

MappedFile::~MappedFile() {
    if (!bytes_.empty())
        munmap(const_cast<std::byte *>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile &&other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

void MappedFile::prefetch(std::span<const std::byte> part) { advise(part, MADV_WILLNEED); }
void MappedFile::release(std::span<const std::byte> part) { advise(part, MADV_DONTNEED); }

} // namespace nw
