// SPDX-License-Identifier: MIT
// gguf_moe_act: sums with their biases to the bit, as gguf_decode defines them; SwiGLU, clamped or
// not, within what f32 arithmetic leaves. Gate and up in rows that alternate, as gpt-oss's
// checkpoints have them, and in tensors of their own, as its GGUF files.
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "check/ops.h"
#include "gguf_case.h"
#include "gguf_rows.h"
#include "ref/gguf_moe_act.h"
#include "ref/gguf_product.h"
#include "runtime/launch.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

constexpr f32 untouched = -777.0f;
constexpr f32 nan = std::numeric_limits<f32>::quiet_NaN(),
              infinity = std::numeric_limits<f32>::infinity();

struct Shape {
    u32 n, k, experts, slots, top_k;
    bool in_turn = false;        // rows of gate and up
    bool bias = true, up = true; // whether they have biases
    ref::Swiglu p{1.702f, 7};
    u32 groups = 0;
    bool hard = false; // activations at the ends of f32's range
    check::GgufRows form = check::GgufRows::tiles;
};

// An expert's gate and up.
struct Matrix {
    std::vector<std::byte> w;
    std::vector<f32> bias;
};

std::vector<f32> biases(Rng &rng, u32 n) {
    std::vector<f32> out(n);
    for (f32 &b : out) {
        constexpr f32 others[] = {0, 6, -6, 100, -1e30f, infinity, -infinity, nan};
        b = rng.below(4) ? rng.normal() : others[rng.below(8)];
    }
    return out;
}

class Experts {
public:
    Experts(Test &t, const Kernel &kernel, const Shape &s)
        : s_(s), gated_(kernel.param("act") != "none"), act_(kernel.param("act")),
          type_(check::gguf_type(kernel)),
          row_bytes_(u64{s.k} / type_.info.elements * type_.info.bytes) {
        const auto random = s.hard ? check::gguf_small_blocks : check::gguf_random_blocks;
        for (u32 e = 0; e < s.experts; ++e)
            for (u32 half = 0; half < (gated_ ? 2u : 1u); ++half)
                all_.push_back({random(t.rng, type_, s.n * row_bytes_ / type_.info.bytes),
                                biases(t.rng, s.n)});
        place(t);
    }
    u64 row_bytes() const { return row_bytes_; }
    GgmlType type() const { return type_.info.id; }
    bool gated() const { return gated_; }
    ref::SwigluResult column(f32 g, f32 u) const {
        return act_ == "silu" ? ref::silu(g, u) : ref::swiglu(s_.p, g, u);
    }
    const Matrix &gate(u32 e) const { return all_[gated_ ? 2 * e : e]; }
    const Matrix &up(u32 e) const { return all_[2 * e + 1]; }

    void put(Op &op) const {
        op.w = address(w_->data()), op.w_expert = w_expert_, op.w_row = w_row_;
        op.bias_expert = 4 * s_.n * step_ + 8, op.bias_row = 4 * step_;
        if (s_.bias)
            op.bias = address(bias_->data());
        if (!gated_)
            return;
        op.act = find_word(act_);
        op.alpha = std::bit_cast<u32>(s_.p.alpha), op.limit = std::bit_cast<u32>(s_.p.limit);
        op.w_up = op.w + (s_.in_turn ? row_bytes_ : of_halves_);
        if (s_.up)
            op.bias_up = address(bias_->data()) + (s_.in_turn ? 4 : 4 * up_at_);
    }
    void unchanged(Test &t, std::source_location where) const {
        t.unchanged("w", *w_, where);
        t.unchanged("bias", *bias_, where);
    }

private:
    // Experts `w_expert_` bytes apart, 2 of them more where that is even; biases 8 more. Without
    // turns up comes behind all of gate.
    void place(Test &t) {
        const u64 halves = gated_ && s_.in_turn ? 2 : 1, tensors = gated_ && !s_.in_turn ? 2 : 1;
        w_row_ = halves * row_bytes_, step_ = halves;
        w_expert_ = round_up<u64>(s_.n * w_row_ + 2, 2);
        of_halves_ = s_.experts * w_expert_;
        const u64 of_bias = s_.n * halves + 2;
        up_at_ = s_.experts * of_bias;
        std::vector<std::byte> w(tensors * of_halves_, std::byte{0xff});
        std::vector<f32> bias(tensors * up_at_, nan);
        for (u32 e = 0; e < s_.experts; ++e)
            for (u32 half = 0; half < halves * tensors; ++half) {
                const Matrix &m = half ? up(e) : gate(e);
                for (u32 i = 0; i < s_.n; ++i) {
                    const u64 at = half * (tensors == 2 ? of_halves_ : row_bytes_);
                    std::copy_n(&m.w[i * row_bytes_], row_bytes_,
                                &w[at + e * w_expert_ + i * w_row_]);
                    bias[half * (tensors == 2 ? up_at_ : 1) + e * of_bias + i * step_] = m.bias[i];
                }
            }
        w_.emplace(t.region<std::byte>(w));
        bias_.emplace(t.region<f32>(bias));
    }

