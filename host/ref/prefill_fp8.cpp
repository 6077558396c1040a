// SPDX-License-Identifier: MIT
#include "ref/prefill_fp8.h"

#include <cmath>

#include "ref/e4m3.h"
#include "ref/gguf.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

constexpr u32 block_k = 32;

// Additions of a block's products each lose at most 2^-23 of the sum of their sizes, in any order
// (S-022), and so do additions of blocks; the scale of a row rounds twice. Subnormal sums lose
// 2^-149 per block, multiplied by the scale of a row and 2^7.
f64 tolerance(f64 sizes, u32 blocks, f64 a_scale) {
    const f64 roundings = block_k + blocks + 2;
    return (sizes * 0x1p-23 * roundings + blocks * 0x1p-142) * a_scale + 0x1p-149;
}

} // namespace

ProductFp8Exact prefill_fp8(const ProductFp8 &p) {
    const GgmlTypeInfo &type = *find_ggml_type(p.type);
    const u32 blocks = p.k / block_k;
    const u64 row_bytes = u64{p.k} / type.elements * type.bytes;
    need_size("a", p.a.size(), u64{p.m} * p.k);
    need_size("a_scale", p.a_scale.size(), p.m);
    need_size("w", p.w.size(), p.n * row_bytes);
    std::vector<f64> a;
    for (u8 bits : p.a)
        a.push_back(from_e4m3(bits));
    ProductFp8Exact out{std::vector<f64>(u64{p.m} * p.n), std::vector<f64>(u64{p.m} * p.n)};
    std::vector<f32> w(p.k);
    for (u32 n = 0; n < p.n; ++n) {
        dequantize_row(p.type, &p.w[n * row_bytes], p.k, w.data());
        for (u32 m = 0; m < p.m; ++m) {
            f64 sum = 0, sizes = 0;
            for (u32 k = 0; k < p.k; ++k) {
                const f64 product = a[u64{m} * p.k + k] * w[k];
                sum += product;
                sizes += std::fabs(product);
            }
            out.c[u64{m} * p.n + n] = sum * p.a_scale[m];
            out.tolerance[u64{m} * p.n + n] = tolerance(sizes, blocks, std::fabs(p.a_scale[m]));
        }
    }
    return out;
}

} // namespace nw::ref
