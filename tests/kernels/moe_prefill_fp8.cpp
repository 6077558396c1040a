// SPDX-License-Identifier: MIT
// moe_prefill_fp8: of every slot the product of its row of a with its expert's weights as
// prefill_fp8 defines it: within the bound of f32 sums, and to the bit where sums need no rounding.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "check/check.h"
#include "check/ops.h"
#include "fp8_case.h"
#include "gguf_case.h"
#include "ref/prefill_fp8.h"

using namespace nw;
using check::Region;
using check::Sums;
using check::Test;

namespace {

constexpr f32 untouched = -777.0f;
constexpr u32 padding = 6; // bytes between experts, or one more where theirs are odd

struct Shape {
    u32 n, k, experts, slots, top_k, blocks;
};

enum class Order {
    shuffled,  // slots of any block, some of them none
    ascending, // and none after them, as moe_align makes a list
};

struct Case {
    Shape shape;
    Sums sums;
    check::GgufType type;
    std::vector<u8> a;
    std::vector<f32> a_scale;
    u64 of_expert, apart;     // bytes of an expert, and from one to the next
    std::vector<std::byte> w; // with gaps between the experts, and 2 bytes before the first
    std::vector<i32> experts, slots;

    Case(Test &t, const Kernel &kernel, const Shape &s, Sums of, Order order = Order::shuffled)
        : shape(s), sums(of), type(check::gguf_type(kernel)),
          of_expert(u64{s.n} * (s.k / type.info.elements) * type.info.bytes),
          apart(round_up<u64>(of_expert + padding, 2)) {
        const ref::Fp8Rows rows = check::fp8_activations(t.rng, this->rows(), s.k);
        a = rows.y, a_scale = rows.scale;
        if (sums == Sums::exact) {
            std::ranges::generate(a, [&] { return check::small_integer(t.rng); });
            std::ranges::generate(
                a_scale, [&] { return std::ldexp(1.0f, -static_cast<int>(t.rng.below(4))); });
        }
        w.assign(2 + s.experts * apart, std::byte{0xff});
        for (u32 e = 0; e < s.experts; ++e)
            std::ranges::copy(blocks_of_expert(t), &w[2 + e * apart]);
        const u32 size = kernel.number("bm"), places = s.blocks * size;
        slots = check::shuffled_slots(t.rng, s.slots, places);
        for (u32 i = 0; order == Order::ascending && i < places; ++i)
            slots[i] = static_cast<i32>(std::min(i, s.slots));
        experts.resize(s.blocks);
        std::ranges::generate(experts, [&] { return check::any_expert(t.rng, s.experts); });
    }
    u32 rows() const { return ceil_div(shape.slots, shape.top_k); }
    std::span<const std::byte> expert(u32 e) const {
        return std::span(w).subspan(2 + e * apart, of_expert);
    }
    Op op() const {
        Op out{.kind = OpKind::moe_gguf_fp8};
        out.type = find_word(type.info.name);
        out.n = shape.n, out.k = shape.k, out.experts = shape.experts;
        out.slots = shape.slots, out.top_k = shape.top_k, out.blocks = shape.blocks;
        out.w_expert = apart;
        return out;
    }

private:
    std::vector<std::byte> blocks_of_expert(Test &t) const {
        const u64 bytes = type.info.bytes;
        std::vector<std::byte> out = check::gguf_random_blocks(t.rng, type, of_expert / bytes);
        for (u64 at = 0; sums == Sums::exact && at < out.size(); at += bytes)
            out[at] = std::byte{check::near_power(t.rng)};
        return out;
    }
};

// Whether a product is a slot's row of c; every other row is untouched.
struct Expected {
    std::vector<f64> c, tolerance;
    std::vector<bool> written;

