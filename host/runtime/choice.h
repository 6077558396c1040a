// SPDX-License-Identifier: MIT
// Which kernel of decode_w4a16 a product gets: the one that NIBBLEWAVE_FORCE names
// (runtime/force.h), else that of the tuned shape (gen/tuning/<gfx>.toml), else that of the nearest
// one, else the default.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/types.h"
#include "runtime/registry.h"

namespace nw {

// Where zero points come from.
enum class Zeros : u8 {
    eight,   // 8 everywhere: symmetric quantization
    packed,  // uint32 [ceil(N/8), K/G], 4 bits each: row n in bits 4 * (n % 8) of its dword
    typed,   // [N, K/G] in the activations' type, whole numbers 0..15
    carrier, // with the scale, uint32 [N, K/G] in place of s: s in the lower half, in the upper one
             // -z * s rounded (f16) or z as an integer (bf16). prefill_w4a16 only
};

// A group as long as the row: one scale for all of K.
inline constexpr u32 per_row = ~u32{0};

// As in the kernels' parameter `zeros`: "", "zp", "zt", "carrier".
std::string_view zeros_name(Zeros);

// As in the kernels' parameter `group`: "128", "k" for per_row.
std::string group_name(u32 group);

// What a kernel of these families is for.
Dtype dtype_of(const Kernel &);
u32 group_of(const Kernel &);
Zeros zeros_of(const Kernel &);

// "bf16 g128 zp m8"
std::string kind_label(Dtype, u32 group, u32 m, Zeros);

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

// A row of gen/tuning, for the product of m rows of activations.
struct TunedRow {
    std::string_view gfx, family, kernel; // family: decode_w4a16, or prefill_w4a16 (with mid_w4a16)
    u32 m = 0;
    Tuned shape; // without its kernel
};
std::span<const TunedRow> tuned_rows();

// A tuned shape further away than this decides nothing.
constexpr f64 farthest = 1;

// The tuned shapes of one kind of product, for a launch to look into.
class TunedShapes {
public:
    struct Nearest {
        const Tuned *shape = nullptr; // null where none is near enough
        f64 distance = 0;             // of (log2 n, log2 k), 1 for twice the rows
    };

    void add(const Tuned &);
    // Of several at the same distance the one added first.
    Nearest nearest(u32 n, u32 k) const;
    std::span<const Tuned> all() const { return shapes_; }

private:
    std::vector<Tuned> shapes_;
    std::vector<std::pair<f64, f64>> at_; // log2 of their n and k
};

struct Choice {
    enum class Why : u8 { forced, tuned, near, untuned };
    const Kernel *kernel;
    Why why;
    const Tuned *tuned = nullptr; // the shape that decided, where one did
    f64 distance = 0;             // to it
};

// For n rows of k weights. Throws Error where there is no such kernel, listing what there is, or
// where NIBBLEWAVE_FORCE names one that does not fit. Allocates nothing but at its first call, and
// any number of threads may call it.
Choice explain(std::string_view gfx, Dtype, u32 group, u32 m, Zeros, u32 n, u32 k);
const Kernel &choose(std::string_view gfx, Dtype, u32 group, u32 m, Zeros, u32 n, u32 k);

// The default, whatever the shape: the variant of gen/kernels.toml that is no reference. Throws as
// above, but knows no NIBBLEWAVE_FORCE.
const Kernel &choose(std::string_view gfx, Dtype, u32 group, u32 m, Zeros = Zeros::eight);

} // namespace nw
