// SPDX-License-Identifier: MIT
#include "lint/lint.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>

#include "lint/descriptor.h"
#include "lint/facts.h"
#include "lint/flights.h"
#include "lint/hazards.h"
#include "lint/lanes.h"
#include "lint/long_waits.h"
#include "lint/values.h"
#include "sim/isa/hazards/unused_fields.h"

namespace nw::lint {

namespace {

using namespace sim;

Findings bad_flow(const Flow &flow) {
    Findings found;
    for (const BadFlow &bad : flow.bad()) {
        const Rule rule = bad.kind == BadFlow::Kind::outside       ? Rule::outside
                          : bad.kind == BadFlow::Kind::not_decoded ? Rule::not_decoded
                                                                   : Rule::no_end;
        found.push_back(
            {rule, bad.instruction, Finding::nothing, std::string(info(rule).title),
             rule == Rule::no_end ? "end with s_endpgm" : "correct the label or the data"});
    }
    return found;
}

// The hardware takes no notice, so it is no fault of the program's; whatever wrote it meant more.
Findings unused_fields(const Flow &flow, const Program &program) {
    Findings found;
    for (const Block &block : flow.blocks())
        for (u32 i = block.first; i < block.end; ++i)
            if (const Instruction &inst = flow.code().instructions[i];
                sets_unused_field(inst, program.gfx(), flow.code().wave_size))
                found.push_back({Rule::unused_field, i, Finding::nothing,
                                 fmt::format("0x{:08x} 0x{:08x} is {} with more bits set (S-061)",
                                             inst.word0, inst.word1, inst.text),
                                 "let the assembler encode it"});
    return found;
}

bool is_padding(const Instruction &i) {
    return i.text.empty() || i.x.mnemonic == "s_code_end" || i.x.mnemonic == "s_nop";
}

// Within the kernel's own symbol; unused functions are not reported.
Findings unreachable(const Flow &flow, const Program &program, const KernelInfo &kernel) {
    Findings found;
    const Code &code = flow.code();
    const Global *function = program.function_at(kernel.entry);
    if (!function || function->size == 0)
        return found;
    const u32 first = code.find(kernel.entry);
    u32 begin = Finding::nothing;
    for (u32 i = first; i < code.instructions.size() && code.base + code.instructions[i].offset <
                                                            function->address + function->size;
         ++i) {
        const bool idle = !flow.reaches(i) && !is_padding(code.instructions[i]);
        if (idle && begin == Finding::nothing)
            found.push_back({Rule::unreachable, begin = i, Finding::nothing, "unreachable",
                             "remove it or branch to it"});
        if (flow.reaches(i))
            begin = Finding::nothing;
    }
    return found;
}

} // namespace

Findings lint(const Program &program, const KernelInfo &kernel, bool notes) {
    const Code &code = program.code(kernel.wave_size);
    const u32 entry = code.find(kernel.entry);
    if (entry == Code::none)
        return {{Rule::outside, Finding::nothing, Finding::nothing,
                 "the descriptor's entry is not the start of an instruction",
                 "set it to the kernel's first instruction"}};
    const Flow flow(code, entry);
    const Facts facts(flow, program.gfx());
    Findings all;
    const auto add = [&](Findings found) { std::ranges::move(found, std::back_inserter(all)); };
    add(find_undeclared(flow, facts, program, kernel));
    add(bad_flow(flow));
    add(find_in_flight(flow, facts));
    add(find_hazards(flow, facts));
    add(find_never_written(flow, facts, kernel));
    add(find_lanes_off(flow, facts, kernel));
    add(find_lost_compares(flow, facts));
    add(unreachable(flow, program, kernel));
    add(unused_fields(flow, program));
    if (notes)
        add(find_long_waits(flow, facts));
    else
        std::erase_if(all,
                      [](const Finding &f) { return info(f.rule).severity == Severity::note; });
    const auto place = [](const Finding &f) {
        return std::tuple(f.instruction + 1, f.rule, f.other); // none + 1: first
    };
    std::ranges::stable_sort(all, {}, place);
    all.erase(std::ranges::unique(all, {}, place).begin(), all.end());
    return all;
}

} // namespace nw::lint
