// SPDX-License-Identifier: MIT
// The forms in which HIP hosts hand over device code: an ELF, a clang offload bundle with one ELF
// per gfx, the same compressed, and the wrapper that compiled programs register.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::hipsim {

// Where an image comes from: bytes whose number is known, or hipModuleLoadData's bare pointer, of
// which only what its own headers announce is read.
class Source {
public:
    explicit Source(std::span<const std::byte> bytes) : begin_(bytes.data()), size_(bytes.size()) {}
    explicit Source(const void *image) : begin_(static_cast<const std::byte *>(image)) {}

    bool read(void *to, u64 offset, u64 bytes) const; // false: not there
    template <class T> std::optional<T> get(u64 offset = 0) const {
        T value;
        return read(&value, offset, sizeof value) ? std::optional(value) : std::nullopt;
    }
    std::vector<std::byte> copy(u64 offset, u64 bytes, std::string_view what) const;
    std::optional<u64> size() const { return size_; }

private:
    const std::byte *begin_;
    std::optional<u64> size_;
};

// The ELF for `gfx`. Fails with hipErrorInvalidImage, or with hipErrorNoBinaryForGpu when the image
// is for other targets; the text says which.
std::vector<std::byte> code_object(const Source &image, std::string_view gfx);

} // namespace nw::hipsim
