// SPDX-License-Identifier: MIT
// Error due to int8 activations, from products of host/ref, which the kernels equal to the
// bit, against exact ones, beside that of weights rounded to f16. Prints the table of
// asm/prefill_w4a8/notes.md.
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <numbers>

#include "base/half.h"
#include "base/rng.h"
#include "ref/prefill_w4a8.h"
#include "ref/quantize_rows.h"

using namespace nw;

namespace {

constexpr u32 rows = 24, columns = 64, k = 4096, group = 128;

f64 gaussian(Rng &rng) {
    const f64 radius = std::sqrt(-2 * std::log(1 - f64{rng.unit()}));
    return radius * std::cos(2 * std::numbers::pi * rng.unit());
}

// Activations of variance 1, but for channels `times` as large, one of `every`; 0: none.
struct Kind {
    const char *name;
    u32 every;
    f64 times;
};

struct Product {
    std::vector<u16> a, s;
    std::vector<u8> q;

    Product(Rng &rng, const Kind &kind) : a(rows * k), s(columns * (k / group)), q(columns * k) {
        for (u32 i = 0; i < a.size(); ++i) {
            const bool outlier = kind.every && i % k % kind.every == 0;
            a[i] = round_to(Dtype::f16, gaussian(rng) * (outlier ? kind.times : 1));
        }
        for (u16 &scale : s)
            scale = round_to(Dtype::f16, 0.01 + 0.01 * rng.unit());
        for (u8 &nibble : q)
            nibble = static_cast<u8>(std::clamp(std::lround(8 + 2.5 * gaussian(rng)), 0l, 15l));
    }
    ref::DecodeW4A16 of() const { return {Dtype::f16, rows, columns, k, group, a, q, s, {}}; }
};

// sum (c - exact)^2 / sum exact^2.
template <class T> f64 nmse(const std::vector<T> &c, const std::vector<f64> &exact) {
    f64 error = 0, power = 0;
    for (u64 i = 0; i < exact.size(); ++i) {
        error += (c[i] - exact[i]) * (c[i] - exact[i]);
        power += exact[i] * exact[i];
    }
    return error / power;
}

std::vector<f32> in_int8(const Product &p) {
    const ref::QuantizedRows a = ref::quantize_rows(Dtype::f16, p.a, rows, k);
    return ref::prefill_w4a8({p.of(), a.q, a.scale, {rows, 1, 0}});
}

// As prefill_w4a16 has weights: (q - 8) * s rounded to f16.
std::vector<f64> in_f16(const Product &p) {
    std::vector<f64> out(rows * columns);
    for (u32 i = 0; i < out.size(); ++i)
        for (u32 at = 0; at < k; ++at) {
            const u32 w = i % columns * k + at;
            const f64 weight = (p.q[w] - 8) * f64{to_f32(Dtype::f16, p.s[w / group])};
            out[i] += f64{to_f32(Dtype::f16, p.a[i / columns * k + at])} *
                      to_f32(Dtype::f16, round_to(Dtype::f16, weight));
        }
    return out;
}

// Expected error: a step's square / 12 for each activation, relative to a row's power.
f64 expected(const Product &p) {
    const ref::QuantizedRows a = ref::quantize_rows(Dtype::f16, p.a, rows, k);
    f64 error = 0, power = 0;
    for (u32 i = 0; i < p.a.size(); ++i) {
        const f64 x = to_f32(Dtype::f16, p.a[i]), step = a.scale[i / k];
        error += step * step / 12;
        power += x * x;
    }
    return error / power;
}

} // namespace

TEST_CASE("the error of int8 activations is that of rounding them") {
    fmt::print("activations                     int8 NMSE     dB   f16 NMSE     dB\n");
    for (const Kind &kind : {Kind{"gaussian", 0, 1},
                             {"1 channel of 100, 20 times", 100, 20},
                             {"1 channel of 1000, 20 times", 1000, 20},
                             {"1 channel of 1000, 100 times", 1000, 100}}) {
        Rng rng(34);
        const Product p(rng, kind);
        const std::vector<f64> exact = ref::decode_w4a16(p.of()).c;
        const f64 int8 = nmse(in_int8(p), exact), f16 = nmse(in_f16(p), exact);
        fmt::print("{:<30} {:10.2e} {:6.1f} {:10.2e} {:6.1f}\n", kind.name, int8,
                   10 * std::log10(int8), f16, 10 * std::log10(f16));
        CHECK_GT(f16, 0);
        CHECK_LT(f16, 1e-7);
        // Where outliers are a multiple of the step, most others round to 0: less than step^2 / 12.
        CHECK_LT(int8, 1.3 * expected(p));
        if (!kind.every)
            CHECK_GT(int8, 0.7 * expected(p));
    }
}
