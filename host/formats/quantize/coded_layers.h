// SPDX-License-Identifier: MIT
// Layers of other 4-bit formats as nw quantize reads them: dequantized, row by row.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/claims/layer_claims.h"
#include "formats/safetensors/checkpoint.h"

namespace nw {

struct CodedLayer {
    std::string name;   // of the weight that it stands for, NAME.weight
    std::string format; // "nf4", "fp4", "hqq" or "mlx"
    std::string dtype;  // that it was quantized from: F16, BF16 or F32
    u32 n = 0, k = 0;
    u32 experts = 0; // 0: one matrix
    const Tensor *codes = nullptr;
    std::vector<const Tensor *> used; // all of its tensors but a bias
    // Writes row n, of all experts, K numbers, by the formula below. Thread-safe.
    std::function<void(u64 n, std::span<f32> w)> row;
};

// bitsandbytes' nf4 and fp4, HQQ (hqq.h) and MLX (mlx.h). With i the place of a weight in W, rows
// one after the other, all in f32:
//
//   bitsandbytes  NAME.weight u8 [N*K/2, 1], a byte has two codes, the first high
//                 NAME.weight.quant_map f32 [16], NAME.weight.absmax f32 [N*K/B]
//                 NAME.weight.quant_state.bitsandbytes__nf4 or __fp4 u8: JSON with shape,
//                 blocksize B, dtype
//                 w = quant_map[code] * absmax[i / B]
//                 double quantized: absmax u8, nested_quant_map f32 [256], nested_absmax f32, and
//                 nested_blocksize and nested_offset in the JSON; then absmax[b] is
//                 nested_quant_map[absmax[b]] * nested_absmax[b / nested_blocksize] + nested_offset
//   hqq           w = (code - zero) * scale
//   mlx           w = scale * code + bias
//
// Throws Error: parts that are missing or contradict each other.
std::vector<CodedLayer> find_coded_layers(const Checkpoint &, const ModelClaims &);

} // namespace nw
