// SPDX-License-Identifier: MIT
// Memory files: pages that several processes map. One process names a file of its own, another
// opens it by that name.
#pragma once
#include <cstring>
#include <string>

#include "base/types.h"

namespace nw::hipsim {

inline constexpr u64 host_page = 4096; // bytes

// Where another process finds an open file of this one: /proc/<process>/fd/<descriptor>. The inode
// tells it from a later file with the same number.
struct FileName {
    i32 process = 0;
    i32 descriptor = -1;
    u64 device = 0, inode = 0;
    bool operator==(const FileName &) const = default;
};

class SharedFile {
public:
    explicit SharedFile(u64 bytes); // of zeros; hipErrorOutOfMemory
    explicit SharedFile(int descriptor) : descriptor_(descriptor) {} // owned from now on
    ~SharedFile();
    SharedFile(const SharedFile &) = delete;

    int descriptor() const { return descriptor_; }
    u64 bytes() const; // 0 when the system won't say
    FileName name() const;
    // Maps [offset, offset + bytes); at `place` in the stead of what is there, if given.
    // hipErrorOutOfMemory.
    void *map(u64 offset, u64 bytes, void *place = nullptr) const;

private:
    const int descriptor_;
};

// The descriptor of another process's file, owned by the caller. Negative when it can't be had;
// `why` then ends a sentence that begins with what is missing.
int open_file(const FileName &name, std::string &why);

// HIP's opaque handles are bytes, which carry what they stand for.
template <class Handle, class Contents> Handle pack(const Contents &contents) {
    static_assert(sizeof(Contents) <= sizeof(Handle));
    Handle handle{};
    std::memcpy(&handle, &contents, sizeof contents);
    return handle;
}
template <class Contents, class Handle> Contents unpack(const Handle &handle) {
    static_assert(sizeof(Contents) <= sizeof(Handle));
    Contents contents;
    std::memcpy(static_cast<void *>(&contents), &handle, sizeof contents);
    return contents;
}

} // namespace nw::hipsim
