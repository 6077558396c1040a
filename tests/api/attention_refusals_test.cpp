// SPDX-License-Identifier: MIT
// Every rule of attention in nibblewave.h, broken one at a time: the code, a message that names the
// value and the rule, and nothing written.
#include <cmath>
#include <functional>

#include "api/attention_case.h"

using namespace api_test;

namespace {

template <class T> T *plus(T *p, u64 bytes) {
    return reinterpret_cast<T *>(reinterpret_cast<std::uintptr_t>(p) + bytes);
}

template <class Arguments> struct Bad {
    const char *says;
    std::function<void(Arguments &)> breaks;
};

template <class Arguments, class Call>
void check_refused(const Attention &of, const Arguments &good,
                   const std::vector<Bad<Arguments>> &cases, const Call &call) {
    for (const Bad<Arguments> &bad : cases) {
        Arguments p = good;
        bad.breaks(p);
        CAPTURE(bad.says);
        CHECK_EQ(call(&p), NW_INVALID_ARGUMENT);
        const std::string said = nw_last_error();
        CHECK_MESSAGE(said.find(bad.says) != said.npos, said);
        HIP_OK(hipDeviceSynchronize());
        CHECK(of.untouched());
    }
    CHECK_EQ(call(&good), NW_OK); // nothing else was wrong
}

} // namespace

