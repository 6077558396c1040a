// SPDX-License-Identifier: MIT
#include "ref/gguf_halves.h"

#include <cmath>
#include <cstring>

#include "base/half.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 super_k = 256, block_k = 32, blocks = super_k / block_k;
constexpr u64 tile_bytes = 8192, sums_bytes = 256, fine_bytes = 512;
constexpr int top = 9;
constexpr u32 order[8] = {0, 2, 1, 3, 4, 6, 5, 7}; // of eight consecutive values; self-inverse

void put_half(std::byte *p, f32 x) {
    const u16 bits = f32_to_f16(x);
    std::memcpy(p, &bits, 2);
}

// Exponent of a row; that of 0 if the row has no other finite value.
int exponent_of(f32 most) {
    int e = 0;
    if (std::isfinite(most))
        std::frexp(most, &e);
    return e;
}

// Sum of eight, then of two such sums.
f32 sum_16(const f32 *x) {
    f32 two[2];
    for (int i = 0; i < 2; ++i, x += 8)
        two[i] = ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
    return two[0] + two[1];
}

} // namespace

u64 HalvesLayout::value(u32 row, u32 place) const {
    const u32 in = place % super_k, piece = in / 32 * 4 + in / 8 % 2 * 2 + in / 16 % 2;
    return (place / super_k * tiles + row / 16) * tile_bytes + piece * (by_row ? 16 : 256) +
           row % 16 * (by_row ? 512 : 16) + order[in % 8] * 2;
}

u64 HalvesLayout::sum(u32 row, u64 block) const {
    return supers * tiles * tile_bytes + (block / blocks * tiles + row / 16) * sums_bytes +
           row % 16 * 16 + block % blocks * 2;
}

u64 HalvesLayout::shift(u32 row) const {
    return supers * tiles * (tile_bytes + sums_bytes) + 4 * row;
}

u64 HalvesLayout::fine_sum(u32 row, u64 sixteen) const {
    return shift(static_cast<u32>(16 * tiles)) +
           (sixteen / (2 * blocks) * tiles + row / 16) * fine_bytes + row % 16 * 32 +
           sixteen % (2 * blocks) * 2;
}

u64 HalvesLayout::bytes() const { return fine_sum(0, supers * 2 * blocks); }

std::array<u32, 16> order_of(WmmaSum kind, bool sixteens, u32 step) {
    std::array<u32, 16> out;
    for (u32 i = 0; i < 16; ++i) {
        // gfx12 takes four k from a lower lane, then four from an upper one.
        const u32 upper = kind == WmmaSum::gfx11 ? i / 8 : i / 4 % 2;
        const u32 in = kind == WmmaSum::gfx11 ? i % 8 : i / 8 * 4 + i % 4;
        out[i] = (sixteens ? 16 * step + 8 * upper : 16 * upper + 8 * step) + order[in];
    }
    return out;
}

u32 place_at_end(u32 i, u32 k) {
    const u32 padded = round_up(k, super_k);
    return i < padded - super_k ? i : i + (padded - k);
}

std::vector<std::byte> gguf_halves(std::span<const f32> x, u32 m, u32 k, u32 tiles,
                                   HalvesForm form) {
    need_size("x", x.size(), u64{m} * k);
    if (k == 0 || k % 8 || m > u64{16} * tiles)
        throw Error(fmt::format("k = {}, m = {}, tiles = {}: k must be a multiple of 8, m at most "
                                "16 * tiles",
                                k, m, tiles));
    const HalvesLayout at{ceil_div(k, super_k), tiles, form.by_row};
    std::vector<std::byte> out(at.bytes());
    for (u32 row = 0; row < 16 * tiles; ++row) {
        std::vector<f32> v(at.supers * super_k);
        f32 most = 0;
        for (u32 i = 0; row < m && i < k; ++i)
            most = std::fmax(most, std::fabs(x[u64{row} * k + i]));
        const i32 shift = exponent_of(most) - top;
        for (u32 i = 0; row < m && i < k; ++i)
            v[form.at_end ? place_at_end(i, k) : i] = std::ldexp(x[u64{row} * k + i], -shift);
        for (u32 i = 0; i < v.size(); ++i) { // times a unit, plus 0, rounded once: a 0 has no sign
            const f64 value = f64{v[i]} * (i / block_k % 2 ? 0x1p-4 : 1) + 0;
            put_half(&out[at.value(row, i)], static_cast<f32>(value));
        }
        for (u32 b = 0; b < v.size() / block_k; ++b) {
            const f32 first = sum_16(&v[u64{b} * block_k]), second = sum_16(&v[b * block_k + 16]);
            put_half(&out[at.fine_sum(row, 2 * b)], first);
            put_half(&out[at.fine_sum(row, 2 * b + 1)], second);
            put_half(&out[at.sum(row, b)], first + second);
        }
        std::memcpy(&out[at.shift(row)], &shift, 4);
    }
    return out;
}

} // namespace nw::ref
