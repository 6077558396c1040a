// SPDX-License-Identifier: MIT
// Hazards that software must resolve, and each instruction's role in them. Shared data: the wait
// check follows them during execution, the lint along all paths of the code.
#pragma once
#include <string_view>

#include "sim/isa/uses.h"

namespace nw::sim {

enum class Hazard : u8 {
#define HAZARD(name, ...) name,
#include "sim/isa/hazards/hazards.inc"
#undef HAZARD
    count
};

enum class Checkers : u8 { both, lint, note }; // simulator and lint, lint, lint as a note

struct HazardInfo {
    std::string_view name, note;
    u8 series, waves; // bits
    Checkers by;
    std::string_view what, remedy;
};
const HazardInfo &info(Hazard);
bool applies(Hazard, std::string_view gfx, u32 wave_size);

// The windows of H-002 to H-004: maximum number of instructions between the two in conflict.
inline constexpr unsigned trans_window_valu = 5, trans_window_trans = 1;
inline constexpr unsigned forwarding_window_exec = 2, forwarding_window_use = 4;
inline constexpr unsigned lds_direct_window = 15;                 // H-014, in vector instructions
inline constexpr unsigned parity_window = 15;                     // H-026, in vector instructions
inline constexpr unsigned denorm_window = 3;                      // H-023, in wait states
inline constexpr unsigned most_in_clause = 32;                    // H-031
inline constexpr unsigned scalar_write_window = 10;               // scalar instructions
inline constexpr unsigned ds_nops_wave32 = 4, ds_nops_wave64 = 8; // that resolve H-002

struct HazardRole {
    enum Unit : u8 { other, valu, salu, memory };
    Unit unit = other;
    bool trans = false, matrix = false, cmpx = false, permlane = false;
    bool dropped = false;     // v_nop, dropped before its unit
    bool writes_exec = false; // by SALU
    bool literal = false;     // a 32-bit constant follows
    bool jump = false;        // call or return: the pipeline drains
    bool ds_nop = false;
    bool resolves_sgprs = false; // SMEM, and vector memory that isn't of the FLAT family
    // Fields that s_waitcnt_depctr or s_wait_alu waits to be 0.
    bool va_vdst = false, va_sdst = false, va_vcc = false, sa_sdst = false, vm_vsrc = false;
    // Conflicts within the instruction, and the first with registers: independent of the path.
    bool mad_overlap = false, same_sgpr = false, dealloc_vgprs = false;
    bool vopd_dependent = false, long_clause = false;
    // Loads from LDS to its only destination, besides instructions that count as LDS.
    bool lds_direct = false;
    u8 wait_vdst = 15;      // waits until at most this many vector instructions are in flight
    bool wait_vsrc = false; // waits until no memory instruction has unread sources
    std::vector<RegisterUse> uses;
    std::vector<RegisterUse> masks;  // SGPRs read as lane masks; among uses
    std::vector<RegisterUse> inputs; // A, B and the index of a matrix instruction; among uses
    std::vector<RegisterUse> parity; // src0 or vsrc1 of both halves of a pair (H-026); among uses
};
HazardRole hazard_role(const Instruction &);

// Additional properties for the hazards of gfx10 alone, H-016 to H-024.
struct Gfx10Role {
    // Vector memory instructions by their counter; a flat one counts as lds, too.
    bool load = false, store = false, lds = false;
    bool smem = false, salu = false;
    bool reads_exec = false;    // and isn't a vector instruction
    bool scalar_dst = false;    // a vector instruction's second destination, or VCC
    bool reads_m0 = false;      // implied
    bool branch = false;        // not a call
    bool resolves_smem = false; // H-018
    bool waits_load = false, waits_store = false, waits_lds = false; // for all of that kind
    bool waits = false;                                              // for some memory instructions
    bool fp_atomic = false, denorm_mode = false, image_16 = false, offset_6 = false;
    bool branch_3f = false, inst_prefetch = false, flat_offset = false;
    u8 wait_states = 1;
};
Gfx10Role gfx10_role(const Instruction &, const HazardRole &);

// True for an SGPR that these hazards affect: not EXEC, M0, NULL or SCC.
constexpr bool is_tracked_sgpr(const RegisterUse &use) {
    return use.bank == RegisterUse::sgpr && use.first < sreg::null;
}

// True if the instruction writes one of the registers.
inline bool writes(const HazardRole &r, const RegisterUse &registers) {
    return std::ranges::any_of(
        r.uses, [&](const RegisterUse &use) { return use.write && overlap(use, registers); });
}

// True if it has results in VGPRs, which the counter va_vdst includes until they are written.
inline bool writes_vgprs(const HazardRole &r) {
    return r.unit == HazardRole::valu && std::ranges::any_of(r.uses, [](const RegisterUse &use) {
               return use.write && use.bank == RegisterUse::vgpr;
           });
}

// The SGPRs as bits, bit n for number n.
using Sgprs = unsigned __int128;
inline constexpr Sgprs one_sgpr = 1;
inline constexpr Sgprs vcc_pair = one_sgpr << sreg::vcc | one_sgpr << (sreg::vcc + 1);
inline constexpr Sgprs even_sgprs = ~Sgprs{0} / 3; // the lower ones of pairs

// The subset of `uses` that is read, or written.
Sgprs tracked_sgprs(const std::vector<RegisterUse> &uses, bool write);

// Vector-written SGPRs that s_waitcnt_depctr or s_wait_alu waits for.
inline Sgprs waited_for(const HazardRole &r) {
    return (r.va_vcc ? vcc_pair : 0) | (r.va_sdst ? ~vcc_pair : 0);
}

inline unsigned lowest(Sgprs set) {
    const auto low = static_cast<u64>(set);
    return static_cast<unsigned>(low ? __builtin_ctzll(low)
                                     : 64 + __builtin_ctzll(static_cast<u64>(set >> 64)));
}

template <class F> void for_each(Sgprs set, F f) {
    for (; set; set &= set - 1)
        f(lowest(set));
}

} // namespace nw::sim
