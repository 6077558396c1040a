// SPDX-License-Identifier: MIT
// process_vm_readv on this process: the kernel reports a bad address (EFAULT) where a plain load
// would crash.
#include "sim/hip/host_copy.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nw::hipsim {

using Transfer = ssize_t (*)(pid_t, const iovec *, unsigned long, const iovec *, unsigned long,
                             unsigned long);

// `ours` is trusted memory, `theirs` the caller's. Returns false at the first bad page.
static bool transfer(Transfer call, void *ours, void *theirs, u64 bytes) {
    auto *local = static_cast<char *>(ours);
    auto *remote = static_cast<char *>(theirs);
    while (bytes > 0) {
        const u64 step = std::min<u64>(bytes, u64{1} << 30); // one call moves less than 2 GiB
        const iovec here{local, step}, there{remote, step};
        const ssize_t moved = call(getpid(), &here, 1, &there, 1, 0);
        if (moved < 0 && (errno == ENOSYS || errno == EPERM)) { // a sandbox forbids the call
            if (call == process_vm_readv)
                std::memcpy(local, remote, bytes);
            else
                std::memcpy(remote, local, bytes);
            return true;
        }
        if (moved <= 0)
            return false;
        local += moved;
        remote += moved;
        bytes -= static_cast<u64>(moved);
    }
    return true;
}

bool copy_from_caller(void *to, const void *from, u64 bytes) {
    return transfer(process_vm_readv, to, const_cast<void *>(from), bytes);
}

bool copy_to_caller(void *to, const void *from, u64 bytes) {
    return transfer(process_vm_writev, const_cast<void *>(from), to, bytes);
}

} // namespace nw::hipsim
