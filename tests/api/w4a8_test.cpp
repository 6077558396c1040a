// SPDX-License-Identifier: MIT
// nw_quantize_rows and nw_linear_w4a8: results to the bit, in graphs too; rules, broken one at a
// time.
#include <algorithm>
#include <functional>

#include "api/product.h"
#include "base/half.h"
#include "base/rng.h"
#include "ref/prefill_w4a8.h"
#include "ref/quantize_rows.h"

using namespace api_test;

namespace {

constexpr u32 m = 70, n = 40, k = 256, group = 64;

template <class T> std::vector<T> words(u64 count, const std::function<T()> &next) {
    std::vector<T> out(count);
    std::ranges::generate(out, next);
    return out;
}

// Dwords of w, from bit 0 up k = 0 2 4 6 1 3 5 7.
std::vector<u8> packed(const std::vector<u8> &q) {
    std::vector<u8> out;
    for (u64 at = 0; at < q.size(); at += 8)
        for (u64 low : {0, 4, 1, 5})
            out.push_back(static_cast<u8>(q[at + low] | q[at + low + 2] << 4));
    return out;
}

class Int8Product {
public:
    Int8Product() {
        rows.dtype = NW_F16, rows.m = m, rows.k = k, rows.x = x_.data, rows.x_stride = 2 * k;
        rows.y = y_.data, rows.y_scale = y_scale_.data;
        product.dtype = NW_F16, product.m = m, product.n = n, product.k = k, product.group = group;
        product.a = y_.data, product.a_scale = y_scale_.data, product.w = w_.data;
        product.s = s_.data, product.c = c_.data;
        product.w_stride = k / 2, product.s_stride = 2 * (k / group);
        clear();
    }
    void clear() {
        HIP_OK(hipMemset(c_.data, 0xff, c_.size));
        HIP_OK(hipDeviceSynchronize());
    }
    std::vector<u16> result() const {
        std::vector<u16> out(m * n);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(out.data(), c_.data, c_.size, hipMemcpyDeviceToHost));
        return out;
    }
    // All of k begins at 0, as it is short.
    std::vector<u16> want() const {
        const ref::QuantizedRows a = ref::quantize_rows(Dtype::f16, xs_, m, k);
        const ref::DecodeW4A16 w{Dtype::f16, m, n, k, group, xs_, q_, ss_, {}};
        std::vector<u16> out;
        for (f32 y : ref::prefill_w4a8({w, a.q, a.scale, {m, 1, 0}}))
            out.push_back(round_to(Dtype::f16, y));
        return out;
    }

    nw_int8_rows rows = NW_INT8_ROWS_INIT;
    nw_w4a8 product = NW_W4A8_INIT;

private:
    Rng rng_{34};
    const std::vector<u16> xs_ =
        words<u16>(m * k, [&] { return round_to(Dtype::f16, rng_.normal()); });
    const std::vector<u8> q_ = words<u8>(n * k, [&] { return static_cast<u8>(rng_.below(16)); });
    const std::vector<u16> ss_ =
        words<u16>(n * (k / group), [&] { return round_to(Dtype::f16, 0.01 + rng_.unit()); });
    const Memory x_{bytes_of(xs_)}, w_{packed(q_)}, s_{bytes_of(ss_)};
    const Memory y_{m * k}, y_scale_{4 * m}, c_{2 * m * n};
};

void launch(nw_context *context, const Int8Product &p, hipStream_t stream = nullptr) {
    NW_DONE(nw_quantize_rows(context, &p.rows, stream));
    NW_DONE(nw_linear_w4a8(context, &p.product, stream));
}

} // namespace

TEST_CASE("a product of int8 activations") {
    const Context context;
    Int8Product p;
    launch(context, p);
    CHECK(p.result() == p.want());
}

TEST_CASE("int8 activations are made and used in a graph, once prepared") {
    const Context context;
    const Stream stream;
    Int8Product p;
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_quantize_rows(context, &p.rows, stream), NW_NOT_PREPARED);
    CHECK_EQ(nw_linear_w4a8(context, &p.product, stream), NW_NOT_PREPARED);
    CHECK(said("nw_w4a8_prepare"));
    Graph{stream};
    NW_DONE(nw_w4a8_prepare(context, &p.product));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    launch(context, p, stream);
    Graph graph(stream);
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    CHECK(p.result() == p.want());
}

TEST_CASE("rules of int8 activations and their product, broken one at a time") {
    struct Bad {
        const char *says; // must be in the message
        std::function<void(Int8Product &)> breaks;
        bool rows = false; // of nw_quantize_rows
    };
    const Bad cases[] = {
        {"size = 8: must be sizeof(nw_int8_rows)", [](auto &p) { p.rows.size = 8; }, true},
        {"dtype = 2: must be", [](auto &p) { p.rows.dtype = 2; }, true},
        {"m = 0", [](auto &p) { p.rows.m = 0; }, true},
        {"k = 252: must be a multiple of 8", [](auto &p) { p.rows.k = 252; }, true},
        {"x is null", [](auto &p) { p.rows.x = nullptr; }, true},
        {"y is null", [](auto &p) { p.rows.y = nullptr; }, true},
        {"y_scale is null", [](auto &p) { p.rows.y_scale = nullptr; }, true},
        {"x_stride = 256: must be at least", [](auto &p) { p.rows.x_stride = 256; }, true},
        {"overlaps x", [](auto &p) { p.rows.y = const_cast<void *>(p.rows.x); }, true},
        {"size = 8: must be sizeof(nw_w4a8)", [](auto &p) { p.product.size = 8; }},
        {"zeros are in carriers", [](auto &p) { p.product.zeros = NW_ZEROS_CARRIER; }},
        {"zeros are typed", [](auto &p) { p.product.zeros = NW_ZEROS_TYPED; }},
        {"k = 96: must be a multiple of 64; pad",
         [](auto &p) { p.product.k = 96, p.product.group = 32; }},
        {"groups are per row", [](auto &p) { p.product.group = NW_PER_ROW; }},
        {"a is null", [](auto &p) { p.product.a = nullptr; }},
        {"a_scale is null", [](auto &p) { p.product.a_scale = nullptr; }},
        {"w_stride = 64: must be at least", [](auto &p) { p.product.w_stride = 64; }},
    };
    const Context context;
    for (const Bad &bad : cases) {
        Int8Product p;
        bad.breaks(p);
        CAPTURE(bad.says);
        CHECK_EQ(bad.rows ? nw_quantize_rows(context, &p.rows, nullptr)
                          : nw_linear_w4a8(context, &p.product, nullptr),
                 NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(bad.says), nw_last_error());
        CHECK(p.result() == std::vector<u16>(m * n, 0xffff));
    }
}
