// SPDX-License-Identifier: MIT
// gguf_prefill: every bit, and how near to the product without f16.
#include <fmt/format.h>
#include <limits>

#include "base/half.h"
#include "check/check.h"
#include "check/ops.h"
#include "gguf_case.h"
#include "ref/gguf_halves.h"
#include "ref/gguf_prefill.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

using Shape = check::GgufShape;

class Case : public check::GgufOperands {
public:
    Case(Test &t, const Kernel &kernel, Shape s)
        : GgufOperands(t, kernel, s), t_(t), kernel_(kernel) {}

    // In an order that some may be given of; of finite values the bound holds, too.
    void check(const Op &order, const char *what, bool finite = true,
               std::source_location where = std::source_location::current()) {
        const auto &[m, n, k] = s_;
        Op op = order;
        kernel_.contract->derive(op, kernel_, machine_of(t_.modules.device()));
        const u32 raster = 1u << op.raster_shift, rotate = static_cast<u32>(op.rotate);
        t_.shape(fmt::format("m={} n={} k={} raster={} rotate={} levels={} {}", m, n, k, raster,
                             rotate, op.levels, what));
        const u32 tiles = gguf_halves_tiles(m);
        const std::vector<std::byte> halves = ref::gguf_halves(x_, m, k, tiles);
        const std::vector<f32> before(u64{m} * n, -777.0f);
        const Region a = t_.region<std::byte>(halves), w = t_.region<std::byte>(w_),
                     c = t_.region<f32>(before);
        op = order;
        op.a = address(a.data()), op.w = address(w.data()), op.c = address(c.data());
        launch(t_.modules, kernel_, op);
        t_.modules.device().synchronize();
        ++t_.launches;
        t_.unchanged("a", a, where);
        t_.unchanged("w", w, where);
        const ref::GgufPrefillProduct product{
            type_.info.id, m,      n,           k,      tiles, kernel_.number("bm"),
            raster,        rotate, kernel_.gfx, halves, w_};
        const std::vector<f32> want = ref::gguf_prefill(product);
        check::same_bits(t_, "c", c, want, where);
        if (!finite)
            return;
        const ref::GgufPrefillExact exact = ref::gguf_prefill_exact(x_, product);
        if (hard_)
            check::in_range(t_, want, exact.c, exact.tolerance,
                            check::product_sizes(type_, m, n, k, x_, w_), where);
        else
            check::near_exact(t_, want, exact.c, exact.tolerance, where);
    }

    // Any finite activations give finite results.
    void check_range() {
        hard_ = true;
        make_hard(t_);
        check("hard");
    }

    // As the library would.
    void check(const char *what = "", bool finite = true,
               std::source_location where = std::source_location::current()) {
        check(op(), what, finite, where);
    }

    Op op() const { return linear_gguf(kernel_.param("type"), s_.m, s_.n, s_.k); }

private:
    Test &t_;
    const Kernel &kernel_;
    bool hard_ = false;
};

// A scale that is no number, and activations that are none, reach their row or column only.
void not_finite(Test &t, const Kernel &kernel) {
    constexpr u16 nan = 0x7e00, infinity = 0x7c00, largest = 0x7bff;
    Case c(t, kernel, {5, 20, 512});
    for (u32 which = 0; which < c.scales(); ++which) {
        c.set_scale(1 + which, 1, which, nan);
        c.set_scale(5 + which, 0, which, infinity);
        c.set_scale(9 + which, 1, which, largest); // weights beyond f16's range
    }
    c.activation(2, 40) = std::numeric_limits<f32>::quiet_NaN();
    c.activation(4, 300) = -std::numeric_limits<f32>::infinity();
    c.check("not finite", false);
}

// Scales of 0 and below f16's normal numbers.
void tiny(Test &t, const Kernel &kernel) {
    Case c(t, kernel, {3, 20, 256});
    for (u32 row = 0; row < 20; ++row)
        for (u32 which = 0; which < c.scales(); ++which)
            c.set_scale(row, 0, which, static_cast<u16>(row % 2 ? 0x8000 + row / 2 : 3 * row));
    c.check("tiny");
}

// Where blocks are of 32, k may end anywhere among the 256 that activations come in.
void ends(Test &t, const Kernel &kernel) {
    if (gguf_block(kernel.param("type")) != 32)
        return;
    for (u32 k : {32, 64, 96, 224, 288, 480})
        Case(t, kernel, {17, 21, k}).check();
}

} // namespace

CHECK_FAMILY(gguf_prefill) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    if (t.entry)
        return Case(t, kernel, {17, bn + 1, 256}).check("entry");
    Case(t, kernel, {bm + 3, bn + 5, 512}).check(); // four tiles, three of them in part
    Case(t, kernel, {17, 1, 256}).check();
    ends(t, kernel);
    Case(t, kernel, {10, 5, 512}).check_range();
    if (t.checkers)
        return;
    not_finite(t, kernel);
    tiny(t, kernel);
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        Case(t, kernel, {m, n, k}).check("edge");
    Case(t, kernel, {33, 16, 2304}).check(); // nine super-blocks
    Case turns(t, kernel, {bm + 9, bn + 1, 1024});
    Op op = turns.op();
    op.raster_shift = 2, op.rotate = 1, op.first = 1, op.levels = 3, op.pause = 40;
    turns.check(op, "turns");
}
