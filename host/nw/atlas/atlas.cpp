// SPDX-License-Identifier: MIT
// nw atlas: time, limiter and code object facts of every kernel of a suite.
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "measure/draws.h"
#include "nw/atlas/report.h"
#include "nw/atlas/rocprof.h"
#include "nw/atlas/run.h"
#include "nw/code_object.h"
#include "nw/commands.h"
#include "nw/product.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

struct Options {
    std::string suite, out;
    AtlasRunOptions run;
    AtlasTraceOptions trace;
    bool uncertainty = false, json = false;

    std::vector<Json> rows() const {
        return suite.empty()          ? atlas_rocprof(trace)
               : suite == "attention" ? atlas_attention(run)
                                      : atlas_run(run);
    }
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

void run(const Options &o) {
    if (o.suite.empty() == o.trace.trace.empty())
        throw Error("give --suite gguf or --suite attention to run its kernels, --rocprof "
                    "TRACE.csv to read a trace, or "
                    "the subcommand report; see nw atlas --help");
    if (o.uncertainty)
        draw_constants();
    const std::vector<Json> rows = o.rows();
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
  nw atlas --suite attention --device sim:gfx1201                    attention of a drafter and of a model
  rocprofv3 --kernel-trace --output-format csv -d t -- PROGRAM       trace a PROGRAM that uses these kernels, then:
  nw atlas --rocprof t/HOST/PID_kernel_trace.csv --gfx gfx1100 --json -o trace.jsonl
  nw atlas report sim.jsonl card.jsonl trace.jsonl                   rank kernels; joins equal launches

Prints a table, or with --json (and no -o) one JSON object per line. Its keys (schema nibblewave.atlas.v1):
  source, device   "suite gguf", "suite attention" or "rocprof"; "sim" (modelled time, not measured) or "card"
  device_name, part, gfx, commit, kernel
                   part: whose constants the bounds use; part_assumed: the default part of the gfx, because
                   the card's name is unknown. commit: of this program's sources, with -dirty if modified;
                   null without a git checkout. kernel: the symbol
  workload         phase: decode (m = 1), verify (2 to 32: a draft's tokens) or prefill; model, layer, count: from
                   bench/shapes.csv, count launches per token; op: product, or activations (the
                   conversion before it, quantize_q8 or gguf_halves); type: the weights' type; m, n, k: sizes
                   of C[m, n]; shape_bucket: m, n, k rounded up to powers of two. MoE: m tokens are routed to
                   top_k random experts each; experts_met: experts with at least one token; n, k: of one expert;
                   gate_up is one half, since files store gate and up separately; op lists: moe_align.
                   Attention: m queries, k keys, h query heads, hk key heads, head size d; op: forward or
                   decode, mean, score, select, and forward over their lists; density: share of the earlier
                   keys that queries attend to; count: layers of this shape; bounds: memory (operands from
                   DRAM once, even if the previous launch left them in caches) and wmma (the products).
                   Trace: family and params as in manifest.json; type, m, phase if the kernel
                   implies them; a trace has no shapes
  metrics          time_us: one launch with cold weights; for a trace the mean. bytes: the weights (of
                   experts_met), or the bytes read and written for activations and lists. gb_per_s, tflops
                   (2 n k per row) follow. bounds_us: launch, an empty launch; memory, the weights at
                   sustained DRAM bandwidth; dot4 or wmma, the arithmetic at its peak rate, for WMMA with
                   rows (of an expert) padded to 16. bound_us: launch plus the largest of the others, which
                   bound names; share_of_bound: bound_us / time_us.
                   Bounds use the timing model's constants (nw constants), also for a card.
                   layers_us: all layers of the model, activations included; share_of_layers: count *
                   time_us / layers_us; both absent if --only excluded layers.
                   With --uncertainty: time_low_us, time_high_us, and draws_us, the time under each draw.
                   Trace: calls, total_us, min_us, max_us, trace_us, share_of_trace
  code_object      md5 of the file; vgprs, sgprs, lds_bytes, dynamic_lds_bytes (null: unknown),
                   scratch_bytes, waves_per_simd (maximum) and occupancy_limiter; limiter: from the simulated
                   launch, else from a static count of the main loop (limiter_of says which);
                   mix: instructions by class. null for other libraries' kernels (see note)
  launch           sim only, from HIPSIM_STATS: instructions, busy cycles, stalls, DRAM bytes
  trace            trace only: its file, its registers and LDS; grids: number of different grids)";

constexpr const char *report_footer = R"(
Reads files that nw atlas --json wrote. Prints a table for each model, type, m and device, and for each trace,
longest total time first. If a launch is in several lines, the last one is used.

total us   us * times, for all layers of the model or the whole trace; share: part of the table's sum
of bound   bound_us / time_us; gain: time saved if all launches ran at their bound
low us, high us  extremes over draws of the model's constants, with --uncertainty
limiter    from the simulated launch, else from a static count of the main loop
sim us, card us   the same launch on the other kind of device, if a file has it)";

} // namespace

