// SPDX-License-Identifier: MIT
#include "nw/atlas/plan.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <tuple>

#include "base/error.h"
#include "base/pattern.h"
#include "measure/routes.h"

namespace nw::cli {

namespace {

// Files have experts' gate and up apart.
LinearShape in_files(LinearShape layer) {
    if (layer.moe && layer.layer == "gate_up")
        layer.n /= 2, layer.count *= 2;
    return layer;
}

class Planner {
public:
    Planner(const AtlasRunOptions &o, std::string_view gfx)
        : o_(o), gfx_(gfx), only_("--only", o.only) {}

    AtlasPlan plan() {
        for (const std::string &model : o_.models)
            if (std::ranges::find(gguf_models, model) == gguf_models.end())
                throw Error(fmt::format("--model {}: the suite gguf has {}", model,
                                        fmt::join(gguf_models, ", ")));
        for (const LinearShape &layer : read_shapes(o_.shapes))
            if (layer.count && chosen(gguf_models, layer.model) && chosen(o_.models, layer.model))
                for (const std::string_view type : gguf_types)
                    if (chosen(o_.types, type))
                        for (u32 m : o_.m)
                            add(in_files(layer), type, m);
        for (const auto &[what, count] : missing_)
            fmt::print(stderr, "nw: {}: skipped, no kernel on {}\n", what, gfx_);
        if (out_.rows.empty())
            throw Error(fmt::format("{}: no product of suite gguf matches --model {} --type {} --m "
                                    "{} --only '{}' and has a kernel on {}{}",
                                    o_.shapes, fmt::join(o_.models, ","), fmt::join(o_.types, ","),
                                    fmt::join(o_.m, ","), o_.only, gfx_, Pattern::names("--only")));
        for (const std::string &cut : cut_)
            out_.complete.erase(cut);
        return std::move(out_);
    }

private:
    static bool chosen(const auto &words, std::string_view word) {
        return std::ranges::empty(words) ||
               std::ranges::find(words, word) != std::ranges::end(words);
    }

    AtlasJob job_of(const LinearShape &layer, const GgufShape &shape) const {
        if (!layer.moe)
            return {shape, choose_unsliced(gfx_, shape.op()), {}};
        const auto &[type, m, n, k] = shape;
        const GgufMoeShape of{type, m, n, k, layer.experts, layer.top_k, layer.layer == "down"};
        return {shape, &choose(gfx_, of.op()),
                AtlasExperts{of, random_routes(m, of.experts, of.top_k, Rng(1).fork(m))}};
    }

    void add(const LinearShape &layer, std::string_view type, u32 m) {
        const GgufShape shape{type, m, layer.n, layer.k};
        if (shape.k % find_ggml_type(type)->elements) {
            ++missing_[fmt::format("{} at rows of {} weights", type, shape.k)];
            cut_.insert(atlas_set(layer, shape));
            return;
        }
        AtlasJob job = job_of(layer, shape);
        const Kernel *const product = job.kernel;
        if (!product) {
            ++missing_[fmt::format("{} at {} rows", type, m)];
            return;
        }
        const std::string name = fmt::format("{} {} {}x{} {} m{} {}", layer.model, layer.layer,
                                             shape.n, shape.k, type, m, product->symbol);
        if (!only_.found_in(name)) {
            cut_.insert(atlas_set(layer, shape));
            return;
        }
        const auto key = std::tuple(type, m, shape.n, shape.k, layer.experts, layer.top_k,
                                    layer.moe && layer.layer == "down");
        const auto [at, fresh] = seen_.emplace(key, out_.jobs.size());
        if (fresh)
            out_.jobs.push_back(std::move(job));
        out_.rows.push_back({layer, at->second});
        out_.complete.insert(atlas_set(layer, shape));
    }

    const AtlasRunOptions &o_;
    const std::string gfx_;
    const Pattern only_;
    AtlasPlan out_;
    std::map<std::tuple<std::string_view, u32, u32, u32, u32, u32, bool>, u64> seen_;
    std::map<std::string, u32> missing_;
    std::set<std::string> cut_;
};

} // namespace

std::array<const Kernel *, 3> AtlasJob::launches() const {
    return {convert_before(*kernel), lists_before(*kernel), kernel};
}

std::string atlas_set(const LinearShape &layer, const GgufShape &shape) {
    return fmt::format("{} {} {}", layer.model, shape.type, shape.m);
}

AtlasPlan plan_atlas(const AtlasRunOptions &o, std::string_view gfx) {
    return Planner(o, gfx).plan();
}

} // namespace nw::cli
