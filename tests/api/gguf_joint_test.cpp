// SPDX-License-Identifier: MIT
// Results of nw_gguf_joint_linear, plain and behind a norm; two matrices; several rows; refusals.
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "api/gguf_product.h"

using namespace api_test;

namespace {

constexpr u32 k = 1024, widths[] = {70, 33, 5};
constexpr f32 eps = 1e-6f;

struct Matrix {
    Matrix(int of, u32 n, u64 seed)
        : type(of), blocks(gguf_weights(type, n, k, Rng(seed))),
          values(normal(n, 1, Rng(seed + 1))), w(blocks), bias(bytes_of(values)), c(u64{4} * n) {}

    const int type;
    std::vector<u8> blocks;
    std::vector<f32> values;
    Memory w, bias, c;
};

struct Layer {
    explicit Layer(int type, int type3 = 0)
        : x_(normal(k, 3, Rng(3))), norm_(normal(k, 1, Rng(4))), x(bytes_of(x_)),
          norm(bytes_of(norm_)), all{{type, widths[0], 10},
                                     {type, widths[1], 20},
                                     {type3 ? type3 : type, widths[2], 30}} {}

    nw_gguf_joint arguments(bool normed) const {
        nw_gguf_joint p = NW_GGUF_JOINT_INIT;
        p.type = all[0].type, p.type3 = all[2].type, p.k = k, p.n = widths[0], p.n2 = widths[1],
        p.n3 = widths[2];
        p.x = x.data, p.eps = eps;
        if (normed)
            p.norm = static_cast<const float *>(norm.data);
        const auto put = [](const Matrix &m, const void *&w, const float *&bias, float *&c) {
            w = m.w.data, bias = static_cast<const float *>(m.bias.data);
            c = static_cast<float *>(m.c.data);
        };
        put(all[0], p.w, p.bias, p.c);
        put(all[1], p.w2, p.bias2, p.c2);
        put(all[2], p.w3, p.bias3, p.c3);
        return p;
    }
    std::vector<f32> row(bool normed) const {
        if (!normed)
            return x_;
        f64 sum = 0;
        for (const f32 v : x_)
            sum += f64{v} * v;
        std::vector<f32> out(k);
        for (u32 i = 0; i < k; ++i)
            out[i] = static_cast<f32>(x_[i] / std::sqrt(sum / k + f64{eps}) * norm_[i]);
        return out;
    }
    std::string difference(bool normed, u32 matrices) const {
        const std::vector<f32> y = row(normed);
        for (u32 m = 0; m < matrices; ++m) {
            std::vector<f32> got(widths[m]);
            HIP_OK(hipMemcpy(got.data(), all[m].c.data, all[m].c.size, hipMemcpyDeviceToHost));
            const u64 bytes = nw_gguf_row_bytes(all[m].type, k);
            for (u32 i = 0; i < widths[m]; ++i) {
                const GgufSum want = gguf_sum(
                    all[m].type, y.data(), std::span(all[m].blocks).subspan(i * bytes, bytes), k);
                const f64 exact = want.exact + all[m].values[i];
                if (!(std::fabs(got[i] - exact) < want.bound + std::fabs(exact) * 0x1p-20))
                    return fmt::format("matrix {}, c[{}] is {}, {} is exact, the bound {}", m, i,
                                       got[i], exact, want.bound);
            }
        }
        return {};
    }

private:
    std::vector<f32> x_, norm_;

public:
    const Memory x, norm;
    const Matrix all[3];
};

u64 workspace_of(nw_context *context, const nw_gguf_joint &p) {
    uint64_t bytes = 0;
    NW_DONE(nw_gguf_joint_workspace_size(context, &p, &bytes));
    return bytes;
}

} // namespace

