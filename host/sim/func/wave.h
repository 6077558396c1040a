// SPDX-License-Identifier: MIT
// A wave's state, and an instruction ready to run on it.
#pragma once
#include <cstring>
#include <string>
#include <vector>

#include "sim/func/alu/mode.h"
#include "sim/func/machine.h"
#include "sim/isa/code.h"
#include "sim/isa/tables/ops.h"

namespace nw::sim {

inline constexpr unsigned row_lanes = 32;
inline constexpr unsigned vgpr_count = 256;
inline constexpr unsigned tally_limit = 64; // see Executable::tallies

// One dword of 32 lanes: a VGPR of a wave32, half a VGPR of a wave64.
struct alignas(128) Row {
    u32 lane[row_lanes];
};

// f(lane) for every set bit, ascending.
template <class F> void for_lanes(u32 lanes, F f) {
    for (u32 rest = lanes; rest; rest &= rest - 1)
        f(static_cast<unsigned>(__builtin_ctz(rest)));
}

// Initial contents of registers and LDS: a quiet NaN as f32 and as each f16 and bf16 half (0x7fba,
// 0xdbad is a large negative number), and an unmapped address.
inline constexpr u32 poison = 0x7fbadbad;

namespace slot {                              // places in Wave::s past the ISA's registers
inline constexpr u16 sink = 140, count = 144; // dummy destination of two dwords
}

struct Wave;
struct Inst;
struct Group;

// Location of one source. `at` is a VGPR number, an index into Wave::s, or a constant's row.
struct Source {
    // `mask`: bit l of the SGPR (pair) becomes all ones or zero in lane l.
    enum Kind : u8 { constant, vgpr, sgpr, mask };
    Kind kind = constant;
    u8 rows = 1; // 2 for 64-bit values
    u32 at = 0;
    u32 value = 0; // of a constant, low dword: what scalar handlers use
};

using Handler = void (*)(Wave &, const Inst &);
// d = f(a, b, c) in the lanes of `exec`; 64-bit operands continue in the next row.
using LaneKernel = void (*)(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec,
                            const Mode &);
using MaskKernel = u32 (*)(const u32 *a, const u32 *b, const Mode &);

struct Dpp {
    enum Kind : u8 { none, dpp8, table };
    Kind kind = none;
    bool bound_ctrl = false, fetch_inactive = false;
    u32 in_row = ~0u;           // lanes whose source is in the row
    u32 placed[2] = {~0u, ~0u}; // lanes of either half that row_mask and bank_mask let through
    u8 from[row_lanes];         // source lane of each lane
};

// SDWA: a byte or a half of a register, or all of it.
struct Piece {
    u8 shift = 0, bits = 32;
    bool is_signed = false; // of a source: extended by its sign
};

// Rare modifiers of a vector instruction, kept apart from the hot part.
struct Extra {
    struct Source {
        Type type = Type::none;
        bool neg = false, abs = false, neg_hi = false;
        bool high = false;            // 16-bit operand in the upper half
        u8 op_sel = 0, op_sel_hi = 1; // packed: which half feeds the low and the high result
        bool f16 = false;             // fma_mix: convert from f16
        u8 byte = 0;                  // of an FP8 source
        i8 quad = -1;                 // v_interp: this lane of each four is read by all of them
        bool spares_nan = false;      // NEG and ABS leave a NaN alone (S-025)
        Piece piece;                  // that SDWA selects
    };
    Source src[3];
    bool dst_high = false;
    bool clamp = false;
    i8 omod = 0; // log2 of the factor
    Dpp dpp;
    // Of an SDWA destination that is not the whole register: its piece, and the other bits.
    enum Rest : u8 { zeros, sign, kept };
    Piece placed;
    Rest rest = zeros;
};

struct MemoryAccess; // sim/func/memory/access.h
struct Matrix;       // sim/func/alu/matrix.h

struct Inst {
    Handler run = nullptr;
    union {
        LaneKernel lane;
        MaskKernel mask;
        const Inst *pair;   // VOPD: X and Y
        const Inst *target; // branches
        const MemoryAccess *access;
        const Matrix *matrix;
    };
    Source src[3];
    u16 dst = 0;  // VGPR or index into Wave::s
    u16 dst2 = 0; // carry or mask out, index into Wave::s
    i32 imm = 0;  // SIMM16, offsets
    Class cls = Class::other;
    u8 tally = 0;           // the entry of Executable::tallies that counts it
    Type type = Type::none; // of the result
    u8 dst_rows = 1;
    bool own_rounding = false; // ignores MODE's rounding (DOT), or rounds explicitly (f16)
    bool fp64 = false;         // obeys the f16/f64 fields on the host's FPU
    bool flag = false;         // handler-specific
    u32 index = 0;             // of this instruction in the code
    const Extra *extra = nullptr;

