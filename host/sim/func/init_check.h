// SPDX-License-Identifier: MIT
// Values computed from registers or LDS that nobody wrote, where they matter: an address, a branch,
// EXEC, or a store to memory.
//
// Each bit of a register has a shadow bit: 1 = uninitialised. An instruction with such bits among
// its operands is run again on copies where they are all 0, all 1, and mixed; result bits that
// differ depend on them. So x ^ x, x & 0 and the halves of packed values come out right without a
// rule per instruction, and a report is never about a value that the uninitialised bits can't
// change.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/wave.h"
#include "sim/isa/uses.h"

namespace nw::sim {

// What the check needs to know of each instruction, made once per program.
struct InitFacts {
    std::vector<std::vector<RegisterUse>> uses; // by instruction index
    explicit InitFacts(const Code &code);
};

// Shadow of a workgroup's LDS, one byte per byte.
struct InitShared {
    std::vector<u8> lds;
};

class InitCheck {
public:
    InitCheck(const InitFacts &facts, InitShared &shared) : facts_(&facts), shared_(&shared) {}
    // At the wave's start, when its registers hold their entry state.
    void reset(const Wave &);
    // Before the instruction runs. Throws Fault.
    void step(const Wave &, const Inst &);

private:
    Row &shadow(unsigned reg, unsigned half) { return v_[half * vgpr_count + reg]; }
    bool is_dirty(const std::vector<RegisterUse> &, bool scc) const;
    void note(unsigned reg);
    void fill(Wave &trial, const Wave &, const Inst &, unsigned number,
              const std::vector<RegisterUse> &);
    void differ(const Wave &, const Inst &, const std::vector<RegisterUse> &);
    void memory(const Wave &, const Inst &);
    void transfer(const Wave &, const Inst &, unsigned half, unsigned lane, i64 offset,
                  unsigned reg, bool load);
    void branch(const Wave &, const Inst &);
    void require_vgpr(const Wave &, const Inst &, unsigned reg, const char *purpose,
                      u32 bits = ~0u);
    void require_sgpr(const Wave &, const Inst &, unsigned reg, const char *purpose);
    [[noreturn]] void report(const Wave &, const Inst &, const std::string &what,
                             const char *purpose);

    const InitFacts *facts_;
    InitShared *shared_;
    unsigned halves_ = 1;
    std::vector<Row> v_;
    bool dirty_[vgpr_count] = {}; // some lane of the register has a shadow
    u32 s_[slot::count] = {};
    std::vector<u8> scratch_;
    std::vector<Row> trial_; // registers of the copies
};

} // namespace nw::sim
