// SPDX-License-Identifier: MIT
// Each instruction as a kernel: operands from arrays, MODE and VCC from a list, results to an
// array.
#pragma once
#include <vector>

#include "isa/random/oracle.h"

namespace nw::oracle {

// One way to write the instruction. Lists have a bit per source; bit 3 is the destination.
struct Variant {
    u32 neg = 0, abs = 0;
    bool clamp = false;
    int omod = 0;                                          // result times 2^omod
    u32 high = 0;                                          // 16-bit operands in the high half
    u32 op_sel = 0, op_sel_hi = 7, neg_lo = 0, neg_hi = 0; // VOP3P
    u16 immediate = 0;                                     // SOPK
};

std::vector<Variant> variants(const Row &, const std::string &gfx);

// The instruction as the assembler takes it. Sources are v[2:3], v[4:5], v[6:7]; the destination is
// v[8:9]. Scalar sources and destination: s[24:25], s[26:27], s[28:29].
std::string instruction_text(const Row &, const Variant &, const std::string &gfx);

// What a lane's memory holds.
struct LaneIn {
    u64 a, b, c, d;
};
struct LaneOut {
    u32 d[2];
    u32 flags; // VCC or EXEC afterwards; SCC of scalar instructions
    u32 exec;
};
struct WaveIn {
    u32 mode, vcc;
};

struct KernelSource {
    std::string name;
    std::string instruction;
    const Row *row; // null: of lanes.h, under EXEC
};
// A whole .s. Arguments of each kernel: LaneIn[], LaneOut[], WaveIn[]; a workgroup is a wave.
std::string program_text(const std::vector<KernelSource> &, const std::string &gfx);

} // namespace nw::oracle
