// SPDX-License-Identifier: MIT
// Figures measured on hardware and published by others: bench/data.
#pragma once
#include <array>
#include <map>
#include <string>
#include <vector>

#include "base/types.h"
#include "bench/fit.h"

namespace nw::bench {

inline constexpr std::string_view published_gfx = "gfx1151"; // most figures are of it
// Targets of the suite stride: by published figures, the first has a stride cliff, the second none.
inline constexpr std::array<std::string_view, 2> stride_targets = {"gfx1151", "gfx1150"};

// One product of the published int4 decode kernel.
struct PublishedDecode {
    u32 k, n, group;
    Dtype dtype;
    bool zeros; // zero points of two bytes, as the scales
    u32 m;
    f64 us;
    std::string kernel; // wvsplitk_int4, the published kernel, or triton, which it fell back to
    std::string model;

    bool fell_back() const { return kernel == "triton"; }
    // Weights, scales, zero points: the bytes of the published bandwidth.
    u64 bytes() const { return u64{n} * k / 2 + u64{n} * (k / group) * (zeros ? 4 : 2); }
    // "bf16 zp m1": products of one type share a line t0 + bytes / bandwidth.
    std::string type() const;
    // "2048x2048 g128 bf16 zp m1", K before N.
    std::string name() const;
};

// Weights per second with contiguous rows and with 128 bytes of padding after each.
struct PublishedStride {
    u32 n, k;
    f64 unpadded_gib_s, padded_gib_s;
    std::string model;
};

// A W4A16 product of 2048 rows of activations, f16, asymmetric, groups of 128, by Triton: before
// and after it was tuned.
struct PublishedPrefill {
    u32 k, n;
    f64 base_tflops, tuned_tflops;
    std::string model;
};

// Cycles of one wave in a measurement of nw micro, minus those in `beyond`.
struct PublishedCycles {
    std::string gfx, measurement;
    f64 low, high; // measured range
    std::string beyond, source;
};

// Cycles between the issues of a wave's instructions, from a thread trace.
struct PublishedTrace {
    struct Interval {
        f64 low = 0, high = 0; // 0: not compared
    };
    enum class Kind { alu, memory, loop };

    std::string gfx, sequence;
    Kind kind;
    u32 threads, wave; // of the workgroup; the wave that is compared
    std::string setup; // lines of assembly before
    std::string code;
    std::vector<Interval> intervals; // of a loop: its period
    std::string source;

    u32 setup_instructions() const;
};
std::string_view name(PublishedTrace::Kind);

// From the first start of a wave to the last one, of workgroups that all fit: cycles.
struct PublishedDispatch {
    std::string gfx;
    u32 groups, threads;
    f64 low, high;
    std::string source;
};

// The line through the rows of each type that ran the published kernel.
std::map<std::string, Line> lines_by_type(const std::vector<PublishedDecode> &);

// Throw Error naming file, line and mistake.
std::vector<PublishedDecode> read_published_decode(const std::string &path);
std::vector<PublishedStride> read_published_stride(const std::string &path);
std::vector<PublishedPrefill> read_published_prefill(const std::string &path);
std::vector<PublishedCycles> read_published_cycles(const std::string &path);
std::vector<PublishedTrace> read_published_traces(const std::string &path);
std::vector<PublishedDispatch> read_published_dispatch(const std::string &path);

} // namespace nw::bench
