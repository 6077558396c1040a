// SPDX-License-Identifier: MIT
// Which registers hold something that is still to be read.
//
// Halves of a VGPR are followed apart: a d16 load, v1.l, v1.h or v_fma_mixhi leaves the other half
// as it was. What adds to its destination reads it. A write with some lanes off leaves those: it
// ends a value's life for the lanes that are on alone, until EXEC is narrowed, going backwards, as
// it was widened; from all lanes on, for all. A write by DPP that may leave lanes as they were ends
// none. Nothing lives where nothing on any way has written it.
#pragma once
#include <vector>

#include "lint/facts.h"

namespace nw::lint {

class Liveness {
public:
    Liveness(const Flow &, const Facts &, const sim::KernelInfo &);

    // VGPRs and SGPRs (with VCC) that hold such values right before the instruction, which control
    // reaches, or are written by it: what there must be room for.
    u32 vgprs(u32 instruction) const { return counts_[instruction - first_].vgprs; }
    u32 sgprs(u32 instruction) const { return counts_[instruction - first_].sgprs; }
    // The instruction where there are the most VGPRs; the first of several.
    u32 peak() const { return peak_; }

private:
    struct Count {
        u16 vgprs = 0, sgprs = 0;
    };
    u32 first_ = 0, peak_ = 0;
    std::vector<Count> counts_;
};

} // namespace nw::lint
