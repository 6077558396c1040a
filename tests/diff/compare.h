// SPDX-License-Identifier: MIT
// A kernel's results on a device against those of its host build.
#pragma once
#include <string>
#include <vector>

#include "hip/hip.h"
#include "table.h"

namespace nw::diff {

constexpr u32 output_planes = 4;
constexpr u32 shared_words = 1024; // SHARED of kernels/prelude.h
constexpr u32 guard_words = 64;    // on both sides of the output

// Inputs of one kernel and what its host build makes of them. The output holds guard words, planes,
// shared words, guard words.
struct Case {
    const DiffKernel *kernel;
    u32 groups, n, wave_size;
    std::vector<u32> in, want;
};

Case make_case(const DiffKernel &, u32 wave_size, u64 seed);

// Runs the case; returns what differs, or "".
std::string run_case(const Case &, const hip::Device &, const hip::Module &);

} // namespace nw::diff
