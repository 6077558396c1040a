// SPDX-License-Identifier: MIT
// splitk_w4a16: every row of the registry against the reference, on shapes derived from the row:
// rounds over the rows, waves that only copy, tails of K within a step, zero points.
#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "check/decode_bound.h"
#include "decode_case.h"
#include "formats/packed/row_layout.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_load = 512; // of a row, 16 to a lane
constexpr u32 max_activations = 32768;

u32 to_groups(const Kernel &k, u32 columns) { return round_up(columns, k.number("group")); }
u32 largest_k(const Kernel &k) { return max_activations / k.number("m"); }
u32 k_per_step(const Kernel &k) { return k_per_load * k.number("unroll"); }

DecodeCase make_case(const Kernel &kernel, u32 n, u32 k, Rng &rng) {
    DecodeCase p(kernel, n, k, rng);
    if (kernel.param("zeros") == "zp") {
        p.z.resize(p.s.size());
        for (u16 &z : p.z)
            z = p.word(rng.below(16));
    }
    return p;
}

struct Grid {
    u32 groups, waves;
};

std::vector<u16> run(Test &t, const Kernel &kernel, const DecodeCase &p, Grid grid) {
    RowLayout layout = RowLayout::tight(p.n, p.k, p.group);
    layout.w_stride += p.w_pad;
    layout.s_stride += p.s_pad;
    const auto a = t.region<u16>(p.a);
    const auto w = t.region<u8>(pack_rows(p.q, layout, 0xff));
    const auto s = t.region<u8>(pack_scales(p.s, layout, 0xff));
    const auto z = t.region<u8>(p.z.empty() ? std::vector<u8>()
                                            : pack_scales(p.z, layout, 0xff)); // as scales lie
    const auto c = t.region<u16>(std::vector<u16>(u64{p.m} * p.n, nan_poison));
    const std::string zeros = kernel.param("zeros");
    launch(t.modules, kernel,
           SplitK{p.dtype, p.m, p.n, p.k, p.group, zeros, a.data(), w.data(), s.data(),
                  p.z.empty() ? nullptr : z.data(), c.data(), layout.w_stride, layout.s_stride,
                  grid.groups, grid.waves});
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("c", c);
    t.unchanged("a", a);
    t.unchanged("w", w);
    t.unchanged("s", s);
    t.unchanged("z", z);
    return c.read_as<u16>();
}

void check_case(Test &t, const Kernel &kernel, const DecodeCase &p, Grid grid, const char *what) {
    t.shape(fmt::format("m={} n={} k={} group={} w_pad={} s_pad={} groups={} waves={} {}", p.m, p.n,
                        p.k, p.group, p.w_pad, p.s_pad, grid.groups, grid.waves, what));
    const ref::DecodeResult exact = ref::decode_w4a16(p.reference());
    t.within("c", p.dtype, run(t, kernel, p, grid), exact.c,
             check::decode_bound(kernel, p.reference(), exact));
}

// Rounds: none for most waves, one, several and a part of one; one wave; one group.
void edges_of_n(Test &t, const Kernel &kernel) {
    const u32 rows = kernel.number("rows"), k = to_groups(kernel, k_per_load + 1);
    for (const Grid grid : {Grid{1, 16}, {3, 13}, {5, 4}, {2, 1}}) {
        const u32 round = grid.groups * grid.waves * rows;
        for (u32 n : std::set<u32>{rows, round - rows ? round - rows : rows, round, round + rows,
                                   3 * round + rows})
            check_case(t, kernel, make_case(kernel, n, k, t.rng), grid, "edge of n");
    }
}

void edges_of_k(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group"), step = k_per_step(kernel), rows = kernel.number("rows");
    for (u32 k :
         std::set<u32>{g, 2 * g, k_per_load - g, k_per_load, k_per_load + g, step - g, step,
                       step + g, 2 * step + 5 * g, largest_k(kernel) - g, largest_k(kernel)})
        check_case(t, kernel, make_case(kernel, 5 * rows, k, t.rng), {1, 4}, "edge of k");
}

void padded_rows(Test &t, const Kernel &kernel) {
    for (const auto &[w_pad, s_pad] : {std::pair{16, 2}, {128, 0}, {0, 128}, {272, 30}}) {
        DecodeCase p = make_case(kernel, 12 * kernel.number("rows"),
                                 to_groups(kernel, k_per_step(kernel) + 1), t.rng);
        p.w_pad = static_cast<u64>(w_pad);
        p.s_pad = static_cast<u64>(s_pad);
        check_case(t, kernel, p, {2, 4}, "padded rows");
    }
}

