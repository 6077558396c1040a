// SPDX-License-Identifier: MIT
// Code objects from files; assembles .s files.
#pragma once
#include <memory>
#include <set>
#include <string>

#include "sim/isa/program.h"

namespace nw::cli {

bool is_assembly(const std::string &path);
// The gfx of a file by its ELF header or .amdgcn_target; "" if it has none. Throws nw::Error, also
// for an offload bundle with several targets.
std::string gfx_of_file(const std::string &path);
// All targets that a code object, a bundle or a host program has code for. Throws nw::Error.
std::set<std::string> targets_of_file(const std::string &path);
// Assembles an .s, links a .o, and extracts the code for `gfx` from a bundle or a host program.
// Throws nw::Error, with the assembler's messages if it fails.
std::shared_ptr<const sim::Program> load_code(const std::string &path, const std::string &gfx);

std::string read_text(const std::string &path); // throws nw::Error
// Throws nw::Error that also names the option.
void write_text(const char *option, const std::string &path, const std::string &text);

} // namespace nw::cli
