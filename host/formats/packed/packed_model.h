// SPDX-License-Identifier: MIT
// A packed checkpoint: linear layers in the row layout of the kernels, in one safetensors file, and
// a JSON index of them.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "formats/layers/source_layers.h"
#include "formats/safetensors/tensor_specs.h"

namespace nw {

// A matrix of the checkpoint within a packed layer: its first row is row `row` of expert `expert`.
struct PackedPart {
    const SourceLinear *source;
    u32 expert, row;
};

// A layer as it is packed, dense or of several experts. Its tensors are NAME.w, u32 [N, stride/4];
// NAME.s [N, K/G]; NAME.zp, u32 [ceil(N/8), K/G], if it is not symmetric; NAME.perm, u32 [K], if
// columns are in the order of their groups; NAME.bias [N]. Of experts all have E in front.
struct PackedLinear {
    std::string name;
    std::vector<PackedPart> parts;
    u32 experts = 0; // 0: a dense layer
    u32 n = 0, k = 0, group = 0;
    bool symmetric = false, act_order = false;
    Dtype dtype = Dtype::f16;
    u64 w_stride = 0; // bytes from one row of weights to the next
    size_t w = 0, s = 0, zp = none, perm = none, bias = none; // of the file's tensors

    static constexpr size_t none = ~size_t{0};
    u32 groups() const { return k / group; }
    u64 matrices() const { return experts ? experts : 1; }
    u64 matrix_bytes() const { return n * w_stride; }
    // Offsets in rows of the tensors, with the experts one after the other.
    u64 row(const PackedPart &part) const { return u64{part.expert} * n + part.row; }
};

// Weights of e2m1 as rows of ggml's blocks: NAME.w, U8 [..., N, row bytes]. What nvfp4 has as a
// scale of the whole tensor is a number of the index, which multiplies.
struct PackedFp4 {
    const SourceFp4 *source;
    size_t w = 0; // of the file's tensors
};

// A tensor that is copied unchanged.
struct PackedCopy {
    size_t tensor; // of the file's
    const Tensor *from;
};

struct PackedModel {
    std::vector<PackedLinear> linears;
    std::vector<PackedFp4> fp4;
    std::vector<TensorSpec> tensors;
    std::vector<PackedCopy> copies; // biases of e2m1, carried tensors, others
    std::span<const CarriedTensor> carried;
    u64 weight_bytes = 0; // of all NAME.w
};

struct PackOptions {
    std::string gfx = "gfx1151";
    std::optional<Dtype> dtype;  // of scales; none: unchanged
    bool all = false;            // copy the checkpoint's other tensors too
    std::optional<bool> gptq_v2; // zero points of GPTQ, whatever the config says; none: as it says
    bool fuse = false;           // concatenate layers with the same input: q, k, v; gate, up
    bool replace = false;        // replace existing output
};

// Throws Error if there is nothing to pack, or if experts differ or are missing.
PackedModel plan(const SourceLayers &, const PackOptions &);

// The JSON; `file` is the safetensors file's name. An object {format, version, gfx, file,
// nibble_order, linears}; a linear has name, n, k, group (-1: a whole row), symmetric, dtype,
// made_from, the names of its tensors as w, s and, where they are, zp, perm, bias, and strides in
// bytes: w_stride, s_stride, zp_stride from row to row. Of experts also experts and
// w_expert_stride; the other tensors of experts are contiguous. Of joined layers also parts: name
// and rows of each, from the top. Where there are weights of e2m1, fp4 lists them: name, type
// (mxfp4 or nvfp4, as in GGUF), shape with k last, w, w_stride, of nvfp4 scale, bias where there is
// one, made_from. A layer with carried tensors has carried: {role: names of the file's tensors}; so
// has the object, of those of no layer.
nlohmann::json layout_json(const PackedModel &, const PackOptions &, const std::string &file);

} // namespace nw
