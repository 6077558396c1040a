// SPDX-License-Identifier: MIT
// Which tensors of a checkpoint are quantized, and the tensors that are written.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/quantize/clip.h"
#include "formats/quantize/coded_layers.h"
#include "formats/quantize/gguf_names.h"
#include "formats/quantize/orientation.h"
#include "formats/safetensors/safetensors.h"
#include "formats/safetensors/tensor_specs.h"

namespace nw {

enum class QuantizedType : u8 { w4a16, q4_K, mxfp4 };

std::string_view name(QuantizedType);

struct QuantizeOptions {
    QuantizedType to = QuantizedType::w4a16;
    u32 group = 128;                  // of w4a16: 32, 64 or 128
    bool zero_points = false;         // of w4a16
    std::optional<Dtype> scale_dtype; // of w4a16; none: the weights', and bf16 for f32
    Clip clip = Clip::mse;
    std::vector<std::string> include; // regular expressions: 2-D and 3-D tensors to quantize too
    std::vector<std::string> keep;    // to copy unchanged; they come before `include`
    // Weights that are [K, N], of experts [E, K, N], and those that are [N, K], whatever the model
    // and the shapes say.
    std::vector<std::string> transposed, not_transposed;
    bool replace = false; // replace existing output
    bool config = true;   // w4a16 of a model: write its config.json beside the output
    bool gguf = false;    // the output is GGUF, else safetensors
    NamedModel model;     // of the input; GGUF's names depend on it
    ModelShape shape;     // and orientations on this
};

// A weight matrix [N, K], or those of experts [E, N, K], and where its parts go. In the output
// NAME.weight is as below, of experts with E in front of every shape but weight_shape's:
//
//   w4a16             NAME.weight_packed, weight_scale, weight_shape and, with zero points,
//                     weight_zero_point, as in compressed-tensors (source_linear.h)
//   mxfp4             NAME.weight_blocks u8 [N, K/32, 16], a byte has two codes, the first low, and
//                     NAME.weight_scales u8 [N, K/32], the e, as in gpt-oss
//   mxfp4, q4_K       in a GGUF file: NAME.weight, in blocks of ggml (gguf_blocks.h)
struct QuantizedLinear {
    std::string name, dtype; // of the weight
    const Tensor *from;      // its tensor, or codes
    const CodedLayer *coded; // null: `from` has numbers
    u32 n, k;
    u32 experts = 0;            // 0: one matrix
    u32 head_rows = 0;          // not 0: of a head, whose halves are interleaved in the output
    bool columns_first = false; // `from` is [K, N], of experts [E, K, N]
    Dtype scale_dtype = Dtype::bf16;
    size_t weights = none, scales = none, zeros = none, shape = none; // of the output's tensors

    static constexpr size_t none = ~size_t{0};
    u64 matrices() const { return experts ? experts : 1; }
    u64 rows() const { return matrices() * n; }
    // The input's row that becomes this one.
    u64 source_row(u64 row) const {
        if (!head_rows)
            return row;
        const u64 i = row % head_rows;
        return row - i + i % 2 * (head_rows / 2) + i / 2;
    }
};

struct QuantizePlan {
    std::vector<QuantizedLinear> linears;
    std::vector<std::pair<size_t, const Tensor *>>
        copies; // of the output's tensors, from the input
    std::vector<std::pair<size_t, const CodedLayer *>> dequantized; // written in their dtype
    std::vector<TensorSpec> tensors;
};

// True of the weight of a linear layer by its name: not an embedding, a norm, the head, or the
// router of a mixture of experts.
bool is_linear_name(std::string_view);
// True of the weights of all experts in one tensor [E, N, K], by their name.
bool is_experts_name(std::string_view);

// Weights that share a scale: those a row must be a multiple of.
u32 scale_block(const QuantizeOptions &);

// Plan for tensors outside of coded layers, and for coded layers, which must outlive the plan.
// Coded layers whose name is not that of a linear layer are only dequantized. Throws Error if
// nothing is quantized, if a tensor to quantize has an unsupported shape or dtype or an unknown
// orientation, or if a regular expression matches nothing.
QuantizePlan plan_quantization(std::span<const Tensor *const>, std::span<const CodedLayer>,
                               const QuantizeOptions &);

} // namespace nw
