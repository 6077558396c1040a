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

struct [[gnu::packed]] BlockQ4_1 {
    static constexpr u32 elements = 32;
    u16 d, m; // f16
    u8 qs[16];
};

struct [[gnu::packed]] BlockQ5_0 {
    static constexpr u32 elements = 32;
    u16 d;     // f16
    u32 qh;    // the fifth bit of element i at bit i
    u8 qs[16]; // the other four, as in q4_0
};

struct [[gnu::packed]] BlockQ5_1 {
    static constexpr u32 elements = 32;
    u16 d, m; // f16
    u32 qh;
    u8 qs[16];
};

struct [[gnu::packed]] BlockQ8_0 {
    static constexpr u32 elements = 32;
    u16 d; // f16
    i8 qs[32];
};

// As q4_0, but a nibble is an index into ref/gguf.h: iq4_values.
struct [[gnu::packed]] BlockIQ4_NL {
    static constexpr u32 elements = 32;
    u16 d; // f16
    u8 qs[16];
};

// A nibble is an e2m1 number: ref/gguf.cpp: mxfp4_values.
struct [[gnu::packed]] BlockMXFP4 {
    static constexpr u32 elements = 32;
    u8 e; // of the scale, as e8m0
    u8 qs[16];
};

// Four sub-blocks of 16 elements, each with a scale of fp8, e4m3 without a sign.
struct [[gnu::packed]] BlockNVFP4 {
    static constexpr u32 elements = 64;
    u8 d[4];   // ref/gguf.cpp: ue4m3
    u8 qs[32]; // 8 bytes for a sub-block: low nibbles its first 8 elements, high ones the others
};

// Sixteen sub-blocks of 16 elements, each with a scale and a minimum of 4 bits.
struct [[gnu::packed]] BlockQ2_K {
    static constexpr u32 elements = 256;
    u8 scales[16]; // low nibbles scales, high ones minima
    u8 qs[64];     // 32 bytes for 128 elements, 32 of them at each pair of bits
    u16 d, dmin;   // f16
};

// Sixteen sub-blocks of 16 elements, each with a scale of 6 bits.
struct [[gnu::packed]] BlockQ3_K {
    static constexpr u32 elements = 256;
    u8 hmask[32];  // the third bit of element i at bit i / 32 of byte i % 32
    u8 qs[64];     // the other two, as in q2_K
    u8 scales[12]; // ref/gguf.cpp: sub_scale
    u16 d;         // f16
};

// Eight sub-blocks of 32 elements, each with a scale and a minimum of 6 bits.
struct [[gnu::packed]] BlockQ4_K {
    static constexpr u32 elements = 256;
    u16 d, dmin;   // f16: of the scales, of the minima
    u8 scales[12]; // ref/gguf.cpp: sub_scale
    u8 qs[128];    // 32 bytes for two sub-blocks: low nibbles the first, high ones the second
};

// As q4_K, with a fifth bit.
struct [[gnu::packed]] BlockQ5_K {
    static constexpr u32 elements = 256;
    u16 d, dmin;
    u8 scales[12];
    u8 qh[32]; // the fifth bit of element i at bit i / 32 of byte i % 32
    u8 qs[128];
};

// Sixteen sub-blocks of 16 elements, each with a signed scale.
struct [[gnu::packed]] BlockQ6_K {
    static constexpr u32 elements = 256;
    u8 ql[128]; // low 4 bits
    u8 qh[64];  // high 2 bits
    i8 scales[16];
    u16 d; // f16
};

// Eight sub-blocks of 32 elements, each with a scale of 6 bits; nibbles as in iq4_nl.
struct [[gnu::packed]] BlockIQ4_XS {
    static constexpr u32 elements = 256;
    u16 d;          // f16
    u16 scales_h;   // upper two bits of scale j at bit 2 * j
    u8 scales_l[4]; // lower four: even ones in low nibbles, odd ones in high ones
    u8 qs[128];     // 16 bytes for a sub-block
};

static_assert(sizeof(BlockQ4_0) == 18 && alignof(BlockQ4_0) == 1);
static_assert(sizeof(BlockQ8_0) == 34 && alignof(BlockQ8_0) == 1);
static_assert(sizeof(BlockQ4_K) == 144 && alignof(BlockQ4_K) == 1);
static_assert(sizeof(BlockQ6_K) == 210 && alignof(BlockQ6_K) == 1);
static_assert(sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22 && sizeof(BlockQ5_1) == 24);
static_assert(sizeof(BlockIQ4_NL) == 18 && sizeof(BlockIQ4_XS) == 136 && sizeof(BlockMXFP4) == 17);
static_assert(sizeof(BlockNVFP4) == 36 && alignof(BlockNVFP4) == 1);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ5_K) == 176);

} // namespace nw
