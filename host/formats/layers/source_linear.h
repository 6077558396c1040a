// SPDX-License-Identifier: MIT
// The 4-bit linear layers of a checkpoint in its own layout. W is [N, K], one row per output.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/claims/layer_claims.h"
#include "formats/safetensors/checkpoint.h"

namespace nw {

// All store q in 0..15 with w = (q - z) * s, where z is the stored value or, for v1, one more:
//
//   gptq                qweight i32 [K/8, N], nibble j of row r is k = 8r + j
//                       qzeros i32 [K/G, N/8], nibble j of column c is n = 8c + j
//                       scales [K/G, N]; g_idx i32 [K], the group of each k
//   awq_gemm            qweight i32 [K, N/8], qzeros i32 [K/G, N/8]: nibble i of column c is
//                       n = 8c + (0 2 4 6 1 3 5 7)[i]; scales [K/G, N]
//   compressed_tensors  weight_packed i32 [N, ceil(K/8)], k at bit 4k of the row
//                       weight_zero_point i32 [ceil(N/8), K/G], nibble j of row r is n = 8r + j
//                       weight_scale [N, K/G]; weight_shape [2]; weight_g_idx [K]
//                       (values are signed and stored + 8, so are zero points: z - 8 cancels)
//   hqq                 as hqq.h has it, its zero points whole numbers from 0 to 15
enum class SourceFormat : u8 { gptq_v1, gptq_v2, awq_gemm, compressed_tensors, hqq };

std::string_view name(SourceFormat);

// One matrix; of tensors with a leading dimension, one of its slices.
struct SourceLinear {
    std::string name;          // without the number of the expert
    std::optional<u32> expert; // which of the layer's experts, if it is one
    std::string tensor;        // what holds its weights
    SourceFormat format;
    u32 n = 0, k = 0, group = 0;                             // group: K where a row has one scale
    bool spread = false;                                     // one scale a row, for all its groups
    bool symmetric = false;                                  // z = 8 everywhere
    bool act_order = false;                                  // the group of k is not k / group
    std::string scale_dtype, zero_dtype, bias_dtype;         // F16, BF16, F32; zero_dtype: of hqq
    std::span<const std::byte> weights, scales, zeros, bias; // zeros, bias: may be empty
    std::vector<u32> group_of;                               // g_idx, with act_order
    std::string prefix; // of the names of its tensors in the file

    u32 groups() const { return k / group; }
    // Groups in the file, each with a scale and a zero point; the stored group of group g.
    u32 stored_groups() const { return spread ? 1 : groups(); }
    u32 stored_group(u32 g) const { return spread ? 0 : g; }
    // Scales are [N, K/G], else [K/G, N].
    bool by_row() const {
        return format == SourceFormat::compressed_tensors || format == SourceFormat::hqq;
    }
    bool per_row() const { return groups() == 1 && group != 32 && group != 64 && group != 128; }
    u32 zero_words() const { return ceil_div(n, 8u); } // that hold a zero point for each row
};

struct SourceLinears {
    std::vector<SourceLinear> linears;  // in the order of the files
    std::vector<const Tensor *> others; // tensors of no linear
    std::vector<std::string>
        problems; // of tensors that look like a linear but can't be read as one
};

// Reads zero points and g_idx, not weights or scales.
SourceLinears find_linears(const Checkpoint &, const ModelClaims &);

} // namespace nw
