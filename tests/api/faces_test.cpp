// SPDX-License-Identifier: MIT
// Functions of the C API that gen/faces makes, by nw_rms_norm: results, messages, and graphs.
#include <cmath>
#include <functional>
#include <vector>

#include "api/product.h"
#include "api/upload.h"
#include "ref/rms_norm.h"

using namespace api_test;

namespace {

constexpr u32 m = 3, k = 264;

std::vector<f32> values(u32 count) {
    std::vector<f32> out;
    for (u32 i = 0; i < count; ++i)
        out.push_back(static_cast<f32>(std::sin(i * 0.7) * 3));
    return out;
}

// Operands on the device.
struct Norm {
    std::vector<f32> x = values(m * k), w = values(k);
    Memory x_on{4 * m * k}, w_on{4 * k}, y_on{4 * m * k};
    nw_norm arguments = NW_NORM_INIT;

    Norm() {
        HIP_OK(hipMemcpy(x_on.data, x.data(), x_on.size, hipMemcpyHostToDevice));
        HIP_OK(hipMemcpy(w_on.data, w.data(), w_on.size, hipMemcpyHostToDevice));
        HIP_OK(hipMemset(y_on.data, 0xff, y_on.size));
        HIP_OK(hipDeviceSynchronize());
        arguments.y_type = NW_F32, arguments.m = m, arguments.k = k;
        arguments.x = static_cast<const float *>(x_on.data);
        arguments.w = static_cast<const float *>(w_on.data);
        arguments.y = y_on.data;
        arguments.x_stride = arguments.y_stride = 4 * k;
    }
    std::vector<f32> result() const {
        std::vector<f32> out(m * k);
        HIP_OK(hipDeviceSynchronize());
        HIP_OK(hipMemcpy(out.data(), y_on.data, y_on.size, hipMemcpyDeviceToHost));
        return out;
    }
    // The largest relative error.
    f64 error() const {
        const std::vector<f64> want = nw::ref::rms_norm(x, w, m, k, arguments.eps);
        const std::vector<f32> got = result();
        f64 out = 0;
        for (u64 i = 0; i < want.size(); ++i)
            out = std::fmax(out, std::fabs(got[i] - want[i]) / (std::fabs(want[i]) + 1e-30));
        return out;
    }
    bool untouched() const { return std::isnan(result().front()); }
};

} // namespace

TEST_CASE("an op of one launch") {
    const Context context;
    const Norm norm;
    CHECK_EQ(norm.arguments.eps, 1e-6f);
    NW_DONE(nw_rms_norm(context, &norm.arguments, nullptr));
    CHECK(norm.error() < 1e-6);
}

TEST_CASE("it is captured once prepared, whatever sizes it was prepared with") {
    const Context context;
    const Stream stream;
    Norm norm;
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    CHECK_EQ(nw_rms_norm(context, &norm.arguments, stream), NW_NOT_PREPARED);
    CHECK_MESSAGE(said("call nw_rms_norm_prepare for this product before capture"),
                  nw_last_error());
    Graph{stream};
    nw_norm kind = NW_NORM_INIT;
    kind.y_type = NW_F32;
    NW_DONE(nw_rms_norm_prepare(context, &kind));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    NW_DONE(nw_rms_norm(context, &norm.arguments, stream));
    Graph graph(stream);
    CHECK(norm.untouched());
    graph.launch(stream);
    HIP_OK(hipStreamSynchronize(stream));
    CHECK(norm.error() < 1e-6);
}

TEST_CASE("what it refuses, by name, value and rule") {
    const Context context;
    struct Bad {
        const char *says;
        std::function<void(nw_norm &)> breaks;
    };
    const Bad cases[] = {
        {"size = 8: must be sizeof(nw_norm)", [](nw_norm &p) { p.size = 8; }},
        {"y_type = 0: must be NW_F32 (2) or NW_F16 (1)", [](nw_norm &p) { p.y_type = NW_BF16; }},
        {"m = 0: must be at least 1", [](nw_norm &p) { p.m = 0; }},
        {"k = 262: must be a multiple of 4", [](nw_norm &p) { p.k = 262; }},
        {"eps = -1: must be finite and at least 0", [](nw_norm &p) { p.eps = -1; }},
        {"eps = nan: must be finite and at least 0", [](nw_norm &p) { p.eps = NAN; }},
        {"x is null", [](nw_norm &p) { p.x = nullptr; }},
        {"16-byte aligned", [](nw_norm &p) { p.w += 1; }},
        {"x_stride = 1040: must be at least a row, 4*K = 1056 bytes",
         [](nw_norm &p) { p.x_stride = 1040; }},
        {"y_stride = 1060: must be a multiple of 16", [](nw_norm &p) { p.y_stride = 1060; }},
        {"it must be x, or memory of its own",
         [](nw_norm &p) { p.y = const_cast<float *>(p.x) + 4; }},
    };
    const Norm norm;
    for (const Bad &bad : cases) {
        CAPTURE(bad.says);
        nw_norm p = norm.arguments;
        bad.breaks(p);
        CHECK_EQ(nw_rms_norm(context, &p, nullptr), NW_INVALID_ARGUMENT);
        CHECK_MESSAGE(said(bad.says), nw_last_error());
    }
    CHECK_EQ(nw_rms_norm(nullptr, &norm.arguments, nullptr), NW_INVALID_ARGUMENT);
    CHECK_EQ(nw_rms_norm(context, nullptr, nullptr), NW_INVALID_ARGUMENT);
    CHECK(norm.untouched());
}

TEST_CASE("nw_copy_prepare loads each kernel of two types, whatever the strides will be") {
    const Context context;
    const Stream stream;
    const Memory x{65536}, y{65536};
    nw_copy_op copy = NW_COPY_OP_INIT;
    copy.x_type = copy.y_type = NW_B32;
    copy.n0 = copy.n1 = copy.y_n0 = copy.y_n1 = 64;
    copy.x = x.data, copy.y = y.data;
    copy.y_s1 = 256;
    NW_DONE(nw_copy_prepare(context, &copy));
    HIP_OK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
    struct Strides {
        uint64_t x_s0, x_s1, y_s0;
    };
    for (const Strides &s : {Strides{4, 256, 4}, {256, 4, 4}, {512, 8, 4}}) {
        copy.x_s0 = s.x_s0, copy.x_s1 = s.x_s1, copy.y_s0 = s.y_s0;
        NW_DONE(nw_copy(context, &copy, stream));
    }
    Graph{stream};
    copy.y_s0 = 0;
    CHECK_EQ(nw_copy(context, &copy, stream), NW_INVALID_ARGUMENT);
    CHECK_MESSAGE(said("elements of y would overlap"), nw_last_error());
}
