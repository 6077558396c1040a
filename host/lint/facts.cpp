// SPDX-License-Identifier: MIT
#include "lint/facts.h"

#include <algorithm>

#include "sim/isa/tables/memory_ops.h"

namespace nw::lint {

namespace {

using namespace sim;

// gfx10's compilers access scratch memory by buffer instructions with the descriptor in s[0:3].
bool is_scratch(const Operation &op, std::string_view access, Generation generation) {
    const std::string_view n = op.mnemonic;
    if (generation != Generation::gfx10 || !n.starts_with("buffer_") || op.operands.size() < 3)
        return n.starts_with("scratch_") && n.substr(8).starts_with(access);
    const Operand &descriptor = op.operands[2];
    return n.substr(7).starts_with(access) && descriptor.kind == Operand::Kind::sgpr &&
           descriptor.reg == 0;
}

Fact fact_of(const Instruction &inst, Generation generation) {
    Fact f;
    f.role = hazard_role(inst);
    for (const RegisterUse &use : f.role.uses)
        for (unsigned n = 0; n < use.count; ++n)
            (use.write ? f.writes : f.reads).add(use.place(n));
    f.relative = relative_move(inst.x.mnemonic);
    f.issues = issues(inst, generation);
    f.limits = wait_limits(inst, generation);
    const std::string_view n = inst.x.mnemonic;
    f.waits = std::ranges::any_of(f.limits.limit,
                                  [](u32 limit) { return limit != WaitLimits::unlimited; });
    f.barrier = n == "s_barrier" || n.starts_with("s_barrier_signal");
    f.ends = n.starts_with("s_endpgm");
    f.exports = n.starts_with("exp");
    const MemoryOp memory = find_memory_op(n);
    const bool lds = n.starts_with("ds_") && memory.access != Access::none;
    f.dma_to_lds = loads_to_lds(inst.x);
    f.to_lds = (lds && !memory.loads()) || f.dma_to_lds;
    f.uses_lds = lds || (n.starts_with("flat_") && memory.access != Access::none);
    f.is_first = is_first(inst.x);
    f.to_scratch = is_scratch(inst.x, "store_", generation);
    f.from_scratch = is_scratch(inst.x, "load_", generation);
    const Modifier *scope = inst.x.modifier("scope");
    f.system_store = generation == Generation::gfx12 && scope && scope->text == "SCOPE_SYS" &&
                     n.find("_store_") != std::string_view::npos;
    return f;
}

} // namespace

RegisterUse selectable(RegisterUse use) {
    const u32 end = use.bank == RegisterUse::vgpr ? u32{RegisterSet::vgprs} : selected_sgprs;
    use.count = static_cast<u16>(std::max<u32>(end, use.first + 1u) - use.first);
    return use;
}

void add_selectable(RegisterHalves &set, const Fact &fact) {
    if (fact.relative && fact.relative->destination.mask)
        for (const RegisterUse &use : fact.role.uses)
            if (use.write)
                set.add(selectable(use));
}

Facts::Facts(const Flow &flow, std::string_view gfx)
    : target_(&target_of(gfx)), wave_size_(flow.code().wave_size), first_(flow.first()) {
    for (size_t h = 0; h < std::size(hazards_); ++h)
        hazards_[h] = applies(static_cast<Hazard>(h), gfx, wave_size_);
    facts_.resize(flow.end() - first_);
    for (const Block &b : flow.blocks())
        for (u32 i = b.first; i < b.end; ++i)
            facts_[i - first_] = fact_of(flow.code().instructions[i], generation());
}

} // namespace nw::lint
