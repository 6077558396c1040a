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

class ColdProduct {
public:
    // `largest`: the bytes of weights, scales and zero points of the largest product to come.
    ColdProduct(const hip::Device &, u64 largest);

    // Microseconds between two events around the launch, which follows one of the same kernel over
    // a few rows.
    f64 us(const ProductShape &);

    SplitKGeometry geometry(const ProductShape &) const;
    static u64 bytes(const ProductShape &); // as they lie in memory

private:
    void launch(const ProductShape &, const SplitKGeometry &);
    std::byte *take(u64 bytes);

    const hip::Device &device_;
    Modules modules_;
    hip::Event start_, stop_;
    hip::Buffer a_, c_, cold_;
    u64 next_ = 0; // in cold_
};

} // namespace nw::bench
