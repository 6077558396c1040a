// SPDX-License-Identifier: MIT
// The double reference against sums worked out by hand.
#include <doctest/doctest.h>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "ref/decode.h"

using namespace nw;

namespace {

std::vector<u16> halves(u64 count, f32 value) { return std::vector<u16>(count, f32_to_f16(value)); }

} // namespace

TEST_CASE("one activation at a time picks (q - 8) * s of its own group") {
    constexpr u32 n = 3, k = 64, group = 32;
    std::vector<u8> q(n * k);
    for (u32 i = 0; i < q.size(); ++i)
        q[i] = static_cast<u8>(i * 7 % 16);
    std::vector<u16> s = halves(n * 2, 0);
    for (u32 i = 0; i < s.size(); ++i)
        s[i] = f32_to_f16(static_cast<f32>(1 << i));
    for (u32 at : {0u, 31u, 32u, 63u}) {
        std::vector<u16> a = halves(2 * k, 0);
        a[at] = f32_to_f16(1);
        a[k + at] = f32_to_f16(-3);
        const ref::DecodeResult r = ref::decode_w4a16({Dtype::f16, 2, n, k, group, a, q, s, {}});
        for (u32 row = 0; row < n; ++row) {
            const f64 weight = (q[row * k + at] - 8) * f64(1 << (row * 2 + at / group));
            CHECK(r.c[row] == weight);
            CHECK(r.c[n + row] == -3 * weight);
            CHECK(r.terms[n + row] == 3 * std::abs(weight));
            CHECK(r.offsets[n + row] == 3.0 * (1 << (row * 2 + at / group)));
        }
    }
}

TEST_CASE("sums, bias and cancellation") {
    constexpr u32 k = 128;
    std::vector<u8> q(k, 15);
    for (u32 i = 0; i < k; i += 2)
        q[i] = 1;
    const std::vector<u16> bias = halves(1, -2);
    const ref::DecodeResult r =
        ref::decode_w4a16({Dtype::f16, 1, 1, k, 128, halves(k, 1), q, halves(1, 0.5f), bias});
    CHECK(r.c[0] == -2);
    CHECK(r.terms[0] == 128 * 7 * 0.5 + 2);
    CHECK(r.offsets[0] == 64);
}

TEST_CASE("sizes that do not fit the shape are refused") {
    const std::vector<u8> q(64);
    CHECK_THROWS_AS(
        ref::decode_w4a16({Dtype::f16, 1, 1, 64, 32, halves(63, 1), q, halves(2, 1), {}}), Error);
    CHECK_THROWS_AS(
        ref::decode_w4a16({Dtype::f16, 1, 1, 64, 32, halves(64, 1), q, halves(1, 1), {}}), Error);
    CHECK_THROWS_AS(
        ref::decode_w4a16({Dtype::f16, 1, 1, 64, 48, halves(64, 1), q, halves(2, 1), {}}), Error);
}