void add_atlas(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "atlas", "Time the kernels of a suite or read a trace, and show what bounds each");
    command.footer = footer;
    command.add("--suite", &o->suite, "The suite to run", {.one_of = {"gguf", "attention"}});
    command.add("--device", &o->run.device, "hip:N, sim:gfx1100, ...; default: NIBBLEWAVE_DEVICE");
    command.add("--model", &o->run.models, "Models of the suite; default: all",
                {.comma_separated = true});
    command.add("--type", &o->run.types, "Types of weights; default: all",
                {.comma_separated = true, .one_of = gguf_words});
    command.add("--m", &o->run.m,
                "Rows of activations; suite attention: queries, up to 8 against a cache of 4096 "
                "keys, more as a whole sequence, default 1,2048",
                {.comma_separated = true, .range = {1, 8192}, .show_default = true});
    command.add("--only", &o->run.only,
                "Only products whose line matches this regular expression: \"MODEL LAYER "
                "NxK TYPE mM KERNEL\"");
    command.add("--shapes", &o->run.shapes, "A CSV file of layers",
                {.existing_file = true, .show_default = true});
    command.add("--repeats", &o->run.repeats, "Runs on a card; the median is reported",
                {.range = {2, 1001}, .show_default = true});
    command.add("--rocprof", &o->trace.trace, "A CSV file of rocprofv3 --kernel-trace");
    command.add(
        "--hsaco", &o->trace.hsaco,
        "Directory of the traced code objects: one with manifest.json, or its folder of one "
        "gfx; default: the build's",
        {.needs = {"--rocprof"}});
    command.add("--gfx", &o->trace.gfx, "The gfx that was traced", {.needs = {"--rocprof"}});
    command.add("--part", &o->trace.part, "The traced GPU by name, as in \"7900 XTX\"",
                {.needs = {"--rocprof"}});
    command.add("--uncertainty", &o->uncertainty,
                fmt::format("On a simulated device: times with low and high, by {}", draws_help));
    command.add("-o", &o->out, "Write JSON lines to this file", {.writable_file = true});
    command.add("--json", &o->json, "Print JSON lines (with -o: no table)");

    auto r = std::make_shared<ReportOptions>();
    Command &ranking = command.add_subcommand(
        "report", "Rank kernels by time, from rows that nw atlas --json wrote");
    ranking.footer = report_footer;
    ranking.add("file", &r->files, "Files of JSON lines", {.required = true});
    ranking.add("--json", &r->json, "Print JSON");
    ranking.add("--html", &r->html, "Also write one HTML page to this file",
                {.writable_file = true});
    ranking.run = [r] { report(*r); };
    command.run = [o, &command] {
        if (o->suite == "attention" && !command.given("--m"))
            o->run.m = {1, 2048};
        run(*o);
    };
}

} // namespace nw::cli
