// SPDX-License-Identifier: MIT
// The command line options that choose a kernel, its launch and its arguments: of nw time, nw run
// and others.
#pragma once
#include <string>
#include <vector>

#include "base/command_line.h"
#include "sim/func/machine.h"

namespace nw::cli {

struct KernelOptions {
    std::string file; // code or source, code_object.h
    std::string kernel, gfx;
    std::string grid = "1", block;
    std::vector<std::string> args;
    u32 dynamic_lds = 0;
    u64 seed = 1;
};
void add_kernel_file(Command &, KernelOptions &);
void add_kernel_options(Command &, KernelOptions &); // without the file

// By --kernel, a symbol or the name as the source has it. Throws Error, as the others.
const sim::KernelInfo &choose_kernel(const sim::Program &, const KernelOptions &);
sim::Dim3 grid_of(const KernelOptions &);
sim::Dim3 block_of(const KernelOptions &, const sim::KernelInfo &);

} // namespace nw::cli
