// SPDX-License-Identifier: MIT
// Occupancy: waves of a kernel on a SIMD, the limiter, and the effect of using less of it (T-002,
// T-003).
#pragma once
#include <optional>
#include <string_view>

#include "sim/isa/device.h"

namespace nw::lint {

struct Occupancy {
    enum class Limiter : u8 {
        vgprs,
        lds,
        workgroup, // more waves would fit, but no whole workgroup of them
        most,      // all wave slots of the SIMD are used
    };
    // The next higher occupancy, and the most VGPRs or bytes of LDS that allow it.
    struct Step {
        u32 at_most = 0;
        f64 waves = 0;
    };

    u32 workgroup = 0, lds_bytes = 0; // work-items; bytes, of a workgroup
    u32 vgprs = 0;                    // per lane, as the descriptor encodes them
    u32 groups = 0;                   // workgroups that a WGP holds
    f64 waves = 0;                    // their waves on each of its four SIMDs
    u32 by_vgprs = 0;                 // waves of a SIMD by VGPRs alone
    f64 by_lds = 0;                   // the same by LDS alone
    u32 waves_per_simd = 0;           // as HIPSIM_STATS has it: workgroups need not be whole
    Limiter limiter = Limiter::most;
    std::optional<Step> fewer_vgprs, less_lds; // empty if that alone allows no more
};
std::string_view name(Occupancy::Limiter);

// For workgroups of this many work-items with this much LDS, static and dynamic.
Occupancy occupancy(const sim::Device &, const sim::KernelInfo &, u32 workgroup, u32 lds_bytes);

} // namespace nw::lint
