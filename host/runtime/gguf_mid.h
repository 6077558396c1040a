// SPDX-License-Identifier: MIT
// Weights as GGUF files have them, for more rows than gguf_decode takes: C[m, n] = sum_k A[m, k] *
// w[n, k] with WMMA. Activations become f16 first, each row times a power of two (gguf_halves), so
// that none is too large; then gguf_mid takes the product. Everything is checked before anything is
// launched.
#pragma once
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// Tiles of 16 rows that the activations of m rows are kept in.
constexpr u32 gguf_halves_tiles(u32 m) { return m <= 16 ? 1 : 2 * ceil_div(m, 32u); }

// Bytes of what gguf_halves writes (asm/gguf_halves/gguf_halves.s.j2).
constexpr u64 gguf_halves_bytes(u32 m, u32 k) {
    const u64 tiles = gguf_halves_tiles(m);
    return ceil_div<u64>(k, 256) * tiles * (8192 + 256) + 64 * tiles;
}

// One launch of gguf_halves. Pointers are device memory, 16-byte aligned.
struct GgufHalves {
    u32 m, k;            // m >= 1; k a multiple of 8
    const void *x;       // f32 [m, k]
    u64 x_stride;        // bytes from row to row: a multiple of 16, at least 4k
    void *y;             // gguf_halves_bytes(m, k); overlaps nothing else
    bool by_row = false; // a row's pieces together, as mixtures of experts want them
};

// One launch of gguf_mid. Pointers are device memory.
struct GgufMid {
    std::string_view type; // of gguf_types()
    u32 m, n, k;           // m, n >= 1, k a multiple of 256
    const void *a;         // what GgufHalves wrote, 16-byte aligned
    const void *w;         // [n, k / elements] blocks of the type, 16-byte aligned
    void *c;               // f32 [m, n] contiguous, 4-byte aligned; overlaps nothing else
    void *parts;           // scratch, 16-byte aligned: gguf_mid_parts_bytes
    void *arrived;         // 4-byte aligned, gguf_mid_arrived_bytes: 0, and 0 again after a launch.
                           // Launches that run at the same time need parts and arrived of their own
};

// How c is dealt out: in super-blocks of tiles, so many to a workgroup.
u32 gguf_mid_share(const Kernel &, u32 m, u32 n, u32 k, u32 wgps);
u64 gguf_mid_parts_bytes(const Kernel &, u32 m, u32 n, u32 k, u32 share);
u64 gguf_mid_arrived_bytes(const Kernel &, u32 m, u32 n);

// Null where there is none.
const Kernel *find_gguf_mid(std::string_view gfx, std::string_view type, u32 m);
// Throw Error where there is none.
const Kernel &choose_gguf_halves(std::string_view gfx);
const Kernel &choose_gguf_mid(std::string_view gfx, std::string_view type, u32 m);

// Throws Error naming argument, value, rule and remedy.
void validate(const GgufHalves &);
void validate(const GgufMid &);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule or no kernel exists.
void launch(Modules &, const GgufHalves &, const hip::Stream & = {});
void launch(Modules &, const GgufMid &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must match.
void launch(Modules &, const Kernel &, const GgufHalves &, const hip::Stream & = {});
void launch(Modules &, const Kernel &, const GgufMid &, const hip::Stream & = {});

// And with a share of the caller's choice, >= 1.
void launch(Modules &, const Kernel &, const GgufMid &, u32 share, const hip::Stream & = {});

} // namespace nw
