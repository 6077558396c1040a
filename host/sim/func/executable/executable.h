// SPDX-License-Identifier: MIT
// A program's instructions with handlers and operands resolved, for one wave size.
#pragma once
#include <array>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/func/alu/matrix.h"
#include "sim/func/launch/tally.h"
#include "sim/func/memory/access.h"
#include "sim/func/wave.h"
#include "sim/isa/image/program.h"

namespace nw::sim {

struct Executable {
    const Program *program = nullptr;
    const Code *code = nullptr;
    // insts[k] is code->instructions[k]; a sentinel follows the last one. Gaps between code
    // sections also end in a sentinel, after an undecodable instruction.
    std::vector<Inst> insts;
    std::vector<Row> constants; // broadcast; row 0 is zero
    std::deque<Extra> extras;
    std::deque<MemoryAccess> accesses;
    std::deque<ImageAccess> images;
    std::deque<Matrix> matrices;
    std::deque<std::array<Inst, 2>> pairs;
    std::deque<Inst> landings;                        // targets of branches that leave the code
    std::unordered_map<u32, std::string> unsupported; // why, by index
    Tallies tallies;

    u64 pc_of(const Inst &i) const { return code->base + code->instructions[i.index].offset; }
};

// Built at first use and kept with the program.
const Executable &executable(const Program &program, u32 wave_size);

} // namespace nw::sim
