// SPDX-License-Identifier: MIT
#include "ref/prefill.h"

#include <fmt/format.h>

#include "base/error.h"
#include "ref/moe.h"

namespace nw::ref {

PrefillResult prefill_w4a16(const DecodeW4A16 &p, bool silu_gate_up) {
    if (silu_gate_up && p.n % 2)
        throw Error(fmt::format("n = {}: gate and up must have as many rows as each other", p.n));
    PrefillResult out{decode_w4a16(p), {}};
    out.c = out.y.c;
    if (!silu_gate_up)
        return out;
    const u64 columns = p.n / 2;
    out.c.resize(p.m * columns);
    for (u64 m = 0; m < p.m; ++m)
        for (u64 i = 0; i < columns; ++i) {
            const f64 *y = &out.y.c[m * p.n];
            out.c[m * columns + i] = silu(y[i]) * y[i + columns];
        }
    return out;
}

} // namespace nw::ref
