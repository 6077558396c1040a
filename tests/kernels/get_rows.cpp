// SPDX-License-Identifier: MIT
// get_rows: to the bit what the reference has of any blocks, for indices out of order, repeated and
// outside, and lists, matrices and rows apart from each other.
#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "check/check.h"
#include "kernels/tensor.h"
#include "ref/rows.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Case {
    u32 k;
    std::array<u32, 3> n;
    u32 x_rows;
    u64 pad = 0; // bytes between rows of x, elements between those of y
    bool permuted = false, by_index = true;
};

const GgmlTypeInfo &type_of(const Kernel &kernel) { return *find_ggml_type(kernel.param("type")); }

std::vector<i32> any_indices(Rng &rng, const Case &p) {
    const i32 outside[] = {-1, static_cast<i32>(p.x_rows), 0x7fffffff, -0x7fffffff - 1};
    std::vector<i32> out(u64{p.n[0]} * p.n[1] * p.n[2]);
    for (u64 i = 0; i < out.size(); ++i)
        out[i] = !p.by_index    ? static_cast<i32>(i % p.n[0])
                 : rng.below(7) ? static_cast<i32>(rng.below(p.x_rows))
                                : outside[rng.below(4)];
    return out;
}

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("k={} n={}x{}x{} x_rows={} pad={} permuted={} by_index={}", p.k, p.n[2],
                        p.n[1], p.n[0], p.x_rows, p.pad, p.permuted, p.by_index));
    const GgmlTypeInfo &type = type_of(kernel);
    const u32 bytes = p.k / type.elements * type.bytes;
    const Tensor matrices = check::tensor({bytes, p.x_rows, p.n[1], p.n[2]}, 1, p.pad, p.permuted);
    const Tensor lists = check::tensor({1, p.n[0], p.n[1], p.n[2]}, 4, p.pad ? 1 : 0, p.permuted);
    const Tensor out = check::tensor({p.k, p.n[0], p.n[1], p.n[2]}, 4, p.pad, p.permuted);
    std::vector<std::byte> blocks(matrices.elements());
    for (std::byte &b : blocks)
        b = static_cast<std::byte>(t.rng.below(256));
    const std::vector<i32> indices = any_indices(t.rng, p);
    const Region x = t.region<u8>(check::placed(matrices, blocks)),
                 ids = t.region<u8>(check::placed(lists, indices)),
                 y = t.region<u8>(std::vector<u8>(out.bytes(), Tensor::poison));
    launch(t.modules, kernel,
           ops::GetRows{.type = kernel.param("type"),
                        .k = p.k,
                        .n1 = p.n[0],
                        .n2 = p.n[1],
                        .n3 = p.n[2],
                        .x_rows = p.x_rows,
                        .x = x.data(),
                        .ids = p.by_index ? static_cast<const i32 *>(ids.data()) : nullptr,
                        .y = static_cast<f32 *>(y.data()),
                        .x_s1 = matrices.stride[1],
                        .x_s2 = matrices.stride[2],
                        .x_s3 = matrices.stride[3],
                        .y_s1 = out.stride[1],
                        .y_s2 = out.stride[2],
                        .y_s3 = out.stride[3],
                        .ids_s1 = lists.stride[1],
                        .ids_s2 = lists.stride[2],
                        .ids_s3 = lists.stride[3]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    t.unchanged("ids", ids, where);
    const bool moved = type.name == "i32" || type.name == "f32";
    const std::vector<f32> got = check::taken<f32>(t, "y", out, y, where),
                           want = ref::get_rows(moved ? GgmlType::f32 : type.id, blocks, indices,
                                                {p.k, p.n, p.x_rows});
    for (u64 i = 0; i < want.size(); ++i)
        if (std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(want[i]) &&
            (moved || !(std::isnan(got[i]) && std::isnan(want[i]))))
            return t.fail(fmt::format("y[{},{}] is {:a}, not {:a}: index {}", i / p.k, i % p.k,
                                      got[i], want[i], indices[i / p.k]),
                          where);
}

} // namespace

CHECK_FAMILY(get_rows) {
    const u32 block = type_of(kernel).elements;
    const u32 k = 256 + (block == 1 ? 7 : block);
    if (t.entry)
        return check_case(t, kernel, {.k = k, .n = {3, 1, 1}, .x_rows = 4});
    check_case(t, kernel, {.k = k, .n = {5, 3, 2}, .x_rows = 7, .pad = 6, .permuted = true});
    check_case(t, kernel, {.k = 2 * block, .n = {4, 2, 1}, .x_rows = 9, .pad = 1});
    check_case(t, kernel, {.k = k, .n = {5, 1, 2}, .x_rows = 6, .by_index = false});
    if (t.checkers)
        return;
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_case(t, kernel,
                   {.k = (shape.k + block - 1) / block * block, .n = {3, 1, 1}, .x_rows = 3});
    check_case(t, kernel, {.k = 16 * block, .n = {300, 1, 1}, .x_rows = 11});
    check_case(t, kernel, {.k = block, .n = {2, 70, 10}, .x_rows = 5});
    if (block == 1)
        for (u32 least = 1; least < 6; ++least)
            check_case(t, kernel, {.k = least, .n = {3, 2, 1}, .x_rows = 3, .pad = 3});
}
