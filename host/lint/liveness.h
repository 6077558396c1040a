// SPDX-License-Identifier: MIT
// Live registers.
//
// Halves of a VGPR are tracked separately: a d16 load, v1.l, v1.h or v_fma_mixhi preserves the
// other half. An accumulating instruction reads its destination. A write with some lanes off
// preserves those lanes, so it ends a live range only for the active lanes, up to the matching
// change of EXEC; with all lanes on, for all. A DPP write that may preserve lanes ends none. A
// register that no path has written is not live.
#pragma once
#include <vector>

#include "lint/facts.h"

namespace nw::lint {

class Liveness {
public:
    Liveness(const Flow &, const Facts &, const sim::KernelInfo &);

    // VGPRs and SGPRs (with VCC) that are live before the reachable instruction or written by it:
    // the registers that must be allocated.
    u32 vgprs(u32 instruction) const { return counts_[instruction - first_].vgprs; }
    u32 sgprs(u32 instruction) const { return counts_[instruction - first_].sgprs; }
    // The first instruction with the most live VGPRs.
    u32 peak() const { return peak_; }

private:
    struct Count {
        u16 vgprs = 0, sgprs = 0;
    };
    u32 first_ = 0, peak_ = 0;
    std::vector<Count> counts_;
};

} // namespace nw::lint
