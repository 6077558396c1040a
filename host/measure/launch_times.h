// SPDX-License-Identifier: MIT
// Times each launch of a product with GGUF weights, dense or of experts: of the activations, of the
// lists of slots, and of the product itself. Operands are allocated by the kernels' contracts.
#pragma once
#include <functional>
#include <span>
#include <string_view>

#include "hip/hip.h"
#include "runtime/launch.h"

namespace nw {

// The kernel of the plan or, if that is in slices, the cheapest one; null where that takes several
// launches too.
const Kernel *choose_unsliced(std::string_view gfx, const Op &);
// By blocks of so many slots, 1: slot by slot. Throws Error where there is no such kernel.
const Kernel &choose_by_block(std::string_view gfx, const Op &, u32 block_size);

// The launches before the product's; null where it has none.
const Kernel *convert_before(const Kernel &product);
const Kernel *lists_before(const Kernel &product);
inline u32 block_size(const Kernel &product) { return lists_before(product) ? product.p.bm : 1; }

// Bytes of the activations as the product takes them.
u64 activation_bytes(const Kernel &product, const Op &sizes);
// Bytes of LDS that a launch asks for besides the kernel's own.
u32 dynamic_lds_of(const Kernel &, Op, u32 wgps);

struct TimedLaunches {
    const Kernel &product;
    Op sizes;
    std::span<const i32> routes = {}; // slots' experts; empty for a dense product
    const Op *rows = nullptr; // sizes of a launch that quantizes a, where no kernel's contract does
};

struct LaunchTimes {
    f64 us = 0, convert_us = 0, lists_us = 0; // us: of the product; lists_us: 0 without blocks
};

// Warm: all launches run once before, the product by one round of workgroups or one block, on other
// weights: caches have none of the timed ones, the part is awake. No: a part as new.
enum class Warm : u8 { yes, no };

// Of several runs the medians, each with weights that were not touched for long. Of blocks only
// those with slots are launched: the simulated GPU extrapolates from the first workgroups, and
// empty ones end at once. `launched` is called after each launch, those before the timed ones too.
LaunchTimes time_launches(const hip::Device &, const TimedLaunches &, u32 runs = 1,
                          const std::function<void(const Kernel &)> &launched = {},
                          Warm = Warm::yes);

} // namespace nw
