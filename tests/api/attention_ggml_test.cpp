// SPDX-License-Identifier: MIT
// nibblewave_ggml_attention.h: ggml's tensors as attention, dense and sparse, and refusals.
#include <functional>
#include <nibblewave_ggml.h>

#include "api/attention_case.h"

using namespace api_test;

namespace {

// As ggml has them: [D, tokens, heads, B] of a case's memory, and o [D, H, Sq, B].
struct Tensors {
    explicit Tensors(const nw_attn &p)
        : q(of(p, p.sq, p.h, p.q, p.q_s, p.q_h, p.q_b)),
          k(of(p, p.sk, p.hk, p.k, p.k_s, p.k_h, p.k_b)),
          v(of(p, p.sk, p.hk, p.v, p.v_s, p.v_h, p.v_b)),
          o(of(p, p.h, p.sq, p.o, p.o_h, p.o_s, p.o_b)) {}
    static nw_ggml_tensor of(const nw_attn &p, i64 second, i64 third, const void *data, u64 nb1,
                             u64 nb2, u64 nb3) {
        return {p.dtype == NW_BF16 ? NW_GGUF_BF16 : NW_GGUF_F16,
                {p.d, second, third, p.b},
                {2, nb1, nb2, nb3},
                const_cast<void *>(data)};
    }
    nw_ggml_tensor q, k, v, o;
};

} // namespace

TEST_CASE("attention: a ggml node, of a padded cache") {
    const Context context;
    for (const int dtype : {NW_F16, NW_BF16}) {
        const Attention of({.dtype = dtype, .sq = 40, .sk = 200, .lse = false});
        const nw_attn p = of.arguments();
        Tensors t(p);
        t.k.ne[1] = t.v.ne[1] = 256; // cells; 200 are in use
        const char *why = nullptr;
        CHECK(nw_ggml_supports_flash_attn(&t.q, &t.k, &t.v, &t.o, 0, 0, 0, &why));
        CHECK_EQ(std::string(why), "");
        uint64_t bytes = 1;
        NW_DONE(nw_ggml_flash_attn_workspace_size(context, &t.q, &t.k, &t.v, &t.o, 1, 200, &bytes));
        CHECK_EQ(bytes, 0);
        NW_DONE(nw_ggml_flash_attn(context, &t.q, &t.k, &t.v, &t.o, p.scale, 1, 200, nullptr, 0,
                                   nullptr));
        HIP_OK(hipDeviceSynchronize());
        CHECK_EQ(of.difference(), "");
        CHECK_EQ(nw_ggml_flash_attn(context, &t.q, &t.k, &t.v, &t.o, p.scale, 1, 257, nullptr, 0,
                                    nullptr),
                 NW_UNSUPPORTED);
    }
}

TEST_CASE("attention: a ggml node of a q8_0 cache") {
    const Context context;
    for (const u32 sq : {3u, 40u}) {
        Attention of({.sq = sq, .sk = 300, .lse = false});
        of.use_cache(ref::CacheFormat::q8_0, 0, {});
        const nw_attn p = of.arguments();
        Tensors t(p);
        t.k.type = t.v.type = NW_GGUF_Q8_0;
        t.k.nb[0] = t.v.nb[0] = 34;
        const char *why = nullptr;
        CHECK(nw_ggml_supports_flash_attn(&t.q, &t.k, &t.v, &t.o, 0, 0, 0, &why));
        CHECK_EQ(std::string(why), "");
        uint64_t bytes = 0;
        NW_DONE(nw_ggml_flash_attn_workspace_size(context, &t.q, &t.k, &t.v, &t.o, 1, 300, &bytes));
        const Memory workspace{std::vector<u8>(bytes)};
        NW_DONE(nw_ggml_flash_attn(context, &t.q, &t.k, &t.v, &t.o, p.scale, 1, 300, workspace.data,
                                   bytes, nullptr));
        HIP_OK(hipDeviceSynchronize());
        CHECK_EQ(of.difference(), "");
    }
}

TEST_CASE("attention: a selection does not read q8_0") {
    const Context context;
    Attention of({.sq = 40, .sk = 40, .lse = false});
    of.use_cache(ref::CacheFormat::q8_0, 0, {});
    Tensors t(of.arguments());
    t.k.type = t.v.type = NW_GGUF_Q8_0;
    t.k.nb[0] = t.v.nb[0] = 34;
    uint64_t bytes = 0;
    CHECK_EQ(
        nw_ggml_flash_attn_sparse_workspace_size(context, &t.q, &t.k, &t.v, &t.o, 0.5f, &bytes),
        NW_UNSUPPORTED);
    for (const f32 alpha : {0.5f, 1.0f})
        CHECK_EQ(nw_ggml_flash_attn_sparse(context, &t.q, &t.k, &t.v, &t.o, of.arguments().scale,
                                           alpha, nullptr, 0, nullptr),
                 alpha < 1 ? NW_UNSUPPORTED : NW_OK);
    HIP_OK(hipDeviceSynchronize());
    CHECK_EQ(of.difference(), "");
}