    Inst() : lane(nullptr) {}
};

enum class State : u8 {
    running,
    barrier,
    ended,
    asleep // until its next turn
};

// The last allocation accessed by each of a few sites.
struct RangeCache {
    struct Range {
        u64 begin = 1, end = 0;
    };
    static constexpr unsigned size = 64;
    Range ranges[size];
    u64 generation = ~u64{0};
};

struct Context; // of a whole launch, sim/func/launch/launch.h

// A wave's readings of the time in a row: sim/func/launch/clock.cpp.
struct BusyWait {
    u64 skipped = 0;  // cycles, of all waits
    u64 begun = 0;    // the time at the first reading
    u64 accesses = 0; // to memory that others see, at the last one
    u64 own = 0;      // accesses to scratch, of all time
    u64 issued = 0;   // instructions, at the last one
    u32 readings = 0;
    const Inst *reader = nullptr; // the last one
};

struct Wave {
    Row *v = nullptr; // register r, half h: v[h * vgpr_count + r]
    const Row *constants = nullptr;
    u32 s[slot::count] = {};
    const Inst *pc = nullptr; // the next instruction
    Mode mode;
    unsigned halves = 1; // rows per VGPR: 1 for wave32, 2 for wave64
    State state = State::running;
    u32 number = 0;               // in its group
    u64 counts[tally_limit] = {}; // by Inst::tally
    ByteCounts bytes;
    u64 executed = 0; // instructions in all
    Group *group = nullptr;
    Context *context = nullptr;
    RangeCache *cache = nullptr;
    void *observed = nullptr;     // the state that RunConfig::observer keeps for it
    u64 cycles = 0;               // modelled time, in a launch that has some (RunConfig::clock)
    BusyWait waiting;             // in a launch without
    u32 sched_mode = 0;           // SCHED_MODE of gfx12 (H-029)
    u32 flat_scratch[2] = {};     // FLAT_SCR, where kernels set it
    std::byte *scratch = nullptr; // lane t's bytes start at t * scratch_bytes
    u32 scratch_bytes = 0;        // of one lane
    u32 barriers = 0;             // phases of the group's barrier that this wave has waited for
    u32 joined_phases = 0;        // the same of the named barrier that it has joined
    u8 joined = 0;                // its number; 0: none
    bool waits_for_joined = false;

    u32 &scc() { return s[sreg::scc]; }
    u32 exec(unsigned half) const { return s[sreg::exec + half]; }
    u64 exec_mask() const {
        return s[sreg::exec] | (halves == 2 ? u64{s[sreg::exec + 1]} << 32 : 0);
    }
    u32 *row(unsigned reg, unsigned half) { return v[half * vgpr_count + reg].lane; }
    // The lanes of a constant or, in wave32, of a VGPR.
    const u32 *row(const Source &s) const {
        const Row *files[] = {constants, v};
        static_assert(Source::constant == 0 && Source::vgpr == 1);
        return files[s.kind][s.at].lane;
    }
};

// Ends the launch with a Fault; adds kernel, pc, instruction, source line and wave to the text.
[[noreturn]] void fault(const Wave &, const Inst &, Fault::Kind, const std::string &text);

} // namespace nw::sim
