// SPDX-License-Identifier: MIT
// Times one product as the published test may have: weights, scales and zero points from memory
// that was not touched for long, everything else as the launch before left it.
//
// Whether the published test rotates its buffers is unknown; this policy is the same for all rows.
#pragma once
#include <filesystem>
#include <functional>
#include <span>

#include "hip/hip.h"
#include "runtime/launch.h"
#include "runtime/w4a16.h"

namespace nw {

struct ProductShape {
    Dtype dtype;
    Zeros zeros;
    u32 m, n, k, group; // group may be per_row
    u64 w_stride;       // bytes

    u32 groups() const { return group == per_row ? 1 : k / group; }
    bool has_z() const { return zeros == Zeros::packed || zeros == Zeros::typed; }
    u64 s_stride() const { return u64{zeros == Zeros::carrier ? 4u : 2u} * groups(); }
    u64 z_stride() const { return has_z() ? u64{zeros == Zeros::packed ? 4u : 2u} * groups() : 0; }
    u64 z_rows() const { return zeros == Zeros::packed ? ceil_div(n, 8u) : n; }
    u64 weight_bytes() const { return n * w_stride; }
    u64 scale_bytes() const { return n * s_stride(); }
    u64 zero_bytes() const { return z_rows() * z_stride(); }
    Op op() const { return linear_w4a16(dtype, group, zeros, m, n, k); } // its sizes
    // What a product has to move at least, whatever lies between the rows.
    u64 bytes_moved() const {
        return u64{n} * k / 2 + scale_bytes() + zero_bytes() + u64{2} * m * (k + n);
    }
};

// Throws Error unless the device has kept time, as these microseconds show.
void need_time(const hip::Device &, f64 us);

// Bytes that others touch before a piece of memory comes back: twice the largest cache of the
// parts.
inline constexpr u64 cold_rest = u64{192} << 20;

// Device memory that is handed out piece by piece, round and round: a piece comes back after at
// least `rest` bytes of others.
class Rotation {
public:
    Rotation(const hip::Device &, u64 largest, u64 rest);
    void *take(u64 bytes); // begins on a page

private:
    hip::Buffer buffer_;
    u64 next_ = 0;
};

class ColdProduct {
public:
    // For `products` of these, or any number, by kernels of that directory (find_code_object).
    ColdProduct(const hip::Device &, std::span<const ProductShape>, u64 products = ~u64{0},
                const std::filesystem::path &kernels = {});

    struct Memory {
        const void *a, *w, *s, *z; // z: null where there are none
        void *c;
    };
    using Launch = std::function<void(const ProductShape &, const Memory &)>;
    // For one launch; cold.
    Memory memory(const ProductShape &);
    // Microseconds between two events around `launch`, which follows one of the same over
    // `warm_rows` rows: that brings the code to where later launches find it. `launched` is called
    // after each.
    f64 us(const ProductShape &, u32 warm_rows, const Launch &,
           const std::function<void()> &launched = {});

    Modules &modules() { return modules_; }
    const hip::Device &device() const { return device_; }

private:
    const hip::Device &device_;
    Modules modules_;
    hip::Event start_, stop_;
    hip::Buffer a_, c_;
    // Apart from each other: caches may keep scales and let weights, which are read once, pass
    // so that weights where scales were would be found in a cache.
    Rotation weights_, scales_;
};

// The published kernel (asm/splitk_w4a16), which is never chosen for a product: its geometry is
// that of the contract. Of zeros it knows eight and typed. Throws Error for a product without one.
struct Published {
    const Kernel &kernel;
    u64 waves; // of a workgroup that take rows
};
Published published_kernel(std::string_view gfx, const ProductShape &);
f64 published_us(ColdProduct &, const ProductShape &);

// The kernel that the library chooses.
const Kernel &chosen_kernel(std::string_view gfx, const ProductShape &);

// As many workgroups as the library launches, which go from rows to rows; or one for each of these.
enum class Workgroups { stay, one_round };
void launch_product(ColdProduct &, const Kernel &, const ProductShape &,
                    const ColdProduct::Memory &, Workgroups = Workgroups::stay);
f64 product_us(ColdProduct &, const Kernel &, const ProductShape &,
               const std::function<void()> &launched = {}, Workgroups = Workgroups::stay);

} // namespace nw
