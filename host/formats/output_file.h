// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

#include "base/types.h"

namespace nw {

// A file that has no name until it is whole: a process that fails, or is killed, leaves nothing.
// Where the file system can't do that (O_TMPFILE), it is called `PATH.partial` until then, and
// removed when this object goes first. Writing and reading may happen on many threads at once.
class OutputFile {
public:
    // `size` bytes are reserved at once, so that a full disk is known before the work.
    OutputFile(const std::filesystem::path &, u64 size); // throws Error, as do all below
    ~OutputFile();
    OutputFile(const OutputFile &) = delete;

    void write(u64 at, std::span<const std::byte>);
    void read(u64 at, std::span<std::byte>) const;
    void commit(); // gives it its name, in place of what had it

private:
    explicit OutputFile(const std::filesystem::path &);
    void open_unnamed();
    void reserve(u64 size);
    [[noreturn]] void fail(const char *what) const;

    std::filesystem::path path_, partial_;
    int file_ = -1;
    bool named_ = false; // as partial_
};

} // namespace nw
