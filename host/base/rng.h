// SPDX-License-Identifier: MIT
// Counter-based random numbers: the i-th value depends on (seed, i) alone, so data can be generated
// in parallel, in any order, and reproduced from a printed seed.
#pragma once
#include "base/types.h"

namespace nw {

// The output function of splitmix64.
constexpr u64 mix(u64 x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

class Rng {
public:
    constexpr explicit Rng(u64 seed) : seed_(mix(seed + golden)) {}

    constexpr u64 at(u64 i) const { return mix(seed_ + (i + 1) * golden); }
    constexpr u64 next() { return at(count_++); }
    // In [0, n), n < 2^32; the bias of the multiply-shift is below n / 2^32.
    constexpr u32 below(u32 n) { return static_cast<u32>((next() >> 32) * n >> 32); }
    // In [0, 1).
    constexpr f32 unit() { return static_cast<f32>(next() >> 40) * 0x1p-24f; }

    // Approximately standard normal: the sum of four uniform values, centred and scaled to variance
    // 1. Its tails end at +-3.46, a realistic group maximum for a quantizer.
    constexpr f32 normal_at(u64 i) const {
        const u64 x = at(i);
        const i32 sum =
            static_cast<i32>((x & 0xffff) + (x >> 16 & 0xffff) + (x >> 32 & 0xffff) + (x >> 48)) -
            2 * 65535;
        return static_cast<f32>(sum) * (1.7320508f / 65536.0f); // variance 4/12 * 65536^2
    }
    constexpr f32 normal() { return normal_at(count_++); }

    // An independent generator, for one tensor, layer or test.
    constexpr Rng fork(u64 stream) const { return Rng(at(~stream)); }

private:
    static constexpr u64 golden = 0x9e3779b97f4a7c15;
    u64 seed_;
    u64 count_ = 0;
};

} // namespace nw
