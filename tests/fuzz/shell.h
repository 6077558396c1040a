// SPDX-License-Identifier: MIT
// A code object with room for an input's code: shell.s.
#pragma once
#include <string>
#include <vector>

#include "fuzz/reader.h"

namespace nw::fuzz {

enum ShellFlags : u8 { wave64 = 1, own_descriptor = 16 };

struct Shell {
    std::string gfx;
    std::vector<std::byte> file;
    u64 descriptor = 0, code = 0, code_bytes = 0; // places in the file

    explicit Shell(const char *gfx);
    // With the descriptor and the code that the input goes on with.
    std::vector<std::byte> filled(u8 flags, Reader &input) const;
};

const Shell &shell(u8 choice); // of gfx1100, gfx1151, gfx1200 or gfx1201

} // namespace nw::fuzz
