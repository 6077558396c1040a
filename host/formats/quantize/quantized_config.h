// SPDX-License-Identifier: MIT
// config.json of a quantized model.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "formats/quantize/quantize_plan.h"

namespace nw {

// Contents of a config.json, with defaults for missing entries.
NamedModel named_model(const nlohmann::json &config);

// The model's config with the quantization_config of w4a16, as compressed-tensors has it: one group
// of all linear layers; `ignore` are those that are copied.
std::string quantized_config(nlohmann::json config, const QuantizePlan &, const QuantizeOptions &);

} // namespace nw
