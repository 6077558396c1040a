// SPDX-License-Identifier: MIT
// The suite attention: time of each launch of block-sparse attention in a layer of a model, and the
// time to a first token.
#include <algorithm>
#include <fmt/format.h>

#include "bench/attention/layer.h"
#include "bench/attention/tables.h"
#include "bench/product.h"
#include "check/ops.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

constexpr Rule usual_rule = {"peak", 0.12f};
// Queries of a selection that are timed. Launches before the forward are short: with fewer queries
// their start and end would be scaled up with the sequence. Selected lists vary in length: with
// fewer queries the forward would end with a few long ones.
constexpr u32 selection_rows = 8192;

struct Job {
    AttentionLayer of;
    Dtype dtype;
    u32 s;
    f64 density;                            // of random lists; 0: as selected
    ContextShape slice;                     // whose heads the forward is timed of
    std::vector<std::string_view> launches; // that there are rows of

    bool has(std::string_view launch) const {
        return std::ranges::find(launches, launch) != launches.end();
    }
    ContextShape tensors() const { return {of.h, of.hk, of.d, slice.sq, slice.sk}; }
    bool selected() const { return density == 0; }
    std::string lists() const {
        return selected() ? "selected" : fmt::format("{:.0f}%", 100 * density);
    }
    std::string name() const {
        return fmt::format("stages {} {} {} {}", s, of.model, nw::name(dtype), lists());
    }
};

struct Stage {
    std::string_view name;
    Timed timed;
    f64 whole; // launches over the whole sequence by those over the slice: their work
    f64 flop;  // of the slice
};

struct Stages {
    std::vector<Stage> stages;
    f64 density = 0;
};

// Blocks of queries times blocks of keys that they see.
f64 block_pairs(u32 queries, u32 keys) {
    const f64 tiles = queries / attention_block, blocks = keys / attention_block;
    return tiles * (blocks - tiles) + tiles * (tiles + 1) / 2;
}

Stages time_job(const Job &job, const std::string &gfx, const hip::Device &device) {
    const auto &[h, hk, d, sq, sk] = job.slice;
    LayerOnDevice layer(device, gfx, job.dtype, Context(job.dtype, job.tensors()));
    Stages out;
    BlockLists lists;
    if (job.selected()) {
        const f64 whole = block_pairs(job.s, job.s) / block_pairs(sq, sk);
        out.stages.push_back({"mean", layer.mean(), 1.0 * job.s / sk, 0});
        out.stages.push_back(
            {"score", layer.score(), whole, 2.0 * d * attention_block * h * block_pairs(sq, sk)});
        out.stages.push_back({"select", layer.select(usual_rule), whole, 0});
        lists = layer.lists();
    } else {
        lists = random_lists(job.slice, job.density);
        layer.set_lists(lists);
    }
    out.density = lists.pairs / seen_pairs(job.slice);
    if (!job.has("forward"))
        return out;
    out.stages.push_back(
        {"forward", layer.forward(job.selected() || job.density < 1, job.slice),
         seen_pairs({job.of.h, job.of.hk, d, job.s, job.s}) / seen_pairs(job.slice),
         4.0 * d * lists.pairs});
    return out;
}

std::vector<std::string_view> launches_of(const Job &job, bool forward) {
    std::vector<std::string_view> out;
    if (job.selected())
        out = {"mean", "score", "select"};
    if (forward)
        out.push_back("forward");
    return out;
}

// Jobs that the target has kernels for, without attn_forward the launches before it; filtered by
// --only on the job's name, or the name and a launch.
std::vector<Job> jobs_of(const Options &o, const std::string &gfx) {
    const Pattern only("--only", o.only);
    std::vector<Job> out;
    for (const u32 s : {8192u, 32768u, 131072u})
        for (const AttentionLayer &of : attention_layers)
            for (const Dtype dtype : o.dtypes)
                for (const f64 density : {0.0, 0.05, 0.1, 1.0}) {
                    const std::string d = std::to_string(of.d);
                    const auto find = [&](std::string_view family) {
                        return check::find_default(family, gfx, {{"dtype", name(dtype)}, {"d", d}});
                    };
                    const Kernel *forward = find("attn_forward");
                    Job job{of, dtype, s, density, {}, {}};
                    if (job.selected() ? !find("attn_score") : !forward)
                        continue;
                    const bool usual = s == 8192 && dtype == Dtype::f16 && of.h == 16;
                    if (!usual && !o.full && o.only.empty())
                        continue;
                    job.slice = job.selected()
                                    ? ContextShape{of.h, of.hk, of.d,
                                                   std::min(s / 2, selection_rows), s / 2}
                                    : slice_of(*forward, of, s, density < 1);
                    for (const std::string_view launch : launches_of(job, forward != nullptr))
                        if (only.found_in(job.name()) ||
                            only.found_in(fmt::format("{} {}", job.name(), launch)))
                            job.launches.push_back(launch);
                    if (!job.launches.empty())
                        out.push_back(job);
                }
    return out;
}

