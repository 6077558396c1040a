// SPDX-License-Identifier: MIT
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "base/rng.h"
#include "formats/quantize/int4.h"

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
                const QuantizedRows out = quantize_rows(w, n, k, {g, dtype});
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
    const QuantizedRows out = quantize_rows(
        group({7, -8, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, 0.50001f}), 1, 32, {32, Dtype::bf16});
    CHECK(bf16_to_f32(out.s[0]) == 1.0f);
    const std::vector<u8> want = {15, 0, 8, 10, 10, 8, 6, 6, 9, 8};
    CHECK(std::vector<u8>(out.q.begin(), out.q.begin() + 10) == want);
}

TEST_CASE("a negative extreme uses -8, a positive one 7") {
    CHECK(f16_to_f32(quantize_rows(group({-4, 1}), 1, 32, {32, Dtype::f16}).s[0]) == 0.5f);
    CHECK(f16_to_f32(quantize_rows(group({3.5f, -1}), 1, 32, {32, Dtype::f16}).s[0]) == 0.5f);
}

TEST_CASE("q is computed with the rounded scale") {
    // 1/7 is no bf16: the nearest is 0.142578125, by which 0.9265 is 6.498 steps; by 1/7 it
    // is 6.4855.
    const f32 s = bf16_to_f32(f32_to_bf16(1.0f / 7));
    const f32 w = 6.5f * s + 0x1p-20f; // just above the tie of the rounded scale
    const QuantizedRows out = quantize_rows(group({1, w}), 1, 32, {32, Dtype::bf16});
    CHECK(out.q[1] == 15);
    CHECK(w * 7 < 6.5f); // the unrounded scale would have stored 14
}

TEST_CASE("zeros, underflow and weights that can't be stored") {
    const QuantizedRows zero = quantize_rows(group({}), 1, 32, {32, Dtype::f16});
    CHECK(zero.s[0] == 0);
    CHECK(zero.q == std::vector<u8>(32, 8));
    const QuantizedRows tiny = quantize_rows(group({1e-9f, -1e-9f}), 1, 32, {32, Dtype::f16});
    CHECK(tiny.s[0] == 0);
    CHECK(tiny.q == std::vector<u8>(32, 8));
    CHECK_THROWS_AS(quantize_rows(group({infinity}), 1, 32, {32, Dtype::bf16}), Error);
    CHECK_THROWS_AS(quantize_rows(group({1, std::nanf("")}), 1, 32, {32, Dtype::bf16}), Error);
    CHECK_THROWS_AS(quantize_rows(group({1e6f}), 1, 32, {32, Dtype::f16}), Error);
    CHECK_NOTHROW(quantize_rows(group({1e6f}), 1, 32, {32, Dtype::bf16}));
    CHECK_THROWS_AS(quantize_rows(group({1}), 1, 32, {0, Dtype::f16}), Error);
    CHECK_THROWS_AS(quantize_rows(group({1}), 2, 32, {32, Dtype::f16}), Error);
}

TEST_CASE("with zero points no weight is further than 0.54 of a scale from what is stored") {
    constexpr u32 n = 11, k = 384;
    for (Dtype dtype : {Dtype::bf16, Dtype::f16}) {
        for (f32 shift : {-3.0f, 0.0f, 0.5f, 10.0f}) {
            std::vector<f32> w = normal_weights(u64{n} * k, 1);
            for (f32 &x : w)
                x += shift;
            const QuantizedRows out = quantize_rows(w, n, k, {64, dtype, true});
            u32 far = 0, out_of_range = 0;
            for (u64 i = 0; i < w.size(); ++i) {
                const f64 s = to_f32(dtype, out.s[i / 64]);
                out_of_range += out.q[i] > 15 || out.z[i / 64] > 15;
                far += std::fabs(w[i] - (out.q[i] - out.z[i / 64]) * s) > 0.54 * s;
            }
            CHECK(out_of_range == 0);
            CHECK(far == 0);
        }
    }
}

TEST_CASE("a zero point puts 0 on the grid and uses all of it") {
    const QuantizedRows up =
        quantize_rows(group({15, 3, 1}), 1, 32, {32, Dtype::f16, true}); // 0 to 15
    CHECK(f16_to_f32(up.s[0]) == 1);
    CHECK(up.z[0] == 0);
    CHECK(std::vector<u8>(up.q.begin(), up.q.begin() + 4) == std::vector<u8>{15, 3, 1, 0});
    const QuantizedRows down =
        quantize_rows(group({-10, 5, 1}), 1, 32, {32, Dtype::bf16, true}); // -10 to 5
    CHECK(bf16_to_f32(down.s[0]) == 1);
    CHECK(down.z[0] == 10);
    CHECK(std::vector<u8>(down.q.begin(), down.q.begin() + 4) == std::vector<u8>{0, 15, 11, 10});
}

