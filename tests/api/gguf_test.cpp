// SPDX-License-Identifier: MIT
// Results of nw_gguf_linear, from many threads and in graphs too; its workspace; what is
// refused.
#include <atomic>
#include <fmt/format.h>
#include <functional>
#include <nibblewave_ggml.h>
#include <thread>

#include "api/gguf_product.h"

using namespace api_test;

namespace {

constexpr int types[] = {NW_GGUF_Q4_0,   NW_GGUF_Q4_1,   NW_GGUF_Q5_0,  NW_GGUF_Q5_1, NW_GGUF_Q8_0,
                         NW_GGUF_Q2_K,   NW_GGUF_Q3_K,   NW_GGUF_Q4_K,  NW_GGUF_Q5_K, NW_GGUF_Q6_K,
                         NW_GGUF_IQ4_NL, NW_GGUF_IQ4_XS, NW_GGUF_MXFP4, NW_GGUF_NVFP4};

void run(nw_context *context, const GgufProduct &product, const Memory &workspace,
         hipStream_t stream) {
    const nw_gguf p = product.arguments(workspace);
    NW_DONE(nw_gguf_linear(context, &p, stream));
    HIP_OK(hipStreamSynchronize(stream));
    CHECK_EQ(product.difference(), "");
}

} // namespace

TEST_CASE("gguf: every type, few rows and many, in one workspace") {
    const Context context;
    const Stream stream;
    u64 bytes = 0;
    for (const int type : types)
        bytes = std::max(bytes, workspace_bytes(context, type, 70, 40, 768));
    const Workspace workspace(bytes);
    for (const int type : types)
        for (const u32 m : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u, 9u, 16u, 17u, 23u, 33u, 70u}) {
            CAPTURE(fmt::format("type {} m {}", type, m));
            run(context, GgufProduct(type, m, 37, 768, m % 3 * 4, m), workspace, stream);
        }
}

TEST_CASE("gguf: activations and sums beyond f16's range, at any number of rows") {
    const Context context;
    u64 bytes = 0;
    for (const int type : types)
        bytes = std::max(bytes, workspace_bytes(context, type, 40, 8, 256));
    const Workspace workspace(bytes);
    std::vector<f32> rows[] = {std::vector<f32>(256, 5000), std::vector<f32>(256, 1),
                               std::vector<f32>(256, 1e30f), std::vector<f32>(256, 3e-8f)};
    rows[1][37] = 3e5f;
    for (u32 i = 0; i < 256; i += 2)
        rows[2][i] = -1e25f, rows[3][i] = -1e-20f;
    for (const int type : types)
        for (const u32 m : {1u, 8u, 9u, 40u})
            for (u32 i = 0; i < std::size(rows); ++i) {
                CAPTURE(fmt::format("type {} m {} row {}", type, m, i));
                run(context, GgufProduct(type, m, 5, rows[i]), workspace, nullptr);
            }
}

TEST_CASE("gguf: the null stream, another device") {
    HIP_OK(hipSetDevice(1));
    const Context context;
    CHECK_EQ(std::string(nw_context_gfx(context)), "gfx1201");
    const Workspace workspace(workspace_bytes(context, NW_GGUF_Q4_K, 20, 70, 1024));
    const GgufProduct product(NW_GGUF_Q4_K, 20, 70, 1024);
    const Stream stream; // of device 1
    HIP_OK(hipSetDevice(0));
    run(context, product, workspace, stream);
    int device = -1;
    HIP_OK(hipGetDevice(&device));
    CHECK_EQ(device, 0);
    HIP_OK(hipSetDevice(1));
    const GgufProduct again(NW_GGUF_Q6_K, 3, 70, 1024);
    run(context, again, workspace, nullptr);
    HIP_OK(hipSetDevice(0));
}

TEST_CASE(
    "gguf: a workspace of too few bytes is refused, of just as many is enough for fewer rows") {
    const Context context;
    const u64 bytes = workspace_bytes(context, NW_GGUF_Q4_K, 24, 100, 2048);
    const Workspace workspace(bytes);
    for (u32 m = 1; m <= 24; ++m) {
        CAPTURE(m);
        CHECK_LE(workspace_bytes(context, NW_GGUF_Q4_K, m, 100, 2048), bytes);
        run(context, GgufProduct(NW_GGUF_Q4_K, m, 100, 2048, 0, m), workspace, nullptr);
    }
}

