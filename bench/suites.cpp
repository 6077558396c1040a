// SPDX-License-Identifier: MIT
#include "bench/suites.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

namespace nw::bench {

namespace {

const Suite suites[] = {
    {"layer", "the linear layers of a model", {1}, {"decode_w4a16"}},
    {"decode",
     "modelled times of decode_w4a16 beside published ones",
     {1, 2, 4, 8},
     {"decode_w4a16"}},
    {"prefill",
     "the same of prefill_w4a16",
     {2048},
     {"prefill_w4a16", "mid_w4a16", "dot_w4a16", "carrier_w4a16", "prefill_w4a8", "quantize_rows"}},
    {"mid",
     "1 to 64 rows beside one",
     {1, 8, 16, 24, 32, 48, 64},
     {"decode_w4a16", "mid_w4a16", "prefill_w4a16", "dot_w4a16"}},
    {"moe",
     "the expert layers of models through moe_w4a16",
     {},
     {"moe_w4a16", "moe_prefill_w4a16", "dot_moe_w4a16", "moe_align"}},
    {"stride", "what padding rows of weights gains", {}, {"decode_w4a16"}},
    {"golden", "every kernel against bench/golden"},
    {"sim", "the speed of the simulated GPU"},
    {"validate", "modelled times against published ones of hardware"},
    {"sensitivity", "which constants of the model the modelled times depend on"},
    {"micro", "what nw micro measures"},
    {"pack", "the speed of nw pack", {}, {}, false},
    {"gguf", "products with weights of GGUF files"}, // m: by table
    {"attention",
     "attention of long sequences, and against long caches",
     {},
     {"attn_decode", "attn_forward", "attn_mean", "attn_score", "attn_select"}},
};

// "a, b", by text(suite) of all.
template <class Text> std::string listed(const char *between, const Text &text) {
    std::vector<std::string> out;
    for (const Suite &suite : suites)
        out.push_back(text(suite));
    return fmt::format("{}", fmt::join(out, between));
}

} // namespace

const Suite &suite_of(const std::string &name) {
    const auto found = std::ranges::find(suites, name, &Suite::name);
    if (found != std::end(suites))
        return *found;
    throw Usage(fmt::format("--suite {}: unknown; there are {}", name,
                            listed(", ", [](const Suite &s) { return std::string(s.name); })));
}

std::string suites_help() {
    return listed("; ", [](const Suite &s) { return fmt::format("{}: {}", s.name, s.help); });
}

bool wanted(const Options &o, std::string_view table, bool usual) {
    return o.tables.empty() ? usual : std::ranges::find(o.tables, table) != o.tables.end();
}

Shapes layers_of(const Shapes &shapes, const std::string &model) {
    Shapes out;
    std::vector<std::string> models;
    for (const LinearShape &shape : shapes) {
        if (models.empty() || models.back() != shape.model)
            models.push_back(shape.model);
        if (shape.model == model)
            out.push_back(shape);
    }
    if (out.empty())
        throw Usage(
            fmt::format("--model {}: unknown; there are {}", model, fmt::join(models, ", ")));
    return out;
}

} // namespace nw::bench
