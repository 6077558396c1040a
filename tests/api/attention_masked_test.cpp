// SPDX-License-Identifier: MIT
// nw_attention_masked, and ggml's FLASH_ATTN_EXT node by nibblewave_ggml_attention.h, with every
// checker of the simulated GPU on; refusals.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <nibblewave_ggml.h>

#include "api/product.h"
#include "base/half.h"
#include "base/rng.h"
#include "ref/attn_masked.h"

using namespace api_test;

namespace {

constexpr u32 sk = 200, h = 4, hk = 2, d = 64;

// Causal, of 4 heads that share 2 of keys, with sinks; q and o are [tokens, heads, d].
struct Operands {
    explicit Operands(u32 queries) : sq(queries) {
        Rng rng(1);
        for (f32 &x : q)
            x = static_cast<f32>(rng.normal());
        for (auto *x : {&k, &v})
            for (u16 &word : *x)
                word = round_to(Dtype::f16, rng.normal());
        for (u32 i = 0; i < sq; ++i)
            for (u32 j = 0; j < sk; ++j)
                mask[i * sk + j] = round_to(Dtype::f16, j <= i + sk - sq ? 0 : -INFINITY);
    }
    std::vector<f64> exact() const {
        ref::AttnMasked a{1, sq, sk, h, hk, d, 0.125f};
        a.q = {q, 0, h * d, d}, a.k = {k, 0, hk * d, d}, a.v = {v, 0, hk * d, d};
        a.mask = {mask, 0, sk, 0}, a.sinks = sinks;
        return ref::attn_masked(a).o;
    }

    const u32 sq;
    std::vector<f32> q = std::vector<f32>(u64{sq} * h * d);
    std::vector<u16> k = std::vector<u16>(sk * hk * d), v = k,
                     mask = std::vector<u16>(u64{sq} * sk);
    std::vector<f32> sinks = {1, -2, 30, 0.5f};
};

struct Masked {
    explicit Masked(u32 sq) : of(sq) {}
    nw_attn_masked arguments() const {
        nw_attn_masked p = NW_ATTN_MASKED_INIT;
        p.b = 1, p.sq = of.sq, p.sk = sk, p.h = h, p.hk = hk, p.d = d;
        p.scale = 0.125f;
        p.q = static_cast<f32 *>(q.data), p.o = static_cast<f32 *>(o.data);
        p.k = k.data, p.v = v.data, p.mask = mask.data;
        p.sinks = static_cast<f32 *>(sinks.data);
        p.q_h = p.o_h = 4 * d, p.q_s = p.o_s = 4 * d * h;
        p.k_h = p.v_h = 2 * d, p.k_s = p.v_s = 2 * d * hk;
        p.mask_s = 2 * sk;
        return p;
    }
    std::vector<f32> result() const {
        std::vector<f32> out(of.q.size());
        HIP_OK(hipMemcpy(out.data(), o.data, 4 * out.size(), hipMemcpyDeviceToHost));
        return out;
    }
    // The largest difference from the exact result.
    f64 difference() const {
        const std::vector<f64> exact = of.exact();
        const std::vector<f32> got = result();
        f64 most = 0;
        for (u64 i = 0; i < got.size(); ++i)
            most = std::isnan(got[i]) ? INFINITY : std::max(most, std::abs(got[i] - exact[i]));
        return most;
    }
    bool untouched() const {
        return std::ranges::all_of(result(), [](f32 x) { return std::isnan(x); });
    }

