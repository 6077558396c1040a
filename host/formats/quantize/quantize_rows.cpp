// SPDX-License-Identifier: MIT
#include "formats/quantize/quantize_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "base/error.h"
#include "base/half.h"
#include "formats/files/mapped_file.h"
#include "formats/files/words.h"
#include "formats/quantize/int4.h"
#include "formats/quantize/mxfp4.h"
#include "formats/quantize/q4_k.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

template <class T> std::span<const std::byte> bytes_of(const std::vector<T> &v) {
    return std::as_bytes(std::span(v));
}

} // namespace

QuantizationError RowQuantizer::run(const QuantizedLinear &l, u64 matrix, u64 first, u64 count) {
    weights_.resize(l.k);
    stored_.resize(l.k);
    QuantizationError error;
    const u64 row = matrix * l.n + first;
    if (options_.to == QuantizedType::q4_K)
        write_q4_K(l, row, count, error);
    else if (options_.to == QuantizedType::mxfp4)
        write_mxfp4(l, row, count, error);
    else
        write_int4(l, matrix, first, count, error);
    if (l.columns_first && first + count == l.n) { // rows share all pages of their matrix
        const u64 bytes = l.from->bytes.size() / l.matrices();
        MappedFile::release(l.from->bytes.subspan(matrix * bytes, bytes));
    } else if (!l.coded && !l.columns_first) { // codes may share a page, and of HQQ a byte
        const u64 row_bytes = l.from->bytes.size() / l.rows();
        MappedFile::release(l.from->bytes.subspan(row * row_bytes, count * row_bytes));
    }
    return error;
}

void RowQuantizer::load(const QuantizedLinear &l, u64 row) {
    const Tensor &t = *l.from;
    const u64 matrix = row / l.n * l.n * l.k; // elements before the row's matrix
    const u64 begin = l.columns_first ? matrix + row % l.n : row * l.k;
    const u64 step = l.columns_first ? l.n : 1;
    const auto widen = [&](const auto &at) {
        for (u32 k = 0; k < l.k; ++k)
            weights_[k] = at(k);
    };
    if (l.coded)
        l.coded->row(row, weights_);
    else if (t.dtype == "BF16") // decided once, not per weight
        widen([&](u32 k) { return bf16_to_f32(nw::load<u16>(t.bytes, begin + k * step)); });
    else
        widen([&](u32 k) { return load_real(t.dtype, t.bytes, begin + k * step); });
    const auto bad = std::ranges::find_if_not(weights_, [](f32 w) { return std::isfinite(w); });
    if (bad != weights_.end())
        throw Error(fmt::format("{}: row {}, column {} is {}: quantization needs finite weights; "
                                "--keep copies the tensor unchanged",
                                in_quotes(l.name), row, bad - weights_.begin(), *bad));
}

template <class Quantize>
void RowQuantizer::quantize(const QuantizedLinear &l, u64 to, QuantizationError &error,
                            const Quantize &work) {
    const u64 row = l.source_row(to);
    load(l, row);
    try {
        work();
    } catch (const Error &e) {
        throw Error(fmt::format("{}: row {}, {}", in_quotes(l.name), row, e.what()));
    }
    error.add(weights_, stored_, row * l.k);
}

void RowQuantizer::write_q4_K(const QuantizedLinear &l, u64 first, u64 count,
                              QuantizationError &error) {
    constexpr u32 elements = BlockQ4_K::elements;
    const u64 row_bytes = l.k / elements * sizeof(BlockQ4_K);
    blocks_.resize(count * row_bytes);
    for (u64 r = 0; r < count; ++r)
        quantize(l, first + r, error, [&] {
            for (u32 b = 0; b < l.k / elements; ++b) {
                const BlockQ4_K block = quantize_q4_K(
                    std::span(weights_).subspan(b * elements, elements), options_.clip,
                    std::span(stored_).subspan(b * elements, elements));
                std::memcpy(&blocks_[r * row_bytes + b * sizeof block], &block, sizeof block);
            }
        });
    file_.write(l.weights, first * row_bytes, blocks_);
}

