// SPDX-License-Identifier: MIT
// gguf_decode_joint: each matrix's sums with its bias, every bit as gguf_decode defines them for
// its type.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <optional>

#include "check/check.h"
#include "check/ops.h"
#include "gguf_case.h"
#include "gguf_rows.h"
#include "ref/gguf_product.h"
#include "runtime/launch.h"

using namespace nw;
using check::GgufRows;
using check::Region;
using check::Test;

namespace {

struct Shape {
    u32 n[3], k;
    bool bias = true;
    u32 groups = 0;
    bool hard = false; // activations at the ends of f32's range
    GgufRows form = GgufRows::tiles;
};

// A matrix of n rows; of none: no memory.
struct Matrix {
    Matrix(Test &t, const check::GgufType &type, const Shape &s, u32 n) : n(n), type(type.info.id) {
        if (!n)
            return;
        const auto random = s.hard ? check::gguf_small_blocks : check::gguf_random_blocks;
        blocks = random(t.rng, type, u64{n} * (s.k / type.info.elements));
        w.emplace(t.region<std::byte>(blocks));
        if (s.bias)
            for (u32 i = 0; i < n; ++i)
                biases.push_back(t.rng.below(5) ? t.rng.normal() : -1e30f);
        if (s.bias)
            bias.emplace(t.region<f32>(biases));
        c.emplace(t.region<f32>(std::vector<f32>(n, -777.0f)));
    }
    void put(u64 &w_at, u64 &bias_at, u64 &c_at) const {
        w_at = w ? address(w->data()) : 0;
        bias_at = bias ? address(bias->data()) : 0;
        c_at = c ? address(c->data()) : 0;
    }
    std::vector<f32> want(u32 k, std::span<const std::byte> a) const {
        std::vector<f32> y = ref::gguf_decode({type, 1, n, k, a, blocks});
        for (u32 i = 0; i < n && bias; ++i)
            y[i] += biases[i];
        return y;
    }

    u32 n;
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

void check_joint(Test &t, const Kernel &kernel, const Shape &s,
                 std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("n={} n2={} n3={} k={} bias={} groups={} form={}", s.n[0], s.n[1], s.n[2],
                        s.k, s.bias, s.groups, static_cast<int>(s.form)));
    const check::GgufType type = check::gguf_type(kernel);
    const check::GgufInput input(
        t, s.form, s.hard ? check::hard_rows(1, s.k) : check::gguf_activations(t.rng, s.k), 1, s.k);
    const Matrix one(t, type, s, s.n[0]), two(t, type, s, s.n[1]),
        three(t, check::gguf_type(third_type(kernel)), s, s.n[2]);
    Op op{.kind = OpKind::gguf_joint};
    op.type = find_word(kernel.param("type")), op.type3 = find_word(kernel.param("type3"));
    op.n = s.n[0], op.n2 = s.n[1], op.n3 = s.n[2], op.k = s.k;
    input.put(op);
    op.x_stride = 0; // of one row
    one.put(op.w, op.bias, op.c);
    two.put(op.w2, op.bias2, op.c2);
    three.put(op.w3, op.bias3, op.c3);
    if (s.groups)
        op.groups = s.groups;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    input.unchanged(t, where);
    for (const Matrix *m : {&one, &two, &three})
        if (m->n) {
            t.unchanged("w", *m->w, where);
            if (m->bias)
                t.unchanged("bias", *m->bias, where);
            check::same_bits(t, "c", *m->c, m->want(s.k, input.tiles(0)), where);
        }
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
    check_joint(t, kernel, {{3 * rows + 2, 7, 0}, 768, false});
    check_joint(t, kernel, {{2 * rows, rows + 6, 3 * rows}, 512, true, 2}); // rounds of rows
    check_joint(t, kernel, {{5, 3, 2 * rows + 7}, 1024 + block, true, 1});  // all of one workgroup
    check_joint(t, kernel, {{9, 5, 33}, 512, false, 0, true});
    if (machine_of(t.modules.device()).target->dot4)
        for (const GgufRows form : {GgufRows::plain, GgufRows::normed}) {
            check_joint(t, kernel, {{rows + 2, 6, 40}, 768, true, 0, false, form});
            check_joint(t, kernel, {{5, 9, 0}, 5120, true, 0, false, form});
            check_joint(t, kernel, {{5, 9, 34}, 5120, true, 1, false, form});
        }
    if (t.checkers)
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_joint(t, kernel, {{shape.n, shape.n, shape.n}, shape.k});
    check_joint(t, kernel, {{6, 5, 4}, 12288});
}
