// SPDX-License-Identifier: MIT
// gguf_decode_joint and gguf_decode_rows: each matrix's sums with its bias, every bit as
// gguf_decode defines them for its type; gate and up with their unit within what f32 arithmetic
// leaves.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "check/check.h"
#include "check/ops.h"
#include "gguf_case.h"
#include "gguf_rows.h"
#include "ref/gguf_moe_act.h"
#include "ref/gguf_product.h"
#include "runtime/launch.h"

using namespace nw;
using check::GgufRows;
using check::Region;
using check::Test;
using check::TileOrder;

namespace {

enum class Biases {
    none,
    of_columns,
    of_rows
}; // of_rows: each row of c has its own, as a residual

struct Shape {
    u32 n[3], k;
    Biases bias = Biases::of_columns;
    u32 groups = 0;
    bool hard = false; // activations at the ends of f32's range
    GgufRows form = GgufRows::tiles;
    u32 m = 1, stage = 0;

    u32 widest() const { return std::max({n[0], n[1], n[2]}); }
    u32 bias_rows() const { return bias == Biases::of_rows ? m : 1; }
    u32 bias_stride() const { return bias == Biases::of_rows ? widest() + 3 : 0; } // in f32
};

// A matrix of n rows; of none: no memory.
struct Matrix {
    Matrix(Test &t, const check::GgufType &type, const Shape &s, u32 n)
        : n(n), m(s.m), stride(s.bias_stride()), type(type.info.id) {
        if (!n)
            return;
        const auto random = s.hard ? check::gguf_small_blocks : check::gguf_random_blocks;
        blocks = random(t.rng, type, u64{n} * (s.k / type.info.elements));
        w.emplace(t.region<std::byte>(blocks));
        if (s.bias != Biases::none) {
            for (u32 i = 0; i < (s.bias_rows() - 1) * stride + n; ++i)
                biases.push_back(t.rng.below(5) ? t.rng.normal() : -1e30f);
            bias.emplace(t.region<f32>(biases));
        }
        c.emplace(t.region<f32>(std::vector<f32>(m * n, -777.0f)));
    }
    void put(u64 &w_at, u64 &bias_at, u64 &c_at) const {
        w_at = w ? address(w->data()) : 0;
        bias_at = bias ? address(bias->data()) : 0;
        c_at = c ? address(c->data()) : 0;
    }
    std::vector<f32> want(u32 k, std::span<const std::byte> a) const {
        std::vector<f32> y = ref::gguf_decode({type, m, n, k, a, blocks});
        for (u32 i = 0; i < m * n && bias; ++i)
            y[i] += biases[i / n * stride + i % n];
        return y;
    }

