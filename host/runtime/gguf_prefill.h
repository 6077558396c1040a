// SPDX-License-Identifier: MIT
// Weights as GGUF files have them, for many rows: C[m, n] = sum_k A[m, k] * w[n, k] with WMMA on
// tiles of C. Activations become f16 first (gguf_halves, runtime/gguf_mid.h); weights are rounded
// once to f16. No scratch. Everything is checked before anything is launched.
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/gguf_mid.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// Fewest rows that it is meant for: fewer are gguf_mid's.
inline constexpr u32 gguf_prefill_rows = 33;
// More are always its; gguf_mid unpacks weights for each 32 rows. Up to there gguf_mid, which
// splits K, is the faster where WGPs have less than one tile and a half each.
inline constexpr u32 gguf_most_mid_rows = 64;

// One launch of gguf_prefill. Pointers are device memory.
struct GgufPrefill {
    std::string_view type; // of gguf_types(): q4_0, q8_0, q4_K, q6_K
    u32 m, n, k;           // m, n >= 1, k a multiple of the type's block
    const void *a;         // what GgufHalves wrote, 16-byte aligned
    const void *w;         // [n, k / elements] blocks of the type, 16-byte aligned
    void *c;               // f32 [m, n] contiguous, 4-byte aligned; overlaps nothing else
};

// In which order tiles of C are made, and when workgroups begin.
struct GgufPrefillOrder {
    u32 raster = 1; // a power of two: tiles of rows that are gone through together
    u32 rotate = 0; // tile i of these begins at k = 256 * rotate * i (T-026); k % 256 == 0, or 0
    u32 first = 1, levels = 1, pause = 0; // T-027: workgroup i < levels * first begins
                                          // pause * (i / first) times 64 cycles later
};
GgufPrefillOrder gguf_prefill_order(const Kernel &, u32 m, u32 n, u32 k, u32 wgps);

// For so many WGPs the tile that takes the least time, of the family's among these or of all of a
// type; null where there is none.
const Kernel *best_gguf_prefill(std::span<const Kernel *const> among, u32 m, u32 n, u32 wgps);
const Kernel *find_gguf_prefill(std::string_view gfx, std::string_view type, u32 m, u32 n,
                                u32 wgps);
// Tiles of C.
u64 gguf_prefill_tiles(const Kernel &, u32 m, u32 n);
// Throws Error where there is none.
const Kernel &choose_gguf_prefill(std::string_view gfx, std::string_view type, u32 m, u32 n,
                                  u32 wgps);

// Throws Error naming argument, value, rule and remedy.
void validate(const GgufPrefill &);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule or no kernel exists.
void launch(Modules &, const GgufPrefill &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must match; and in an order of it.
void launch(Modules &, const Kernel &, const GgufPrefill &, const hip::Stream & = {});
void launch(Modules &, const Kernel &, const GgufPrefill &, const GgufPrefillOrder &,
            const hip::Stream & = {});

} // namespace nw
