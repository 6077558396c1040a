// SPDX-License-Identifier: MIT
// Reports uninitialised registers or LDS that reach an address, a branch, EXEC, or a store to
// memory.
//
// Each bit of a register has a shadow bit: 1 = uninitialised. An instruction that reads such bits
// runs again on copies that replace them by 0, by 1 and by mixed patterns; result bits that differ
// become uninitialised. So x ^ x, x & 0 and packed halves need no rule per instruction, and no
// report concerns a value that the uninitialised bits can't change.
#pragma once
#include <memory>
#include <vector>

#include "sim/func/memory/memory.h"
#include "sim/func/wave.h"
#include "sim/isa/relative_move.h"
#include "sim/isa/tables/memory_ops.h"
#include "sim/isa/uses.h"

namespace nw::sim {

// Static facts about each instruction, made once per program.
struct InitFacts {
    struct Entry {
        std::vector<RegisterUse> uses;
        // Bits of each destination dword that every active lane writes from its own source lanes
        // only; 0: must be found by running the trials.
        u32 overwrites = 0;
        const RelativeMove *relative = nullptr; // M0 selects its registers
        // Uses more than `uses`: LDS or scratch, which have shadows; bytes out of bounds (S-060);
        // registers that M0 selects.
        bool always = false;
        bool on_memory = false; // may access global memory
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
    // Call at the wave's start, with its registers in their entry state.
    void reset(const Wave &);
    // Call before the instruction runs, if it uses a poisoned() register or is one of
    // Entry::always. Throws Fault.
    void step(const Wave &, const Inst &);
    // Registers with an uninitialised bit in any lane.
    const RegisterSet &poisoned() const { return poisoned_; }

private:
    using Entry = InitFacts::Entry;

    Row &shadow(unsigned reg, unsigned half) { return v_[half * vgpr_count + reg]; }
    void note(unsigned reg);
    void set_sgpr(unsigned reg, u32 bits);
    // Active lanes with an uninitialised bit in the register.
    u32 poisoned_lanes(const Wave &w, unsigned reg, unsigned half) const {
        return lanes_[half][reg & 255] & w.exec(half);
    }
    bool reads_poison(const Wave &, const Entry &) const;
    void initialise(const Wave &, unsigned reg, u32 bits);
    void overwrite(const Wave &, const Entry &);

    // Trial runs on copies: init.cpp.
    void fill(Wave &trial, const Wave &, const Inst &, unsigned number,
              const std::vector<RegisterUse> &);
    void differ(const Wave &, const Inst &, const std::vector<RegisterUse> &);
    void move_relative(const Wave &, const Inst &, const Entry &);
    void branch(const Wave &, const Inst &);

    // init_memory.cpp
    void memory(const Wave &, const Inst &);
    // init_irregular.cpp
    void irregular(const Wave &, const Inst &);
    void block(const Wave &, const Inst &);
    void image(const Wave &, const Inst &);
    void lds_by_m0(const Wave &, const Inst &);
    void between_lds(const Wave &, const Inst &);
    void scalar_load(const Wave &, const Inst &);
    bool lds_is_simple(const Wave &, const Inst &);
    void transfer(const Wave &, const Inst &, unsigned half, unsigned lane, i64 offset,
                  unsigned reg, bool load);
    // Between a register and these bytes' shadow; null: global memory.
    void pass(const Wave &, const Inst &, unsigned half, unsigned lane, u8 *place, unsigned reg,
              bool load);
    void loaded_to_lds(const Wave &, const Inst &); // gfx10
    // False if the buffer isn't scratch memory.
    bool scratch_by_buffer(const Wave &, const Inst &);
    // init_global.cpp: bytes of global memory that nothing has written.
    const Allocation &place_of(const Wave &, u64 address);
    u64 unwritten(const Wave &, u64 address, u64 bytes);
    void write(const Wave &, u64 address, u64 bytes);
    void global(const Wave &, const Inst &);
    void global_lane(const Wave &, const Inst &, unsigned half, unsigned part, unsigned lane,
                     u64 address, unsigned bytes);
    void take_loaded(const MemoryOp &, unsigned half, unsigned lane, unsigned reg, unsigned bytes,
                     const u32 *words);

    void require_source(const Wave &, const Inst &, const Source &, const char *purpose);

    void require_stored(const Wave &, const Inst &, unsigned data, unsigned reg, u32 bits);

    void require_vgpr(const Wave &, const Inst &, unsigned reg, const char *purpose,
                      u32 bits = ~0u);
    void require_lanes(const Wave &, const Inst &, unsigned reg, unsigned half, u32 lanes,
                       const char *purpose, u32 bits);
    void require_sgpr(const Wave &, const Inst &, unsigned reg, const char *purpose);
    void report(const Wave &, const Inst &, const std::string &what, const char *purpose,
                int lane = -1);

    const InitFacts *facts_;
    Allocation place_; // of the last access to global memory
    u64 place_generation_ = 0;
    u64 read_unwritten_ = 0; // the last such address; 0: none
    InitShared *shared_;
    unsigned halves_ = 1;
    RegisterSet poisoned_;
    u32 lanes_[2][vgpr_count] = {}; // lanes with a bit set in v_, by wave half
    std::vector<Row> v_;
    u32 s_[slot::count] = {};
    std::vector<u8> scratch_;
    std::vector<Row> trial_; // registers of the copies
};

} // namespace nw::sim
