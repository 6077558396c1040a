// SPDX-License-Identifier: MIT
// config.json of a quantized model.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "formats/quantize/quantize_plan.h"

namespace nw {

// config.json of the first input that is a folder with one; none: null. Throws Error if it is no
// JSON object.
std::optional<nlohmann::json> model_config(std::span<const std::filesystem::path> inputs);

// What it says; of what it does not say, the default.
NamedModel named_model(std::span<const std::filesystem::path> inputs);

// The model's config with the quantization_config of w4a16, as compressed-tensors has it: one group
// of all linear layers; `ignore` are those that are copied.
std::string quantized_config(nlohmann::json config, const QuantizePlan &, const QuantizeOptions &);

} // namespace nw
