// SPDX-License-Identifier: MIT
// Everything of a checkpoint that nw pack makes something of, and everything that it must not leave
// out in silence.
#pragma once
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "formats/fp4/source_fp4.h"
#include "formats/layers/source_linear.h"

namespace nw {

// The role of AWQ's scales of an activation function: [K], which divide its result.
inline constexpr const char *activation_scales = "activation_scales";

// A tensor that is copied beside its layer, and listed in the index: what it is, and whose.
struct CarriedTensor {
    std::string layer, role; // role: "input_scale"; of activation_scales there is no layer
    const Tensor *tensor;
};

struct SourceLayers {
    std::vector<SourceLinear> linears;
    std::vector<SourceFp4> fp4;
    std::vector<CarriedTensor> carried;
    std::vector<const Tensor *> others; // of no layer that is read
    std::vector<std::string> problems;  // layers that can't be read, and what would be left out
    std::vector<std::string> notes;     // for the user, of what is read
};

struct SourceOptions {
    std::optional<bool> gptq_v2; // zero points of GPTQ, whatever the config says; none: as it says
    bool copies_others = false;  // quantized layers that are not read are copied, too
};

// Reads zero points and g_idx, not weights or scales. A tensor whose name begins as that of a layer
// is used by its reader, carried or a problem. So is each tensor of codes that has scales beside it
// and no reader, unless the caller copies it: then it is a note. What the config says of all this
// is in claims/. Throws Error: config files that contradict each other.
SourceLayers read_layers(const Checkpoint &, const SourceOptions & = {});

// Finds codes of quantized weights: tensors of types that weights are not computed in, with scales,
// zero points or a codebook beside them, of any layout.
class QuantizedTensors {
public:
    explicit QuantizedTensors(const Checkpoint &);
    bool contains(const Tensor &) const;

private:
    const Checkpoint &checkpoint_;
    // By the part of a name before its last dot, with it: the rest, where it is scales or their
    // like.
    std::unordered_map<std::string, std::vector<std::string>> beside_;
};

} // namespace nw
