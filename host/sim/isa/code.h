// SPDX-License-Identifier: MIT
// The decoded instructions of a program.
#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sim/isa/instruction.h"

namespace nw::sim {

struct Code {
    static constexpr u32 none = 0xffffffff;

    u64 base = 0; // host address of offset 0
    u32 wave_size = 32;
    std::vector<Instruction> instructions; // ascending offsets

    // Index of the instruction that starts at host address `pc`, or `none`.
    u32 find(u64 pc) const;
};

// Decodes [begin, end) of an image at `image`, appending to `code`. Bytes that LLVM rejects become
// four-byte instructions without text. gfx10 mnemonics are translated to gfx11's.
void disassemble(std::span<const std::byte> image, u32 begin, u32 end, std::string_view cpu,
                 Code &code);

// Decodes each of these encodings on its own; without text where LLVM rejects it.
std::vector<Instruction> disassemble_each(std::span<const std::array<u32, 5>> encodings,
                                          std::string_view cpu, u32 wave_size);

} // namespace nw::sim
