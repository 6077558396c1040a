// SPDX-License-Identifier: MIT
// nw atlas --suite attention: each launch of attention of a model's layers.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/pattern.h"
#include "nw/atlas/facts.h"
#include "nw/atlas/launches.h"
#include "nw/atlas/run.h"
#include "runtime/files.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

constexpr u32 few_queries = 8, cache_keys = 4096;

std::string name_of(const AttentionJob &job) {
    return fmt::format("{} {} m{} k{}", job.of.model, name(job.dtype), job.sq, job.sk);
}

std::vector<AttentionJob> jobs_of(const AtlasRunOptions &o) {
    const Pattern only("--only", o.only);
    std::vector<std::string_view> models;
    std::vector<AttentionJob> out;
    for (const AttentionLayer &of : attention_layers) {
        models.push_back(of.model);
        for (const Dtype dtype : {Dtype::f16, Dtype::bf16})
            for (const u32 m : o.m) {
                const bool few = m <= few_queries;
                const AttentionJob job{of, dtype, m, few ? cache_keys : m, !few};
                if ((o.models.empty() || std::ranges::count(o.models, of.model)) &&
                    only.found_in(name_of(job)))
                    out.push_back(job);
            }
    }
    for (const std::string &model : o.models)
        if (!std::ranges::count(models, model))
            throw Error(fmt::format("--model {}: the suite attention has {}", model,
                                    fmt::join(models, ", ")));
    if (out.empty())
        throw Error(fmt::format("no attention of suite attention matches --m {} --only '{}'{}",
                                fmt::join(o.m, ","), o.only, Pattern::names("--only")));
    return out;
}

// Bytes that a launch must move, and its multiply-adds.
struct Work {
    u64 bytes;
    f64 flop; // by WMMA
};

Work work_of(const AttentionJob &job, const AttentionLaunch &launch) {
    const u64 means = job.blocks() * job.of.hk * job.of.d * 2, scores = 4 * job.list_entries() / 2;
    const f64 products = 2.0 * job.of.h * job.of.d;
    const f64 tiles = static_cast<f64>(job.tiles()), blocks = static_cast<f64>(job.blocks());
    if (launch.op == "mean")
        return {job.k_bytes() + means, 0};
    if (launch.op == "score")
        return {job.q_bytes() + means + scores, products * job.sq * (blocks - (tiles - 1) / 2)};
    if (launch.op == "select")
        return {scores + 4 * job.list_entries(), 0};
    return {2 * job.q_bytes() + 2 * job.k_bytes(),
            launch.op == "decode" ? 0 : 2 * products * job.pairs() * launch.density};
}

AtlasBound bound_of(const AtlasPart &p, const Work &work) {
    constexpr f64 simds_of_wgp = 4, flop_of_wmma = 2 * 16 * 16 * 16;
    AtlasBound out{p.part.launch_overhead};
    out.memory = p.dram_us(work.bytes);
    out.unit = "wmma";
    out.arithmetic = work.flop / flop_of_wmma * p.costs.wmma_f16_interval /
                     (p.part.wgps * simds_of_wgp * p.part.mhz_under(1));
    return out;
}

Json row_of(const hip::DeviceInfo &on, const AtlasPart &part, CodeFacts &facts,
            const AttentionJob &job, const AttentionLaunch &launch, u32 runs) {
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
    const std::vector<AttentionJob> jobs = jobs_of(o);
    const u32 runs = on.simulated ? 1 : o.repeats;
    const std::vector<std::vector<AttentionLaunch>> timed = time_attention(jobs, on, runs);
    const std::string &stats = timed.front().front().stats;
    const AtlasPart part(on.gfx, stats.empty() ? on.name
                                               : Json::parse(stats).at("part").get<std::string>());
    CodeFacts facts(find_directory(on.gfx), part.part);
    std::vector<Json> rows;
    for (u64 i = 0; i < jobs.size(); ++i)
        for (const AttentionLaunch &launch : timed[i])
            rows.push_back(row_of(on, part, facts, jobs[i], launch, runs));
    return rows;
}

} // namespace nw::cli
