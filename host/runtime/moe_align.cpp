// SPDX-License-Identifier: MIT
#include "runtime/moe_align.h"

#include <algorithm>
#include <array>
#include <bit>
#include <fmt/ranges.h>

#include "runtime/kernarg.h"
#include "runtime/moe.h"
#include "runtime/rules.h"

namespace nw {

namespace {

constexpr std::string_view family = "moe_align";
constexpr Rules rules(family);
constexpr u64 list_limit = u64{1} << 30; // offsets are 32 bits

// Slots that a wave loads at once.
constexpr u32 wave_step = 128;

void check_overlap(const MoeAlign &p) {
    const auto list = [](const char *argument, const void *from, u64 count) {
        return Rules::rows(argument, from, 1, 0, 4 * count);
    };
    const std::array lists = {
        list("topk_ids", p.topk_ids, p.slots),
        list("sorted_token_ids", p.sorted_token_ids, u64{p.blocks} * p.block_size),
        list("expert_ids", p.expert_ids, p.blocks),
        list("num_tokens_post_padded", p.num_tokens_post_padded, 1)};
    for (u64 i = 1; i < lists.size(); ++i)
        for (u64 j = 0; j < i; ++j)
            rules.apart(lists[i], lists[j]);
}

} // namespace

u64 aligned_blocks(u64 slots, u64 experts, u64 block_size) {
    return (slots + std::min(slots, experts) * (block_size - 1)) / block_size;
}

const Kernel &choose_moe_align(std::string_view gfx) {
    if (const Kernel *found = find_default(family, gfx, [](const Kernel &) { return true; }))
        return *found;
    throw Error(fmt::format("moe_align: gfx = {}: no kernel for it", gfx));
}

void validate(const MoeAlign &p) {
    rules.need(p.slots >= 1 && p.slots < list_limit, "slots = {}: must be 1..2^30-1", p.slots);
    rules.need(p.experts >= 1 && p.experts <= most_aligned_experts, "experts = {}: must be 1..{}",
               p.experts, most_aligned_experts);
    rules.need(std::ranges::find(moe_block_sizes, p.block_size) != moe_block_sizes.end(),
               "block_size = {}: must be one of {}", p.block_size,
               fmt::join(moe_block_sizes, ", "));
    const u64 least = aligned_blocks(p.slots, p.experts, p.block_size);
    rules.need(
        p.blocks >= least,
        "blocks = {}: {} slots at {} experts may need {} blocks of {}; make room for as many",
        p.blocks, p.slots, p.experts, least, p.block_size);
    rules.need(u64{p.blocks} * p.block_size < list_limit,
               "blocks = {}: with {} slots each must be below 2^30 slots", p.blocks, p.block_size);
    rules.pointer("topk_ids", p.topk_ids, 4);
    rules.pointer("sorted_token_ids", p.sorted_token_ids, 4);
    rules.pointer("expert_ids", p.expert_ids, 4);
    rules.pointer("num_tokens_post_padded", p.num_tokens_post_padded, 4);
    check_overlap(p);
}

void launch(Modules &modules, const MoeAlign &p, const hip::Stream &stream) {
    launch(modules, choose_moe_align(modules.device().info().gfx), p, stream);
}

void launch(Modules &modules, const Kernel &kernel, const MoeAlign &p, const hip::Stream &stream) {
    validate(p);
    rules.need(kernel.family == family, "{} does something else", kernel.symbol);
    const u32 waves = kernel.block / 32;
    Kernarg out(kernel);
    out.put("topk_ids", p.topk_ids);
    out.put("sorted_token_ids", p.sorted_token_ids);
    out.put("expert_ids", p.expert_ids);
    out.put("num_tokens_post_padded", p.num_tokens_post_padded);
    out.put("slots", p.slots);
    out.put("experts", p.experts);
    out.put("block_shift", static_cast<u32>(std::countr_zero(p.block_size)));
    out.put("blocks", p.blocks);
    out.put("per_wave", wave_step * ceil_div(p.slots, waves * wave_step));
    modules.device().launch(modules.function(kernel), 1, kernel.block, 0, out.bytes(), stream);
}

} // namespace nw
