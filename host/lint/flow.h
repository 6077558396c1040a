// SPDX-License-Identifier: MIT
// The instructions of one kernel as control reaches them: blocks of straight code, and where each
// goes on.
//
// A call goes on in the function, and each return of it behind each of its calls: what one caller
// does is taken for possible in another. Where a call goes is known if its address was made of
// s_getpc_b64 and constants shortly before; else it is taken to come back and to leave nothing.
#pragma once
#include <string>
#include <vector>

#include "base/types.h"
#include "sim/isa/program.h"

namespace nw::lint {

struct Block {
    u32 first = 0, end = 0;    // instructions, by index in the code
    std::vector<u32> next;     // blocks
    bool unknown_call = false; // ends with one: what comes next finds nothing in flight
    u32 size() const { return end - first; }
};

// Something about where control goes that no rule of registers is needed for.
struct BadFlow {
    enum class Kind : u8 { outside, not_decoded, no_end };
    Kind kind;
    u32 instruction; // that goes there
};

class Flow {
public:
    static constexpr u32 none = ~u32{0};

    // Of the kernel whose first instruction that is.
    Flow(const sim::Code &, u32 entry);

    const sim::Code &code() const { return code_; }
    // In reverse postorder: without loops each comes after those that lead to it. The first is the
    // kernel's beginning.
    const std::vector<Block> &blocks() const { return blocks_; }
    const std::vector<BadFlow> &bad() const { return bad_; }
    // Of an instruction; none where control never gets.
    u32 block_of(u32 instruction) const;
    bool reaches(u32 instruction) const { return block_of(instruction) != none; }
    // Instructions that may have been the one before.
    std::vector<u32> before(u32 instruction) const;
    // And that may be the next one.
    std::vector<u32> after(u32 instruction) const;
    // Blocks that lead to a block.
    const std::vector<u32> &blocks_before(u32 block) const { return before_[block]; }
    // The first instruction that control reaches, and the one after the last.
    u32 first() const { return first_; }
    u32 end() const { return static_cast<u32>(block_of_.size()); }

private:
    const sim::Code &code_;
    std::vector<Block> blocks_;
    std::vector<std::vector<u32>> before_; // blocks
    std::vector<u32> block_of_;            // by instruction; shorter where nothing more is reached
    u32 first_;
    std::vector<BadFlow> bad_;
};

} // namespace nw::lint
