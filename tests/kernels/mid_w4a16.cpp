// SPDX-License-Identifier: MIT
// mid_w4a16: every row of the registry, on shapes derived from its tile and from how its waves
// share k, on values chosen to hurt.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "check/mid_bound.h"
#include "decode_case.h"

using namespace nw;
using check::Test;

namespace {

// The range of k of one wave between loads.
u32 k_per_chunk(const Kernel &k) { return std::max(k.number("group"), 64u); }

std::vector<u16> run_mid(Test &t, const Kernel &kernel, const DecodeCase &p) {
    return run(t, p, [&](const W4A16 &product) { launch(t.modules, kernel, product); });
}

void say(Test &t, const DecodeCase &p, const std::string &what) {
    t.shape(fmt::format("m={} n={} k={} w_pad={} s_pad={} z_pad={} bias={} silu={} {}", p.m, p.n,
                        p.k, p.w_pad, p.s_pad, p.z_pad, p.bias.empty() ? "no" : "yes",
                        p.silu_gate_up, what));
}

void check_product(Test &t, const Kernel &kernel, const DecodeCase &p, const std::string &what,
                   std::source_location where = std::source_location::current()) {
    say(t, p, what);
    const ref::PrefillResult exact = ref::prefill_w4a16(p.reference(), p.silu_gate_up);
    t.within("c", p.dtype, run_mid(t, kernel, p), exact.c,
             check::mid_bound(kernel, p.reference(), exact), where);
}

// k is rounded up to groups.
DecodeCase product(Test &t, const Kernel &kernel, u32 m, u32 n, u32 k, bool bias = false) {
    DecodeCase p(kernel, m, n, round_up(k, kernel.number("group")), t.rng);
    if (bias)
        p.add_bias(t.rng);
    return p;
}

DecodeCase gate_up(Test &t, const Kernel &kernel, u32 m, u32 columns, u32 k, bool bias = false) {
    DecodeCase p = product(t, kernel, m, 2 * columns, k, bias);
    p.silu_gate_up = true;
    return p;
}

// Rows at the ends of tiles, of one block and of several.
void edges(Test &t, const Kernel &kernel) {
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        check_product(t, kernel, product(t, kernel, m, n, k, (m + n) % 2 == 0), "edge");
}

// Gate and up of a tile's columns, fewer and more; up begins within eight rows of zero points.
void halves(Test &t, const Kernel &kernel) {
    const u32 bm = kernel.number("bm"), of_tile = kernel.number("bn") / 2;
    for (u32 columns :
         {1u, 7u, 8u, of_tile - 1, of_tile, of_tile + 1, 2 * of_tile - 3, 2 * of_tile + 5})
        check_product(t, kernel, gate_up(t, kernel, 19, columns, 1, columns % 2 == 1), "halves");
    for (u32 m : {1u, 8u, 9u, 15u, 16u, 17u, bm - 1, bm, bm + 1, 2 * bm + 3, 64u})
        check_product(t, kernel, gate_up(t, kernel, m, of_tile + 2, 1, m % 2 == 0), "halves");
    for (u32 chunks : {2u, 8u, 11u})
        check_product(t, kernel,
                      gate_up(t, kernel, bm + 5, of_tile + 3, chunks * k_per_chunk(kernel), true),
                      "halves");
    DecodeCase p = gate_up(t, kernel, 8, of_tile, 1, true);
    p.fill_gates();
    check_product(t, kernel, p, "gates of every size");
}

// Waves with nothing, with a part of a chunk, one, two and three.
void edges_of_k(Test &t, const Kernel &kernel) {
    const u32 g = kernel.number("group"), chunk = k_per_chunk(kernel);
    for (u32 k : {g, 2 * g, 3 * g, chunk, chunk + g, 2 * chunk + g, 7 * chunk, 8 * chunk - g,
                  8 * chunk, 8 * chunk + g, 9 * chunk, 16 * chunk + g, 23 * chunk + g})
        check_product(t, kernel, product(t, kernel, 18, 21, k, true), "edge of k");
}

// Rows with gaps between them, filled with NaN.
void padded_rows(Test &t, const Kernel &kernel) {
    for (const auto &[w_pad, s_pad, z_pad] :
         {std::array{16, 4, 4}, {128, 0, 0}, {0, 132, 128}, {272, 36, 36}}) {
        DecodeCase p = product(t, kernel, 17, kernel.number("bn") + 6, 1000, true);
        p.w_pad = static_cast<u64>(w_pad);
        p.s_pad = static_cast<u64>(s_pad);
        p.z_pad = p.zeros == Zeros::packed ? static_cast<u64>(z_pad) : 0;
        for (bool silu : {false, true}) {
            p.silu_gate_up = silu;
            check_product(t, kernel, p, "padded rows");
        }
    }
}

void hard_activations(Test &t, const Kernel &kernel) {
    DecodeCase p = product(t, kernel, 33, 18, 320, true);
    p.fill_a_hard();
    check_product(t, kernel, p, "hard activations");
    p.fill_a_hard_rows();
    check_product(t, kernel, p, "hard rows");
    p.fill_a_outliers(t.rng);
    check_product(t, kernel, p, "outlier channels");
}

// Every nibble against every zero point, exactly: A is the identity, scales are powers of two.
void every_weight(Test &t, const Kernel &kernel) {
    DecodeCase p = product(t, kernel, 64, 256, 64);
    for (u64 i = 0; i < p.q.size(); ++i)
        p.q[i] = static_cast<u8>((i + i / p.k) % 16);
    for (u64 i = 0; i < p.z.size(); ++i)
        p.z[i] = p.word(i / p.groups() / 16 % 16);
    for (u64 i = 0; i < p.s.size(); ++i)
        p.s[i] = p.word(std::ldexp(i % 3 ? 1 : -1, static_cast<int>(i % 20) - 10));
    std::ranges::fill(p.a, u16{0});
    std::vector<u16> want(u64{p.m} * p.n);
    for (u32 m = 0; m < p.m; ++m) {
        p.a[u64{m} * p.k + m] = p.word(1);
        for (u32 n = 0; n < p.n; ++n) {
            const u64 at = u64{n} * p.groups() + m / p.group;
            const f64 zero = p.z.empty() ? 8 : to_f32(p.dtype, p.z[at]);
            want[u64{m} * p.n + n] =
                p.word((p.q[u64{n} * p.k + m] - zero) * to_f32(p.dtype, p.s[at]) + 0.0);
        }
    }
    say(t, p, "identity, every nibble and zero point");
    t.same("c", p.dtype, run_mid(t, kernel, p), want);
}

void hard_scales_and_weights(Test &t, const Kernel &kernel) {
    DecodeCase p = product(t, kernel, 17, 33, 320);
    for (u64 i = 0; i < p.s.size(); ++i)
        p.s[i] = p.word(std::ldexp(1 + t.rng.unit(), static_cast<int>(i % 24) - 18));
    check_product(t, kernel, p, "scales of every size");
    hard_weights(std::move(p), [&](const DecodeCase &hard, const char *what) {
        check_product(t, kernel, hard, what);
    });
}

// They make the outputs that they belong to something that is not finite, and no others.
void non_finite(Test &t, const Kernel &kernel, const DecodeCase &clean) {
    const ref::PrefillResult exact = ref::prefill_w4a16(clean.reference(), clean.silu_gate_up);
    const std::vector<f64> bound = check::mid_bound(kernel, clean.reference(), exact);
    const auto check = [&](DecodeCase p, const std::string &what, auto belongs) {
        say(t, p, what);
        std::vector<u16> got = run_mid(t, kernel, p);
        std::vector<f64> want = exact.c;
        for (u64 i = 0; i < got.size(); ++i)
            if (belongs(i / p.columns(), i % p.columns())) {
                want[i] = NAN;
                if (std::isinf(to_f32(p.dtype, got[i])))
                    got[i] = nan_poison;
            }
        t.within("c", p.dtype, got, want, bound);
    };
    const u32 column = 19;
    const auto of_column = [&](u64, u64 n) { return n == column; };
    for (f64 value : {f64{NAN}, f64{INFINITY}, -f64{INFINITY}}) {
        DecodeCase p = clean;
        p.a[3 * u64{p.k} + 17] = p.a[35 * u64{p.k} - 1] = p.word(value);
        check(p, fmt::format("{} in a", value), [](u64 m, u64) { return m == 3 || m == 34; });
        for (u32 n = column; n < p.n; n += p.columns()) { // gate's, and up's
            p = clean;
            p.s[n * u64{p.groups()}] = p.word(value);
            check(p, fmt::format("{} in s[{}]", value, n), of_column);
            p = clean;
            p.bias[n] = p.word(value);
            check(p, fmt::format("{} in bias[{}]", value, n), of_column);
        }
    }
}

// Results are bit-identical in every run, in any order of waves.
void same_every_time(Test &t, const Kernel &kernel, const DecodeCase &p) {
    say(t, p, "twice");
    const std::vector<u16> first = run_mid(t, kernel, p);
    t.same("c", p.dtype, run_mid(t, kernel, p), first);
}

} // namespace

