// SPDX-License-Identifier: MIT
#include "runtime/decode.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "runtime/kernarg.h"
#include "runtime/operands.h"

namespace nw {

namespace {

// A wave addresses up to this many rows from one base with 32-bit offsets.
constexpr u64 offset_limit = u64{1} << 32;
constexpr Reach reach{offset_limit / 4, "as 4 rows share a 32-bit offset"};

constexpr Rules rules("decode_w4a16");

void check_sizes(const W4A16 &p) {
    rules.need(u64{2} * p.m * p.k < offset_limit,
               "m * k = {}: A must be smaller than 2^32 bytes; split K", u64{p.m} * p.k);
    rules.need(u64{2} * p.m * p.n < offset_limit,
               "m * n = {}: C must be smaller than 2^32 bytes; split N", u64{p.m} * p.n);
}

Kernarg pack(const Kernel &kernel, const W4A16 &p, u32 groups) {
    Kernarg out(kernel);
    put_operands(out, p);
    out.put("groups", groups);
    return out;
}

} // namespace

// Every other group size is a multiple of 16, so a K of whole groups is one too.
void validate_shape(const W4A16 &p) {
    rules.need(p.m >= 1 && p.m <= decode_rows,
               "m = {}: must be 1..{}; larger batches are prefill_w4a16's", p.m, decode_rows);
    rules.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    rules.need(p.zeros != Zeros::carrier,
               "zeros are in the carrier: prefill_w4a16 takes that, of any m; here give scales, "
               "and packed or typed zero points");
    rules.need(!p.silu_gate_up,
               "silu_gate_up is set: mid_w4a16, prefill_w4a16 and moe_w4a16 have that epilogue");
    if (p.group == per_row) {
        rules.need(
            p.k >= 32 && p.k % 16 == 0,
            "k = {}: must be a multiple of 16 and at least 32; pad activations and weights with "
            "zeros to k = {}",
            p.k, round_up<u64>(std::max(p.k, 32u), 16));
        rules.need(
            p.zeros == Zeros::eight,
            "zeros are {}, groups per row: one scale a row is for symmetric quantization; repeat "
            "scales and zero points for groups of 128",
            zeros_name(p.zeros));
        return;
    }
    check_groups(rules, p.k, p.group, "32, 64, 128 or per row");
}

void validate(const W4A16 &p) {
    validate_shape(p);
    check_operands(rules, p, reach);
    check_sizes(p);
}

u32 grid(const Kernel &kernel, u32 n, u32 wgps, u32 of_wgp) {
    const u64 tiles = std::max<u64>(ceil_div<u64>(n, kernel.rows_per_workgroup), 1);
    const u32 simd_waves = std::min(kernel.waves_per_simd, kernel.number("simd_waves"));
    const u32 fit = std::min(4 * simd_waves / (kernel.block / 32), of_wgp);
    const u64 most = u64{wgps} * std::max(fit, 1u);
    return static_cast<u32>(ceil_div(tiles, ceil_div(tiles, most)));
}

void launch(Modules &modules, const W4A16 &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose(modules.device().info().gfx, p.dtype, p.group, p.m, p.zeros, p.n, p.k),
           p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const W4A16 &p, const hip::Stream &stream) {
    launch(modules, kernel, p, grid(kernel, p.n, modules.device().info().wgps), stream);
}

void launch(Modules &modules, const Kernel &kernel, const W4A16 &p, u32 workgroups,
            const hip::Stream &stream) {
    validate(p);
    if (!matches(kernel, p.dtype, p.group, p.m, p.zeros)) // the text costs more than a launch
        throw Error(fmt::format("decode_w4a16: {} is not for {}", kernel.symbol,
                                kind_label(p.dtype, p.group, p.m, p.zeros)));
    const u64 most = ceil_div<u64>(p.n, kernel.rows_per_workgroup);
    rules.need(workgroups >= 1 && workgroups <= most,
               "workgroups = {}: must be 1..{}, a workgroup for {} rows", workgroups, most,
               kernel.rows_per_workgroup);
    const Kernarg kernarg = pack(kernel, p, workgroups);
    check_overlap(rules, p);
    modules.device().launch(modules.function(kernel), workgroups, kernel.block, 0, kernarg.bytes(),
                            stream);
}

} // namespace nw
