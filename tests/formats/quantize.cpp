// SPDX-License-Identifier: MIT
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "base/rng.h"
#include "formats/quantize.h"

using namespace nw;

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();

std::vector<f32> normal_weights(u64 count, f32 sigma) {
    const Rng rng(7);
    std::vector<f32> out(count);
    for (u64 i = 0; i < count; ++i)
        out[i] = sigma * rng.normal_at(i);
    return out;
}

// A group of 32: the given weights, then zeros.
std::vector<f32> group(std::vector<f32> w) {
    w.resize(32);
    return w;
}

} // namespace

TEST_CASE("no weight is further than half a scale from what is stored") {
    constexpr u32 n = 37, k = 384;
    for (Dtype dtype : {Dtype::bf16, Dtype::f16}) {
        for (u32 g : {32u, 64u, 128u}) {
            for (f32 sigma : {0.02f, 1.0f, 300.0f}) {
                const std::vector<f32> w = normal_weights(u64{n} * k, sigma);
                const Quantized out = quantize_rows(w, n, k, g, dtype);
                u32 far = 0, out_of_range = 0;
                for (u64 i = 0; i < w.size(); ++i) {
                    const f64 s = to_f32(dtype, out.s[i / g]);
                    out_of_range += out.q[i] > 15;
                    far += std::fabs(w[i] - (out.q[i] - 8) * s) > s / 2;
                }
                CHECK(out_of_range == 0);
                CHECK(far == 0);
            }
        }
    }
}

TEST_CASE("ties go to even, and both ends of the range are used") {
    // max 7 and min -8 make s = 1 exactly.
    const Quantized out = quantize_rows(
        group({7, -8, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.50001f}), 1, 32, 32, Dtype::bf16);
    CHECK(bf16_to_f32(out.s[0]) == 1.0f);
    const std::vector<u8> want = {15, 0, 8, 10, 10, 8, 6, 6, 9, 8};
    CHECK(std::vector<u8>(out.q.begin(), out.q.begin() + 10) == want);
}

TEST_CASE("a negative extreme uses -8, a positive one 7") {
    CHECK(f16_to_f32(quantize_rows(group({-4, 1}), 1, 32, 32, Dtype::f16).s[0]) == 0.5f);
    CHECK(f16_to_f32(quantize_rows(group({3.5f, -1}), 1, 32, 32, Dtype::f16).s[0]) == 0.5f);
}

TEST_CASE("q is computed with the rounded scale") {
    // 1/7 is no bf16: the nearest is 0.142578125, by which 0.9265 is 6.498 steps; by 1/7 it
    // is 6.4855.
    const f32 s = bf16_to_f32(f32_to_bf16(1.0f / 7));
    const f32 w = 6.5f * s + 0x1p-20f; // just above the tie of the rounded scale
    const Quantized out = quantize_rows(group({1, w}), 1, 32, 32, Dtype::bf16);
    CHECK(out.q[1] == 15);
    CHECK(w * 7 < 6.5f); // the unrounded scale would have stored 14
}

TEST_CASE("zeros, underflow and weights that can't be stored") {
    const Quantized zero = quantize_rows(group({}), 1, 32, 32, Dtype::f16);
    CHECK(zero.s[0] == 0);
    CHECK(zero.q == std::vector<u8>(32, 8));
    const Quantized tiny = quantize_rows(group({1e-9f, -1e-9f}), 1, 32, 32, Dtype::f16);
    CHECK(tiny.s[0] == 0);
    CHECK(tiny.q == std::vector<u8>(32, 8));
    CHECK_THROWS_AS(quantize_rows(group({infinity}), 1, 32, 32, Dtype::bf16), Error);
    CHECK_THROWS_AS(quantize_rows(group({1, std::nanf("")}), 1, 32, 32, Dtype::bf16), Error);
    CHECK_THROWS_AS(quantize_rows(group({1e6f}), 1, 32, 32, Dtype::f16), Error);
    CHECK_NOTHROW(quantize_rows(group({1e6f}), 1, 32, 32, Dtype::bf16));
    CHECK_THROWS_AS(quantize_rows(group({1}), 1, 32, 0, Dtype::f16), Error);
    CHECK_THROWS_AS(quantize_rows(group({1}), 2, 32, 32, Dtype::f16), Error);
}
