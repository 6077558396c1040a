// SPDX-License-Identifier: MIT
// router: experts and weights within what the contract states of f64; where sums are exact, the
// experts that the reference chooses.
#include "ref/router.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "check/check.h"
#include "check/ops.h"
#include "kernels/tensor.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Tensor;
using check::Test;

namespace {

constexpr f32 least = 0x1p-14f, eps = 0.5f; // of mean squares near 4

struct Case {
    u32 m, k, experts, top_k, normed = 1;
    bool norm = true, bias = false;
    bool whole = false; // all values are small integers: sums are exact, and many are equal
    f32 scale = 1;
    u64 pad = 0;
};

std::vector<f32> values_of(Test &t, u64 count, bool whole, f32 size) {
    std::vector<f32> out = check::normal_values(t.rng, count, size);
    for (f32 &x : out)
        x = whole ? std::round(x) : x;
    return out;
}

// Inputs of a launch.
struct Operands {
    Tensor of_x, of_w;
    std::vector<f32> xs, norms, ws, biases;
    Region x, norm, w, bias;

    Operands(Test &t, const Case &p)
        : of_x(check::tensor({p.k, p.m, 1, 1}, 4, p.pad)),
          of_w(check::tensor({p.k, p.experts, 1, 1}, 4, p.pad)),
          xs(values_of(t, of_x.elements(), p.whole, p.whole ? 0.7f : 2)),
          norms(values_of(t, p.k, false, 1)),
          ws(values_of(t, of_w.elements(), p.whole,
                       p.whole ? 0.5f : 2 / std::sqrt(static_cast<f32>(p.k)))),
          biases(values_of(t, p.experts, p.whole, 1)), x(t.region<u8>(check::placed(of_x, xs))),
          norm(t.region<f32>(norms)), w(t.region<u8>(check::placed(of_w, ws))),
          bias(t.region<f32>(biases)) {}

