// SPDX-License-Identifier: MIT
// prefill_fp8: within the bound of f32 sums, and to the bit where sums need no rounding.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "check/check.h"
#include "check/ops.h"
#include "fp8_case.h"
#include "gguf_case.h"
#include "ref/e4m3.h"
#include "ref/prefill_fp8.h"
#include "runtime/launch.h"
#include "runtime/w4a16.h"

using namespace nw;
using check::Region;
using check::Sums;
using check::Test;

namespace {

struct Case {
    u32 m, n, k;
    check::GgufType type;
    std::vector<u8> a;
    std::vector<f32> a_scale;
    std::vector<std::byte> w;

    // Activations as quantize_fp8 makes them, weights as models have them.
    Case(Test &t, const Kernel &kernel, u32 rows, u32 columns, u32 length)
        : m(rows), n(columns), k(length), type(check::gguf_type(kernel)),
          w(check::gguf_random_blocks(t.rng, type, u64{n} * (k / type.info.elements))) {
        const ref::Fp8Rows quantized = check::fp8_activations(t.rng, m, k);
        a = quantized.y, a_scale = quantized.scale;
    }
    void set_scale_byte(u64 block, u8 e) { w[block * type.info.bytes] = std::byte{e}; }
    u64 blocks() const { return w.size() / type.info.bytes; }
    Op op(const Kernel &kernel) const {
        Op out{.kind = OpKind::linear_gguf_fp8};
        out.type = find_word(kernel.param("type"));
        out.m = m, out.n = n, out.k = k;
        return out;
    }
};

std::vector<f32> check_case(Test &t, const Kernel &kernel, const Case &p, const Op &order,
                            const char *what, Sums sums = Sums::rounded,
                            std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} n={} k={} {}", p.m, p.n, p.k, what));
    const Region a = t.region<u8>(p.a), a_scale = t.region<f32>(p.a_scale),
                 w = t.region<std::byte>(p.w),
                 c = t.region<f32>(std::vector<f32>(u64{p.m} * p.n, -777.0f));
    Op op = order;
    op.a = address(a.data()), op.a_scale = address(a_scale.data());
    op.w = address(w.data()), op.c = address(c.data());
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("a_scale", a_scale, where);
    t.unchanged("w", w, where);
    t.guards_clean("c", c, where);
    const ref::ProductFp8Exact want =
        ref::prefill_fp8({p.type.info.id, p.m, p.n, p.k, p.a, p.a_scale, p.w});
    const std::vector<f32> got = c.read_as<f32>();
    for (u64 i = 0; i < got.size(); ++i)
        if (!check::right(got[i], want.c[i], want.tolerance[i], sums)) {
            t.fail(fmt::format("c[{},{}] is {:a}, not {:a}, tolerance {:g}", i / p.n, i % p.n,
                               got[i], want.c[i], want.tolerance[i]),
                   where);
            break;
        }
    return got;
}

std::vector<f32> check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                            Sums sums = Sums::rounded,
                            std::source_location where = std::source_location::current()) {
    return check_case(t, kernel, p, p.op(kernel), what, sums, where);
}

// Integers and neighbouring powers of two: no sum needs rounding.
Case exact_sums(Test &t, const Kernel &kernel, u32 m, u32 n, u32 k) {
    Case p(t, kernel, m, n, k);
    for (u8 &a : p.a)
        a = check::small_integer(t.rng);
    for (f32 &scale : p.a_scale)
        scale = 0x1p-3f;
    for (u64 i = 0; i < p.blocks(); ++i)
        p.set_scale_byte(i, check::near_power(t.rng));
    return p;
}

