// SPDX-License-Identifier: MIT
// nw tune: times every candidate kernel on the shapes of models, and writes the fastest of each.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <mutex>

#include "base/half.h"
#include "base/median.h"
#include "base/progress.h"
#include "formats/row_stride.h"
#include "measure/cold_product.h"
#include "measure/on_cores.h"
#include "nw/commands.h"
#include "nw/manifest.h"
#include "nw/only.h"
#include "nw/product.h"
#include "nw/tune/decide.h"
#include "nw/tune/gguf.h"
#include "nw/tune/inputs.h"
#include "nw/tune/tune.h"
#include "nw/tune/tuning_table.h"
#include "runtime/choose.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;

struct Options : GgufTuning {
    std::string family = "decode_w4a16", candidates;
    std::string only; // regular expression for candidates
    std::vector<std::string> dtypes = {"bf16", "f16"}, groups = {"128", "32"},
                             zeros = {"eight", "packed"};
};

struct Kind {
    std::string family;
    Dtype dtype;
    u32 group;
    Zeros zeros;
    u32 m;
    std::vector<const Kernel *> kernels; // the default first
    std::vector<ProductShape> shapes;

    TunedKind of_table() const {
        const Kernel &k = *kernels.front();
        return {family,
                std::string(k.param("dtype")),
                std::string(k.param("group")),
                std::string(k.param("zeros")),
                "",
                m};
    }
};

Op op_of(const Kind &kind, u32 n, u32 k) {
    return linear_w4a16(kind.dtype, kind.group, kind.zeros, kind.m, n, k);
}

std::string label(const Kind &kind) {
    return fmt::format("{} g{}{}{} m{}", name(kind.dtype), group_name(kind.group),
                       kind.zeros == Zeros::eight ? "" : " ", zeros_name(kind.zeros), kind.m);
}

bool is_for(const Kernel &k, const Kind &kind) {
    constexpr u32 any = 4096; // choice rules need little more than m
    const Op op = op_of(kind, any, any);
    return k.contract->tuning == kind.family && !k.reference && takes(k, op) &&
           k.contract->worth(op, k, usual_machine(k.gfx));
}

std::vector<const Kernel *> kernels_for(const Manifest &manifest, const Options &o,
                                        const Kind &kind) {
    const std::regex only = only_pattern(o.only);
    std::vector<const Kernel *> out;
    for (const Kernel &k : manifest.kernels())
        if (k.gfx == o.gfx && is_for(k, kind) &&
            (!k.candidate || std::regex_search(k.symbol.begin(), k.symbol.end(), only)))
            out.push_back(&k);
    std::ranges::stable_partition(out, [](const Kernel *k) { return !k->candidate; });
    constexpr u32 any = 4096;
    if (const Kernel *standard = cheapest(out, op_of(kind, any, any)))
        std::ranges::stable_partition(out, [&](const Kernel *k) { return k == standard; });
    return out;
}

std::vector<Kind> plan(const Options &o, const Manifest &manifest) {
    const auto shapes = dense_shapes(o.shapes);
    std::vector<Kind> out;
    for (const std::string &dtype : o.dtypes)
        for (const std::string &group : o.groups)
            for (const std::string &zeros : o.zeros)
                for (u32 m : o.m) {
                    Kind kind{o.family,
                              dtype == "bf16" ? Dtype::bf16 : Dtype::f16,
                              parse_group(group),
                              parse_zeros(zeros),
                              m,
                              {},
                              {}};
                    kind.kernels = kernels_for(manifest, o, kind);
                    if (kind.kernels.size() < 2 || kind.kernels.front()->candidate)
                        continue;
                    for (const auto &[n, k] : shapes)
                        if (kind.group == per_row || k % kind.group == 0)
                            kind.shapes.push_back({kind.dtype, kind.zeros, m, n, k, kind.group,
                                                   weight_row_stride(o.gfx, k)});
                    if (!kind.shapes.empty())
                        out.push_back(std::move(kind));
                }
    return out;
}

// Source of the times.
class Clock {
public:
    Clock(const Options &o, fs::path kernels) : options_(o), directory_(std::move(kernels)) {}
    virtual ~Clock() = default;
    virtual std::string name() = 0;
    // Microseconds of each kernel on each shape: [shape][kernel], concatenated.
    virtual std::vector<f64> times(const Kind &) = 0;

protected:
    const Options &options_;
    const fs::path directory_;
};

