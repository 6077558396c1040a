// SPDX-License-Identifier: MIT
#include "cli/atlas_run.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <map>
#include <set>
#include <unistd.h>

#include "base/error.h"
#include "base/processes.h"
#include "base/progress.h"
#include "cli/atlas_facts.h"
#include "cli/only.h"
#include "formats/linear_shapes.h"
#include "kernels/files.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

// Of a process that opens no device itself: those that it forks will.
struct DeviceFacts {
    char spec[32] = "", gfx[16] = "", name[128] = "", label[128] = "";
    bool simulated = false;
    u32 compute_units = 0;
};

template <u64 size> void copy(const std::string &from, char (&to)[size]) {
    to[from.copy(to, size - 1)] = 0;
}

DeviceFacts find_device(const std::string &spec) {
    return in_processes<DeviceFacts>({1},
                                     [&](u64) {
                                         const hip::DeviceInfo info = hip::Device(spec).info();
                                         if (!info.note.empty())
                                             fmt::print(stderr, "nw: {}\n", info.note);
                                         DeviceFacts out;
                                         copy(info.spec, out.spec), copy(info.gfx, out.gfx),
                                             copy(info.name, out.name);
                                         copy(info.label, out.label);
                                         out.simulated = info.simulated,
                                         out.compute_units = info.compute_units;
                                         return out;
                                     })
        .front();
}

// A product that is timed once, for all layers of its shape.
struct Job {
    GgufKernels kernels;
    GgufShape shape;
};

struct Planned {
    LinearShape layer;
    u64 job;
};

struct Plan {
    std::vector<Job> jobs;
    std::vector<Planned> rows;
    std::set<std::string> complete; // "MODEL TYPE M" of which no layer is left out
};

std::string set_name(const LinearShape &layer, const GgufShape &shape) {
    return fmt::format("{} {} {}", layer.model, shape.type, shape.m);
}

class Planner {
public:
    Planner(const AtlasRunOptions &o, const DeviceFacts &on)
        : o_(o), gfx_(on.gfx), only_(only_pattern(o.only)) {}

    Plan plan() {
        for (const std::string &model : o_.models)
            if (std::ranges::find(gguf_models, model) == gguf_models.end())
                throw Error(fmt::format("--model {}: the suite gguf has {}", model,
                                        fmt::join(gguf_models, ", ")));
        for (const LinearShape &layer : read_shapes(o_.shapes))
            if (!layer.moe && layer.count && chosen(gguf_models, layer.model) &&
                chosen(o_.models, layer.model))
                for (const GgufBlocks &blocks : gguf_types())
                    if (chosen(o_.types, blocks.type))
                        for (u32 m : o_.m)
                            add(layer, {blocks.type, m, layer.n, layer.k});
        for (const auto &[what, count] : missing_)
            fmt::print(stderr, "nw: {}: no kernel for it on {}, left out\n", what, gfx_);
        if (out_.rows.empty())
            throw Error(fmt::format("{}: it has no product of the suite gguf for --model {} --type "
                                    "{} --m {} --only '{}' that {} has a kernel for",
                                    o_.shapes, fmt::join(o_.models, ","), fmt::join(o_.types, ","),
                                    fmt::join(o_.m, ","), o_.only, gfx_));
        for (const std::string &cut : cut_)
            out_.complete.erase(cut);
        return std::move(out_);
    }

private:
    static bool chosen(const auto &words, std::string_view word) {
        return std::ranges::empty(words) ||
               std::ranges::find(words, word) != std::ranges::end(words);
    }

    void add(const LinearShape &layer, const GgufShape &shape) {
        if (shape.k % gguf_blocks(shape.type).elements) {
            ++missing_[fmt::format("{} at rows of {} weights", shape.type, shape.k)];
            cut_.insert(set_name(layer, shape));
            return;
        }
        const GgufKernels kernels = choose_gguf_kernels(gfx_, shape);
        if (!kernels) {
            ++missing_[fmt::format("{} at {} rows", shape.type, shape.m)];
            return;
        }
        const std::string name =
            fmt::format("{} {} {}x{} {} m{} {}", layer.model, layer.layer, shape.n, shape.k,
                        shape.type, shape.m, kernels.product->symbol);
        if (!std::regex_search(name, only_)) {
            cut_.insert(set_name(layer, shape));
            return;
        }
        const auto key = std::tuple(shape.type, shape.m, shape.n, shape.k);
        const auto [at, fresh] = seen_.emplace(key, out_.jobs.size());
        if (fresh)
            out_.jobs.push_back({kernels, shape});
        out_.rows.push_back({layer, at->second});
        out_.complete.insert(set_name(layer, shape));
    }

