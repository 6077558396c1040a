// SPDX-License-Identifier: MIT
// The catalogue: every kernel file of the build, from build/kernels.inc (made by gen/render.py).
#pragma once
#include <span>
#include <string_view>

#include "base/types.h"

namespace nw {

struct KernelArg {
    std::string_view name;
    std::string_view value_kind; // as in the code object's metadata: global_buffer, by_value
    u32 offset = 0;              // bytes from the start of the kernarg segment
    u32 size = 0;                // bytes
};

struct KernelParam {
    std::string_view key;   // as in gen/kernels.toml: dtype, group, m, dequant
    std::string_view value; // "bf16", "128", ...
};

struct Kernel {
    std::string_view symbol; // decode_w4a16_bf16_g128_m1_perm; also the file's stem
    std::string_view gfx;
    std::string_view family;
    std::span<const KernelParam> params;
    std::span<const KernelArg> args;
    u32 kernarg_bytes = 0;
    u32 block = 0;              // work-items of a workgroup, one-dimensional
    u32 rows_per_workgroup = 0; // that a workgroup works on at a time
    u32 lds_bytes = 0;
    u32 vgprs = 0;
    u32 sgprs = 0;
    u32 waves_per_simd = 0;
    bool reference = false; // an older technique, kept for before/after columns; never chosen
    bool candidate = false; // not the default of its kind; chosen where gen/tuning says so

    // Empty when the kernel has no such parameter.
    std::string_view param(std::string_view key) const;
    // The parameter as a number; throws Error when it is absent or no number.
    u32 number(std::string_view key) const;
};

std::span<const Kernel> kernels();

// The family's one for the gfx that `fits`, of the defaults alone; null where there is none.
template <class Fits>
const Kernel *find_default(std::string_view family, std::string_view gfx, const Fits &fits) {
    for (const Kernel &k : kernels())
        if (k.family == family && k.gfx == gfx && !k.reference && !k.candidate && fits(k))
            return &k;
    return nullptr;
}

} // namespace nw
