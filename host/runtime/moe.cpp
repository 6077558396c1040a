// SPDX-License-Identifier: MIT
#include "runtime/moe.h"

#include <algorithm>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "base/half.h"
#include "runtime/force.h"
#include "runtime/kernarg.h"
#include "runtime/rules.h"

namespace nw {

namespace {

constexpr std::string_view family = "moe_w4a16", prefill_family = "moe_prefill_w4a16";
constexpr Rules rules(family); // of the product, whichever family does it

bool is_prefill(u32 block_size) { return block_size > moe_decode_block; }

// A wave of decode addresses up to this many rows from one base with 32-bit offsets.
constexpr u64 rows_per_wave = 4;
constexpr u64 stride_limit = (u64{1} << 32) / rows_per_wave;
constexpr const char *why_stride_limit = "as 4 rows share a 32-bit offset";
constexpr u64 offset_limit = u64{1} << 32;
constexpr u64 list_limit = u64{1} << 31; // ids are i32

using Kind = std::tuple<std::string_view, Dtype, u32, u32, Zeros>; // gfx, dtype, group, slots

Kind kind_of(const Kernel &k) {
    return {k.gfx, dtype_of(k), group_of(k), moe_block_size(k), zeros_of(k)};
}

// A launch has no time to search the catalogue.
std::map<Kind, const Kernel *> all_choices() {
    std::map<Kind, const Kernel *> out;
    for (const Kernel &k : kernels())
        if ((k.family == family || k.family == prefill_family) && !k.reference && !k.candidate)
            out.emplace(kind_of(k), &k);
    return out;
}

// "bf16 g128 zp b8"
std::string label(Dtype dtype, u32 group, u32 block_size, Zeros zeros) {
    return fmt::format("{} g{}{}{} b{}", name(dtype), group, zeros == Zeros::eight ? "" : " ",
                       zeros_name(zeros), block_size);
}

u64 row_of_w(const MoeW4A16 &p) { return p.k / 2; }
u64 row_of_s(const MoeW4A16 &p) { return u64{2} * (p.k / p.group); }
u64 row_of_z(const MoeW4A16 &p) { return u64{4} * (p.k / p.group); }
u64 row_of_c(const MoeW4A16 &p) { return p.silu_gate_up ? p.n : u64{2} * p.n; }

// A row's stride, and an expert's.
void check_strides(const char *matrix, u64 stride, u64 expert, u64 rows, u64 row,
                   const char *row_is, u64 unit) {
    const std::string stride_name = fmt::format("{}_stride", matrix),
                      expert_name = fmt::format("{}_expert", matrix);
    rules.stride({stride_name.c_str(), stride, row, row_is, unit, stride_limit, why_stride_limit});
    rules.stride({expert_name.c_str(), expert, (rows - 1) * stride + row,
                  "the rows of an expert, stride for stride,", unit, offset_limit,
                  "as it is 32 bits"});
}

void check_operands(const MoeW4A16 &p) {
    rules.pointer("a", p.a, 16);
    rules.pointer("w", p.w, 16);
    rules.pointer("s", p.s, 2);
    if (p.bias)
        rules.pointer("bias", p.bias, 2);
    rules.pointer("c", p.c, 2);
    check_strides("w", p.w_stride, p.w_expert, p.n, row_of_w(p), "a row, K/2", 16);
    check_strides("s", p.s_stride, p.s_expert, p.n, row_of_s(p), "a row, 2*K/G", 2);
    if (p.zeros == Zeros::eight) {
        rules.need(!p.z, "z is given, but zeros are eight: say in `zeros` that they are packed, "
                         "or pass null");
        return;
    }
    rules.pointer("z", p.z, 4);
    check_strides("z", p.z_stride, p.z_expert, ceil_div<u64>(p.n, 8), row_of_z(p), "a row, 4*K/G",
                  4);
}

void check_lists(const MoeW4A16 &p) {
    rules.need(p.experts >= 1, "experts = 0: must be at least 1");
    rules.need(p.top_k >= 1, "top_k = 0: must be how many slots a row of a has, at least 1");
    rules.need(p.slots >= 1 && p.slots < list_limit, "slots = {}: must be 1..2^31-1", p.slots);
    rules.need(p.blocks >= 1, "blocks = 0: must be at least 1; there is nothing to launch");
    rules.need(u64{p.blocks} * p.block_size < list_limit,
               "blocks = {}: with {} slots each must be below 2^31 slots; split the launch",
               p.blocks, p.block_size);
    rules.pointer("expert_ids", p.expert_ids, 4);
    for (const auto &[argument, list] : {std::pair{"sorted_token_ids", p.sorted_token_ids},
                                         {"topk_weights", p.topk_weights},
                                         {"num_tokens_post_padded", p.num_tokens_post_padded}})
        if (list)
            rules.pointer(argument, list, 4);
}

// From one base a kernel of prefill reaches all rows of a, and of c.
void check_reach(const MoeW4A16 &p) {
    const u64 a = ceil_div<u64>(p.slots, p.top_k) * 2 * p.k, c = p.slots * row_of_c(p);
    for (const auto &[argument, bytes] : {std::pair{"a", a}, {"c", c}})
        rules.need(bytes < offset_limit,
                   "slots = {}: {} has {} bytes, but in blocks of {} must be smaller than 2^32; "
                   "split the launch",
                   p.slots, argument, bytes, p.block_size);
}

void check_overlap(const MoeW4A16 &p) {
    const auto flat = [](const char *argument, const void *from, u64 bytes) {
        return Rules::rows(argument, from, 1, 0, bytes);
    };
    const auto experts = [&](const char *argument, const void *from, u64 expert, u64 rows,
                             u64 stride, u64 row) {
        return Rules::rows(argument, from, p.experts, expert, (rows - 1) * stride + row);
    };
    const Rules::Range c = flat("c", p.c, p.slots * row_of_c(p));
    const u64 tokens = ceil_div<u64>(p.slots, p.top_k);
    for (const Rules::Range &in :
         {flat("a", p.a, tokens * 2 * p.k),
          experts("w", p.w, p.w_expert, p.n, p.w_stride, row_of_w(p)),
          experts("s", p.s, p.s_expert, p.n, p.s_stride, row_of_s(p)),
          experts("z", p.z, p.z_expert, ceil_div<u64>(p.n, 8), p.z_stride, row_of_z(p)),
          flat("bias", p.bias, u64{2} * p.experts * p.n),
          flat("expert_ids", p.expert_ids, u64{4} * p.blocks),
          flat("sorted_token_ids", p.sorted_token_ids, u64{4} * p.blocks * p.block_size),
          flat("topk_weights", p.topk_weights, u64{4} * p.slots),
          flat("num_tokens_post_padded", p.num_tokens_post_padded, 4)})
        rules.apart(c, in);
}

struct Grid {
    u32 turn; // workgroups that go through the same blocks; of decode, through one
    u64 workgroups;
};

Grid grid_of(const Kernel &kernel, const MoeW4A16 &p) {
    const u32 raster = kernel.family == prefill_family ? kernel.number("raster") : 1;
    const u32 turn = raster * static_cast<u32>(ceil_div<u64>(p.n, kernel.rows_per_workgroup));
    return {turn, u64{turn} * ceil_div(p.blocks, raster)};
}

Kernarg pack(const Kernel &kernel, const MoeW4A16 &p, u32 turn) {
    Kernarg out(kernel);
    put_operands(out, p);
    out.put("expert_ids", p.expert_ids);
    out.put("sorted_token_ids", p.sorted_token_ids);
    out.put("topk_weights", p.topk_weights);
    out.put("num_tokens_post_padded", p.num_tokens_post_padded);
    out.put("w_expert", static_cast<u32>(p.w_expert));
    out.put("s_expert", static_cast<u32>(p.s_expert));
    out.put("z_expert", static_cast<u32>(p.z_expert));
    out.put("experts", p.experts);
    out.put("top_k", p.top_k);
    out.put("top_k_inverse", inverse(p.top_k));
    const bool prefill = kernel.family == prefill_family;
    out.put(prefill ? "turn" : "row_blocks", turn);
    out.put(prefill ? "turn_inverse" : "row_blocks_inverse", inverse(turn));
    if (prefill)
        out.put("blocks", p.blocks);
    out.put("slots", p.slots);
    out.put("silu", u32{p.silu_gate_up});
    return out;
}

} // namespace

u32 moe_block_size(const Kernel &kernel) {
    return kernel.number(kernel.family == prefill_family ? "bm" : "m");
}

const Kernel &choose_moe(std::string_view gfx, Dtype dtype, u32 group, u32 block_size,
                         Zeros zeros) {
    static const std::map<Kind, const Kernel *> choices = all_choices();
    if (const Kernel *kernel = forced(is_prefill(block_size) ? prefill_family : family, gfx)) {
        if (kind_of(*kernel) == Kind{gfx, dtype, group, block_size, zeros})
            return *kernel;
        throw Error(fmt::format("NIBBLEWAVE_FORCE={}: it is not for {}: unset it, or name a kernel "
                                "for such products",
                                kernel->symbol, label(dtype, group, block_size, zeros)));
    }
    if (const auto found = choices.find({gfx, dtype, group, block_size, zeros});
        found != choices.end())
        return *found->second;
    std::set<std::string_view> known;
    for (const auto &[kind, kernel] : choices)
        known.insert(std::get<0>(kind));
    rules.need(known.contains(gfx), "gfx = {}: no kernels for it; there are kernels for {}", gfx,
               fmt::join(known, ", "));
    throw Error(fmt::format("{}: no kernel for {} on {}; there are bf16 and f16, groups of 32, 64, "
                            "128, symmetric and with packed zero points, blocks of {}",
                            family, label(dtype, group, block_size, zeros), gfx,
                            fmt::join(moe_block_sizes, ", ")));
}

void validate_shape(const MoeW4A16 &p) {
    rules.need(std::ranges::find(moe_block_sizes, p.block_size) != moe_block_sizes.end(),
               "block_size = {}: must be one of {}", p.block_size,
               fmt::join(moe_block_sizes, ", "));
    rules.need(p.n >= 1, "n = 0: must be at least 1; there is nothing to launch");
    rules.need(p.group == 32 || p.group == 64 || p.group == 128,
               "group = {}: must be 32, 64 or 128; repeat the scales of larger groups", p.group);
    rules.need(p.k > 0 && p.k % p.group == 0,
               "k = {}: must be a positive multiple of the group size {}; pad activations and "
               "weights with zeros to k = {}",
               p.k, p.group, round_up<u64>(std::max(p.k, 1u), p.group));
    rules.need(p.zeros == Zeros::eight || p.zeros == Zeros::packed,
               "zeros are {}: an expert's must be packed, 4 bits each",
               p.zeros == Zeros::typed ? "typed" : "in the carrier");
    if (!p.silu_gate_up)
        return;
    rules.need(p.n % 2 == 0, "n = {}: gate and up must have as many rows as each other", p.n);
    rules.need(p.zeros == Zeros::eight || p.n % 8 == 0,
               "n = {}: must be a multiple of 8 where gate and up have packed zero points", p.n);
}

void validate(const MoeW4A16 &p) {
    validate_shape(p);
    check_lists(p);
    check_operands(p);
    if (is_prefill(p.block_size))
        check_reach(p);
}

void launch(Modules &modules, const MoeW4A16 &p, const hip::Stream &stream) {
    validate(p);
    launch(modules,
           choose_moe(modules.device().info().gfx, p.dtype, p.group, p.block_size, p.zeros), p,
           stream);
}

void launch(Modules &modules, const Kernel &kernel, const MoeW4A16 &p, const hip::Stream &stream) {
    validate(p);
    if ((kernel.family != family && kernel.family != prefill_family) ||
        kind_of(kernel) != Kind{kernel.gfx, p.dtype, p.group, p.block_size, p.zeros})
        throw Error(fmt::format("{}: {} is not for {}", family, kernel.symbol,
                                label(p.dtype, p.group, p.block_size, p.zeros)));
    const auto [turn, workgroups] = grid_of(kernel, p);
    // HIP counts a launch's work-items in 32 bits.
    rules.need(workgroups * kernel.block < u64{1} << 32,
               "blocks = {}, n = {}: {} workgroups of {} are more than 2^32 - 1 work-items; split "
               "the launch",
               p.blocks, p.n, workgroups, kernel.block);
    check_overlap(p);
    modules.device().launch(modules.function(kernel), static_cast<u32>(workgroups), kernel.block, 0,
                            pack(kernel, p, turn).bytes(), stream);
}

} // namespace nw
