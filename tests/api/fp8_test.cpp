// SPDX-License-Identifier: MIT
// nw_quantize_fp8 and nw_gguf_fp8_linear: results and bounds of nibblewave.h, in graphs too; rules,
// broken one at a time; targets without FP8 WMMA. With every checker of the simulated GPU on.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "api/gguf_product.h"
#include "base/half.h"
#include "ref/e4m3.h"
#include "ref/prefill_fp8.h"
#include "ref/quantize_rows.h"

using namespace api_test;

namespace {

[[maybe_unused]] const int checkers = setenv("HIPSIM_CHECK", "all", 1);

constexpr u32 m = 70, n = 40, k = 256, padding = 16; // bytes between rows of x
constexpr int gfx1151 = 0, gfx1201 = 1;

struct OnDevice {
    explicit OnDevice(int device) { HIP_OK(hipSetDevice(device)); }
    ~OnDevice() { static_cast<void>(hipSetDevice(gfx1151)); }
    OnDevice(const OnDevice &) = delete;
};

std::vector<u16> activations(Dtype dtype, u64 seed) {
    Rng rng(seed);
    std::vector<u16> out(m * k);
    for (u64 i = 0; i < out.size(); ++i) // a few channels much larger than the others
        out[i] = round_to(dtype, rng.normal() * (i % 64 == 5 ? 40.0f : 1.0f));
    return out;
}

std::vector<u8> with_gaps(const std::vector<u16> &x) {
    std::vector<u8> out(m * (2 * k + padding), 0xff);
    for (u32 row = 0; row < m; ++row)
        std::memcpy(&out[row * (2 * k + padding)], &x[row * k], 2 * k);
    return out;
}

template <class T> std::vector<T> read(const Memory &from) {
    std::vector<T> out(from.size / sizeof(T));
    HIP_OK(hipDeviceSynchronize());
    HIP_OK(hipMemcpy(out.data(), from.data, from.size, hipMemcpyDeviceToHost));
    return out;
}

class Fp8Product {
public:
    explicit Fp8Product(int dtype = NW_F16) : type_(dtype == NW_F16 ? Dtype::f16 : Dtype::bf16) {
        rows.dtype = dtype, rows.m = m, rows.k = k, rows.x = x_.data;
        rows.x_stride = 2 * k + padding, rows.y = y_.data, rows.y_scale = y_scale_.data;
        product.type = NW_GGUF_MXFP4, product.m = m, product.n = n, product.k = k;
        product.a = y_.data, product.a_scale = y_scale_.data, product.w = w_.data;
        product.c = c_.data;
        for (const Memory *memory : {&y_, &y_scale_, &c_})
            HIP_OK(hipMemset(memory->data, 0xff, memory->size));
        HIP_OK(hipDeviceSynchronize());
    }
    bool untouched() const {
        return std::ranges::all_of(read<u8>(c_), [](u8 b) { return b == 0xff; });
    }
    void check_rows() const {
        const ref::Fp8Rows want = ref::quantize_fp8(type_, xs_, m, k);
        CHECK(read<u8>(y_) == want.y);
        CHECK(read<f32>(y_scale_) == want.scale);
        for (u32 row = 0; row < m; ++row) {
            const auto value = [&](u32 i) { return f64{to_f32(type_, xs_[row * k + i])}; };
            f64 largest = 0;
            for (u32 i = 0; i < k; ++i)
                largest = std::fmax(largest, std::fabs(value(i)));
            for (u32 i = 0; i < k; ++i) {
                const f64 is = ref::from_e4m3(want.y[row * k + i]) * want.scale[row];
                REQUIRE_LT(std::fabs(value(i) - is), std::fabs(value(i)) / 16 + 0x1p-18 * largest);
            }
        }
    }
    void check_result() const {
        const ref::Fp8Rows a = ref::quantize_fp8(type_, xs_, m, k);
        const ref::ProductFp8Exact want = ref::prefill_fp8(
            {GgmlType::mxfp4, m, n, k, a.y, a.scale, std::as_bytes(std::span(ws_))});
        const std::vector<f32> got = read<f32>(c_);
        for (u64 i = 0; i < got.size(); ++i)
            REQUIRE_LE(std::fabs(got[i] - want.c[i]), want.tolerance[i]);
    }

    nw_fp8_rows rows = NW_FP8_ROWS_INIT;
    nw_gguf_fp8 product = NW_GGUF_FP8_INIT;

private:
    const Dtype type_;
    const std::vector<u16> xs_ = activations(type_, 41);
    const std::vector<u8> ws_ = gguf_weights(NW_GGUF_MXFP4, n, k, Rng(42));
    const Memory x_{with_gaps(xs_)}, w_{ws_}, y_{m * k}, y_scale_{4 * m}, c_{4 * m * n};
};

void launch(nw_context *context, const Fp8Product &p, hipStream_t stream = nullptr) {
    NW_DONE(nw_quantize_fp8(context, &p.rows, stream));
    NW_DONE(nw_gguf_fp8_linear(context, &p.product, stream));
}

} // namespace

