// SPDX-License-Identifier: MIT
// A kernel's instructions as named in logs and traces.
#pragma once
#include <string>

#include "sim/func/machine.h"
#include "sim/isa/code.h"

namespace nw::sim::timing {

class Listing {
public:
    explicit Listing(const Dispatch &);

    size_t size() const { return code_->instructions.size(); }
    // Relative to the kernel's first instruction; negative in a function placed before it.
    i64 pc(u32 index) const;
    std::string pc_text(u32 index) const;  // "0x1c", "-0x40"
    std::string mnemonic(u32 index) const; // of a VOPD pair both, with " :: " between them
    const std::string &text(u32 index) const;
    std::string source_line(u32 index) const; // "saxpy.s:41"; "" without a line table

private:
    const Program *program_;
    const KernelInfo *kernel_;
    const Code *code_;
};

} // namespace nw::sim::timing
