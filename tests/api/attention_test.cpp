// SPDX-License-Identifier: MIT
// Results of nw_attention, nw_attention_select and nw_attention_mean, in graphs too, with every
// checker of the simulated GPU on.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "api/attention_case.h"

using namespace api_test;

namespace {

[[maybe_unused]] const int checkers = setenv("HIPSIM_CHECK", "all", 1);

u64 bytes_for(nw_context *context, const nw_attn &p) {
    uint64_t bytes = 0;
    NW_DONE(nw_attention_workspace_size(context, &p, &bytes));
    return bytes;
}

// Twice in a workspace of exactly the size needed: counters must be 0 again.
void run(nw_context *context, const Attention &of, nw_attn p, hipStream_t stream,
         const ref::AttnLists *lists = nullptr) {
    const Memory workspace(std::vector<u8>(bytes_for(context, p)));
    if (workspace.size)
        p.workspace = workspace.data, p.workspace_bytes = workspace.size;
    for (int round = 0; round < (workspace.size ? 2 : 1); ++round) {
        NW_DONE(nw_attention(context, &p, stream));
        HIP_OK(hipStreamSynchronize(stream));
        CHECK_EQ(of.difference(lists), "");
    }
}

u64 select_bytes(nw_context *context, const nw_attn_select &p) {
    uint64_t bytes = 0;
    NW_DONE(nw_attention_select_workspace_size(context, &p, &bytes));
    return bytes;
}

// A selection in a workspace of exactly the size needed.
struct Selecting {
    Selecting(nw_context *context, const nw_attn_select &from)
        : arguments(from), workspace(select_bytes(context, from)) {
        arguments.workspace = workspace.data;
        arguments.workspace_bytes = workspace.size;
    }
    nw_attn_select arguments;
    const Memory workspace;
};

// 7 blocks, of which every third attends to the others.
AttentionShape seven_blocks(int dtype = NW_F16) {
    return {.dtype = dtype, .sq = 840, .sk = 840, .d = 64, .shared = 0.8f};
}

// The smallest forced part: the diagonal.
nw_attn_select choosing(const Attention &of, int score, int rule, f32 share) {
    nw_attn_select p = of.selection();
    p.score = score, p.rule = rule, p.share = share;
    p.sink = 1, p.window = 1, p.last_full = 0;
    return p;
}

} // namespace

TEST_CASE("attention: dense, of both types and every head") {
    const Context context;
    const Stream stream;
    for (const int dtype : {NW_F16, NW_BF16})
        for (const u32 d : {64u, 128u, 256u})
            for (const bool causal : {true, false}) {
                CAPTURE(fmt::format("dtype {} d {} causal {}", dtype, d, causal));
                const Attention of({.dtype = dtype, .sq = 140, .sk = 140, .d = d, .causal = causal},
                                   d);
                run(context, of, of.arguments(), stream);
            }
}

TEST_CASE("attention: fewer queries than keys, heads that share keys, batches") {
    const Context context;
    for (const AttentionShape &s : {AttentionShape{.sq = 1, .sk = 300},
                                    {.sq = 5, .sk = 133, .lse = false},
                                    {.sq = 70, .sk = 260, .h = 8, .hk = 1},
                                    {.sq = 130, .sk = 259, .h = 6, .hk = 3, .b = 2},
                                    {.sq = 140, .sk = 60, .h = 2, .hk = 2, .causal = false}}) {
        CAPTURE(fmt::format("sq {} sk {} h {}/{} b {}", s.sq, s.sk, s.h, s.hk, s.b));
        const Attention of(s);
        run(context, of, of.arguments(), nullptr);
    }
}

TEST_CASE("attention: sequences one after the other") {
    const Context context;
    for (const u32 sq : {3u, 150u}) { // 3 queries have this kernel, too
        CAPTURE(sq);
        const Attention of({.sq = sq, .sk = 170, .h = 4, .hk = 2, .b = 3});
        const auto starts_of = [](u32 each) {
            std::vector<u8> out(4 * 4);
            for (u32 i = 0; i < 4; ++i)
                std::memcpy(&out[4 * i], std::array{i * each}.data(), 4);
            return out;
        };
        const Memory q_start(starts_of(sq)), k_start(starts_of(170));
        nw_attn p = of.arguments();
        p.q_start = static_cast<const i32 *>(q_start.data), p.tq = 3 * sq;
        p.k_start = static_cast<const i32 *>(k_start.data), p.tk = 3 * 170;
        p.q_b = p.k_b = p.v_b = p.o_b = 0; // not read
        CHECK_EQ(bytes_for(context, p), 0);
        run(context, of, p, nullptr);
    }
}

