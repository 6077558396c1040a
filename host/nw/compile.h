// SPDX-License-Identifier: MIT
// Code objects from sources, by the compilers at hand.
#pragma once
#include <string>

namespace nw::cli {

bool is_assembly(const std::string &path); // .s
bool is_hip(const std::string &path);      // .hip
bool is_opencl(const std::string &path);   // .cl
bool is_source(const std::string &path);   // one of these

// Code for `gfx` with a line table. Throw nw::Error with the compiler's messages.
std::string assemble(const std::string &path, const std::string &gfx);
// The object of an assembly text: our own, or from the command line.
std::string assemble_text(const std::string &text, const std::string &gfx);
std::string link_object(const std::string &path, const std::string &gfx);
// As hiprtc does: the file's kernels, without ROCm, with the headers of host/sim/hiprtc.
std::string compile_hip(const std::string &path, const std::string &gfx);
// OpenCL C 2.0, without ROCm, with the functions of opencl.cl.
std::string compile_opencl(const std::string &path, const std::string &gfx);
// The code of a source.
std::string compile(const std::string &path, const std::string &gfx);

} // namespace nw::cli