// A nibble at the wrong k, or scaled by the wrong group, is plain to see.
void one_hot(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group"), k = to_groups(kernel, 2 * k_per_load + 1);
    std::vector<u32> at = {0,  1,     2,     3,   4,   5,    6,    7,      8,      15,   16,
                           31, g - 1, g % k, 511, 512, 1023, 1024, k - 17, k - 16, k - 1};
    for (u32 i = 0; i < 3; ++i)
        at.push_back(t.rng.below(k));
    DecodeCase p = make_case(kernel, 4 * kernel.number("rows"), k, t.rng);
    for (u32 first = 0; first < at.size(); first += p.m) {
        std::ranges::fill(p.a, u16{0});
        for (u32 m = 0; m < p.m; ++m)
            p.a[u64{m} * k + at[(first + m) % at.size()]] = p.word(m % 2 ? -1.5 : 1);
        check_case(t, kernel, p, {1, 4}, fmt::format("one-hot at {}", at[first]).c_str());
    }
}

// All 16 nibbles against all 16 zero points (or 8), one activation of 1, scales of 1: q - z. Exact
// in f16, where DOT2 sees q - z; in bf16 it may leave the last place of 128 + q behind (S-004).
void every_nibble(Test &t, const Kernel &kernel) {
    DecodeCase p = make_case(kernel, 256, to_groups(kernel, 1), t.rng);
    std::vector<u16> want(u64{p.m} * p.n);
    for (u32 row = 0; row < p.n; ++row) {
        const u32 q = row % 16, z = p.z.empty() ? 8 : row / 16;
        std::fill_n(p.q.begin() + row * p.k, p.k, static_cast<u8>(q));
        for (u32 i = 0; i < p.groups() && !p.z.empty(); ++i)
            p.z[row * p.groups() + i] = p.word(z);
        for (u32 m = 0; m < p.m; ++m)
            want[u64{m} * p.n + row] = p.word(f64{1} * q - z);
    }
    std::ranges::fill(p.s, p.word(1));
    std::ranges::fill(p.a, u16{0});
    for (u32 m = 0; m < p.m; ++m)
        p.a[u64{m} * p.k + 3 * m] = p.word(1);
    if (p.dtype == Dtype::bf16)
        return check_case(t, kernel, p, {1, 16}, "every nibble and zero point");
    t.shape(fmt::format("m={} every nibble and zero point", p.m));
    t.same("c", p.dtype, run(t, kernel, p, {1, 16}), want);
}

void hard_values(Test &t, const Kernel &kernel) {
    DecodeCase p = make_case(kernel, 8 * kernel.number("rows"),
                             to_groups(kernel, k_per_step(kernel) + 1), t.rng);
    p.fill_a_outliers(t.rng);
    check_case(t, kernel, p, {1, 4}, "outlier channels");
    for (u8 nibble : {0, 8, 15}) {
        std::ranges::fill(p.q, nibble);
        check_case(t, kernel, p, {1, 4}, fmt::format("every nibble {}", nibble).c_str());
    }
    for (f64 scale : {p.dtype == Dtype::bf16 ? 0x1p-100 : 0x1p-24, 1.0, 0.0}) {
        for (u64 i = 0; i < p.s.size(); ++i)
            p.s[i] = p.word(i % 3 ? scale : -scale);
        check_case(t, kernel, p, {1, 4}, fmt::format("every scale +-{}", scale).c_str());
    }
}

// Each path once: a partial load, whole steps and a partial one, waves that only copy, a second
// round, and the longest copy to LDS.
void every_path(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group"), rows = kernel.number("rows"), step = k_per_step(kernel);
    for (u32 k : {g, step, step + g})
        check_case(t, kernel, make_case(kernel, 9 * rows, k, t.rng), {1, 4}, "every path");
    check_case(t, kernel, make_case(kernel, 2 * rows, largest_k(kernel), t.rng), {1, 1},
               "every path");
}

} // namespace

CHECK_FAMILY(splitk_w4a16) {
    if (t.entry)
        return check_case(t, kernel,
                          make_case(kernel, 9 * kernel.number("rows"), to_groups(kernel, 1), t.rng),
                          {2, 4}, "entry");
    if (t.checkers)
        return every_path(t, kernel);
    edges_of_n(t, kernel);
    edges_of_k(t, kernel);
    padded_rows(t, kernel);
    one_hot(t, kernel);
    every_nibble(t, kernel);
    hard_values(t, kernel);
}
