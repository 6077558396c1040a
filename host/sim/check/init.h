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
    struct Entry {
        std::vector<RegisterUse> uses;
        // Bits of each destination dword that the instruction writes in every active lane from
        // that lane of its sources alone; 0 where only running it tells.
        u32 overwrites = 0;
        bool sees_memory = false; // LDS or scratch: has a shadow of its own
    };
    std::vector<Entry> entries; // by instruction index
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
    // Before the instruction runs. Only those that use a register of poisoned() or LDS or scratch
    // need it. Throws Fault.
    void step(const Wave &, const Inst &);
    // Registers with an uninitialised bit in any lane.
    const RegisterSet &poisoned() const { return poisoned_; }

private:
    using Entry = InitFacts::Entry;

    Row &shadow(unsigned reg, unsigned half) { return v_[half * vgpr_count + reg]; }
    void note(unsigned reg);
    void set_sgpr(unsigned reg, u32 bits);
    // Lanes that are active and have an uninitialised bit in the register.
    u32 poisoned_lanes(const Wave &w, unsigned reg, unsigned half) const {
        return lanes_[half][reg & 255] & w.exec(half);
    }
    bool reads_poison(const Wave &, const Entry &) const;
    void initialise(const Wave &, unsigned reg, u32 bits);
    void overwrite(const Wave &, const Entry &);

    // Running it on copies, init.cpp.
    void fill(Wave &trial, const Wave &, const Inst &, unsigned number,
              const std::vector<RegisterUse> &);
    void differ(const Wave &, const Inst &, const std::vector<RegisterUse> &);
    void branch(const Wave &, const Inst &);

    // init_memory.cpp
    void memory(const Wave &, const Inst &);
    // init_irregular.cpp
    void irregular(const Wave &, const Inst &);
    void block(const Wave &, const Inst &);
    void lds_by_m0(const Wave &, const Inst &);
    void scalar_load(const Wave &, const Inst &);
    bool lds_is_simple(const Wave &, const Inst &);
    void transfer(const Wave &, const Inst &, unsigned half, unsigned lane, i64 offset,
                  unsigned reg, bool load);
    void require_source(const Wave &, const Inst &, const Source &, const char *purpose);

    void require_stored(const Wave &, const Inst &, unsigned data, unsigned reg, u32 bits);

    void require_vgpr(const Wave &, const Inst &, unsigned reg, const char *purpose,
                      u32 bits = ~0u);
    void require_lanes(const Wave &, const Inst &, unsigned reg, unsigned half, u32 lanes,
                       const char *purpose, u32 bits);
    void require_sgpr(const Wave &, const Inst &, unsigned reg, const char *purpose);
    [[noreturn]] void report(const Wave &, const Inst &, const std::string &what,
                             const char *purpose);

    const InitFacts *facts_;
    InitShared *shared_;
    unsigned halves_ = 1;
    RegisterSet poisoned_;
    u32 lanes_[2][vgpr_count] = {}; // with a bit in v_, by half of the wave
    std::vector<Row> v_;
    u32 s_[slot::count] = {};
    std::vector<u8> scratch_;
    std::vector<Row> trial_; // registers of the copies
};

} // namespace nw::sim
