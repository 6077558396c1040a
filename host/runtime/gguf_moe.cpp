// SPDX-License-Identifier: MIT
#include "runtime/gguf_moe.h"

#include <algorithm>
#include <bit>

#include "runtime/gguf_operands.h"
#include "runtime/gguf_prefill.h"
#include "runtime/kernarg.h"

namespace nw {

namespace {

constexpr Rules decode("gguf_moe_decode"), mid("gguf_moe_mid"), prefill("gguf_moe_prefill");
constexpr u64 offset_limit = u64{1} << 32, count_limit = u64{1} << 31;
constexpr u32 lds_limit = 65536, super_k = 256, stage_k = 32, widest_cols = 128;
constexpr u32 groups_of_wgp = 4;

void validate(const Rules &rules, const GgufExperts &p) {
    const GgufBlocks &blocks = gguf_blocks(p.type);
    const u64 row = gguf_row_bytes(p.type, p.k);
    rules.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    check_gguf_blocks(rules, blocks, p.k);
    rules.need(p.experts >= 1, "experts = 0: must be at least 1");
    rules.need(p.slots >= 1, "slots = 0: must be at least 1; there is nothing to launch");
    rules.need(p.top_k >= 1, "top_k = 0: must be at least 1, the slots of a row of a");
    rules.need(row * widest_cols < offset_limit,
               "k = {}: {} rows of w must be smaller than 2^32 bytes; split K", p.k, widest_cols);
    rules.pointer("w", p.w, 2);
    rules.pointer("c", p.c, 4);
    rules.stride({"w_expert", p.w_expert, p.n * row, "n rows", 2, offset_limit,
                  "as it is a 32-bit argument"});
}

// c apart from activations and weights.
void need_apart(const Rules &rules, const GgufExperts &p, const void *a, u64 a_bytes) {
    const auto c = Rules::rows("c", p.c, 1, 0, u64{4} * p.slots * p.n);
    rules.apart(c, Rules::rows("a", a, 1, 0, a_bytes));
    rules.apart(c, Rules::rows("w", p.w, p.experts, p.w_expert, p.n * gguf_row_bytes(p.type, p.k)));
}

bool matches(const Kernel &kernel, std::string_view family, std::string_view type) {
    return kernel.family == family && kernel.param("type") == type;
}

bool is_large(u32 block_size) { return block_size >= gguf_moe_prefill_block; }
std::string_view family_of(u32 block_size) {
    return is_large(block_size) ? "gguf_moe_prefill" : "gguf_moe_mid";
}
const Rules &rules_of(u32 block_size) { return is_large(block_size) ? prefill : mid; }

bool matches(const Kernel &kernel, std::string_view type, u32 block_size) {
    return matches(kernel, family_of(block_size), type) && kernel.number("bm") == block_size;
}

// Steps of 1024 k.
u32 steps_of(u32 k) { return ceil_div(k, q8_tile_k); }
// Of them, those whose activations LDS holds.
u32 stage_of(const Kernel &kernel, u32 k) {
    return std::min(steps_of(k), (lds_limit - kernel.lds_bytes) / q8_tile_bytes + 1);
}

// How gguf_moe_mid deals out its tiles, a workgroup to each; how many these are.
u32 put_shares(Kernarg &out, const Kernel &kernel, const GgufMoeBlocks &p) {
    const u64 tiles = u64{p.blocks} * ceil_div(p.of.n, kernel.rows_per_workgroup);
    const u32 supers = p.of.k / super_k;
    mid.need(tiles * supers < count_limit,
             "blocks = {}, n = {}, k = {}: must be fewer than 2^31 super-blocks of tiles; split "
             "the slots",
             p.blocks, p.of.n, p.of.k);
    out.put("supers", supers);
    out.put("share", supers);
    out.put("blocks_inverse", inverse(p.blocks));
    out.put("supers_inverse", inverse(supers));
    out.put("share_inverse", inverse(supers));
    return static_cast<u32>(tiles);
}

// The order of gguf_moe_prefill's tiles; its workgroups.
u32 put_order(Kernarg &out, const Kernel &kernel, const GgufMoeBlocks &p, u32 wgps) {
    const u64 places = u64{p.blocks} * p.block_size;
    prefill.need(places < count_limit,
                 "blocks = {}: of {} slots each must be fewer than 2^31 slots", p.blocks,
                 p.block_size);
    const GgufPrefillOrder order =
        gguf_prefill_order(kernel, static_cast<u32>(places), p.of.n, p.of.k, wgps);
    const u32 turn = order.raster * ceil_div(p.of.n, kernel.number("bn"));
    const u64 workgroups = u64{turn} * ceil_div(p.blocks, order.raster);
    // HIP counts a launch's work-items in 32 bits.
    prefill.need(workgroups * kernel.block < offset_limit,
                 "blocks = {}, n = {}: {} workgroups of {} are more than 2^32 - 1 work-items; "
                 "split the slots",
                 p.blocks, p.of.n, workgroups, kernel.block);
    out.put("stages", p.of.k / stage_k);
    out.put("w_stride", static_cast<u32>(gguf_row_bytes(p.of.type, p.of.k)));
    out.put("turn", turn);
    out.put("turn_inverse", inverse(turn));
    out.put("raster_shift", static_cast<u32>(std::countr_zero(order.raster)));
    out.put("first", order.first);
    out.put("levels", order.levels);
    out.put("pause", order.pause);
    return static_cast<u32>(workgroups);
}

} // namespace

const Kernel &choose_gguf_moe_decode(std::string_view gfx, std::string_view type) {
    const Kernel *kernel = find_default("gguf_moe_decode", gfx, [&](const Kernel &k) {
        return matches(k, "gguf_moe_decode", type);
    });
    decode.need(kernel, "gfx = {}, type = {}: no kernel for it", gfx, type);
    return *kernel;
}

const Kernel &choose_gguf_moe_blocks(std::string_view gfx, std::string_view type, u32 block_size) {
    const Kernel *kernel = find_default(
        family_of(block_size), gfx, [&](const Kernel &k) { return matches(k, type, block_size); });
    rules_of(block_size)
        .need(kernel,
              "gfx = {}, type = {}, block_size = {}: no kernel for it; blocks are of {} slots", gfx,
              type, block_size, fmt::join(gguf_moe_block_sizes, ", "));
    return *kernel;
}

void validate(const GgufMoeDecode &p) {
    validate(decode, p.of);
    decode.need(u64{steps_of(p.of.k)} * q8_tile_bytes < offset_limit &&
                    u64{4} * p.of.n < offset_limit,
                "n = {}, k = {}: a row of a and of c must be smaller than 2^32 bytes; split N or K",
                p.of.n, p.of.k);
    decode.pointer("a", p.a, 16);
    decode.pointer("expert_ids", p.expert_ids, 4);
    need_apart(decode, p.of, p.a, q8_bytes(p.of.rows(), p.of.k));
}

void validate(const GgufMoeBlocks &p) {
    const Rules &rules = rules_of(p.block_size);
    validate(rules, p.of);
    rules.need(std::ranges::find(gguf_moe_block_sizes, p.block_size) != gguf_moe_block_sizes.end(),
               "block_size = {}: must be one of {}", p.block_size,
               fmt::join(gguf_moe_block_sizes, ", "));
    rules.need(is_large(p.block_size) || p.of.k % super_k == 0,
               "k = {}: must be a multiple of {}, as so many are multiplied at a time; "
               "gguf_moe_prefill and gguf_moe_decode take any whole number of blocks",
               p.of.k, super_k);
    rules.need(p.blocks >= 1, "blocks = 0: must be at least 1; there is nothing to launch");
    rules.need(u64{4} * p.of.slots * p.of.n < offset_limit &&
                   gguf_halves_bytes(p.of.rows(), p.of.k) < offset_limit,
               "slots = {}, n = {}, k = {}: c and the activations must be smaller than 2^32 bytes "
               "each; split the slots",
               p.of.slots, p.of.n, p.of.k);
    rules.pointer("a", p.a, 16);
    rules.pointer("expert_ids", p.expert_ids, 4);
    rules.pointer("slot_ids", p.slot_ids, 4);
    need_apart(rules, p.of, p.a, gguf_halves_bytes(p.of.rows(), p.of.k));
}

u32 gguf_moe_dynamic_lds(const Kernel &kernel, u32 k) {
    return kernel.family == "gguf_moe_decode" ? q8_tile_bytes * (stage_of(kernel, k) - 1) : 0;
}

// A WGP gets a few: more of a slot's only wait for their turn.
u32 gguf_moe_groups(const Kernel &kernel, const GgufMoeDecode &p, u32 wgps) {
    const u32 most = ceil_div(p.of.n, kernel.rows_per_workgroup);
    return std::clamp(ceil_div(groups_of_wgp * wgps, p.of.slots), 1u, most);
}

void launch(Modules &modules, const GgufMoeDecode &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose_gguf_moe_decode(modules.device().info().gfx, p.of.type), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufMoeDecode &p,
            const hip::Stream &stream) {
    validate(p);
    launch(modules, kernel, p, gguf_moe_groups(kernel, p, modules.device().info().wgps), stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufMoeDecode &p, u32 groups,
            const hip::Stream &stream) {
    validate(p);
    decode.need(matches(kernel, "gguf_moe_decode", p.of.type), "{} is not for {}", kernel.symbol,
                p.of.type);
    const u32 most = ceil_div(p.of.n, kernel.rows_per_workgroup);
    decode.need(groups >= 1 && groups <= most,
                "groups = {}: must be 1..{}, a workgroup for {} rows", groups, most,
                kernel.rows_per_workgroup);
    decode.need(u64{p.of.slots} * groups < count_limit,
                "slots = {}: {} workgroups of each must be fewer than 2^31; split the slots",
                p.of.slots, groups);
    Kernarg out(kernel);
    out.put("a", p.a);
    out.put("w", p.of.w);
    out.put("c", p.of.c);
    out.put("groups", groups);
    out.put("n", p.of.n);
    out.put("blocks", p.of.k / gguf_blocks(p.of.type).elements);
    out.put("stage", stage_of(kernel, p.of.k));
    out.put("expert_ids", p.expert_ids);
    out.put("w_expert", static_cast<u32>(p.of.w_expert));
    out.put("experts", p.of.experts);
    out.put("top_k", p.of.top_k);
    out.put("top_k_inverse", inverse(p.of.top_k));
    out.put("groups_inverse", inverse(groups));
    modules.device().launch(modules.function(kernel), p.of.slots * groups, kernel.block,
                            gguf_moe_dynamic_lds(kernel, p.of.k), out.bytes(), stream);
}

void launch(Modules &modules, const GgufMoeBlocks &p, const hip::Stream &stream) {
    validate(p);
    launch(modules, choose_gguf_moe_blocks(modules.device().info().gfx, p.of.type, p.block_size), p,
           stream);
}

void launch(Modules &modules, const Kernel &kernel, const GgufMoeBlocks &p,
            const hip::Stream &stream) {
    validate(p);
    rules_of(p.block_size)
        .need(matches(kernel, p.of.type, p.block_size), "{} is not for {}, block_size = {}",
              kernel.symbol, p.of.type, p.block_size);
    Kernarg out(kernel);
    out.put("a", p.a);
    out.put("w", p.of.w);
    out.put("c", p.of.c);
    out.put("m", p.of.slots);
    out.put("n", p.of.n);
    out.put("tiles", gguf_halves_tiles(p.of.rows()));
    out.put("blocks", p.blocks);
    out.put("expert_ids", p.expert_ids);
    out.put("slot_ids", p.slot_ids);
    out.put("w_expert", static_cast<u32>(p.of.w_expert));
    out.put("experts", p.of.experts);
    out.put("top_k", p.of.top_k);
    out.put("top_k_inverse", inverse(p.of.top_k));
    const u32 workgroups = is_large(p.block_size)
                               ? put_order(out, kernel, p, modules.device().info().wgps)
                               : put_shares(out, kernel, p);
    modules.device().launch(modules.function(kernel), workgroups, kernel.block, 0, out.bytes(),
                            stream);
}

} // namespace nw
