// SPDX-License-Identifier: MIT
// Input decoder: the first bytes select the operation on the rest.
#pragma once
#include <algorithm>
#include <cstring>
#include <span>

#include "base/types.h"

namespace nw::fuzz {

class Reader {
public:
    explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

    // Zeros when the input has ended.
    template <class T> T take() {
        T value{};
        auto bytes = take(sizeof value);
        if (!bytes.empty())
            std::memcpy(&value, bytes.data(), bytes.size());
        return value;
    }
    // At most `bytes` of the remaining input.
    std::span<const std::byte> take(u64 bytes) {
        auto first = rest_.first(std::min<u64>(bytes, rest_.size()));
        rest_ = rest_.subspan(first.size());
        return first;
    }
    std::span<const std::byte> rest() const { return rest_; }

private:
    std::span<const std::byte> rest_;
};

} // namespace nw::fuzz
