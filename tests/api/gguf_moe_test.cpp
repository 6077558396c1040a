// SPDX-License-Identifier: MIT
// Results of nw_gguf_moe_linear and the shim's mul_mat_id, slot by slot and in blocks; what is
// refused.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <nibblewave_ggml.h>

#include "api/gguf_product.h"

using namespace api_test;

namespace {

struct Layer {
    int type;
    u32 n, k, experts, tokens, used;
    bool each_slot; // has a row of x of its own

    u32 slots() const { return tokens * used; }
    u32 top_k() const { return each_slot ? 1 : used; }
    u32 rows() const { return slots() / top_k(); }
};

std::vector<f32> activations(const Layer &l, Rng rng) {
    std::vector<f32> x(u64{l.rows()} * l.k);
    for (f32 &v : x)
        v = rng.normal();
    return x;
}

// One slot in ten is unused.
std::vector<i32> router(const Layer &l, Rng rng) {
    std::vector<i32> ids(l.slots());
    for (i32 &id : ids)
        id = rng.below(10) ? static_cast<i32>(rng.below(l.experts)) : -1;
    return ids;
}

class MoeProduct {
public:
    explicit MoeProduct(const Layer &l)
        : layer(l), row_(nw_gguf_row_bytes(l.type, l.k)), x_(activations(l, Rng(3))),
          w_(gguf_weights(l.type, l.n * l.experts, l.k, Rng(4))), ids_(router(l, Rng(5))),
          x(bytes_of(x_)), w(w_), ids(bytes_of(ids_)), c(u64{4} * l.slots() * l.n) {
        clear();
    }
    nw_gguf_moe arguments() const {
        nw_gguf_moe p = NW_GGUF_MOE_INIT;
        p.type = layer.type, p.n = layer.n, p.k = layer.k, p.experts = layer.experts;
        p.slots = layer.slots(), p.top_k = layer.top_k();
        p.x = x.data, p.w = w.data, p.expert_ids = static_cast<const int32_t *>(ids.data);
        p.c = c.data, p.x_stride = u64{4} * layer.k, p.w_expert = layer.n * row_;
        return p;
    }
    void clear() { HIP_OK(hipMemset(c.data, 0xff, c.size)); }
    // Empty where it is right.
    std::string difference() const {
        std::vector<f32> got(u64{layer.slots()} * layer.n);
        HIP_OK(hipMemcpy(got.data(), c.data, c.size, hipMemcpyDeviceToHost));
        for (u32 slot = 0; slot < layer.slots(); ++slot)
            for (u32 n = 0; n < layer.n; ++n) {
                const f32 v = got[u64{slot} * layer.n + n];
                if (ids_[slot] < 0) {
                    if (!std::isnan(v))
                        return fmt::format("slot {} of no expert has {}", slot, v);
                    continue;
                }
                const u64 at = (u64{static_cast<u32>(ids_[slot])} * layer.n + n) * row_;
                const GgufSum want = gguf_sum(layer.type, &x_[u64{slot / layer.top_k()} * layer.k],
                                              std::span(w_).subspan(at, row_), layer.k);
                if (!(std::fabs(v - want.exact) < want.bound))
                    return fmt::format("c[{}, {}] is {}, {} is exact, the bound {}", slot, n, v,
                                       want.exact, want.bound);
            }
        return {};
    }

    const Layer layer;

private:
    u64 row_;
    std::vector<f32> x_;
    std::vector<u8> w_;
    std::vector<i32> ids_;

public:
    const Memory x, w, ids, c;
};

u64 workspace_of(nw_context *context, const nw_gguf_moe &p) {
    uint64_t bytes = 0;
    NW_DONE(nw_gguf_moe_workspace_size(context, &p, &bytes));
    return bytes;
}

// In a workspace of exactly the size that the product needs.
void check_twice(const Context &context, const Stream &stream, MoeProduct &product, nw_gguf_moe p) {
    const Workspace workspace(workspace_of(context, p));
    p.workspace = workspace.data, p.workspace_bytes = workspace.size;
    for (u32 round = 0; round < 2; ++round) {
        product.clear();
        NW_DONE(nw_gguf_moe_linear(context, &p, stream));
        HIP_OK(hipStreamSynchronize(stream));
        CHECK_EQ(product.difference(), "");
    }
    std::vector<u8> counters(1 << 18, 1); // nw_gguf_linear's
    HIP_OK(hipMemcpy(counters.data(), workspace.data, counters.size(), hipMemcpyDeviceToHost));
    CHECK(std::ranges::all_of(counters, [](u8 v) { return v == 0; }));
}

const Layer layers[] = {
    {NW_GGUF_Q4_K, 37, 512, 6, 1, 4, false}, // slot by slot
    {NW_GGUF_Q6_K, 20, 256, 8, 3, 2, true},
    {NW_GGUF_Q8_0, 9, 96, 3, 3, 2, false},   // 96: no blocks of 16
    {NW_GGUF_Q4_K, 37, 512, 4, 9, 2, false}, // blocks of 16
    {NW_GGUF_Q6_K, 40, 256, 3, 5, 3, true},
    {NW_GGUF_Q4_0, 33, 768, 2, 40, 2, false}, // blocks of 64
    {NW_GGUF_Q8_0, 9, 96, 3, 20, 2, false},
    {NW_GGUF_Q8_0, 17, 256, 1, 35, 1, true},
};

} // namespace

