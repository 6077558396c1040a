// SPDX-License-Identifier: MIT
// decode_w4a16: every row of the registry, on shapes derived from the row and on values chosen to
// hurt. Also exhaustive: each nibble against each zero point, bit for bit.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <set>

#include "check/decode_bound.h"
#include "decode_case.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_step = 1024;  // what a wave reads of each of its rows in one step
constexpr u32 chunk_words = 8192; // activations a workgroup stages at once, all m together: so
                                  // many, twice or three times

// Divisor of K: 16 if a row is one group, else at least 32.
u32 k_unit(const Kernel &k) { return k.param("group") == "k" ? 16 : k.number("group"); }

u32 to_groups(const Kernel &k, u32 columns) { return std::max(round_up(columns, k_unit(k)), 32u); }

void edges(Test &t, const Kernel &kernel) {
    std::set<u32> seen;
    for (const auto &shape : check::edge_shapes(kernel)) {
        DecodeCase p(kernel, shape.n, shape.k, t.rng);
        check_case(t, kernel, p, "edge");
        if (!seen.insert(shape.n).second)
            continue;
        DecodeCase tail(kernel, shape.n, to_groups(kernel, k_per_step + 1), t.rng);
        tail.add_bias(t.rng);
        check_case(t, kernel, tail, "one step and a tail");
    }
}

void edges_of_k(Test &t, const Kernel &kernel) {
    const u32 g = to_groups(kernel, 1), u = k_unit(kernel),
              chunk = to_groups(kernel, chunk_words / kernel.number("m"));
    std::set<u32> sizes = {g,
                           2 * g,
                           3 * g,
                           k_per_step - g,
                           k_per_step,
                           chunk - u,
                           chunk,
                           chunk + u,
                           k_per_step + u,
                           k_per_step + k_per_step / 2, // where a step of half as much ends
                           k_per_step + k_per_step / 2 + u,
                           2 * k_per_step + 5 * u,
                           2 * chunk,
                           2 * chunk + u,
                           3 * chunk - u,
                           3 * chunk,
                           3 * chunk + u,
                           6 * chunk + k_per_step + u,
                           2 * k_per_step - u,
                           g + u};
    sizes.insert({9728, 17408, 20480});
    for (u32 k : sizes) {
        DecodeCase p(kernel, 5, k, t.rng);
        check_case(t, kernel, p, "edge of k");
    }
}

void padded_rows(Test &t, const Kernel &kernel) {
    for (const auto &[w_pad, s_pad, z_pad] :
         {std::tuple{16, 2, 4}, {128, 0, 0}, {0, 130, 128}, {272, 30, 36}}) {
        DecodeCase p(kernel, kernel.rows_per_workgroup + 3, to_groups(kernel, k_per_step + 1),
                     t.rng);
        p.w_pad = static_cast<u64>(w_pad);
        p.s_pad = static_cast<u64>(s_pad);
        p.z_pad = p.zeros == Zeros::eight ? 0 : static_cast<u64>(z_pad);
        p.add_bias(t.rng);
        check_case(t, kernel, p, "padded rows");
    }
}

// A single activation that is not zero: a nibble at the wrong k, or scaled by the wrong group, is
// plain to see.
void one_hot(Test &t, const Kernel &kernel) {
    const u32 g = to_groups(kernel, 1), k = to_groups(kernel, 2 * k_per_step + 1);
    std::vector<u32> at = {0,     1,   7,   8,    15,   16,   31,   32,   g - 1,
                           g % k, 511, 512, 1023, 1024, 2047, 2048, k - 1};
    for (u32 i = 0; i < 7; ++i)
        at.push_back(t.rng.below(k));
    DecodeCase p(kernel, 9, k, t.rng);
    for (u32 first = 0; first < at.size(); first += p.m) {
        std::ranges::fill(p.a, u16{0});
        for (u32 m = 0; m < p.m; ++m)
            p.a[u64{m} * k + at[(first + m) % at.size()]] = p.word(m % 2 ? -1.5 : 1);
        check_case(t, kernel, p, fmt::format("one-hot at {}", at[first]).c_str());
    }
}

