// SPDX-License-Identifier: MIT
// nw atlas: what every kernel of a suite takes, by what it is bound, and what its code object is.
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "measure/gguf_product.h"
#include "nw/atlas/report.h"
#include "nw/atlas/rocprof.h"
#include "nw/atlas/run.h"
#include "nw/code_object.h"
#include "nw/commands.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

struct Options {
    std::string suite, out;
    AtlasRunOptions run;
    AtlasTraceOptions trace;
    bool json = false;
};

struct ReportOptions {
    std::vector<std::string> files;
    std::string html;
    bool json = false;
};

std::string lines(const std::vector<Json> &rows) {
    std::string out;
    for (const Json &row : rows) // names in a trace may be anything
        out += row.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    return out;
}

// A long run should not end in a file that can't be written.
void check_writable(const std::string &path) {
    if (!std::ofstream(path, std::ios::app))
        throw Error(fmt::format("-o {}: can't be written", path));
}

void run(const Options &o) {
    if (o.suite.empty() == o.trace.trace.empty())
        throw Error("give either --suite gguf, to run its kernels, or --rocprof TRACE.csv, to read "
                    "a trace, or the subcommand report; nw atlas --help says more");
    if (!o.out.empty())
        check_writable(o.out);
    const std::vector<Json> rows = o.suite.empty() ? atlas_rocprof(o.trace) : atlas_run(o.run);
    if (!o.out.empty())
        write_text("-o", o.out, lines(rows));
    else if (o.json)
        fmt::print("{}", lines(rows));
    if (!o.json)
        fmt::print("{}", atlas_text(group_atlas(rows)));
}

void report(const ReportOptions &o) {
    const std::vector<AtlasGroup> groups = read_atlas(o.files);
    if (!o.html.empty())
        write_text("--html", o.html, atlas_html(groups));
    if (o.json)
        fmt::print("{}\n", atlas_json(groups).dump(1, ' ', false, Json::error_handler_t::replace));
    else
        fmt::print("{}", atlas_text(groups));
}

constexpr const char *footer = R"(
  NIBBLEWAVE_DEVICE=sim:gfx1100 nw atlas --suite gguf --model Llama-3.1-8B --type q4_K --m 1,16,32 -o sim.jsonl
  nw atlas --suite gguf --device hip:0 --json -o card.jsonl          on a card, the median of --repeats
  rocprofv3 --kernel-trace --output-format csv -d t -- PROGRAM       then, of a PROGRAM that uses our kernels:
  nw atlas --rocprof t/HOST/PID_kernel_trace.csv --gfx gfx1100 --json -o trace.jsonl
  nw atlas report sim.jsonl card.jsonl trace.jsonl                   the ranking; joins the same launch of both

A table is printed, with --json (and no -o) a JSON object a line instead. Of one (schema nibblewave.atlas.v1):
  source, device   "suite gguf" or "rocprof"; "sim" (modelled time, no measurement) or "card"
  device_name, part, gfx, commit, kernel
                   part: whose constants bounds have; part_assumed: the usual one of the gfx, as the card's
                   name says none. commit: of this program's sources, -dirty where they were changed; null
                   where they are no checkout. kernel: the symbol
  workload         phase: decode (m = 1), verify (2 to 32: a draft's tokens) or prefill; model, layer, count: of
                   bench/shapes.csv, count launches for a token of the model; op: product, or activations (the
                   launch before it, quantize_q8 or gguf_halves); type: of weights; m, n, k: C[m, n] of rows
                   of k weights; shape_bucket: m, n, k up to powers of two. Of experts m tokens go to top_k
                   each, at random, experts_met to any; n, k are one expert's, gate_up is one half of it, as
                   files have gate and up apart; op lists: of the slots of each expert (moe_align).
                   Of a trace: family and params, as manifest.json has them; type, m, phase where the
                   kernel is for just these; a trace does not tell shapes
  metrics          time_us: of a launch, weights cold; of a trace the mean. bytes: of weights (of experts met);
                   of activations and lists what is read and written. gb_per_s, tflops (2 n k for a row) by
                   these. bounds_us: launch, what one takes that does nothing; memory: the weights at the
                   bandwidth that DRAM sustains; dot4 or wmma: the arithmetic at its peak rate, WMMA with rows
                   (of an expert) filled up to 16; bound_us: launch and the larger of the others, which bound
                   names; share_of_bound: bound_us / time_us.
                   Bounds are by constants of the model of time (nw constants), on a card too.
                   layers_us: of all layers of the model, activations too; share_of_layers: count * time_us
                   of these; neither where --only left layers out.
                   Of a trace: calls, total_us, min_us, max_us, trace_us, share_of_trace
  code_object      md5 of the file; vgprs, sgprs, lds_bytes, dynamic_lds_bytes (null: not known),
                   scratch_bytes, waves_per_simd (that fit) and occupancy_limiter; limiter: of the launch
                   where it was simulated, else of the main loop by a static count (limiter_of says which);
                   mix: instructions of the code by class. null for kernels that are not ours (note)
  launch           on sim: what HIPSIM_STATS has: instructions, busy cycles, stalls, DRAM bytes
  trace            of a trace: its file; registers, LDS as it says; grids: how many different ones)";

