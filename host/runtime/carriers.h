// SPDX-License-Identifier: MIT
// The carrier_w4a16 family, typed: what prefill takes as Zeros::carrier, made on the device from
// scales and packed zero points.
#pragma once
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "runtime/modules.h"
#include "runtime/registry.h"

namespace nw {

// One launch, as the kernel takes it. Pointers are device memory.
struct CarrierW4A16 {
    Dtype dtype;     // of s
    u32 n, k, group; // 1 <= n <= 2^26; group 32, 64 or 128, k a multiple of it
    const void *s;   // [N, K/G], 2-byte aligned
    const void *z;   // as of Zeros::packed: u32 [ceil(N/8), K/G], 4-byte aligned
    void *carrier;   // u32 [N, K/G], 4-byte aligned; overlaps neither
    // Bytes from row to row, at least a row, < 2^32: multiples of 2, 4 and 4.
    u64 s_stride, z_stride, carrier_stride;
};

// Throws Error where there is none for the gfx.
const Kernel &choose_carrier(std::string_view gfx, Dtype);

// Throws Error naming argument, value, rule and remedy.
void validate(const CarrierW4A16 &);

// Queues it on the device of `modules`. Throws Error, with nothing launched, where an argument
// breaks a rule.
void launch(Modules &, const CarrierW4A16 &, const hip::Stream & = {});

// The same with a kernel of the caller's choice, which must be for the dtype.
void launch(Modules &, const Kernel &, const CarrierW4A16 &, const hip::Stream & = {});

} // namespace nw
