// SPDX-License-Identifier: MIT
// The data of a bench, from a seed: one quantized linear layer and the activations that go in.
#pragma once
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "formats/row_layout.h"
#include "ref/decode.h"

namespace nw::bench {

struct LayerData {
    Dtype dtype;
    RowLayout layout;
    std::vector<u8> q;  // [N, K]
    std::vector<u16> s; // [N, K/G]
    std::vector<u8> packed_w, packed_s;
};

// As a packer lays rows out for the gfx: padded where that is faster (weight_row_stride).
RowLayout layout_for(std::string_view gfx, u32 n, u32 k, u32 group);

// Normal weights of standard deviation 0.02, quantized round-to-nearest, packed.
LayerData make_layer(Dtype, const RowLayout &, const Rng &);

// [M, K]: normal, with a few channels 20 to 60 times the others, the same in every row, as the
// activations of real layers have.
std::vector<u16> make_activations(Dtype, u32 m, u32 k, const Rng &);

// The first `rows` rows of a layer against activations, for the reference.
ref::DecodeW4A16 product(const LayerData &, const std::vector<u16> &a, u32 m, u32 rows);

} // namespace nw::bench
