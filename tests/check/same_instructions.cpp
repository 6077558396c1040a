// SPDX-License-Identifier: MIT
#include "check/same_instructions.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <span>

#include "base/error.h"
#include "runtime/files.h"
#include "sim/isa/code.h"
#include "sim/isa/image/program.h"

namespace nw::check {

namespace {

using sim::Instruction;

bool waits(const Instruction &i) { return i.x.mnemonic.starts_with("s_waitcnt"); }

bool branches(const Instruction &i) {
    return i.x.mnemonic == "s_branch" || i.x.mnemonic.starts_with("s_cbranch");
}

bool reads_target(const Instruction &i) {
    return i.x.mnemonic.starts_with("s_getreg") || i.x.mnemonic == "s_getpc_b64";
}

std::vector<std::byte> read_file(const std::filesystem::path &path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// A line for each instruction but waits; branches name the line that they go to. A program that
// goes to a wait goes to what follows it.
std::optional<std::vector<std::string>> listing(const sim::Code &code) {
    std::vector<u32> offsets; // of what has a line
    for (const Instruction &i : code.instructions)
        if (!waits(i))
            offsets.push_back(i.offset);
    std::vector<std::string> out;
    for (const Instruction &i : code.instructions) {
        if (i.text.empty() || reads_target(i))
            return std::nullopt;
        if (branches(i)) {
            const auto to = static_cast<u32>(static_cast<i64>(i.offset) + 4 + 4 * i.simm16());
            const auto line = std::ranges::lower_bound(offsets, to) - offsets.begin();
            out.push_back(fmt::format("{} line {}", i.x.mnemonic, line));
        } else if (!waits(i)) {
            out.push_back(i.text);
        }
    }
    return out;
}

// The descriptor as a line of text.
std::string state_at_start(const sim::KernelInfo &k) {
    return fmt::format("{:x} {:x} {:x} {:x} lds {} scratch {}", k.rsrc1, k.rsrc2, k.rsrc3,
                       k.properties, k.lds_bytes, k.scratch_bytes);
}

} // namespace

const Listings::Listing &Listings::of(const Kernel &kernel) {
    const auto [entry, is_new] = known_.try_emplace(&kernel);
    if (is_new) {
        try {
            const auto program =
                sim::Program::load(read_file(find_code_object(kernel, {})), kernel.gfx);
            const sim::KernelInfo *info = program->find_kernel(kernel.symbol);
            if (info && (entry->second = listing(program->code(info->wave_size))))
                entry->second->push_back(state_at_start(*info));
        } catch (const Error &) { // its test fails, and says why
        }
    }
    return entry->second;
}

bool Listings::same_but_for_waits(const Kernel &a, const Kernel &b) {
    return of(a) && of(a) == of(b);
}

} // namespace nw::check