TEST_CASE("gguf moe: few slots and many, in a workspace of just as many bytes") {
    const Context context;
    const Stream stream;
    for (const Layer &layer : layers) {
        CAPTURE(
            fmt::format("type {} experts {} slots {}", layer.type, layer.experts, layer.slots()));
        MoeProduct product(layer);
        check_twice(context, stream, product, product.arguments());
    }
}

TEST_CASE("gguf moe: captured once it is prepared, not before") {
    const Context context;
    const Stream stream;
    MoeProduct product(layers[3]);
    nw_gguf_moe p = product.arguments();
    const Workspace workspace(workspace_of(context, p));
    p.workspace = workspace.data, p.workspace_bytes = workspace.size;
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_gguf_moe_linear(context, &p, stream), NW_NOT_PREPARED);
    Graph{stream};
    NW_DONE(nw_gguf_moe_prepare(context, &p));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_gguf_moe_linear(context, &p, stream));
    Graph graph(stream);
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    CHECK_EQ(product.difference(), "");
}

TEST_CASE("gguf moe: what is refused says which value, and leaves c as it is") {
    const Context context;
    const MoeProduct product(layers[3]);
    const nw_gguf_moe good = [&] {
        nw_gguf_moe p = product.arguments();
        p.workspace_bytes = workspace_of(context, p);
        return p;
    }();
    const Workspace workspace(good.workspace_bytes);
    const auto refused = [&](auto change, const char *text, nw_status status) {
        nw_gguf_moe p = good;
        p.workspace = workspace.data;
        change(p);
        CHECK_EQ(nw_gguf_moe_linear(context, &p, nullptr), status);
        CHECK_MESSAGE(std::string(nw_last_error()).find(text) != std::string::npos,
                      nw_last_error());
    };
    const nw_status invalid = NW_INVALID_ARGUMENT;
    const auto gaps = [](u64 row, u64 stride) {
        return [=](nw_gguf_moe &p) { p.ids_row = row, p.ids_stride = stride; };
    };
    refused(gaps(4, 32), "ids_row = 4: must be a divisor of slots = 18", invalid);
    refused(gaps(2, 4), "ids_stride = 4: must be at least 4 * ids_row = 8", invalid);
    refused(gaps(2, 34), "ids_stride = 34:", invalid);
    refused(gaps(2, 32), "workspace_bytes = ", invalid); // has no room for the ids
    refused([](nw_gguf_moe &p) { p.size = 8; }, "size = 8:", invalid);
    refused([](nw_gguf_moe &p) { p.type = NW_GGUF_F16; }, "type = 1:", NW_UNSUPPORTED);
    refused([](nw_gguf_moe &p) { p.type = 99; }, "type = 99:", NW_UNSUPPORTED);
    refused([](nw_gguf_moe &p) { p.n = 0; }, "n = 0", invalid);
    refused([](nw_gguf_moe &p) { p.k = 300; }, "k = 300:", invalid);
    refused([](nw_gguf_moe &p) { p.experts = 0; }, "experts = 0", invalid);
    refused([](nw_gguf_moe &p) { p.slots = 0; }, "slots = 0:", invalid);
    refused([](nw_gguf_moe &p) { p.slots = 1u << 30; }, "slots = 1073741824:", invalid);
    refused([](nw_gguf_moe &p) { p.top_k = 0; }, "top_k = 0:", invalid);
    refused([](nw_gguf_moe &p) { p.x = nullptr; }, "x is null", invalid);
    refused([](nw_gguf_moe &p) { p.expert_ids = nullptr; }, "expert_ids is null", invalid);
    refused([](nw_gguf_moe &p) { p.w = static_cast<const u8 *>(p.w) + 1; }, "w = ", invalid);
    refused([](nw_gguf_moe &p) { p.x_stride -= 16; }, "x_stride = ", invalid);
    refused([](nw_gguf_moe &p) { p.w_expert -= 2; }, "w_expert = ", invalid);
    refused([](nw_gguf_moe &p) { --p.workspace_bytes; }, "workspace_bytes = ", invalid);
    refused([](nw_gguf_moe &p) { p.workspace = nullptr; }, "workspace is null", invalid);
    refused([](nw_gguf_moe &p) { p.c = const_cast<void *>(p.x); }, "c ", invalid);
    refused([](nw_gguf_moe &p) { p.workspace = p.c; }, "workspace", invalid);
    std::vector<f32> c(product.c.size / 4);
    HIP_OK(hipMemcpy(c.data(), product.c.data, product.c.size, hipMemcpyDeviceToHost));
    CHECK(std::ranges::all_of(c, [](f32 v) { return std::isnan(v); }));
}