// Writes one block of the row's weights from `at`. In GGUF the exponent precedes the codes.
void RowQuantizer::put_mxfp4(u64 at, std::byte *codes, std::byte *exponent) {
    constexpr u32 elements = Mxfp4Block::elements, half = elements / 2;
    const Mxfp4Block q = quantize_mxfp4(std::span(weights_).subspan(at, elements), options_.clip);
    for (u32 j = 0; j < elements; ++j)
        stored_[at + j] = std::ldexp(f64{e2m1_value(q.codes[j])}, q.e - 127);
    *exponent = std::byte{q.e};
    if (options_.gguf)
        *codes++ = std::byte{q.e};
    for (u32 j = 0; j < half; ++j) { // ggml: halves of the block; gpt-oss: pairs
        const u32 low = options_.gguf ? q.codes[j] : q.codes[2 * j],
                  high = options_.gguf ? q.codes[half + j] : q.codes[2 * j + 1];
        codes[j] = static_cast<std::byte>(low | high << 4);
    }
}

void RowQuantizer::write_mxfp4(const QuantizedLinear &l, u64 first, u64 count,
                               QuantizationError &error) {
    constexpr u32 elements = Mxfp4Block::elements, half = elements / 2;
    const u64 blocks = l.k / elements, stride = options_.gguf ? sizeof(BlockMXFP4) : half;
    blocks_.resize(count * blocks * stride);
    exponents_.resize(count * blocks);
    for (u64 r = 0; r < count; ++r)
        quantize(l, first + r, error, [&] {
            for (u64 b = 0; b < blocks; ++b)
                put_mxfp4(b * elements, &blocks_[(r * blocks + b) * stride],
                          &exponents_[r * blocks + b]);
        });
    file_.write(l.weights, first * blocks * stride, blocks_);
    if (!options_.gguf)
        file_.write(l.scales, first * blocks, exponents_);
}

void RowQuantizer::write_int4(const QuantizedLinear &l, u64 matrix, u64 first, u64 count,
                              QuantizationError &error) {
    const u64 row = matrix * l.n + first; // of all matrices

    const Int4Options o{options_.group, l.scale_dtype, options_.zero_points, options_.clip};
    const u64 groups = l.k / o.group, words = l.k / 8;
    q_.resize(l.k);
    z_.assign(groups, 8);
    scales_.resize(count * groups);
    packed_.assign(count * words, 0);
    zeros_.assign(o.zero_points ? ceil_div<u64>(count, 8) * groups : 0, 0);
    for (u64 r = 0; r < count; ++r) {
        const std::span<u16> s = std::span(scales_).subspan(r * groups, groups);
        quantize(l, row + r, error, [&] {
            quantize_row(weights_, o, q_, s, o.zero_points ? std::span(z_) : std::span<u8>());
            for (u32 k = 0; k < l.k; ++k) {
                const u64 g = k / o.group;
                stored_[k] = (i32{q_[k]} - i32{z_[g]}) * f64{to_f32(o.dtype, s[g])};
                packed_[r * words + k / 8] |= u32{q_[k]} << 4 * (k % 8);
            }
        });
        for (u64 g = 0; g < groups && o.zero_points; ++g)
            zeros_[r / 8 * groups + g] |= u32{z_[g]} << 4 * (r % 8);
    }
    file_.write(l.weights, row * words * sizeof(u32), bytes_of(packed_));
    file_.write(l.scales, row * groups * sizeof(u16), bytes_of(scales_));
    if (o.zero_points)
        file_.write(l.zeros, (matrix * ceil_div<u64>(l.n, 8) + first / 8) * groups * sizeof(u32),
                    bytes_of(zeros_));
    if (row == 0) {
        const i64 shape[2] = {l.n, l.k};
        file_.write(l.shape, 0, std::as_bytes(std::span(shape)));
    }
}

} // namespace nw