TEST_CASE("attention: one to eight queries, of every type and head") {
    const Context context;
    for (const int dtype : {NW_F16, NW_BF16})
        for (const u32 d : {64u, 128u, 256u})
            for (const u32 sq : {1u, 4u, 8u}) {
                CAPTURE(fmt::format("dtype {} d {} sq {}", dtype, d, sq));
                const Attention of({.dtype = dtype, .sq = sq, .sk = 600, .d = d, .b = sq % 3 + 1});
                CHECK(bytes_for(context, of.arguments()) > 0);
                run(context, of, of.arguments(), nullptr);
            }
}

TEST_CASE("attention: a cache in pages, of sequences of their own lengths, in q8_0") {
    const Context context;
    using Format = ref::CacheFormat;
    for (const u32 sq : {2u, 8u, 9u, 150u})
        for (const Format format : {Format::same, Format::q8_0})
            for (const u32 page : {0u, 16u, 256u})
                for (const std::vector<i32> &lengths : {std::vector<i32>{}, {300, 77}, {0, 1000}}) {
                    CAPTURE(fmt::format("sq {} q8_0 {} page {} lengths {}", sq,
                                        format == Format::q8_0, page, lengths.size()));
                    Attention of({.sq = sq, .sk = 300, .b = 2});
                    of.use_cache(format, page, lengths);
                    run(context, of, of.arguments(), nullptr);
                }
}

TEST_CASE("attention: a prompt in pieces, each to the cache that it has made so far") {
    const Context context;
    for (const auto format : {ref::CacheFormat::same, ref::CacheFormat::q8_0})
        for (const i32 before : {0, 100, 200}) { // the cache's table is for 300 keys
            Attention of({.sq = 100, .sk = 300, .d = 128});
            of.use_cache(format, 32, {before + 100});
            run(context, of, of.arguments(), nullptr);
        }
}

TEST_CASE("attention: E4M3 in a cache, of few queries and of many") {
    HIP_OK(hipSetDevice(1)); // gfx1201
    {
        const Context context;
        for (const int dtype : {NW_F16, NW_BF16})
            for (const u32 d : {64u, 128u, 256u})
                for (const u32 sq : {1u, 8u, 70u})
                    for (const u32 page : {0u, 16u}) {
                        CAPTURE(fmt::format("dtype {} d {} sq {} page {}", dtype, d, sq, page));
                        Attention of({.dtype = dtype, .sq = sq, .sk = 200, .d = d, .b = 2});
                        of.use_cache(ref::CacheFormat::fp8, page, {200, 77});
                        run(context, of, of.arguments(), nullptr);
                    }
    }
    HIP_OK(hipSetDevice(0));
}

TEST_CASE("attention: queries one after the other, to a cache in pages") {
    const Context context;
    for (const u32 sq : {3u, 70u}) {
        Attention of({.sq = sq, .sk = 170, .h = 4, .hk = 2, .b = 3});
        of.use_cache(ref::CacheFormat::q8_0, 16, {170, 80, 0});
        const std::array starts = {0u, sq, 2 * sq, 3 * sq};
        std::vector<u8> bytes(sizeof starts);
        std::memcpy(bytes.data(), starts.data(), bytes.size());
        const Memory q_start(bytes);
        nw_attn p = of.arguments();
        p.q_start = static_cast<const i32 *>(q_start.data), p.tq = 3 * sq;
        CHECK_EQ(bytes_for(context, p), 0);
        run(context, of, p, nullptr);
    }
}

TEST_CASE("attention: one query is captured, in a workspace that nobody clears") {
    const Context context;
    const Stream stream;
    Attention of({.sq = 1, .sk = 2000});
    nw_attn p = of.arguments();
    const Memory workspace(std::vector<u8>(bytes_for(context, p)));
    p.workspace = workspace.data, p.workspace_bytes = workspace.size;
    NW_DONE(nw_attention_prepare(context, &p));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_attention(context, &p, stream));
    Graph graph(stream);
    for (int round = 0; round < 3; ++round) {
        of.clear();
        graph.launch(stream);
        HIP_OK(hipStreamSynchronize(stream));
        CHECK_EQ(of.difference(), "");
    }
}