    const AtlasRunOptions &o_;
    const std::string gfx_;
    const std::regex only_;
    Plan out_;
    std::map<std::tuple<std::string_view, u32, u32, u32>, u64> seen_;
    std::map<std::string, u32> missing_;
    std::set<std::string> cut_;
};

struct Timed {
    GgufTimes times;
    // What the simulated GPU says of both launches, as HIPSIM_STATS has it; empty on a card.
    char product[6000] = "", convert[6000] = "";
};

// A file for HIPSIM_STATS. Make it before the device is opened.
class StatsFile {
public:
    StatsFile() {
        path_ = (fs::temp_directory_path() / "nw_atlas_stats_XXXXXX").string();
        const int file = mkstemp(path_.data());
        if (file < 0)
            throw Error(fmt::format("{}: can't be created", path_));
        close(file);
        setenv("HIPSIM_STATS", path_.c_str(), 1);
    }
    ~StatsFile() {
        std::error_code ignored;
        fs::remove(path_, ignored);
    }
    StatsFile(const StatsFile &) = delete;

    // Of the kernel's last launch.
    template <u64 size> void last(const Kernel &kernel, char (&to)[size]) const {
        const std::string begin = fmt::format("{{\"kernel\":\"{}\"", kernel.symbol);
        std::string found;
        std::ifstream in(path_);
        for (std::string line; std::getline(in, line);)
            if (line.starts_with(begin))
                found = line;
        if (found.empty() || found.size() >= size)
            throw Error(fmt::format("{}: HIPSIM_STATS has {} bytes of it, 1 to {} are expected",
                                    kernel.symbol, found.size(), size - 1));
        copy(found, to);
    }

private:
    std::string path_;
};

std::vector<Timed> time_on_model(const std::vector<Job> &jobs, const DeviceFacts &on) {
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<u64> work;
    for (const Job &job : jobs)
        work.push_back(job.shape.weight_bytes() * (2 + job.shape.m));
    return in_processes<Timed>(work, [&](u64 i) {
        const StatsFile stats;
        const hip::Device device(on.spec);
        const Job &job = jobs[i];
        Timed out{time_gguf_product(device, job.kernels, job.shape)};
        stats.last(*job.kernels.product, out.product);
        stats.last(*job.kernels.convert, out.convert);
        return out;
    });
}

std::vector<Timed> time_on_card(const std::vector<Job> &jobs, const DeviceFacts &on, u32 repeats) {
    const hip::Device device(on.spec);
    Progress progress(jobs.size());
    std::vector<Timed> out;
    for (const Job &job : jobs) {
        progress.show(
            fmt::format("{} {}x{}", job.kernels.product->symbol, job.shape.n, job.shape.k));
        out.push_back({time_gguf_product(device, job.kernels, job.shape, repeats)});
        progress.advance(1);
    }
    return out;
}

// Shapes of about the same size, whatever the model; activations are the same for any n.
std::string shape_bucket(const GgufShape &p, bool activations) {
    const std::string n = activations ? "" : fmt::format("n{} ", std::bit_ceil(p.n));
    return fmt::format("m{} {}k{}", std::bit_ceil(p.m), n, std::bit_ceil(p.k));
}

Json workload_json(const LinearShape &layer, const GgufShape &p, bool activations) {
    Json out = {{"suite", "gguf"},
                {"phase", atlas_phase(p.m)},
                {"model", layer.model},
                {"layer", layer.layer},
                {"op", activations ? "activations" : "product"},
                {"type", p.type},
                {"m", p.m}};
    if (!activations)
        out["n"] = p.n;
    out["k"] = p.k;
    out["count"] = layer.count;
    out["shape_bucket"] = shape_bucket(p, activations);
    return out;
}

Json bound_json(const AtlasBound &bound, f64 us) {
    Json parts = {{"launch", bound.launch}};
    if (!bound.unit.empty())
        parts.update({{"memory", bound.memory}, {std::string(bound.unit), bound.arithmetic}});
    return {{"bound_us", bound.us()},
            {"bound", bound.name()},
            {"bounds_us", parts},
            {"share_of_bound", bound.us() / us}};
}

