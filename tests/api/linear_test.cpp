// SPDX-License-Identifier: MIT
// Results of nw_linear_w4a16, from many threads and in graphs too.
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <thread>

#include "api/product.h"

using namespace api_test;

namespace {

void run(nw_context *context, const Product &product, hipStream_t stream) {
    NW_DONE(nw_linear_w4a16(context, &product.arguments(), stream));
    HIP_OK(hipStreamSynchronize(stream));
    CHECK_EQ(product.difference(), "");
}

} // namespace

TEST_CASE("every dtype, group, form of zero points and batch") {
    const Context context;
    const Stream stream;
    for (const int dtype : {NW_BF16, NW_F16})
        for (const u32 group : {32u, 64u, 128u, NW_PER_ROW})
            for (const int zeros : {NW_ZEROS_EIGHT, NW_ZEROS_PACKED, NW_ZEROS_TYPED})
                for (const u32 m : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
                    if (group == NW_PER_ROW && zeros != NW_ZEROS_EIGHT)
                        continue;
                    CAPTURE(fmt::format("dtype {} group {} zeros {} m {}", dtype, group, zeros, m));
                    run(context, Product({dtype, zeros, m, 21, 256, group, m % 2 == 1}), stream);
                }
}

TEST_CASE("more rows than decode takes, the carrier, and SiLU(gate) * up") {
    const Context context;
    const Stream stream;
    for (const int dtype : {NW_BF16, NW_F16})
        for (const u32 group : {32u, 64u, 128u})
            for (const int zeros : {NW_ZEROS_EIGHT, NW_ZEROS_PACKED, NW_ZEROS_CARRIER})
                for (const u32 m : {1u, 8u, 9u, 24u, 33u, 65u})
                    for (const bool silu : {false, true}) {
                        CAPTURE(fmt::format("dtype {} group {} zeros {} m {} silu {}", dtype, group,
                                            zeros, m, silu));
                        if (m > 8 || zeros == NW_ZEROS_CARRIER || silu)
                            run(context,
                                Product({dtype, zeros, m, 22, 256, group, m % 2 == 1, 0, silu}),
                                stream);
                    }
}

TEST_CASE("rows with padding between them, and the null stream") {
    const Context context;
    for (const int zeros : {NW_ZEROS_EIGHT, NW_ZEROS_PACKED, NW_ZEROS_TYPED})
        for (const u32 padding : {1u, 8u})
            run(context, Product({NW_BF16, zeros, 2, 37, 384, 64, true, padding}), nullptr);
    for (const int zeros : {NW_ZEROS_EIGHT, NW_ZEROS_PACKED, NW_ZEROS_CARRIER})
        for (const u32 padding : {2u, 8u})
            run(context, Product({NW_BF16, zeros, 11, 37, 384, 64, true, padding}), nullptr);
}

TEST_CASE("many threads, one context, own streams, nothing loaded before") {
    constexpr u32 count = 8;
    const Context context;
    std::vector<std::unique_ptr<Product>> products; // two threads request the same kernel at once
    for (u32 i = 0; i < count; ++i)
        products.push_back(
            std::make_unique<Product>(Shape{NW_F16, NW_ZEROS_EIGHT, i / 2 + 1, 33, 128}, i));
    std::atomic<u32> wrong{0}, ready{0};
    std::vector<std::thread> threads;
    for (u32 i = 0; i < count; ++i)
        threads.emplace_back([&, i] {
            hipStream_t stream = nullptr;
            wrong += hipStreamCreate(&stream) != hipSuccess;
            for (++ready; ready < count;) // all at once
                ;
            for (u32 round = 0; round < 20; ++round)
                wrong += nw_linear_w4a16(context, &products[i]->arguments(), stream) != NW_OK;
            nw_w4a16 bad = products[i]->arguments(); // the message is the thread's own
            bad.k = 129 + i;
            wrong += nw_linear_w4a16(context, &bad, stream) != NW_INVALID_ARGUMENT;
            wrong += !std::strstr(nw_last_error(), fmt::format("k = {}:", 129 + i).c_str());
            wrong += hipStreamDestroy(stream) != hipSuccess;
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK_EQ(wrong.load(), 0);
    for (const auto &product : products)
        CHECK_EQ(product->difference(), "");
}

// In a global capture an allocation or a wait, of any thread, would invalidate it.
TEST_CASE("a prepared product is captured, and runs as often as the graph") {
    const Context context;
    const Stream stream;
    Product product({NW_BF16, NW_ZEROS_PACKED, 4, 40, 256, 32});
    NW_DONE(nw_prepare(context, &product.arguments()));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_linear_w4a16(context, &product.arguments(), stream));
    Graph graph(stream);
    CHECK(product.untouched());
    for (int round = 0; round < 2; ++round) {
        product.clear();
        graph.launch(stream);
        HIP_OK(hipStreamSynchronize(stream));
        CHECK_EQ(product.difference(), "");
    }
}

TEST_CASE("a capture that would have to load a kernel is refused, and stays valid") {
    const Context context;
    const Stream stream;
    const Product product({});
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_linear_w4a16(context, &product.arguments(), stream), NW_NOT_PREPARED);
    CHECK_EQ(std::string(nw_last_error()),
             "decode_w4a16_f16_g128_m1_subnormal is not loaded and the stream is capturing: call "
             "nw_prepare for this product before capture begins");
    CHECK_EQ(Graph(stream).nodes(), 0);
    run(context, product, stream);
}

TEST_CASE("preparing for m = 0 loads the kernels of every batch") {
    const Context context;
    const Stream stream;
    nw_w4a16 all = NW_W4A16_INIT; // no pointers, no strides
    all.dtype = NW_F16, all.n = 40, all.k = 256, all.group = 64;
    NW_DONE(nw_prepare(context, &all));
    std::vector<std::unique_ptr<Product>> products;
    for (u32 m = 1; m <= 8; ++m)
        products.push_back(
            std::make_unique<Product>(Shape{NW_F16, NW_ZEROS_EIGHT, m, 40, 256, 64}));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    for (const auto &product : products)
        CHECK_EQ(nw_linear_w4a16(context, &product->arguments(), stream), NW_OK);
    Graph{stream};
}

TEST_CASE("preparing for more rows loads what they need") {
    const Context context;
    const Stream stream;
    Product product({NW_BF16, NW_ZEROS_CARRIER, 20, 40, 256, 64});
    NW_DONE(nw_prepare(context, &product.arguments()));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_linear_w4a16(context, &product.arguments(), stream), NW_OK);
    Graph{stream};
}

TEST_CASE("a context is of the device that was current, and leaves the thread's alone") {
    HIP_OK(hipSetDevice(1));
    const Context context;
    CHECK_EQ(std::string(nw_context_gfx(context)), "gfx1201");
    const Product product({});
    const Stream stream;
    HIP_OK(hipSetDevice(0));
    run(context, product, stream);
    NW_DONE(nw_prepare(context, &product.arguments()));
    int device = -1;
    HIP_OK(hipGetDevice(&device));
    CHECK_EQ(device, 0);
}

TEST_CASE("no kernel keeps anything in device memory") {
    const Context context;
    nw_w4a16 p = NW_W4A16_INIT;
    p.dtype = NW_BF16, p.m = 8, p.n = 4096, p.k = 4096, p.group = 128;
    uint64_t bytes = 1;
    NW_DONE(nw_workspace_size(context, &p, &bytes));
    CHECK_EQ(bytes, 0);
}
