// SPDX-License-Identifier: MIT
// prefill_w4a8: every bit, silu's apart, on shapes derived from its tile and on values chosen to
// hurt.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "check/near.h"
#include "decode_case.h"
#include "ref/prefill_w4a8.h"
#include "ref/quantize_rows.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr u32 k_per_stage = 64;

struct Shape {
    u32 m, n, k; // k is rounded up to groups and stages
    bool bias = false, silu = false;
};

DecodeCase product(Test &t, const Kernel &kernel, const Shape &shape) {
    const u32 k = round_up(shape.k, std::max(k_per_stage, kernel.number("group")));
    DecodeCase p(kernel, shape.m, shape.n, k, t.rng);
    if (shape.bias)
        p.add_bias(t.rng);
    p.silu_gate_up = shape.silu;
    return p;
}

// The op with what the library would choose.
Op derived(Test &t, const Kernel &kernel, const DecodeCase &p) {
    Op op{.kind = OpKind::linear_w4a8};
    op.dtype = word_of(p.dtype), op.zeros = word_of(p.zeros);
    op.m = p.m, op.n = p.n, op.k = p.k, op.group = p.group, op.silu = p.silu_gate_up;
    kernel.contract->derive(op, kernel, machine_of(t.modules.device()));
    return op;
}

ref::TileStarts starts(const Kernel &kernel, const Op &op) {
    return {kernel.number("bm"), 1u << op.raster_shift, static_cast<u32>(op.rotate)};
}

std::vector<u16> run_product(Test &t, const Kernel &kernel, const DecodeCase &p,
                             const ref::QuantizedRows &rows) {
    const Region a = t.region<i8>(ref::in_dword_order(rows.q)), a_scale = t.region<f32>(rows.scale);
    return run(t, p, [&](const W4A16 &product) {
        Op op = product;
        op.kind = OpKind::linear_w4a8;
        op.a = address(a.data()), op.a_scale = address(a_scale.data());
        launch(t.modules, kernel, op);
    });
}

void check_product(Test &t, const Kernel &kernel, const DecodeCase &p,
                   const ref::QuantizedRows &rows, const std::string &what,
                   std::source_location where = std::source_location::current()) {
    const ref::TileStarts begin = starts(kernel, derived(t, kernel, p));
    t.shape(fmt::format("m={} n={} k={} w_pad={} s_pad={} z_pad={} bias={} silu={} raster={} "
                        "rotate={} {}",
                        p.m, p.n, p.k, p.w_pad, p.s_pad, p.z_pad, p.bias.empty() ? "no" : "yes",
                        p.silu_gate_up, begin.raster, begin.rotate, what));
    const std::vector<f32> y = ref::prefill_w4a8({p.reference(), rows.q, rows.scale, begin});
    ref::PrefillResult exact{{{y.begin(), y.end()}, {}, {}}, {}};
    exact.c = p.silu_gate_up ? ref::gated(exact.y.c, p.m, p.n) : exact.y.c;
    t.within("c", p.dtype, run_product(t, kernel, p, rows), exact.c,
             check::bound_of_c(exact, p.n, std::vector<f64>(y.size())), where);
}

void check_product(Test &t, const Kernel &kernel, const DecodeCase &p, const std::string &what,
                   std::source_location where = std::source_location::current()) {
    check_product(t, kernel, p, ref::quantize_rows(p.dtype, p.a, p.m, p.k), what, where);
}

void check_shape(Test &t, const Kernel &kernel, const Shape &shape, const std::string &what) {
    check_product(t, kernel, product(t, kernel, shape), what);
}

// Sums of a group as large as they get, of either sign: int8 of -128, too, which no quantizer
// makes.
void largest_sums(Test &t, const Kernel &kernel) {
    DecodeCase p = product(t, kernel, {19, 33, 3 * k_per_stage});
    ref::QuantizedRows rows{std::vector<i8>(p.a.size()), std::vector<f32>(p.m, 0x1p-7f)};
    for (u64 i = 0; i < rows.q.size(); ++i)
        rows.q[i] = std::array<i8, 4>{-128, 127, -127, 126}[i / p.k % 4];
    for (u8 q : {u8{0}, u8{15}})
        for (u32 zero : {0u, 15u}) {
            std::ranges::fill(p.q, q);
            std::ranges::fill(p.z, p.word(zero));
            check_product(t, kernel, p, rows, "largest sums");
        }
}

