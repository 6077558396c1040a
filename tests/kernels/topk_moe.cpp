// SPDX-License-Identifier: MIT
// topk_moe: the experts that the reference chooses, and their weights within the contract's bound.
// moe_sum: every bit.
#include "ref/topk_moe.h"

#include <bit>
#include <cmath>
#include <fmt/format.h>

#include "check/check.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

struct Router {
    u32 m, experts, top_k, normed = 1;
    f32 size = 3, scale = 1;
    bool equal = false;    // many logits are the same
    bool in_place = false; // ids in x
    u64 pad = 0;
};

void check_route(Test &t, const Kernel &kernel, const Router &p,
                 std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} experts={} top_k={} normed={} equal={}", p.m, p.experts, p.top_k,
                        p.normed, p.equal));
    const Tensor of_x = check::tensor({p.experts, p.m, 1, 1}, 4, p.pad),
                 of_y = check::tensor({p.top_k, p.m, 1, 1}, 4, 2 * p.pad);
    std::vector<f32> logits = check::normal_values(t.rng, of_x.elements(), p.size);
    for (f32 &x : logits)
        x = p.equal ? std::round(x) : x;
    constexpr f32 least = 0x1p-14f;
    const Region x = t.region<u8>(check::placed(of_x, logits)),
                 y = t.region<u8>(std::vector<u8>(of_y.bytes(), Tensor::poison)),
                 own = t.region<u8>(std::vector<u8>(of_y.bytes(), Tensor::poison));
    const Region &ids = p.in_place ? x : own;
    launch(t.modules, kernel,
           ops::TopkMoe{.m = p.m,
                        .experts = p.experts,
                        .top_k = p.top_k,
                        .normed = p.normed,
                        .limit = least,
                        .scale = p.scale,
                        .x = static_cast<const f32 *>(x.data()),
                        .y = static_cast<f32 *>(y.data()),
                        .ids = static_cast<i32 *>(ids.data()),
                        .x_stride = of_x.stride[1],
                        .y_stride = of_y.stride[1],
                        .ids_stride = p.in_place ? of_x.stride[1] : of_y.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    if (!p.in_place)
        t.unchanged("x", x, where);
    const std::vector<f32> weights = check::taken<f32>(t, "y", of_y, y, where);
    const std::vector<i32> chosen =
        check::taken<i32>(t, "ids", p.in_place ? of_x : of_y, ids, where);
    const u32 ids_row = p.in_place ? p.experts : p.top_k;
    for (u64 row = 0; row < p.m; ++row) {
        const ref::Route want = ref::topk_moe(std::span(logits).subspan(row * p.experts, p.experts),
                                              p.top_k, p.normed != 0, least, p.scale);
        for (u64 i = 0; i < p.top_k; ++i) {
            const u64 at = row * p.top_k + i;
            if (const i32 id = chosen[row * ids_row + i]; id != want.ids[i])
                return t.fail(fmt::format("ids[{},{}] is {}, not {}", row, i, id, want.ids[i]),
                              where);
            if (!(std::fabs(weights[at] - want.weights[i]) <= want.weights[i] * 0x1p-15))
                return t.fail(
                    fmt::format("y[{},{}] is {}, not {}", row, i, weights[at], want.weights[i]),
                    where);
        }
    }
}

struct Sum {
    u32 m, k, top_k;
    bool bias = true, in_place = false;
    u64 pad = 0;
};

void check_sum(Test &t, const Kernel &kernel, const Sum &p,
               std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} top_k={} bias={} in_place={} pad={}", p.m, p.k, p.top_k, p.bias,
                        p.in_place, p.pad));
    const Tensor of_x = check::tensor({p.k, p.top_k, p.m, 1}, 4, p.pad),
                 of_w = check::tensor({p.top_k, p.m, 1, 1}, 4, p.pad),
                 of_y = check::tensor({p.k, p.m, 1, 1}, 4, 2 * p.pad);
    const std::vector<f32> xs = check::normal_values(t.rng, of_x.elements()),
                           ws = check::normal_values(t.rng, of_w.elements()),
                           more = check::normal_values(t.rng, of_y.elements());
    const Region x = t.region<u8>(check::placed(of_x, xs)),
                 w = t.region<u8>(check::placed(of_w, ws)),
                 bias = t.region<u8>(check::placed(of_y, more)),
                 own = t.region<u8>(std::vector<u8>(of_y.bytes(), Tensor::poison));
    const Region &y = p.in_place ? bias : own;
    launch(t.modules, kernel,
           ops::MoeSum{.m = p.m,
                       .k = p.k,
                       .top_k = p.top_k,
                       .x = static_cast<const f32 *>(x.data()),
                       .w = static_cast<const f32 *>(w.data()),
                       .bias = p.bias ? static_cast<const f32 *>(bias.data()) : nullptr,
                       .y = static_cast<f32 *>(y.data()),
                       .x_s1 = of_x.stride[1],
                       .x_s2 = of_x.stride[2],
                       .w_s1 = of_w.stride[1],
                       .bias_row = of_y.stride[1],
                       .y_stride = of_y.stride[1]});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    t.unchanged("w", w, where);
    if (!p.in_place)
        t.unchanged("bias", bias, where);
    const std::vector<f32> got = check::taken<f32>(t, "y", of_y, y, where);
    for (u64 row = 0; row < p.m; ++row) {
        const auto part = [row](const std::vector<f32> &all, u64 length) {
            return std::span(all).subspan(row * length, length);
        };
        const std::vector<f32> want =
            ref::moe_sum(part(xs, u64{p.top_k} * p.k), part(ws, p.top_k),
                         p.bias ? part(more, p.k) : std::span<const f32>{}, p.k);
        for (u64 i = 0; i < p.k; ++i)
            if (std::bit_cast<u32>(got[row * p.k + i]) != std::bit_cast<u32>(want[i]))
                return t.fail(
                    fmt::format("y[{},{}] is {:a}, not {:a}", row, i, got[row * p.k + i], want[i]),
                    where);
    }
}

} // namespace

CHECK_FAMILY(topk_moe) {
    if (t.entry)
        return check_route(t, kernel, {2, 40, 4});
    check_route(t, kernel, {.m = 3, .experts = 128, .top_k = 8, .pad = 4});
    check_route(t, kernel, {.m = 2, .experts = 60, .top_k = 4, .normed = 0, .scale = 2.5f});
    check_route(t, kernel, {.m = 3, .experts = 256, .top_k = 32, .equal = true});
    check_route(t, kernel, {.m = 2, .experts = 1, .top_k = 1});
    check_route(t, kernel, {.m = 3, .experts = 128, .top_k = 8, .in_place = true});
    if (t.checkers)
        return;
    check_route(t, kernel, {.m = 40, .experts = 128, .top_k = 8, .size = 20});
    check_route(t, kernel, {.m = 3, .experts = 32, .top_k = 32, .equal = true});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_route(t, kernel, {shape.m, shape.experts, 4});
}

CHECK_FAMILY(moe_sum) {
    const u32 part = 128 * kernel.number("waves");
    if (t.entry)
        return check_sum(t, kernel, {2, part + 4, 3});
    check_sum(t, kernel, {.m = 3, .k = part + 8, .top_k = 8, .pad = 4});
    check_sum(t, kernel, {.m = 2, .k = 2 * part, .top_k = 9, .bias = false});
    check_sum(t, kernel, {.m = 2, .k = 64, .top_k = 1, .in_place = true});
    if (t.checkers)
        return;
    check_sum(t, kernel, {.m = 5, .k = 2048, .top_k = 17});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_sum(t, kernel, {shape.m, shape.k, 4});
}
