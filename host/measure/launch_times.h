// SPDX-License-Identifier: MIT
// Times each launch of a product with GGUF weights, dense or of experts: conversion of activations,
// lists of slots, and the product itself. Operands are allocated by the kernels' contracts.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "hip/hip.h"
#include "runtime/launch.h"

namespace nw {

// The kernel of the plan; if the plan has slices, the cheapest kernel that takes one launch, or
// null.
const Kernel *choose_unsliced(std::string_view gfx, const Op &);
// The kernel for blocks of block_size slots; 1: slot by slot. Throws Error if there is none.
const Kernel &choose_by_block(std::string_view gfx, const Op &, u32 block_size);

// The launches before the product's; null where it has none.
const Kernel *convert_before(const Kernel &product);
const Kernel *lists_before(const Kernel &product);
inline u32 block_size(const Kernel &product) { return lists_before(product) ? product.p.bm : 1; }

// Bytes of the activations as the product takes them.
u64 activation_bytes(const Kernel &product, const Op &sizes);
// Dynamic LDS of a launch, in bytes.
u32 dynamic_lds_of(const Kernel &, Op, u32 wgps);

struct TimedLaunches {
    const Kernel &product;
    Op sizes;
    std::span<const i32> routes = {}; // slots' experts; empty for a dense product
    const Op *rows = nullptr; // sizes of a launch that quantizes a, if no contract lists one
};

struct LaunchTimes {
    f64 us = 0, convert_us = 0, lists_us = 0; // us: of the product; lists_us: 0 without blocks
};

// Warm: one untimed pass on other weights, of the product one round of workgroups or one block
// (code cached, weights cold). No: cold device.
enum class Warm : u8 { yes, no };

// Medians of `runs` runs, each with cold weights. Only blocks with slots are launched: the
// simulated GPU extrapolates from the first workgroups, and empty ones end at once. `launched` is
// called after each launch, untimed ones included.
LaunchTimes time_launches(const hip::Device &, const TimedLaunches &, u32 runs = 1,
                          const std::function<void(const Kernel &)> &launched = {},
                          Warm = Warm::yes);

} // namespace nw
