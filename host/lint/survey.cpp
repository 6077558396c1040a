// SPDX-License-Identifier: MIT
#include "lint/survey.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "sim/isa/code.h"

namespace nw::lint {

using namespace sim;

namespace {

u32 entry_of(const Code &code, const KernelInfo &kernel) {
    const u32 entry = code.find(kernel.entry);
    if (entry == Code::none)
        throw Error(fmt::format("{}: its descriptor's entry is not the start of an instruction: "
                                "set it to the kernel's first",
                                kernel.name));
    return entry;
}

} // namespace

Survey::Survey(const Program &program, const KernelInfo &k)
    : code(program.code(k.wave_size)), kernel(k), flow(code, entry_of(code, k)),
      facts(flow, program.gfx()), live(flow, facts, k), loops(flow), pairs(flow, facts),
      blocks(flow.blocks().size()), wmma_may_clash(!facts.gfx12()) {
    for (u32 n = 0; n < blocks.size(); ++n) {
        const Block &block = flow.blocks()[n];
        for (u32 i = block.first; i < block.end; ++i) {
            const Instruction &inst = code.instructions[i];
            blocks[n] += work_of(inst, k.wave_size);
            bytes += inst.size;
            for (const RegisterUse &use : facts[i].role.uses) {
                const u32 end = use.first + use.count;
                if (use.bank == RegisterUse::vgpr)
                    vgprs_used = std::max(vgprs_used, end);
                else if (end <= sreg::vcc)
                    sgprs_used = std::max(sgprs_used, end);
            }
        }
        if (!wmma_may_clash)
            blocks[n].wmma_clashes = 0;
        instructions += block.size();
        total += blocks[n];
    }
}

u64 Survey::times(const Loop &loop, u32 block) const {
    u64 times = 1;
    for (u32 at = loops.of_block(block); at != Flow::none && &loops.all()[at] != &loop;
         at = loops.all()[at].parent)
        times *= loops.all()[at].trips.value_or(1);
    return times;
}

Work Survey::trip(const Loop &loop) const {
    Work all;
    for (u32 n : loop.blocks)
        all += blocks[n] * times(loop, n);
    return all;
}

Pairs::Counts Survey::pairs_of(const std::vector<u32> &of) const {
    Pairs::Counts all;
    for (u32 n : of)
        all += pairs.counts(n);
    return all;
}

} // namespace nw::lint
