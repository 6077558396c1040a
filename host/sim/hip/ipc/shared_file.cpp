// SPDX-License-Identifier: MIT
#include "sim/hip/ipc/shared_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "sim/hip/error.h"

namespace nw::hipsim {

SharedFile::SharedFile(u64 bytes) : descriptor_(memfd_create("hipsim", MFD_CLOEXEC)) {
    if (descriptor_ >= 0 && ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0)
        return;
    if (descriptor_ >= 0)
        ::close(descriptor_);
    fail(hipErrorOutOfMemory,
         fmt::format("no memory file of {} bytes: {}", bytes, strerror(errno)));
}

SharedFile::~SharedFile() { ::close(descriptor_); }

u64 SharedFile::bytes() const {
    struct stat file {};
    return fstat(descriptor_, &file) == 0 ? static_cast<u64>(file.st_size) : 0;
}

FileName SharedFile::name() const {
    struct stat file {};
    require(fstat(descriptor_, &file) == 0, hipErrorUnknown);
    return {getpid(), descriptor_, file.st_dev, file.st_ino};
}

void *SharedFile::map(u64 offset, u64 bytes, void *place) const {
    void *const at =
        mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (place ? MAP_FIXED : 0),
             descriptor_, static_cast<off_t>(offset));
    require(at != MAP_FAILED, hipErrorOutOfMemory);
    return at;
}

int open_file(const FileName &name, std::string &why) {
    const std::string process = fmt::format("/proc/{}", name.process);
    const std::string path = fmt::format("{}/fd/{}", process, name.descriptor);
    // Never a pipe's other end: the number may be any file's by now.
    const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0) {
        const int error = errno;
        why = access(process.c_str(), F_OK) != 0
                  ? fmt::format("process {} has ended, or isn't visible here", name.process)
              : error == EACCES
                  ? fmt::format("{}: permission denied; both processes need the same user", path)
                  : fmt::format("process {} has freed it", name.process);
        return -1;
    }
    struct stat file {};
    if (fstat(descriptor, &file) == 0 && S_ISREG(file.st_mode) && file.st_dev == name.device &&
        file.st_ino == name.inode)
        return descriptor;
    ::close(descriptor);
    why = fmt::format("process {} has freed it", name.process);
    return -1;
}

} // namespace nw::hipsim
