// SPDX-License-Identifier: MIT
#include "measure/splitk.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "runtime/catalogue.h"

namespace nw {

namespace {

constexpr u32 lds_elements = 32768; // 64 KiB hold all activations
constexpr u32 waves_per_group = 16;

} // namespace

u32 fewest_waves(u32 n, u32 wgps, u32 rows) {
    const u32 rounds = ceil_div(n, wgps * rows * waves_per_group);
    u32 waves = waves_per_group - 12;
    while (ceil_div(n, wgps * rows * waves) != rounds)
        ++waves;
    return waves;
}

SplitKGeometry published_geometry(u32 m, u32 n, u32 k, u32 wgps) {
    if (u64{m} * k > lds_elements)
        throw Error(fmt::format("splitk_w4a16: m * k = {}: above {} another kernel is used",
                                u64{m} * k, lds_elements));
    const u32 rounds = ceil_div(n, 4 * wgps); // of a row for each SIMD
    const auto with_waves = [&](u32 rows, u32 unroll) {
        return SplitKGeometry{rows, unroll, fewest_waves(n, wgps, rows)};
    };
    if (m == 1)
        return rounds >= 30 ? with_waves(2, 4) : with_waves(1, 4);
    if (m == 2)
        return with_waves(2, 2);
    if (rounds >= 40)
        return with_waves(4, 1);
    return k <= 2048 || k >= 4096 ? with_waves(2, 4) : with_waves(2, 2);
}

const Kernel &find_splitk(std::string_view gfx, Dtype dtype, u32 group, u32 m, bool zeros,
                          const SplitKGeometry &g) {
    for (const Kernel &k : kernels())
        if (k.gfx == gfx && k.family == "splitk_w4a16" && k.param("dtype") == name(dtype) &&
            k.p.group == group && k.p.m == m && k.param("zeros") == (zeros ? "zp" : "sym") &&
            k.p.rows == g.rows && k.p.unroll == g.unroll)
            return k;
    throw Error(fmt::format("splitk_w4a16: no kernel for {} g{} {} m{} rows {} unroll {} on {}; "
                            "asm/splitk_w4a16/family.toml lists what there is",
                            name(dtype), group, zeros ? "zp" : "sym", m, g.rows, g.unroll, gfx));
}

} // namespace nw
