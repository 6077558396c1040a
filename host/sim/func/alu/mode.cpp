// SPDX-License-Identifier: MIT
#include "sim/func/alu/mode.h"

#include "sim/func/choices.h"

namespace nw::sim {

namespace {

// x86 MXCSR fields. RC counts nearest, down, up, zero; MODE counts nearest, up, down, zero.
constexpr u32 flush_inputs = 1 << 6, flush_results = 1 << 15;
constexpr u32 rounding_control[] = {0u << 13, 2u << 13, 1u << 13, 3u << 13};

// Denorm field: bit 0 lets subnormal inputs in, bit 1 subnormal results out.
u32 mxcsr(u32 round, u32 denorm) {
    return mxcsr_default | rounding_control[round] | (denorm & 1 ? 0 : flush_inputs) |
           (denorm & 2 ? 0 : flush_results);
}

} // namespace

void Mode::update() {
    u32 denorm32 = bits >> 4 & 3, denorm16_64 = bits >> 6 & 3;
    round32 = bits & 3;
    round16_64 = bits >> 2 & 3;
    dx10_clamp = gfx12 || (bits >> 8 & 1);
    ieee = gfx12 || (bits >> 9 & 1);
    const bool quiets = ieee || choices().snan_without_ieee == choice::snan_without_ieee::quieted;
    quiet32 = quiets ? 1u << 22 : 0;
    quiet64 = quiets ? u64{1} << 51 : 0;
    signalling_wins = ieee && !gfx12;
    zeros_equal = !ieee && choices().minmax_zeros == choice::minmax_zeros::equal;
    fp16_ovfl = bits >> 23 & 1;
    keep32 = denorm32 & 1 ? ~0u : 0x80000000;
    keep16 = denorm16_64 & 1 ? 0xffff : 0x8000;
    flush16_out = !(denorm16_64 & 2);
    mxcsr32 = mxcsr(round32, denorm32);
    mxcsr64 = mxcsr(round16_64, denorm16_64);
}

} // namespace nw::sim