TEST_CASE("gguf joint: three matrices and two, plain and behind a norm") {
    const Context context;
    const Stream stream;
    struct Types {
        int type, type3;
    };
    for (const auto [type, type3] :
         {Types{NW_GGUF_Q4_K, 0}, Types{NW_GGUF_Q8_0, 0}, Types{NW_GGUF_Q6_K, NW_GGUF_Q6_K},
          Types{NW_GGUF_Q4_K, NW_GGUF_Q6_K}, Types{NW_GGUF_IQ4_NL, NW_GGUF_Q5_K}})
        for (const bool normed : {false, true})
            for (const u32 matrices : {3u, 2u}) {
                CAPTURE(fmt::format("types {} and {} normed {} matrices {}", type, type3, normed,
                                    matrices));
                const Layer layer(type, type3);
                nw_gguf_joint p = layer.arguments(normed);
                p.type3 = type3;
                if (matrices == 2)
                    p.n3 = 0, p.w3 = nullptr, p.bias3 = nullptr, p.c3 = nullptr;
                const Workspace workspace(workspace_of(context, p));
                p.workspace = workspace.data, p.workspace_bytes = workspace.size;
                NW_DONE(nw_gguf_joint_prepare(context, &p));
                NW_DONE(nw_gguf_joint_linear(context, &p, stream));
                HIP_OK(hipStreamSynchronize(stream));
                CHECK_EQ(layer.difference(normed, matrices), "");
            }
}

namespace {

// Rows of x with two matrices, and a residual for each row of the first one's results.
struct Rows {
    explicit Rows(u32 m)
        : m(m), x_(normal(m * k, 3, Rng(3))), residual_(normal(m * widths[0], 1, Rng(4))),
          x(bytes_of(x_)), residual(bytes_of(residual_)), all{{NW_GGUF_Q4_K, widths[0], 10},
                                                              {NW_GGUF_Q4_K, widths[0], 20}},
          c{Memory(u64{4} * m * widths[0]), Memory(u64{4} * m * widths[0])} {}

    nw_gguf_joint arguments() const {
        nw_gguf_joint p = NW_GGUF_JOINT_INIT;
        p.type = NW_GGUF_Q4_K, p.m = m, p.k = k, p.n = p.n2 = widths[0];
        p.x = x.data, p.w = all[0].w.data, p.w2 = all[1].w.data;
        p.c = static_cast<float *>(c[0].data);
        return p;
    }
    GgufSum sum(u32 matrix, u32 row, u32 column) const {
        const u64 bytes = nw_gguf_row_bytes(NW_GGUF_Q4_K, k);
        return gguf_sum(NW_GGUF_Q4_K, &x_[row * k],
                        std::span(all[matrix].blocks).subspan(column * bytes, bytes), k);
    }
    f64 added(u32 row, u32 column) const { return residual_[row * widths[0] + column]; }
    // The first result that is further from what `want` says than it allows.
    template <class Want> std::string difference(u32 result, const Want &want) const {
        std::vector<f32> got(m * widths[0]);
        HIP_OK(hipMemcpy(got.data(), c[result].data, c[result].size, hipMemcpyDeviceToHost));
        for (u32 row = 0; row < m; ++row)
            for (u32 i = 0; i < widths[0]; ++i) {
                const GgufSum one = want(row, i);
                const f32 value = got[row * widths[0] + i];
                if (!(std::fabs(value - one.exact) < one.bound + std::fabs(one.exact) * 0x1p-20))
                    return fmt::format("c[{}, {}] is {}, {} is exact, the bound {}", row, i, value,
                                       one.exact, one.bound);
            }
        return {};
    }

    const u32 m;

private:
    std::vector<f32> x_, residual_;

public:
    const Memory x, residual;
    const Matrix all[2];
    const Memory c[2];
};

} // namespace

