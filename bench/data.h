// SPDX-License-Identifier: MIT
// Data of a bench from a seed: one quantized linear layer and its activations.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "check/ops.h"
#include "formats/packed/row_layout.h"
#include "hip/hip.h"
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

template <class T> hip::Buffer upload(const hip::Device &device, std::span<const T> from) {
    hip::Buffer buffer = device.allocate(from.size_bytes());
    buffer.upload(from.data(), from.size_bytes());
    return buffer;
}
template <class T> hip::Buffer upload(const hip::Device &device, const std::vector<T> &from) {
    return upload(device, std::span<const T>(from));
}

// One layer's weights on the device and on the host.
struct Resident {
    LayerData data;
    hip::Buffer w, s;

    Resident(const hip::Device &, LayerData);
    // Arguments of a product of [m, K] activations into c.
    W4A16 arguments(u32 m, const hip::Buffer &a, const hip::Buffer &c) const;
};

// The first `rows` rows of a layer against activations, for the reference.
ref::DecodeW4A16 product(const LayerData &, const std::vector<u16> &a, u32 m, u32 rows);

} // namespace nw::bench
