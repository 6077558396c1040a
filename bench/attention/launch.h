// SPDX-License-Identifier: MIT
// What all tables of the suite attention launch with: tensors, and the time of a kernel.
#pragma once
#include <vector>

#include "base/half.h"
#include "bench/timing.h"
#include "hip/hip.h"
#include "runtime/modules.h"

namespace nw::bench {

template <class T> hip::Buffer upload(const hip::Device &device, const std::vector<T> &values) {
    hip::Buffer out = device.allocate(values.size() * sizeof(T));
    out.upload(values.data(), values.size() * sizeof(T));
    return out;
}

// Values near a standard normal: logits, and with them how often sums are rescaled, are as usual.
hip::Buffer normal_values(const hip::Device &, Dtype, u64 elements, u64 seed);

// One launch; loading the kernel is no part of its time.
Timed time_launch(const hip::Device &, Modules &, const Kernel &, const Op &);

} // namespace nw::bench
