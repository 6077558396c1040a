// SPDX-License-Identifier: MIT
// Lower bounds of the cycles that part of a kernel occupies each unit of the modelled GPU: a static
// count without latency, caches, bank conflicts and non-consecutive addresses.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "lint/survey.h"
#include "sim/timing/core/op_facts.h"

namespace nw::cli {

// Issue is per wave: one instruction per cycle, plus the cycles of branches and s_nop. A VALU
// instruction occupies the VALU of its SIMD (VOPD one cycle per pair, WMMA its interval, TRANS one
// cycle), TRANS its quarter-rate unit for longer. SALU and the vector memory port are per SIMD. LDS
// (one phase per cycle, T-052) and the vector memory path (addresses, lines, 128 bytes per cycle
// from L0, T-013) are per CU of two SIMDs; scalar memory is per WGP of four.
enum class BoundUnit : u8 { issue, valu, trans, salu, vmem_port, lds, vmem, smem, count };
std::string_view name(BoundUnit);
u32 simds_of(BoundUnit); // SIMDs that share one; 0: each wave has its own

// Cycles of one wave.
struct UnitCycles {
    std::array<f64, static_cast<size_t>(BoundUnit::count)> of{};
    f64 operator[](BoundUnit u) const { return of[static_cast<size_t>(u)]; }
    UnitCycles &operator+=(const UnitCycles &);
    UnitCycles operator*(f64 times) const;
};

// Cycles of all waves that share a unit, with this many waves on each SIMD.
f64 shared_cycles(const UnitCycles &, BoundUnit, f64 waves_per_simd);
BoundUnit bound(const UnitCycles &, f64 waves_per_simd); // the unit with the most cycles

class UnitCounter {
public:
    UnitCounter(const lint::Survey &, const sim::timing::ProgramFacts &,
                const sim::timing::Costs &);

    const UnitCycles &of_block(u32 block) const { return blocks_[block]; }
    UnitCycles of_trip(const lint::Loop &) const; // as Survey::trip has it, with one way back

private:
    UnitCycles of_instruction(u32 i) const;

    const lint::Survey &survey_;
    const sim::timing::ProgramFacts &facts_;
    const sim::timing::Costs &costs_;
    std::vector<UnitCycles> blocks_;
};

// Cycles per iteration of a loop if all global memory traffic went to DRAM, with this many waves on
// each SIMD of the part.
f64 dram_cycles(const lint::Work &trip, const sim::timing::Part &, f64 waves_per_simd);

} // namespace nw::cli
