// SPDX-License-Identifier: MIT
// process_vm_readv on this process: the kernel reports a bad address (EFAULT) where a plain load
// would crash. Of much memory it is asked first, and a plain copy follows.
#include "sim/hip/copy/host_copy.h"
#include "sim/hip/stack_range.h"

#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace nw::hipsim {

using Transfer = ssize_t (*)(pid_t, const iovec *, unsigned long, const iovec *, unsigned long,
                             unsigned long);

// Whether all of the caller's pages can be read (or written), which are then mapped. False also
// where the kernel can't tell.
static bool accessible(const void *theirs, u64 bytes, bool write) {
    constexpr u64 page = 4096;
    constexpr int populate_read = 22, populate_write = 23; // MADV_POPULATE_*: since Linux 5.14
    const u64 at = reinterpret_cast<u64>(theirs), begin = at / page * page;
    return madvise(reinterpret_cast<void *>(begin), at + bytes - begin,
                   write ? populate_write : populate_read) == 0;
}

// To look at a page costs far less than process_vm_readv's hold on it: from this size on it pays.
constexpr u64 least_looked_at = u64{64} << 10;

// `ours` is trusted memory, `theirs` the caller's. Returns false at the first bad page.
static bool transfer(Transfer call, void *ours, void *theirs, u64 bytes) {
    auto *local = static_cast<char *>(ours);
    auto *remote = static_cast<char *>(theirs);
    const bool reads = call == process_vm_readv;
    if (bytes >= least_looked_at && accessible(theirs, bytes, !reads)) {
        std::memcpy(reads ? local : remote, reads ? remote : local, bytes);
        return true;
    }
    while (bytes > 0) {
        const u64 step = std::min<u64>(bytes, u64{1} << 30); // one call moves less than 2 GiB
        const iovec here{local, step}, there{remote, step};
        const ssize_t moved = call(getpid(), &here, 1, &there, 1, 0);
        if (moved < 0 && (errno == ENOSYS || errno == EPERM)) { // a sandbox forbids the call
            std::memcpy(reads ? local : remote, reads ? remote : local, bytes);
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

// In frames of this thread that are in use: most arguments of launches are, and need no help.
static bool on_this_stack(const void *from, u64 bytes) {
    const StackRange &stack = this_stack();
    const u64 frame = reinterpret_cast<u64>(__builtin_frame_address(0)),
              begin = reinterpret_cast<u64>(from);
    return frame >= stack.low && frame <= begin && begin <= stack.high &&
           bytes <= stack.high - begin;
}

bool copy_from_caller(void *to, const void *from, u64 bytes) {
    if (on_this_stack(from, bytes)) {
        std::memcpy(to, from, bytes);
        return true;
    }
    return transfer(process_vm_readv, to, const_cast<void *>(from), bytes);
}

bool copy_from_caller(std::span<const FromCaller> copies) {
    if (std::ranges::all_of(copies, [](const auto &c) { return on_this_stack(c.from, c.bytes); })) {
        for (const auto &[to, from, bytes] : copies)
            std::memcpy(to, from, bytes);
        return true;
    }
    constexpr size_t at_once = 32;
    for (; !copies.empty(); copies = copies.subspan(std::min(copies.size(), at_once))) {
        const auto some = copies.first(std::min(copies.size(), at_once));
        iovec here[at_once], there[at_once];
        u64 bytes = 0;
        for (size_t n = 0; n < some.size(); ++n) {
            here[n] = {some[n].to, some[n].bytes};
            there[n] = {const_cast<void *>(some[n].from), some[n].bytes};
            bytes += some[n].bytes;
        }
        const ssize_t moved = process_vm_readv(getpid(), here, some.size(), there, some.size(), 0);
        if (moved >= 0 && static_cast<u64>(moved) == bytes)
            continue;
        for (const FromCaller &each : some)
            if (!copy_from_caller(each.to, each.from, each.bytes))
                return false;
    }
    return true;
}

bool copy_to_caller(void *to, const void *from, u64 bytes) {
    return transfer(process_vm_writev, const_cast<void *>(from), to, bytes);
}

int descriptor_of(const void *shared) {
    int descriptor = 0;
    return copy_from_caller(&descriptor, shared, sizeof descriptor)
               ? descriptor
               : static_cast<int>(reinterpret_cast<std::intptr_t>(shared));
}

} // namespace nw::hipsim
