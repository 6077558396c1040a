// SPDX-License-Identifier: MIT
// gguf_moe_decode, gguf_moe_mid, gguf_moe_prefill, dot_gguf_moe: every bit of every slot, each the
// product of its row of a with its expert's weights as gguf_decode, gguf_mid, gguf_prefill or
// dot_gguf defines it; lists that say nothing sensible.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "check/check.h"
#include "check/ops.h"
#include "gguf_case.h"
#include "ref/dot_gguf.h"
#include "ref/gguf_halves.h"
#include "ref/gguf_mid.h"
#include "ref/gguf_prefill.h"
#include "ref/gguf_product.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr f32 untouched = -777.0f;
constexpr u32 padding = 6; // bytes between experts, or one more where theirs are odd

struct Shape {
    u32 n, k, experts, slots, top_k;
    bool hard = false; // activations at the ends of f32's range
    u32 rows() const { return ceil_div(slots, top_k); }
};

// Experts with weights of their own, 2-byte aligned, and rows of activations.
struct Operands {
    Shape shape;
    check::GgufType type;
    std::vector<f32> x;
    std::vector<std::byte> w; // with gaps between the experts, and 2 bytes before the first
    u64 of_expert, apart;     // bytes of an expert, and from one to the next

    Operands(Test &t, const Kernel &kernel, const Shape &s)
        : shape(s), type(check::gguf_type(kernel)),
          x(check::gguf_activations(t.rng, u64{s.rows()} * s.k)),
          of_expert(u64{s.n} * (s.k / type.info.elements) * type.info.bytes),
          apart(round_up<u64>(of_expert + padding, 2)) {
        if (s.hard)
            x = check::hard_rows(s.rows(), s.k);
        w.assign(2, std::byte{0xff});
        for (u32 e = 0; e < s.experts; ++e) {
            const auto random = s.hard ? check::gguf_small_blocks : check::gguf_random_blocks;
            const std::vector<std::byte> blocks = random(t.rng, type, of_expert / type.info.bytes);
            w.insert(w.end(), blocks.begin(), blocks.end());
            w.insert(w.end(), apart - of_expert, std::byte{0xff});
        }
    }
    std::span<const std::byte> expert(u32 e) const {
        return std::span(w).subspan(2 + e * apart, of_expert);
    }
    GgufExperts launch(const Region &weights, const Region &c, const Region &a,
                       const Region &expert_ids) const {
        return {type.info.name,
                shape.n,
                shape.k,
                shape.experts,
                shape.slots,
                shape.top_k,
                static_cast<const std::byte *>(weights.data()) + 2,
                apart,
                c.data(),
                a.data(),
                expert_ids.data()};
    }
};

// Activations in int8, tiles of a row together.
std::vector<std::byte> tiles_by_row(const Operands &o) {
    std::vector<std::byte> out;
    for (u32 r = 0; r < o.shape.rows(); ++r) {
        const std::vector<std::byte> of_row =
            ref::quantize_q8(std::span(o.x).subspan(u64{r} * o.shape.k, o.shape.k), 1, o.shape.k);
        out.insert(out.end(), of_row.begin(), of_row.end());
    }
    return out;
}

void put(std::vector<f32> &c, u32 slot, u32 n, std::span<const f32> row) {
    std::ranges::copy(row, &c[u64{slot} * n]);
}

// Finite activations have finite results, which are near the exact ones (tests of dense products).
void check_finite(Test &t, std::span<const f32> c, std::source_location where) {
    if (!std::ranges::all_of(c, [](f32 v) { return std::isfinite(v); }))
        t.fail("a result is not finite", where);
}