    Shape s_;
    bool gated_;
    std::string act_;
    check::GgufType type_;
    u64 row_bytes_, w_row_ = 0, w_expert_ = 0, of_halves_ = 0, up_at_ = 0, step_ = 1;
    std::vector<Matrix> all_;
    std::optional<Region> w_, bias_;
};

std::vector<f32> sums(const Experts &o, const Shape &s, std::span<const std::byte> a,
                      const Matrix &m, bool bias) {
    std::vector<f32> y = ref::gguf_decode({o.type(), 1, s.n, s.k, a, m.w});
    for (u32 i = 0; bias && i < s.n; ++i)
        y[i] += m.bias[i];
    return y;
}

struct Want {
    std::vector<f32> c; // of act none, every bit
    std::vector<f64> exact, tolerance;
};

void put(Want &want, const Experts &o, const Shape &s, u32 slot, u32 expert,
         std::span<const std::byte> a) {
    const std::vector<f32> g = sums(o, s, a, o.gate(expert), s.bias);
    const std::vector<f32> u = o.gated() ? sums(o, s, a, o.up(expert), s.up) : g;
    for (u32 i = 0; i < s.n; ++i) {
        const u64 at = u64{slot} * s.n + i;
        if (s.hard && !(std::isfinite(g[i]) && std::isfinite(u[i])))
            throw Error("the reference is not finite");
        const ref::SwigluResult r = o.column(g[i], u[i]);
        want.c[at] = g[i], want.exact[at] = r.c, want.tolerance[at] = r.tolerance;
    }
}

void near(Test &t, const Region &c, const Want &want, std::source_location where) {
    t.guards_clean("c", c, where);
    const std::vector<f32> got = c.read_as<f32>();
    for (u64 i = 0; i < got.size(); ++i)
        if (const f32 rounded = static_cast<f32>(want.exact[i]);
            std::isinf(rounded) ? std::isfinite(got[i]) // where a factor underflows NaN
                                : std::isnan(got[i]) != std::isnan(want.exact[i]) ||
                                      std::fabs(got[i] - want.exact[i]) > want.tolerance[i]) {
            t.fail(fmt::format("c[{}] is {}, not {}", i, got[i], want.exact[i]), where);
            return;
        }
}

