// SPDX-License-Identifier: MIT
// Weights as GGUF files have them: C[m, n] = sum_k A[m, k] * w[n, k]. Activations become int8 first
// (quantize_q8), then a family for their number takes the product (gguf_decode: 1 to 8 rows).
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

inline constexpr u32 gguf_decode_rows = 8;

// Activations as int8, in tiles of 1024 of a row: asm/quantize_q8/quantize_q8.s.j2 says what is in
// one.
inline constexpr u32 q8_tile_k = 1024, q8_tile_bytes = 1152;

// Bytes of the tiles of [m, k].
constexpr u64 q8_bytes(u32 m, u32 k) { return ceil_div<u64>(k, q8_tile_k) * m * q8_tile_bytes; }

// A row of weights is a sequence of blocks.
struct GgufBlocks {
    std::string_view type; // ggml's name
    u32 elements, bytes;   // of a block
};

// Those of gguf_decode: q4_0, q8_0, q4_K, q6_K.
std::span<const GgufBlocks> gguf_types();

// Throws Error for a type that no kernel takes.
const GgufBlocks &gguf_blocks(std::string_view type);

// Bytes of a row of weights; throws Error for a type that no kernel takes.
u64 gguf_row_bytes(std::string_view type, u32 k);

// A product.
struct GgufShape {
    std::string_view type; // of gguf_types(), whose names last
    u32 m, n, k;

    u64 weight_bytes() const { return n * gguf_row_bytes(type, k); }
};

// One launch of quantize_q8. Pointers are device memory, 16-byte aligned.
struct QuantizeQ8 {
    u32 m, k;            // m >= 1; k a multiple of 32
    const void *x;       // f32 [m, k]
    u64 x_stride;        // bytes from row to row: a multiple of 16, at least 4k
    void *y;             // q8_bytes(m, k); overlaps nothing else
    bool by_row = false; // its tiles: [m, steps], as gguf_moe_decode takes them; else [steps, m]
};

// One launch of gguf_decode. Pointers are device memory.
struct GgufDecode {
    std::string_view type; // of gguf_types()
    u32 m, n, k;           // m 1..8, n >= 1, k a multiple of the type's block
    const void *a;         // what QuantizeQ8 wrote, 16-byte aligned
    const void *w;         // [n, k / elements] blocks of the type, 16-byte aligned
    void *c;               // f32 [m, n] contiguous, 4-byte aligned; overlaps nothing else
};

// Throw Error where there is none.
const Kernel &choose_quantize_q8(std::string_view gfx);
const Kernel &choose_gguf_decode(std::string_view gfx, std::string_view type, u32 m);

// Throws Error naming argument, value, rule and remedy.
void validate(const QuantizeQ8 &);
void validate(const GgufDecode &);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule or no kernel exists.
void launch(Modules &, const QuantizeQ8 &, const hip::Stream & = {});
void launch(Modules &, const GgufDecode &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must match.
void launch(Modules &, const Kernel &, const QuantizeQ8 &, const hip::Stream & = {});
void launch(Modules &, const Kernel &, const GgufDecode &, const hip::Stream & = {});

// And on a grid of the caller's choice, with so many tiles of a row's activations in LDS at a time.
struct GgufGrid {
    u32 workgroups; // 1 to ceil(n / rows_per_workgroup)
    u32 stage;      // >= 1
};
GgufGrid gguf_grid(const Kernel &, const GgufDecode &, u32 wgps);
void launch(Modules &, const Kernel &, const GgufDecode &, GgufGrid, const hip::Stream & = {});

} // namespace nw
