// SPDX-License-Identifier: MIT
// nw_gguf_moe_fp8_linear: results within nibblewave.h's bound, in graphs too; rules, broken one at
// a time; targets without FP8 WMMA. With every checker of the simulated GPU on (fp8_test.cpp).
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <optional>

#include "api/gguf_product.h"
#include "base/half.h"
#include "ref/prefill_fp8.h"
#include "ref/quantize_rows.h"

using namespace api_test;

namespace {

constexpr int gfx1151 = 0, gfx1201 = 1;
constexpr u32 n = 40, k = 320, experts = 3, top_k = 2, slots = 90, rows = slots / top_k;

struct OnDevice {
    explicit OnDevice(int device) { HIP_OK(hipSetDevice(device)); }
    ~OnDevice() { static_cast<void>(hipSetDevice(gfx1151)); }
    OnDevice(const OnDevice &) = delete;
};

std::vector<u16> activations() {
    Rng rng(51);
    std::vector<u16> out(u64{rows} * k);
    for (u16 &x : out)
        x = round_to(Dtype::f16, rng.normal());
    return out;
}

// One slot in ten is unused, and one expert has most of the others.
std::vector<i32> router() {
    Rng rng(52);
    std::vector<i32> ids(slots);
    for (i32 &id : ids)
        id = rng.below(10) == 0 ? -1 : rng.below(4) ? 1 : static_cast<i32>(rng.below(experts));
    return ids;
}

class Experts {
public:
    Experts() {
        rows_.dtype = NW_F16, rows_.m = rows, rows_.k = k, rows_.x = x_.data;
        rows_.x_stride = 2 * k, rows_.y = a_.data, rows_.y_scale = a_scale_.data;
        product.type = NW_GGUF_MXFP4, product.n = n, product.k = k, product.experts = experts;
        product.slots = slots, product.top_k = top_k, product.a = a_.data;
        product.a_scale = a_scale_.data, product.w = w_.data, product.c = c_.data;
        product.expert_ids = static_cast<const int32_t *>(ids_.data);
        product.w_expert = ws_.size() / experts;
        HIP_OK(hipMemset(c_.data, 0xff, c_.size));
        HIP_OK(hipDeviceSynchronize());
    }
    void give_workspace(nw_context *context) {
        uint64_t bytes = 0;
        NW_DONE(nw_gguf_moe_fp8_workspace_size(context, &product, &bytes));
        workspace_.emplace(bytes);
        product.workspace = workspace_->data, product.workspace_bytes = bytes;
    }
    void launch(nw_context *context, hipStream_t stream) const {
        NW_DONE(nw_quantize_fp8(context, &rows_, stream));
        NW_DONE(nw_gguf_moe_fp8_linear(context, &product, stream));
    }
    std::vector<f32> result() const {
        std::vector<f32> out(u64{slots} * n);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(out.data(), c_.data, c_.size, hipMemcpyDeviceToHost));
        return out;
    }
    bool untouched() const {
        return std::ranges::all_of(result(), [](f32 v) { return std::isnan(v); });
    }
    // Empty where it is right.
    std::string difference() const {
        const ref::Fp8Rows a = ref::quantize_fp8(Dtype::f16, xs_, rows, k);
        const std::vector<f32> got = result();
        for (u32 e = 0; e < experts; ++e) {
            const auto w =
                std::as_bytes(std::span(ws_)).subspan(e * product.w_expert, product.w_expert);
            const ref::ProductFp8Exact want =
                ref::prefill_fp8({GgmlType::mxfp4, rows, n, k, a.y, a.scale, w});
            for (u64 i = 0; i < got.size(); ++i) {
                const u64 slot = i / n, from = slot / top_k * n + i % n;
                const i32 id = routes_[slot];
                if (id < 0 ? !std::isnan(got[i])
                           : id == static_cast<i32>(e) &&
                                 !(std::fabs(got[i] - want.c[from]) <= want.tolerance[from]))
                    return fmt::format("c[{}, {}] is {}, {} is exact", slot, i % n, got[i],
                                       want.c[from]);
            }
        }
        return {};
    }

    nw_gguf_moe_fp8 product = NW_GGUF_MOE_FP8_INIT;

private:
    nw_fp8_rows rows_ = NW_FP8_ROWS_INIT;
    const std::vector<u16> xs_ = activations();
    const std::vector<u8> ws_ = gguf_weights(NW_GGUF_MXFP4, experts *n, k, Rng(53));
    const std::vector<i32> routes_ = router();
    const Memory x_{bytes_of(xs_)}, w_{ws_}, ids_{bytes_of(routes_)}, a_{u64{rows} * k},
        a_scale_{u64{4} * rows}, c_{u64{4} * slots * n};
    std::optional<Workspace> workspace_;
};

} // namespace

