// SPDX-License-Identifier: MIT
#include "bench/suites.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>

#include "base/pattern.h"

namespace nw::bench {

namespace {

const std::vector<std::string_view> probes = {
    "micro_chase", "micro_clock",  "micro_clock_gfx12", "micro_clock_salu_float",
    "micro_lanes", "micro_queues", "micro_rate",        "micro_share",
    "micro_start", "micro_stream", "micro_stream_wide", "micro_valu",
    "micro_walk",  "micro_wmma",   "wmma_gemm",         "dequant_w4"};

const Suite suites[] = {
    {.name = "layer",
     .help = "the linear layers of a model",
     .m = {1},
     .families = {"decode_w4a16"},
     .only = false},
    {.name = "decode",
     .help = "modelled times of decode_w4a16 beside published ones",
     .m = {1, 2, 4, 8},
     .families = {"decode_w4a16"},
     .tables = {"published", "shapes", "ablations"},
     .page = true},
    {.name = "prefill",
     .help = "modelled times of prefill_w4a16 beside published ones",
     .m = {2048},
     .families = {"prefill_w4a16", "mid_w4a16", "dot_w4a16", "carrier_w4a16", "prefill_w4a8",
                  "quantize_rows"},
     .tables = {"published", "ladder", "int8"}},
    {"mid",
     "times of 1 to 64 rows relative to 1 row",
     {1, 8, 16, 24, 32, 48, 64},
     {"decode_w4a16", "mid_w4a16", "prefill_w4a16", "dot_w4a16"}},
    {"moe",
     "the expert layers of models",
     {},
     {"moe_w4a16", "moe_prefill_w4a16", "dot_moe_w4a16", "moe_align"}},
    {.name = "stride",
     .help = "effect of weight row padding",
     .families = {"decode_w4a16"},
     .page = true},
    {.name = "golden", .help = "every kernel against bench/golden", .only = false},
    {"sim", "the speed of the simulated GPU", {}, {}, {"micro_valu", "micro_wmma", "wmma_gemm"}},
    {"validate", "modelled times against published ones of hardware", {}, {}, {"splitk_w4a16"}},
    {"sensitivity",
     "which constants of the model the modelled times depend on",
     {},
     {},
     {"splitk_w4a16"}},
    {"micro", "the measurements of nw micro", {}, {}, probes},
    {.name = "ops", .help = "ops other than products and attention", .m = {1, 8, 32, 512}},
    {.name = "pack", .help = "the speed of nw pack", .kernels = false},
    {.name = "gguf",
     .help = "products with weights of GGUF files",
     .tables = {"crossover", "fp8"}}, // m: by table
    {.name = "attention",
     .help = "attention of long sequences, and against long caches",
     .families = {"attn_decode", "attn_forward", "attn_mean", "attn_score", "attn_select"},
     .tables = {"decode", "forward", "stages", "selection", "ladder"}},
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

void check_options(const Suite &suite, const Options &o) {
    const auto refuse = [&](std::string_view option, std::string_view value, std::string has) {
        throw Usage(fmt::format("{} {}: suite {} {}", option, value, suite.name, has));
    };
    if (!suite.only && !o.only.empty())
        refuse("--only", o.only, "has no rows of a name; leave it out");
    if (suite.name != "layer" && !o.layers.empty())
        refuse("--layer", fmt::format("{}", fmt::join(o.layers, ",")),
               "has no layers to choose; suite layer has");
    if (suite.name != "sensitivity" && !o.constants.empty())
        refuse("--constants", o.constants, "changes none; suite sensitivity does");
    if (!suite.page && !o.html.empty())
        refuse("--html", o.html, "makes no page; suites decode and stride do");
    for (const std::string &table : o.tables)
        if (std::ranges::find(suite.tables, table) == suite.tables.end())
            refuse("--table", table,
                   suite.tables.empty()
                       ? "has one table; leave it out"
                       : fmt::format("has tables {}", fmt::join(suite.tables, ", ")));
}

void no_row(const Options &o, std::string_view of) {
    throw Usage(fmt::format("--only {}: no row of {} has such a name{}", o.only, of,
                            Pattern::names("--only")));
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