    u32 n, m, stride;
    GgmlType type;
    std::vector<std::byte> blocks;
    std::vector<f32> biases;
    std::optional<Region> w, bias, c;
};

// The third matrix's type.
std::string third_type(const Kernel &kernel) {
    const std::string type3 = kernel.param("type3");
    return type3 == "same" ? kernel.param("type") : type3;
}

Op operands(const Kernel &kernel, const Shape &s) {
    Op op{.kind = OpKind::gguf_joint};
    op.type = find_word(kernel.param("type")), op.type3 = find_word(kernel.param("type3"));
    op.act = word("none");
    op.m = s.m, op.n = s.n[0], op.n2 = s.n[1], op.n3 = s.n[2], op.k = s.k;
    op.bias_stride = 4 * s.bias_stride();
    return op;
}

void run(Test &t, const Kernel &kernel, const Shape &s, Op &op) {
    if (s.groups)
        op.groups = s.groups;
    if (s.stage)
        op.stage = s.stage;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
}

void name_shape(Test &t, const Shape &s) {
    t.shape(fmt::format("m={} n={} n2={} n3={} k={} bias={} groups={} stage={} form={}", s.m,
                        s.n[0], s.n[1], s.n[2], s.k, static_cast<int>(s.bias), s.groups, s.stage,
                        static_cast<int>(s.form)));
}

void check_joint(Test &t, const Kernel &kernel, const Shape &s,
                 std::source_location where = std::source_location::current()) {
    name_shape(t, s);
    const check::GgufType type = check::gguf_type(kernel);
    const check::GgufInput input(t, s.form,
                                 s.hard ? check::hard_rows(s.m, s.k)
                                        : check::gguf_activations(t.rng, u64{s.m} * s.k),
                                 s.m, s.k, TileOrder::steps);
    const Matrix one(t, type, s, s.n[0]), two(t, type, s, s.n[1]),
        three(t, check::gguf_type(third_type(kernel)), s, s.n[2]);
    Op op = operands(kernel, s);
    input.put(op);
    op.x_stride = 0; // rows without gaps
    one.put(op.w, op.bias, op.c);
    two.put(op.w2, op.bias2, op.c2);
    three.put(op.w3, op.bias3, op.c3);
    run(t, kernel, s, op);
    input.unchanged(t, where);
    for (const Matrix *m : {&one, &two, &three})
        if (m->n) {
            t.unchanged("w", *m->w, where);
            if (m->bias)
                t.unchanged("bias", *m->bias, where);
            check::same_bits(t, "c", *m->c, m->want(s.k, input.tiles_by_step()), where);
        }
}

// Gate and up of n[0] rows each, with their unit.
void check_gated(Test &t, const Kernel &kernel, Shape s,
                 std::source_location where = std::source_location::current()) {
    s.n[1] = s.n[0], s.bias = Biases::none;
    name_shape(t, s);
    const check::GgufType type = check::gguf_type(kernel);
    const check::GgufInput input(t, GgufRows::tiles, check::gguf_activations(t.rng, u64{s.m} * s.k),
                                 s.m, s.k, TileOrder::steps);
    const Matrix gate(t, type, s, s.n[0]), up(t, type, s, s.n[0]);
    Op op = operands(kernel, s);
    input.put(op);
    op.x_stride = 0;
    u64 none = 0;
    up.put(op.w2, none, none);
    gate.put(op.w, none, op.c);
    op.act = word("silu");
    run(t, kernel, s, op);
    for (const Matrix *m : {&gate, &up})
        t.unchanged("w", *m->w, where);
    const std::vector<f32> g = gate.want(s.k, input.tiles_by_step()),
                           u = up.want(s.k, input.tiles_by_step());
    t.guards_clean("c", *gate.c, where);
    const std::vector<f32> got = gate.c->read_as<f32>();
    for (u32 i = 0; i < got.size(); ++i)
        if (const ref::SwigluResult want = ref::silu(g[i], u[i]);
            std::isnan(got[i]) != std::isnan(want.c) ||
            std::fabs(got[i] - want.c) > want.tolerance) {
            t.fail(fmt::format("c[{}] is {}, not {}", i, got[i], want.c), where);
            return;
        }
}

// Sums added to what c holds.
void check_in_place(Test &t, const Kernel &kernel, Shape s,
                    std::source_location where = std::source_location::current()) {
    s.bias = Biases::none;
    name_shape(t, s);
    const check::GgufInput input(t, GgufRows::tiles, check::gguf_activations(t.rng, u64{s.m} * s.k),
                                 s.m, s.k, TileOrder::steps);
    const Matrix one(t, check::gguf_type(kernel), s, s.n[0]);
    Op op = operands(kernel, s);
    input.put(op);
    op.x_stride = 0, op.bias_stride = 4 * s.n[0];
    u64 none = 0;
    one.put(op.w, none, op.c);
    op.bias = op.c;
    run(t, kernel, s, op);
    std::vector<f32> want = one.want(s.k, input.tiles_by_step());
    for (f32 &v : want)
        v += -777.0f;
    check::same_bits(t, "c", *one.c, want, where);
}

} // namespace

