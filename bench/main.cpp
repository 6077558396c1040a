// SPDX-License-Identifier: MIT
// nw_bench: the kernels on the shapes of real models, checked, counted and, where a device or a
// model keeps time, timed.
#include <cstdlib>
#include <fmt/format.h>

#include "base/command_line.h"
#include "base/environment.h"
#include "base/half.h"
#include "base/targets.h"
#include "bench/errors.h"
#include "bench/needs.h"
#include "bench/report.h"
#include "hip/failure.h"
#include "hip/hip.h"
#include "measure/clock.h"
#include "measure/draws.h"

namespace nw::bench {

namespace {

Dtype parse_dtype(const std::string &text) {
    for (Dtype dtype : {Dtype::bf16, Dtype::f16})
        if (text == name(dtype))
            return dtype;
    throw Usage(fmt::format("--dtype {}: unknown; there are bf16, f16", text));
}

void add_options(Command &app, Options &o, std::vector<std::string> &dtypes) {
    app.add("--suite", &o.suite, suites_help(), {.show_default = true});
    app.add("--model", &o.model, "a model of bench/shapes.csv", {.show_default = true});
    app.add("--layer", &o.layers, "layers of the model, comma-separated (default: all)",
            {.comma_separated = true});
    app.add("--device", &o.device,
            "auto, hip:N, sim:gfx1151, \"sim:6800 XT\" (default: $NIBBLEWAVE_DEVICE, then auto)");
    app.add(
        "--clock", &o.clock,
        "simulated devices: HIPSIM_CLOCK, which is sustained, boost or MHz (host/sim/README.md)");
    app.add("--power", &o.power, "simulated devices: HIPSIM_POWER, in W");
    app.add("--gfx", &o.gfx,
            "bench/run: build the kernels of these targets, comma-separated, or all "
            "(default: the kernels that the suite launches on the device)",
            {.comma_separated = true});
    app.add("--needs", &o.needs, "print the CMake targets of these kernels, and stop");
    app.add("--m", &o.m,
            "rows of activations, comma-separated (default: 1; suite decode: 1,2,4,8; "
            "prefill: 2048; mid: 1,8,16,24,32,48,64; "
            "gguf: 1,2,4,8,9,16,23,32,512)",
            {.comma_separated = true});
    app.add("--dtype", &dtypes, "bf16, f16 (default: both)", {.comma_separated = true});
    app.add("--group", &o.group, "weights per scale", {.show_default = true});
    app.add("--before-rows", &o.before_rows,
            "rows of a layer that the baseline kernels compute, to save time; 0: all",
            {.show_default = true});
    app.add("--seed", &o.seed, "seed of the weights and activations", {.show_default = true});
    app.add("--only", &o.only,
            "run only rows whose name matches this regular expression; not for suites layer and "
            "golden");
    app.add("--constants", &o.constants,
            "suite sensitivity: a regular expression for the constants to change");
    app.add(
        "--uncertainty", &o.uncertainty,
        fmt::format("suites layer, decode, mid, prefill, moe, gguf: times with low and high, by "
                    "{}",
                    draws_help));
    app.add("--json", &o.json, "write the rows to this file", {.writable_file = true});
    app.add("--html", &o.html, "suites decode, stride: write a page of the rows, with plots",
            {.writable_file = true});
    app.add("--table", &o.tables,
            "tables to print, comma-separated. Suite decode: published, shapes, ablations "
            "(default: all; with --only: published); suite prefill: published, ladder, int8 (int8 "
            "activations) (default: published); suite gguf: crossover (each candidate for 1 to 64 "
            "rows), fp8 (mxfp4 with fp8 activations); suite attention: decode, forward, stages, "
            "selection, ladder (default: all but ladder)",
            {.comma_separated = true,
             .one_of = {"published", "shapes", "ablations", "ladder", "crossover", "decode", "int8",
                        "fp8", "forward", "stages", "selection"}});
    app.add("--full", &o.full,
            "suite decode: all models, every number of rows from 1 to 8; suite attention: also "
            "sequences of 32K and 128K tokens, minutes per row");
    app.add("--update-golden", &o.update_golden, "run the suite golden and rewrite bench/golden");
    app.add("-v,--verbose", &o.verbose,
            "also print VALU slots, registers, instruction classes and kernel names; suite layer: "
            "also time older dequantization methods");
    app.footer =
        fmt::format("\nRows are printed as they are done. Colour: only on a terminal, never "
                    "with NO_COLOR.\n{}\n{}",
                    error_unit, exit_codes_help);
}

// Settings that depend on several options.
void settle(Options &o, const std::vector<std::string> &dtypes) {
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

void run(Options o) {
    const Suite &suite = suite_of(o.suite);
    check_options(suite, o);
    set_simulated_clock(o.clock, o.power);
    settle_part(o);
    const Shapes shapes = read_shapes(NW_SHAPES);
    layers_of(shapes, o.model); // a wrong name is said before a device is looked for
    if (o.needs) {
        for (const std::string &target : targets_needed(o, suite))
            fmt::print("{}\n", target);
        return;
    }
    if (o.uncertainty)
        draw_constants();
    if (!run_and_write(o, shapes))
        throw Findings();
}

} // namespace

} // namespace nw::bench

int main(int argc, char **argv) {
    using namespace nw;
    Command app(
        "The kernels on the shapes of real models: checked against f64, and timed on a card "
        "or by the\nmodel (sim). The default: the linear layers of one decoder layer.");
    bench::Options o;
    std::vector<std::string> dtypes;
    bench::add_options(app, o, dtypes);
    app.run = [&] {
        bench::settle(o, dtypes);
        bench::run(o);
    };
    const auto before = [] {
        check_variables(hipsim_variables);
        check_variables(nibblewave_variables);
    };
    return run_command("nw_bench", app, argc, argv, before, hip::is_failure);
}
