// SPDX-License-Identifier: MIT
// How many waves and workgroups a WGP holds (T-002, T-003). gen/occupancy.py has the same formula;
// a test compares.
#pragma once
#include "base/targets.h"

namespace nw {

class Residency {
public:
    // For workgroups of this many waves. In CU mode each runs on one half of a WGP.
    Residency(const Target &target, u32 waves, u32 wave_size = 32, bool cu_mode = false)
        : t_(target), waves_(waves ? waves : 1), rows_(wave_size / 32), halves_(cu_mode ? 2 : 1) {}

    u32 by_vgprs(u32 vgprs) const; // waves of a SIMD, limited by VGPRs per lane only

    // Workgroups of a WGP; limited by LDS only: ~0 if none is used, 0 if it exceeds the maximum.
    u32 groups_by_vgprs(u32 vgprs) const;
    u32 groups_by_lds(u32 bytes) const;
    u32 groups(u32 vgprs, u32 lds_bytes) const;

    // Waves of a SIMD, of so many workgroups on a WGP.
    f64 waves(u32 groups) const { return f64{1} * groups * waves_ / t_.simds_per_wgp; }

    // The most waves of a SIMD, where workgroups need not be whole; 0 where none fits.
    u32 most_waves(u32 vgprs, u32 lds_bytes) const;

private:
    const Target &t_;
    const u32 waves_, rows_, halves_; // rows of 32 lanes of a VGPR
};

} // namespace nw
