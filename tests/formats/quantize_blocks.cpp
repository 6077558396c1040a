// SPDX-License-Identifier: MIT
// Quantization to q4_K and mxfp4 against ref's dequantization.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "base/rng.h"
#include "formats/quantize/mxfp4.h"
#include "formats/quantize/q4_k.h"
#include "ref/gguf.h"

using namespace nw;

namespace {

constexpr u32 super = BlockQ4_K::elements, micro = Mxfp4Block::elements;

std::vector<f32> normal_block(u32 count, u64 seed, f32 sigma, f32 shift = 0) {
    const Rng rng(seed);
    std::vector<f32> w(count);
    for (u32 i = 0; i < count; ++i)
        w[i] = shift + sigma * rng.normal_at(i);
    return w;
}

std::vector<f32> dequantized(const BlockQ4_K &block) {
    std::vector<f32> out(super);
    ref::dequantize_row(GgmlType::q4_K, reinterpret_cast<const std::byte *>(&block), super,
                        out.data());
    return out;
}

// By way of the GGUF block, whose layout ref knows.
std::vector<f32> dequantized(const Mxfp4Block &b) {
    BlockMXFP4 block{b.e, {}};
    for (u32 i = 0; i < micro / 2; ++i)
        block.qs[i] = static_cast<u8>(b.codes[i] | b.codes[i + micro / 2] << 4);
    std::vector<f32> out(micro);
    ref::dequantize_row(GgmlType::mxfp4, reinterpret_cast<const std::byte *>(&block), micro,
                        out.data());
    return out;
}

f64 squared(const std::vector<f32> &a, const std::vector<f32> &b) {
    f64 sum = 0;
    for (size_t i = 0; i < a.size(); ++i)
        sum += (f64{a[i]} - b[i]) * (f64{a[i]} - b[i]);
    return sum;
}

f64 squared(const std::vector<f32> &a) { return squared(a, std::vector<f32>(a.size())); }

} // namespace

TEST_CASE("q4_K: what is said to be stored is what ref reads from the block, to the bit") {
    for (Clip clip : {Clip::none, Clip::mse})
        for (u64 seed = 0; seed < 40; ++seed)
            for (f32 sigma : {1e-6f, 0.02f, 1e5f}) {
                const std::vector<f32> w =
                    normal_block(super, seed, sigma, seed % 3 == 0 ? sigma : 0);
                std::vector<f64> stored(super);
                const std::vector<f32> got = dequantized(quantize_q4_K(w, clip, stored));
                CHECK(std::vector<f32>(stored.begin(), stored.end()) == got);
            }
}

TEST_CASE("q4_K: rounding to nearest is within a bound, the search has less error") {
    f64 none = 0, mse = 0, all = 0;
    u32 worse = 0, far = 0;
    constexpr u64 blocks = 200;
    for (u64 seed = 0; seed < blocks; ++seed) {
        const std::vector<f32> w = normal_block(super, seed, 0.02f);
        std::vector<f64> stored(super);
        const std::vector<f32> rounded = dequantized(quantize_q4_K(w, Clip::none, stored));
        const std::vector<f32> searched = dequantized(quantize_q4_K(w, Clip::mse, stored));
        // A step is at most (hi - lo) / 15 and half a step of sc; the largest q takes it 15 times.
        const auto [low, high] = std::minmax_element(w.begin(), w.end());
        const f64 step = (f64{*high} - *low) / 15, coarse = step * 15 / 63;
        for (u32 i = 0; i < super; ++i)
            far += std::fabs(f64{w[i]} - rounded[i]) > step / 2 + coarse;
        const f64 a = squared(w, rounded), b = squared(w, searched);
        worse += b > a;
        none += a, mse += b, all += squared(w);
    }
    CHECK(far == 0);
    CHECK(worse == 0);
    CHECK(none / all < 0.010);
    CHECK(mse < 0.85 * none);
}

TEST_CASE("q4_K: blocks on its grid are exact") {
    std::vector<f32> w(super);
    for (u32 i = 0; i < super; ++i) // d = 1/63, sc = 63; dmin = 8/63, m = 63
        w[i] = static_cast<f32>(i % 16) * (f16_to_f32(f32_to_f16(1.0f / 63)) * 63) -
               f16_to_f32(f32_to_f16(8.0f / 63)) * 63;
    std::vector<f64> stored(super);
    CHECK(squared(w, dequantized(quantize_q4_K(w, Clip::none, stored))) < 1e-6 * squared(w));
    CHECK(squared(w, dequantized(quantize_q4_K(w, Clip::mse, stored))) < 1e-6 * squared(w));
    const std::vector<f32> zeros(super);
    for (Clip clip : {Clip::none, Clip::mse})
        CHECK(dequantized(quantize_q4_K(zeros, clip, stored)) == zeros);
}