    Expected(const Case &p, u32 block_size)
        : c(u64{p.shape.slots} * p.shape.n), tolerance(c.size()), written(p.shape.slots) {
        const auto &[n, k, experts, slots, top_k, blocks] = p.shape;
        for (u32 e = 0; e < experts; ++e) {
            const ref::ProductFp8Exact all =
                ref::prefill_fp8({p.type.info.id, p.rows(), n, k, p.a, p.a_scale, p.expert(e)});
            for (u32 i = 0; i < p.slots.size(); ++i) {
                const u32 slot = static_cast<u32>(p.slots[i]);
                if (slot >= slots || p.experts[i / block_size] != static_cast<i32>(e))
                    continue;
                const u64 from = u64{slot / top_k} * n, to = u64{slot} * n;
                std::copy_n(&all.c[from], n, &c[to]);
                std::copy_n(&all.tolerance[from], n, &tolerance[to]);
                written[slot] = true;
            }
        }
    }
};

void check_case(Test &t, const Kernel &kernel, const Case &p, const Op &order, const char *what,
                std::source_location where = std::source_location::current()) {
    const u32 n = p.shape.n;
    t.shape(fmt::format("n={} k={} experts={} slots={} top_k={} blocks={} {}", n, p.shape.k,
                        p.shape.experts, p.shape.slots, p.shape.top_k, p.shape.blocks, what));
    const Region a = t.region<u8>(p.a), a_scale = t.region<f32>(p.a_scale),
                 w = t.region<std::byte>(p.w), experts = t.region<i32>(p.experts),
                 slots = t.region<i32>(p.slots),
                 c = t.region<f32>(std::vector<f32>(u64{p.shape.slots} * n, untouched));
    Op op = order;
    op.a = address(a.data()), op.a_scale = address(a_scale.data());
    op.w = address(w.data()) + 2, op.c = address(c.data());
    op.expert_ids = address(experts.data()), op.slot_ids = address(slots.data());
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    for (const auto &[name, region] : {std::pair{"a", &a},
                                       {"a_scale", &a_scale},
                                       {"w", &w},
                                       {"expert_ids", &experts},
                                       {"slot_ids", &slots}})
        t.unchanged(name, *region, where);
    t.guards_clean("c", c, where);
    const Expected want(p, kernel.number("bm"));
    const std::vector<f32> got = c.read_as<f32>();
    for (u64 i = 0; i < got.size(); ++i) {
        const bool written = want.written[i / n];
        if (written ? !check::right(got[i], want.c[i], want.tolerance[i], p.sums)
                    : got[i] != untouched)
            return t.fail(fmt::format("c[{},{}] is {:a}, not {:a}, tolerance {:g}", i / n, i % n,
                                      got[i], written ? want.c[i] : untouched, want.tolerance[i]),
                          where);
    }
}

void check_case(Test &t, const Kernel &kernel, const Case &p, const char *what,
                std::source_location where = std::source_location::current()) {
    check_case(t, kernel, p, p.op(), what, where);
}

// A row's scale that is NaN is its slots' and no others'.
void one_scale_is_nan(Test &t, const Kernel &kernel) {
    Case p(t, kernel, {35, 128, 2, kernel.number("bm") + 7, 3, 2}, Sums::exact);
    p.a_scale[4] = NAN;
    check_case(t, kernel, p, "a scale that is NaN");
}

// Scales of rows from the least that there is up: results are finite, as the reference has them.
void all_scales(Test &t, const Kernel &kernel) {
    constexpr f32 scales[] = {0, 0x1p-126f, 0x1.23p-120f, 0x1p-60f, 1, 0x1p60f, 0x1p90f};
    Case p(t, kernel, {35, 128, 2, kernel.number("bm") + 7, 3, 2}, Sums::rounded);
    for (u64 i = 0; i < p.a_scale.size(); ++i)
        p.a_scale[i] = scales[i % std::size(scales)];
    check_case(t, kernel, p, "all scales");
}

void turns(Test &t, const Kernel &kernel) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    const Case p(t, kernel, {2 * bn + 1, 192, 3, 4 * bm, 2, 5}, Sums::exact);
    Op op = p.op();
    op.raster_shift = 2, op.first = 1, op.levels = 3, op.pause = 40;
    check_case(t, kernel, p, op, "turns");
}

} // namespace

CHECK_FAMILY(moe_prefill_fp8) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    const auto check = [&](const Shape &shape, const char *what, Sums sums,
                           Order order = Order::shuffled) {
        check_case(t, kernel, Case(t, kernel, shape, sums, order), what);
    };
    if (t.entry)
        return check({bn + 1, 128, 1, 3, 1, 1}, "entry", Sums::exact);
    check({bn + 3, 320, 3, 2 * bm + 5, 4, 3}, "exact", Sums::exact);
    check({bn + 3, 320, 3, 2 * bm + 5, 4, 3}, "every path", Sums::rounded);
    check({1, 64, 1, 3, 1, 1}, "one stage", Sums::exact);
    check({bn + 3, 192, 1, bm + 5, 2, 3}, "waves and a block of no slot", Sums::exact,
          Order::ascending);
    if (t.checkers)
        return;
    one_scale_is_nan(t, kernel);
    all_scales(t, kernel);
    turns(t, kernel);
    for (const auto &shape : check::edge_shapes(kernel))
        check({shape.n, round_up(shape.k, 64u), 3, bm + 5, 4, 3}, "edge", Sums::exact);
    check({bn - 1, 768, 2, 2 * bm, 1, 2}, "each slot has a row of its own", Sums::rounded);
    check({33, 2880, 2, bm + 3, 4, 3}, "45 stages", Sums::rounded);
}
