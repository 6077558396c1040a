// SPDX-License-Identifier: MIT
// nw_bench: the kernels on the shapes of real models, checked, counted and, where a device or a
// model keeps time, timed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <memory>
#include <ranges>

#include "base/command.h"
#include "base/half.h"
#include "base/targets.h"
#include "bench/errors.h"
#include "bench/needs.h"
#include "bench/suites.h"
#include "bench/temporary_folder.h"
#include "hip/failure.h"
#include "hip/hip.h"
#include "measure/draws.h"

namespace nw::bench {

namespace {

struct Suite {
    std::string_view name;
    Result (*run)(const Options &, const Shapes &);
    std::string_view help;
    std::vector<u32> m = {};                     // rows of activations where --m says nothing
    std::vector<std::string_view> families = {}; // whose kernels it launches; empty: all
};

constexpr std::string_view no_kernels = "none";

const Suite suites[] = {
    {"layer", run_layer, "the linear layers of a model", {1}, {"decode_w4a16"}},
    {"decode",
     run_decode,
     "modelled times of decode_w4a16 beside published ones",
     {1, 2, 4, 8},
     {"decode_w4a16"}},
    {"prefill",
     run_prefill,
     "the same of prefill_w4a16",
     {2048},
     {"prefill_w4a16", "mid_w4a16", "dot_w4a16", "carrier_w4a16", "prefill_w4a8", "quantize_rows"}},
    {"mid",
     run_mid,
     "1 to 64 rows beside one",
     {1, 8, 16, 24, 32, 48, 64},
     {"decode_w4a16", "mid_w4a16", "prefill_w4a16", "dot_w4a16"}},
    {"moe",
     run_moe,
     "the expert layers of models through moe_w4a16",
     {},
     {"moe_w4a16", "moe_prefill_w4a16", "dot_moe_w4a16", "moe_align"}},
    {"stride", run_stride, "what padding rows of weights gains", {}, {"decode_w4a16"}},
    {"golden", run_golden, "every kernel against bench/golden"},
    {"sim", run_sim, "the speed of the simulated GPU"},
    {"validate", run_validate, "modelled times against published ones of hardware"},
    {"sensitivity", run_sensitivity, "which constants of the model the modelled times depend on"},
    {"micro", run_micro, "what nw micro measures"},
    {"pack", run_pack, "the speed of nw pack", {}, {no_kernels}},
    {"gguf", run_gguf, "products with weights of GGUF files"}, // m: by table
    {"attention",
     run_attention,
     "attention of long sequences, and against long caches",
     {},
     {"attn_decode", "attn_forward", "attn_mean", "attn_score", "attn_select"}},
};

Dtype parse_dtype(const std::string &text) {
    for (Dtype dtype : {Dtype::bf16, Dtype::f16})
        if (text == name(dtype))
            return dtype;
    throw Usage(fmt::format("--dtype {}: unknown; there are bf16, f16", text));
}

const Suite &suite_of(const std::string &name) {
    const auto found = std::ranges::find(suites, name, &Suite::name);
    if (found != std::end(suites))
        return *found;
    throw Usage(fmt::format("--suite {}: unknown; there are {}", name,
                            fmt::join(std::views::transform(suites, &Suite::name), ", ")));
}

// Empty where this is no checkout.
std::string commit() {
    const std::unique_ptr<FILE, int (*)(FILE *)> git(
        popen("git -C '" NW_SOURCE_DIR "' rev-parse HEAD 2>/dev/null", "r"), pclose);
    std::array<char, 64> line{};
    if (!git || !std::fgets(line.data(), line.size(), git.get()))
        return "";
    return {line.data(), std::strcspn(line.data(), "\n")};
}

void write_json(const std::string &path, const std::string &suite, const Result &result) {
    const Json out = {{"commit", commit()},
                      {"device", result.device},
                      {"suite", suite},
                      {"rows", without_labels(result.rows)}};
    std::ofstream file(path);
    file << out.dump(1) << "\n";
    if (!file.flush())
        throw Error(fmt::format("{}: can't be written", path));
}

// For a shell.
std::string quoted(const std::string &text) {
    std::string out = "'";
    for (char c : text)
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

// By bench/report.py, with a Python that has matplotlib.
void write_html(const std::string &path, const std::string &suite, const Result &result) {
    const TemporaryFolder folder;
    const std::string json = (folder.path() / "rows.json").string();
    write_json(json, suite, result);
    const auto succeeds = [](const std::string &command) {
        return std::system(command.c_str()) == 0;
    };
    for (const std::string python : {"/usr/bin/python3", "python3"}) {
        if (!succeeds(python + " -c 'import matplotlib' 2> /dev/null"))
            continue;
        if (!succeeds(fmt::format("{} {} {} {}", python, quoted(NW_SOURCE_DIR "/bench/report.py"),
                                  quoted(json), quoted(path))))
            throw std::runtime_error(fmt::format("--html {}: bench/report.py failed", path));
        return;
    }
    throw Error(fmt::format("--html {}: no Python here has matplotlib: install python3-matplotlib; "
                            "--json needs nothing",
                            path));
}

std::string suite_help() {
    const auto line = [](const Suite &s) { return fmt::format("{}: {}", s.name, s.help); };
    return fmt::format("{}", fmt::join(std::views::transform(suites, line), "; "));
}

std::regex pattern(std::string_view option, const std::string &value) {
    try {
        return std::regex(value);
    } catch (const std::regex_error &e) {
        throw Usage(fmt::format("{} {}: {}", option, value, e.what()));
    }
}

Options parse(CLI::App &app, int argc, char **argv) {
    Options o;
    std::vector<std::string> dtypes;
    app.add_option("--suite", o.suite, suite_help())->capture_default_str();
    app.add_option("--model", o.model, "a model of bench/shapes.csv")->capture_default_str();
    app.add_option("--layer", o.layers, "layers of the model, comma-separated (default: all)")
        ->delimiter(',');
    app.add_option(
        "--device", o.device,
        "auto, hip:N, sim:gfx1151, \"sim:6800 XT\" (default: $NIBBLEWAVE_DEVICE, then auto)");
    app.add_option("--gfx", o.gfx,
                   "bench/run: build the kernels of these targets, comma-separated, or of all "
                   "(default: those that the suite launches on the device)")
        ->delimiter(',');
    app.add_flag("--needs", o.needs, "print the CMake targets of these kernels, and stop");
    app.add_option("--m", o.m,
                   "rows of activations, comma-separated (default: 1; suite decode: 1,2,4,8; "
                   "prefill: 2048; mid: 1,8,16,24,32,48,64; "
                   "gguf: 1,2,4,8,9,16,23,32,512)")
        ->delimiter(',');
    app.add_option("--dtype", dtypes, "bf16, f16 (default: both)")->delimiter(',');
    app.add_option("--group", o.group, "weights to a scale")->capture_default_str();
    app.add_option("--before-rows", o.before_rows,
                   "rows of a layer that the older kernels run, to save time; 0: all")
        ->capture_default_str();
    app.add_option("--seed", o.seed, "of weights and activations")->capture_default_str();
    app.add_option("--only", o.only,
                   "a regular expression for the names to run; suites layer and golden have none");
    app.add_option("--constants", o.constants,
                   "suite sensitivity: a regular expression for the constants to change");
    app.add_flag(
        "--uncertainty", o.uncertainty,
        fmt::format("suites layer, decode, mid, prefill, moe, gguf: times with low and high, by "
                    "{}",
                    draws_help));
    app.add_option("--json", o.json, "write the rows to this file");
    app.add_option("--html", o.html, "suites decode, stride: write a page of the rows, with plots");
    app.add_option(
           "--table", o.tables,
           "suite decode: published, shapes, ablations, comma-separated (default: all; with "
           "--only: published); suite prefill: published, ladder, int8, the same products of "
           "activations in int8 "
           "(default: published); suite gguf: "
           "crossover, each candidate from 1 row to 64, fp8, mxfp4 with activations in fp8; suite "
           "attention: decode, forward, stages, "
           "selection, ladder (default: all but ladder)")
        ->delimiter(',')
        ->check(CLI::IsMember({"published", "shapes", "ablations", "ladder", "crossover", "decode",
                               "int8", "fp8", "forward", "stages", "selection"}));
    app.add_flag("--full", o.full,
                 "suite decode: all models, every number of rows from 1 to 8; suite attention: "
                 "sequences of 32K and 128K tokens too, minutes for each row");
    app.add_flag("--update-golden", o.update_golden,
                 "renew bench/golden: the suite golden, written");
    app.add_flag("-v,--verbose", o.verbose,
                 "also what experts look for: VALU slots, registers, instruction classes, kernels' "
                 "names; suite layer: the older methods to dequantize");
    app.footer(fmt::format("\nRows are printed as they are done. Colour: only on a terminal, never "
                           "with NO_COLOR.\n{}\n{}",
                           error_unit, exit_codes_help));
    app.parse(argc, argv);
    if (!dtypes.empty()) {
        o.dtypes.clear();
        for (const std::string &text : dtypes)
            o.dtypes.push_back(parse_dtype(text));
    }
    if (o.update_golden)
        o.suite = "golden";
    if (o.m.empty())
        o.m = o.suite == "decode" && o.full ? std::vector<u32>{1, 2, 3, 4, 5, 6, 7, 8}
                                            : suite_of(o.suite).m;
    return o;
}

// --device "sim:6800 XT" is sim:gfx1030 with HIPSIM_PART: suites open devices by gfx, and ask what
// its DRAM gives.
void settle_part(Options &o) {
    if (!o.device.starts_with("sim:"))
        return;
    const std::string name = o.device.substr(4, o.device.find('?') - 4);
    if (find_target(name))
        return;
    const std::string gfx = hip::Device("sim:" + name).info().gfx; // throws for unknown names
    setenv("HIPSIM_PART", name.c_str(), 1);
    o.device.replace(4, name.size(), gfx);
}

int run(CLI::App &app, int argc, char **argv) {
    Options o = parse(app, argc, argv);
    const Suite &suite = suite_of(o.suite);
    settle_part(o);
    const Shapes shapes = read_shapes(NW_SHAPES);
    layers_of(shapes, o.model); // a wrong name is said before a device is looked for
    if (o.needs) {
        if (suite.families != std::vector{no_kernels})
            fmt::print("{}\n", fmt::join(kernels_needed(o, suite.families), "\n"));
        return 0;
    }
    if (o.uncertainty)
        draw_constants();
    const Result result = suite.run(o, shapes);
    if (!o.html.empty())
        write_html(o.html, o.suite, result);
    if (!o.json.empty())
        write_json(o.json, o.suite, result);
    return result.right ? exit_success : exit_failure;
}

} // namespace

std::regex only_pattern(const Options &o) { return pattern("--only", o.only); }
std::regex constants_pattern(const Options &o) { return pattern("--constants", o.constants); }

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

int main(int argc, char **argv) {
    CLI::App app(
        "The kernels on the shapes of real models: checked against f64, and timed on a card "
        "or by the\nmodel (sim). The default: the linear layers of one decoder layer.");
    const auto run = [&] { return nw::bench::run(app, argc, argv); };
    return nw::run_command("nw_bench", app, run, nw::hip::is_failure);
}
