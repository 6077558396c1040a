// SPDX-License-Identifier: MIT
#include "kernels/decode.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "kernels/kernarg.h"

namespace nw {

namespace {

// A wave addresses up to this many rows from one base with 32-bit offsets.
constexpr u64 rows_per_wave = 4;
constexpr u64 offset_limit = u64{1} << 32;

u32 group_length(const W4A16 &p) { return p.group == per_row ? p.k : p.group; }

template <class... Args> void need(bool holds, fmt::format_string<Args...> text, Args &&...args) {
    if (!holds)
        throw Error(
            fmt::format("decode_w4a16: {}", fmt::format(text, std::forward<Args>(args)...)));
}

void check_pointer(const char *argument, const void *pointer, u64 alignment) {
    const u64 address = reinterpret_cast<std::uintptr_t>(pointer);
    need(pointer != nullptr, "{} is null: it must point to device memory", argument);
    need(address % alignment == 0,
         "{} = {:#x}: must be {}-byte aligned; allocations of hipMalloc are", argument, address,
         alignment);
}

// Zero points of two bytes, or of four for eight rows.
void check_zeros(const W4A16 &p) {
    if (p.zeros == Zeros::eight) {
        need(!p.z,
             "z is given, but zeros are eight: say in `zeros` which form it has, or pass null");
        return;
    }
    const u64 each = p.zeros == Zeros::packed ? 4 : 2, row = each * (p.k / p.group);
    check_pointer("z", p.z, each);
    need(p.z_stride >= row, "z_stride = {}: must be at least a row, {}*K/G = {} bytes", p.z_stride,
         each, row);
    need(p.z_stride % each == 0, "z_stride = {}: must be a multiple of {}; pad rows to {} bytes",
         p.z_stride, each, round_up<u64>(p.z_stride, each));
    need(p.z_stride < offset_limit / rows_per_wave,
         "z_stride = {}: must be below {}, as {} rows share a 32-bit offset", p.z_stride,
         offset_limit / rows_per_wave, rows_per_wave);
}

void check_strides(const W4A16 &p) {
    const u64 row = p.k / 2, scale_row = u64{2} * (p.k / group_length(p));
    need(p.w_stride >= row, "w_stride = {}: must be at least a row, K/2 = {} bytes", p.w_stride,
         row);
    need(p.w_stride % 16 == 0, "w_stride = {}: must be a multiple of 16; pad rows to {} bytes",
         p.w_stride, round_up<u64>(p.w_stride, 16));
    need(p.s_stride >= scale_row, "s_stride = {}: must be at least a row, 2*K/G = {} bytes",
         p.s_stride, scale_row);
    need(p.s_stride % 2 == 0, "s_stride = {}: must be even; pad rows to {} bytes", p.s_stride,
         round_up<u64>(p.s_stride, 2));
    need(p.w_stride < offset_limit / rows_per_wave,
         "w_stride = {}: must be below {}, as {} rows share a 32-bit offset; split K", p.w_stride,
         offset_limit / rows_per_wave, rows_per_wave);
    need(p.s_stride < offset_limit / rows_per_wave,
         "s_stride = {}: must be below {}, as {} rows share a 32-bit offset", p.s_stride,
         offset_limit / rows_per_wave, rows_per_wave);
    check_zeros(p);
    need(u64{2} * p.m * p.k < offset_limit,
         "m * k = {}: A must be smaller than 2^32 bytes; split K", u64{p.m} * p.k);
    need(u64{2} * p.m * p.n < offset_limit,
         "m * n = {}: C must be smaller than 2^32 bytes; split N", u64{p.m} * p.n);
}

struct Range {
    const char *argument;
    u64 begin, bytes;
};

// What a kernel reads, or writes, of rows so many bytes apart.
Range rows(const char *argument, const void *from, u64 count, u64 stride, u64 row) {
    return {argument, reinterpret_cast<std::uintptr_t>(from), (count - 1) * stride + row};
}

// A workgroup may read what another one has overwritten already.
void check_overlap(const W4A16 &p) {
    const u64 groups = p.k / group_length(p);
    const Range c = rows("c", p.c, 1, 0, u64{2} * p.m * p.n);
    const Range z = p.zeros == Zeros::packed
                        ? rows("z", p.z, ceil_div(p.n, 8u), p.z_stride, 4 * groups)
                        : rows("z", p.z, p.n, p.z_stride, 2 * groups);
    for (const Range &in :
         {rows("a", p.a, 1, 0, u64{2} * p.m * p.k), rows("w", p.w, p.n, p.w_stride, p.k / 2),
          rows("s", p.s, p.n, p.s_stride, 2 * groups), z, rows("bias", p.bias, 1, 0, u64{2} * p.n)})
        need(in.begin == 0 || (in.begin - c.begin >= c.bytes && c.begin - in.begin >= in.bytes),
             "c = {:#x}, {} bytes, overlaps {} = {:#x}, {} bytes: give the result memory of its "
             "own",
             c.begin, c.bytes, in.argument, in.begin, in.bytes);
}

Kernarg pack(const Kernel &kernel, const W4A16 &p, u32 groups) {
    Kernarg out(kernel);
    out.put("a", p.a);
    out.put("w", p.w);
    out.put("s", p.s);
    out.put("bias", p.bias);
    out.put("c", p.c);
    out.put("n", p.n);
    out.put("k", p.k);
    out.put("w_stride", static_cast<u32>(p.w_stride));
    out.put("s_stride", static_cast<u32>(p.s_stride));
    out.put("z", p.z);
    out.put("z_stride", static_cast<u32>(p.z_stride));
    out.put("groups", groups);
    return out;
}

} // namespace

// Every other group size is a multiple of 16, so a K of whole groups is one too.
void validate_shape(const W4A16 &p) {
    need(p.m >= 1 && p.m <= 8, "m = {}: must be 1..8; split larger batches into launches of 8",
         p.m);
    need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    if (p.group == per_row) {
        need(p.k >= 32 && p.k % 16 == 0,
             "k = {}: must be a multiple of 16 and at least 32; pad activations and weights with "
             "zeros to k = {}",
             p.k, round_up<u64>(std::max(p.k, 32u), 16));
        need(p.zeros == Zeros::eight,
             "zeros are {}, groups per row: one scale a row is for symmetric quantization; repeat "
             "scales and zero points for groups of 128",
             zeros_name(p.zeros));
        return;
    }
    need(p.group == 32 || p.group == 64 || p.group == 128,
         "group = {}: must be 32, 64, 128 or per row; repeat the scales of larger groups", p.group);
    need(p.k > 0, "k = 0: must be a positive multiple of the group size {}", p.group);
    need(p.k % p.group == 0,
         "k = {}: must be a multiple of the group size {}; pad activations and weights with zeros "
         "to k = {}",
         p.k, p.group, round_up<u64>(p.k, p.group));
}

void validate(const W4A16 &p) {
    validate_shape(p);
    check_pointer("a", p.a, 16);
    check_pointer("w", p.w, 16);
    check_pointer("s", p.s, 2);
    if (p.bias)
        check_pointer("bias", p.bias, 2);
    check_pointer("c", p.c, 2);
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
    need(workgroups >= 1 && workgroups <= most,
         "workgroups = {}: must be 1..{}, a workgroup for {} rows", workgroups, most,
         kernel.rows_per_workgroup);
    const Kernarg kernarg = pack(kernel, p, workgroups);
    check_overlap(p);
    modules.device().launch(modules.function(kernel), workgroups, kernel.block, 0, kernarg.bytes(),
                            stream);
}

} // namespace nw