TEST_CASE("attention: every rule of nw_attention") {
    const Context context;
    const Attention of({.sq = 140, .sk = 300, .b = 2});
    const Memory lists(4096 * 16);
    const auto words = [&] { return static_cast<const i32 *>(lists.data); };
    const std::vector<Bad<nw_attn>> cases = {
        {"size = 8: must be sizeof(nw_attn)", [](auto &p) { p.size = 8; }},
        {"dtype = 2: must be NW_BF16 (0) or NW_F16 (1)", [](auto &p) { p.dtype = 2; }},
        {"causal = 2: must be 0 or 1", [](auto &p) { p.causal = 2; }},
        {"causal = -1: must be 0 or 1", [](auto &p) { p.causal = -1; }},
        {"b = 0: must be 1..65535", [](auto &p) { p.b = 0; }},
        {"b = 65536: must be 1..65535", [](auto &p) { p.b = 65536; }},
        {"sq = 0: must be 1..67108864", [](auto &p) { p.sq = 0; }},
        {"sk = 0: must be 1..67108864", [](auto &p) { p.sk = 0; }},
        {"sk = 4294967295: must be 1..67108864", [](auto &p) { p.sk = UINT32_MAX; }},
        {"sq = 301, sk = 300: causal, there must be a key for each query",
         [](auto &p) { p.sq = 301; }},
        {"h = 0: must be 1..65535", [](auto &p) { p.h = 0; }},
        {"hk = 0: must be 1..65535", [](auto &p) { p.hk = 0; }},
        {"h = 4, hk = 3: query heads must be a multiple of key heads", [](auto &p) { p.hk = 3; }},
        {"h = 4, hk = 8: query heads must be a multiple of key heads", [](auto &p) { p.hk = 8; }},
        {"d = 0: must be 64, 128 or 256", [](auto &p) { p.d = 0; }},
        {"d = 96: must be 64, 128 or 256", [](auto &p) { p.d = 96; }},
        {"scale = 0: must be finite and positive", [](auto &p) { p.scale = 0; }},
        {"scale = -1: must be finite and positive", [](auto &p) { p.scale = -1; }},
        {"scale = nan: must be finite and positive", [](auto &p) { p.scale = NAN; }},
        {"scale = inf: must be finite and positive", [](auto &p) { p.scale = INFINITY; }},
        {"scale = 3.689349e+19: must be finite and positive, 2^-64 to 2^64",
         [](auto &p) { p.scale = 0x1p65f; }},
        {"q is null", [](auto &p) { p.q = nullptr; }},
        {"k is null", [](auto &p) { p.k = nullptr; }},
        {"v is null", [](auto &p) { p.v = nullptr; }},
        {"o is null", [](auto &p) { p.o = nullptr; }},
        {": must be 16-byte aligned", [](auto &p) { p.q = plus(p.q, 8); }},
        {": must be 16-byte aligned", [](auto &p) { p.o = plus(p.o, 2); }},
        {": must be 4-byte aligned", [](auto &p) { p.lse = plus(p.lse, 2); }},
        {"q_h = 112: must be at least a row of q", [](auto &p) { p.q_h = 112; }},
        {"k_s = 264: must be a multiple of 16; pad to 272 bytes", [](auto &p) { p.k_s = 264; }},
        {"v_s = 16777216: must be below 16777216", [](auto &p) { p.v_s = 1 << 24; }},
        {"k_b = 0: must be at least a row of k", [](auto &p) { p.k_b = 0; }},
        {"o_h = 128: rows of o overlap", [](auto &p) { p.o_s = 128; }},
        {"cnt is null: a list of blocks has its lengths in cnt", [&](auto &p) { p.idx = words(); }},
        {"idx is null: cnt has the lengths of the lists in idx", [&](auto &p) { p.cnt = words(); }},
        {"overlaps q", [](auto &p) { p.o = const_cast<void *>(p.q); }},
        {"overlaps v", [](auto &p) { p.o = const_cast<void *>(p.v); }},
        {"overlaps o", [](auto &p) { p.lse = static_cast<float *>(p.o); }},
        {"workspace is null, workspace_bytes = 256", [](auto &p) { p.workspace_bytes = 256; }},
        {"kv = 3: must be NW_KV_SAME (0)", [](auto &p) { p.kv = 3; }},
        {"tq = 0: q and o must have a token", [&](auto &p) { p.q_start = words(); }},
        {"tk = 0: k and v must have a token", [&](auto &p) { p.k_start = words(); }},
        {"k_start = 0x",
         [&](auto &p) {
             p.k_start = p.page_table = words();
             p.tk = 80, p.page = 16, p.pages = 40, p.table_b = 80;
         }},
        {"page = 16: page_table says where a sequence's keys are",
         [&](auto &p) {
             p.k_start = p.page_table = words();
             p.tk = 80, p.page = 16, p.pages = 40, p.table_b = 80;
         }},
    };
    const nw_attn good = of.arguments();
    check_refused(of, good, cases,
                  [&](const nw_attn *p) { return nw_attention(context, p, nullptr); });
    CHECK_EQ(nw_attention(nullptr, &good, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention_prepare(context, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention_workspace_size(context, &good, nullptr), NW_INVALID_ARGUMENT);
    uint64_t bytes = 1;
    NW_DONE(nw_attention_workspace_size(context, &good, &bytes));
    CHECK_EQ(bytes, 0);
}

TEST_CASE("attention: every rule of a cache, of few queries and of many") {
    const Context context;
    for (const u32 sq : {2u, 40u}) {
        CAPTURE(sq);
        Attention of({.sq = sq, .sk = 300, .b = 2});
        of.use_cache(ref::CacheFormat::q8_0, 32, {300, 20});
        nw_attn good = of.arguments();
        uint64_t bytes = 0;
        NW_DONE(nw_attention_workspace_size(context, &good, &bytes));
        const Memory workspace{std::vector<u8>(bytes)};
        if (bytes)
            good.workspace = workspace.data, good.workspace_bytes = bytes;
        std::vector<Bad<nw_attn>> cases = {
            {"page = 8: must be 0, for a cache without pages, or 16", [](auto &p) { p.page = 8; }},
            {"page = 512: must be 0", [](auto &p) { p.page = 512; }},
            {"pages = 0: must be at least 1", [](auto &p) { p.pages = 0; }},
            {"page_table is null", [](auto &p) { p.page_table = nullptr; }},
            {"page = 0: a page has 16, 32, 64, 128 or 256 keys", [](auto &p) { p.page = 0; }},
            {"must be at least a row of page_table", [](auto &p) { p.table_b = 36; }},
            {"table_b = 42: must be a multiple of 4", [](auto &p) { p.table_b = 42; }},
            {"k_h = 64: must be at least a row of k", [](auto &p) { p.k_h = 64; }},
            {"v_s = 137: must be a multiple of 2", [](auto &p) { p.v_s = 137; }},
            {"k_b = 0: must be at least a row of k", [](auto &p) { p.k_b = 0; }},
            // Not o at the table: it is larger, and other allocations may lie behind the table.
            {"overlaps page_table", [](auto &p) { p.page_table = static_cast<const i32 *>(p.o); }},
        };
        if (sq <= 8) {
            cases.push_back({"attention: workspace_bytes = 262144: must be at least",
                             [](auto &p) { p.workspace_bytes = 262144; }});
            cases.push_back({"attention: workspace_bytes = 0: must be at least",
                             [](auto &p) { p.workspace = nullptr, p.workspace_bytes = 0; }});
        } else {
            CHECK_EQ(bytes, 0);
        }
        check_refused(of, good, cases,
                      [&](const nw_attn *p) { return nw_attention(context, p, nullptr); });
        for (const auto &[dtype, kv] : {std::pair{NW_BF16, NW_KV_Q8_0}, {NW_F16, NW_KV_FP8}}) {
            nw_attn p = good; // fp8 is gfx12's
            p.dtype = dtype, p.kv = kv;
            CHECK_EQ(nw_attention(context, &p, nullptr),
                     kv == NW_KV_FP8 ? NW_INVALID_ARGUMENT : NW_UNSUPPORTED);
            CHECK_EQ(nw_attention_prepare(context, &p), NW_UNSUPPORTED);
            CHECK_MESSAGE(std::string(nw_last_error()).find("no kernel for") != std::string::npos,
                          std::string(nw_last_error()));
        }
    }
}

TEST_CASE("attention: every rule of nw_attention_select") {
    const Context context;
    const Attention of({.sq = 300, .sk = 300, .b = 2});
    nw_attn_select good = of.selection();
    uint64_t bytes = 0;
    NW_DONE(nw_attention_select_workspace_size(context, &good, &bytes));
    const Memory workspace(bytes);
    good.workspace = workspace.data, good.workspace_bytes = bytes;
    const std::vector<Bad<nw_attn_select>> cases = {
        {"size = 0: must be sizeof(nw_attn_select)", [](auto &p) { p.size = 0; }},
        {"dtype = -1: must be", [](auto &p) { p.dtype = -1; }},
        {"score = 3: must be NW_SCORE_CANONICAL (0), NW_SCORE_RAW (1) or NW_SCORE_POOLED (2)",
         [](auto &p) { p.score = 3; }},
        {"rule = 2: must be NW_SELECT_PEAK (0) or NW_SELECT_MASS (1)", [](auto &p) { p.rule = 2; }},
        {"all_rows = 2: must be 0 or 1", [](auto &p) { p.all_rows = 2; }},
        {"b = 0: must be 1..65535", [](auto &p) { p.b = 0; }},
        {"sq = 0: must be 1..1048576", [](auto &p) { p.sq = 0; }},
        {"sq = 1048577: must be 1..1048576", [](auto &p) { p.sq = 1048577; }},
        {"sk = 1048577: must be 1..1048576", [](auto &p) { p.sk = 1048577; }},
        {"sq = 300, sk = 299: sq must be at most sk", [](auto &p) { p.sk = 299; }},
        {"h = 1025: must be 1..1024", [](auto &p) { p.h = 1025; }},
        {"hk = 0: must be 1..1024", [](auto &p) { p.hk = 0; }},
        {"h = 4, hk = 3: query heads must be a multiple", [](auto &p) { p.hk = 3; }},
        {"d = 32: must be 64, 128 or 256", [](auto &p) { p.d = 32; }},
        {"scale = 0: must be finite and positive", [](auto &p) { p.scale = 0; }},
        {"must be finite and positive, 2^-126 to 2^127", [](auto &p) { p.scale = 0x1p-130f; }},
        {"share = 1.5: must be 0 to 1", [](auto &p) { p.share = 1.5f; }},
        {"share = -0.5: must be 0 to 1", [](auto &p) { p.share = -0.5f; }},
        {"share = nan: must be 0 to 1", [](auto &p) { p.share = NAN; }},
        {"q is null", [](auto &p) { p.q = nullptr; }},
        {"k is null", [](auto &p) { p.k = nullptr; }},
        {"idx is null", [](auto &p) { p.idx = nullptr; }},
        {"cnt is null", [](auto &p) { p.cnt = nullptr; }},
        {"workspace is null", [](auto &p) { p.workspace = nullptr; }},
        {": must be 16-byte aligned", [](auto &p) { p.k = plus(p.k, 4); }},
        {": must be 16-byte aligned", [](auto &p) { p.mean_k = plus(p.q, 4); }},
        {": must be 4-byte aligned", [](auto &p) { p.idx = plus(p.idx, 2); }},
        {"q_s = 96: must be at least a row of q", [](auto &p) { p.q_s = 96; }},
        {"k_h = 136: must be a multiple of 16; pad to 144", [](auto &p) { p.k_h = 136; }},
        {"k_h = 4294967280: the heads of a key must lie within 2^32 bytes",
         [](auto &p) { p.k_h = 4294967280; }},
        {"overlaps k", [](auto &p) { p.idx = static_cast<i32 *>(const_cast<void *>(p.k)); }},
        {"overlaps idx", [](auto &p) { p.cnt = p.idx; }},
        {"overlaps q", [](auto &p) { p.workspace = const_cast<void *>(p.q); }},
        {"must be at least", [&](auto &p) { p.workspace_bytes = bytes - 1; }},
        {"attention_select: workspace_bytes = 0: must be at least",
         [](auto &p) { p.workspace_bytes = 0; }},
    };
    check_refused(of, good, cases, [&](const nw_attn_select *p) {
        return nw_attention_select(context, p, nullptr);
    });
    CHECK_EQ(nw_attention_select(nullptr, &good, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention_select(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention_select_prepare(context, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_attention_select_workspace_size(context, &good, nullptr), NW_INVALID_ARGUMENT);
}

TEST_CASE("attention: every rule of nw_attention_mean") {
    const Context context;
    const Attention of({.sq = 140, .sk = 140});
    const nw_attn_mean good = of.mean();
    const std::vector<Bad<nw_attn_mean>> cases = {
        {"size = 0: must be sizeof(nw_attn_mean)", [](auto &p) { p.size = 0; }},
        {"dtype = 7: must be", [](auto &p) { p.dtype = 7; }},
        {"b = 0: must be 1..65535", [](auto &p) { p.b = 0; }},
        {"tokens = 0: must be 1..1048576", [](auto &p) { p.tokens = 0; }},
        {"h = 0: must be 1..1024", [](auto &p) { p.h = 0; }},
        {"d = 63: must be 64, 128 or 256", [](auto &p) { p.d = 63; }},
        {"x is null", [](auto &p) { p.x = nullptr; }},
        {"mean is null", [](auto &p) { p.mean = nullptr; }},
        {": must be 16-byte aligned", [](auto &p) { p.x = plus(p.x, 8); }},
        {"x_h = 130: must be a multiple of 16", [](auto &p) { p.x_h = 130; }},
        {"overlaps x", [](auto &p) { p.mean = const_cast<void *>(p.x); }},
    };
    check_refused(of, good, cases,
                  [&](const nw_attn_mean *p) { return nw_attention_mean(context, p, nullptr); });
}
