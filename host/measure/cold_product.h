// SPDX-License-Identifier: MIT
// Times whole products with cold weights: weights, scales and zero points come from memory that was
// not touched for long, everything else is where the launch before left it. Published tests may or
// may not rotate their buffers; this policy is the same for all rows.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "hip/hip.h"
#include "measure/shapes.h"
#include "runtime/launch.h"

namespace nw {

// Throws Error unless the device keeps time, as these microseconds show.
void need_time(const hip::Device &, f64 us);

inline constexpr u64 page = 4096; // bytes; a buffer begins on one

// Bytes that the operand has; 0 if it is not among these or is optional.
u64 operand_bytes(std::span<const Operand>, u64 Op::*argument, const Op &, const Kernel &,
                  const Machine & = {});

// Bytes touched before a piece of memory is reused: twice the largest cache of the parts.
inline constexpr u64 cold_rest = u64{192} << 20;

// Device memory handed out in a ring: a piece is reused after at least `rest` bytes of others.
class Rotation {
public:
    Rotation(const hip::Device &, u64 largest, u64 rest);
    void *take(u64 bytes); // begins on a page

private:
    hip::Buffer buffer_;
    u64 next_ = 0;
};

// Default grid, whose workgroups iterate over rows; or a workgroup for every rows_per_workgroup.
enum class Workgroups { stay, one_round };

class ColdProduct {
public:
    // Memory for one launch of the largest of these ops (sizes and strides), or for any number if
    // products > 1. `kernels` is the directory of find_code_object().
    ColdProduct(const hip::Device &, std::span<const Op>, u64 products = ~u64{0},
                const std::filesystem::path &kernels = {});

    // Microseconds between two events around all launches of the op with this kernel, after an
    // untimed launch of one round of workgroups that warms the instruction cache. `launched` is
    // called after each of the two. Throws Error if the kernel does not match the op.
    f64 us(const Kernel &, const Op &, const std::function<void()> &launched = {},
           Workgroups = Workgroups::stay);
    // The same without the untimed launch: a cold device.
    f64 us_as_new(const Kernel &, const Op &);

private:
    void prepare(const Kernel &, const Op &, const Op &round);
    void queue(const Kernel &, Op, Workgroups);

    const hip::Device &device_;
    Modules modules_;
    hip::Event start_, stop_;
    hip::Buffer activations_, c_, workspace_;
    // Separate: caches may keep scales but bypass weights, which are read once, so weights
    // placed where scales were would hit.
    Rotation weights_;
    std::optional<Rotation> scales_;
};

// The published kernel (asm/splitk_w4a16), which the library never chooses. It supports zeros
// eight and typed. Throws Error if there is none for the product.
struct Published {
    const Kernel &kernel;
    Op op; // of the product, with its `waves`
};
Published published_kernel(std::string_view gfx, const ProductShape &);
f64 published_us(ColdProduct &, std::string_view gfx, const ProductShape &);

std::vector<Op> ops_of(std::span<const ProductShape>);

// The kernel that the library chooses.
const Kernel &chosen_kernel(std::string_view gfx, const ProductShape &);

} // namespace nw