void check_decode(Test &t, const Kernel &kernel, const Shape &s, u32 groups = 0,
                  std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("n={} k={} experts={} slots={} top_k={} groups={}", s.n, s.k, s.experts,
                        s.slots, s.top_k, groups));
    const Operands o(t, kernel, s);
    const u64 row_bytes = q8_bytes(1, s.k);
    const std::vector<std::byte> tiles = tiles_by_row(o);
    std::vector<i32> experts(s.slots);
    std::vector<f32> want(u64{s.slots} * s.n, untouched);
    for (u32 slot = 0; slot < s.slots; ++slot) {
        experts[slot] = check::any_expert(t.rng, s.experts);
        if (static_cast<u32>(experts[slot]) >= s.experts)
            continue;
        const auto a = std::span(tiles).subspan(slot / s.top_k * row_bytes, row_bytes);
        put(want, slot, s.n,
            ref::gguf_decode(
                {o.type.info.id, 1, s.n, s.k, a, o.expert(static_cast<u32>(experts[slot]))}));
    }
    const Region a = t.region<std::byte>(tiles), w = t.region<std::byte>(o.w),
                 ids = t.region<i32>(experts),
                 c = t.region<f32>(std::vector<f32>(want.size(), untouched));
    Op op = o.launch(w, c, a, ids);
    if (groups)
        op.groups = groups;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("w", w, where);
    t.unchanged("expert_ids", ids, where);
    check::same_bits(t, "c", c, want, where);
    check_finite(t, want, where);
}

bool in_bytes(const Kernel &kernel) { return kernel.family == "dot_gguf_moe"; }
bool at_end(const Kernel &kernel) { return kernel.family == "gguf_moe_mid"; }

// All activations, in the order of steps as references of dense products have them.
std::vector<std::byte> activations(const Kernel &kernel, const Operands &o) {
    const u32 m = o.shape.rows(), k = o.shape.k;
    return in_bytes(kernel)
               ? ref::quantize_q8(o.x, m, k)
               : ref::gguf_halves(o.x, m, k, gguf_halves_tiles(m), {.at_end = at_end(kernel)});
}

// As the kernel has them.
std::vector<std::byte> activations_by_row(const Kernel &kernel, const Operands &o) {
    const u32 m = o.shape.rows();
    return in_bytes(kernel) ? tiles_by_row(o)
                            : ref::gguf_halves(o.x, m, o.shape.k, gguf_halves_tiles(m),
                                               {.by_row = true, .at_end = at_end(kernel)});
}

// All rows of a by one expert's weights.
std::vector<f32> product(const Kernel &kernel, const Operands &o, std::span<const std::byte> a,
                         u32 expert) {
    const auto &[n, k, experts, slots, top_k, hard] = o.shape;
    const u32 m = o.shape.rows(), tiles = gguf_halves_tiles(m);
    if (in_bytes(kernel))
        return ref::dot_gguf({o.type.info.id, m, n, k, a, o.expert(expert)},
                             kernel.number("parts"));
    if (kernel.family == "gguf_moe_prefill")
        return ref::gguf_prefill({o.type.info.id, m, n, k, tiles, kernel.number("bm"), 1, 0,
                                  kernel.gfx, a, o.expert(expert)});
    const u32 supers = ceil_div(k, 256u); // a tile's, for a workgroup
    return ref::gguf_mid({o.type.info.id, m, n, k, tiles, 16, kernel.rows_per_workgroup, supers,
                          supers, kernel.gfx, a, o.expert(expert)});
}

// ended: slots in their order, and none after them, as moe_align makes a list.
void check_blocks(Test &t, const Kernel &kernel, const Shape &s, u32 blocks, bool ended = false,
                  std::source_location where = std::source_location::current()) {
    const u32 size = kernel.number("bm");
    t.shape(fmt::format("n={} k={} experts={} slots={} top_k={} blocks={}", s.n, s.k, s.experts,
                        s.slots, s.top_k, blocks));
    const Operands o(t, kernel, s);
    const std::vector<std::byte> of_steps = activations(kernel, o),
                                 by_row = activations_by_row(kernel, o);
    std::vector<i32> slots = check::shuffled_slots(t.rng, s.slots, blocks * size);
    for (u32 i = 0; ended && i < slots.size(); ++i)
        slots[i] = static_cast<i32>(i < s.slots ? i : s.slots);
    std::vector<i32> experts(blocks);
    std::ranges::generate(experts, [&] { return check::any_expert(t.rng, s.experts); });
    std::vector<f32> want(u64{s.slots} * s.n, untouched);
    for (u32 e = 0; e < s.experts; ++e) {
        const std::vector<f32> all = product(kernel, o, of_steps, e);
        for (u32 i = 0; i < slots.size(); ++i) {
            const u32 slot = static_cast<u32>(slots[i]);
            if (experts[i / size] == static_cast<i32>(e) && slot < s.slots)
                put(want, slot, s.n, std::span(all).subspan(u64{slot / s.top_k} * s.n, s.n));
        }
    }
    const Region a = t.region<std::byte>(by_row), w = t.region<std::byte>(o.w),
                 ids = t.region<i32>(experts), places = t.region<i32>(slots),
                 c = t.region<f32>(std::vector<f32>(want.size(), untouched));
    GgufExperts p = o.launch(w, c, a, ids);
    p.blocks = blocks;
    p.slot_ids = places.data();
    launch(t.modules, kernel, p);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("w", w, where);
    t.unchanged("expert_ids", ids, where);
    t.unchanged("slot_ids", places, where);
    check::same_bits(t, "c", c, want, where);
    check_finite(t, want, where);
}

