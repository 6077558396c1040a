// SPDX-License-Identifier: MIT
#include "sim/timing/files/listing.h"

#include <fmt/format.h>

namespace nw::sim::timing {

Listing::Listing(const Dispatch &d)
    : program_(d.program), kernel_(d.kernel), code_(&d.program->code(d.kernel->wave_size)) {}

i64 Listing::pc(u32 index) const {
    return static_cast<i64>(code_->base + code_->instructions[index].offset - kernel_->entry);
}

std::string Listing::pc_text(u32 index) const {
    const i64 at = pc(index);
    return at < 0 ? fmt::format("-{:#x}", -at) : fmt::format("{:#x}", at);
}

std::string Listing::mnemonic(u32 index) const {
    const Instruction &i = code_->instructions[index];
    return i.y ? fmt::format("{} :: {}", i.x.mnemonic, i.y->mnemonic) : std::string(i.x.mnemonic);
}

const std::string &Listing::text(u32 index) const { return code_->instructions[index].text; }

std::string Listing::source_line(u32 index) const {
    return program_->source_line(code_->base + code_->instructions[index].offset);
}

} // namespace nw::sim::timing
