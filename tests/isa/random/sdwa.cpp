// SPDX-License-Identifier: MIT
#include "isa/random/sdwa.h"

#include <fmt/format.h>

namespace nw::oracle {

namespace {

constexpr Sdwa::Piece dword{},
    bytes[] = {{"BYTE_0", 8, 0}, {"BYTE_1", 8, 8}, {"BYTE_2", 8, 16}, {"BYTE_3", 8, 24}},
    words[] = {{"WORD_0", 16, 0}, {"WORD_1", 16, 16}};
constexpr const char *rest_names[] = {"UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"};

u64 ones(unsigned bits) { return (u64{1} << bits) - 1; }

} // namespace

std::string Sdwa::text(unsigned count, bool has_result) const {
    std::string text;
    if (has_result)
        text = fmt::format(" dst_sel:{} dst_unused:{}", result.name,
                           rest_names[static_cast<unsigned>(rest)]);
    for (unsigned n = 0; n < count; ++n)
        text += fmt::format(" src{}_sel:{}", n, source[n].name);
    return text;
}

u64 Sdwa::take(u64 value, unsigned n) const {
    const Piece &p = source[n];
    value = value >> p.shift & ones(p.bits);
    const bool negative = sign[n] && value >> (p.bits - 1) & 1;
    return negative ? value | (ones(32) & ~ones(p.bits)) : value;
}

u64 Sdwa::place(u64 value, u64 old) const {
    const u64 mask = ones(result.bits) << result.shift, placed = value << result.shift & mask;
    const u64 above = ones(32) & ~ones(result.bits + result.shift);
    switch (rest) {
    case Rest::kept:
        return placed | (old & ones(32) & ~mask);
    case Rest::sign:
        return placed >> (result.bits + result.shift - 1) & 1 ? placed | above : placed;
    default:
        return placed;
    }
}

std::vector<Sdwa> sdwa_forms(bool half) {
    using Rest = Sdwa::Rest;
    const Sdwa::Piece whole = half ? words[0] : dword;
    return {{{bytes[1], words[1]}, {}, whole, Rest::zeros},
            {{words[0], bytes[3]}, {true, false}, whole, Rest::sign},
            {{dword, bytes[0]}, {false, true}, words[1], Rest::kept},
            {{words[1], dword}, {true, true}, words[1], Rest::zeros},
            {{bytes[2], words[0]}, {true, true}, words[0], Rest::sign},
            {{dword, dword}, {}, bytes[2], Rest::sign},
            {{bytes[0], words[1]}, {}, bytes[3], Rest::kept},
            {{words[0], words[0]}, {}, bytes[1], Rest::kept}};
}

} // namespace nw::oracle