// Each nibble against each zero point, in each place.
void every_weight(Test &t, const Kernel &kernel) {
    DecodeCase p = product(t, kernel, {k_per_stage, 256, k_per_stage});
    ref::QuantizedRows rows{std::vector<i8>(p.a.size()), std::vector<f32>(p.m, 1.0f)};
    for (u32 m = 0; m < p.m; ++m)
        rows.q[u64{m} * p.k + m] = 1;
    for (u64 i = 0; i < p.q.size(); ++i)
        p.q[i] = static_cast<u8>((i + i / p.k) % 16);
    for (u64 i = 0; i < p.z.size(); ++i)
        p.z[i] = p.word(i / p.groups() / 16 % 16);
    check_product(t, kernel, p, rows, "every weight");
}

void halves(Test &t, const Kernel &kernel) {
    const u32 bn = kernel.number("bn");
    for (u32 half : {1u, 8u, 15u, 16u, 17u, bn / 2 - 1, bn / 2, bn / 2 + 1, bn + 3})
        check_shape(t, kernel, {21, 2 * half, 1, half % 2 == 1, true}, "halves");
    DecodeCase p = product(t, kernel, {8, 32, 1, true, true});
    p.fill_gates();
    check_product(t, kernel, p, "gates of every size");
}

// Rows with gaps between them, filled with NaN.
void padded_rows(Test &t, const Kernel &kernel) {
    for (const auto &[w_pad, s_pad, z_pad] :
         {std::array{16, 4, 4}, {128, 2, 128}, {272, 132, 36}}) {
        DecodeCase p = product(t, kernel, {17, kernel.number("bn") + 6, 3 * k_per_stage, true});
        p.w_pad = static_cast<u64>(w_pad);
        p.s_pad = static_cast<u64>(s_pad);
        p.z_pad = p.zeros == Zeros::packed ? static_cast<u64>(z_pad) : 0;
        check_product(t, kernel, p, "padded rows");
    }
}

void hard_values_of_all(Test &t, const Kernel &kernel) {
    DecodeCase p = product(t, kernel, {33, 18, 5 * k_per_stage, true});
    p.fill_a_outliers(t.rng);
    check_product(t, kernel, p, "outlier channels");
    p.a[5 * p.k + 17] = p.word(NAN);
    p.a[p.a.size() - 1] = p.word(INFINITY);
    std::fill_n(p.a.begin() + 7 * i64{p.k}, p.k, u16{0});
    check_product(t, kernel, p, "rows of nothing, and not finite");
    for (u64 i = 0; i < p.s.size(); ++i)
        p.s[i] = p.word(std::array{0x1p-24, -0x1.8p-23, 1.0 / 3, -4000.0, 0.0}[i % 5]);
    check_product(t, kernel, p, "scales of every size");
    p.s[3 * p.groups()] = p.word(NAN);
    p.s[4 * p.groups()] = p.word(INFINITY);
    check_product(t, kernel, p, "scales that are not finite");
}

// If K is long enough, each row of tiles begins with another k: far from the previous row's, or
// near it. Workgroups that begin later.
void turns(Test &t, const Kernel &kernel) {
    const u32 rows = kernel.number("raster") * kernel.number("bm"), bn = kernel.number("bn");
    check_shape(t, kernel, {rows + 1, 17, 38 * k_per_stage, true},
                "tiles begin far from each other");
    check_shape(t, kernel, {rows, bn + 1, 6 * k_per_stage}, "tiles begin near");
    const u32 at_once =
        kernel.waves_per_simd * 4 * 32 / kernel.block * t.modules.device().info().wgps;
    check_shape(t, kernel, {3, at_once / 2 * bn + 1, 1}, "later starts");
}

} // namespace

CHECK_FAMILY(prefill_w4a8) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    if (t.entry)
        return check_shape(t, kernel, {3, bn + 1, 1}, "entry");
    check_shape(t, kernel, {3, 5, 1}, "every path");
    check_shape(t, kernel, {bm + 1, bn + 1, 5 * k_per_stage, true}, "every path");
    check_shape(t, kernel, {bm + 7, bn + 2, 6 * k_per_stage, true, true}, "every path");
    if (t.checkers)
        return;
    every_weight(t, kernel);
    largest_sums(t, kernel);
    if (!thorough(t, kernel))
        return;
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        check_shape(t, kernel, {m, n, k, (m + n + k / 32) % 2 == 0}, "edge");
    halves(t, kernel);
    padded_rows(t, kernel);
    hard_values_of_all(t, kernel);
    turns(t, kernel);
}
