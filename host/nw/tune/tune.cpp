// SPDX-License-Identifier: MIT
// nw tune: times every candidate kernel on the shapes of models, and writes the fastest of each.
#include <chrono>
#include <fmt/format.h>
#include <memory>

#include "base/writable.h"
#include "nw/commands.h"
#include "nw/product.h"
#include "nw/tune/clock.h"
#include "nw/tune/decide.h"
#include "nw/tune/plan.h"

namespace nw::cli {

namespace {

void tune(const TuneOptions &o, const TunePlan &plan, TuningTable table, Clock &clock) {
    const std::string by = clock.name();
    const f64 least_gain = clock.least_gain();
    need_writable(o.out);
    Gain all;
    for (const TuneKind &kind : plan.kinds) {
        const std::vector<f64> us = clock.times(kind.jobs);
        Gain gain;
        u64 at = 0;
        for (const TuneJob &job : kind.jobs) {
            const u64 count = job.kernels.size();
            const TunedShape row =
                decide(job.kernels, std::span(us).subspan(at, count), by, least_gain);
            at += count;
            const std::string_view standard = job.kernels.front()->symbol;
            gain.add(row, standard, job.text());
            all.add(row, standard, fmt::format("{} {}", job.text(), kind.label));
            table.put(kind.section, job.n, job.k, row);
        }
        if (!o.all_rows)
            table.thin(kind.section, least_gain);
        table.write(o.out);
        fmt::print("{:<16} {}\n", kind.label, gain.text());
        std::fflush(stdout);
    }
    fmt::print("{:<16} {}\n", "all", all.text());
}

void print_plan(const TunePlan &plan) {
    u64 runs = 0;
    for (const TuneKind &kind : plan.kinds)
        for (const TuneJob &job : kind.jobs) {
            fmt::print("{} {}:", kind.label, job.text());
            for (const Kernel *k : job.kernels)
                fmt::print(" {}{}", k->symbol, k == job.kernels.front() ? ", the default" : "");
            fmt::print("\n");
            runs += job.kernels.size();
        }
    fmt::print("{} products of a kernel and a shape\n", runs);
}

void run(TuneOptions o) {
    if (o.out.empty())
        o.out = fmt::format("gen/tuning/{}.toml", o.gfx);
    TuningTable table = TuningTable::read(o.out);
    const TunePlan what = plan(o, table);
    if (o.dry_run)
        return print_plan(what);
    const auto begin = std::chrono::steady_clock::now();
    tune(o, what, std::move(table), *make_clock(o.gfx, o.device, what.kernels, o.repeats));
    const std::chrono::duration<f64> took = std::chrono::steady_clock::now() - begin;
    fmt::print("written to {} in {:.0f} s; the next build has it\n", o.out, took.count());
}

constexpr const char *footer = R"(
  cmake --build build --target candidates_gfx1151        builds the candidates
  nw tune --gfx gfx1151                                  on the model, all cores
  nw tune --gfx gfx1151 --device hip:0                   on the card
  nw tune --gfx gfx1151 --m 1 --dtype bf16 --group 128   only these; keeps the file's other rows
  nw tune --gfx gfx1151 --family prefill_w4a16 --group 128 --shapes few.csv   tiles for many rows
  nw tune --gfx gfx1151 --family gguf --type q4_K --shapes few.csv            GGUF strategies
  nw tune --gfx gfx1151 --family gguf --again            the table's rows, after a change

Weights are cold, with the row stride of nw_weight_row_stride. A shape keeps the default unless a candidate is
at least 3.5 % faster, which is the model's mean error, or 0.5 % on a card. Rows without which the others, and the
default, say the same are left out. `nw choose` shows the result.)";

void add_options(Command &command, TuneOptions &o) {
    command.add("--gfx", &o.gfx, "The target", {.required = true});
    command.add("--shapes", &o.shapes, "A CSV file of layers; only dense ones are tuned",
                {.existing_file = true, .show_default = true});
    command.add("--device", &o.device, "The device, as in hip:0; default: the model of the target");
    command.add("--family", &o.family,
                "Kernel family; prefill_w4a16: tiles for 9 and more rows, mid_w4a16's too; "
                "gguf: the strategies for products with GGUF weights",
                {.one_of = {std::string(few_rows_table), std::string(many_rows_table),
                            std::string(gguf_table)},
                 .show_default = true});
    command.add("--dtype", &o.dtypes, "Types of activations; default: both",
                {.comma_separated = true, .one_of = dtype_words});
    command.add("--group", &o.groups, "Weights per scale; default: 128,32",
                {.comma_separated = true, .one_of = group_words});
    command.add("--zeros", &o.zeros, "Zero points; default: eight,packed",
                {.comma_separated = true, .one_of = zeros_words});
    command.add("--type", &o.types, "Weight types of family gguf; default: q4_K",
                {.comma_separated = true, .one_of = gguf_words});
    command.add(
        "--m", &o.m,
        "Rows of activations; default: 1, 2, 4, 8; for prefill_w4a16 16 to 512 by doubling; for "
        "gguf 1 to 64",
        {.comma_separated = true, .range = {1, 8192}});
    command.add("--only", &o.only, "Only candidates whose symbol matches this regular expression");
    command.add("--candidates", &o.candidates,
                "Directory of code objects with their manifest.json");
    command.add("--repeats", &o.repeats, "Runs on a card; the median is used",
                {.range = {1, 1001}, .show_default = true});
    command.add("--all-rows", &o.all_rows,
                "Write a row for each shape, also where the others, or the default, say the same");
    command.add("--out", &o.out, "Output table; default: gen/tuning/<gfx>.toml",
                {.writable_file = true});
    command.add("--again", &o.again,
                "Time the table's rows again, each with its chosen kernel, the best other one and "
                "the default. Without --dtype, --group, --zeros, --type, --m: all rows",
                {.excludes = {"--shapes", "--only"}});
    command.add("--dry-run", &o.dry_run, "List the candidates without timing them");
}

} // namespace

void add_tune(Command &app) {
    auto o = std::make_shared<TuneOptions>();
    Command &command =
        app.add_subcommand("tune", "Time candidate kernels and write the fastest for each shape");
    command.footer = footer;
    add_options(command, *o);
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
