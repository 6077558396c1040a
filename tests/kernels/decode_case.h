// SPDX-License-Identifier: MIT
// One product as a test of decode_w4a16 or of a family like it sees it: host data, and a launch
// between guard bands.
#pragma once
#include <functional>
#include <vector>

#include "base/half.h"
#include "check/check.h"
#include "check/ops.h"
#include "ref/decode.h"

namespace nw {

// Simulated targets of a generation run the same instructions, but for the registers that a kernel
// starts with: one of each has all shapes. A card has them always.
bool thorough(const check::Test &, const Kernel &);

// Activations that are hard on the arithmetic. bf16 stays below 2^100: beyond, sums, and 136 times
// them, leave f32.
std::vector<f64> hard_values(Dtype);

struct DecodeCase {
    Dtype dtype;
    u32 m, n, k, group;
    bool one_group;                      // a row is one: the kernel's group is per_row
    Zeros zeros;                         // the form that the kernel takes `z` in
    u64 w_pad = 0, s_pad = 0, z_pad = 0; // bytes between rows, beyond the smallest stride
    u32 workgroups = 0;                  // 0: the launch's default
    bool groups_unsaid = false;          // the kernel's argument `groups` is left 0
    bool silu_gate_up = false;           // a column of C for two rows of w
    std::vector<u16> a, s, bias;
    std::vector<u16> z; // [N, K/G]; empty: 8 everywhere
    std::vector<u8> q;

    // The kernel's dtype, group and m; normal activations and scales, uniform nibbles and, where
    // the kernel takes any, zero points.
    DecodeCase(const Kernel &, u32 n, u32 k, Rng &);
    // The same, of any m.
    DecodeCase(const Kernel &, u32 m, u32 n, u32 k, Rng &);
    void add_bias(Rng &);
    void fill_a_hard();          // each of hard_values() in turn, beside others in every row
    void fill_a_hard_rows();     // a row of each, so that a large one hides nothing
    void fill_a_outliers(Rng &); // a few channels 20 to 60 times the others, as in real layers
    void fill_gates();           // a of zeros; biases: gates of every size, with silu_gate_up
    u16 word(f64 x) const { return round_to(dtype, x); }
    u32 groups() const { return k / group; }
    u32 columns() const { return silu_gate_up ? n / 2 : n; } // of C
    ref::DecodeW4A16 reference() const { return {dtype, m, n, k, group, a, q, s, bias, z}; }
};

// A product with the largest nibbles beside the smallest, without scales, and in f16 with results
// out of range, each given to `check` with its name.
void hard_weights(DecodeCase, const std::function<void(const DecodeCase &, const char *)> &check);

// Rows with a stride of `stride` bytes, NaN in the gaps: a read of a gap shows in the result.
struct Rows {
    u64 stride = 0;
    std::vector<u8> bytes;
};
Rows weight_rows(const DecodeCase &);
Rows scale_rows(const DecodeCase &); // zero points beside them, in the carrier
Rows zero_rows(const DecodeCase &);  // none where zeros are eight, or in the carrier

// Uploads the product, has `launch` queue it, and returns C; fails the test where a guard band or
// an input changed.
std::vector<u16> run(check::Test &, const DecodeCase &,
                     const std::function<void(const W4A16 &)> &launch);

// Launches the kernel and returns C [M, N]; fails the test where a guard band or an input changed.
std::vector<u16> run(check::Test &, const Kernel &, const DecodeCase &);

// run() against the reference, within check::decode_bound().
void check_case(check::Test &, const Kernel &, const DecodeCase &, const char *what,
                std::source_location where = std::source_location::current());

} // namespace nw
