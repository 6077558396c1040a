// SPDX-License-Identifier: MIT
// Code objects from files, of code or of source (compile.h).
#pragma once
#include <memory>
#include <set>
#include <string>

#include "sim/isa/image/program.h"

namespace nw::cli {

// The gfx of a file by its ELF header or .amdgcn_target; "" if it has none. Throws nw::Error, also
// for an offload bundle with several targets.
std::string gfx_of_file(const std::string &path);
// All targets that a code object, a bundle or a host program has code for. Throws nw::Error.
std::set<std::string> targets_of_file(const std::string &path);
std::string names_no_target(const std::string &path); // for the Error of one without

// The code object for `gfx`: compiles a source, links a .o, and extracts it from a bundle or a host
// program. Throws nw::Error, with the compiler's messages if it fails.
std::string code_object(const std::string &path, const std::string &gfx);
std::shared_ptr<const sim::Program> load_object(const std::string &path, const std::string &object,
                                                const std::string &gfx);
std::shared_ptr<const sim::Program> load_code(const std::string &path, const std::string &gfx);

std::string read_text(const std::string &path); // throws nw::Error
// Throws nw::Error that also names the option.
void write_text(const char *option, const std::string &path, const std::string &text);

} // namespace nw::cli
