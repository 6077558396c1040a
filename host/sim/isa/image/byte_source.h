// SPDX-License-Identifier: MIT
// Source of an image: bytes of known size, or a pointer that is read incrementally.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::sim {

class ByteSource {
public:
    virtual ~ByteSource() = default;
    virtual bool read(void *to, u64 offset, u64 bytes) const = 0; // false: out of range
    virtual std::optional<u64> size() const = 0;                  // if known

    template <class T> std::optional<T> get(u64 offset = 0) const {
        T value;
        return read(&value, offset, sizeof value) ? std::optional(value) : std::nullopt;
    }
    bool starts_with(std::string_view magic) const;
    // Throws BadImage, naming `what`, unless all of them exist.
    std::vector<std::byte> copy(u64 offset, u64 bytes, std::string_view what) const;
};

// Bytes of a file.
class SpanSource : public ByteSource {
public:
    explicit SpanSource(std::span<const std::byte> bytes) : bytes_(bytes) {}
    bool read(void *to, u64 offset, u64 bytes) const override;
    std::optional<u64> size() const override { return bytes_.size(); }

private:
    std::span<const std::byte> bytes_;
};

} // namespace nw::sim
