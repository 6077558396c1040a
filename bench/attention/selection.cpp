// SPDX-License-Identifier: MIT
// The suite attention: density and share of the softmax that selection rules keep.
#include <algorithm>
#include <fmt/format.h>

#include "bench/attention/layer.h"
#include "bench/attention/tables.h"
#include "bench/product.h"
#include "check/ops.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

constexpr std::array rules = {Rule{"peak", 0.5f}, Rule{"peak", 0.12f}, Rule{"peak", 0.03f},
                              Rule{"mass", 0.8f}, Rule{"mass", 0.9f},  Rule{"mass", 0.95f},
                              Rule{"mass", 0.98f}};
constexpr u32 sampled_tiles = 4, step = 31; // every 31st query of each of these blocks

struct Job {
    AttentionLayer of;
    u32 s;
    ContextShape slice;

    std::string name() const { return fmt::format("selection {} {}", s, of.model); }
};

struct Kept {
    f64 density = 0, mass = 0, least = 1, needles = 0; // of the heads that look for one
};

// Shares of blocks in what sampled queries attend to.
struct Sample {
    u32 h, tile;
    std::vector<f64> share;
};

std::vector<Sample> samples_of(const Context &context, const LayerOnDevice &layer) {
    const auto [h, hk, d, sq, sk] = context.shape;
    std::vector<Sample> out;
    for (u32 head = 0; head < h; ++head) {
        const std::vector<f32> keys = context.of_head(layer.keys(), head / (h / hk));
        for (u32 n = 0; n < sampled_tiles; ++n) {
            const u32 tile = n * (sq / attention_block) / sampled_tiles;
            for (u32 row = step / 2; row < attention_block; row += step)
                out.push_back(
                    {head, tile,
                     context.shares(layer.queries(), keys, head, tile * attention_block + row)});
        }
    }
    return out;
}

Kept kept_by(const BlockLists &lists, const std::vector<Sample> &samples, const Context &context) {
    const ContextShape &p = context.shape;
    const u64 tiles = p.sq / attention_block, blocks = p.sk / attention_block;
    const auto list = [&](u32 h, u32 tile) {
        const u64 row = h * tiles + tile;
        const auto begin = lists.idx.begin() + static_cast<i64>(row * blocks);
        return std::vector<i32>(begin, begin + lists.cnt[row]);
    };
    Kept out{.density = lists.pairs / seen_pairs(p)};
    for (const Sample &sample : samples) {
        f64 mass = 0;
        for (i32 n : list(sample.h, sample.tile))
            mass += sample.share[static_cast<u64>(n)];
        out.mass += mass / static_cast<f64>(samples.size());
        out.least = std::min(out.least, mass);
    }
    f64 looking = 0;
    for (u32 h = 0; h < p.h; ++h)
        for (u32 tile = 0; tile < tiles; ++tile)
            if (Context::looks(h)) {
                ++looking;
                out.needles += static_cast<f64>(
                    std::ranges::count(list(h, tile), static_cast<i32>(context.needle(h, tile))));
            }
    out.needles /= looking;
    return out;
}

std::vector<Kept> run_job(const Job &job, const std::string &gfx, const hip::Device &device) {
    const Context context(Dtype::f16, job.slice);
    LayerOnDevice layer(device, gfx, Dtype::f16, context);
    layer.mean();
    layer.score();
    const std::vector<Sample> samples = samples_of(context, layer);
    std::vector<Kept> out;
    for (const Rule &rule : rules) {
        layer.select(rule);
        out.push_back(kept_by(layer.lists(), samples, context));
    }
    return out;
}

std::vector<Job> jobs_of(const Options &o) {
    const Pattern only("--only", o.only);
    std::vector<Job> out;
    for (const u32 s : {8192u, 32768u, 131072u})
        for (const AttentionLayer &of : attention_layers) {
            const Job job{of, s, {of.h, of.hk, of.d, 1024, s / 2}};
            const bool usual = s == 8192 && of.h == 16;
            if ((usual || o.full || !o.only.empty()) && only.found_in(job.name()))
                out.push_back(job);
        }
    return out;
}

} // namespace

Json attention_selection(const Options &o, const std::string &gfx) {
    const std::vector<Job> jobs = jobs_of(o);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    fmt::print("\nWhat a selection keeps, by canonical scores, sink 2, window 4, f16, of text that "
               "is made up\n(bench/attention/context.h): 1024 queries before the middle. peak: "
               "scores >= share of the largest;\nmass: the fewest blocks with that share of the "
               "scores. mass kept: of the softmax, mean and least of\nsampled queries; needles: "
               "listed, of the blocks that every fourth head looks for.\n\n");
    Table table(std::string("S {s:>6}; model {model:<11}; rule {rule:<5}; share {share:>5.2f}; "
                            "density {density:>7.3f}; mass kept {mass:>6.3f}; least {least:>6.3f}; "
                            "needles {needles:>6.2f}"));
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(u64{job.s} * job.of.h * job.of.d);
    on_cores<std::vector<Kept>>(
        sizes,
        [&](u64 i) {
            return run_job(jobs[i], gfx, hip::Device("sim:" + gfx + "?timing=off&stats=on"));
        },
        [&](u64 i, const std::vector<Kept> &kept) {
            for (u64 n = 0; n < rules.size(); ++n) {
                rows.push_back({{"table", "selection"},
                                {"model", jobs[i].of.model},
                                {"s", jobs[i].s},
                                {"rule", rules[n].rule},
                                {"share", rules[n].share},
                                {"density", kept[n].density},
                                {"mass", kept[n].mass},
                                {"least", kept[n].least},
                                {"needles", kept[n].needles},
                                {"_name", jobs[i].name()}});
                table.print(rows.back());
            }
        });
    return rows;
}

} // namespace nw::bench
