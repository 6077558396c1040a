// SPDX-License-Identifier: MIT
#include "ref/argsort.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace nw::ref {

namespace {

// IEEE 754's total order: the bits of numbers below 0 count backwards.
i64 place(f32 x) {
    const i64 bits = std::bit_cast<i32>(x);
    return bits < 0 ? -1 - (bits & 0x7fffffff) : bits;
}

} // namespace

std::vector<i32> argsort(std::span<const f32> x, bool descending) {
    std::vector<i32> out(x.size());
    std::iota(out.begin(), out.end(), 0);
    std::ranges::stable_sort(out, [&](i32 a, i32 b) {
        return descending ? place(x[a]) > place(x[b]) : place(x[a]) < place(x[b]);
    });
    return out;
}

} // namespace nw::ref
