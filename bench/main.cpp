// SPDX-License-Identifier: MIT
// nw_bench: the kernels on the shapes of real models, checked, counted and, where a device or a
// model keeps time, timed. Exit code 0; 1 where an output is wrong or something failed; 2 for a
// command line that nothing fits.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdio>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "bench/decode/decode.h"
#include "bench/gguf/crossover.h"
#include "bench/gguf/gguf.h"
#include "bench/golden/suite.h"
#include "bench/layer/layer.h"
#include "bench/layer/row.h"
#include "bench/micro/micro.h"
#include "bench/mid/mid.h"
#include "bench/moe/moe.h"
#include "bench/options.h"
#include "bench/pack/pack.h"
#include "bench/prefill/prefill.h"
#include "bench/report.h"
#include "bench/sensitivity/sensitivity.h"
#include "bench/shapes.h"
#include "bench/sim/sim.h"
#include "bench/stats.h"
#include "bench/stride/stride.h"
#include "bench/temporary_folder.h"
#include "bench/validate/validate.h"
#include "hip/hip.h"

namespace nw::bench {

namespace {

Dtype parse_dtype(const std::string &text) {
    for (Dtype dtype : {Dtype::bf16, Dtype::f16})
        if (text == name(dtype))
            return dtype;
    throw Usage(fmt::format("--dtype {}: unknown; there are bf16, f16", text));
}

// Empty where this is no checkout.
std::string commit() {
    const std::unique_ptr<FILE, int (*)(FILE *)> git(
        popen("git -C '" NW_SOURCE_DIR "' rev-parse HEAD 2>/dev/null", "r"), pclose);
    std::array<char, 64> line{};
    if (!git || !std::fgets(line.data(), line.size(), git.get()))
        return "";
    std::string text = line.data();
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

void write_json(const Options &o, const std::string &device, const nlohmann::json &rows) {
    const nlohmann::json out = {
        {"commit", commit()}, {"device", device}, {"suite", o.suite}, {"rows", rows}};
    std::ofstream file(o.json);
    file << out.dump(1) << "\n";
    if (!file.flush())
        throw Error(fmt::format("{}: can't be written", o.json));
}

void write_html(Options o, const std::string &device, const nlohmann::json &rows) {
    const TemporaryFolder folder;
    o.json = (folder.path() / "rows.json").string();
    write_json(o, device, rows);
    write_report(o.json, o.html);
}

bool crosses(const Options &o) {
    return o.suite == "gguf" && std::ranges::find(o.tables, "crossover") != o.tables.end();
}

Options parse(int argc, char **argv) {
    Options o;
    std::vector<std::string> dtypes;
    CLI::App app("The linear layers of one decoder layer through the decode kernels: errors, wave "
                 "instructions,\n"
                 "VALU slots per 8 weights, and time where a card or a model gives one.\n\n" +
                 std::string(error_unit));
    app.add_option("--suite", o.suite,
                   "layer: the linear layers of a model; "
                   "decode: modelled times of decode_w4a16 beside published ones; "
                   "prefill: the same of prefill_w4a16; "
                   "mid: 1 to 64 rows beside one; "
                   "gguf: products with weights of GGUF files; "
                   "moe: the expert layers of models through moe_w4a16; "
                   "stride: what padding rows of weights gains; "
                   "golden: every kernel against bench/golden; "
                   "sim: the speed of the simulated GPU; "
                   "validate: modelled times against published ones of hardware; "
                   "micro: what nw micro measures; "
                   "sensitivity: which constants of the model the modelled times depend on; "
                   "pack: the speed of nw pack")
        ->capture_default_str();
    app.add_option("--model", o.model, "a model of bench/shapes.csv")->capture_default_str();
    app.add_option("--layer", o.layers, "layers of the model, comma-separated (default: all)")
        ->delimiter(',');
    app.add_option("--device", o.device,
                   "auto, hip:N, sim:gfx1151 (default: $NIBBLEWAVE_DEVICE, then auto)");
    app.add_option("--m", o.m,
                   "rows of activations, comma-separated (default: 1,4; suite decode: 1,2,4,8; "
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
                   "suites decode, prefill, mid, gguf, moe, stride, sim, validate, sensitivity, "
                   "micro, pack: a regular "
                   "expression for the "
                   "names to run");
    app.add_option("--constants", o.constants,
                   "suite sensitivity: a regular expression for the constants to change");
    app.add_option("--json", o.json, "write the rows to this file");
    app.add_option("--html", o.html, "suites decode, stride: write a page of the rows, with plots");
    app.add_option(
           "--table", o.tables,
           "suite decode: published, shapes, ablations, comma-separated (default: all; with "
           "--only: published); suite prefill: published, ladder (default: published); suite gguf: "
           "crossover, each way from 1 row to 64")
        ->delimiter(',')
        ->check(CLI::IsMember({"published", "shapes", "ablations", "ladder", "crossover"}));
    app.add_flag("--full", o.full, "suite decode: all models, every number of rows from 1 to 8");
    app.add_flag("--update-golden", o.update_golden,
                 "renew bench/golden: the suite golden, written");
    app.add_flag("-v,--verbose", o.verbose,
                 "a line for every kernel, with all instruction classes");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &e) {
        std::exit(app.exit(e) ? 2 : 0);
    }
    if (!dtypes.empty()) {
        o.dtypes.clear();
        for (const std::string &text : dtypes)
            o.dtypes.push_back(parse_dtype(text));
    }
    if (o.update_golden)
        o.suite = "golden";
    if (o.m.empty())
        o.m = o.suite == "decode" && o.full ? std::vector<u32>{1, 2, 3, 4, 5, 6, 7, 8}
              : o.suite == "decode"         ? std::vector<u32>{1, 2, 4, 8}
              : crosses(o)                  ? crossover_rows()
              : o.suite == "gguf"           ? std::vector<u32>{1, 2, 4, 8, 9, 16, 23, 32, 512}
              : o.suite == "prefill"        ? std::vector<u32>{2048}
              : o.suite == "mid"            ? std::vector<u32>{1, 8, 16, 24, 32, 48, 64}
                                            : std::vector<u32>{1, 4};
    constexpr std::string_view suites[] = {"layer",  "decode", "prefill", "mid",      "moe",
                                           "stride", "golden", "sim",     "validate", "sensitivity",
                                           "micro",  "pack",   "gguf"};
    if (std::ranges::find(suites, o.suite) == std::end(suites))
        throw Usage(
            fmt::format("--suite {}: unknown; there are {}", o.suite, fmt::join(suites, ", ")));
    return o;
}

int run(int argc, char **argv) {
    const Options o = parse(argc, argv);
    const std::vector<LinearShape> shapes = read_shapes(NW_SHAPES);
    layers_of(shapes, o.model); // a wrong name is said before a device is looked for
    if (o.suite == "sim") {
        const nlohmann::json rows = run_sim(o, shapes);
        if (!o.json.empty())
            write_json(o, "sim " + (o.device.empty() ? "gfx1151" : o.device.substr(4)), rows);
        return 0;
    }
    if (o.suite == "validate" || o.suite == "sensitivity" || o.suite == "decode" ||
        o.suite == "stride" || o.suite == "prefill" || o.suite == "mid" || o.suite == "gguf") {
        const nlohmann::json rows = o.suite == "validate"      ? run_validate(o)
                                    : o.suite == "sensitivity" ? run_sensitivity(o)
                                    : o.suite == "decode"      ? run_decode(o, shapes)
                                    : o.suite == "prefill"     ? run_prefill(o)
                                    : o.suite == "mid"         ? run_mid(o)
                                    : crosses(o)               ? run_gguf_crossover(o, shapes)
                                    : o.suite == "gguf"        ? run_gguf(o, shapes)
                                                               : run_stride(o);
        if (!o.html.empty())
            write_html(o, "sim", rows);
        if (!o.json.empty())
            write_json(o, "sim", rows);
        return 0;
    }
    if (o.suite == "golden")
        return run_golden(o) ? 0 : 1;
    if (o.suite == "pack") {
        const nlohmann::json rows = run_pack(o);
        if (!o.json.empty())
            write_json(o, "none", rows);
        return 0;
    }
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    if (o.suite == "micro") {
        const hip::Device device(o.device);
        const nlohmann::json rows = run_micro(o, device);
        if (!o.json.empty())
            write_json(o, device.info().label, rows);
        return 0;
    }
    if (o.suite == "moe") {
        const hip::Device device(o.device);
        nlohmann::json rows;
        const u64 wrong = run_moe(o, shapes, device, rows);
        if (!o.json.empty())
            write_json(o, device.info().label, rows);
        return wrong ? 1 : 0;
    }
    StatsFile stats;
    const hip::Device device(o.device);
    if (!device.info().note.empty())
        fmt::print("{}\n", device.info().note);
    const std::vector<Row> rows = run_layer(o, shapes, device, stats);
    print_table(rows, o, device.info());
    if (o.verbose)
        print_details(rows);
    if (!o.json.empty()) {
        nlohmann::json json = nlohmann::json::array();
        for (const Row &row : rows)
            json.push_back(to_json(row));
        write_json(o, device.info().label, json);
    }
    u64 wrong = 0;
    for (const Row &row : rows)
        if (row.out_of_bound) {
            ++wrong;
            fmt::print(stderr, "nw_bench: {} on {}x{}: {} outputs are outside the error bound\n",
                       row.kernel->symbol, row.n, row.k, row.out_of_bound);
        }
    return wrong ? 1 : 0;
}

} // namespace

} // namespace nw::bench

int main(int argc, char **argv) {
    try {
        return nw::bench::run(argc, argv);
    } catch (const nw::bench::Usage &e) {
        fmt::print(stderr, "nw_bench: {}\n", e.what());
        return 2;
    } catch (const std::exception &e) {
        fmt::print(stderr, "nw_bench: {}\n", e.what());
        return 1;
    }
}
