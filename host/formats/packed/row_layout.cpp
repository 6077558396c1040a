// SPDX-License-Identifier: MIT
#include "formats/packed/row_layout.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "base/error.h"
#include "base/parallel.h"

namespace nw {

namespace {

constexpr u64 weights_per_thread = 1 << 18;

void need(bool holds, const std::string &text) {
    if (!holds)
        throw Error(text);
}

void need_size(const char *what, u64 got, u64 want, const char *rule) {
    need(got == want, fmt::format("{} has {} elements, needs {} ({})", what, got, want, rule));
}

u64 rows_per_thread(const RowLayout &l) { return 1 + weights_per_thread / l.k; }

} // namespace

RowLayout RowLayout::tight(u32 n, u32 k, u32 group) {
    RowLayout l{n, k, group, 0, 0};
    l.w_stride = round_up<u64>(k / 2, 16);
    l.s_stride = group ? l.scale_row_bytes() : 0;
    validate(l);
    return l;
}

void validate(const RowLayout &l) {
    need(l.n >= 1, "n = 0: a layout needs at least one row");
    need(l.group == 32 || l.group == 64 || l.group == 128,
         fmt::format("group = {}: must be 32, 64 or 128", l.group));
    need(l.k > 0 && l.k % l.group == 0,
         fmt::format("k = {}: must be a positive multiple of the group size {}; pad the "
                     "weights with zeros to K = {}",
                     l.k, l.group, round_up<u64>(std::max(l.k, 1u), l.group)));
    need(l.w_stride >= l.row_bytes() && l.w_stride % 16 == 0,
         fmt::format("w_stride = {}: must be a multiple of 16 and at least K/2 = {} bytes",
                     l.w_stride, l.row_bytes()));
    need(l.s_stride >= l.scale_row_bytes() && l.s_stride % 2 == 0,
         fmt::format("s_stride = {}: must be even and at least 2*K/G = {} bytes", l.s_stride,
                     l.scale_row_bytes()));
}

void pack_row(std::span<const u8> nibbles, std::span<u32> dwords) {
    for (std::size_t d = 0; d < dwords.size(); ++d) {
        u32 word = 0;
        for (u32 i = 0; i < 8; ++i)
            word |= static_cast<u32>(nibbles[8 * d + nibble_order[i]]) << 4 * i;
        dwords[d] = word;
    }
}

void unpack_row(std::span<const u32> dwords, std::span<u8> nibbles) {
    for (std::size_t d = 0; d < dwords.size(); ++d)
        for (u32 i = 0; i < 8; ++i)
            nibbles[8 * d + nibble_order[i]] = dwords[d] >> 4 * i & 15;
}

std::vector<u8> pack_rows(std::span<const u8> nibbles, const RowLayout &l, u8 padding) {
    validate(l);
    need_size("nibbles", nibbles.size(), u64{l.n} * l.k, "N*K");
    std::vector<u8> packed(l.weight_bytes(), padding);
    parallel_for(l.n, rows_per_thread(l), [&](u64 begin, u64 end) {
        std::vector<u32> dwords(l.k / 8);
        for (u64 row = begin; row < end; ++row) {
            const std::span<const u8> from = nibbles.subspan(row * l.k, l.k);
            const auto bad = std::ranges::find_if(from, [](u8 q) { return q > 15; });
            if (bad != from.end())
                throw Error(fmt::format("nibble [{}, {}] is {}: must be 0..15", row,
                                        bad - from.begin(), *bad));
            pack_row(from, dwords);
            std::memcpy(packed.data() + row * l.w_stride, dwords.data(), l.row_bytes());
        }
    });
    return packed;
}

std::vector<u8> unpack_rows(std::span<const u8> packed, const RowLayout &l) {
    validate(l);
    need_size("packed weights", packed.size(), l.weight_bytes(), "N*w_stride bytes");
    std::vector<u8> nibbles(u64{l.n} * l.k);
    parallel_for(l.n, rows_per_thread(l), [&](u64 begin, u64 end) {
        std::vector<u32> dwords(l.k / 8);
        for (u64 row = begin; row < end; ++row) {
            std::memcpy(dwords.data(), packed.data() + row * l.w_stride, l.row_bytes());
            unpack_row(dwords, std::span(nibbles).subspan(row * l.k, l.k));
        }
    });
    return nibbles;
}

std::vector<u8> pack_scales(std::span<const u16> scales, const RowLayout &l, u8 padding) {
    validate(l);
    const u64 groups = l.k / l.group;
    need_size("scales", scales.size(), l.n * groups, "N*K/G");
    std::vector<u8> packed(l.scale_bytes(), padding);
    for (u64 row = 0; row < l.n; ++row)
        std::memcpy(packed.data() + row * l.s_stride, scales.data() + row * groups, 2 * groups);
    return packed;
}

std::vector<u16> unpack_scales(std::span<const u8> packed, const RowLayout &l) {
    validate(l);
    need_size("packed scales", packed.size(), l.scale_bytes(), "N*s_stride bytes");
    const u64 groups = l.k / l.group;
    std::vector<u16> scales(l.n * groups);
    for (u64 row = 0; row < l.n; ++row)
        std::memcpy(scales.data() + row * groups, packed.data() + row * l.s_stride, 2 * groups);
    return scales;
}

} // namespace nw
