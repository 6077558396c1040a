// SPDX-License-Identifier: MIT
#include "formats/layers/source_hqq.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "formats/files/words.h"
#include "formats/layers/source_names.h"
#include "formats/layers/source_problem.h"
#include "formats/packed/row_layout.h"

namespace nw {

SourceLinear hqq_linear(const HqqLayer &h) {
    if (h.k % 16)
        refuse_tensor(*h.codes, fmt::format("K = {}: must be a multiple of 16", h.k));
    if (h.group != 32 && h.group != 64 && h.group != 128 && h.group != h.k)
        refuse_tensor(*h.codes, fmt::format("has groups of {}: must be 32, 64, 128 or a whole row; "
                                            "quantize with one of these",
                                            h.group));
    SourceLinear l;
    l.tensor = h.codes->name;
    l.prefix = h.name + ".";
    l.format = SourceFormat::hqq;
    l.n = h.n;
    l.k = h.k;
    l.group = h.group;
    l.scale_dtype = h.scales->dtype;
    l.zero_dtype = h.zeros->dtype;
    l.weights = h.codes->bytes;
    l.scales = h.scales->bytes;
    l.zeros = h.zeros->bytes;
    if (h.bias) {
        l.bias = h.bias->bytes;
        l.bias_dtype = h.bias->dtype;
    }
    l.symmetric = true;
    for (u64 i = 0; i < h.rows(); ++i) {
        const f32 zero = load_real(l.zero_dtype, l.zeros, i);
        if (!(zero >= 0 && zero <= 15) || zero != std::floor(zero))
            refuse_tensor(*h.zeros,
                          fmt::format("row {}, group {} has the zero point {}: kernels take whole "
                                      "numbers from 0 to 15. Quantize with optimize = False and "
                                      "round_zero = True, or `nw quantize` dequantizes the layer, "
                                      "quantizes it to w4a16 and prints the error",
                                      i / l.groups(), i % l.groups(), zero));
        l.symmetric &= zero == 8;
    }
    MappedFile::release(l.zeros); // all layers' zeros can exceed the largest tensor
    if (!l.symmetric && l.per_row() && !spread_over_groups(l))
        refuse_tensor(*h.zeros, fmt::format("has one zero point per row, and K = {} is no multiple "
                                            "of 32: quantize in groups of 32, 64 or 128",
                                            l.k));
    name_linear(l, h.name, false);
    return l;
}

void hqq_weights(const SourceLinear &l, u32 first, u32 rows, std::byte *out, u64 stride) {
    const u64 half = u64{l.n} * l.k / 2;
    std::vector<u8> codes(l.k);
    std::vector<u32> words(l.k / 8);
    for (u32 row = 0; row < rows; ++row) {
        // The row's codes in the high nibbles, then those in the low ones; most rows have one kind.
        const u64 begin = u64{first + row} * l.k;
        const u64 high = begin < half ? std::min<u64>(l.k, half - begin) : 0;
        for (u64 k = 0; k < high; ++k)
            codes[k] = load<u8>(l.weights, begin + k) >> 4;
        for (u64 k = high; k < l.k; ++k)
            codes[k] = load<u8>(l.weights, begin + k - half) & 15;
        pack_row(codes, words);
        std::memcpy(out + row * stride, words.data(), words.size() * sizeof(u32));
    }
}

void hqq_zeros(const SourceLinear &l, u32 first, u32 rows, u32 *out) {
    const u32 groups = l.groups();
    std::fill_n(out, u64{ceil_div(rows, 8u)} * groups, 0);
    for (u32 row = 0; row < rows; ++row)
        for (u32 g = 0; g < groups; ++g) {
            const u64 at = u64{first + row} * l.stored_groups() + l.stored_group(g);
            const u32 zero = static_cast<u32>(load_real(l.zero_dtype, l.zeros, at));
            out[u64{row / 8} * groups + g] |= zero << 4 * (row % 8);
        }
}

} // namespace nw
