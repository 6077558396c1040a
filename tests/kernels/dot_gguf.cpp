// SPDX-License-Identifier: MIT
// dot_gguf: every bit, and how near to the product without int8.
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "check/ops.h"
#include "gguf_case.h"
#include "ref/dot_gguf.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

using Shape = check::GgufShape;

class Case : public check::GgufOperands {
public:
    Case(Test &t, const Kernel &kernel, Shape s)
        : GgufOperands(t, kernel, s), t_(t), kernel_(kernel) {}

    // If values are finite, the bound is checked, too. raster_shift: -1: the library's choice.
    std::vector<f32> check(const char *what = "", bool finite = true, i32 raster_shift = -1,
                           std::source_location where = std::source_location::current()) {
        const auto &[m, n, k] = s_;
        t_.shape(fmt::format("m={} n={} k={} {}", m, n, k, what));
        const std::vector<std::byte> tiles = ref::quantize_q8(x_, m, k);
        const std::vector<f32> before(u64{m} * n, -777.0f);
        const Region a = t_.region<std::byte>(tiles), w = t_.region<std::byte>(w_),
                     c = t_.region<f32>(before);
        Op op = GgufLaunch{kernel_.param("type"), m, n, k, a.data(), w.data(), c.data()};
        if (raster_shift >= 0)
            op.raster_shift = static_cast<u32>(raster_shift);
        launch(t_.modules, kernel_, op);
        t_.modules.device().synchronize();
        ++t_.launches;
        t_.unchanged("a", a, where);
        t_.unchanged("w", w, where);
        const ref::GgufProduct product{type_.info.id, m, n, k, tiles, w_};
        const std::vector<f32> want = ref::dot_gguf(product, kernel_.number("parts"));
        check::same_bits(t_, "c", c, want, where);
        if (finite) {
            const ref::GgufExact exact = ref::gguf_exact(x_, product);
            check::near_exact(t_, want, exact.c, exact.tolerance, where);
        }
        return c.read_as<f32>();
    }

    // Any finite activations give finite results.
    void check_range(std::source_location where = std::source_location::current()) {
        make_hard(t_);
        const std::vector<f32> got = check("hard", false, -1, where);
        const std::vector<std::byte> tiles = ref::quantize_q8(x_, s_.m, s_.k);
        const ref::GgufExact exact =
            ref::gguf_exact(x_, {type_.info.id, s_.m, s_.n, s_.k, tiles, w_});
        check::in_range(t_, got, exact.c, exact.tolerance, exact.size, where);
    }

private:
    Test &t_;
    const Kernel &kernel_;
};

// Scales that are no numbers, and activations that are none, reach their row or column only.
void not_finite(Test &t, const Kernel &kernel) {
    constexpr u16 nan = 0x7e00, infinity = 0x7c00, largest = 0x7bff;
    Case c(t, kernel, {5, 20, 512});
    for (u32 which = 0; which < c.scales(); ++which) {
        c.set_scale(1 + which, 1, which, nan);
        c.set_scale(5 + which, 0, which, infinity);
        c.set_scale(9 + which, 1, which, largest);
    }
    c.activation(2, 40) = std::numeric_limits<f32>::quiet_NaN();
    c.activation(4, 300) = -std::numeric_limits<f32>::infinity();
    const std::vector<f32> got = c.check("not finite", false);
    for (u32 m = 0; m < 5; ++m)
        for (u32 n = 0; n < 20; ++n) {
            const bool sick = m == 2 || m == 4 || (n >= 1 && n < 1 + c.scales()) ||
                              (n >= 5 && n < 5 + c.scales());
            if (std::isfinite(got[m * 20 + n]) == sick)
                t.fail(fmt::format("c[{},{}] is {}", m, n, got[m * 20 + n]),
                       std::source_location::current());
        }
}

// Scales of 0 and below f16's normal numbers.
void tiny(Test &t, const Kernel &kernel) {
    Case c(t, kernel, {3, 20, 256});
    for (u32 row = 0; row < 20; ++row)
        for (u32 which = 0; which < c.scales(); ++which)
            c.set_scale(row, 0, which, static_cast<u16>(row % 2 ? 0x8000 + row / 2 : 3 * row));
    c.check("tiny");
}

// Where blocks are of 32, k may end in the middle of a stage.
void ends(Test &t, const Kernel &kernel) {
    if (gguf_block(kernel.param("type")) != 32)
        return;
    for (u32 k : {32, 64, 96, 224, 288, 480, 1056})
        Case(t, kernel, {17, 21, k}).check("ends");
}

// The library's launches for a product of this kernel: with the activations, in its workspace.
void by_plan(Test &t, const Kernel &kernel, Shape s,
             std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} n={} k={} planned", s.m, s.n, s.k));
    const check::GgufType type = check::gguf_type(kernel);
    const std::vector<f32> values = check::gguf_activations(t.rng, u64{s.m} * s.k);
    const std::vector<std::byte> blocks =
        check::gguf_random_blocks(t.rng, type, u64{s.n} * (s.k / type.info.elements));
    const Machine machine = machine_of(t.modules.device());
    const u64 bytes =
        plan(linear_gguf(kernel.param("type"), s.m, s.n, s.k), kernel, machine).workspace_bytes;
    const Region x = t.region<f32>(values), w = t.region<std::byte>(blocks),
                 c = t.region<f32>(std::vector<f32>(u64{s.m} * s.n, -777.0f)),
                 workspace = t.region<std::byte>(std::vector<std::byte>(bytes));
    const GgufLinear problem{
        kernel.param("type"), s.m,  s.n, s.k, x.data(), u64{4} * s.k, w.data(), c.data(),
        workspace.data(),     bytes};
    launch(t.modules, plan(problem, kernel, machine));
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    t.guards_clean("workspace", workspace, where);
    const std::vector<std::byte> tiles = ref::quantize_q8(values, s.m, s.k);
    check::same_bits(
        t, "c", c,
        ref::dot_gguf({type.info.id, s.m, s.n, s.k, tiles, blocks}, kernel.number("parts")), where);
}

} // namespace

CHECK_FAMILY(dot_gguf) {
    const u32 bm = kernel.number("bm"), bn = kernel.number("bn");
    if (t.entry)
        return void(Case(t, kernel, {17, bn + 1, 256}).check("entry"));
    Case(t, kernel, {bm + 3, bn + 5, 512}).check(); // four tiles, three of them in part
    Case(t, kernel, {17, 1, 256}).check();
    Case(t, kernel, {9, 20, 1280}).check(); // two steps of activations
    ends(t, kernel);
    Case(t, kernel, {10, 5, 512}).check_range();
    if (t.checkers)
        return;
    by_plan(t, kernel, {bm + 1, 40, 512});
    not_finite(t, kernel);
    tiny(t, kernel);
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        Case(t, kernel, {m, n, k}).check("edge");
    Case(t, kernel, {33, 16, 2304}).check(); // nine super-blocks
    Case(t, kernel, {3 * bm + 1, bn + 1, 256}).check("turns of two", true, 1);
}
