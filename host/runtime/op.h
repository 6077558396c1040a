// SPDX-License-Identifier: MIT
// What a launch is asked for: sizes, device pointers and strides, by the names that contracts
// (asm/<family>/family.toml) give them. A product, a mixture of experts, a conversion is an Op.
#pragma once
#include <cstdint>

#include "base/targets.h"
#include "base/types.h"
#include "runtime/arithmetic.h"
#include "runtime/words.h"

namespace nw {

// What is to be done; several families may know how. One for each `op` of the contracts.
enum class OpKind : u8 {
#include "op_kinds.inc"
};

// Of a value that a caller may choose: as the contract says.
inline constexpr u64 automatic = ~u64{0};

// One scale for a whole row of weights, in place of a group's length.
inline constexpr u64 per_row = 0xffffffff;

// Sizes are counts of elements, strides are bytes, pointers are device addresses; dtype, type and
// zeros are words. What an op does not have stays as it is here.
struct Op {
    OpKind kind{};
#include "op_fields.inc"
};

inline u64 address(const void *pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// What an op runs on.
struct Machine {
    const Target *target = nullptr;
    u32 wgps = 0;
};

} // namespace nw