CHECK_FAMILY(gguf_decode_joint) {
    const u32 rows = kernel.rows_per_workgroup;
    const u32 block = std::max(gguf_block(kernel.param("type")), gguf_block(third_type(kernel)));
    if (t.entry)
        return check_joint(t, kernel,
                           {{rows + 1, 3, kernel.param("type3") == "same" ? 0 : rows + 1}, block});
    check_joint(t, kernel, {{1, 1, 1}, block});
    check_joint(t, kernel, {{rows, 2 * rows + 5, rows - 1}, 1024 + block});
    check_joint(t, kernel, {{3 * rows + 2, 7, 0}, 768, Biases::none});
    check_joint(t, kernel,
                {{2 * rows, rows + 6, 3 * rows}, 512, Biases::of_columns, 2}); // rounds of rows
    check_joint(
        t, kernel,
        {{5, 3, 2 * rows + 7}, 1024 + block, Biases::of_columns, 1}); // all of one workgroup
    check_joint(t, kernel, {{9, 5, 33}, 512, Biases::none, 0, true});
    if (machine_of(t.modules.device()).target->dot4)
        for (const GgufRows form : {GgufRows::plain, GgufRows::normed}) {
            check_joint(t, kernel, {{rows + 2, 6, 40}, 768, Biases::of_columns, 0, false, form});
            check_joint(t, kernel, {{5, 9, 0}, 5120, Biases::of_columns, 0, false, form});
            check_joint(t, kernel, {{5, 9, 34}, 5120, Biases::of_columns, 1, false, form});
        }
    if (t.checkers)
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_joint(t, kernel, {{shape.n, shape.n, shape.n}, shape.k});
    check_joint(t, kernel, {{6, 5, 4}, 12288});
}

CHECK_FAMILY(gguf_decode_rows) {
    const u32 rows = kernel.rows_per_workgroup, most = kernel.number("m"),
              block = gguf_block(kernel.param("type")), least = most / 2 + 1;
    if (t.entry)
        return check_joint(t, kernel, {.n = {rows + 1, 3, rows + 1}, .k = block, .m = most});
    check_joint(t, kernel, {.n = {1, 1, 1}, .k = block, .m = least});
    check_joint(t, kernel,
                {.n = {rows, 2 * rows + 5, rows - 1},
                 .k = 1024 + block,
                 .bias = Biases::of_rows,
                 .m = most});
    check_joint(t, kernel, {.n = {3 * rows + 2, 7, 0}, .k = 768, .bias = Biases::none, .m = least});
    check_joint(
        t, kernel, // rounds of rows, stages of one step
        {.n = {2 * rows, rows + 6, 3 * rows}, .k = 2048, .groups = 2, .m = most, .stage = 1});
    check_joint(t, kernel, {.n = {5, 0, 0}, .k = 1024 + block, .m = least, .stage = 1});
    check_joint(t, kernel,
                {.n = {9, 5, 33}, .k = 512, .bias = Biases::none, .hard = true, .m = most});
    check_gated(t, kernel, {.n = {rows + 3}, .k = 1024 + block, .m = most});
    check_gated(t, kernel, {.n = {2 * rows + 1}, .k = 768, .groups = 1, .m = least});
    check_in_place(t, kernel, {.n = {rows + 5}, .k = 768, .m = least});
    if (t.checkers)
        return;
    for (u32 m = 1; m <= most; ++m)
        check_joint(t, kernel, {.n = {6, 5, 4}, .k = 768, .m = m});
    for (const auto &shape : check::edge_shapes(kernel)) {
        check_joint(t, kernel, {.n = {shape.n, shape.n, shape.n}, .k = shape.k, .m = most});
        check_gated(t, kernel, {.n = {shape.n}, .k = shape.k, .m = least});
    }
    check_joint(t, kernel, {.n = {6, 5, 4}, .k = 12288, .bias = Biases::of_rows, .m = most});
}
