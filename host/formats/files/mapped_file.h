// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <filesystem>
#include <span>

namespace nw {

// A regular file, mapped for reading. If another process truncates it, accesses raise SIGBUS.
class MappedFile {
public:
    explicit MappedFile(const std::filesystem::path &); // throws Error
    ~MappedFile();
    MappedFile(MappedFile &&) noexcept;
    MappedFile &operator=(MappedFile &&) = delete;

    std::span<const std::byte> bytes() const { return bytes_; }

    // Hints for a part of the mapping: needed soon; no longer needed.
    static void prefetch(std::span<const std::byte>);
    static void release(std::span<const std::byte>);

private:
    std::span<const std::byte> bytes_;
};

} // namespace nw
