// SPDX-License-Identifier: MIT
// Every mnemonic that LLVM disassembles for a gfx, each with one encoding.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::sim {

using Encoding = std::array<u32, 5>; // dwords of one instruction, zeros after it

struct Sample {
    std::string
        mnemonic; // without encoding suffix, as in the tables (of gfx11's names): "v_add_f32"
    Encoding encoding;
};

// Sorted by mnemonic. Found by trying every opcode of every encoding format with a few patterns in
// the operand fields, decoded as wave32.
std::vector<Sample> known_mnemonics(std::string_view gfx);

} // namespace nw::sim
