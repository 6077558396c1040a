// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

#include "base/types.h"

namespace nw {

// Writes to an unnamed temporary file (O_TMPFILE) and links it to its path on commit, so a process
// that fails or is killed leaves nothing. Without O_TMPFILE the file is `PATH.partial` until
// commit, and the destructor removes it. Writes and reads are thread-safe.
class OutputFile {
public:
    // Reserves `size` bytes first, so that a full disk is detected before the work.
    OutputFile(const std::filesystem::path &, u64 size); // throws Error, as do all below
    ~OutputFile();
    OutputFile(const OutputFile &) = delete;

    void write(u64 at, std::span<const std::byte>);
    void read(u64 at, std::span<std::byte>) const;
    void commit(); // renames it to its path, replacing an existing file

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
