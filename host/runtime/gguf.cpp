// SPDX-License-Identifier: MIT
#include "runtime/gguf.h"

#include <algorithm>
#include <array>

#include "formats/gguf_blocks.h"
#include "runtime/decode.h"
#include "runtime/gguf_operands.h"
#include "runtime/kernarg.h"

namespace nw {

namespace {

constexpr Rules quantize("quantize_q8"), decode("gguf_decode");
constexpr u64 offset_limit = u64{1} << 32;
constexpr u32 lds_limit = 65536, lds_of_wgp = 131072, lds_piece = 1024; // T-003
constexpr u32 few_wgps = 4;

template <class Block> constexpr GgufBlocks blocks_of(std::string_view type) {
    return {type, Block::elements, sizeof(Block)};
}

constexpr std::array types = {
    blocks_of<BlockQ4_0>("q4_0"),
    blocks_of<BlockQ8_0>("q8_0"),
    blocks_of<BlockQ4_K>("q4_K"),
    blocks_of<BlockQ6_K>("q6_K"),
};

bool matches(const Kernel &kernel, std::string_view type, u32 m) {
    return kernel.family == "gguf_decode" && kernel.param("type") == type &&
           kernel.number("m") == m;
}

} // namespace

std::span<const GgufBlocks> gguf_types() { return types; }

const GgufBlocks &gguf_blocks(std::string_view type) { return gguf_blocks(decode, type); }

u64 gguf_row_bytes(std::string_view type, u32 k) {
    const GgufBlocks &blocks = gguf_blocks(type);
    return u64{k} / blocks.elements * blocks.bytes;
}

const Kernel &choose_quantize_q8(std::string_view gfx) {
    const Kernel *kernel = find_default("quantize_q8", gfx, [](const Kernel &) { return true; });
    quantize.need(kernel, "gfx = {}: no kernel for it", gfx);
    return *kernel;
}

const Kernel &choose_gguf_decode(std::string_view gfx, std::string_view type, u32 m) {
    const Kernel *kernel =
        find_default("gguf_decode", gfx, [&](const Kernel &k) { return matches(k, type, m); });
    decode.need(kernel, "gfx = {}, type = {}, m = {}: no kernel for it", gfx, type, m);
    return *kernel;
}

void validate(const QuantizeQ8 &p) {
    quantize.need(p.m >= 1, "m = 0: must be at least 1; there is nothing to launch");
    quantize.need(p.k >= 1 && p.k % 32 == 0,
                  "k = {}: must be a multiple of 32; pad the row with zeros", p.k);
    quantize.pointer("x", p.x, 16);
    quantize.pointer("y", p.y, 16);
    quantize.stride({"x_stride", p.x_stride, u64{4} * p.k, "4 * k", 16, offset_limit,
                     "as it is a 32-bit argument"});
    quantize.need(ceil_div<u64>(p.k, q8_tile_k) * p.m < offset_limit,
                  "m = {}, k = {}: must be fewer than 2^32 tiles; split m", p.m, p.k);
    quantize.apart(Rules::rows("y", p.y, 1, 0, q8_bytes(p.m, p.k)),
                   Rules::rows("x", p.x, p.m, p.x_stride, u64{4} * p.k));
}

void validate(const GgufDecode &p) {
    const GgufBlocks &blocks = gguf_blocks(p.type);
    decode.need(p.m >= 1 && p.m <= gguf_decode_rows, "m = {}: must be 1..{}", p.m,
                gguf_decode_rows);
    decode.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    check_gguf_blocks(decode, blocks, p.k);
    decode.need(gguf_row_bytes(p.type, p.k) < offset_limit && q8_bytes(p.m, p.k) < offset_limit,
                "k = {}: a row and its activations must be smaller than 2^32 bytes; split K", p.k);
    decode.need(u64{4} * p.n < offset_limit,
                "n = {}: a row of c must be smaller than 2^32 bytes; split N", p.n);
    check_gguf_pointers(decode, p);
    check_gguf_overlap(decode, p, q8_bytes(p.m, p.k));
}

void launch(Modules &modules, const QuantizeQ8 &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose_quantize_q8(modules.device().info().gfx), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const QuantizeQ8 &p,
            const hip::Stream &stream) {
    validate(p);
    quantize.need(kernel.family == "quantize_q8", "{} does something else", kernel.symbol);
    Kernarg out(kernel);
    out.put("x", p.x);
    out.put("y", p.y);
    out.put("k", p.k);
    out.put("m", p.m);
    out.put("x_stride", static_cast<u32>(p.x_stride));
    out.put("y_step", p.by_row ? 1 : p.m);
    out.put("y_row", p.by_row ? ceil_div(p.k, q8_tile_k) : 1);
    modules.device().launch(modules.function(kernel), ceil_div(p.k, q8_tile_k), kernel.block, 0,
                            out.bytes(), stream);
}

void launch(Modules &modules, const GgufDecode &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose_gguf_decode(modules.device().info().gfx, p.type, p.m), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufDecode &p,
            const hip::Stream &stream) {
    validate(p);
    launch(modules, kernel, p, gguf_grid(kernel, p, modules.device().info().wgps), stream);
}

// One workgroup's rows in flight are more than DRAM's latency asks for, and more waves only mix
// their order (T-021): a WGP gets one that holds all activations. Where a part has few WGPs their
// arithmetic is what counts; where LDS holds only stages, others work while one waits for its next.
GgufGrid gguf_grid(const Kernel &kernel, const GgufDecode &p, u32 wgps) {
    const u32 step = p.m * q8_tile_bytes, steps = ceil_div(p.k, q8_tile_k);
    const auto stage_in = [&](u32 lds) { return (lds - kernel.lds_bytes) / step + 1; };
    if (steps <= stage_in(lds_limit)) {
        const u32 fit = lds_of_wgp / (kernel.lds_bytes + (steps - 1) * step);
        return {grid(kernel, p.n, wgps, wgps < few_wgps ? fit : 1), steps};
    }
    const u32 simd_waves = std::min(kernel.waves_per_simd, kernel.number("simd_waves"));
    const u32 fit = std::clamp(4 * simd_waves / (kernel.block / 32), 2u, 3u);
    return {grid(kernel, p.n, wgps, fit), stage_in(lds_of_wgp / fit / lds_piece * lds_piece)};
}

void launch(Modules &modules, const Kernel &kernel, const GgufDecode &p, GgufGrid grid,
            const hip::Stream &stream) {
    validate(p);
    decode.need(matches(kernel, p.type, p.m), "{} is not for {}, m = {}", kernel.symbol, p.type,
                p.m);
    const u64 most = ceil_div<u64>(p.n, kernel.rows_per_workgroup);
    decode.need(grid.workgroups >= 1 && grid.workgroups <= most,
                "workgroups = {}: must be 1..{}, a workgroup for {} rows", grid.workgroups, most,
                kernel.rows_per_workgroup);
    const u64 more = u64{p.m} * q8_tile_bytes * (grid.stage - u64{1});
    decode.need(grid.stage >= 1 && kernel.lds_bytes + more <= lds_limit,
                "stage = {}: must be 1..{}, as LDS has {} bytes", grid.stage,
                (lds_limit - kernel.lds_bytes) / (p.m * q8_tile_bytes) + 1, lds_limit);
    Kernarg out(kernel);
    out.put("a", p.a);
    out.put("w", p.w);
    out.put("c", p.c);
    out.put("groups", grid.workgroups);
    out.put("n", p.n);
    out.put("blocks", p.k / gguf_blocks(p.type).elements);
    out.put("stage", grid.stage);
    modules.device().launch(modules.function(kernel), grid.workgroups, kernel.block,
                            static_cast<u32>(more), out.bytes(), stream);
}

} // namespace nw