    const Operands of;
    const Memory q{bytes_of(of.q)}, k{bytes_of(of.k)}, v{bytes_of(of.v)}, mask{bytes_of(of.mask)},
        sinks{bytes_of(of.sinks)}, o{std::vector<u8>(4 * of.q.size(), 0xff)};
};

constexpr f64 most = 4e-3; // of values of a few units: p has 10 bits

struct Tensors {
    explicit Tensors(const nw_attn_masked &p)
        : q{NW_GGUF_F32, {d, p.sq, h, 1}, {4, p.q_s, p.q_h, p.q_s * p.sq}, const_cast<f32 *>(p.q)},
          k{NW_GGUF_F16, {d, sk, hk, 1}, {2, p.k_s, p.k_h, p.k_s * sk}, const_cast<void *>(p.k)},
          v{k}, mask{NW_GGUF_F16,
                     {sk, p.sq, 1, 1},
                     {2, p.mask_s, p.mask_s * p.sq, p.mask_s * p.sq},
                     const_cast<void *>(p.mask)},
          sinks{NW_GGUF_F32, {h, 1, 1, 1}, {4, 4 * h, 4 * h, 4 * h}, const_cast<f32 *>(p.sinks)},
          dst{NW_GGUF_F32, {d, h, p.sq, 1}, {4, p.o_h, p.o_s, p.o_s * p.sq}, p.o} {
        v.data = const_cast<void *>(p.v);
    }
    const char *refusal(f32 bias = 0, f32 cap = 0) const {
        return nw_ggml_flash_attn_ext_refusal(&q, &k, &v, &mask, &sinks, &dst, bias, cap);
    }
    nw_ggml_tensor q, k, v, mask, sinks, dst;
};

} // namespace

TEST_CASE("attention with a mask: few queries and many, twice in a workspace") {
    const Context context;
    for (const u32 sq : {2u, 40u}) {
        const Masked of(sq);
        nw_attn_masked p = of.arguments();
        NW_DONE(nw_attention_masked_prepare(context, &p));
        uint64_t bytes = 0;
        NW_DONE(nw_attention_masked_workspace_size(context, &p, &bytes));
        CHECK_EQ(bytes > 0, sq <= 8);
        const Memory workspace{std::vector<u8>(bytes)};
        p.workspace = bytes ? workspace.data : nullptr, p.workspace_bytes = bytes;
        for (int round = 0; round < 2; ++round) {
            NW_DONE(nw_attention_masked(context, &p, nullptr));
            HIP_OK(hipDeviceSynchronize());
            CHECK(of.difference() < most);
        }
    }
}

TEST_CASE("attention with a mask: a ggml node") {
    const Context context;
    for (const u32 sq : {3u, 40u}) {
        const Masked of(sq);
        const Tensors t(of.arguments());
        CHECK_EQ(t.refusal(), nullptr);
        uint64_t bytes = 0;
        NW_DONE(nw_ggml_flash_attn_ext_workspace_size(context, &t.q, &t.k, &t.v, &t.mask, &t.sinks,
                                                      &t.dst, &bytes));
        const Memory workspace{std::vector<u8>(bytes)};
        NW_DONE(nw_ggml_flash_attn_ext(context, &t.q, &t.k, &t.v, &t.mask, &t.sinks, &t.dst, 0.125f,
                                       bytes ? workspace.data : nullptr, bytes, nullptr));
        HIP_OK(hipDeviceSynchronize());
        CHECK(of.difference() < most);
    }
}