// Two streams that run at once, each with a workspace of its own; nothing loaded before.
TEST_CASE("gguf: many threads, one context, a stream and a workspace each") {
    constexpr u32 count = 6;
    const Context context;
    const u64 bytes = workspace_bytes(context, NW_GGUF_Q4_K, 40, 200, 1024);
    std::vector<std::unique_ptr<GgufProduct>> products;
    std::vector<std::unique_ptr<Workspace>> workspaces;
    for (u32 i = 0; i < count; ++i) {
        products.push_back(std::make_unique<GgufProduct>(NW_GGUF_Q4_K, 5 + 7 * i, 200, 1024, 0, i));
        workspaces.push_back(std::make_unique<Workspace>(bytes));
    }
    std::atomic<u32> wrong{0}, ready{0};
    std::vector<std::thread> threads;
    for (u32 i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            hipStream_t stream = nullptr;
            wrong += hipStreamCreate(&stream) != hipSuccess;
            const nw_gguf p = products[i]->arguments(*workspaces[i]);
            for (++ready; ready < count;) // all at once
                ;
            for (u32 round = 0; round < 5; ++round)
                wrong += nw_gguf_linear(context, &p, stream) != NW_OK;
            nw_gguf bad = p; // the message is the thread's own
            bad.k = 257 + i;
            wrong += nw_gguf_linear(context, &bad, stream) != NW_INVALID_ARGUMENT;
            wrong += std::string(nw_last_error()).find(fmt::format("k = {}:", 257 + i)) ==
                     std::string::npos;
            wrong += hipStreamDestroy(stream) != hipSuccess;
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(wrong.load(), 0);
    for (const auto &product : products)
        CHECK_EQ(product->difference(), "");
}

TEST_CASE("gguf: a prepared product is captured, and runs as often as the graph") {
    const Context context;
    const Stream stream;
    for (const u32 m : {3u, 16u, 23u}) {
        CAPTURE(m);
        const Workspace workspace(workspace_bytes(context, NW_GGUF_Q4_K, m, 300, 1024));
        GgufProduct product(NW_GGUF_Q4_K, m, 300, 1024);
        const nw_gguf p = product.arguments(workspace);
        NW_DONE(nw_gguf_prepare(context, &p));
        HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
        NW_DONE(nw_gguf_linear(context, &p, stream));
        NW_DONE(nw_gguf_linear(context, &p, stream));
        Graph graph(stream);
        CHECK_EQ(graph.nodes(), 4); // each a conversion and a product: nothing clears anything
        CHECK(product.untouched());
        for (int round = 0; round < 3; ++round) {
            product.clear();
            graph.launch(stream);
            HIP_OK(hipStreamSynchronize(stream));
            CHECK_EQ(product.difference(), "");
        }
    }
}

TEST_CASE("gguf: a capture that would have to load a kernel is refused, and stays valid") {
    const Context context;
    const Stream stream;
    const Workspace workspace(workspace_bytes(context, NW_GGUF_Q4_K, 2, 40, 256));
    const GgufProduct product(NW_GGUF_Q4_K, 2, 40, 256);
    const nw_gguf p = product.arguments(workspace);
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_gguf_linear(context, &p, stream), NW_NOT_PREPARED);
    CHECK_EQ(std::string(nw_last_error()),
             "quantize_q8_f32 is not loaded and the stream is capturing: call nw_gguf_prepare for "
             "this product before capture begins");
    CHECK_EQ(Graph(stream).nodes(), 0);
    run(context, product, workspace, stream);
}

TEST_CASE("gguf: preparing for m = 0 loads the kernels of every number of rows") {
    const Context context;
    const Stream stream;
    nw_gguf all = NW_GGUF_INIT; // no pointers
    all.type = NW_GGUF_Q4_K, all.n = 40, all.k = 512;
    NW_DONE(nw_gguf_prepare(context, &all));
    const Workspace workspace(workspace_bytes(context, NW_GGUF_Q4_K, 70, 40, 512));
    std::vector<std::unique_ptr<GgufProduct>> products;
    for (u32 m = 1; m <= 70; m += m < 10 ? 1 : 5)
        products.push_back(std::make_unique<GgufProduct>(NW_GGUF_Q4_K, m, 40, 512));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (const auto &product : products) {
        const nw_gguf p = product->arguments(workspace);
        CHECK_EQ(nw_gguf_linear(context, &p, stream), NW_OK);
    }
    Graph graph(stream);
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    for (const auto &product : products)
        CHECK_EQ(product->difference(), "");
}

