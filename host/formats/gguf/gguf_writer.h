// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "formats/safetensors/tensor_specs.h"
#include "formats/safetensors/tensor_writer.h"

namespace nw {

struct GgufNumber {
    std::string key;
    u32 value;
};

// A GGUF 3 file with its header written. A tensor's dtype is the name of a ggml type; its shape is
// that of safetensors, rows first, and reversed in the file. Throws Error: duplicate or long names,
// unknown types, shapes that read_gguf refuses.
TensorWriter gguf_writer(const std::filesystem::path &, const std::vector<TensorSpec> &tensors,
                         const std::vector<GgufNumber> &metadata);

} // namespace nw
