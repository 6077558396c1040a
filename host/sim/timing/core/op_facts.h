// SPDX-License-Identifier: MIT
// Static timing facts about each instruction, made once per program and part.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "sim/isa/code.h"
#include "sim/isa/uses.h"
#include "sim/timing/constants/part.h"
#include "sim/timing/trace.h"
#include "sim/timing/what_if.h"

namespace nw::sim::timing {

// Execution unit. Each SIMD issues one instruction per unit and cycle, from different waves.
enum class Unit : u8 { valu, salu, smem, vmem, lds, control, count };

struct OpFacts {
    enum class Kind : u8 {
        plain,
        branch,
        wait,
        barrier_signal,
        barrier_wait, // s_barrier is both
        barrier,
        nop,
        delay,
        sleep,
        priority,
        end
    };
    struct Registers {
        u16 first, count;
    };

    Unit unit = Unit::control;
    Kind kind = Kind::plain;
    Payload payload = Payload::none;
    bool trans = false, wmma = false;
    bool vgpr_source = false; // reads at least one VGPR
    bool store = false, atomic = false, returns = false;
    bool sgpr_result = false; // VALU: has an SGPR destination other than VCC, null too
    bool immediate = false;   // s_nop, s_clause, waits: done by the issue logic itself
    bool reads_scc = false, conditional = false;
    bool saddr = false;   // SGPR base: its address takes one cycle less to send
    bool absent = false;  // issues with the other half of a pair (WhatIf::pairs)
    bool unknown = false; // no cost class: timed by the default, and listed
    VectorRequest::Policy policy = VectorRequest::Policy::normal;
    u16 interval = 1;      // cycles that it occupies its unit
    u16 execution = 0;     // SALU: from issue
    u16 latency = 0;       // from execution to a dependent VALU instruction
    u16 trans_latency = 0; // between two TRANS instructions
    u16 data_dwords = 0;   // sent by a store or LDS write
    i32 count = 0;         // nop, sleep: cycles; setprio: the priority
    u8 delay[2] = {};      // s_delay_alu's two codes
    u8 delay_skip = 0;     // instructions between the two
    Issues issues;
    WaitLimits limits;
    u8 va_vdst = 15; // s_waitcnt_depctr, s_wait_alu: VALU instructions that may be unfinished
    bool waits_salu = false, waits_vcc = false,
         waits_sgpr = false;         // the same: SALU; VCC and SGPRs of VALU
    u32 line = 0;                    // of the code, 64 bytes each
    u32 offset = 0, next_offset = 0; // in the code: its own, and of what follows it
    // SGPRs by code. Accumulators: WMMA's C, read late, so that chained WMMAs issue back to back.
    std::span<const Registers> vgpr_reads, vgpr_writes, sgpr_reads, sgpr_writes, accumulators;
};

inline constexpr u32 code_line = 64; // bytes, of the instruction cache (T-011)

struct ProgramFacts {
    std::vector<OpFacts> ops; // by instruction index
    std::vector<Payload> payloads;
    bool reads_clock = false;         // control flow or results may depend on time
    std::vector<std::string> unknown; // mnemonics timed by the default
    ProgramFacts(const Code &code, std::string_view gfx, const Costs &costs,
                 std::span<const WhatIf::Pair> pairs = {});
    ProgramFacts(const ProgramFacts &) = delete;

private:
    void unite(const WhatIf::Pair &, const Code &, const Costs &);

    std::deque<std::vector<OpFacts::Registers>> registers_; // storage of the spans
};

} // namespace nw::sim::timing
