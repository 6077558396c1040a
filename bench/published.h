// SPDX-License-Identifier: MIT
// Numbers that others measured on hardware and published: bench/data.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::bench {

// One product of the published int4 decode kernel.
struct PublishedDecode {
    u32 k, n, group;
    Dtype dtype;
    bool zeros; // zero points of two bytes, as the scales
    u32 m;
    f64 us;
    std::string model;

    // What the line t0 + bytes / bandwidth is drawn over: weights, scales, zero points.
    u64 bytes() const { return u64{n} * k / 2 + u64{n} * (k / group) * (zeros ? 4 : 2); }
};

// Weights a second with rows as they are and with rows 128 bytes further apart.
struct PublishedStride {
    u32 n, k;
    f64 unpadded_gib_s, padded_gib_s;
    std::string model;
};

// Throw Error naming file, line and what is wrong with it.
std::vector<PublishedDecode> read_published_decode(const std::string &path);
std::vector<PublishedStride> read_published_stride(const std::string &path);

} // namespace nw::bench
