// SPDX-License-Identifier: MIT
// nw atlas --suite attention: each launch of attention of a model's layers.
#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/half.h"
#include "base/median.h"
#include "base/progress.h"
#include "base/rng.h"
#include "measure/on_cores.h"
#include "nw/atlas/facts.h"
#include "nw/atlas/run.h"
#include "nw/only.h"
#include "runtime/files.h"
#include "runtime/launch.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

constexpr u32 block = 128, few_queries = 8, cache_keys = 4096, topics = 8;

struct Job {
    AttentionLayer of;
    Dtype dtype;
    u32 sq, sk;

    std::string name() const {
        return fmt::format("{} {} m{} k{}", of.model, nw::name(dtype), sq, sk);
    }
    u64 q_bytes() const { return u64{2} * sq * of.h * of.d; }
    u64 k_bytes() const { return u64{2} * sk * of.hk * of.d; }
    u64 tiles() const { return ceil_div(sq, block); }
    u64 blocks() const { return ceil_div(sk, block); }
    u64 lists() const { return of.h * tiles() * blocks(); }
    // Of one head: queries and keys that they see.
    f64 pairs() const { return sq * (sk - (sq - 1) / 2.0); }
};

struct Launch {
    const Kernel *kernel;
    std::string op;
    u32 dynamic_lds;
    f64 us;
    std::string stats; // "" on a card
    f64 density = 1;   // keys that queries attend to, of those before them
};

// Tokens of a block have a part in common, and every eighth block the same.
std::vector<u16> tokens(const Job &job, u32 heads, u64 seed) {
    const Rng common(1), own(seed);
    std::vector<u16> out;
    const u64 row = u64{heads} * job.of.d, count = heads == job.of.h ? job.sq : job.sk;
    for (u64 t = 0; t < count; ++t)
        for (u64 i = 0; i < row; ++i) {
            const u64 topic = (t + job.sk - count) / block % topics;
            const f32 both =
                common.normal_at(topic * job.of.d + i % job.of.d) + own.normal_at(t * row + i);
            out.push_back(round_to(job.dtype, 0.707f * both));
        }
    return out;
}

// The tensors of a job on a device.
class Tensors {
public:
    Tensors(const hip::Device &device, const Job &job)
        : device_(device), job_(job), machine_(machine_of(device)), modules_(device),
          q_(upload(tokens(job, job.of.h, 2))), k_(upload(tokens(job, job.of.hk, 3))),
          v_(upload(tokens(job, job.of.hk, 4))), o_(device.allocate(job.q_bytes())),
          idx_(device.allocate(4 * job.lists())),
          cnt_(device.allocate(4 * job.of.h * job.tiles())) {}

    std::vector<Launch> launches(u32 runs) {
        std::vector<Launch> out;
        Op attention = op(OpKind::attention);
        time(attention, runs, 1, out);
        if (job_.sq <= few_queries)
            return out;
        Op select = op(OpKind::attention_select);
        select.mode = word("canonical"), select.rule = word("peak");
        select.share = std::bit_cast<u32>(0.12f), select.sink = 2, select.window = 4;
        select.all_rows = 0, select.last_full = 2;
        select.idx = attention.idx = address(idx_.data());
        select.cnt = attention.cnt = address(cnt_.data());
        time(select, runs, 1, out);
        time(attention, runs, density(), out);
        out.back().op += ", lists";
        return out;
    }

private:
    hip::Buffer upload(const std::vector<u16> &words) const {
        hip::Buffer out = device_.allocate(2 * words.size());
        out.upload(words.data(), 2 * words.size());
        return out;
    }