    ref::Logits want(const Case &p, u64 token) const {
        return ref::router(std::span(xs).subspan(token * p.k, p.k),
                           p.norm ? std::span<const f32>(norms) : std::span<const f32>{}, ws,
                           p.bias ? std::span<const f32>(biases) : std::span<const f32>{},
                           p.experts, eps);
    }
    void unchanged(Test &t, std::source_location where) const {
        t.unchanged("x", x, where);
        t.unchanged("norm", norm, where);
        t.unchanged("w", w, where);
        t.unchanged("bias", bias, where);
    }
};

Op op_of(const Case &p, const Operands &in, const Region &y, const Region &ids,
         const Tensor &of_y) {
    Op op{.kind = OpKind::route_moe};
    op.m = p.m, op.k = p.k, op.experts = p.experts, op.top_k = p.top_k, op.normed = p.normed;
    op.limit = std::bit_cast<u32>(least), op.scale = std::bit_cast<u32>(p.scale);
    op.eps = std::bit_cast<u32>(eps);
    op.x = address(in.x.data()), op.w = address(in.w.data());
    op.norm = p.norm ? address(in.norm.data()) : 0;
    op.bias = p.bias ? address(in.bias.data()) : 0;
    op.y = address(y.data()), op.ids = address(ids.data());
    op.x_stride = in.of_x.stride[1], op.w_stride = in.of_w.stride[1];
    op.y_stride = op.ids_stride = of_y.stride[1];
    return op;
}

// A token's faults in experts or weights; empty if it has none.
std::string fault(const Case &p, const ref::Logits &want, std::span<const i32> ids,
                  std::span<const f32> weights) {
    const std::vector<f64> &l = want.values;
    const f64 bound = p.whole && !p.norm
                          ? 0
                          : 0x1p-24 * (p.k / 64.0 + 32) * *std::ranges::max_element(want.sizes);
    std::vector<i32> order(p.experts);
    std::iota(order.begin(), order.end(), 0);
    const auto larger = [&](i32 a, i32 b) {
        return l[static_cast<u64>(a)] > l[static_cast<u64>(b)];
    };
    std::ranges::stable_sort(order, larger);
    const f64 most = l[static_cast<u64>(order[0])];
    const auto exponential = [&](i32 id) { return std::exp(l[static_cast<u64>(id)] - most); };
    f64 all = 0, chosen = 0;
    for (const i32 id : order)
        all += exponential(id);
    std::vector<bool> seen(p.experts);
    for (u64 i = 0; i < p.top_k; ++i) {
        const i32 id = ids[i];
        if (id < 0 || static_cast<u32>(id) >= p.experts || seen[static_cast<u64>(id)])
            return fmt::format("ids[{}] is {}: none, or a second time", i, id);
        seen[static_cast<u64>(id)] = true;
        if (bound == 0 ? id != order[i]
                       : l[static_cast<u64>(id)] < l[static_cast<u64>(order[i])] - 2 * bound)
            return fmt::format("ids[{}] is {}, not {}", i, id, order[i]);
        chosen += exponential(id) / all;
    }
    for (u64 i = 0; i < p.top_k; ++i) {
        const f64 one =
            exponential(ids[i]) / all * p.scale / (p.normed ? std::max(chosen, f64{least}) : 1.0);
        if (!(std::fabs(weights[i] - one) <= one * (0x1p-15 + 4 * bound)))
            return fmt::format("y[{}] is {}, not {} (L = {})", i, weights[i], one, bound);
    }
    return {};
}

void check_case(Test &t, const Kernel &kernel, const Case &p,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} experts={} top_k={} normed={} norm={} bias={} whole={} pad={}",
                        p.m, p.k, p.experts, p.top_k, p.normed, p.norm, p.bias, p.whole, p.pad));
    const Operands in(t, p);
    const Tensor of_y = check::tensor({p.top_k, p.m, 1, 1}, 4, 2 * p.pad);
    const Region y = t.region<u8>(std::vector<u8>(of_y.bytes(), Tensor::poison)),
                 ids = t.region<u8>(std::vector<u8>(of_y.bytes(), Tensor::poison));
    Op op = op_of(p, in, y, ids, of_y);
    const Machine machine = usual_machine(kernel.gfx);
    const Op all = check::derived(kernel, op, machine);
    const Region logits = t.region<u8>(std::vector<u8>(
                     check::scratch_bytes(kernel, all, machine, &Op::logits), 0xff)),
                 arrived = t.region<i32>(std::vector<i32>(p.m, 0));
    op.logits = address(logits.data()), op.arrived = address(arrived.data());
    for (u32 time = t.entry ? 1 : 0; time < 2; ++time) {
        launch(t.modules, kernel, op);
        t.modules.device().synchronize();
        ++t.launches;
    }
    in.unchanged(t, where);
    t.guards_clean("logits", logits, where);
    t.unchanged("arrived", arrived, where); // 0 again
    const std::vector<f32> weights = check::taken<f32>(t, "y", of_y, y, where);
    const std::vector<i32> chosen = check::taken<i32>(t, "ids", of_y, ids, where);
    for (u64 token = 0; token < p.m; ++token) {
        const u64 at = token * p.top_k;
        const std::string wrong =
            fault(p, in.want(p, token), std::span(chosen).subspan(at, p.top_k),
                  std::span(weights).subspan(at, p.top_k));
        if (!wrong.empty())
            return t.fail(fmt::format("token {}: {}", token, wrong), where);
    }
}

} // namespace

CHECK_FAMILY(router) {
    if (t.entry)
        return check_case(t, kernel, {2, 136, 40, 4});
    const u32 span = 128 * kernel.number("span"), most = 32 * kernel.number("pieces");
    check_case(t, kernel, {.m = 1, .k = span + 4, .experts = 128, .top_k = 8, .bias = true});
    check_case(t, kernel,
               {.m = 3, .k = 132, .experts = 61, .top_k = 4, .normed = 0, .scale = 2.5f, .pad = 8});
    check_case(t, kernel,
               {.m = 2,
                .k = 256,
                .experts = most,
                .top_k = 32,
                .norm = false,
                .bias = true,
                .whole = true,
                .pad = 4});
    check_case(t, kernel, {.m = 1, .k = 4, .experts = 1, .top_k = 1, .norm = false});
    if (t.checkers)
        return;
    check_case(t, kernel, {.m = 1, .k = 2048, .experts = 128, .top_k = 8});
    check_case(t, kernel,
               {.m = 4, .k = 2880, .experts = 32, .top_k = 4, .norm = false, .bias = true});
    check_case(t, kernel, {.m = 1, .k = 7168, .experts = most, .top_k = 8, .scale = 2.5f});
    check_case(t, kernel,
               {.m = 3, .k = 512, .experts = 64, .top_k = 32, .norm = false, .whole = true});
    for (const check::EdgeShape &shape : check::edge_shapes(kernel)) {
        const u32 experts = std::min(shape.experts, most);
        check_case(t, kernel, {shape.m, shape.k, experts, std::min(experts, 4u)});
    }
}