TEST_CASE("experts of fp8 activations, in a workspace of just as many bytes") {
    const OnDevice on(gfx1201);
    const Context context;
    Experts p;
    p.give_workspace(context);
    p.launch(context, nullptr);
    CHECK_EQ(p.difference(), "");
}

TEST_CASE("experts of fp8 activations: captured once they are prepared, not before") {
    const OnDevice on(gfx1201);
    const Context context;
    const Stream stream;
    Experts p;
    p.give_workspace(context);
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_gguf_moe_fp8_linear(context, &p.product, stream), NW_NOT_PREPARED);
    CHECK(said("nw_gguf_moe_fp8_prepare"));
    Graph{stream};
    nw_gguf_moe_fp8 type_only = NW_GGUF_MOE_FP8_INIT;
    type_only.type = NW_GGUF_MXFP4;
    NW_DONE(nw_gguf_moe_fp8_prepare(context, &type_only));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    p.launch(context, stream);
    Graph graph(stream);
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    CHECK_EQ(p.difference(), "");
}

TEST_CASE("rules of experts of fp8 activations, broken one at a time") {
    const OnDevice on(gfx1201);
    const Context context;
    Experts p;
    p.give_workspace(context);
    const nw_gguf_moe_fp8 good = p.product;
    const auto refused = [&](auto change, const char *text,
                             nw_status status = NW_INVALID_ARGUMENT) {
        nw_gguf_moe_fp8 bad = good;
        change(bad);
        CAPTURE(text);
        CHECK_EQ(nw_gguf_moe_fp8_linear(context, &bad, nullptr), status);
        CHECK_MESSAGE(said(text), nw_last_error());
    };
    const auto plus = [](const void *at, u64 bytes) {
        return const_cast<std::byte *>(static_cast<const std::byte *>(at)) + bytes;
    };
    refused([](auto &b) { b.size = 8; }, "size = 8: must be sizeof(nw_gguf_moe_fp8)");
    refused([](auto &b) { b.n = 0; }, "n = 0: must be at least 1");
    refused([](auto &b) { b.k = 96; }, "k = 96: must be a multiple of 64; pad");
    refused([](auto &b) { b.k = 1 << 22; }, "k = 4194304: must be below");
    refused([](auto &b) { b.experts = 0; }, "experts = 0: must be 1..512");
    refused([](auto &b) { b.experts = 513; }, "experts = 513: must be 1..512");
    refused([](auto &b) { b.slots = 0; }, "slots = 0");
    refused([](auto &b) { b.slots = 1u << 30; }, "slots = 1073741824");
    refused([](auto &b) { b.top_k = 0; }, "top_k = 0: must be at least 1");
    refused([](auto &b) { b.a = nullptr; }, "a is null");
    refused([&](auto &b) { b.a = plus(b.a, 8); }, ": must be 16-byte aligned");
    refused([](auto &b) { b.a_scale = nullptr; }, "a_scale is null");
    refused([](auto &b) { b.w = nullptr; }, "w is null");
    refused([&](auto &b) { b.w = plus(b.w, 1); }, ": must be 2-byte aligned");
    refused([](auto &b) { b.w_expert -= 2; }, "w_expert = ");
    refused([](auto &b) { b.expert_ids = nullptr; }, "expert_ids is null");
    refused([](auto &b) { b.c = nullptr; }, "c is null");
    refused([](auto &b) { b.c = const_cast<void *>(b.a); }, "overlaps a");
    refused([](auto &b) { b.workspace = nullptr; }, "workspace is null");
    refused([](auto &b) { --b.workspace_bytes; }, "workspace_bytes = ");
    refused([](auto &b) { b.type = NW_GGUF_Q4_K; },
            "moe_prefill_fp8: no kernel for q4_K on gfx1201; there is mxfp4", NW_UNSUPPORTED);
    refused([](auto &b) { b.type = NW_GGUF_F16; },
            "type = 1: f32, f16 and bf16 weights are not quantized", NW_UNSUPPORTED);
    CHECK(p.untouched());
}

TEST_CASE("experts of fp8 activations are refused by name where the GPU has no FP8 WMMA") {
    const OnDevice on(gfx1151);
    const Context context;
    const Experts p;
    uint64_t bytes = 0;
    for (const nw_status status : {nw_gguf_moe_fp8_workspace_size(context, &p.product, &bytes),
                                   nw_gguf_moe_fp8_prepare(context, &p.product)}) {
        CHECK_EQ(status, NW_UNSUPPORTED);
        CHECK_MESSAGE(said("moe_prefill_fp8: no kernel for mxfp4 on gfx1151; there is none"),
                      nw_last_error());
    }
}