TEST_CASE("attention with a mask: what a ggml node may not be") {
    const Masked of(3);
    const Tensors good(of.arguments());
    CHECK_EQ(std::string(good.refusal(8)), "max_bias (ALiBi) must be 0");
    CHECK_EQ(std::string(good.refusal(0, 30)), "logit_softcap must be 0");
    const std::vector<std::pair<const char *, std::function<void(Tensors &)>>> cases = {
        {"k and v must be f16", [](Tensors &t) { t.k.type = NW_GGUF_Q8_0; }},
        {"k and v must be f16", [](Tensors &t) { t.v.type = NW_GGUF_BF16; }},
        {"q and dst must be f32", [](Tensors &t) { t.q.type = NW_GGUF_F16; }},
        {"a dimension is empty", [](Tensors &t) { t.v.ne[1] = 8; }},
        {"heads must have 64 or 128", [](Tensors &t) { t.q.ne[0] = t.k.ne[0] = t.v.ne[0] = 96; }},
        {"there must be 2^18 keys", [](Tensors &t) { t.k.ne[1] = t.v.ne[1] = (1 << 18) + 8; }},
        {"heads of q must be a multiple", [](Tensors &t) { t.k.ne[2] = t.v.ne[2] = 3; }},
        {"dst must be", [](Tensors &t) { t.dst.ne[1] = 3; }},
        {"elements of a head must be contiguous", [](Tensors &t) { t.k.nb[1] += 2; }},
        {"rows must be less than 2^24 bytes apart", [](Tensors &t) { t.k.nb[1] = 1 << 24; }},
        {"sinks must be f32", [](Tensors &t) { t.sinks.ne[0] = 3; }},
        {"the mask must be f16", [](Tensors &t) { t.mask.type = NW_GGUF_F32; }},
        {"the mask must have all keys", [](Tensors &t) { t.mask.ne[0] = 192; }},
        {"the mask must have all keys", [](Tensors &t) { t.mask.ne[1] = 2; }},
        {"a mask must have one head", [](Tensors &t) { t.mask.ne[2] = 2; }},
        {"rows of the mask must be multiples of 8", [](Tensors &t) { t.mask.nb[1] += 2; }},
        {"rows of the mask must be less than 2^24", [](Tensors &t) { t.mask.nb[1] = 1 << 24; }},
    };
    for (const auto &[says, breaks] : cases) {
        Tensors t = good;
        breaks(t);
        CAPTURE(says);
        REQUIRE(t.refusal());
        CHECK_MESSAGE(std::string(t.refusal()).find(says) == 0, t.refusal());
        CHECK_EQ(nw_ggml_flash_attn_ext(nullptr, &t.q, &t.k, &t.v, &t.mask, &t.sinks, &t.dst, 1,
                                        nullptr, 0, nullptr),
                 NW_UNSUPPORTED);
    }
}

TEST_CASE("attention with a mask: rules of nw_attention_masked") {
    const Context context;
    const Masked of(40);
    const nw_attn_masked good = of.arguments();
    const std::vector<std::pair<const char *, std::function<void(nw_attn_masked &)>>> cases = {
        {"size = 8: must be sizeof(nw_attn_masked)", [](auto &p) { p.size = 8; }},
        {"b = 0: must be 1..65535", [](auto &p) { p.b = 0; }},
        {"sk = 262145: must be 1..262144", [](auto &p) { p.sk = 262145; }},
        {"d = 96: must be 64 or 128", [](auto &p) { p.d = 96; }},
        {"h = 4, hk = 3: query heads", [](auto &p) { p.hk = 3; }},
        {"scale = 0: must be finite and positive", [](auto &p) { p.scale = 0; }},
        {"with a mask, keys must be a multiple of 8", [](auto &p) { p.sk = 199; }},
        {"mask_s = 392: must be at least", [](auto &p) { p.mask_s = 392; }},
        {"q is null", [](auto &p) { p.q = nullptr; }},
        {"overlaps", [](auto &p) { p.o = const_cast<f32 *>(p.q); }},
    };
    for (const auto &[says, breaks] : cases) {
        nw_attn_masked p = good;
        breaks(p);
        CAPTURE(says);
        CHECK_EQ(nw_attention_masked(context, &p, nullptr), NW_INVALID_ARGUMENT);
        const std::string said = nw_last_error();
        CHECK_MESSAGE(said.find(says) != said.npos, said);
        HIP_OK(hipDeviceSynchronize());
        CHECK(of.untouched());
    }
    CHECK_EQ(nw_attention_masked(context, &good, nullptr), NW_OK); // nothing else was wrong
    CHECK_EQ(nw_attention_masked(nullptr, &good, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention_masked_prepare(context, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention_masked_workspace_size(context, &good, nullptr), NW_INVALID_ARGUMENT);
}