TEST_CASE("a product of fp8 activations") {
    const OnDevice on(gfx1201);
    const Context context;
    for (const int dtype : {NW_F16, NW_BF16}) {
        const Fp8Product p(dtype);
        launch(context, p);
        p.check_rows();
        p.check_result();
    }
}

TEST_CASE("fp8 activations are made and used in a graph, once prepared") {
    const OnDevice on(gfx1201);
    const Context context;
    const Stream stream;
    const Fp8Product p;
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_quantize_fp8(context, &p.rows, stream), NW_NOT_PREPARED);
    CHECK_EQ(nw_gguf_fp8_linear(context, &p.product, stream), NW_NOT_PREPARED);
    CHECK(said("nw_gguf_fp8_prepare"));
    Graph{stream};
    NW_DONE(nw_gguf_fp8_prepare(context, &p.product));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    launch(context, p, stream);
    Graph graph(stream);
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    p.check_result();
}

TEST_CASE("rules of fp8 activations and their product, broken one at a time") {
    struct Bad {
        const char *says; // must be in the message
        std::function<void(Fp8Product &)> breaks;
        bool rows = false; // of nw_quantize_fp8
        nw_status status = NW_INVALID_ARGUMENT;
    };
    const auto plus = [](const void *p, u64 bytes) {
        return const_cast<std::byte *>(static_cast<const std::byte *>(p)) + bytes;
    };
    const Bad cases[] = {
        {"size = 8: must be sizeof(nw_fp8_rows)", [](auto &p) { p.rows.size = 8; }, true},
        {"dtype = 2: must be", [](auto &p) { p.rows.dtype = 2; }, true},
        {"m = 0", [](auto &p) { p.rows.m = 0; }, true},
        {"k = 252: must be a multiple of 8", [](auto &p) { p.rows.k = 252; }, true},
        {"x is null", [](auto &p) { p.rows.x = nullptr; }, true},
        {"y is null", [](auto &p) { p.rows.y = nullptr; }, true},
        {"y_scale is null", [](auto &p) { p.rows.y_scale = nullptr; }, true},
        {"x_stride = 256: must be at least", [](auto &p) { p.rows.x_stride = 256; }, true},
        {"overlaps x", [](auto &p) { p.rows.y = const_cast<void *>(p.rows.x); }, true},
        {"size = 8: must be sizeof(nw_gguf_fp8)", [](auto &p) { p.product.size = 8; }},
        {"m = 0: must be at least 1", [](auto &p) { p.product.m = 0; }},
        {"n = 0: must be at least 1", [](auto &p) { p.product.n = 0; }},
        {"n = 4194304: must be below", [](auto &p) { p.product.n = 1 << 22; }},
        {"k = 96: must be a multiple of 64; pad", [](auto &p) { p.product.k = 96; }},
        {"a is null", [](auto &p) { p.product.a = nullptr; }},
        {": must be 16-byte aligned", [&](auto &p) { p.product.a = plus(p.product.a, 8); }},
        {"a_scale is null", [](auto &p) { p.product.a_scale = nullptr; }},
        {"w is null", [](auto &p) { p.product.w = nullptr; }},
        {": must be 16-byte aligned", [&](auto &p) { p.product.w = plus(p.product.w, 4); }},
        {"c is null", [](auto &p) { p.product.c = nullptr; }},
        {"overlaps a", [](auto &p) { p.product.c = const_cast<void *>(p.product.a); }},
        {"no kernel for q4_K on gfx1201; there is mxfp4",
         [](auto &p) { p.product.type = NW_GGUF_Q4_K; }, false, NW_UNSUPPORTED},
        {"type = 1: f32, f16 and bf16 weights are not quantized",
         [](auto &p) { p.product.type = NW_GGUF_F16; }, false, NW_UNSUPPORTED},
    };
    const OnDevice on(gfx1201);
    const Context context;
    for (const Bad &bad : cases) {
        Fp8Product p;
        bad.breaks(p);
        CAPTURE(bad.says);
        CHECK_EQ(bad.rows ? nw_quantize_fp8(context, &p.rows, nullptr)
                          : nw_gguf_fp8_linear(context, &p.product, nullptr),
                 bad.status);
        CHECK_MESSAGE(said(bad.says), nw_last_error());
        CHECK(p.untouched());
    }
}

TEST_CASE("fp8 activations are refused by name where the GPU has no FP8 WMMA") {
    const OnDevice on(gfx1151);
    const Context context;
    const Fp8Product p;
    CHECK_EQ(nw_quantize_fp8(context, &p.rows, nullptr), NW_UNSUPPORTED);
    CHECK_MESSAGE(said("quantize_fp8: no kernel for f16 on gfx1151; there is none"),
                  nw_last_error());
    CHECK_EQ(nw_gguf_fp8_linear(context, &p.product, nullptr), NW_UNSUPPORTED);
    CHECK_MESSAGE(said("prefill_fp8: no kernel for mxfp4 on gfx1151; there is none"),
                  nw_last_error());
    CHECK_EQ(nw_gguf_fp8_prepare(context, &p.product), NW_UNSUPPORTED);
    CHECK(p.untouched());
}
