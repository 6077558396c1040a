// SPDX-License-Identifier: MIT
// Which kernel of decode_w4a16 a product gets: the one that NIBBLEWAVE_FORCE names
// (kernels/force.h), else that of the tuned shape (gen/tuning/<gfx>.toml), else that of the nearest
// one, else the default.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"
#include "kernels/registry.h"

namespace nw {

// Where zero points come from.
enum class Zeros : u8 {
    eight,  // 8 everywhere: symmetric quantization
    packed, // uint32 [ceil(N/8), K/G], 4 bits each: row n in bits 4 * (n % 8) of its dword
    typed,  // [N, K/G] in the activations' type, whole numbers 0..15
};

// A group as long as the row: one scale for all of K.
inline constexpr u32 per_row = ~u32{0};

// As in the kernels' parameter `zeros`: "", "zp", "zt".
std::string_view name(Zeros);

// "bf16 g128 zp m8"
std::string label(Dtype, u32 group, u32 m, Zeros);

// Whether the kernel is one of decode_w4a16 for such products.
bool matches(const Kernel &, Dtype, u32 group, u32 m, Zeros);

// A shape that was tuned, and what came out. Times are microseconds, weights cold.
struct Tuned {
    u32 n, k;
    const Kernel *kernel;
    f64 us;                // its time
    std::string_view next; // the best of the others, which need not be in this build
    f64 next_us, default_us;
    std::string_view by; // "AMD Radeon 8060S (sim)", or a card
};

struct Choice {
    enum class Why : u8 { forced, tuned, near, untuned };
    const Kernel *kernel;
    Why why;
    const Tuned *tuned = nullptr; // the shape that decided, where one did
    f64 distance = 0;             // to it: of (log2 n, log2 k), 1 for twice the rows
};

// A tuned shape further away than this decides nothing.
constexpr f64 farthest = 1;

// For n rows of k weights. Throws Error where there is no such kernel, listing what there is, or
// where NIBBLEWAVE_FORCE names one that does not fit. Allocates nothing but at its first call, and
// any number of threads may call it.
Choice explain(std::string_view gfx, Dtype, u32 group, u32 m, Zeros, u32 n, u32 k);
const Kernel &choose(std::string_view gfx, Dtype, u32 group, u32 m, Zeros, u32 n, u32 k);

// The shapes that were tuned for such products, where there is a kernel for them.
std::span<const Tuned> tuned_shapes(std::string_view gfx, Dtype, u32 group, u32 m, Zeros);

// The default, whatever the shape: the variant of gen/kernels.toml that is no reference. Throws as
// above, but knows no NIBBLEWAVE_FORCE.
const Kernel &choose(std::string_view gfx, Dtype, u32 group, u32 m, Zeros = Zeros::eight);

} // namespace nw
