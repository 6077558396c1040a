// SPDX-License-Identifier: MIT
// A product with GGUF weights of any number of rows: C[m, n] = sum_k X[m, k] * w[n, k], X in f32 as
// callers have it. There are several ways to it, each a kernel that converts activations and one
// that multiplies, for as many rows at a time as the latter takes: gguf_decode (runtime/gguf.h),
// gguf_mid (runtime/gguf_mid.h). Which one a product gets: the one whose kernel NIBBLEWAVE_FORCE
// names, else that of the nearest tuned shape for as many rows or up to twice as many
// (gen/tuning/<gfx>.toml, family gguf), else by a rule.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/choice.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// Of the rows of gen/tuning.
inline constexpr std::string_view gguf_family = "gguf";

// A workspace begins with so many counters of 4 bytes, which are 0 before and after each launch,
// whatever its shape: so launches of any shapes, one after the other, may share it, and nobody has
// to clear it but once.
inline constexpr u32 gguf_counters = 65536;
inline constexpr u64 gguf_counters_bytes = u64{4} * gguf_counters;

// Pointers are device memory.
struct GgufLinear {
    std::string_view type; // of gguf_types()
    u32 m, n, k;           // m, n >= 1, k a multiple of the type's block
    const void *x;         // f32 [m, k], 16-byte aligned
    u64 x_stride;          // bytes from row to row: a multiple of 16, at least 4k
    const void *w;         // [n, k / elements] blocks of the type, 16-byte aligned
    void *c;               // f32 [m, n] contiguous, 4-byte aligned
    void *workspace;     // 16-byte aligned: its first gguf_counters_bytes are 0, and 0 again after
                         // a launch. Launches that may run at the same time need one each
    u64 workspace_bytes; // at least gguf_linear_workspace
};                       // c and workspace overlap nothing else

// A way to a product: slices of its rows, one after the other.
struct GgufRoute {
    const Kernel *kernel, *last; // of the slices, and of the last one, which may have fewer rows
    const Kernel *convert;       // of their activations
    u32 rows;                    // of a slice
};

// By that kernel, which may be one of those that are never chosen. Throws Error where it is for
// other products.
GgufRoute gguf_route(const Kernel &, std::string_view type, u32 m, u32 n, u32 k);

// The kernels of all ways; with those that are kept to be compared with and never chosen.
enum class References : u8 { without, with };
std::vector<const Kernel *> gguf_route_kernels(std::string_view gfx, std::string_view type, u32 m,
                                               u32 n, u32 k, References = References::without);

// Choice::kernel is the route's. Throws Error where there is none, or where NIBBLEWAVE_FORCE names
// one that does not fit.
Choice explain_gguf(std::string_view gfx, std::string_view type, u32 m, u32 n, u32 k);
// By the rule, whatever was tuned or forced.
const Kernel &default_gguf(std::string_view gfx, std::string_view type, u32 m, u32 n, u32 k);

// Bytes that are enough for such a product, and for each of fewer rows, by any way, on a device of
// so many WGPs.
u64 gguf_linear_workspace(std::string_view gfx, std::string_view type, u32 m, u32 n, u32 k,
                          u32 wgps);
// And for exactly this one, by this way.
u64 gguf_route_workspace(const GgufRoute &, u32 m, u32 n, u32 k, u32 wgps);

// Throws Error naming argument, value, rule and remedy. The first: type, m, n and k alone.
void validate_gguf_shape(std::string_view type, u32 m, u32 n, u32 k);
void validate(const GgufLinear &);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule or no kernel exists.
void launch(Modules &, const GgufLinear &, const hip::Stream & = {});
void launch(Modules &, const GgufRoute &, const GgufLinear &, const hip::Stream & = {});

} // namespace nw
