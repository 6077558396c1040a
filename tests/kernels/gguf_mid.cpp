// SPDX-License-Identifier: MIT
// gguf_halves and gguf_mid: every bit, and how near to the product without f16.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "check/check.h"
#include "check/ops.h"
#include "gguf_case.h"
#include "ref/gguf_halves.h"
#include "ref/gguf_mid.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

// The f16 scales of a block, as bits of what is not finite.
struct Sick {
    u32 row, block;
    u16 bits;
};

void make_sick(std::vector<std::byte> &w, const check::GgufType &type, const Sick &sick, u32 k) {
    const u64 block = u64{sick.row} * (k / type.info.elements) + sick.block;
    for (u32 at : type.scales)
        std::memcpy(&w[block * type.info.bytes + at], &sick.bits, 2);
}

// Super-blocks of a workgroup, 0: as the library would; by_tile: none has any of two tiles, else
// shares may end within tiles.
struct Share {
    u32 share = 0;
    bool by_tile = false;
};

// For each of x the largest of its block of 32.
std::vector<f32> block_maxima(std::vector<f32> x) {
    for (u64 at = 0; at < x.size(); at += 32) {
        f32 most = 0;
        for (u64 i = at; i < at + 32; ++i)
            most = std::max(most, std::fabs(x[i]));
        std::fill_n(&x[at], 32, most);
    }
    return x;
}

// sick: its row of w makes results that are not finite, and no other. hard: activations at the ends
// of f32's range, whose results are finite.
void check_product(Test &t, const Kernel &kernel, u32 m, u32 n, u32 k, Share dealt = {},
                   std::optional<Sick> sick = {}, bool hard = false,
                   std::source_location where = std::source_location::current()) {
    const std::string name = kernel.param("type");
    const Machine machine = machine_of(t.modules.device());
    Op op = linear_gguf(name, m, n, k);
    const u32 supers = ceil_div(k, 256u);
    if (dealt.share) {
        op.share = dealt.share;
        op.tile_units = dealt.by_tile ? round_up(supers, dealt.share) : supers;
    }
    const Op derived = check::derived(kernel, op, machine);
    const u32 share = static_cast<u32>(derived.share);
    const u32 tile_units = static_cast<u32>(derived.tile_units);
    t.shape(fmt::format("m={} n={} k={} share={} tile_units={}", m, n, k, share, tile_units));
    const u32 tiles = gguf_halves_tiles(m);
    const check::GgufType type = check::gguf_type(kernel);
    const std::vector<f32> x =
        hard ? check::hard_rows(m, k) : check::gguf_activations(t.rng, u64{m} * k);
    const std::vector<std::byte> halves = ref::gguf_halves(x, m, k, tiles, {.at_end = true});
    const auto random = hard ? check::gguf_small_blocks : check::gguf_random_blocks;
    std::vector<std::byte> w = random(t.rng, type, u64{n} * (k / type.info.elements));
    if (sick)
        make_sick(w, type, *sick, k);
    const std::vector<f32> before(u64{m} * n, -777.0f);
    const u64 counters =
        ceil_div<u64>(m, kernel.number("bm")) * ceil_div<u64>(n, kernel.rows_per_workgroup);
    const std::vector<std::byte> any(check::scratch_bytes(kernel, op, machine, &Op::parts),
                                     std::byte{0x7f}),
        none(4 * counters);
    const Region a = t.region<std::byte>(halves), weights = t.region<std::byte>(w),
                 c = t.region<f32>(before), parts = t.region<std::byte>(any),
                 arrived = t.region<std::byte>(none);
    op =
        GgufLaunch{name, m, n, k, a.data(), weights.data(), c.data(), parts.data(), arrived.data()};
    op.share = share, op.tile_units = tile_units;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("w", weights, where);
    t.unchanged("arrived", arrived, where);
    t.guards_clean("parts", parts, where);
    const ref::GgufMidProduct product{type.info.id,
                                      m,
                                      n,
                                      k,
                                      tiles,
                                      kernel.number("bm"),
                                      kernel.rows_per_workgroup,
                                      share,
                                      tile_units,
                                      kernel.gfx,
                                      halves,
                                      w};
    const std::vector<f32> want = ref::gguf_mid(product);
    check::same_bits(t, "c", c, want, where);
    if (sick) {
        for (u64 i = 0; i < want.size(); ++i)
            if (std::isfinite(want[i]) != (i % n != sick->row))
                t.fail(fmt::format("c[{}] is {} beside a row {} with scale {:#06x}", i, want[i],
                                   sick->row, sick->bits),
                       where);
        return;
    }
    const ref::GgufMidExact exact = ref::gguf_mid_exact(x, product);
    if (hard) { // beside an activation, others of its WMMA have its grid, of subnormal quants
                // (S-004)
        std::vector<f64> sizes = check::product_sizes(type, m, n, k, block_maxima(x), w);
        for (f64 &size : sizes)
            size *= 8;
        check::in_range(t, want, exact.c, exact.tolerance, sizes, where);
    } else
        check::near_exact(t, want, exact.c, exact.tolerance, where);
}

