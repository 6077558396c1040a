// SPDX-License-Identifier: MIT
// The ways to write an instruction: modifiers, op_sel, constants and SGPRs as sources, DPP, SDWA,
// an SGPR pair as lane mask.
#pragma once
#include <array>
#include <vector>

#include "isa/random/dpp.h"
#include "isa/random/oracle.h"
#include "isa/random/sdwa.h"

namespace nw::oracle {

// Operand in place of a source's VGPR.
struct Operand {
    enum Kind : u8 { vgpr, sgpr, constant } kind = vgpr;
    std::string text = ""; // of a constant
    u64 bits = 0;          // its value, as the source's type has it
};

// Lists have a bit per source; bit 3 is the destination.
struct Variant {
    u32 neg = 0, abs = 0;
    bool clamp = false;
    int omod = 0;                                          // result times 2^omod
    u32 high = 0;                                          // 16-bit operands in the high half
    u32 op_sel = 0, op_sel_hi = 7, neg_lo = 0, neg_hi = 0; // VOP3P
    u16 immediate = 0;                                     // SOPK
    std::array<Operand, 3> source{};
    bool own_mask = false; // s[48:49] instead of VCC
    std::optional<Dpp> dpp = std::nullopt;
    std::optional<Sdwa> sdwa = std::nullopt;
    bool optional = false; // LLVM may have no such form
};

T source_type(const Row &, unsigned n);
unsigned source_count(const Row &); // without an accumulator
bool is_scalar(Form);
bool is_compare(Form);
bool writes_mask(Form); // VCC or another mask SGPR

std::vector<Variant> variants(const Row &, const std::string &gfx);         // all of its modifiers
std::vector<Variant> operand_variants(const Row &, const std::string &gfx); // constants, SGPRs
std::vector<Variant> lane_variants(const Row &, const std::string &gfx);    // DPP, masks
std::vector<Variant> sdwa_variants(const Row &, const std::string &gfx);    // none but on gfx10

} // namespace nw::oracle
