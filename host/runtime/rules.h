// SPDX-License-Identifier: MIT
// What launches check before they launch. Every refusal is an Error that begins with the family.
#pragma once
#include <fmt/format.h>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/types.h"

namespace nw {

class Rules {
public:
    explicit constexpr Rules(std::string_view family) : family_(family) {}

    // Throws Error with this text unless `holds`.
    template <class... Args>
    void need(bool holds, fmt::format_string<Args...> text, Args &&...args) const {
        if (!holds)
            throw Error(
                fmt::format("{}: {}", family_, fmt::format(text, std::forward<Args>(args)...)));
    }

    // Not null, and aligned.
    void pointer(const char *argument, const void *, u64 alignment) const;

    // At least `row` bytes, which is what `row_is` says, a multiple of `unit`, below `limit`.
    struct Stride {
        const char *argument;
        u64 bytes;
        u64 row;
        const char *row_is;
        u64 unit;
        u64 limit;
        const char *why_limit;
    };
    void stride(const Stride &) const;

    // What a kernel reads, or writes.
    struct Range {
        const char *argument;
        u64 begin, bytes;
    };
    // `count` rows, `stride` bytes apart, of `row` bytes.
    static Range rows(const char *argument, const void *from, u64 count, u64 stride, u64 row);
    // A workgroup may read what another one has overwritten already. Null inputs are no operands.
    void apart(const Range &result, const Range &in) const;

private:
    std::string_view family_;
};

} // namespace nw