TEST_CASE("attention: views of a fused projection") {
    const Context context;
    for (const u32 b : {1u, 2u}) {
        const Attention of({.sq = 150, .sk = 150, .d = 128, .b = b, .fused = true});
        run(context, of, of.arguments(), nullptr);
    }
}

TEST_CASE("attention: strides of one batch are not read") {
    const Context context;
    const Attention of({.sq = 140, .sk = 140});
    nw_attn p = of.arguments();
    p.q_b = p.k_b = p.v_b = p.o_b = 0;
    run(context, of, p, nullptr);
}

TEST_CASE("attention: another device, its target's kernels") {
    HIP_OK(hipSetDevice(1));
    {
        const Context context;
        CHECK_EQ(std::string(nw_context_gfx(context)), "gfx1201");
        const Attention of({.sq = 140, .sk = 200});
        const Stream stream; // of device 1
        HIP_OK(hipSetDevice(0));
        run(context, of, of.arguments(), stream);
        HIP_OK(hipSetDevice(1));
    }
    HIP_OK(hipSetDevice(0));
}

TEST_CASE("attention: lists from a selection, by every score and rule") {
    const Context context;
    const Stream stream;
    for (const int dtype : {NW_F16, NW_BF16}) {
        const Attention of(seven_blocks(dtype));
        for (const int score : {NW_SCORE_CANONICAL, NW_SCORE_RAW, NW_SCORE_POOLED})
            for (const int rule : {NW_SELECT_PEAK, NW_SELECT_MASS}) {
                CAPTURE(fmt::format("dtype {} score {} rule {}", dtype, score, rule));
                const Selecting s(context, choosing(of, score, rule, 0.6f));
                NW_DONE(nw_attention_select(context, &s.arguments, stream));
                HIP_OK(hipStreamSynchronize(stream));
                CHECK_EQ(of.difference_of_lists(s.arguments), "");
                const ref::AttnLists lists = of.lists(s.arguments);
                const bool all = std::ranges::count(lists.idx, -1) == 4 * 7 * 6 / 2;
                CHECK_MESSAGE(!all, "every block is listed: nothing is tested");
                run(context, of, of.listed(), stream, &lists);
            }
    }
}