// On the model one run suffices. Each runs on a cold device, so the order doesn't matter.
class ModelClock : public Clock {
public:
    using Clock::Clock;

    std::string name() override { return model_name(options_.gfx); }

    std::vector<f64> times(const Kind &kind) override {
        const u64 each = kind.kernels.size();
        std::vector<u64> work;
        for (const ProductShape &p : kind.shapes)
            work.insert(work.end(), each, (u64{p.n} * p.k >> 10) * (2 + p.m));
        Progress progress(work.size());
        std::mutex mutex; // of progress
        return on_cores<f64>(work, [&](u64 i) {
            const ProductShape &shape = kind.shapes[i / each];
            const hip::Device device = model_device("sim:" + options_.gfx, work.size());
            const Op op = shape.op();
            const Kernel &kernel = *kind.kernels[i % each];
            const f64 us = ColdProduct(device, {&op, 1}, 1, directory_).us(kernel, op);
            const std::lock_guard lock(mutex);
            progress.advance(1);
            progress.show(fmt::format("{} {}x{}", kernel.symbol, shape.n, shape.k));
            return us;
        });
    }
};

class CardClock : public Clock {
public:
    CardClock(const Options &o, fs::path kernels)
        : Clock(o, std::move(kernels)), device_(o.device) {
        need_gfx(device_, o.gfx);
    }

    std::string name() override { return device_.info().label; }

    std::vector<f64> times(const Kind &kind) override {
        ColdProduct product(device_, ops_of(kind.shapes), ~u64{0}, directory_);
        Progress progress(kind.shapes.size() * kind.kernels.size());
        std::vector<f64> out;
        for (const ProductShape &shape : kind.shapes)
            for (const Kernel *kernel : kind.kernels) {
                progress.show(fmt::format("{} {}x{}", kernel->symbol, shape.n, shape.k));
                out.push_back(median_us(product, *kernel, shape));
                progress.advance(1);
            }
        return out;
    }

private:
    f64 median_us(ColdProduct &product, const Kernel &kernel, const ProductShape &shape) const {
        std::vector<f64> times(options_.repeats);
        for (f64 &us : times)
            us = product.us(kernel, shape.op());
        return upper_median(std::move(times));
    }

    const hip::Device device_;
};

void tune(const Options &o, const std::vector<Kind> &kinds, Clock &clock) {
    const std::string by = clock.name();
    TuningTable table = TuningTable::read(o.out);
    table.write(o.out); // fail early if the file can't be written
    Gain all;
    for (const Kind &kind : kinds) {
        const std::vector<f64> us = clock.times(kind);
        Gain gain;
        for (u64 i = 0; i < kind.shapes.size(); ++i) {
            const ProductShape &p = kind.shapes[i];
            const u64 each = kind.kernels.size();
            const TunedShape row = decide(kind.kernels, std::span(us).subspan(i * each, each), by);
            const std::string_view standard = kind.kernels.front()->symbol;
            gain.add(row, standard, fmt::format("{}x{}", p.n, p.k));
            all.add(row, standard, fmt::format("{}x{} {}", p.n, p.k, label(kind)));
            table.put(kind.of_table(), p.n, p.k, row);
        }
        table.write(o.out);
        fmt::print("{:<16} {}\n", label(kind), gain.text());
        std::fflush(stdout);
    }
    fmt::print("{:<16} {}\n", "all", all.text());
}

void print_plan(const std::vector<Kind> &kinds) {
    u64 runs = 0;
    for (const Kind &kind : kinds) {
        fmt::print("{}: {} shapes, {} kernels\n", label(kind), kind.shapes.size(),
                   kind.kernels.size());
        for (const Kernel *k : kind.kernels)
            fmt::print("    {}{}\n", k->symbol, k == kind.kernels.front() ? ", the default" : "");
        runs += kind.shapes.size() * kind.kernels.size();
    }
    fmt::print("{} products of a kernel and a shape\n", runs);
}

