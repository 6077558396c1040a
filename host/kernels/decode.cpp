// SPDX-License-Identifier: MIT
#include "kernels/decode.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "kernels/kernarg.h"
#include "kernels/rules.h"

namespace nw {

namespace {

// A wave addresses up to this many rows from one base with 32-bit offsets.
constexpr u64 rows_per_wave = 4;
constexpr u64 offset_limit = u64{1} << 32;

constexpr Rules rules("decode_w4a16");

u32 group_length(const W4A16 &p) { return p.group == per_row ? p.k : p.group; }

// Zero points of two bytes, or of four for eight rows.
void check_zeros(const W4A16 &p) {
    if (p.zeros == Zeros::eight) {
        rules.need(
            !p.z,
            "z is given, but zeros are eight: say in `zeros` which form it has, or pass null");
        return;
    }
    const u64 each = p.zeros == Zeros::packed ? 4 : 2, row = each * (p.k / p.group);
    rules.pointer("z", p.z, each);
    rules.need(p.z_stride >= row, "z_stride = {}: must be at least a row, {}*K/G = {} bytes",
               p.z_stride, each, row);
    rules.need(p.z_stride % each == 0,
               "z_stride = {}: must be a multiple of {}; pad rows to {} bytes", p.z_stride, each,
               round_up<u64>(p.z_stride, each));
    rules.need(p.z_stride < offset_limit / rows_per_wave,
               "z_stride = {}: must be below {}, as {} rows share a 32-bit offset", p.z_stride,
               offset_limit / rows_per_wave, rows_per_wave);
}

void check_strides(const W4A16 &p) {
    const u64 row = p.k / 2, scale_row = u64{2} * (p.k / group_length(p));
    rules.need(p.w_stride >= row, "w_stride = {}: must be at least a row, K/2 = {} bytes",
               p.w_stride, row);
    rules.need(p.w_stride % 16 == 0,
               "w_stride = {}: must be a multiple of 16; pad rows to {} bytes", p.w_stride,
               round_up<u64>(p.w_stride, 16));
    rules.need(p.s_stride >= scale_row, "s_stride = {}: must be at least a row, 2*K/G = {} bytes",
               p.s_stride, scale_row);
    rules.need(p.s_stride % 2 == 0, "s_stride = {}: must be even; pad rows to {} bytes", p.s_stride,
               round_up<u64>(p.s_stride, 2));
    rules.need(p.w_stride < offset_limit / rows_per_wave,
               "w_stride = {}: must be below {}, as {} rows share a 32-bit offset; split K",
               p.w_stride, offset_limit / rows_per_wave, rows_per_wave);
    rules.need(p.s_stride < offset_limit / rows_per_wave,
               "s_stride = {}: must be below {}, as {} rows share a 32-bit offset", p.s_stride,
               offset_limit / rows_per_wave, rows_per_wave);
    check_zeros(p);
    rules.need(u64{2} * p.m * p.k < offset_limit,
               "m * k = {}: A must be smaller than 2^32 bytes; split K", u64{p.m} * p.k);
    rules.need(u64{2} * p.m * p.n < offset_limit,
               "m * n = {}: C must be smaller than 2^32 bytes; split N", u64{p.m} * p.n);
}

void check_overlap(const W4A16 &p) {
    const u64 groups = p.k / group_length(p);
    const Rules::Range c = Rules::rows("c", p.c, 1, 0, u64{2} * p.m * p.n);
    const Rules::Range z = p.zeros == Zeros::packed
                               ? Rules::rows("z", p.z, ceil_div(p.n, 8u), p.z_stride, 4 * groups)
                               : Rules::rows("z", p.z, p.n, p.z_stride, 2 * groups);
    for (const Rules::Range &in : {Rules::rows("a", p.a, 1, 0, u64{2} * p.m * p.k),
                                   Rules::rows("w", p.w, p.n, p.w_stride, p.k / 2),
                                   Rules::rows("s", p.s, p.n, p.s_stride, 2 * groups), z,
                                   Rules::rows("bias", p.bias, 1, 0, u64{2} * p.n)})
        rules.apart(c, in);
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
    rules.need(p.m >= 1 && p.m <= 8,
               "m = {}: must be 1..8; split larger batches into launches of 8", p.m);
    rules.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
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
    rules.need(p.group == 32 || p.group == 64 || p.group == 128,
               "group = {}: must be 32, 64, 128 or per row; repeat the scales of larger groups",
               p.group);
    rules.need(p.k > 0, "k = 0: must be a positive multiple of the group size {}", p.group);
    rules.need(
        p.k % p.group == 0,
        "k = {}: must be a multiple of the group size {}; pad activations and weights with zeros "
        "to k = {}",
        p.k, p.group, round_up<u64>(p.k, p.group));
}

void validate(const W4A16 &p) {
    validate_shape(p);
    rules.pointer("a", p.a, 16);
    rules.pointer("w", p.w, 16);
    rules.pointer("s", p.s, 2);
    if (p.bias)
        rules.pointer("bias", p.bias, 2);
    rules.pointer("c", p.c, 2);
    check_strides(p);
}

u32 grid(const Kernel &kernel, u32 n, u32 wgps) {
    const u64 tiles = std::max<u64>(ceil_div<u64>(n, kernel.rows_per_workgroup), 1);
    const u32 simd_waves = std::min(kernel.waves_per_simd, kernel.number("simd_waves"));
    const u64 most = u64{wgps} * std::max(4 * simd_waves / (kernel.block / 32), 1u);
    return static_cast<u32>(ceil_div(tiles, ceil_div(tiles, most)));
}

void launch(Modules &modules, const W4A16 &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose(modules.device().info().gfx, p.dtype, p.group, p.m, p.zeros, p.n, p.k),
           p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const W4A16 &p, const hip::Stream &stream) {
    launch(modules, kernel, p, grid(kernel, p.n, modules.device().info().compute_units), stream);
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
    check_overlap(p);
    modules.device().launch(modules.function(kernel), workgroups, kernel.block, 0, kernarg.bytes(),
                            stream);
}

} // namespace nw