constexpr const char *report_footer = R"(
Files are what nw atlas --json wrote. A table for each model, type, m and device, and for each trace, those rows
with most time first; of a launch that is in several lines the last one counts.

total us   us * times: of all layers of the model, or in the trace; share: of that table
of bound   bound_us / time_us; gain: what all launches would take less at their bound
limiter    of the simulated launch, else of the main loop by a static count
sim us, card us   the same launch on the other kind of device, where a file has it)";

} // namespace

void add_atlas(CLI::App &app) {
    auto o = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand(
        "atlas", "Time every kernel of a suite, or read a trace; say by what each is bound");
    command->footer(footer);
    command->add_option("--suite", o->suite, "Which kernels are run")
        ->check(CLI::IsMember({"gguf"}));
    command->add_option("--device", o->run.device,
                        "hip:N, sim:gfx1100, ...; default: NIBBLEWAVE_DEVICE");
    const auto list = [&](const char *name, auto &to, const char *what) {
        return command->add_option(name, to, what)->delimiter(',');
    };
    list("--model", o->run.models, "Models of the suite; default: all");
    list("--type", o->run.types, "Types of weights; default: all")
        ->check(CLI::IsMember({"q4_0", "q8_0", "q4_K", "q6_K"}));
    list("--m", o->run.m, "Rows of activations")->check(CLI::Range(1, 8192))->capture_default_str();
    command->add_option("--only", o->run.only,
                        "Products with a match of this expression in \"MODEL LAYER NxK TYPE mM "
                        "KERNEL\"");
    command->add_option("--shapes", o->run.shapes, "A CSV file of layers")
        ->check(CLI::ExistingFile)
        ->capture_default_str();
    command->add_option("--repeats", o->run.repeats, "Runs on a card, of which the median counts")
        ->check(CLI::Range(2, 1001))
        ->capture_default_str();
    CLI::Option *trace =
        command->add_option("--rocprof", o->trace.trace, "A CSV file of rocprofv3 --kernel-trace");
    command
        ->add_option("--hsaco", o->trace.hsaco,
                     "The code objects that were traced: the directory of manifest.json, or of a "
                     "gfx in it; default: the build's")
        ->needs(trace);
    command->add_option("--gfx", o->trace.gfx, "Which GPU the trace is of")->needs(trace);
    command->add_option("--part", o->trace.part, "The same by its name, \"7900 XTX\"")
        ->needs(trace);
    command->add_option("-o", o->out, "Write JSON lines there");
    command->add_flag("--json", o->json, "Print JSON lines (with -o: no table)");

    auto r = std::make_shared<ReportOptions>();
    CLI::App *ranking = command->add_subcommand(
        "report", "Say where the time goes, by rows that nw atlas --json wrote");
    ranking->footer(report_footer);
    ranking->add_option("file", r->files, "Files of JSON lines")->required();
    ranking->add_flag("--json", r->json, "Print JSON");
    ranking->add_option("--html", r->html, "Write one HTML page there, too");
    command->callback([o, r, ranking] {
        if (ranking->parsed())
            report(*r);
        else
            run(*o);
    });
}

} // namespace nw::cli
