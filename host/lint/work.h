// SPDX-License-Identifier: MIT
// Work of instructions: counts by class, bytes moved, operations.
#pragma once
#include <array>

#include "base/types.h"
#include "sim/isa/classes.h"

namespace nw::lint {

// For one wave with all lanes on. Classes and bytes are those of HIPSIM_STATS: bytes that lanes
// request, an atomic's as read and as written; flat and scratch memory count as global.
struct Work {
    std::array<u64, static_cast<size_t>(sim::Class::count)> by_class{};
    u64 global_load = 0, global_store = 0, lds_read = 0, lds_write = 0; // bytes
    u64 scalar_load = 0;                                                // bytes, per wave
    u64 flops = 0;
    u64 wmma_clashes = 0; // WMMAs whose A and B start in the same VGPR bank (T-054)

    u64 operator[](sim::Class c) const { return by_class[static_cast<size_t>(c)]; }
    u64 instructions() const;
    // Operations per byte of global memory; 0 without bytes.
    f64 intensity() const;
    Work &operator+=(const Work &);
    Work operator*(u64 times) const;
};

Work work_of(const sim::Instruction &, u32 wave_size);

// Operations of one instruction, per lane, or per wave for WMMA and scalar ones.
//   add, sub, mul, TRANS of floats 1; fma, fmac 2; pk_ twice as many; dot2 4, dot4 8, dot8 16, also
// for integers; a VOPD pair the sum of its halves; WMMA 2 x M x N x K, 8192 for 16x16x16, also for
// integers; SWMMAC half of that (its nonzero terms). min, max, med3, comparisons, conversions,
// moves and integer arithmetic: 0.
struct Operations {
    u32 of_lane = 0, of_wave = 0;
};
Operations operations_of(const sim::Instruction &);

// A and B of a WMMA start in the same bank.
bool wmma_banks_clash(const sim::Instruction &);

} // namespace nw::lint
