// SPDX-License-Identifier: MIT
// Code objects from files; assembly is assembled on the way.
#pragma once
#include <memory>
#include <string>

#include "sim/isa/program.h"

namespace nw::cli {

bool is_assembly(const std::string &path);
// Which gfx a file is for: what its ELF header, or its .amdgcn_target, says; "" where that is
// missing. Throws nw::Error, also where an offload bundle has code for several.
std::string gfx_of_file(const std::string &path);
// An .s is assembled, a .o linked, and of a bundle (or a host program that has one in it) the code
// for `gfx` is taken. Throws nw::Error, with the assembler's words where it refuses.
std::shared_ptr<const sim::Program> load_code(const std::string &path, const std::string &gfx);

std::string read_text(const std::string &path); // throws nw::Error
// Throws nw::Error that names the option, too.
void write_text(const char *option, const std::string &path, const std::string &text);

} // namespace nw::cli