// For families whose tiles have any number of stages.
void check_tiles(Test &t, const Kernel &kernel) {
    const u32 bn = kernel.number("bn"), bm = kernel.number("bm");
    const bool any_k = gguf_block(kernel.param("type")) == 32;
    if (t.entry)
        return check_blocks(t, kernel, {bn + 1, any_k ? 32u : 256u, 1, 3, 1}, 1);
    check_blocks(t, kernel, {1, any_k ? 32u : 256u, 1, 3, 1}, 1);
    check_blocks(t, kernel, {bn + 3, any_k ? 544u : 512u, 3, 2 * bm + 5, 4}, 3);
    check_blocks(t, kernel, {bn + 3, 512, 1, bm + 5, 2}, 3, true); // waves and a block of no slot
    check_blocks(t, kernel, {5, 512, 1, 10, 1, true}, 1);
    if (t.checkers)
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_blocks(t, kernel, {shape.n, shape.k, 3, bm + 5, 4}, 3);
    check_blocks(t, kernel, {bn - 1, 768, 2, 2 * bm, 1}, 2); // each slot has a row of its own
    check_blocks(t, kernel, {33, any_k ? 1120u : 1280u, 2, bm + 3, 8}, 5);
}

} // namespace

CHECK_FAMILY(gguf_moe_decode) {
    const u32 rows = kernel.rows_per_workgroup, block = gguf_block(kernel.param("type"));
    if (t.entry)
        return check_decode(t, kernel, {rows + 1, block, 1, 1, 1});
    check_decode(t, kernel, {1, block, 1, 1, 1});
    check_decode(t, kernel, {rows + 3, 1024 + block, 3, 7, 2}, 2);
    check_decode(t, kernel, {2 * rows + 1, 768, 4, 5, 5}, 1); // rounds of rows
    check_decode(t, kernel, {5, 512, 1, 10, 1, true});
    if (t.checkers)
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_decode(t, kernel, {shape.n, shape.k, 3, 5, 2});
    check_decode(t, kernel, {3 * rows - 1, 2048, 5, 16, 8});
    check_decode(t, kernel, {5, 3072, 2, 3, 1});
}

CHECK_FAMILY(gguf_moe_mid) {
    const u32 rows = kernel.rows_per_workgroup, bm = kernel.number("bm");
    if (t.entry)
        return check_blocks(t, kernel, {rows + 1, 256, 1, 3, 1}, 1);
    check_blocks(t, kernel, {1, 256, 1, 3, 1}, 1);
    check_blocks(t, kernel, {rows + 3, 768, 3, 2 * bm + 5, 4}, 4);
    check_blocks(t, kernel, {5, 512, 1, 10, 1, true}, 1);
    if (gguf_block(kernel.param("type")) < 256) // the last super-block overlaps the one before
        check_blocks(t, kernel, {rows + 1, 320, 2, bm + 5, 4}, 3);
    if (t.checkers)
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_blocks(t, kernel, {shape.n, shape.k, 3, bm + 5, 4}, 4);
    check_blocks(t, kernel, {2 * rows - 1, 2560, 4, 3 * bm, 1},
                 3); // each slot has a row of its own
    check_blocks(t, kernel, {rows, 1280, 2, bm + 3, 8}, 5);
    if (gguf_block(kernel.param("type")) < 256)
        check_blocks(t, kernel, {rows - 1, 2880, 2, bm + 3, 4}, 3);
}

CHECK_FAMILY(gguf_moe_prefill) { check_tiles(t, kernel); }

CHECK_FAMILY(dot_gguf_moe) { check_tiles(t, kernel); }