    Op op(OpKind kind) const {
        Op op{.kind = kind};
        op.dtype = word_of(job_.dtype), op.kv = word("same");
        op.b = 1, op.sq = job_.sq, op.sk = job_.sk;
        op.h = job_.of.h, op.hk = job_.of.hk, op.d = job_.of.d;
        op.causal = 1, op.scale = std::bit_cast<u32>(1 / std::sqrt(static_cast<f32>(job_.of.d)));
        op.q = address(q_.data()), op.k = address(k_.data()), op.v = address(v_.data());
        op.o = address(o_.data());
        op.q_h = op.k_h = op.v_h = op.o_h = 2 * u64{job_.of.d};
        op.q_s = op.o_s = op.h * op.q_h, op.k_s = op.v_s = op.hk * op.k_h;
        op.q_b = op.o_b = job_.q_bytes(), op.k_b = op.v_b = job_.k_bytes();
        op.pages = 1;
        return op;
    }

    // Each launch of the op, apart.
    void time(Op op, u32 runs, f64 density, std::vector<Launch> &out) {
        op.workspace_bytes = workspace_for_any(op, machine_);
        const std::vector<u8> zeros(std::max<u64>(op.workspace_bytes, 16));
        hip::Buffer workspace = device_.allocate(zeros.size());
        workspace.upload(zeros.data(), zeros.size());
        op.workspace = address(workspace.data());
        const Plan plan = nw::plan(op, machine_, check_shape(op));
        check_operands(plan);
        const hip::Event start = device_.event(), stop = device_.event();
        plan.each([&](const Step &step) {
            modules_.function(*step.kernel);
            std::vector<f64> us;
            for (u32 run = 0; run < runs; ++run) {
                device_.record(start);
                launch(modules_, step);
                device_.record(stop);
                us.push_back(1000 * f64{device_.elapsed_ms(start, stop)});
            }
            const std::string family(step.kernel->family);
            out.push_back({step.kernel, family.substr(family.find('_') + 1), step.dynamic_lds,
                           upper_median(us), "", density});
            if (const std::vector<std::string> lines = device_.take_stats(); !lines.empty())
                out.back().stats = last_atlas_stats(lines, *step.kernel);
        });
    }

    f64 density() const {
        std::vector<i32> cnt(job_.of.h * job_.tiles());
        cnt_.download(cnt.data(), 4 * cnt.size());
        f64 listed = 0;
        for (i32 count : cnt)
            listed += count;
        const f64 tiles = static_cast<f64>(job_.tiles()), blocks = static_cast<f64>(job_.blocks());
        return listed / (job_.of.h * tiles * (blocks - (tiles - 1) / 2));
    }

    const hip::Device &device_;
    const Job &job_;
    const Machine machine_;
    Modules modules_;
    hip::Buffer q_, k_, v_, o_, idx_, cnt_;
};

std::vector<Job> jobs_of(const AtlasRunOptions &o) {
    const std::regex only = only_pattern(o.only);
    std::vector<std::string_view> models;
    std::vector<Job> out;
    for (const AttentionLayer &of : attention_layers) {
        models.push_back(of.model);
        for (const Dtype dtype : {Dtype::f16, Dtype::bf16})
            for (const u32 m : o.m) {
                const Job job{of, dtype, m, m <= few_queries ? cache_keys : m};
                if ((o.models.empty() || std::ranges::count(o.models, of.model)) &&
                    std::regex_search(job.name(), only))
                    out.push_back(job);
            }
    }
    for (const std::string &model : o.models)
        if (!std::ranges::count(models, model))
            throw Error(fmt::format("--model {}: the suite attention has {}", model,
                                    fmt::join(models, ", ")));
    if (out.empty())
        throw Error(fmt::format("no attention of suite attention matches --m {} --only '{}'",
                                fmt::join(o.m, ","), o.only));
    return out;
}

// What a launch has to move, and its products.
struct Work {
    u64 bytes;
    f64 flop; // by WMMA
};

Work work_of(const Job &job, const Launch &launch) {
    const u64 means = job.blocks() * job.of.hk * job.of.d * 2, scores = 4 * job.lists() / 2;
    const f64 products = 2.0 * job.of.h * job.of.d;
    const f64 tiles = static_cast<f64>(job.tiles()), blocks = static_cast<f64>(job.blocks());
    if (launch.op == "mean")
        return {job.k_bytes() + means, 0};
    if (launch.op == "score")
        return {job.q_bytes() + means + scores, products * job.sq * (blocks - (tiles - 1) / 2)};
    if (launch.op == "select")
        return {scores + 4 * job.lists(), 0};
    return {2 * job.q_bytes() + 2 * job.k_bytes(),
            launch.op == "decode" ? 0 : 2 * products * job.pairs() * launch.density};
}

