// SPDX-License-Identifier: MIT
// bfloat16 and binary16: all 65536 words, and rounding against the compiler's own _Float16.
#include <bit>
#include <cmath>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include "base/half.h"
#include "base/rng.h"

using namespace nw;

namespace {

constexpr f32 infinity = std::numeric_limits<f32>::infinity();

bool is_nan_word(u16 h, u16 exponent) { return (h & 0x7fff) > exponent; }

// The compiler's conversions, where it has the type (g++ >= 12 and clang on x86-64 and AArch64).
#ifdef __FLT16_MAX__
u16 compiler_narrow(f64 x) { return std::bit_cast<u16>(static_cast<_Float16>(x)); }
f32 compiler_widen(u16 h) { return static_cast<f32>(std::bit_cast<_Float16>(h)); }
#endif

// bf16 rounding of a finite f32, as the textbook has it.
u16 textbook_bf16(f32 x) {
    const u32 bits = std::bit_cast<u32>(x);
    return static_cast<u16>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

std::vector<f32> test_floats() {
    std::vector<f32> out = {0.0f,         -0.0f,        65504.0f,   65519.996f,      65520.0f,
                            0x1p-24f,     0x1p-25f,     0x1.8p-25f, 0x1.000002p-25f, 0x1p-14f,
                            0x1.ffcp-15f, 0x1.ffep-15f, 0x1p-126f,  0x1p-149f,       3.3895314e38f,
                            3.4e38f};
    Rng rng(1);
    for (int i = 0; i < 200000; ++i) {
        const u32 bits = static_cast<u32>(rng.next());
        out.push_back(std::bit_cast<f32>(bits));                              // every exponent
        out.push_back(std::bit_cast<f32>((bits & 0x87ffffff) | 0x38000000u)); // in f16's range
    }
    return out;
}

} // namespace

TEST_CASE("every 16-bit word survives widening and narrowing") {
    u32 wrong_bf16 = 0, wrong_f16 = 0;
    for (u32 h = 0; h < 65536; ++h) {
        const u16 word = static_cast<u16>(h);
        const bool bf16_nan = is_nan_word(word, Bf16::infinity),
                   f16_nan = is_nan_word(word, F16::infinity);
        wrong_bf16 += f32_to_bf16(bf16_to_f32(word)) != (bf16_nan ? word | Bf16::quiet : word);
        wrong_f16 += f32_to_f16(f16_to_f32(word)) != (f16_nan ? word | F16::quiet : word);
        wrong_bf16 += std::isnan(bf16_to_f32(word)) != bf16_nan;
        wrong_f16 += std::isnan(f16_to_f32(word)) != f16_nan;
    }
    CHECK(wrong_bf16 == 0);
    CHECK(wrong_f16 == 0);
}

TEST_CASE("bf16 is the upper half of f32") {
    u32 wrong = 0;
    for (u32 h = 0; h < 65536; ++h)
        if (!is_nan_word(static_cast<u16>(h), Bf16::infinity))
            wrong += std::bit_cast<u32>(bf16_to_f32(static_cast<u16>(h))) != h << 16;
    CHECK(wrong == 0);
    for (f32 x : test_floats())
        if (std::isfinite(x))
            wrong += f32_to_bf16(x) != textbook_bf16(x);
    CHECK(wrong == 0);
}

#ifdef __FLT16_MAX__
TEST_CASE("f16 agrees with the compiler's _Float16") {
    u32 wrong = 0;
    for (u32 h = 0; h < 65536; ++h) {
        const u16 word = static_cast<u16>(h);
        if (!is_nan_word(word, F16::infinity))
            wrong +=
                std::bit_cast<u32>(f16_to_f32(word)) != std::bit_cast<u32>(compiler_widen(word));
    }
    CHECK(wrong == 0);
    for (f32 x : test_floats())
        if (!std::isnan(x))
            wrong += f32_to_f16(x) != compiler_narrow(x);
    CHECK(wrong == 0);
}
#endif

TEST_CASE("the midpoint between neighbours goes to the even one, from every finite word") {
    u32 wrong = 0;
    const auto scan = [&]<class Format>(Format) {
        for (u16 h = 0; h + 1 < Format::infinity; ++h) {
            const f64 low = Format::widen(h), high = Format::widen(h + 1),
                      middle = (low + high) / 2;
            const u16 even = h & 1 ? h + 1 : h;
            wrong += Format::narrow(middle) != even;
            wrong += Format::narrow(-middle) != (even | 0x8000);
            wrong += Format::narrow(std::nextafter(middle, 0.0)) != h;
            wrong += Format::narrow(std::nextafter(middle, 1e300)) != h + 1;
            wrong += Format::ulp(low) != high - low;
        }
    };
    scan(Bf16{});
    scan(F16{});
    CHECK(wrong == 0);
}

TEST_CASE("NaN, infinity, overflow and underflow") {
    CHECK(f32_to_f16(infinity) == F16::infinity);
    CHECK(f32_to_bf16(-infinity) == (Bf16::infinity | 0x8000));
    CHECK(F16::narrow(65519.999) == 0x7bff);
    CHECK(F16::narrow(65520.0) == F16::infinity); // the tie above the largest number
    CHECK(Bf16::narrow(1e300) == Bf16::infinity);
    CHECK(F16::narrow(5e-324) == 0);
    CHECK(Bf16::narrow(-1e-300) == 0x8000);
    CHECK(f32_to_bf16(std::bit_cast<f32>(0x7f800001u)) == (Bf16::infinity | Bf16::quiet));
    CHECK(std::isnan(to_f32(Dtype::f16, nan_poison)));
    CHECK(std::isnan(to_f32(Dtype::bf16, nan_poison)));
    static_assert(F16::narrow(1.0) == 0x3c00 && Bf16::narrow(1.0) == 0x3f80);
}
