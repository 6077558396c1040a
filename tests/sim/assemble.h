// SPDX-License-Identifier: MIT
// Kernels for tests: a few lines of assembly, made into a code object and run.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/targets.h"
#include "sim/func/machine.h"

namespace nw::sim::test {

inline const std::vector<std::string> all_gfx = [] {
    std::vector<std::string> names;
    for (const nw::Target &target : targets())
        names.emplace_back(target.name);
    return names;
}();
inline bool is_gfx12(const std::string &gfx) {
    return target_of(gfx).generation == Generation::gfx12;
}

// The linked code object of assembly that clang accepts for this gfx. Throws with clang's messages.
std::vector<std::byte> assemble(const std::string &gfx, const std::string &source);

struct KernelText {
    std::string gfx = "gfx1151";
    std::string entry; // lines before the arguments are loaded
    std::string body;  // without s_endpgm
    u32 vgprs = 64;
    u32 lds = 0, scratch = 0;
    u32 wave = 32;
    u32 kernarg = 16;
    std::string descriptor; // further .amdhsa_ lines
    bool debug = false;     // with a line table
};

// Lines of instructions with the names that gfx10 has for them.
std::string with_old_names(const std::string &text);
// One instruction as the target names it.
std::string spelled(const std::string &gfx, const std::string &instruction);

// A whole .s with one kernel `test`, whose s[0:1] is the kernarg pointer. Also loads the first
// argument, a pointer, into s[2:3] and the second into s[4:5], and waits for them.
std::string kernel_source(const KernelText &);
// Test kernel with v1 = 4 * v0, some LDS and, where the hardware knows it, some scratch memory.
KernelText waiting_kernel(const std::string &gfx, u32 wave, const std::string &body);
std::shared_ptr<const Program> load(const KernelText &);

// Runs `test` on one buffer of `words` dwords (argument 0) and returns its contents afterwards.
// Its start value is `initial`, zero where that is shorter. Argument 1 is `second`.
struct Launch {
    Dim3 grid, block{32, 1, 1};
    std::vector<u32> initial;
    u32 words = 64;
    u64 second = 0;
    u32 dynamic_lds = 0;
    bool cooperative = false;
    RunConfig config;
    RunStats stats; // filled in
};
std::vector<u32> run(const KernelText &, Launch &&launch = {});
std::vector<u32> run(const KernelText &, Launch &launch);
// The text of the Fault that `run` ends with; "" when it doesn't.
std::string fault_of(const KernelText &, Launch launch = {});

} // namespace nw::sim::test