AtlasBound bound_of(const AtlasPart &p, const Work &work) {
    constexpr f64 simds_of_wgp = 4, flop_of_wmma = 2 * 16 * 16 * 16;
    AtlasBound out{p.part.launch_overhead};
    out.memory =
        static_cast<f64>(work.bytes) / 1e3 / (p.part.dram_gb_per_s * p.part.dram_efficiency);
    out.unit = "wmma";
    out.arithmetic = work.flop / flop_of_wmma * p.costs.wmma_f16_interval /
                     (p.part.wgps * simds_of_wgp * p.part.shader_mhz);
    return out;
}

Json row_of(const hip::DeviceInfo &on, const AtlasPart &part, CodeFacts &facts, const Job &job,
            const Launch &launch, u32 runs) {
    const Work work = work_of(job, launch);
    Json metrics = {{"time_us", launch.us}, {"runs", runs}, {"bytes", work.bytes}};
    add_atlas_draws(metrics, launch.stats);
    metrics["gb_per_s"] = static_cast<f64>(work.bytes) / launch.us / 1e3;
    if (work.flop > 0)
        metrics["tflops"] = work.flop / launch.us / 1e6;
    metrics.update(atlas_bounds(bound_of(part, work), launch.us));
    Json out = {{"schema", atlas_schema},
                {"source", "suite attention"},
                {"device", on.simulated ? "sim" : "card"},
                {"device_name", on.label},
                {"part", part.part.name},
                {"part_assumed", part.assumed},
                {"gfx", on.gfx},
                {"commit", atlas_commit()},
                {"kernel", launch.kernel->symbol},
                {"workload",
                 {{"suite", "attention"},
                  {"phase", atlas_phase(job.sq)},
                  {"model", job.of.model},
                  {"layer", "attention"},
                  {"op", launch.op},
                  {"type", name(job.dtype)},
                  {"m", job.sq},
                  {"k", job.sk},
                  {"h", job.of.h},
                  {"hk", job.of.hk},
                  {"d", job.of.d},
                  {"density", launch.density},
                  {"count", job.of.layers}}},
                {"metrics", metrics}};
    out["code_object"] =
        facts.of(std::string(launch.kernel->symbol), launch.kernel->block, launch.dynamic_lds);
    add_atlas_launch(out, launch.stats);
    return out;
}

} // namespace

std::vector<Json> atlas_attention(const AtlasRunOptions &o) {
    const hip::DeviceInfo on = find_atlas_device(o.device);
    const std::vector<Job> jobs = jobs_of(o);
    const u32 runs = on.simulated ? 1 : o.repeats;
    std::vector<std::vector<Launch>> timed;
    if (on.simulated) {
        std::vector<u64> work;
        for (const Job &job : jobs)
            work.push_back(u64{job.sq} * job.sk * job.of.h * job.of.d);
        timed = on_cores<std::vector<Launch>>(work, [&](u64 i) {
            const hip::Device device = model_device(on.spec, work.size(), "stats=on");
            return Tensors(device, jobs[i]).launches(runs);
        });
    } else {
        const hip::Device device(on.spec);
        for (const Job &job : jobs)
            timed.push_back(Tensors(device, job).launches(runs));
    }
    const std::string &stats = timed.front().front().stats;
    const AtlasPart part(on.gfx, stats.empty() ? on.name
                                               : Json::parse(stats).at("part").get<std::string>());
    CodeFacts facts(find_directory(on.gfx), part.part);
    std::vector<Json> rows;
    for (u64 i = 0; i < jobs.size(); ++i)
        for (const Launch &launch : timed[i])
            rows.push_back(row_of(on, part, facts, jobs[i], launch, runs));
    return rows;
}

} // namespace nw::cli