void check_act(Test &t, const Kernel &kernel, const Shape &s,
               std::source_location where = std::source_location::current()) {
    t.shape(fmt::format(
        "n={} k={} experts={} slots={} top_k={} in_turn={} limit={} groups={} form={}", s.n, s.k,
        s.experts, s.slots, s.top_k, s.in_turn, s.p.limit, s.groups, static_cast<int>(s.form)));
    const Experts o(t, kernel, s);
    const u32 rows = ceil_div(s.slots, s.top_k);
    const check::GgufInput input(t, s.form,
                                 s.hard ? check::hard_rows(rows, s.k)
                                        : check::gguf_activations(t.rng, u64{rows} * s.k),
                                 rows, s.k);
    const u64 size = u64{s.slots} * s.n;
    Want want{std::vector<f32>(size, untouched), std::vector<f64>(size, untouched),
              std::vector<f64>(size)};
    std::vector<i32> ids(s.slots);
    for (u32 slot = 0; slot < s.slots; ++slot) {
        ids[slot] = t.rng.below(8) ? static_cast<i32>(t.rng.below(s.experts))
                                   : static_cast<i32>(s.experts) * (t.rng.below(2) ? 1 : -1);
        if (const u32 e = static_cast<u32>(ids[slot]); e < s.experts)
            put(want, o, s, slot, e, input.tiles(slot / s.top_k));
    }
    const Region experts = t.region<i32>(ids), c = t.region<f32>(std::vector<f32>(size, untouched));
    Op op{.kind = OpKind::moe_gguf_act};
    op.type = find_word(kernel.param("type")), op.act = word("none");
    op.n = s.n, op.k = s.k, op.experts = s.experts, op.slots = s.slots, op.top_k = s.top_k;
    op.c = address(c.data()), op.expert_ids = address(experts.data());
    input.put(op);
    o.put(op);
    if (s.groups)
        op.groups = s.groups;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    input.unchanged(t, where);
    t.unchanged("expert_ids", experts, where);
    o.unchanged(t, where);
    if (o.gated())
        near(t, c, want, where);
    else
        check::same_bits(t, "c", c, want.c, where);
}

Shape hard_shape(check::GgufRows form) {
    return {.n = 5,
            .k = 512,
            .experts = 1,
            .slots = 10,
            .top_k = 1,
            .bias = false,
            .up = false,
            .hard = true,
            .form = form};
}

// Rows of f32, on devices whose kernels convert them.
void check_own_rows(Test &t, const Kernel &kernel) {
    if (!machine_of(t.modules.device()).target->dot4)
        return;
    using check::GgufRows;
    for (const GgufRows form : {GgufRows::plain, GgufRows::normed}) {
        check_act(t, kernel,
                  {.n = 37, .k = 768, .experts = 3, .slots = 5, .top_k = 2, .form = form});
        check_act(t, kernel,
                  {.n = 5, .k = 5120, .experts = 2, .slots = 2, .top_k = 1, .form = form});
        if (!t.checkers)
            check_act(t, kernel,
                      {.n = 3, .k = 12288, .experts = 1, .slots = 1, .top_k = 1, .form = form});
    }
    check_act(t, kernel, hard_shape(GgufRows::plain));
}

} // namespace

CHECK_FAMILY(gguf_moe_act) {
    const u32 rows = kernel.rows_per_workgroup, block = gguf_block(kernel.param("type"));
    if (t.entry)
        return check_act(t, kernel, {rows + 1, block, 1, 1, 1});
    check_act(t, kernel, {1, block, 1, 2, 1});
    check_act(t, kernel, {rows + 3, 1024 + block, 3, 7, 2, true});
    check_act(t, kernel,
              {.n = 2 * rows + 1,
               .k = 768,
               .experts = 4,
               .slots = 5,
               .top_k = 5,
               .groups = 1}); // rounds of rows
    check_act(t, kernel, hard_shape(check::GgufRows::tiles));
    check_own_rows(t, kernel);
    if (t.checkers)
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_act(t, kernel, {shape.n, shape.k, 3, 5, 2, true});
    check_act(t, kernel, {40, 512, 2, 5, 2, false, false, true});
    check_act(t, kernel, {40, 512, 2, 5, 2, true, true, false, {0.5f, infinity}});
    check_act(t, kernel, {3 * rows - 1, 2048, 5, 16, 8, false, true, true, {1, 2.5f}});
    check_act(t, kernel, {5, 3072, 2, 3, 1, true});
}
