// SPDX-License-Identifier: MIT
// Quantization blocks of the ggml types that kernels read, in file layout: little-endian, packed,
// unaligned. Formulas: ref/gguf.h.
#pragma once
#include "base/types.h"

namespace nw {

struct [[gnu::packed]] BlockQ4_0 {
    static constexpr u32 elements = 32;
    u16 d;     // f16
    u8 qs[16]; // low nibbles: elements 0 to 15, high ones: 16 to 31
};

struct [[gnu::packed]] BlockQ8_0 {
    static constexpr u32 elements = 32;
    u16 d; // f16
    i8 qs[32];
};

// Eight sub-blocks of 32 elements, each with a scale and a minimum of 6 bits.
struct [[gnu::packed]] BlockQ4_K {
    static constexpr u32 elements = 256;
    u16 d, dmin;   // f16: of the scales, of the minima
    u8 scales[12]; // ref/gguf.cpp: sub_scale
    u8 qs[128];    // 32 bytes for two sub-blocks: low nibbles the first, high ones the second
};

// Sixteen sub-blocks of 16 elements, each with a signed scale.
struct [[gnu::packed]] BlockQ6_K {
    static constexpr u32 elements = 256;
    u8 ql[128]; // low 4 bits
    u8 qh[64];  // high 2 bits
    i8 scales[16];
    u16 d; // f16
};

static_assert(sizeof(BlockQ4_0) == 18 && alignof(BlockQ4_0) == 1);
static_assert(sizeof(BlockQ8_0) == 34 && alignof(BlockQ8_0) == 1);
static_assert(sizeof(BlockQ4_K) == 144 && alignof(BlockQ4_K) == 1);
static_assert(sizeof(BlockQ6_K) == 210 && alignof(BlockQ6_K) == 1);

} // namespace nw
