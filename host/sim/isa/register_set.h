// SPDX-License-Identifier: MIT
// A set of a wave's registers as bits, so that an overlap test is a few ANDs.
#pragma once
#include "sim/isa/instruction.h"

namespace nw::sim {

class alignas(64) RegisterSet {
public:
    static constexpr unsigned vgprs = 256, sgprs = 192; // SGPRs by operand code, SCC among them

    static constexpr unsigned of_vgpr(unsigned reg) { return reg % vgprs; }
    static constexpr unsigned of_sgpr(unsigned reg) {
        return vgprs + (reg < sgprs ? reg : sgprs - 1);
    }

    void add(unsigned n) { words_[n / 64] |= u64{1} << n % 64; }
    void remove(unsigned n) { words_[n / 64] &= ~(u64{1} << n % 64); }
    bool has(unsigned n) const { return words_[n / 64] >> n % 64 & 1; }
    bool intersects(const RegisterSet &o) const {
        u64 common = 0;
        for (unsigned n = 0; n < words; ++n)
            common |= words_[n] & o.words_[n];
        return common != 0;
    }
    void clear() { *this = {}; }
    // Returns true if one of them was new.
    bool add_all(const RegisterSet &o) {
        u64 fresh = 0;
        for (unsigned n = 0; n < words; ++n) {
            fresh |= o.words_[n] & ~words_[n];
            words_[n] |= o.words_[n];
        }
        return fresh != 0;
    }
    unsigned count(unsigned begin, unsigned end) const {
        unsigned all = 0;
        for (unsigned n = begin; n < end; ++n)
            all += has(n);
        return all;
    }
    bool includes(const RegisterSet &o) const {
        u64 missing = 0;
        for (unsigned n = 0; n < words; ++n)
            missing |= o.words_[n] & ~words_[n];
        return missing == 0;
    }
    void remove_all(const RegisterSet &o) {
        for (unsigned n = 0; n < words; ++n)
            words_[n] &= ~o.words_[n];
    }

private:
    static constexpr unsigned words = (vgprs + sgprs) / 64;
    u64 words_[words] = {};
};

} // namespace nw::sim