// All 16 nibbles against all 16 zero points: with one activation of 1, a scale of 1 and a bias of
// 32, or of 40 - z where the kernel has 8 built in, C is q - z + 32, whole numbers that every way
// of dequantizing must give to the bit. The 32 keeps them off zero: gfx11's DOT2 may leave the last
// place of 136 behind where 136 cancels.
void every_nibble(Test &t, const Kernel &kernel) {
    DecodeCase p(kernel, 256, to_groups(kernel, 1), t.rng);
    p.bias.resize(p.n);
    std::vector<u16> want(u64{p.m} * p.n);
    for (u32 row = 0; row < p.n; ++row) {
        const i32 q = row % 16, z = row / 16;
        std::fill_n(p.q.begin() + row * p.k, p.k, static_cast<u8>(q));
        p.bias[row] = p.word(p.zeros == Zeros::eight ? 40 - z : 32);
        std::fill_n(p.z.begin() + (p.z.empty() ? 0 : row), p.z.empty() ? 0 : 1, p.word(z));
        for (u32 m = 0; m < p.m; ++m)
            want[u64{m} * p.n + row] = p.word(q - z + 32);
    }
    std::ranges::fill(p.s, p.word(1));
    std::vector<u32> at = {0, 1, 2, 3, 4, 5, 6, 7}; // the eight nibbles of a dword, first and last
    for (u32 i = 0; i < 8; ++i)
        at.push_back(p.k - 8 + i);
    for (u32 first = 0; first < at.size(); first += p.m) {
        std::ranges::fill(p.a, u16{0});
        for (u32 m = 0; m < p.m; ++m)
            p.a[u64{m} * p.k + at[(first + m) % at.size()]] = p.word(1);
        t.shape(fmt::format("m={} n=256 k={} every nibble and zero point, activation at {}", p.m,
                            p.k, at[first]));
        t.same("c", p.dtype, run(t, kernel, p), want);
    }
}

void hard_activations(Test &t, const Kernel &kernel) {
    DecodeCase p(kernel, 9, to_groups(kernel, k_per_step + 1), t.rng);
    p.fill_a_hard();
    check_case(t, kernel, p, "hard activations");
    for (f64 one : hard_values(p.dtype)) { // each by itself, so that a large one hides nothing
        std::ranges::fill(p.a, p.word(one));
        check_case(t, kernel, p, fmt::format("every activation {}", one).c_str());
    }
    p.fill_a_outliers(t.rng);
    check_case(t, kernel, p, "outlier channels");
}

void hard_weights(Test &t, const Kernel &kernel) {
    DecodeCase p(kernel, kernel.rows_per_workgroup + 1, to_groups(kernel, k_per_step + 1), t.rng);
    const bool bf16 = p.dtype == Dtype::bf16;
    for (u8 nibble : {0, 8, 15}) {
        std::ranges::fill(p.q, nibble);
        check_case(t, kernel, p, fmt::format("every nibble {}", nibble).c_str());
    }
    for (u64 i = 0; i < p.q.size(); ++i)
        p.q[i] = i % 2 ? 15 : 0;
    check_case(t, kernel, p, "nibbles 0 and 15 in turn");
    // The smallest and the largest scales; in f16 the large ones overflow C, which must be
    // infinite.
    for (f64 scale : {bf16 ? 0x1p-100 : 0x1p-24, bf16 ? 0x1p100 : 65504.0, 0.0}) {
        for (u64 i = 0; i < p.s.size(); ++i)
            p.s[i] = p.word(i % 3 ? scale : -scale);
        check_case(t, kernel, p, fmt::format("every scale +-{}", scale).c_str());
    }
}

// A NaN or an infinity makes its own outputs not finite and no others.
struct Spot {
    const char *what;
    std::vector<u16> DecodeCase::*where;
    u64 index;
    f64 value;
};

