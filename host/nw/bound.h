// SPDX-License-Identifier: MIT
// What a piece of a kernel keeps each unit of the modelled GPU busy, at least: a static count of
// cycles. Latency, caches, bank conflicts and addresses that don't follow each other are not in it.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "lint/survey.h"
#include "sim/timing/op_facts.h"

namespace nw::cli {

// Issue is a wave's own: one instruction a cycle, and what branches and s_nop take. A VALU
// instruction keeps the VALU of its SIMD (VOPD one cycle a pair, WMMA its interval, TRANS a cycle),
// TRANS a quarter of it for longer; SALU and the port of vector memory are a SIMD's, too. LDS (a
// phase a cycle, T-052) and the vector memory path (addresses, lines, 128 bytes a cycle from L0,
// T-013) are those of a CU, of two SIMDs; scalar memory is a WGP's, of four.
enum class BoundUnit : u8 { issue, valu, trans, salu, vmem_port, lds, vmem, smem, count };
std::string_view name(BoundUnit);
u32 simds_of(BoundUnit); // that share one; 0: each wave has its own

// Cycles of one wave.
struct UnitCycles {
    std::array<f64, static_cast<size_t>(BoundUnit::count)> of{};
    f64 operator[](BoundUnit u) const { return of[static_cast<size_t>(u)]; }
    UnitCycles &operator+=(const UnitCycles &);
    UnitCycles operator*(f64 times) const;
};

// Of all waves that share a unit, when each SIMD has so many.
f64 shared_cycles(const UnitCycles &, BoundUnit, f64 waves_per_simd);
BoundUnit bound(const UnitCycles &, f64 waves_per_simd); // the unit where that is most

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

// Cycles of a loop's trip if all bytes of global memory came from or went to DRAM, with so many
// waves on each SIMD of the part.
f64 dram_cycles(const lint::Work &trip, const sim::timing::Part &, f64 waves_per_simd);

} // namespace nw::cli
