// SPDX-License-Identifier: MIT
#include "api/gguf_product.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "base/half.h"
#include "base/rng.h"
#include "ref/gguf.h"

namespace api_test {

namespace {

std::vector<u8> random_weights(int type, u32 n, u32 k, Rng rng) {
    const GgmlTypeInfo &info = *find_ggml_type(static_cast<GgmlType>(type));
    std::vector<u8> out(u64{n} * (k / info.elements) * info.bytes);
    for (u8 &b : out)
        b = static_cast<u8>(rng.below(256));
    for (u64 block = 0; block < out.size(); block += info.bytes) {
        for (u64 i = 0; i < info.halves; ++i) {
            const u16 d = f32_to_f16(0x1p-9f * rng.unit());
            std::memcpy(&out[block + info.halves_at + 2 * i], &d, 2);
        }
        if (type == NW_GGUF_MXFP4)
            out[block] = static_cast<u8>(118 + rng.below(4));
    }
    return out;
}

std::vector<f32> dequantized(int type, const std::vector<u8> &w, u32 n, u32 k) {
    const u64 row = w.size() / n;
    std::vector<f32> out(u64{n} * k);
    for (u32 i = 0; i < n; ++i)
        ref::dequantize_row(static_cast<GgmlType>(type),
                            reinterpret_cast<const std::byte *>(&w[i * row]), k, &out[u64{i} * k]);
    return out;
}

// The same blocks without minima that are b in nibblewave.h: q2_K's are none.
std::vector<u8> without_minima(int type, std::vector<u8> w) {
    const GgmlTypeInfo &info = *find_ggml_type(static_cast<GgmlType>(type));
    for (u64 at = info.halves_at + 2; info.halves == 2 && type != NW_GGUF_Q2_K && at < w.size();
         at += info.bytes)
        std::memset(&w[at], 0, 2);
    return w;
}

// The error bound of nibblewave.h.
f64 bound_of(const f32 *x, const f32 *w, const f32 *p, u32 k) {
    f64 row = 0, sum = 0;
    for (u32 i = 0; i < k; ++i)
        row = std::fmax(row, std::fabs(x[i]));
    f64 most = 0; // of a block
    for (u32 i = 0; i < k; ++i) {
        if (i % 32 == 0) {
            most = 0x1p-89;
            for (u32 j = i; j < i + 32; ++j)
                most = std::fmax(most, std::fabs(x[j]));
        }
        const f64 a = std::fabs(p[i]), b = std::fabs(f64{p[i]} - w[i]);
        sum += std::fabs(w[i]) * most / 220 + (a + b) * (most / 700 + row * 0x1p-29) +
               std::fabs(x[i]) * 0x1p-25;
    }
    return sum;
}

std::vector<f32> normal_rows(u32 m, u32 k, u32 padding, Rng rng) {
    const u32 row = k + padding;
    std::vector<f32> x(u64{m} * row, NAN);
    for (u32 i = 0; i < m; ++i)
        for (u32 j = 0; j < k; ++j)
            x[u64{i} * row + j] = rng.normal() * (j % 96 < 32 ? 1.0f : 0.05f);
    return x;
}

std::vector<f32> repeated(const std::vector<f32> &row, u32 m) {
    std::vector<f32> x;
    for (u32 i = 0; i < m; ++i)
        x.insert(x.end(), row.begin(), row.end());
    return x;
}

} // namespace

u64 workspace_bytes(nw_context *context, int type, u32 m, u32 n, u32 k) {
    nw_gguf p = NW_GGUF_INIT;
    p.type = type, p.m = m, p.n = n, p.k = k;
    uint64_t bytes = 0;
    NW_DONE(nw_gguf_workspace_size(context, &p, &bytes));
    return bytes;
}

std::vector<f32> normal(u64 count, f32 scale, Rng rng) {
    std::vector<f32> out(count);
    for (f32 &v : out)
        v = scale * rng.normal();
    return out;
}

std::vector<u8> gguf_weights(int type, u32 n, u32 k, Rng rng) {
    return random_weights(type, n, k, rng);
}

GgufSum gguf_sum(int type, const float *x, std::span<const u8> row, u32 k) {
    const std::vector<u8> w(row.begin(), row.end());
    const std::vector<f32> weights = dequantized(type, w, 1, k),
                           quants = dequantized(type, without_minima(type, w), 1, k);
    GgufSum out{0, bound_of(x, weights.data(), quants.data(), k)};
    for (u32 i = 0; i < k; ++i)
        out.exact += f64{x[i]} * weights[i];
    return out;
}

GgufProduct::GgufProduct(int type, u32 m, u32 n, u32 k, u32 padding, u64 seed)
    : GgufProduct(type, m, n, k, normal_rows(m, k, padding, Rng(seed)), Rng(seed).fork(1)) {}

GgufProduct::GgufProduct(int type, u32 m, u32 n, const std::vector<f32> &row)
    : GgufProduct(type, m, n, static_cast<u32>(row.size()), repeated(row, m), Rng(m)) {}

GgufProduct::GgufProduct(int type, u32 m, u32 n, u32 k, const std::vector<f32> &x, Rng rng)
    : exact_(u64{m} * n), bound_(exact_.size()) {
    const u64 row = x.size() / m;
    const std::vector<u8> w = random_weights(type, n, k, rng);
    const std::vector<f32> weights = dequantized(type, w, n, k),
                           quants = dequantized(type, without_minima(type, w), n, k);
    for (u32 i = 0; i < m; ++i)
        for (u32 j = 0; j < n; ++j) {
            const f32 *const at = &x[u64{i} * row], *const by = &weights[u64{j} * k];
            for (u32 l = 0; l < k; ++l)
                exact_[u64{i} * n + j] += f64{at[l]} * by[l];
            bound_[u64{i} * n + j] = bound_of(at, by, &quants[u64{j} * k], k);
        }
    std::vector<u8> bytes(4 * x.size());
    std::memcpy(bytes.data(), x.data(), bytes.size());
    memory_.push_back(std::make_unique<Memory>(bytes));
    memory_.push_back(std::make_unique<Memory>(w));
    memory_.push_back(std::make_unique<Memory>(u64{4} * m * n));
    arguments_.type = type;
    arguments_.m = m, arguments_.n = n, arguments_.k = k;
    arguments_.x = memory_[0]->data, arguments_.x_stride = u64{4} * row;
    arguments_.w = memory_[1]->data;
    arguments_.c = memory_[2]->data;
    clear();
}

nw_gguf GgufProduct::arguments(const Memory &workspace) const {
    nw_gguf out = arguments_;
    out.workspace = workspace.data;
    out.workspace_bytes = workspace.size;
    return out;
}

void GgufProduct::clear() { HIP_OK(hipMemset(arguments_.c, 0xff, 4 * exact_.size())); }

bool GgufProduct::untouched() const {
    const std::vector<float> now = result();
    return std::ranges::all_of(now, [](float v) { return std::isnan(v); });
}

std::vector<float> GgufProduct::result() const {
    std::vector<float> out(exact_.size());
    HIP_OK(hipMemcpy(out.data(), arguments_.c, 4 * out.size(), hipMemcpyDeviceToHost));
    return out;
}

std::string GgufProduct::difference() const {
    const std::vector<float> got = result();
    for (u64 i = 0; i < got.size(); ++i)
        if (!(std::fabs(got[i] - exact_[i]) < bound_[i])) // also where it is NaN
            return fmt::format("c[{}] is {}, {} is exact, the bound {}", i, got[i], exact_[i],
                               bound_[i]);
    return {};
}

} // namespace api_test
