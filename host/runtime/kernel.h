// SPDX-License-Identifier: MIT
// A kernel and its metadata.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw {

struct Family;

// Parameters that distinguish the kernels of a family: numbers, or indices of words
// (runtime/words.h). Parameters that a family does not have are 0.
struct Parameters {
#include "parameters.inc"
    bool operator==(const Parameters &) const = default;
};

struct KernelArg {
    std::string_view name;
    std::string_view value_kind; // as in the code object's metadata: global_buffer, by_value
    u32 offset = 0;              // bytes from the start of the kernarg segment
    u32 size = 0;                // bytes
};

struct Kernel {
    std::string_view symbol; // decode_w4a16_bf16_g128_m1_perm; also the file's stem
    std::string_view gfx;
    std::string_view family;
    const Family *contract = nullptr; // of the family
    Parameters p;
    u32 block = 0;              // work-items of a workgroup, one-dimensional
    u32 rows_per_workgroup = 0; // of w that a workgroup computes at a time
    bool reference = false;     // a baseline, ablation or probe: never chosen
    bool candidate = false;     // not the default of its kind; chosen where gen/tuning says so
    // From the code object; 0 if it is not built.
    bool built = false;
    u32 lds_bytes = 0;
    u32 vgprs = 0;
    u32 sgprs = 0;
    u32 waves_per_simd = 0;

    std::span<const KernelArg> args() const;
    u32 kernarg_bytes() const;
    // A parameter as text; empty when the kernel has no such parameter.
    std::string param(std::string_view key) const;
    // As a number; throws Error when it is absent or no number.
    u32 number(std::string_view key) const;
};

} // namespace nw
