// SPDX-License-Identifier: MIT
// Facts of the targets, from gen/targets.toml, which describes each and cites its note. Nothing
// else depends on the name of a gfx.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/types.h"

namespace nw {

enum class Generation : u8 { gfx10, gfx11, gfx12 };

// Series: targets with the same hazards and costs. One bit each: a generic target has several.
namespace series {
enum Bits : u8 { gfx101x = 1, gfx103x = 2, gfx110x = 4, gfx115x = 8, gfx120x = 16 };
}

struct Target {
    std::string_view name; // "gfx1151", "gfx11-generic"; ends with a zero
    Generation generation;
    u8 series;      // bits of series::Bits
    bool supported; // kernels are built for it and it is simulated; else it is only decoded
    bool generic;   // code for all targets of its series

    // Of all targets.
    u32 elf_machine;
    bool init16;

    // Of supported ones; else zeros.
    u32 user_sgprs, entry_sgprs;
    std::string_view wg_x;
    bool split_waits, split_barrier;
    bool packed_ids, own_scratch, old_names, delay_alu, dealloc_vgprs;
    std::string_view stream;
    u32 simds_per_wgp, max_waves, vgprs_per_simd, vgpr_granule;
    u32 lds_per_wgp, lds_per_workgroup, lds_block;
    u32 simd_waves;
    u32 row_period, row_pad;
    bool vopd;
    u32 vopd_banks;
    bool dot2, dot4, dot4_signs, dot2_subnormal, dot2acc, salu_float;
    u32 clock_bits;
    bool trans_use;
    std::string_view wmma;
    u32 wmma_macs, unpack_rows;
    u32 scratch_bits;
    std::string_view costs;

    // True if it runs code for `other`.
    bool runs(const Target &other) const {
        return name == other.name || (other.generic && (other.series & series) != 0);
    }
};

std::span<const Target> targets();       // that are supported
std::span<const Target> known_targets(); // also unsupported and generic ones

// By gfx, or HIP's gcnArchName: features after a colon are ignored. Null: unknown.
const Target *find_target(std::string_view gfx);

bool is_generic(std::string_view gfx); // "gfx11-generic"

// The same as find_target, but throws Error for unknown names.
const Target &target_of(std::string_view gfx);

// "gfx1100, gfx1101, ...": the supported ones, for messages.
std::string target_names();

} // namespace nw
