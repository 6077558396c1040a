// SPDX-License-Identifier: MIT
// Kernels as LLVM takes them.
#pragma once
#include <memory>
#include <set>

#include "isa/random/text.h"
#include "sim/isa/image/program.h"

namespace nw::oracle {

struct Accepted {
    std::vector<std::byte> code;
    std::vector<std::set<u32>> refused; // by kernel: forms that LLVM doesn't have
};

// Refused forms are left out; running one is a fault. Throws at any other error.
Accepted accept(std::vector<KernelSource>, const std::string &gfx, unsigned wave);

} // namespace nw::oracle
