// SPDX-License-Identifier: MIT
// Times one product of splitk_w4a16 as the published test may have: weights, scales and zero points
// from memory that was not touched for long, everything else as the launch before left it.
//
// Whether the published test rotates its buffers is unknown; this policy is the same for all rows.
#pragma once
#include "hip/hip.h"
#include "kernels/modules.h"
#include "kernels/splitk.h"

namespace nw::bench {

struct ProductShape {
    Dtype dtype;
    bool zeros;
    u32 m, n, k, group;
    u64 w_stride; // bytes
};

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
    // For products whose weights, and scales or zero points, have at most so many bytes.
    ColdProduct(const hip::Device &, u64 largest_weights, u64 largest_scales);

    // Microseconds between two events around the launch, which follows one of the same kernel over
    // a few rows.
    f64 us(const ProductShape &);

    SplitKGeometry geometry(const ProductShape &) const;

private:
    void launch(const ProductShape &, const SplitKGeometry &);

    const hip::Device &device_;
    Modules modules_;
    hip::Event start_, stop_;
    hip::Buffer a_, c_;
    // Apart from each other: caches may keep scales and let weights, which are read once, pass
    // so that weights where scales were would be found in a cache.
    Rotation weights_, scales_;
};

} // namespace nw::bench
