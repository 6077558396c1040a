// SPDX-License-Identifier: MIT
#include "nw/bound.h"

#include <algorithm>

#include "base/targets.h"
#include "sim/isa/code.h"
#include "sim/isa/tables/memory_ops.h"
#include "sim/timing/core/lds_banks.h"

namespace nw::cli {

using namespace sim::timing;
using lint::Loop, lint::Survey;
using Kind = OpFacts::Kind;

namespace {

constexpr u32 row_lanes = 32, line_bytes = 128;

// Assumes consecutive lanes.
f64 lds_cycles(const sim::Instruction &inst, u32 wave_size, bool gfx12) {
    const sim::MemoryOp op = sim::find_memory_op(inst.x.mnemonic);
    if (op.access == sim::Access::none) // lane exchanges without LDS access
        return wave_size / row_lanes;
    const u32 bytes = op.bytes * op.elements;
    u64 at[row_lanes];
    for (u32 lane = 0; lane < row_lanes; ++lane)
        at[lane] = u64{lane} * bytes;
    const u32 phases = lds_phases(at, ~0u, bytes, gfx12, op.updates()).all;
    return f64{1} * phases * (op.two_addresses() ? 2 : 1) * (wave_size / row_lanes);
}

f64 vmem_cycles(const sim::Instruction &inst, u32 wave_size, const Costs &c) {
    const sim::MemoryOp op = sim::find_memory_op(inst.x.mnemonic);
    const f64 bytes = f64{1} * op.bytes * op.elements * wave_size;
    return std::max({1.0, f64{1} * wave_size / c.address_lanes,
                     bytes / (op.stores() ? c.store_bytes : c.l0_bytes),
                     bytes / line_bytes / c.l0_lookups});
}

f64 issue_cycles(const OpFacts &f, const Costs &c) {
    const f64 nop = f.count + 1 + (static_cast<u32>(f.count) >= c.nop_doze ? c.nop_wake : 0);
    return f.kind == Kind::branch  ? (f.conditional ? c.branch_not_taken : c.branch_taken)
           : f.kind == Kind::nop   ? nop
           : f.kind == Kind::sleep ? std::max(1, f.count)
                                   : 1;
}

} // namespace

std::string_view name(BoundUnit u) {
    constexpr std::string_view names[] = {"issue",     "valu", "trans", "salu",
                                          "vmem_port", "lds",  "vmem",  "smem"};
    static_assert(std::size(names) == static_cast<size_t>(BoundUnit::count));
    return names[static_cast<size_t>(u)];
}

u32 simds_of(BoundUnit u) {
    constexpr u32 simds[] = {0, 1, 1, 1, 1, 2, 2, 4};
    return simds[static_cast<size_t>(u)];
}

UnitCycles &UnitCycles::operator+=(const UnitCycles &o) {
    for (size_t n = 0; n < of.size(); ++n)
        of[n] += o.of[n];
    return *this;
}

UnitCycles UnitCycles::operator*(f64 times) const {
    UnitCycles out = *this;
    for (f64 &cycles : out.of)
        cycles *= times;
    return out;
}

f64 shared_cycles(const UnitCycles &cycles, BoundUnit u, f64 waves_per_simd) {
    return cycles[u] * (simds_of(u) ? simds_of(u) * waves_per_simd : 1);
}

BoundUnit bound(const UnitCycles &cycles, f64 waves_per_simd) {
    BoundUnit best = BoundUnit::issue;
    for (size_t n = 0; n < cycles.of.size(); ++n)
        if (const auto u = static_cast<BoundUnit>(n);
            shared_cycles(cycles, u, waves_per_simd) > shared_cycles(cycles, best, waves_per_simd))
            best = u;
    return best;
}

UnitCounter::UnitCounter(const Survey &survey, const ProgramFacts &facts, const Costs &costs)
    : survey_(survey), facts_(facts), costs_(costs), blocks_(survey.blocks.size()) {
    for (u32 n = 0; n < blocks_.size(); ++n) {
        const lint::Block &block = survey.flow.blocks()[n];
        for (u32 i = block.first; i < block.end; ++i)
            blocks_[n] += of_instruction(i);
    }
}

UnitCycles UnitCounter::of_instruction(u32 i) const {
    UnitCycles out;
    const OpFacts &f = facts_.ops[i];
    const sim::Instruction &inst = survey_.code.instructions[i];
    const u32 wave = survey_.kernel.wave_size;
    const f64 passes = wave / row_lanes;
    const auto at = [&](BoundUnit u) -> f64 & { return out.of[static_cast<size_t>(u)]; };
    at(BoundUnit::issue) = issue_cycles(f, costs_);
    switch (f.unit) {
    case Unit::valu:
        at(BoundUnit::valu) = f.trans ? passes : f.wmma ? f.interval : f.interval * passes;
        at(BoundUnit::trans) = f.trans ? f.interval * passes : 0;
        break;
    case Unit::salu:
        at(BoundUnit::salu) = f.interval;
        break;
    case Unit::smem:
        at(BoundUnit::smem) = 1;
        break;
    case Unit::lds:
        at(BoundUnit::lds) = lds_cycles(inst, wave, survey_.facts.gfx12());
        break;
    case Unit::vmem:
        at(BoundUnit::vmem_port) = (f.saddr ? 1 : 2) + f.data_dwords;
        at(BoundUnit::vmem) = vmem_cycles(inst, wave, costs_);
        break;
    default:
        break;
    }
    return out;
}

UnitCycles UnitCounter::of_trip(const Loop &loop) const {
    UnitCycles all;
    for (u32 n : loop.blocks)
        all += blocks_[n] * static_cast<f64>(survey_.times(loop, n));
    // A conditional back edge counts as a taken branch.
    for (u32 latch : loop.latches)
        if (const u32 last = survey_.flow.blocks()[latch].end - 1; facts_.ops[last].conditional) {
            all.of[static_cast<size_t>(BoundUnit::issue)] +=
                f64{1} * costs_.branch_taken - costs_.branch_not_taken;
            break;
        }
    return all;
}

f64 dram_cycles(const lint::Work &trip, const Part &part, f64 waves_per_simd) {
    const u32 simds_per_wgp = target_of(part.gfx).simds_per_wgp;
    const f64 per_cycle =
        part.dram_gb_per_s * part.dram_efficiency * 1000 / f64{1} / part.shader_mhz;
    const f64 bytes = static_cast<f64>(trip.global_load + trip.global_store);
    return bytes * waves_per_simd * simds_per_wgp * part.wgps / per_cycle;
}

} // namespace nw::cli
