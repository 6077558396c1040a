// SPDX-License-Identifier: MIT
// An operation: sizes, device pointers and strides, named as in the contracts
// (asm/<family>/family.toml). A product, a mixture of experts or a conversion is an Op.
#pragma once
#include <cstdint>

#include "base/targets.h"
#include "base/types.h"
#include "runtime/arithmetic.h"
#include "runtime/words.h"

namespace nw {

// Kind of operation, one for each `op` of the contracts; several families may implement it.
enum class OpKind : u8 {
#include "op_kinds.inc"
};

// For an optional value: the contract's default.
inline constexpr u64 automatic = ~u64{0};

// One scale for a whole row of weights, in place of a group's length.
inline constexpr u64 per_row = 0xffffffff;

// Sizes are counts of elements, strides are bytes, pointers are device addresses; dtype, type and
// zeros are words. Fields that an op does not use keep these defaults.
struct Op {
    OpKind kind{};
#include "op_fields.inc"
};

inline u64 address(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// The hardware that an op runs on.
struct Machine {
    const Target *target = nullptr;
    u32 wgps = 0;
};

} // namespace nw
