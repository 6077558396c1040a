// SPDX-License-Identifier: MIT
// Hazards that software must resolve, and what an instruction has to do with them. The wait check
// follows them along an execution; a lint can follow them through the code with the same data.
#pragma once
#include <string_view>

#include "sim/isa/uses.h"

namespace nw::sim {

enum class Hazard : u8 {
#define HAZARD(name, ...) name,
#include "sim/isa/hazards.inc"
#undef HAZARD
    count
};

struct HazardInfo {
    std::string_view name, note;
    u8 targets, waves; // bits
    std::string_view what, remedy;
};
const HazardInfo &info(Hazard);
bool applies(Hazard, std::string_view gfx, u32 wave_size);

// The windows of H-002 to H-004, in instructions between the two that clash.
inline constexpr unsigned trans_window_valu = 5, trans_window_trans = 1;
inline constexpr unsigned forwarding_window_exec = 2, forwarding_window_use = 4;
inline constexpr unsigned scalar_write_window = 10;               // scalar instructions
inline constexpr unsigned ds_nops_wave32 = 4, ds_nops_wave64 = 8; // that clear H-002

struct HazardRole {
    enum Unit : u8 { other, valu, salu, memory };
    Unit unit = other;
    bool trans = false, matrix = false, cmpx = false, permlane = false;
    bool writes_exec = false; // by SALU
    bool literal = false;     // a 32-bit constant follows
    bool jump = false;        // call or return: the pipeline drains
    bool ds_nop = false;
    bool resolves_sgprs = false; // SMEM, and vector memory that isn't of the FLAT family
    // Fields that s_waitcnt_depctr or s_wait_alu asks to be 0.
    bool va_vdst = false, va_sdst = false, va_vcc = false, sa_sdst = false;
    // Own clashes of the instruction, and the first of the registers: no path leads there.
    bool mad_overlap = false, dealloc_vgprs = false;
    std::vector<RegisterUse> uses;
    std::vector<RegisterUse> masks;  // SGPRs read as lane masks; among uses
    std::vector<RegisterUse> inputs; // A, B and the index of a matrix instruction; among uses
};
HazardRole hazard_role(const Instruction &);

// An SGPR that these hazards can strike: not EXEC, M0, NULL or SCC.
constexpr bool is_tracked_sgpr(const RegisterUse &use) {
    return use.bank == RegisterUse::sgpr && use.first < sreg::null;
}

} // namespace nw::sim
