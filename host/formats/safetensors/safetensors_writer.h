// SPDX-License-Identifier: MIT
#pragma once
#include <map>
#include <string>
#include <vector>

#include "formats/safetensors/tensor_specs.h"
#include "formats/safetensors/tensor_writer.h"

namespace nw {

// A safetensors file with its header written. Its tensors are in the given order, from an offset
// that is a multiple of 64. The format has no padding: list tensors with larger elements first, so
// that each is aligned. Throws Error: duplicate names, shapes that read_safetensors refuses.
TensorWriter safetensors_writer(const std::filesystem::path &,
                                const std::vector<TensorSpec> &tensors,
                                const std::map<std::string, std::string> &metadata);

} // namespace nw