void check_halves(Test &t, const Kernel &kernel, std::span<const f32> x, u32 m, u32 k,
                  const char *what, ref::HalvesForm form = {},
                  std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} {}{}{}", m, k, what, form.by_row ? ", by row" : "",
                        form.at_end ? ", at the end" : ""));
    const std::vector<std::byte> before(gguf_halves_bytes(m, k), std::byte{0x5e});
    const u32 padding = 8; // floats between rows
    std::vector<f32> apart(u64{m} * (k + padding), std::numeric_limits<f32>::quiet_NaN());
    for (u32 row = 0; row < m; ++row)
        std::ranges::copy(x.subspan(u64{row} * k, k), &apart[u64{row} * (k + padding)]);
    const Region from = t.region<f32>(apart), y = t.region<std::byte>(before);
    launch(t.modules, kernel,
           GgufHalves{
               {m, k, from.data(), u64{4} * (k + padding), y.data(), form.by_row, form.at_end}});
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("y", y, where);
    const std::vector<std::byte> got = y.read(),
                                 want = ref::gguf_halves(x, m, k, gguf_halves_tiles(m), form);
    const u32 tiles = gguf_halves_tiles(m);
    const u64 shifts = ref::HalvesLayout{ceil_div(k, 256u), tiles, form.by_row}.shift(0);
    for (u64 i = 0; i < got.size(); i += 2) {
        u16 g, w;
        std::memcpy(&g, &got[i], 2);
        std::memcpy(&w, &want[i], 2);
        const auto nan = [](u16 h) { return (h & 0x7fff) > 0x7c00; };
        const bool is_shift = i >= shifts && i < shifts + 64 * tiles;
        if (g != w && (is_shift || !nan(g) || !nan(w))) {
            t.fail(fmt::format("y[{}] is {:#06x}, not {:#06x}", i / 2, g, w), where);
            return;
        }
    }
}

} // namespace

CHECK_FAMILY(gguf_halves) {
    if (t.entry)
        return check_halves(t, kernel, check::gguf_activations(t.rng, 17 * 256), 17, 256, "entry");
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        check_halves(t, kernel, check::gguf_activations(t.rng, u64{m} * k), m, k, "edge");
    if (!t.checkers)
        check_halves(t, kernel, check::gguf_activations(t.rng, 40 * 10496), 40, 10496, "wide");
    constexpr f32 infinity = std::numeric_limits<f32>::infinity();
    constexpr u32 k = 512;
    std::vector<f32> x = check::gguf_activations(t.rng, 7 * k);
    x[5] = infinity;
    x[k + 40] = std::numeric_limits<f32>::quiet_NaN();
    for (u32 i = 0; i < k; ++i) {
        x[2 * k + i] = 0;
        x[3 * k + i] = i % 2 ? 3e38f : -2e38f;
        x[4 * k + i] = std::ldexp(1.0f, -static_cast<int>(i % 160)); // down to subnormal f16, and 0
        x[5 * k + i] = std::numeric_limits<f32>::denorm_min() * static_cast<f32>(i);
        x[6 * k + i] = std::ldexp(1.0f + static_cast<f32>(i) / 4096, 120); // halfway, too
    }
    check_halves(t, kernel, x, 7, k, "extremes");
    check_halves(t, kernel, check::hard_rows(10, k), 10, k, "hard");
    check_halves(t, kernel, check::gguf_activations(t.rng, 35 * 288), 35, 288, "any",
                 {.by_row = true});
    for (const auto &[m, k] :
         {std::pair(35u, 288u), {3u, 2880u}, {17u, 248u}, {1u, 504u}, {2u, 512u}})
        for (const bool by_row : {false, true})
            check_halves(t, kernel, check::gguf_activations(t.rng, u64{m} * k), m, k, "any",
                         {by_row, true});
}

CHECK_FAMILY(gguf_mid) {
    const u32 rows = kernel.rows_per_workgroup, bm = kernel.number("bm");
    if (t.entry)
        return check_product(t, kernel, bm, rows + 1, 256);
    check_product(t, kernel, bm, 1, 256); // one of all columns
    check_product(t, kernel, bm, 5, 512, {}, {}, true);
    const check::GgufType type = check::gguf_type(kernel);
    const auto sick = [&](const Sick &one) { // of types with scales that can be
        return type.scales.empty() ? std::nullopt : std::optional(one);
    };
    check_product(t, kernel, bm - 1, 5, 512, {}, sick({2, 512 / type.info.elements - 1, 0x7e01}));
    if (type.info.elements < 256) { // the last super-block overlaps the one before
        check_product(t, kernel, bm, rows + 1, 320);
        check_product(t, kernel, bm - 3, 5, 320, {}, sick({3, 3, 0x7c00}));
        check_product(t, kernel, bm - 2, rows - 1, 832, {3}); // and is a share
    }
    check_product(t, kernel, bm - 5, rows + 1, 2560, {7}); // shares end within tiles
    check_product(t, kernel, bm + 3, rows + 5, 2560,
                  {4, true}); // the last of three is half as long
    check_product(t, kernel, 2 * bm + 1, rows + 17, 2304,
                  {1}); // nine workgroups to each of six tiles
    if (t.checkers)
        return;
    if (type.info.elements < 256)
        check_product(t, kernel, bm + 9, rows + 17, 2880, {5}); // shares end within tiles
    for (const auto &shape : check::edge_shapes(kernel))
        if (16 * gguf_halves_tiles(shape.m) >= bm) // else the contract refuses the kernel
            check_product(t, kernel, shape.m, shape.n, shape.k);
    check_product(t, kernel, bm, 2 * rows - 1, 4096, {21}); // more than a tile
    check_product(t, kernel, bm + 1, rows, 4864, {19});     // a tile
    check_product(t, kernel, bm, 4 * rows, 1536, {~0u});    // one workgroup for all
    check_product(t, kernel, bm, 12 * rows, 512);
}
