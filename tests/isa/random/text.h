// SPDX-License-Identifier: MIT
// Instructions as kernels: operands from arrays, MODE, masks and scalars from a list, results to an
// array.
#pragma once
#include <vector>

#include "isa/random/variant.h"

namespace nw::oracle {

// The instruction as the assembler takes it. Sources are v[2:3], v[4:5], v[6:7]; the destination is
// v[8:9]; a source that is an SGPR is s[38:39]. Scalar sources and destination: s[24:25], s[26:27],
// s[28:29].
std::string instruction_text(const Row &, const Variant &, const std::string &gfx, unsigned wave);

// Contents of a lane's memory.
struct LaneIn {
    u64 a, b, c, d;
};
struct LaneOut {
    u32 d[2];
    u32 mask; // s[48:49], of this lane's 32; SCC of scalar instructions
    u32 exec, vcc;
    u32 unused[3];
};
// 32 lanes of a wave; a wave64 has two, and the first one's MODE, form and scalars.
struct WaveIn {
    u32 mode, form;
    u32 vcc, exec, mask; // `mask`: s[48:49], a lane mask other than VCC
    u32 unused;
    u64 scalar; // s[38:39], an SGPR source
};

enum class Body : u8 { vector, scalar, lanes };

// A kernel runs one of several forms of an instruction, each wave the one that its WaveIn names.
struct KernelSource {
    std::string name;
    Body body;
    std::vector<std::string> forms;
};

// A whole .s. Arguments of each kernel: LaneIn[], LaneOut[], WaveIn[]; a workgroup is a wave.
std::string program_text(const std::vector<KernelSource> &, const std::string &gfx, unsigned wave);

} // namespace nw::oracle
