// SPDX-License-Identifier: MIT
// Results of nw_gguf_moe_act_linear: biases, gpt-oss's clamped SwiGLU, rows of gate and up in
// turn and in separate tensors; refusals.
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "api/gguf_product.h"

using namespace api_test;

namespace {

constexpr u32 n = 37, k = 320, experts = 3, slots = 10, top_k = 2;
constexpr f32 alpha = 1.702f, limit = 7;

// Rows 2i of w are gate, rows 2i + 1 up; so are biases.
struct Layer {
    explicit Layer(int of)
        : type(of), row(nw_gguf_row_bytes(of, k)), x_(normal(u64{slots / top_k} * k, 1, Rng(3))),
          w_(gguf_weights(of, 2 * n * experts, k, Rng(4))),
          bias_(normal(2 * n * experts, 3, Rng(5))), ids_{0, 2, 1, -1, 2, 2, 0, 1, 1, 0},
          x(bytes_of(x_)), w(w_), bias(bytes_of(bias_)), ids(bytes_of(ids_)),
          c(u64{4} * slots * n) {}

    nw_gguf_moe_act arguments(int act) const {
        nw_gguf_moe_act p = NW_GGUF_MOE_ACT_INIT;
        p.type = type, p.act = act, p.n = n, p.k = k, p.experts = experts;
        p.slots = slots, p.top_k = top_k, p.alpha = alpha, p.limit = limit;
        p.x = x.data, p.w = w.data, p.bias = static_cast<const float *>(bias.data);
        p.expert_ids = static_cast<const int32_t *>(ids.data), p.c = c.data;
        p.x_stride = u64{4} * k, p.w_expert = 2 * n * row, p.w_row = 2 * row;
        p.bias_expert = 8 * n, p.bias_row = 8;
        if (act == NW_ACT_SWIGLU)
            p.w_up = static_cast<const u8 *>(w.data) + row, p.bias_up = p.bias + 1;
        return p;
    }
    GgufSum sum(u32 slot, u32 column, u32 half) const {
        const u64 at = u64{static_cast<u32>(ids_[slot])} * 2 * n + 2 * column + half;
        GgufSum out =
            gguf_sum(type, &x_[u64{slot / top_k} * k], std::span(w_).subspan(at * row, row), k);
        out.exact += bias_[at];
        out.bound += std::fabs(out.exact) * 0x1p-23;
        return out;
    }
    GgufSum want(int act, u32 slot, u32 column) const {
        const GgufSum g = sum(slot, column, 0);
        if (act == NW_ACT_NONE)
            return g;
        const GgufSum u = sum(slot, column, 1);
        const f64 gate = std::fmin(g.exact, limit),
                  up = std::fmax(std::fmin(u.exact, limit), -limit);
        const f64 exact = (up + 1) * gate / (1 + std::exp(-alpha * gate));
        // g * sigmoid(alpha * g) is nowhere steeper than 1.1.
        return {exact, 1.1 * g.bound * (std::fabs(up + 1) + u.bound) + std::fabs(gate) * u.bound +
                           std::fabs(exact) * 1e-5 + 1e-6};
    }
    std::string difference(int act) const {
        std::vector<f32> got(u64{slots} * n);
        HIP_OK(hipMemcpy(got.data(), c.data, c.size, hipMemcpyDeviceToHost));
        for (u32 slot = 0; slot < slots; ++slot)
            for (u32 i = 0; i < n; ++i) {
                const f32 v = got[u64{slot} * n + i];
                if (ids_[slot] < 0) {
                    if (!std::isnan(v))
                        return fmt::format("slot {} of no expert has {}", slot, v);
                    continue;
                }
                const GgufSum want = this->want(act, slot, i);
                if (!(std::fabs(v - want.exact) < want.bound))
                    return fmt::format("c[{}, {}] is {}, {} is exact, the bound {}", slot, i, v,
                                       want.exact, want.bound);
            }
        return {};
    }

    const int type;
    const u64 row;

private:
    std::vector<f32> x_;
    std::vector<u8> w_;
    std::vector<f32> bias_;
    std::vector<i32> ids_;

public:
    const Memory x, w, bias, ids, c;
};

u64 workspace_of(nw_context *context, const nw_gguf_moe_act &p) {
    uint64_t bytes = 0;
    NW_DONE(nw_gguf_moe_act_workspace_size(context, &p, &bytes));
    return bytes;
}

} // namespace

TEST_CASE("gguf moe act: biases, and clamped SwiGLU, in a workspace of just as many bytes") {
    const Context context;
    const Stream stream;
    for (const int type : {NW_GGUF_MXFP4, NW_GGUF_NVFP4}) {
        const Layer layer(type);
        for (const int act : {NW_ACT_NONE, NW_ACT_SWIGLU}) {
            CAPTURE(fmt::format("type {} act {}", type, act));
            nw_gguf_moe_act p = layer.arguments(act);
            const Workspace workspace(workspace_of(context, p));
            p.workspace = workspace.data, p.workspace_bytes = workspace.size;
            HIP_OK(hipMemset(layer.c.data, 0xff, layer.c.size));
            NW_DONE(nw_gguf_moe_act_prepare(context, &p));
            NW_DONE(nw_gguf_moe_act_linear(context, &p, stream));
            HIP_OK(hipStreamSynchronize(stream));
            CHECK_EQ(layer.difference(act), "");
        }
    }
}

TEST_CASE("gguf moe act: what is refused, with its value and the rule") {
    const Context context;
    const Layer layer(NW_GGUF_MXFP4);
    const nw_gguf_moe_act good = [&] {
        nw_gguf_moe_act p = layer.arguments(NW_ACT_SWIGLU);
        p.workspace_bytes = workspace_of(context, p);
        return p;
    }();
    const Workspace workspace(good.workspace_bytes);
    const auto refused = [&](auto breaks, const char *says, nw_status status) {
        nw_gguf_moe_act p = good;
        p.workspace = workspace.data;
        breaks(p);
        CAPTURE(says);
        CHECK_EQ(nw_gguf_moe_act_linear(context, &p, nullptr), status);
        const std::string error = nw_last_error();
        CHECK_MESSAGE(error.find(says) != std::string::npos, error);
    };
    const nw_status invalid = NW_INVALID_ARGUMENT;
    using P = nw_gguf_moe_act;
    refused([](P &p) { p.size = 8; }, "size = 8:", invalid);
    refused([](P &p) { p.act = 3; },
            "act = 3: must be NW_ACT_NONE (0), NW_ACT_SWIGLU (1) or NW_ACT_SILU (2)", invalid);
    refused([](P &p) { p.type = NW_GGUF_Q4_K, p.k = 256; }, "q4_K", NW_UNSUPPORTED);
    refused([](P &p) { p.k = 300; }, "k = 300:", invalid);
    refused([](P &p) { p.slots = 0; }, "slots = 0:", invalid);
    refused([](P &p) { p.w_up = nullptr; }, "w_up is null", invalid);
    refused([](P &p) { p.w_expert = 2; }, "w_expert = 2:", invalid);
    refused([](P &p) { p.w_row = 1; }, "w_row = 1:", invalid);
    refused([](P &p) { p.bias_row = 6; }, "bias_row = 6:", invalid);
    refused([](P &p) { p.alpha = -1; }, "alpha = -1: must be finite and at least 0", invalid);
    refused([](P &p) { p.limit = NAN; }, "limit = nan: must be at least 0; infinity for none",
            invalid);
    refused([](P &p) { p.expert_ids = nullptr; }, "expert_ids is null", invalid);
    refused([](P &p) { --p.workspace_bytes; }, "workspace_bytes = ", invalid);
}