namespace {

f64 error_of(const std::vector<f32> &w, const QuantizedRows &out, u32 g, Dtype dtype, u64 at) {
    f64 sum = 0;
    for (u64 i = at * g; i < (at + 1) * g; ++i) {
        const f64 z = out.z.empty() ? 8 : out.z[at];
        sum += std::pow(w[i] - (out.q[i] - z) * f64{to_f32(dtype, out.s[at])}, 2);
    }
    return sum;
}

} // namespace

TEST_CASE("mse has no group worse than none, most are better, and less error in all") {
    constexpr u32 n = 16, k = 512;
    for (bool zero_points : {false, true})
        for (u32 g : {32u, 64u, 128u})
            for (f32 sigma : {0x1p-120f, 0.02f, 0x1p100f}) { // squares leave the range of f32
                const std::vector<f32> w = normal_weights(u64{n} * k, sigma);
                const auto rows = [&](Clip clip) {
                    return quantize_rows(w, n, k, {g, Dtype::bf16, zero_points, clip});
                };
                const QuantizedRows none = rows(Clip::none), mse = rows(Clip::mse);
                u32 worse = 0, better = 0;
                f64 all_none = 0, all_mse = 0;
                for (u64 at = 0; at < w.size() / g; ++at) {
                    const f64 a = error_of(w, none, g, Dtype::bf16, at),
                              b = error_of(w, mse, g, Dtype::bf16, at);
                    worse += b > a * (1 + 1e-5);
                    better += b < a;
                    all_none += a, all_mse += b;
                }
                CHECK(worse == 0);
                CHECK(better > w.size() / g / 2);
                CHECK(all_mse < 0.97 * all_none);
            }
}

TEST_CASE("mse clips a lone outlier where that pays, and leaves exact groups alone") {
    std::vector<f32> w(128, 0.5f);
    for (u32 i = 0; i < 128; i += 2)
        w[i] = -0.5f;
    w[5] = 7; // s = 1 rounds every 0.5 to 0
    const QuantizedRows none = quantize_rows(w, 1, 128, {128, Dtype::f16}),
                        mse = quantize_rows(w, 1, 128, {128, Dtype::f16, false, Clip::mse});
    CHECK(f16_to_f32(none.s[0]) == 1);
    CHECK(f16_to_f32(mse.s[0]) < 1);
    CHECK(error_of(w, mse, 128, Dtype::f16, 0) < error_of(w, none, 128, Dtype::f16, 0));
    std::vector<f32> exact(32);
    for (u32 i = 0; i < 32; ++i)
        exact[i] = static_cast<f32>(i % 16) - 8;
    const QuantizedRows same = quantize_rows(exact, 1, 32, {32, Dtype::f16, false, Clip::mse});
    CHECK(f16_to_f32(same.s[0]) == 1);
    CHECK(error_of(exact, same, 32, Dtype::f16, 0) == 0);
}

TEST_CASE("groups that vanish, and subnormal scales, with every option") {
    for (bool zero_points : {false, true})
        for (Clip clip : {Clip::none, Clip::mse}) {
            const Int4Options f16{32, Dtype::f16, zero_points, clip},
                bf16{32, Dtype::bf16, zero_points, clip};
            for (f32 w : {0.0f, -0.0f, 1e-9f, -1e-9f}) {
                const QuantizedRows out = quantize_rows(group({w}), 1, 32, f16);
                CHECK(out.s[0] == 0);
                CHECK(out.q == std::vector<u8>(32, 8));
                CHECK(out.z == std::vector<u8>(zero_points ? 1 : 0, 8));
            }
            for (f32 w : {0x1p-126f, 0x1.5p-128f}) { // a scale below 2^-126
                const QuantizedRows out = quantize_rows(group({w, -w}), 1, 32, bf16);
                const f32 s = bf16_to_f32(out.s[0]);
                const f64 z = zero_points ? out.z[0] : 8;
                CHECK(s < 0x1p-126f);
                CHECK(s > 0);
                CHECK((out.q[0] - z) * s == doctest::Approx(w).epsilon(0.2));
            }
            CHECK_THROWS_AS(quantize_rows(group({1e6f}), 1, 32, f16), Error);
            CHECK_THROWS_AS(quantize_rows(group({1, infinity}), 1, 32, bf16), Error);
            CHECK_THROWS_AS(quantize_rows(group({1, std::nanf("")}), 1, 32, bf16), Error);
            const f32 huge = std::numeric_limits<f32>::max();
            CHECK_NOTHROW(quantize_rows(group({huge, -huge}), 1, 32, bf16));
        }
}
