// SPDX-License-Identifier: MIT
#include "ref/prefill.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ref/moe.h"

namespace nw::ref {

std::vector<f64> gated(const std::vector<f64> &y, u64 m, u64 n) {
    const u64 columns = n / 2;
    std::vector<f64> out;
    for (u64 row = 0; row < m; ++row)
        for (u64 i = 0; i < columns; ++i)
            out.push_back(silu(y[row * n + i]) * y[row * n + i + columns]);
    return out;
}

PrefillResult prefill_w4a16(const DecodeW4A16 &p, bool silu_gate_up) {
    if (silu_gate_up && p.n % 2)
        throw Error(fmt::format("n = {}: gate and up must have the same number of rows", p.n));
    PrefillResult out{decode_w4a16(p), {}};
    out.c = silu_gate_up ? gated(out.y.c, p.m, p.n) : out.y.c;
    return out;
}

} // namespace nw::ref