// Each number in each place of a block, with each scale whose weights the reference has in f32: the
// row of a that has a 1 there shows it.
void every_weight(Test &t, const Kernel &kernel) {
    constexpr u64 last_finite = 252; // 6 * 2^125
    constexpr u32 k = 128;
    Case p(t, kernel, k, 64, k);
    std::ranges::fill(p.a, u8{0});
    for (u32 m = 0; m < k; ++m)
        p.a[u64{m} * k + m] = ref::to_e4m3(1);
    std::ranges::fill(p.a_scale, 0x1p-10f);
    for (u64 i = 0; i < p.blocks(); ++i) {
        for (u32 at = 0; at < 16; ++at)
            p.w[i * p.type.info.bytes + 1 + at] =
                static_cast<std::byte>((i / 4 + at) % 16 + 16 * ((i / 4 + at + 5) % 16));
        p.set_scale_byte(i, static_cast<u8>(std::min<u64>(i, last_finite)));
    }
    check_case(t, kernel, p, "every weight", Sums::exact);
}

// Activations of every code, alone with a weight of 1; a NaN makes its row NaN.
void every_activation(Test &t, const Kernel &kernel) {
    Case p(t, kernel, 256, 16, 64);
    std::ranges::fill(p.a, u8{0});
    for (u32 m = 0; m < 256; ++m)
        p.a[u64{m} * p.k + m % p.k] = static_cast<u8>(m);
    std::ranges::fill(p.a_scale, 1.0f);
    check_case(t, kernel, p, "every activation", Sums::exact);
    p.a_scale[3] = NAN;
    check_case(t, kernel, p, "a scale that is NaN", Sums::exact);
}

// The largest sums of a block, of either sign, and cancelling.
void largest_sums(Test &t, const Kernel &kernel) {
    Case p(t, kernel, 19, 33, 192);
    for (u64 i = 0; i < p.a.size(); ++i)
        p.a[i] = i / p.k % 3 == 0 ? 0x7e : i / p.k % 3 == 1 ? 0xfe : (i % 2 ? 0x7e : 0xfe);
    for (u8 nibble : {0x77, 0xff, 0x7f})
        for (u64 i = 0; i < p.blocks(); ++i)
            for (u32 at = 0; at < 16; ++at)
                p.w[i * p.type.info.bytes + 1 + at] = std::byte{nibble};
    check_case(t, kernel, p, "largest sums");
}

// Scales of rows from the least to that of bf16's largest number: results are finite.
void all_scales(Test &t, const Kernel &kernel) {
    constexpr f32 scales[] = {0, 0x1p-126f, 0x1.23p-120f, 0x1p-60f, 1, 0x1p60f, 0x1.fep127f / 448};
    Case p(t, kernel, std::size(scales), 33, 192);
    std::ranges::copy(scales, p.a_scale.begin());
    for (u64 i = 0; i < p.blocks(); ++i)
        p.set_scale_byte(i, static_cast<u8>(96 + t.rng.below(4)));
    for (f32 c : check_case(t, kernel, p, "all scales"))
        if (!std::isfinite(c))
            return t.fail(fmt::format("c has {}", c), std::source_location::current());
}

void turns(Test &t, const Kernel &kernel) {
    const Case p = exact_sums(t, kernel, kernel.number("bm") + 9, kernel.number("bn") + 1, 512);
    Op op = p.op(kernel);
    op.raster_shift = 2, op.rotate = 2, op.first = 1, op.levels = 3, op.pause = 40;
    check_case(t, kernel, p, op, "turns", Sums::exact);
}

} // namespace

CHECK_FAMILY(prefill_fp8) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    if (t.entry)
        return void(check_case(t, kernel, Case(t, kernel, 17, bn + 1, 128), "entry"));
    check_case(t, kernel, exact_sums(t, kernel, bm + 3, bn + 5, 320), "exact", Sums::exact);
    check_case(t, kernel, Case(t, kernel, bm + 3, bn + 5, 320), "every path");
    check_case(t, kernel, Case(t, kernel, 17, 1, 64), "one stage");
    if (t.checkers)
        return;
    every_weight(t, kernel);
    every_activation(t, kernel);
    largest_sums(t, kernel);
    all_scales(t, kernel);
    turns(t, kernel);
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        check_case(t, kernel, exact_sums(t, kernel, m, n, round_up(k, 64u)), "edge", Sums::exact);
}
