// SPDX-License-Identifier: MIT
// The dense linear layers of models at several batches, symmetric and with packed zero points.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <regex>

#include "bench/decode/sized.h"
#include "bench/options.h"
#include "bench/shapes.h"

namespace nw::bench {

// Prints a row each, what they come to, and what a token of each model costs. No row is no error.
nlohmann::json decode_shapes(const Options &, const std::vector<LinearShape> &,
                             const std::regex &only);

// The linear layers of a token, where all dense ones of a model were run.
nlohmann::json model_view(const std::vector<Sized> &, const std::vector<LinearShape> &);

} // namespace nw::bench
