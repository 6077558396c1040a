// SPDX-License-Identifier: MIT
// The control flow graph of one kernel: its reachable basic blocks and their successors.
//
// A call continues in the function, and each of its returns after each of its calls, so contexts
// are merged. The target of a call is known if its address was computed from s_getpc_b64 and
// constants shortly before. Otherwise the call is assumed to return with nothing in flight.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"
#include "sim/isa/image/program.h"

namespace nw::lint {

struct Block {
    u32 first = 0, end = 0;    // instructions, by index in the code
    std::vector<u32> next;     // successors
    bool unknown_call = false; // ends with one: its successor finds nothing in flight
    u32 size() const { return end - first; }
};

// A defect of the control flow itself.
struct BadFlow {
    enum class Kind : u8 { outside, not_decoded, no_end };
    Kind kind;
    u32 instruction; // the source of the edge
};

class Flow {
public:
    static constexpr u32 none = ~u32{0};

    // Control flow of the kernel that starts at this instruction.
    Flow(const sim::Code &, u32 entry);

    const sim::Code &code() const { return code_; }
    // In reverse postorder; the first is the entry block.
    const std::vector<Block> &blocks() const { return blocks_; }
    const std::vector<BadFlow> &bad() const { return bad_; }
    // Basic block of an instruction; none if unreachable.
    u32 block_of(u32 instruction) const;
    bool reaches(u32 instruction) const { return block_of(instruction) != none; }
    // Possible predecessors of an instruction.
    std::vector<u32> before(u32 instruction) const;
    // Possible successors of an instruction.
    std::vector<u32> after(u32 instruction) const;
    // Predecessors of a block.
    const std::vector<u32> &blocks_before(u32 block) const { return before_[block]; }
    // The first reachable instruction, and the one after the last.
    u32 first() const { return first_; }
    u32 end() const { return static_cast<u32>(block_of_.size()); }

private:
    const sim::Code &code_;
    std::vector<Block> blocks_;
    std::vector<std::vector<u32>> before_; // blocks
    std::vector<u32> block_of_;            // by instruction; may end after the last reachable one
    u32 first_;
    std::vector<BadFlow> bad_;
};

} // namespace nw::lint