TEST_CASE("gguf joint: several rows, with a residual each, and with a gated unit") {
    const Context context;
    const Stream stream;
    for (const u32 m : {2u, 3u, 8u}) {
        CAPTURE(m);
        const Rows rows(m);
        nw_gguf_joint p = rows.arguments();
        const Workspace workspace(workspace_of(context, p));
        p.workspace = workspace.data, p.workspace_bytes = workspace.size;
        p.bias = static_cast<const float *>(rows.residual.data);
        p.bias_stride = 4 * widths[0], p.c2 = static_cast<float *>(rows.c[1].data);
        NW_DONE(nw_gguf_joint_prepare(context, &p));
        NW_DONE(nw_gguf_joint_linear(context, &p, stream));
        HIP_OK(hipStreamSynchronize(stream));
        CHECK_EQ(rows.difference(0,
                                 [&](u32 row, u32 i) {
                                     GgufSum one = rows.sum(0, row, i);
                                     one.exact += rows.added(row, i);
                                     return one;
                                 }),
                 "");
        CHECK_EQ(rows.difference(1, [&](u32 row, u32 i) { return rows.sum(1, row, i); }), "");
        p.bias = nullptr, p.bias_stride = 0, p.c2 = nullptr, p.act = NW_ACT_SILU;
        NW_DONE(nw_gguf_joint_linear(context, &p, stream));
        HIP_OK(hipStreamSynchronize(stream));
        CHECK_EQ(rows.difference(0,
                                 [&](u32 row, u32 i) {
                                     const GgufSum g = rows.sum(0, row, i), u = rows.sum(1, row, i);
                                     const f64 unit = g.exact / (1 + std::exp(-g.exact));
                                     // |d unit / d g| < 1.1
                                     return GgufSum{unit * u.exact,
                                                    1.1 * g.bound * (std::fabs(u.exact) + u.bound) +
                                                        std::fabs(unit) * u.bound};
                                 }),
                 "");
    }
}

TEST_CASE("gguf joint: what is refused, with its value and the rule") {
    const Context context;
    const Layer layer(NW_GGUF_Q4_K);
    const Workspace workspace(workspace_of(context, layer.arguments(false)));
    const auto refused = [&](auto breaks, const char *says) {
        nw_gguf_joint p = layer.arguments(false);
        p.workspace = workspace.data, p.workspace_bytes = workspace.size;
        breaks(p);
        CHECK_EQ(nw_gguf_joint_linear(context, &p, nullptr), NW_INVALID_ARGUMENT);
        CHECK(std::string(nw_last_error()).find(says) != std::string::npos);
        CAPTURE(std::string(nw_last_error()));
    };
    refused([](nw_gguf_joint &p) { p.n3 = 0; }, "w3");
    refused([](nw_gguf_joint &p) { p.x = nullptr; }, "x and a are null");
    refused([](nw_gguf_joint &p) { p.k = 1000; }, "k = 1000");
    refused([](nw_gguf_joint &p) { p.type = NW_GGUF_Q5_0, p.type3 = NW_GGUF_Q6_K, p.k = 32; },
            "block size of q6_K");
    refused([](nw_gguf_joint &p) { p.c2 = p.c; }, "c2");
    refused([](nw_gguf_joint &p) { p.eps = -1, p.norm = p.bias; }, "eps");
    refused([](nw_gguf_joint &p) { p.m = 9; }, "m = 9");
    refused([](nw_gguf_joint &p) { p.m = 2, p.norm = p.bias; }, "take rms_norm first");
    refused([](nw_gguf_joint &p) { p.act = NW_ACT_SILU; }, "nw_gguf_moe_act_linear");
    refused([](nw_gguf_joint &p) { p.bias_stride = 8; }, "bias_stride");
    // A row that LDS has no room for takes a launch, which does not normalize.
    constexpr u32 long_row = 1 << 16;
    const Memory x(u64{4} * long_row),
        w(widths[0] * u64{nw_gguf_row_bytes(NW_GGUF_Q4_K, long_row)});
    nw_gguf_joint p = layer.arguments(false);
    p.k = long_row, p.x = x.data, p.w = p.w2 = p.w3 = w.data;
    const Workspace larger(workspace_of(context, p));
    p.workspace = larger.data, p.workspace_bytes = larger.size;
    p.norm = static_cast<const float *>(x.data);
    CHECK_EQ(nw_gguf_joint_linear(context, &p, nullptr), NW_UNSUPPORTED);
    p.norm = nullptr;
    NW_DONE(nw_gguf_joint_linear(context, &p, nullptr));
    HIP_OK(hipDeviceSynchronize());
    // Nor is it multiplied with weights of two types; and there are kernels for some of these only.
    p.type3 = NW_GGUF_Q6_K;
    CHECK_EQ(nw_gguf_joint_linear(context, &p, nullptr), NW_UNSUPPORTED);
    p = layer.arguments(false), p.type3 = NW_GGUF_Q8_0;
    p.workspace = workspace.data, p.workspace_bytes = workspace.size;
    CHECK_EQ(nw_gguf_joint_linear(context, &p, nullptr), NW_UNSUPPORTED);
}
