// SPDX-License-Identifier: MIT
// prefill_w4a16, dot_w4a16: every row of the registry, on shapes derived from its tile and on
// values chosen to hurt. What weights become is checked bit for bit, through an identity of
// activations.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "check/prefill_bound.h"
#include "decode_case.h"

using namespace nw;
using check::Test;

namespace {

constexpr u32 k_per_stage = 32;

u32 to_groups(const Kernel &k, u32 columns) { return round_up(columns, k.number("group")); }

std::vector<u16> run_prefill(Test &t, const Kernel &kernel, const DecodeCase &p) {
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
    t.within("c", p.dtype, run_prefill(t, kernel, p), exact.c,
             check::prefill_bound(kernel, p.reference(), exact), where);
}

struct Shape {
    u32 m, n, k; // k is rounded up to groups
    bool bias = false, silu = false;
};

DecodeCase product(Test &t, const Kernel &kernel, const Shape &shape) {
    DecodeCase p(kernel, shape.m, shape.n, to_groups(kernel, shape.k), t.rng);
    if (shape.bias)
        p.add_bias(t.rng);
    p.silu_gate_up = shape.silu;
    return p;
}

void check_shape(Test &t, const Kernel &kernel, const Shape &shape, const std::string &what) {
    check_product(t, kernel, product(t, kernel, shape), what);
}

// Edges of WMMA tiles, of a wave's rows and of the workgroup's, and of stages in both LDS buffers.
void edges(Test &t, const Kernel &kernel) {
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        check_shape(t, kernel, {m, n, k, (m + n + k / 32) % 2 == 0}, "edge");
}

void three_turns(Test &t, const Kernel &kernel) {
    const u32 rows = kernel.number("raster") * kernel.number("bm");
    check_shape(t, kernel, {2 * rows + 3, 3, 1}, "three turns");
}

// If K is long enough, each row of tiles begins with another k: far from the previous row's, near
// it, or equal. The rows of a second turn, a second column.
void turns(Test &t, const Kernel &kernel) {
    const u32 raster = kernel.number("raster"), rows = raster * kernel.number("bm");
    const auto stages = [&](u32 apart) { return (apart * (raster - 1) + 1) * k_per_stage; };
    check_shape(t, kernel, {rows + 1, 17, stages(36), true}, "tiles begin far from each other");
    check_shape(t, kernel, {rows, kernel.number("bn") + 1, stages(4)}, "tiles begin near");
    three_turns(t, kernel);
}

// More workgroups than the part has room for, so that some begin later (T-027).
void later_starts(Test &t, const Kernel &kernel) {
    const u32 at_once =
        kernel.waves_per_simd * 4 * 32 / kernel.block * t.modules.device().info().wgps;
    check_shape(t, kernel, {3, at_once / 2 * kernel.number("bn") + 1, 1}, "later starts");
}

// Gate and up of 16 and fewer columns, of a tile's and of more.
void halves(Test &t, const Kernel &kernel) {
    const u32 bn = kernel.number("bn");
    for (u32 half : {1u, 7u, 8u, 15u, 16u, 17u, bn / 2 - 1, bn / 2, bn / 2 + 1, bn + 3})
        check_shape(t, kernel, {21, 2 * half, 1, half % 2 == 1, true}, "halves");
    check_shape(t, kernel, {kernel.number("bm") + 1, 34, 5 * k_per_stage, true, true}, "halves");
    DecodeCase p = product(t, kernel, {8, 32, 1, true, true});
    p.fill_gates();
    check_product(t, kernel, p, "gates of every size");
}

// Rows with gaps between them, filled with NaN.
void padded_rows(Test &t, const Kernel &kernel) {
    for (const auto &[w_pad, s_pad, z_pad] :
         {std::array{16, 4, 4}, {128, 0, 0}, {0, 132, 128}, {272, 36, 36}})
        for (bool silu : {false, true}) {
            DecodeCase p =
                product(t, kernel, {17, kernel.number("bn") + 6, 5 * k_per_stage, true, silu});
            p.w_pad = static_cast<u64>(w_pad);
            p.s_pad = static_cast<u64>(s_pad);
            p.z_pad = p.zeros == Zeros::packed ? static_cast<u64>(z_pad) : 0;
            check_product(t, kernel, p, "padded rows");
        }
}

// A weight as the kernel computes it: (q - z) * s, rounded once; the f16 carrier has -z * s rounded
// already.
u16 dequantized(const DecodeCase &p, u32 n, u32 k) {
    const u64 at = u64{n} * p.groups() + k / p.group;
    const f64 s = to_f32(p.dtype, p.s[at]), zero = p.z.empty() ? 8 : to_f32(p.dtype, p.z[at]),
              q = p.q[u64{n} * p.k + k];
    if (p.zeros == Zeros::carrier && p.dtype == Dtype::f16)
        return p.word(q * s + to_f32(p.dtype, p.word(-zero * s)) + 0.0);
    return p.word((q - zero) * s + 0.0); // of zeros, the positive one
}

// A is the identity: C is the weights.
void identity(Test &t, const Kernel &kernel, DecodeCase &p, const std::string &what) {
    std::ranges::fill(p.a, u16{0});
    std::vector<u16> want(u64{p.m} * p.n);
    for (u32 m = 0; m < p.m; ++m) {
        p.a[u64{m} * p.k + m] = p.word(1);
        for (u32 n = 0; n < p.n; ++n)
            want[u64{m} * p.n + n] = dequantized(p, n, m);
    }
    say(t, p, what);
    t.same("c", p.dtype, run_prefill(t, kernel, p), want);
}

// Scales that weights of a type may have, the smallest and the largest among them.
std::vector<f64> scales(Dtype dtype) {
    std::vector<f64> out = {1, -1, 1.0 / 3, 1 + ulp(dtype, 1), 0.01, -0.02};
    if (dtype == Dtype::f16)
        out.insert(out.end(), {0x1p-24, -0x1.8p-23, 0x1p-17, 0x1.ffp-15, 0x1p-14, 4364, -4000});
    else
        out.insert(out.end(), {0x1p-126, -0x1.fep-126, 0x1p100, -0x1.fep100});
    return out;
}

void dequantization(Test &t, const Kernel &kernel) {
    const u32 k = to_groups(kernel, 4 * k_per_stage);
    DecodeCase random(kernel, k, 40, k, t.rng);
    identity(t, kernel, random, "identity, random weights");
    DecodeCase each(kernel, k, 256, k, t.rng); // each nibble against each zero point
    for (u64 i = 0; i < each.q.size(); ++i)
        each.q[i] = static_cast<u8>((i + i / each.k) % 16);
    for (u64 i = 0; i < each.z.size(); ++i)
        each.z[i] = each.word(i / each.groups() / 16 % 16);
    const std::vector<f64> of = scales(each.dtype);
    for (u64 i = 0; i < each.s.size(); ++i)
        each.s[i] = each.word(of[i / each.groups() % of.size()]);
    identity(t, kernel, each, "identity, every nibble and zero point");
    if (each.dtype == Dtype::f16)
        return;
    // bf16 is rounded by hand: each product of a significand and a |q - z|, ties among them.
    for (u32 row = 0; row < each.n; ++row)
        for (u32 g = 0; g < each.groups(); ++g) {
            const u64 i = u64{row} * each.groups() + g;
            each.s[i] = each.word(1 + row % 128 * 0x1p-7);
            if (!each.z.empty())
                each.z[i] = each.word(row / 128 * 15);
        }
    identity(t, kernel, each, "identity, every significand");
}

void hard_activations(Test &t, const Kernel &kernel) {
    const Shape shape = {33, 18, 10 * k_per_stage, true};
    DecodeCase p = product(t, kernel, shape);
    p.fill_a_hard();
    check_product(t, kernel, p, "hard activations");
    p.fill_a_hard_rows();
    check_product(t, kernel, p, "hard rows");
    p.fill_a_outliers(t.rng);
    check_product(t, kernel, p, "outlier channels");
}

void hard_scales_and_weights(Test &t, const Kernel &kernel) {
    DecodeCase p = product(t, kernel, {17, 33, 10 * k_per_stage});
    const std::vector<f64> of = scales(p.dtype);
    for (u64 i = 0; i < p.s.size(); ++i)
        p.s[i] = p.word(of[i % of.size()]);
    check_product(t, kernel, p, "scales of every size");
    hard_weights(std::move(p), [&](const DecodeCase &hard, const char *what) {
        check_product(t, kernel, hard, what);
    });
}

// A row of A times the weights that the kernel makes.
f64 plain_product(const DecodeCase &p, u32 m, u32 n) {
    f64 sum = to_f32(p.dtype, p.bias[n]);
    for (u32 k = 0; k < p.k; ++k)
        sum += f64{to_f32(p.dtype, p.a[u64{m} * p.k + k])} * to_f32(p.dtype, dequantized(p, n, k));
    return sum;
}

// In A a NaN or an infinity is what it is in a plain product of matrices, elsewhere something that
// is not finite; for the outputs that it belongs to, and no others.
void non_finite(Test &t, const Kernel &kernel) {
    const DecodeCase clean = product(t, kernel, {35, 37, 5 * k_per_stage, true});
    const ref::PrefillResult exact = ref::prefill_w4a16(clean.reference(), false);
    const std::vector<f64> bound = check::prefill_bound(kernel, clean.reference(), exact);
    for (f64 value : {f64{NAN}, f64{INFINITY}, -f64{INFINITY}}) {
        DecodeCase p = clean;
        std::vector<f64> want = exact.c;
        for (const auto &[m, k] : {std::pair{3u, 17u}, {34u, p.k - 1}}) {
            p.a[u64{m} * p.k + k] = p.word(value);
            for (u32 n = 0; n < p.n; ++n)
                want[u64{m} * p.n + n] = plain_product(p, m, n);
        }
        say(t, p, fmt::format("{} in a", value));
        t.within("c", p.dtype, run_prefill(t, kernel, p), want, bound);
    }
    for (f64 value : {f64{NAN}, f64{INFINITY}})
        for (std::vector<u16> DecodeCase::*where : {&DecodeCase::s, &DecodeCase::bias}) {
            DecodeCase p = clean;
            const u32 n = 19;
            (p.*where)[where == &DecodeCase::s ? n * p.groups() : n] = p.word(value);
            say(t, p, fmt::format("{} in {}", value, where == &DecodeCase::s ? "s" : "bias"));
            std::vector<u16> got = run_prefill(t, kernel, p);
            std::vector<f64> want = exact.c;
            for (u64 i = n; i < got.size(); i += p.n) {
                want[i] = NAN;
                if (std::isinf(value) && std::isinf(to_f32(p.dtype, got[i])))
                    got[i] = nan_poison; // an infinity may stay one or meet its opposite
            }
            t.within("c", p.dtype, got, want, bound);
        }
}

// Results are bit-identical in every run, in any order of workgroups.
void same_every_time(Test &t, const Kernel &kernel) {
    for (bool silu : {false, true}) {
        const DecodeCase p = product(t, kernel,
                                     {2 * kernel.number("bm") + 1, 2 * kernel.number("bn") + 2,
                                      9 * k_per_stage, true, silu});
        say(t, p, "twice");
        const std::vector<u16> first = run_prefill(t, kernel, p);
        t.same("c", p.dtype, run_prefill(t, kernel, p), first);
    }
}

// Each path once: a first stage alone, both halves of LDS, k that begins elsewhere and comes
// around, rows and columns past the end, bias or none, halves or not.
void every_path(Test &t, const Kernel &kernel) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    check_shape(t, kernel, {3, 5, 1}, "every path");
    check_shape(t, kernel, {bm + 1, bn + 1, 5 * k_per_stage, true}, "every path");
    check_shape(t, kernel, {bm + 7, bn + 2, 6 * k_per_stage, true, true}, "every path");
}

// Checks of both families; true if all checks run on this target.
bool check_both(Test &t, const Kernel &kernel) {
    if (t.entry) {
        check_shape(t, kernel, {3, kernel.number("bn") + 1, 1}, "entry");
        return false;
    }
    every_path(t, kernel);
    if (t.checkers)
        return false;
    dequantization(t, kernel);
    if (!thorough(t, kernel))
        return false;
    edges(t, kernel);
    halves(t, kernel);
    padded_rows(t, kernel);
    hard_activations(t, kernel);
    hard_scales_and_weights(t, kernel);
    non_finite(t, kernel);
    same_every_time(t, kernel);
    return true;
}

} // namespace

CHECK_FAMILY(prefill_w4a16) {
    if (!check_both(t, kernel))
        return;
    turns(t, kernel);
    later_starts(t, kernel);
}

CHECK_FAMILY(dot_w4a16) {
    if (check_both(t, kernel))
        three_turns(t, kernel);
}