// Of products the bytes of the weights, which are in no cache; of activations what is read and
// written, which may be.
Json metrics_json(const Job &job, f64 us, u32 runs, const AtlasBound &bound, bool activations) {
    const GgufShape &p = job.shape;
    const u64 bytes =
        activations ? u64{4} * p.m * p.k + gguf_activation_bytes(job.kernels, p) : p.weight_bytes();
    Json out = {{"time_us", us}, {"runs", runs}, {"bytes", bytes}};
    out["gb_per_s"] = static_cast<f64>(bytes) / us / 1e3;
    if (!activations)
        out["tflops"] = 2.0 * p.m * p.n * p.k / us / 1e6;
    out.update(bound_json(bound, us));
    return out;
}

// What only a launch tells.
void add_launch(Json &row, const char *stats) {
    if (!*stats)
        return;
    const Json line = Json::parse(stats);
    Json &facts = row["code_object"];
    facts["limiter"] = line.at("limiter");
    facts["limiter_of"] = "launch (sim)";
    Json launch = Json::object();
    for (const char *key : {"grid", "lds_bytes", "occupancy", "insts", "bytes", "stalls", "simds",
                            "cycles", "busy", "dram_read", "dram_write", "l2_hit_rate",
                            "mall_hit_rate", "groups_timed", "sampling_error"})
        launch[key] = line.at(key);
    row["launch"] = launch;
}

class Writer {
public:
    Writer(const AtlasRunOptions &o, const DeviceFacts &on, const Plan &plan,
           const std::vector<Timed> &timed)
        : on_(on), plan_(plan), timed_(timed), runs_(on.simulated ? 1 : o.repeats),
          part_(on.gfx, on.simulated ? part_said(timed) : on.name),
          facts_(find_directory(on.gfx), part_.part), commit_(atlas_commit()) {
        for (const Planned &p : plan.rows)
            layers_us_[set_name(p.layer, job(p).shape)] +=
                p.layer.count * (timed[p.job].times.us + timed[p.job].times.convert_us);
    }

    std::vector<Json> rows() {
        std::vector<Json> out;
        for (const Planned &p : plan_.rows) {
            out.push_back(row(p, true));
            out.push_back(row(p, false));
        }
        return out;
    }

private:
    static std::string part_said(const std::vector<Timed> &timed) {
        return Json::parse(timed.front().product).at("part").get<std::string>();
    }
    const Job &job(const Planned &p) const { return plan_.jobs[p.job]; }

    Json row(const Planned &p, bool activations) {
        const auto &[kernels, shape] = job(p);
        const Timed &timed = timed_[p.job];
        const Kernel &kernel = activations ? *kernels.convert : *kernels.product;
        const f64 us = activations ? timed.times.convert_us : timed.times.us;
        const AtlasBound bound = activations ? AtlasBound{part_.part.launch_overhead}
                                             : product_bound(part_, kernels, shape);
        Json out = {{"schema", atlas_schema},
                    {"source", "suite gguf"},
                    {"device", on_.simulated ? "sim" : "card"},
                    {"device_name", on_.label},
                    {"part", part_.part.name},
                    {"part_assumed", part_.assumed},
                    {"gfx", on_.gfx},
                    {"commit", commit_},
                    {"kernel", kernel.symbol},
                    {"workload", workload_json(p.layer, shape, activations)},
                    {"metrics", metrics_json(job(p), us, runs_, bound, activations)}};
        if (const std::string set = set_name(p.layer, shape); plan_.complete.contains(set)) {
            out["metrics"]["layers_us"] = layers_us_.at(set);
            out["metrics"]["share_of_layers"] = p.layer.count * us / layers_us_.at(set);
        }
        const u32 lds = activations ? 0 : gguf_dynamic_lds(kernels, shape, on_.compute_units);
        out["code_object"] = facts_.of(std::string(kernel.symbol), kernel.block, lds);
        add_launch(out, activations ? timed.convert : timed.product);
        return out;
    }

    const DeviceFacts &on_;
    const Plan &plan_;
    const std::vector<Timed> &timed_;
    const u32 runs_;
    const AtlasPart part_;
    CodeFacts facts_;
    const Json commit_;
    std::map<std::string, f64> layers_us_; // of all layers of a model
};

} // namespace

std::vector<Json> atlas_run(const AtlasRunOptions &o) {
    const DeviceFacts on = find_device(o.device);
    const Plan plan = Planner(o, on).plan();
    const std::vector<Timed> timed =
        on.simulated ? time_on_model(plan.jobs, on) : time_on_card(plan.jobs, on, o.repeats);
    return Writer(o, on, plan, timed).rows();
}

} // namespace nw::cli
