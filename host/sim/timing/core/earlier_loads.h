// SPDX-License-Identifier: MIT
// A wave with WhatIf::loads_earlier: what its waits wait for, and what depends on loaded data.
#pragma once
#include <algorithm>

#include "sim/timing/core/op_facts.h"

namespace nw::sim::timing {

class EarlierLoads {
public:
    explicit EarlierLoads(size_t instructions) : ended_(instructions) {}

    // When a wait ends, of which the loads in flight arrive at `at`: when those of its last
    // execution did. At first only the wave's first wait takes time: other loads go up to its load.
    u64 wait(u32 index, u64 at) {
        const u64 before = ended_[index] ? ended_[index] - 1 : waited_ ? 0 : at;
        ended_[index] = at + 1;
        waited_ |= at != 0;
        return before;
    }

    // When the loaded data is there on which the instruction depends.
    u64 arrival(const OpFacts &f) const {
        u64 at = 0;
        for (const auto &list : {f.vgpr_reads, f.accumulators})
            for (const auto &r : list)
                for (u32 n = 0; n < r.count; ++n)
                    at = std::max(at, vgpr_[r.first + n]);
        for (const auto &r : f.sgpr_reads)
            for (u32 n = 0; n < r.count; ++n)
                at = std::max(at, sgpr_[r.first + n]);
        return at;
    }

    // `done`: when the data of a load is there. The VALU's results are later than their sources:
    // the first one by what the VALU takes from issue until a memory instruction may have them.
    void issued(const OpFacts &f, u64 done, const Costs &c) {
        u64 at = arrival(f);
        if (at && f.unit == Unit::valu)
            at += f.latency +
                  (reads_loaded(f) ? c.valu_vgpr_ready - c.valu_latency + c.valu_to_memory : 0);
        const bool loads = f.unit == Unit::vmem && f.returns;
        for (const auto &r : f.vgpr_writes) {
            std::fill_n(vgpr_ + r.first, r.count, std::max(at, loads ? done : 0));
            std::fill_n(loaded_ + r.first, r.count, loads);
        }
        for (const auto &r : f.sgpr_writes)
            std::fill_n(sgpr_ + r.first, r.count, at);
    }

private:
    bool reads_loaded(const OpFacts &f) const {
        return std::ranges::any_of(f.vgpr_reads, [&](const auto &r) { return loaded_[r.first]; });
    }

    std::vector<u64> ended_; // by instruction: 1 + when its last wait would have; 0: none yet
    bool waited_ = false;
    u64 vgpr_[RegisterSet::vgprs] = {}, sgpr_[192] = {};
    bool loaded_[RegisterSet::vgprs] = {}; // by a load, not computed
};

} // namespace nw::sim::timing
