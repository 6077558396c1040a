// SPDX-License-Identifier: MIT
// Linear layers as HQQ stores them. With rows r of G weights, R = N * K / G of them in the order of
// W, and axis 1:
//
//   NAME.W_q    u8 [R/2, G]: the code of row r in the high nibbles if r < R/2, else in the low ones
//               of row r - R/2
//   NAME.scale  [R, 1], NAME.zero [R, 1]: w = (code - zero) * scale; zero is any real number
//   NAME.shape [2]: N and K; NAME.group_size, NAME.nbits, NAME.axis: numbers
//   NAME.packing u8: "4bit_u8"; NAME.bias [N] where there is one
#pragma once
#include <string>
#include <vector>

#include "formats/safetensors/checkpoint.h"

namespace nw {

struct HqqLayer {
    std::string name; // without W_q
    u32 n = 0, k = 0, group = 0;
    const Tensor *codes = nullptr, *scales = nullptr, *zeros = nullptr, *bias = nullptr;

    u64 rows() const { return u64{n} * (k / group); }
};

// Whether a tensor is the codes of such a layer: NAME.W_q beside a NAME.nbits.
bool is_hqq(const Checkpoint &, const Tensor &);

// The layer of these codes; `used` gets all of its tensors. Throws Error: parts that are missing or
// contradict each other, quantized scales, and layers that have no 4 bits or no groups along K.
HqqLayer read_hqq(const Checkpoint &, const Tensor &codes, std::vector<const Tensor *> &used);

} // namespace nw
