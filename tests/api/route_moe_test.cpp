// SPDX-License-Identifier: MIT
// nw_route_moe beside its reference, plain and behind a norm; the same workspace again; refusals.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "api/gguf_product.h"
#include "ref/router.h"

using namespace api_test;

namespace {

struct Router {
    Router(u32 m, u32 k, u32 experts, u32 top_k)
        : m(m), k(k), experts(experts), top_k(top_k), xs(normal(u64{m} * k, 2, Rng(1))),
          norms(normal(k, 1, Rng(2))),
          ws(normal(u64{experts} * k, 2 / std::sqrt(static_cast<f32>(k)), Rng(3))),
          biases(normal(experts, 1, Rng(4))), x(bytes_of(xs)), norm(bytes_of(norms)),
          w(bytes_of(ws)), bias(bytes_of(biases)), y(u64{4} * m * top_k), ids(u64{4} * m * top_k) {}

    nw_route_moe_op arguments(bool normed) const {
        nw_route_moe_op p = NW_ROUTE_MOE_OP_INIT;
        p.m = m, p.k = k, p.experts = experts, p.top_k = top_k, p.eps = 1e-6f;
        p.x = static_cast<const float *>(x.data), p.w = static_cast<const float *>(w.data);
        if (normed)
            p.norm = static_cast<const float *>(norm.data);
        p.bias = static_cast<const float *>(bias.data);
        p.y = static_cast<float *>(y.data), p.ids = static_cast<int32_t *>(ids.data);
        p.x_stride = p.w_stride = u64{4} * k, p.y_stride = p.ids_stride = u64{4} * top_k;
        return p;
    }
    // The experts that are not the reference's, and the weights that are off.
    u32 faults(bool normed) const {
        std::vector<f32> weights(u64{m} * top_k);
        std::vector<i32> chosen(weights.size());
        HIP_OK(hipMemcpy(weights.data(), y.data, y.size, hipMemcpyDeviceToHost));
        HIP_OK(hipMemcpy(chosen.data(), ids.data, ids.size, hipMemcpyDeviceToHost));
        u32 out = 0;
        for (u64 token = 0; token < m; ++token) {
            const std::vector<f64> l =
                nw::ref::router(std::span(xs).subspan(token * k, k),
                                normed ? std::span<const f32>(norms) : std::span<const f32>{}, ws,
                                biases, experts, 1e-6f)
                    .values;
            std::vector<i32> order(experts);
            std::iota(order.begin(), order.end(), 0);
            const auto logit = [&](i32 e) { return l[static_cast<u64>(e)]; };
            std::ranges::sort(order, [&](i32 a, i32 b) { return logit(a) > logit(b); });
            f64 sum = 0;
            for (u32 i = 0; i < top_k; ++i)
                sum += std::exp(logit(order[i]));
            for (u32 i = 0; i < top_k; ++i) {
                const u64 at = token * top_k + i;
                const f64 want = std::exp(logit(order[i])) / sum;
                out += chosen[at] != order[i] || !(std::fabs(weights[at] - want) <= 1e-3 * want);
            }
        }
        return out;
    }

    const u32 m, k, experts, top_k;
    const std::vector<f32> xs, norms, ws, biases;
    const Memory x, norm, w, bias, y, ids;
};

u64 workspace_of(nw_context *context, const nw_route_moe_op &p) {
    uint64_t bytes = 0;
    NW_DONE(nw_route_moe_workspace_size(context, &p, &bytes));
    return bytes;
}

} // namespace

TEST_CASE("route_moe: experts and weights, plain and behind a norm") {
    const Context context;
    const Stream stream;
    for (const Router &router : {Router(1, 2048, 128, 8), Router(3, 516, 200, 5)}) {
        const Workspace workspace(workspace_of(context, router.arguments(true)));
        for (const bool normed : {false, true, false}) {
            nw_route_moe_op p = router.arguments(normed);
            p.workspace = workspace.data, p.workspace_bytes = workspace.size;
            NW_DONE(nw_route_moe_prepare(context, &p));
            NW_DONE(nw_route_moe(context, &p, stream));
            HIP_OK(hipStreamSynchronize(stream));
            CHECK_EQ(router.faults(normed), 0);
        }
    }
}

TEST_CASE("route_moe: what is refused, with its value and the rule") {
    const Context context;
    const Router router(1, 256, 32, 4);
    const Workspace workspace(workspace_of(context, router.arguments(true)));
    const auto refused = [&](auto breaks, const char *says) {
        nw_route_moe_op p = router.arguments(true);
        p.workspace = workspace.data, p.workspace_bytes = workspace.size;
        breaks(p);
        CHECK_EQ(nw_route_moe(context, &p, nullptr), NW_INVALID_ARGUMENT);
        CAPTURE(std::string(nw_last_error()));
        CHECK(std::string(nw_last_error()).find(says) != std::string::npos);
    };
    refused([](nw_route_moe_op &p) { p.k = 255; }, "k = 255");
    refused([](nw_route_moe_op &p) { p.top_k = 33; }, "top_k = 33");
    refused([](nw_route_moe_op &p) { p.experts = 257; }, "experts = 257");
    refused([](nw_route_moe_op &p) { p.eps = -1; }, "eps");
    refused([](nw_route_moe_op &p) { p.limit = INFINITY; }, "limit");
    refused([](nw_route_moe_op &p) { p.ids = reinterpret_cast<int32_t *>(p.y); }, "overlap");
    refused([](nw_route_moe_op &p) { p.workspace_bytes = 256; }, "workspace");
    refused([](nw_route_moe_op &p) { p.x += 1; }, "16");
}
