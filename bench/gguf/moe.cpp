// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>

#include "bench/gguf/tables.h"
#include "measure/routes.h"
#include "runtime/choose.h"

namespace nw::bench {

namespace {

struct Model {
    std::string_view name, type;
    bool act; // biases and an activation in the products
};
constexpr Model models[] = {{"Qwen3-30B-A3B", "q4_K", false}, {"gpt-oss-20b", "mxfp4", true}};

// Files have gate and up apart.
std::string_view layer_of(const GgufMoeShape &p) {
    return p.own_rows ? "down" : p.act == "swiglu" ? "gate_up" : "gate";
}

constexpr u32 large_block = 64;

// With many tokens, slot by slot would read weights thousands of times; few tokens fill no large
// block.
bool suits(u32 tokens, u32 block_size) {
    return block_size != (tokens >= many_rows ? 1 : large_block);
}

// With act slot by slot alone; without it, blocks that the model's k fills.
bool exists(const std::string &gfx, const GgufMoeShape &p, u32 size) {
    return std::ranges::any_of(kernels_for(gfx, p.op()),
                               [&](const Kernel *k) { return block_size(*k) == size; });
}

void add_jobs(std::vector<GgufMoeJob> &out, const Options &o, const LinearShape &s,
              const Model &model, const std::string &gfx) {
    const Pattern only("--only", o.only);
    const bool up = s.layer == "gate_up";
    for (u32 tokens : o.m)
        for (std::string_view act : {"", up ? "swiglu" : "none"})
            for (u32 block_size : {1, 16, 64}) {
                const GgufMoeShape p{
                    model.type, tokens, up ? s.n / 2 : s.n, s.k, s.experts, s.top_k, !up, act};
                if (!suits(tokens, block_size) || (!act.empty() && !model.act) ||
                    !exists(gfx, p, block_size))
                    continue;
                const std::string name =
                    fmt::format("{} {} {} {} t{} b{}{}{}", model.name, layer_of(p), by(p.n, p.k),
                                model.type, tokens, block_size, act.empty() ? "" : " ", act);
                if (only.found_in(name))
                    out.push_back(
                        {p, &choose_by_block(gfx, p.op(), block_size),
                         random_routes(tokens, s.experts, s.top_k, Rng(o.seed).fork(tokens))});
            }
}

std::vector<GgufMoeJob> jobs_of(const Options &o, const Shapes &shapes, const std::string &gfx) {
    std::vector<GgufMoeJob> out;
    for (const Model &model : models)
        for (const LinearShape &s : shapes)
            if (s.moe && s.model == model.name)
                add_jobs(out, o, s, model, gfx);
    return out;
}

std::string_view model_of(const GgufMoeShape &p) {
    return std::ranges::find(models, p.type, &Model::type)->name;
}

} // namespace

Json gguf_moe(const Options &o, const Shapes &shapes, const std::string &gfx) {
    const std::vector<GgufMoeJob> jobs = jobs_of(o, shapes, gfx);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Bound bound = dram_bound(gfx);
    fmt::print(
        "\nExperts with GGUF weights on sim {}: modelled times, weights cold.\n"
        "gate_up: with biases and SwiGLU; +b: with biases.\n"
        "Routes are random; block: slots of a block, 1 without blocks; met: experts that any token "
        "has;\n"
        "before: launches before, of activations and lists; GB/s: of weights; % bound: of {:.1f} "
        "GB/s,\nwhich DRAM sustains, without the {:.1f} us of a launch.\n\n",
        gfx, bound.gb_per_s, bound.overhead_us);
    Table table("model {model:<13}; layer {_layer:<7}; N x K {_size:>10}; type "
                "{type:<5}; tokens {m:>6}; "
                "block {block_size:>5}; met {experts_met:>3.0f}" +
                time_columns(o, 8) +
                "; before us {activations_us:>9.2f}; GB/s {gb_per_s:>6.1f}; "
                "% bound {pct_of_bound:>7.1f}");
    time_gguf_moe(jobs, [&](u64 i, const Timed &time) {
        const auto &[p, kernel, routes] = jobs[i];
        const f64 us = time.us,
                  met = static_cast<f64>(std::ranges::count_if(
                      slots_of_experts(routes, p.experts), [](u32 slots) { return slots > 0; })),
                  bytes = met * static_cast<f64>(p.expert_bytes());
        rows.push_back(
            {{"model", model_of(p)},
             {"layer", layer_of(p)},
             {"gfx", gfx},
             {"type", p.type},
             {"act", p.act},
             {"m", p.tokens},
             {"n", p.n},
             {"k", p.k},
             {"block_size", block_size(*kernel)},
             {"experts_met", met},
             {"time_us", us},
             {"activations_us", time.before_us},
             {"gb_per_s", bytes / us / 1e3},
             {"pct_of_bound", 100 * (bytes / (us - bound.overhead_us) / 1e3 / bound.gb_per_s)},
             {"bound", "dram"},
             {"_layer", fmt::format("{}{}", layer_of(p), p.act == "none" ? "+b" : "")},
             {"_size", by(p.n, p.k)}});
        add_bounds(rows.back(), time.drawn);
        table.print(rows.back());
    });
    return rows;
}

} // namespace nw::bench