void non_finite(Test &t, const Kernel &kernel) {
    const u32 n = kernel.rows_per_workgroup + 1, k = to_groups(kernel, k_per_step + 1);
    DecodeCase clean(kernel, n, k, t.rng);
    clean.add_bias(t.rng);
    const u32 row = 3 % n, m = clean.m - 1;
    const Spot spots[] = {
        {"NaN in a", &DecodeCase::a, u64{m} * k + k - 5, NAN},
        {"infinity in a", &DecodeCase::a, u64{m} * k + 17, INFINITY},
        {"NaN in s", &DecodeCase::s, u64{row} * clean.groups(), NAN},
        {"infinity in s", &DecodeCase::s, u64{row + 1} * clean.groups() - 1, -INFINITY},
        {"NaN in z", &DecodeCase::z, u64{row} * clean.groups(), NAN},
        {"NaN in bias", &DecodeCase::bias, row, NAN},
        {"infinity in bias", &DecodeCase::bias, row, INFINITY},
    };
    for (const Spot &spot : spots) {
        if (spot.where == &DecodeCase::z && clean.zeros != Zeros::typed)
            continue;
        DecodeCase p = clean;
        (p.*spot.where)[spot.index] = p.word(spot.value);
        const bool in_a = spot.where == &DecodeCase::a;
        const ref::DecodeResult exact = ref::decode_w4a16(clean.reference());
        std::vector<f64> want = exact.c;
        t.shape(fmt::format("m={} n={} k={} {}", p.m, n, k, spot.what));
        std::vector<u16> got = run(t, kernel, p);
        for (u64 i = 0; i < got.size(); ++i) {
            if (in_a ? i / n != m : i % n != row)
                continue;
            want[i] = NAN;
            if (std::isinf(spot.value) && std::isinf(to_f32(p.dtype, got[i])))
                got[i] = nan_poison; // an infinity may stay one or meet its opposite
        }
        t.within("c", p.dtype, got, want, check::decode_bound(kernel, p.reference(), exact));
    }
}

// Workgroups that go from rows to rows: an odd number of rounds, the last one cut short or not
// there for some; steps of one stage, and of more. Those of more go one by one: by far the most
// work, and how many there are changes nothing in a workgroup.
void rounds_of_rows(Test &t, const Kernel &kernel) {
    const u32 more_stages =
        3 * to_groups(kernel, chunk_words / kernel.number("m")) + k_unit(kernel);
    for (const auto &[k, most] : {std::pair{to_groups(kernel, 1), 2u},
                                  {to_groups(kernel, 2 * k_per_step + 1), 2},
                                  {more_stages, 1}})
        for (u32 workgroups = 1; workgroups <= most; ++workgroups) {
            DecodeCase p(kernel, (2 * workgroups + 1) * kernel.rows_per_workgroup - 6, k, t.rng);
            p.workgroups = workgroups;
            p.add_bias(t.rng);
            check_case(t, kernel, p, "rounds of rows");
        }
}

// A launch by hand that says nothing of `groups`: no hang, and the same product.
void groups_unsaid(Test &t, const Kernel &kernel) {
    DecodeCase p(kernel, 2 * kernel.rows_per_workgroup + 1, to_groups(kernel, 1), t.rng);
    p.workgroups = 1;
    p.groups_unsaid = true;
    check_case(t, kernel, p, "groups unsaid");
}

// Each path through the kernel once: one step or none before the last, K tails, a second and a
// third stage, rows past N, with and without bias.
void every_path(Test &t, const Kernel &kernel) {
    const u32 g = to_groups(kernel, 1), u = k_unit(kernel),
              chunk = to_groups(kernel, chunk_words / kernel.number("m"));
    for (u32 k : {g, k_per_step, k_per_step + u, 3 * chunk + u, 6 * chunk + k_per_step}) {
        DecodeCase p(kernel, 5, k, t.rng);
        if (k != g)
            p.add_bias(t.rng);
        check_case(t, kernel, p, "every path");
    }
    DecodeCase p(kernel, kernel.rows_per_workgroup + 1, to_groups(kernel, 2 * k_per_step), t.rng);
    check_case(t, kernel, p, "every path");
    rounds_of_rows(t, kernel);
    groups_unsaid(t, kernel);
}

} // namespace

CHECK_FAMILY(decode_w4a16) {
    if (t.entry) {
        DecodeCase p(kernel, kernel.rows_per_workgroup + 1, to_groups(kernel, 1), t.rng);
        return check_case(t, kernel, p, "entry");
    }
    if (t.checkers)
        return every_path(t, kernel);
    edges(t, kernel);
    if (!thorough(t, kernel))
        return every_path(t, kernel);
    edges_of_k(t, kernel);
    rounds_of_rows(t, kernel);
    groups_unsaid(t, kernel);
    padded_rows(t, kernel);
    one_hot(t, kernel);
    every_nibble(t, kernel);
    hard_activations(t, kernel);
    hard_weights(t, kernel);
    non_finite(t, kernel);
}