TEST_CASE("attention: a sparse ggml node") {
    const Context context;
    Attention of({.sq = 840, .sk = 840, .lse = false, .shared = 0.8f});
    const nw_attn p = of.arguments();
    const Tensors t(p);
    for (const f32 alpha : {0.6f, 1.0f}) {
        CAPTURE(alpha);
        of.clear();
        uint64_t bytes = 0;
        NW_DONE(nw_ggml_flash_attn_sparse_workspace_size(context, &t.q, &t.k, &t.v, &t.o, alpha,
                                                         &bytes));
        CHECK_EQ(bytes == 0, alpha == 1);
        const Memory workspace(bytes + 1);
        const auto run = [&](u64 of_bytes) {
            return nw_ggml_flash_attn_sparse(context, &t.q, &t.k, &t.v, &t.o, p.scale, alpha,
                                             workspace.data, of_bytes, nullptr);
        };
        if (bytes) {
            CHECK_EQ(run(bytes - 1), NW_INVALID_ARGUMENT);
            CHECK_EQ(run(10), NW_INVALID_ARGUMENT);
            HIP_OK(hipDeviceSynchronize());
            CHECK(of.untouched());
        }
        NW_DONE(run(bytes));
        HIP_OK(hipDeviceSynchronize());
        nw_attn_select s = of.selection(); // the same defaults
        s.share = alpha;
        const ref::AttnLists lists = of.lists(s);
        CHECK_EQ(of.difference(alpha < 1 ? &lists : nullptr), "");
    }
}

TEST_CASE("attention: ggml nodes that are refused") {
    const Attention of({.sq = 40, .sk = 60});
    const Tensors good(of.arguments());
    struct Node : Tensors {
        using Tensors::Tensors;
        f32 max_bias = 0, softcap = 0;
        int sinks = 0;
    };
    struct Bad {
        const char *says;
        std::function<void(Node &)> breaks;
    };
    const Bad cases[] = {
        {"k must be f16, bf16 or q8_0", [](auto &n) { n.k.type = NW_GGUF_F32; }},
        {"v must be of k's type", [](auto &n) { n.v.type = NW_GGUF_BF16; }},
        {"q and dst must be f32, or of k's type", [](auto &n) { n.q.type = NW_GGUF_BF16; }},
        {"q and dst must be f32, or of k's type", [](auto &n) { n.o.type = NW_GGUF_Q8_0; }},
        {"a dimension is empty", [](auto &n) { n.k.ne[1] = 0; }},
        {"a dimension is empty", [](auto &n) { n.q.ne[1] = i64{1} << 32; }},
        {"v must have k's dimensions", [](auto &n) { n.v.ne[0] = 128; }},
        {"heads must have 64, 128 or 256", [](auto &n) { n.q.ne[0] = n.k.ne[0] = n.v.ne[0] = 80; }},
        {"heads must have 64, 128 or 256", [](auto &n) { n.q.ne[0] = 128; }},
        {"heads of q must be a multiple", [](auto &n) { n.k.ne[2] = n.v.ne[2] = 3; }},
        {"and batches equal", [](auto &n) { n.q.ne[3] = 2; }},
        {"dst must be [", [](auto &n) { n.o.ne[1] = 3; }},
        {"max_bias and logit_softcap must be 0", [](auto &n) { n.max_bias = 8; }},
        {"max_bias and logit_softcap must be 0", [](auto &n) { n.softcap = 50; }},
        {"there must be no sinks", [](auto &n) { n.sinks = 1; }},
        {"elements of a head must be contiguous", [](auto &n) { n.v.nb[0] = 120; }},
        {"16-byte aligned", [](auto &n) { n.k.nb[1] += 8; }},
    };
    for (const Bad &bad : cases) {
        Node n(of.arguments());
        bad.breaks(n);
        CAPTURE(bad.says);
        const char *why = nullptr;
        CHECK_FALSE(nw_ggml_supports_flash_attn(&n.q, &n.k, &n.v, &n.o, n.max_bias, n.softcap,
                                                n.sinks, &why));
        CHECK_MESSAGE(std::string(why).find(bad.says) != std::string::npos, std::string(why));
    }
    Tensors plain = good; // as ggml has q and dst, before they are converted
    plain.q.type = plain.o.type = NW_GGUF_F32;
    CHECK(nw_ggml_supports_flash_attn(&plain.q, &plain.k, &plain.v, &plain.o, 0, 0, 0, nullptr));
    CHECK_EQ(nw_ggml_flash_attn(nullptr, &plain.q, &plain.k, &plain.v, &plain.o, 1, 1, 60, nullptr,
                                0, nullptr),
             NW_UNSUPPORTED);
}
