// SPDX-License-Identifier: MIT
// Layers as MLX stores them in its mode "affine", of linears, of experts stacked and of embeddings:
//
//   NAME.weight  u32 [..., N, K*B/32]: codes of B bits, those of a row one after the other from the
//                lowest bit of its first word on
//   NAME.scales  [..., N, K/G], NAME.biases the same: w = scale * code + bias
//   NAME.bias    [..., N] where there is one, as of any layer
//
// B and G are in config.json, "quantization": {"group_size": G, "bits": B}, with an object NAME of
// the same keys for a layer that differs (its path may have other modules around the language
// model: layer_rules.h). Shapes don't tell: 4 bits in groups of 64 have those of 8 bits in groups
// of 32.
//
// MLX makes bias = -z * scale with a whole z, and then rounds the scale: rounded, they have no such
// z in most groups.
#pragma once
#include <string>
#include <vector>

#include "formats/claims/layer_claims.h"
#include "formats/safetensors/checkpoint.h"

namespace nw {

struct MlxLayer {
    std::string name; // without .weight
    u32 experts = 0;  // 0: one matrix
    u32 n = 0, k = 0, group = 0, bits = 0;
    const Tensor *codes = nullptr, *scales = nullptr, *biases = nullptr;

    u32 code(u64 row, u32 k) const; // row: of all experts
};

// Whether a tensor is the codes of such a layer: NAME.weight of u32 beside real NAME.scales.
bool is_mlx(const Checkpoint &, const Tensor &);

// The layer of these codes; `used` gets its three tensors. Throws Error: parts that are missing or
// contradict each other, or no numbers of bits and group in the config.
MlxLayer read_mlx(const Checkpoint &, const Claims &, const Tensor &codes,
                  std::vector<const Tensor *> &used);

} // namespace nw
