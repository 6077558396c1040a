// SPDX-License-Identifier: MIT
// The suites of nw_bench: each prints its tables and returns their rows. All throw Usage for
// options that nothing fits.
#pragma once
#include <string>
#include <vector>

#include "bench/options.h"
#include "bench/table.h"
#include "formats/linear_shapes.h"

namespace nw::bench {

struct Result {
    Json rows = Json::array();
    std::string device = "sim"; // whose figures these are
    bool right = true;          // false: an output was wrong, or a figure got worse
};

using Shapes = std::vector<LinearShape>; // of bench/shapes.csv

// The rows of one model; throws Usage naming the models there are.
Shapes layers_of(const Shapes &, const std::string &model);

Result run_layer(const Options &, const Shapes &);       // the linear layers of a model
Result run_decode(const Options &, const Shapes &);      // decode_w4a16 beside published times
Result run_prefill(const Options &, const Shapes &);     // prefill_w4a16 beside published times
Result run_mid(const Options &, const Shapes &);         // 1 to 64 rows of activations by one
Result run_gguf(const Options &, const Shapes &);        // weights of GGUF files
Result run_moe(const Options &, const Shapes &);         // the expert layers of models
Result run_stride(const Options &, const Shapes &);      // what padding rows of weights gains
Result run_golden(const Options &, const Shapes &);      // every kernel against bench/golden
Result run_sim(const Options &, const Shapes &);         // the speed of the simulated GPU
Result run_validate(const Options &, const Shapes &);    // the model against published figures
Result run_sensitivity(const Options &, const Shapes &); // what the model's constants move
Result run_micro(const Options &, const Shapes &);       // what nw micro measures
Result run_attention(const Options &, const Shapes &);   // attn_forward and attn_decode at length
Result run_pack(const Options &, const Shapes &);        // the speed of nw pack

} // namespace nw::bench
