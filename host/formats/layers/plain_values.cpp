// SPDX-License-Identifier: MIT
#include "formats/layers/plain_values.h"

#include "formats/files/words.h"

namespace nw {

namespace {

// Position of n % 8 among the nibbles of an AWQ dword.
constexpr u32 awq_place[8] = {0, 4, 1, 5, 2, 6, 3, 7};
// Position of k % 8 among the nibbles of a dword in the kernels' layout.
constexpr u32 kernel_place[8] = {0, 4, 1, 5, 2, 6, 3, 7};

struct Element {
    u32 q, z;
    u64 scale; // index
};

Element gptq(const SourceLinear &l, u64 n, u64 k, u64 g) {
    const u64 row_of_zeros = l.zeros.size() / sizeof(u32) / l.stored_groups();
    const u32 q = nibble(load<u32>(l.weights, k / 8 * l.n + n), k % 8);
    const u32 z = nibble(load<u32>(l.zeros, g * row_of_zeros + n / 8), n % 8);
    return {q, l.format == SourceFormat::gptq_v1 ? z + 1 : z, g * l.n + n};
}

Element awq(const SourceLinear &l, u64 n, u64 k, u64 g) {
    const u64 words = l.n / 8;
    const u32 q = nibble(load<u32>(l.weights, k * words + n / 8), awq_place[n % 8]);
    const u32 z = nibble(load<u32>(l.zeros, g * words + n / 8), awq_place[n % 8]);
    return {q, z, g * l.n + n};
}

Element compressed(const SourceLinear &l, u64 n, u64 k, u64 g) {
    const u64 words = (u64{l.k} + 7) / 8;
    const u32 q = nibble(load<u32>(l.weights, n * words + k / 8), k % 8);
    const u64 groups = l.stored_groups();
    const u32 z = l.zeros.empty() ? 8 : nibble(load<u32>(l.zeros, n / 8 * groups + g), n % 8);
    return {q, z, n * groups + g};
}

// A code by its place among all of W, half of which are high nibbles.
Element hqq(const SourceLinear &l, u64 n, u64 k, u64 g) {
    const u64 at = n * l.k + k, half = u64{l.n} * l.k / 2;
    const u32 byte = load<u8>(l.weights, at % half), q = at < half ? byte >> 4 : byte & 15;
    const u64 scale = n * l.stored_groups() + g;
    return {q, static_cast<u32>(load_real(l.zero_dtype, l.zeros, scale)), scale};
}

Element element(const SourceLinear &l, u64 n, u64 k) {
    const u64 length = l.k / l.stored_groups();
    const u64 g = l.group_of.empty() ? k / length : l.group_of[k];
    switch (l.format) {
    case SourceFormat::awq_gemm:
        return awq(l, n, k, g);
    case SourceFormat::compressed_tensors:
        return compressed(l, n, k, g);
    case SourceFormat::hqq:
        return hqq(l, n, k, g);
    default:
        return gptq(l, n, k, g);
    }
}

} // namespace

void plain_row(const SourceLinear &l, u32 n, Dtype dtype, std::span<f64> w) {
    for (u32 k = 0; k < l.k; ++k) {
        const Element e = element(l, n, k);
        const f64 scale =
            to_f32(dtype, round_to(dtype, load_real(l.scale_dtype, l.scales, e.scale)));
        w[k] = (static_cast<i32>(e.q) - static_cast<i32>(e.z)) * scale;
    }
}

void plain_row(const PackedRow &row, Dtype dtype, std::span<f64> w) {
    const u64 group = w.size() / row.scales.size();
    for (u64 j = 0; j < w.size(); ++j) {
        const u64 g = j / group;
        const u32 q = nibble(row.weights[j / 8], kernel_place[j % 8]);
        const u32 z = row.zeros.empty() ? 8 : nibble(row.zeros[g], row.row_of_eight);
        w[row.order.empty() ? j : row.order[j]] =
            (static_cast<i32>(q) - static_cast<i32>(z)) * f64{to_f32(dtype, row.scales[g])};
    }
}

} // namespace nw
