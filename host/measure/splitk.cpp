// SPDX-License-Identifier: MIT
#include "measure/splitk.h"

#include <cstdint>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "runtime/kernarg.h"

namespace nw {

namespace {

constexpr std::string_view family = "splitk_w4a16";
constexpr u32 lds_elements = 32768; // 64 KiB hold all activations
constexpr u32 waves_per_group = 16;

template <class... Args> void need(bool holds, fmt::format_string<Args...> text, Args &&...args) {
    if (!holds)
        throw Error(
            fmt::format("splitk_w4a16: {}", fmt::format(text, std::forward<Args>(args)...)));
}

bool matches(const Kernel &k, const SplitK &p) {
    return k.family == family && k.param("dtype") == name(p.dtype) &&
           k.number("group") == p.group && k.number("m") == p.m &&
           k.param("zeros") == (p.z ? "zp" : "sym");
}

void check_pointer(const char *argument, const void *pointer, u64 alignment) {
    const u64 address = reinterpret_cast<std::uintptr_t>(pointer);
    need(pointer != nullptr, "{} is null: it must point to device memory", argument);
    need(address % alignment == 0, "{} = {:#x}: must be {}-byte aligned", argument, address,
         alignment);
}

void check(const Kernel &kernel, const SplitK &p, u32 groups, u32 waves) {
    need(matches(kernel, p), "{} is not for {} g{} {} m{}", kernel.symbol, name(p.dtype), p.group,
         p.z ? "zp" : "sym", p.m);
    const u32 rows = kernel.number("rows");
    need(p.n > 0 && p.n % rows == 0, "n = {}: must be a positive multiple of {}", p.n, rows);
    need(p.k > 0 && p.k % p.group == 0, "k = {}: must be a positive multiple of the group size {}",
         p.k, p.group);
    need(u64{p.m} * p.k <= lds_elements, "m * k = {}: all activations must fit LDS, {} elements",
         u64{p.m} * p.k, lds_elements);
    check_pointer("a", p.a, 16);
    check_pointer("w", p.w, 16);
    check_pointer("s", p.s, 2);
    if (p.z)
        check_pointer("z", p.z, 2);
    check_pointer("c", p.c, 2);
    const u64 row = p.k / 2, scale_row = u64{2} * (p.k / p.group);
    need(p.w_stride >= row && p.w_stride % 16 == 0,
         "w_stride = {}: must be a multiple of 16 and at least a row, K/2 = {} bytes", p.w_stride,
         row);
    need(p.s_stride >= scale_row && p.s_stride % 2 == 0,
         "s_stride = {}: must be even and at least a row, 2*K/G = {} bytes", p.s_stride, scale_row);
    // Rows are counted in 32-bit dwords of w and elements of s.
    need(p.w_stride / 4 < (u64{1} << 32) / p.n, "n * w_stride: must be below 16 GiB; split N");
    need(p.s_stride / 2 < (u64{1} << 32) / p.n, "n * s_stride: must be below 8 GiB; split N");
    need(waves >= 1 && waves <= waves_per_group, "waves = {}: must be 1..{}", waves,
         waves_per_group);
    need(groups >= 1 && u64{groups} * waves_per_group * rows + p.n < u64{1} << 31,
         "groups = {}: must be at least 1, and rows of a round plus n below 2^31", groups);
}

} // namespace

u32 fewest_waves(u32 n, u32 wgps, u32 rows) {
    const u32 rounds = ceil_div(n, wgps * rows * waves_per_group);
    u32 waves = waves_per_group - 12;
    while (ceil_div(n, wgps * rows * waves) != rounds)
        ++waves;
    return waves;
}

SplitKGeometry published_geometry(u32 m, u32 n, u32 k, u32 wgps) {
    need(u64{m} * k <= lds_elements, "m * k = {}: above {} another kernel is used", u64{m} * k,
         lds_elements);
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

const Kernel &find_splitk(std::string_view gfx, const SplitK &p, const SplitKGeometry &g) {
    for (const Kernel &k : kernels())
        if (k.gfx == gfx && matches(k, p) && k.number("rows") == g.rows &&
            k.number("unroll") == g.unroll)
            return k;
    throw Error(fmt::format("splitk_w4a16: no kernel for {} g{} {} m{} rows {} unroll {} on {}; "
                            "gen/kernels.toml lists what there is",
                            name(p.dtype), p.group, p.z ? "zp" : "sym", p.m, g.rows, g.unroll,
                            gfx));
}

void launch(Modules &modules, const Kernel &kernel, const SplitK &p, u32 groups, u32 waves,
            const hip::Stream &stream) {
    check(kernel, p, groups, waves);
    Kernarg args(kernel);
    args.put("a", p.a);
    args.put("w", p.w);
    args.put("s", p.s);
    args.put("z", p.z);
    args.put("c", p.c);
    args.put("n", p.n);
    args.put("k", p.k);
    args.put("w_stride", static_cast<u32>(p.w_stride));
    args.put("s_stride", static_cast<u32>(p.s_stride));
    args.put("waves", waves);
    args.put("groups", groups);
    modules.device().launch(modules.function(kernel), groups, kernel.block, 0, args.bytes(),
                            stream);
}

} // namespace nw
