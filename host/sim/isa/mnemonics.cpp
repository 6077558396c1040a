// SPDX-License-Identifier: MIT
#include "sim/isa/mnemonics.h"

#include <initializer_list>
#include <map>

#include "base/targets.h"
#include "sim/isa/code.h"

namespace nw::sim {

namespace {

// One format: its fixed bits, the position of the opcode, and operand patterns to try. A pattern is
// or-ed to the dwords; later ones are appended dwords.
struct Format {
    u32 base;
    unsigned shift, bits; // of the opcode, in dword 0
    std::initializer_list<std::array<u32, 3>> fillings;
};

constexpr u32 v0 = 0x100, null = 0x7c, vcc = 106 << 8, m0 = 0x7d, minus_one = 0xc1, zero = 0x80;
constexpr u32 vvv = v0 | v0 << 9 | v0 << 18; // src0, src1, src2 of VOP3 and VOP3P
constexpr u32 vss = v0, vvs = v0 | v0 << 9;
constexpr u32 high1 = 3u << 27, high0 = 1 << 14; // op_sel_hi as VOP3P without the modifier has it
constexpr u32 offset_null = null << 25;          // SMEM's soffset
constexpr u32 mov_x = 8 << 22, mov_y = 8 << 17;  // VOPD: v_dual_mov_b32

const std::initializer_list<Format> common{
    {0x80000000, 23, 7, {{0, 0, 0}}},                                             // SOP2
    {0xb0000000, 23, 5, {{0, 0, 0}}},                                             // SOPK
    {0xbe800000, 8, 8, {{0, 0, 0}, {zero, 0, 0}, {minus_one, 0, 0}, {m0, 0, 0}}}, // SOP1
    {0xbf000000, 16, 7, {{0, 0, 0}}},                                             // SOPC
    {0xbf800000, 16, 7, {{0, 0, 0}, {1, 0, 0}}},                                  // SOPP
    {0x00000000, 25, 6, {{v0, 0, 0}}},                                            // VOP2
    {0x7e000000, 9, 8, {{v0, 0, 0}, {0, 0, 0}}},                                  // VOP1
    {0x7c000000, 17, 8, {{v0, 0, 0}}},                                            // VOPC
    {0xd4000000,
     16,
     10,
     {{0, vvs, 0}, {0, vvv, 0}, {0, vss, 0}, {0, 0, 0}, {vcc, vvs, 0}, {vcc, vvv, 0}}},   // VOP3
    {0xcc000000, 16, 7, {{high0, vvv | high1, 0}, {0, vvv, 0}, {high0, vvs | high1, 0}}}, // VOP3P
    {0xc8000000 | mov_y, 22, 4, {{v0, v0 | 1 << 17, 0}}},                                 // VOPD, X
    {0xc8000000 | mov_x, 17, 5, {{v0, v0 | 1 << 17, 0}}},                                 // VOPD, Y
    {0xcd000000, 16, 7, {{0, vvv, 0}}},                                                   // VINTERP
    {0xce000000, 20, 4, {{0, 0, 0}}},                  // LDSDIR, VDSDIR
    {0xd8000000, 18, 8, {{0, 0, 0}, {1 << 17, 0, 0}}}, // DS, GDS
    {0xf8000000, 4, 6, {{0, 0, 0}}},                   // EXP
};
constexpr u32 null10 = 0x7d; // gfx10 has M0 and NULL the other way round
const std::initializer_list<Format> gfx10{
    {0xf4000000, 18, 8, {{0, null10 << 25, 0}}},                                         // SMEM
    {0xdc000000, 18, 7, {{0, null10 << 16, 0}, {0, 0, 0}}},                              // FLAT
    {0xdc004000, 18, 7, {{0, null10 << 16, 0}, {0, 0, 0}}},                              // SCRATCH
    {0xdc008000, 18, 7, {{0, null10 << 16, 0}, {0, 0, 0}}},                              // GLOBAL
    {0xe0000000, 18, 8, {{0, zero << 24, 0}}},                                           // MUBUF
    {0xe8000000, 16, 3, {{1 << 19, zero << 24, 0}, {1 << 19, zero << 24 | 1 << 21, 0}}}, // MTBUF
    {0xf0000000, 18, 7, {{0xf00, 0, 0}, {0x100, 0, 0}, {0xf01, 0, 0}, {0x101, 0, 0}}},   // MIMG
};
const std::initializer_list<Format> gfx11{
    {0xf4000000, 18, 8, {{0, offset_null, 0}}},           // SMEM
    {0xdc000000, 18, 7, {{0, null << 16, 0}, {0, 0, 0}}}, // FLAT
    {0xdc010000, 18, 7, {{0, null << 16, 0}, {0, 0, 0}}}, // SCRATCH
    {0xdc020000, 18, 7, {{0, null << 16, 0}, {0, 0, 0}}}, // GLOBAL
    {0xe0000000, 18, 8, {{0, zero << 24, 0}}},            // MUBUF
    {0xe8080000, 15, 4, {{0, zero << 24, 0}}},            // MTBUF
    {0xf0000000, 18, 8, {{0xf00, 0, 0}, {0x100, 0, 0}}},  // MIMG
};
const std::initializer_list<Format> gfx12{
    {0xf4000000, 13, 6, {{0, offset_null, 0}}},               // SMEM
    {0xec000000, 14, 8, {{null, 0, 0}, {0, 0, 0}}},           // VFLAT
    {0xed000000, 14, 8, {{null, 0, 0}, {0, 0, 0}}},           // VSCRATCH
    {0xee000000, 14, 8, {{null, 0, 0}, {0, 0, 0}}},           // VGLOBAL
    {0xc4000000, 14, 8, {{null, 1 << 23, 0}}},                // VBUFFER
    {0xd0000000, 14, 8, {{15 << 22, 0, 0}, {1 << 22, 0, 0}}}, // VIMAGE
    {0xe4000000, 14, 8, {{15 << 22, 0, 0}, {1 << 22, 0, 0}}}, // VSAMPLE
};

void add_candidates(std::initializer_list<Format> formats, std::vector<Encoding> &out) {
    for (const Format &f : formats)
        for (u32 op = 0; op < 1u << f.bits; ++op)
            for (const auto &fill : f.fillings)
                out.push_back({f.base | op << f.shift | fill[0], fill[1], fill[2], 0, 0});
}

} // namespace

std::vector<Sample> known_mnemonics(std::string_view gfx) {
    std::vector<Encoding> candidates;
    add_candidates(common, candidates);
    const Generation generation = target_of(gfx).generation;
    add_candidates(generation == Generation::gfx12   ? gfx12
                   : generation == Generation::gfx11 ? gfx11
                                                     : gfx10,
                   candidates);
    std::map<std::string, Encoding, std::less<>> found; // the first pattern that decodes
    std::vector<Instruction> decoded = disassemble_each(candidates, gfx, 32);
    for (size_t n = 0; n < decoded.size(); ++n) {
        const Instruction &inst = decoded[n];
        if (inst.text.empty() || inst.text.find("/*Invalid register") != inst.text.npos)
            continue;
        found.try_emplace(std::string(inst.x.mnemonic), candidates[n]);
        if (inst.y)
            found.try_emplace(std::string(inst.y->mnemonic), candidates[n]);
    }
    std::vector<Sample> samples;
    for (auto &[mnemonic, encoding] : found)
        samples.push_back({mnemonic, encoding});
    return samples;
}

} // namespace nw::sim