TEST_CASE("attention: a selection of batches, of views, with all rows of the diagonal") {
    const Context context;
    AttentionShape shape = seven_blocks();
    shape.sq = shape.sk = 400, shape.b = 2, shape.fused = true, shape.d = 128;
    const Attention of(shape);
    nw_attn_select p = choosing(of, NW_SCORE_CANONICAL, NW_SELECT_PEAK, 0.5f);
    p.all_rows = 1;
    const Selecting s(context, p);
    NW_DONE(nw_attention_select(context, &s.arguments, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK_EQ(of.difference_of_lists(s.arguments), "");
    const ref::AttnLists lists = of.lists(s.arguments);
    run(context, of, of.listed(), nullptr, &lists);
}

TEST_CASE("attention: a selection for the last tokens, and attention over it") {
    const Context context;
    for (const u32 sq : {1u, 384u, 300u, 397u}) // a multiple of 128 before them, or not
        for (const int score : {NW_SCORE_CANONICAL, NW_SCORE_POOLED}) {
            CAPTURE(fmt::format("sq {} score {}", sq, score));
            AttentionShape shape = seven_blocks();
            shape.sq = sq, shape.sk = 896;
            const Attention of(shape);
            const Selecting s(context, choosing(of, score, NW_SELECT_PEAK, 0.6f));
            NW_DONE(nw_attention_select(context, &s.arguments, nullptr));
            HIP_OK(hipDeviceSynchronize());
            CHECK_EQ(of.difference_of_lists(s.arguments), "");
            const ref::AttnLists lists = of.lists(s.arguments);
            run(context, of, of.listed(), nullptr, &lists);
        }
}

TEST_CASE("attention: means of keys, and a selection by means that are kept") {
    const Context context;
    const Attention of(seven_blocks());
    const nw_attn_mean mean = of.mean();
    NW_DONE(nw_attention_mean(context, &mean, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK_EQ(of.difference_of_means(), "");
    Selecting s(context, choosing(of, NW_SCORE_CANONICAL, NW_SELECT_PEAK, 0.6f));
    s.arguments.mean_k = mean.mean;
    NW_DONE(nw_attention_select(context, &s.arguments, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK_EQ(of.difference_of_lists(s.arguments), "");
}

TEST_CASE("attention: the same bits in every run") {
    const Context context;
    Attention of(seven_blocks());
    const Selecting s(context, choosing(of, NW_SCORE_CANONICAL, NW_SELECT_MASS, 0.7f));
    const nw_attn p = of.listed();
    std::vector<u8> before;
    for (int round = 0; round < 3; ++round) {
        of.clear();
        NW_DONE(nw_attention_select(context, &s.arguments, nullptr));
        NW_DONE(nw_attention(context, &p, nullptr));
        std::vector<u8> now(2 * u64{p.sq} * p.h * p.d);
        HIP_OK(hipMemcpy(now.data(), p.o, now.size(), hipMemcpyDeviceToHost));
        if (round)
            CHECK(now == before);
        before = now;
    }
}

TEST_CASE("attention: prepared launches are captured, and run as often as the graph") {
    const Context context;
    const Stream stream;
    Attention of(seven_blocks());
    const Selecting s(context, choosing(of, NW_SCORE_CANONICAL, NW_SELECT_PEAK, 0.6f));
    const nw_attn p = of.listed();
    nw_attn only_type = NW_ATTN_INIT; // no sizes, no pointers
    only_type.dtype = p.dtype, only_type.d = p.d;
    nw_attn_select only_types = NW_ATTN_SELECT_INIT;
    only_types.dtype = p.dtype, only_types.d = p.d;
    NW_DONE(nw_attention_prepare(context, &only_type));
    NW_DONE(nw_attention_select_prepare(context, &only_types));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_attention_select(context, &s.arguments, stream));
    NW_DONE(nw_attention(context, &p, stream));
    Graph graph(stream);
    CHECK_EQ(graph.nodes(), 4); // means, scores, lists, attention
    CHECK(of.untouched());
    const ref::AttnLists lists = of.lists(s.arguments);
    for (int round = 0; round < 2; ++round) {
        of.clear();
        graph.launch(stream);
        HIP_OK(hipStreamSynchronize(stream));
        CHECK_EQ(of.difference_of_lists(s.arguments), "");
        CHECK_EQ(of.difference(&lists), "");
    }
}

TEST_CASE("attention: a capture that would have to load a kernel is refused, and stays valid") {
    const Context context;
    const Stream stream;
    const Attention of({.sq = 40, .sk = 40});
    const Selecting s(context, of.selection());
    const nw_attn p = of.arguments();
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_attention(context, &p, stream), NW_NOT_PREPARED);
    CHECK_EQ(std::string(nw_last_error()),
             "attn_forward_f16_d64 is not loaded and the stream is capturing: call "
             "nw_attention_prepare for this product before capture begins");
    CHECK_EQ(nw_attention_select(context, &s.arguments, stream), NW_NOT_PREPARED);
    Graph{stream};
    run(context, of, p, stream);
}

TEST_CASE("attention: lists that no host can check") {
    const Context context;
    const Attention of({.sq = 300, .sk = 300, .h = 2, .hk = 1});
    ref::AttnLists lists;
    const i32 most = std::numeric_limits<i32>::max(), least = std::numeric_limits<i32>::min();
    for (u32 tile = 0; tile < 6; ++tile)
        for (const i32 block : {2, 0, 1}) // descending, and past the last block that the tile sees
            lists.idx.push_back(tile == 4 ? least : tile == 5 && block == 2 ? most : block);
    lists.cnt = {3, 100, most, 1, 3, 3};
    const auto upload = [](const std::vector<i32> &x) {
        std::vector<u8> bytes(4 * x.size());
        std::memcpy(bytes.data(), x.data(), bytes.size());
        return std::make_unique<Memory>(bytes);
    };
    const auto idx = upload(lists.idx), cnt = upload(lists.cnt);
    nw_attn p = of.arguments();
    p.idx = static_cast<const i32 *>(idx->data), p.cnt = static_cast<const i32 *>(cnt->data);
    NW_DONE(nw_attention(context, &p, nullptr));
    HIP_OK(hipDeviceSynchronize());
    CHECK_EQ(of.difference(&lists), "");
}