TEST_CASE("gguf: bytes of a row") {
    CHECK_EQ(nw_gguf_row_bytes(NW_GGUF_Q4_0, 4096), 4096 / 32 * 18);
    CHECK_EQ(nw_gguf_row_bytes(NW_GGUF_Q8_0, 96), 102);
    CHECK_EQ(nw_gguf_row_bytes(NW_GGUF_Q4_K, 512), 288);
    CHECK_EQ(nw_gguf_row_bytes(NW_GGUF_Q6_K, 512), 420);
    for (const int type : types) {
        uint32_t elements = 0, bytes = 0;
        nw_ggml_block(type, &elements, &bytes);
        CHECK_EQ(nw_gguf_row_bytes(type, 512), u64{512} / elements * bytes);
    }
    CHECK_EQ(nw_gguf_row_bytes(NW_GGUF_Q6_K, 500), 0);
    CHECK_EQ(nw_gguf_row_bytes(NW_GGUF_F32, 512), 0);
}

TEST_CASE("gguf: every rule, broken one at a time") {
    const Context context;
    const Workspace workspace(workspace_bytes(context, NW_GGUF_Q4_K, 11, 40, 512));
    const GgufProduct product(NW_GGUF_Q4_K, 11, 40, 512);
    const auto plus = [](const void *p, u64 bytes) {
        return const_cast<u8 *>(static_cast<const u8 *>(p)) + bytes;
    };
    struct Bad {
        nw_status status;
        const char *says;
        std::function<void(nw_gguf &)> breaks;
    };
    constexpr nw_status invalid = NW_INVALID_ARGUMENT, unsupported = NW_UNSUPPORTED;
    const Bad cases[] = {
        {invalid, "size = 8: must be sizeof(nw_gguf)", [](auto &p) { p.size = 8; }},
        {unsupported, "type = 0: f32, f16 and bf16 weights are not quantized: take a BLAS",
         [](auto &p) { p.type = NW_GGUF_F32; }},
        {unsupported, "type = 1: f32, f16", [](auto &p) { p.type = NW_GGUF_F16; }},
        {unsupported, "type = 30: f32, f16", [](auto &p) { p.type = NW_GGUF_BF16; }},
        {unsupported, "type = 22, iq2_s: there are kernels for q4_0 (2), q4_1 (3), ",
         [](auto &p) { p.type = 22; }},
        {unsupported, "type = -1: there are kernels for", [](auto &p) { p.type = -1; }},
        {invalid, "m = 0: must be at least 1", [](auto &p) { p.m = 0; }},
        {invalid, "n = 0: must be at least 1", [](auto &p) { p.n = 0; }},
        {invalid, "n = 4294967295: a row of c", [](auto &p) { p.n = UINT32_MAX; }},
        {invalid, "k = 0: must be a multiple of 256", [](auto &p) { p.k = 0; }},
        {invalid, "k = 511: must be a multiple of 256", [](auto &p) { p.k = 511; }},
        {invalid, "x is null", [](auto &p) { p.x = nullptr; }},
        {invalid, "w is null", [](auto &p) { p.w = nullptr; }},
        {invalid, "c is null", [](auto &p) { p.c = nullptr; }},
        {invalid, "workspace is null", [](auto &p) { p.workspace = nullptr; }},
        {invalid, ": must be 16-byte aligned", [&](auto &p) { p.x = plus(p.x, 8); }},
        {invalid, ": must be 4-byte aligned", [&](auto &p) { p.c = plus(p.c, 2); }},
        {invalid, "x_stride = 2044: must be at least 4 * k", [](auto &p) { p.x_stride = 2044; }},
        {invalid, "workspace_bytes = 4096: must be at least",
         [](auto &p) { p.workspace_bytes = 4096; }},
        {invalid, "overlaps w", [](auto &p) { p.c = const_cast<void *>(p.w); }},
        {invalid, "overlaps c", [](auto &p) { p.c = p.workspace; }},
        {invalid, "overlaps x", [](auto &p) { p.workspace = const_cast<void *>(p.x); }},
    };
    for (const Bad &bad : cases) {
        nw_gguf p = product.arguments(workspace);
        bad.breaks(p);
        CAPTURE(bad.says);
        CHECK_EQ(nw_gguf_linear(context, &p, nullptr), bad.status);
        CHECK_MESSAGE(std::string(nw_last_error()).find(bad.says) != std::string::npos,
                      nw_last_error());
        CHECK(product.untouched());
    }
    const nw_gguf good = product.arguments(workspace);
    CHECK_EQ(nw_gguf_linear(nullptr, &good, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_gguf_linear(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_gguf_prepare(context, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_gguf_workspace_size(context, &good, nullptr), NW_INVALID_ARGUMENT);
    run(context, product, workspace, nullptr); // nothing else was wrong
}