void run(Options o) {
    if (o.out.empty())
        o.out = fmt::format("gen/tuning/{}.toml", o.gfx);
    if (o.family == gguf_table) {
        if (!o.only.empty() || !o.candidates.empty())
            throw Error("--only, --candidates: not for family gguf, which times all strategies of "
                        "the build; leave them out");
        return tune_gguf(o);
    }
    const bool many = o.family == many_rows_table;
    constexpr u32 few_rows = 8;
    if (o.m.empty())
        o.m = many ? std::vector<u32>{16, 32, 64, 128, 256, 512} : std::vector<u32>{1, 2, 4, 8};
    for (u32 m : o.m)
        if (many == (m <= few_rows))
            throw Error(fmt::format("--m {}: {} has kernels for {} rows", m, o.family,
                                    many ? "9 and more" : "1..8"));
    // All tiles are part of the build.
    const std::string target = many ? "all" : "candidates_" + o.gfx;
    const fs::path built(NW_CANDIDATES);
    const fs::path directory = !o.candidates.empty() ? fs::path(o.candidates)
                               : many                ? built.parent_path() / "hsaco"
                                                     : built / o.gfx / "hsaco";
    if (!fs::exists(directory / "manifest.json"))
        throw Error(
            fmt::format("{}: no manifest.json there: build the candidates first, `cmake --build "
                        "build --target {}`",
                        directory.string(), target));
    const Manifest manifest(directory);
    const std::vector<Kind> kinds = plan(o, manifest);
    if (kinds.empty())
        throw Error(fmt::format(
            "{}: no candidates of {} on {} for --dtype {} --group {} --zeros {} --m {}: "
            "asm/*/family.toml lists them, `cmake --build build --target {}` builds "
            "them",
            directory.string(), o.family, o.gfx, fmt::join(o.dtypes, ","), fmt::join(o.groups, ","),
            fmt::join(o.zeros, ","), fmt::join(o.m, ","), target));
    if (o.dry_run)
        return print_plan(kinds);
    const auto begin = std::chrono::steady_clock::now();
    if (o.device.empty() || o.device.starts_with("sim:")) {
        ModelClock clock(o, directory);
        tune(o, kinds, clock);
    } else {
        CardClock clock(o, directory);
        tune(o, kinds, clock);
    }
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

Weights are cold, with the row stride of nw_weight_row_stride. A shape keeps the default unless a candidate is
at least 0.5 % faster. `nw choose` shows the result.)";

} // namespace

void add_tune(CLI::App &app) {
    auto o = std::make_shared<Options>();
    CLI::App *command =
        app.add_subcommand("tune", "Time candidate kernels and write the fastest for each shape");
    command->footer(footer);
    command->add_option("--gfx", o->gfx, "The target")->required();
    command->add_option("--shapes", o->shapes, "A CSV file of layers; only dense ones are tuned")
        ->check(CLI::ExistingFile)
        ->capture_default_str();
    command->add_option("--device", o->device,
                        "The device, as in hip:0; default: the model of the target");
    command
        ->add_option("--family", o->family,
                     "Kernel family; prefill_w4a16: tiles for 9 and more rows, mid_w4a16's too; "
                     "gguf: the strategies for products with GGUF weights")
        ->check(CLI::IsMember(std::vector<std::string>{
            std::string(few_rows_table), std::string(many_rows_table), std::string(gguf_table)}))
        ->capture_default_str();
    const auto list = [&](const char *name, auto &to, const char *what) {
        return command->add_option(name, to, what)->delimiter(',')->capture_default_str();
    };
    list("--dtype", o->dtypes, "Type of activations")->check(CLI::IsMember(dtype_words));
    list("--group", o->groups, "Weights per scale")->check(CLI::IsMember(group_words));
    list("--zeros", o->zeros, "Zero points")->check(CLI::IsMember(zeros_words));
    list("--type", o->types, "Weight types of family gguf")
        ->check(CLI::IsMember(std::vector<std::string>{"q4_0", "q8_0", "q4_K", "q6_K"}));
    list("--m", o->m,
         "Rows of activations; default: 1, 2, 4, 8; for prefill_w4a16 16 to 512 by doubling; for "
         "gguf 1 to 64")
        ->check(CLI::Range(1, 8192));
    command->add_option("--only", o->only,
                        "Only candidates whose symbol matches this regular expression");
    command->add_option("--candidates", o->candidates,
                        "Directory of code objects with their manifest.json");
    command->add_option("--repeats", o->repeats, "Runs on a card; the median is used")
        ->check(CLI::Range(1, 1001))
        ->capture_default_str();
    command->add_option("--out", o->out, "Output table; default: gen/tuning/<gfx>.toml");
    command->add_flag("--dry-run", o->dry_run, "List what would be timed, without timing it");
    command->callback([o] { run(*o); });
}

} // namespace nw::cli