CHECK_FAMILY(mid_w4a16) {
    if (t.entry)
        return check_product(t, kernel, product(t, kernel, 3, kernel.number("bn") + 1, 1), "entry");
    const u32 chunk = k_per_chunk(kernel);
    check_product(t, kernel, product(t, kernel, 3, 5, 1), "one group");
    check_product(t, kernel,
                  product(t, kernel, kernel.number("bm") + 1, kernel.number("bn") + 1,
                          17 * chunk + kernel.number("group"), true),
                  "every path");
    check_product(t, kernel,
                  gate_up(t, kernel, kernel.number("bm") + 1, kernel.number("bn") / 2 + 1,
                          9 * chunk + kernel.number("group"), true),
                  "every path");
    if (t.checkers)
        return;
    every_weight(t, kernel);
    if (!thorough(t, kernel))
        return;
    edges(t, kernel);
    halves(t, kernel);
    edges_of_k(t, kernel);
    padded_rows(t, kernel);
    hard_activations(t, kernel);
    hard_scales_and_weights(t, kernel);
    const u32 bn = kernel.number("bn");
    for (bool silu : {false, true}) {
        const auto shape = silu ? gate_up : product;
        non_finite(t, kernel, shape(t, kernel, 35, 37, 320, true));
        same_every_time(t, kernel, shape(t, kernel, 50, 2 * bn + 2, 1500, true));
    }
}