TEST_CASE("q4_K: tiny weights become zero, weights beyond its range are refused") {
    std::vector<f64> stored(super);
    for (Clip clip : {Clip::none, Clip::mse}) {
        for (f32 tiny : {1e-9f, 1e-30f, std::numeric_limits<f32>::denorm_min()})
            CHECK(squared(dequantized(
                      quantize_q4_K(std::vector<f32>(super, tiny), clip, stored))) == 0);
        for (f32 fits : {6.1e7f, -4.1e6f}) {
            std::vector<f32> w(super, 0.5f);
            w[77] = fits;
            const std::vector<f32> got = dequantized(quantize_q4_K(w, clip, stored));
            CHECK(got[77] == doctest::Approx(fits).epsilon(0.02));
        }
        for (f32 huge : {6.3e7f, -4.2e6f, std::numeric_limits<f32>::max()}) {
            std::vector<f32> w(super, 0.5f);
            w[77] = huge;
            CHECK_THROWS_WITH_AS(quantize_q4_K(w, clip, stored), doctest::Contains("range of q4_K"),
                                 Error);
        }
    }
}

TEST_CASE("mxfp4: every e2m1 number is exact, and ties go to the even code") {
    std::vector<f32> w(micro);
    for (u32 i = 0; i < micro; ++i)
        w[i] = e2m1_value(static_cast<u8>(i % 16));
    const Mxfp4Block b = quantize_mxfp4(w, Clip::none);
    CHECK(b.e == 127);
    CHECK(dequantized(b) == w);
    std::vector<f32> ties = {4, 0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5, -0.25f, -0.75f, 7.9f};
    ties.resize(micro);
    const Mxfp4Block t = quantize_mxfp4(ties, Clip::none);
    const std::vector<u8> want = {6, 0, 2, 2, 4, 4, 6, 6, 0, 10, 7, 0};
    CHECK(std::vector<u8>(t.codes.begin(), t.codes.begin() + 12) == want);
}

TEST_CASE("mxfp4: the exponent is OCP's; the search takes it or a neighbour and is never worse") {
    f64 none = 0, mse = 0;
    for (u64 seed = 0; seed < 300; ++seed)
        for (f32 scale : {0x1p-100f, 0.02f, 0x1p90f}) {
            const std::vector<f32> w = normal_block(micro, seed, scale);
            f32 largest = 0;
            for (f32 x : w)
                largest = std::max(largest, std::fabs(x));
            const Mxfp4Block a = quantize_mxfp4(w, Clip::none), b = quantize_mxfp4(w, Clip::mse);
            CHECK(a.e == static_cast<i32>(std::floor(std::log2(f64{largest}))) + 125);
            CHECK(std::abs(a.e - b.e) <= 1);
            const f64 rounded = squared(w, dequantized(a)), searched = squared(w, dequantized(b));
            CHECK(searched <= rounded);
            if (scale == 0.02f)
                none += rounded, mse += searched;
        }
    CHECK(mse < 0.99 * none);
}

TEST_CASE("mxfp4: zeros, the smallest and the largest weights") {
    std::vector<f32> w(micro);
    for (Clip clip : {Clip::none, Clip::mse}) {
        w.assign(micro, -0.0f);
        CHECK(quantize_mxfp4(w, clip).e == 0);
        CHECK(quantize_mxfp4(w, clip).codes == std::array<u8, micro>{});
        w[3] = 0x1p-126f;
        CHECK(dequantized(quantize_mxfp4(w, clip)) == std::vector<f32>(w.begin(), w.end()));
        w.assign(micro, std::numeric_limits<f32>::max());
        for (f32 got : dequantized(quantize_mxfp4(w, clip)))
            CHECK(got == doctest::Approx(std::numeric_limits<f32>::max()).epsilon(0.26));
        w.assign(micro, std::numeric_limits<f32>::denorm_min());
        for (f32 got : dequantized(quantize_mxfp4(w, clip)))
            CHECK(got == 0);
    }
}
