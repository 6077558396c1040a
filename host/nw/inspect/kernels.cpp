// SPDX-License-Identifier: MIT
#include "nw/inspect/kernels.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "base/error.h"
#include "nw/bench_model/model.h"
#include "nw/text_table.h"
#include "runtime/choose.h"

namespace nw::cli {

namespace {

// By type, in order of first appearance.
class Counts {
public:
    u32 &operator[](const std::string &type) {
        for (auto &[known, count] : counts_)
            if (known == type)
                return count;
        return counts_.emplace_back(type, 0).second;
    }
    std::string text(const std::map<std::string, std::vector<std::string>> &names = {}) const {
        std::vector<std::string> parts;
        for (const auto &[type, count] : counts_) {
            parts.push_back(fmt::format("{} {}", type, count));
            if (const auto of = names.find(type); of != names.end())
                parts.back() += fmt::format(" ({})", fmt::join(of->second, ", "));
        }
        return fmt::format("{}", fmt::join(parts, ", "));
    }
    u32 sum() const {
        u32 out = 0;
        for (const auto &[type, count] : counts_)
            out += count;
        return out;
    }

private:
    std::vector<std::pair<std::string, u32>> counts_;
};

Op op_of(const ModelProduct &p, u32 tokens) {
    if (!p.experts)
        return GgufShape{p.word, tokens, p.n, p.k}.op();
    return GgufMoeShape{p.word, tokens, p.n, p.k, p.experts, p.top_k, p.own_rows}.op();
}

// Family of the chosen kernel; empty if this build lacks it. Throws Error if no kernel exists.
std::string_view family_of(const Op &op, const std::string &gfx) {
    check_shape(op);
    try {
        return choose(gfx, op).family;
    } catch (const Error &) {
        if (is_served(gfx, op)) // not built
            return {};
        throw;
    }
}

// Throws Error for a shape that no kernel takes.
ModelKernels::With families_of(const ModelProduct &p, const std::string &gfx) {
    ModelKernels::With out{std::string(p.word), p.experts > 0, {}};
    for (u64 i = 0; i < out.families.size(); ++i)
        out.families[i] = family_of(op_of(p, ModelKernels::tokens[i]), gfx);
    return out;
}

void add(std::vector<ModelKernels::With> &list, const ModelKernels::With &one, u32 count) {
    auto found = std::ranges::find_if(list, [&](const ModelKernels::With &w) {
        return w.type == one.type && w.experts == one.experts && w.families == one.families;
    });
    if (found == list.end())
        found = list.insert(list.end(), one);
    found->count += count;
}

std::string why_not(const std::string &type) {
    return std::ranges::find(gguf_types, type) == std::ranges::end(gguf_types)
               ? fmt::format("no kernel takes {}", type)
               : "experts need expert_used_count in the model's metadata, at most their number";
}

} // namespace

std::string ModelKernels::line() const {
    Counts served, others;
    std::map<std::string, std::vector<std::string>> names;
    for (const With &w : with)
        served[w.type] += w.count;
    for (const Without &w : without) {
        others[w.type] += w.count;
        names[w.type].push_back(printable(w.name));
    }
    const u32 all = served.sum() + others.sum();
    if (all == 0)
        return {};
    std::string out = fmt::format("kernels of {} take {} of {} matrices", gfx, served.sum(), all);
    if (!with.empty())
        out += fmt::format(": {}", served.text());
    if (!without.empty())
        out += fmt::format("; none takes {}", others.text(names));
    return out;
}

ModelKernels kernels_of(const GgufModel &model, const std::string &gfx) {
    const ModelSummary summary = summarize(model);
    ModelKernels out;
    out.gfx = gfx;
    for (const ModelProduct &p : summary.products)
        try {
            add(out.with, families_of(p, gfx), p.count);
        } catch (const Error &e) {
            out.without.push_back({std::string(p.word), p.name, e.what(), p.count});
        }
    for (const ModelTensors &t : summary.others)
        if (t.matrix)
            out.without.push_back({type_name(t.type), t.name, why_not(type_name(t.type)), t.count});
    return out;
}

} // namespace nw::cli