Json to_json(const Job &job, const Stages &all, const Stage &stage, f64 peak, const Bound &bound) {
    const LaunchStats &launch = stage.timed.launch;
    const f64 us = stage.timed.us, bytes = static_cast<f64>(launch.moved.asked());
    // The launch overhead does not grow with the sequence.
    const f64 whole = bound.overhead_us + std::max(us - bound.overhead_us, 0.0) * stage.whole;
    Json row = {
        {"table", "stages"},
        {"stage", stage.name},
        {"model", job.of.model},
        {"s", job.s},
        {"h", job.of.h},
        {"hk", job.of.hk},
        {"d", job.of.d},
        {"dtype", name(job.dtype)},
        {"lists", job.lists()},
        {"density", all.density},
        {"slice_rows", job.slice.sq},
        {"slice_heads", job.slice.h},
        {"slice_keys", job.slice.sk},
        {"slice_us", us},
        {"time_us", whole},
        {"layers_ms", whole * job.of.layers / 1e3},
        {"pct_wmma_busy", 100 * launch.busy.wmma},
        {"pct_trans_busy", 100 * launch.busy.trans},
        {"gb_per_s", bytes / us / 1e3},
        {"l2_hit_rate", launch.moved.l2_hit_rate},
        {"mall_hit_rate", launch.moved.mall_hit_rate},
        {"dram_bytes", launch.moved.dram_read + launch.moved.dram_write},
        {"pct_of_dram", 100 * bound.us(launch.moved.dram_read + launch.moved.dram_write) / us},
        {"_l2", 100 * launch.moved.l2_hit_rate},
        {"_mall", 100 * launch.moved.mall_hit_rate},
        {"_name", job.name()}};
    if (stage.flop > 0) {
        row["tflops"] = 1e-6 * stage.flop / us;
        row["pct_of_wmma_peak"] = 1e8 * stage.flop / us / peak;
    }
    add_bounds(row, stage.timed.drawn);
    return row;
}

// A row for each launch; the forward's has the time of the launches before it relative to its own.
Json rows_of(const Job &job, const Stages &all, f64 peak, const Bound &bound) {
    Json rows = Json::array();
    f64 before_us = 0;
    for (const Stage &stage : all.stages) {
        Json row = to_json(job, all, stage, peak, bound);
        const f64 us = row.at("time_us").get<f64>();
        if (stage.name == "forward" && before_us > 0)
            row["pct_before"] = 100 * before_us / us;
        before_us += us;
        if (job.has(stage.name))
            rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace

Json attention_stages(const Options &o, const std::string &gfx) {
    const std::vector<Job> jobs = jobs_of(o, gfx);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Peak peak = product_peak(gfx);
    const Bound bound = dram_bound(gfx);
    fmt::print(
        "\nBlock-sparse attention by launch, on sim {}: modelled times of one layer, and of all "
        "that attend.\nText is made up (bench/attention/context.h). lists: at random, or selected "
        "by canonical scores\n>= {:.2f} of the largest, sink 2, window 4. density: keys that "
        "queries see, of those before them;\ntime: of the whole sequence, from a slice of queries "
        "before its middle; before: the other launches\nby the forward's time; exp: cycles in "
        "which transcendentals issue; GB/s: asked of caches; L2,\nMALL: hits there; DRAM: per cent "
        "of the {:.0f} GB/s that it sustains; peak: of {}'s {:.1f} TFLOP/s.\n\n",
        gfx, usual_rule.share, bound.gb_per_s, peak.by, peak.flops / 1e12);
    Table table(std::string(
        "S {s:>6}; model {model:<11}; type {dtype:<5}; lists {lists:<8}; density {density:>7.3f}; "
        "launch {stage:<7}; time us {time_us:>10.1f}; layers ms {layers_ms:>9.1f}; "
        "before {pct_before:>6.1f}%; TFLOP/s {tflops:>7.2f}; peak {pct_of_wmma_peak:>5.1f}%; "
        "exp {pct_trans_busy:>5.1f}%; GB/s {gb_per_s:>7.0f}; L2 {_l2:>5.1f}%; MALL {_mall:>5.1f}%; "
        "DRAM {pct_of_dram:>5.1f}%"));
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(u64{job.slice.sq} * job.slice.sk * job.slice.h * job.of.d / 1024);
    on_cores<Stages>(
        sizes,
        [&](u64 i) {
            return time_job(jobs[i], gfx, model_device("sim:" + gfx, jobs.size(), "stats=on"));
        },
        [&](u64 i, const Stages &all) {
            for (Json &row : rows_of(jobs[i], all, peak.flops, bound)) {
                table.print(row);
                rows.push_back(std::move(row));
            }
        });
    return rows;
}

} // namespace nw::bench