namespace {

nw_ggml_tensor tensor(int type, std::initializer_list<int64_t> ne, u64 element, u64 row,
                      const Memory &memory) {
    nw_ggml_tensor t = {type, {1, 1, 1, 1}, {element, row, row, row}, memory.data};
    std::ranges::copy(ne, t.ne);
    for (int d = 2; d < 4; ++d)
        t.nb[d] = t.nb[d - 1] * static_cast<u64>(t.ne[d - 1]);
    return t;
}

} // namespace

// Ids as ggml's top-k has them: the first `used` entries of rows of sorted experts.
TEST_CASE("gguf moe: rows of ids with gaps give the bits of contiguous ones") {
    const Context context;
    const Stream stream;
    constexpr u64 row = 11; // entries
    for (const Layer &l : layers) {
        CAPTURE(fmt::format("type {} experts {} slots {}", l.type, l.experts, l.slots()));
        MoeProduct product(l);
        nw_gguf_moe p = product.arguments();
        std::vector<u8> packed(product.ids.size), spread(4 * row * l.tokens, 0x7f);
        HIP_OK(hipMemcpy(packed.data(), product.ids.data, packed.size(), hipMemcpyDeviceToHost));
        for (u64 t = 0; t < l.tokens; ++t)
            std::copy_n(&packed[4 * l.used * t], 4 * l.used, &spread[4 * row * t]);
        const Memory ids(spread);
        p.expert_ids = static_cast<const int32_t *>(ids.data);
        p.ids_row = l.used, p.ids_stride = 4 * row;
        check_twice(context, stream, product, p);
    }
}

TEST_CASE("ggml: mul_mat_id") {
    const Context context;
    for (const Layer &l : layers) {
        CAPTURE(fmt::format("type {} experts {} slots {}", l.type, l.experts, l.slots()));
        const MoeProduct product(l);
        const nw_gguf_moe like = product.arguments();
        const u64 block = nw_gguf_row_bytes(l.type, 256) / (l.type >= 12 ? 1 : 8);
        const nw_ggml_tensor a = tensor(l.type, {l.k, l.n, l.experts}, block,
                                        nw_gguf_row_bytes(l.type, l.k), product.w),
                             b = tensor(NW_GGUF_F32, {l.k, l.each_slot ? l.used : 1, l.tokens}, 4,
                                        u64{4} * l.k, product.x),
                             ids = tensor(NW_GGML_I32, {l.used, l.tokens}, 4, u64{4} * l.used,
                                          product.ids),
                             c = tensor(NW_GGUF_F32, {l.n, l.used, l.tokens}, 4, u64{4} * l.n,
                                        product.c);
        const char *why = nullptr;
        CHECK_MESSAGE(nw_ggml_supports_mul_mat_id(&a, &b, &ids, &c, &why), why);
        uint64_t bytes = 0;
        NW_DONE(nw_ggml_mul_mat_id_workspace_size(context, &a, &b, &ids, &c, &bytes));
        CHECK_EQ(bytes, workspace_of(context, like));
        nw_ggml_tensor top = ids; // as it is in a real graph: a view of sorted rows
        top.nb[1] = u64{4} * (l.used + l.experts);
        CHECK_MESSAGE(nw_ggml_supports_mul_mat_id(&a, &b, &top, &c, &why), why);
        const Workspace workspace(bytes);
        NW_DONE(nw_ggml_mul_mat_id(context, &a, &b, &ids, &c, workspace.data, bytes, nullptr));
        HIP_OK(hipDeviceSynchronize());
        CHECK_EQ(product.difference(), "");
        const auto no = [&](auto change) {
            nw_ggml_tensor t[] = {a, b, ids, c};
            change(t);
            CHECK_FALSE(nw_ggml_supports_mul_mat_id(&t[0], &t[1], &t[2], &t[3], &why));
            CHECK(*why);
        };
        no([](nw_ggml_tensor *t) { t[0].type = NW_GGUF_F16; });
        no([](nw_ggml_tensor *t) { t[1].type = NW_GGUF_F16; });
        no([](nw_ggml_tensor *t) { t[2].type = NW_GGUF_F32; });
        no([](nw_ggml_tensor *t) { t[0].ne[3] = 2; });
        no([](nw_ggml_tensor *t) { ++t[1].ne[0]; });
        no([](nw_ggml_tensor *t) { ++t[3].ne[0]; });
        no([](nw_ggml_tensor *t) { ++t[1].ne[2]; });
        no([](nw_ggml_tensor *t) { t[2].nb[0] = 8; });
        no([](nw_ggml_tensor *t) { t[2].ne[1] = 2, t[2].nb[1] = 0; });
        no([](nw_ggml_tensor *t) { t[1].nb[0] = 8; });
        no([](nw_ggml_tensor *t) { t[1].ne[1] += 7; });
    }
}
