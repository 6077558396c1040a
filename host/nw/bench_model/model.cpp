// SPDX-License-Identifier: MIT
#include "nw/bench_model/model.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>

#include "base/error.h"

namespace nw::cli {

namespace {

constexpr std::string_view embedding = "token_embd.weight", logits = "output.weight";

// "blk.12.attn_q.weight" as "blk.*.attn_q.weight"; any other name as it is.
std::string without_layer(std::string_view name) {
    constexpr std::string_view begin = "blk.";
    if (!name.starts_with(begin))
        return std::string(name);
    const size_t end = name.find_first_not_of("0123456789", begin.size());
    return end == name.npos || end == begin.size()
               ? std::string(name)
               : std::string(begin) + "*" + std::string(name.substr(end));
}

class Reader {
public:
    explicit Reader(const GgufModel &model)
        : model_(model), layers_(model), top_k_(layers_.number("expert_used_count").value_or(0)) {
        out_.architecture = model.architecture();
    }

    ModelSummary read() {
        for (const GgufTensor *t : model_.tensors())
            add(*t);
        out_.attention = layers_.attention(out_.notes);
        return std::move(out_);
    }

private:
    static bool is_u32(u64 n) { return n <= std::numeric_limits<u32>::max(); }

    // The product of a tensor; nothing where it is none, or of a type without kernels.
    std::optional<ModelProduct> product_of(const GgufTensor &t) const {
        const GgmlTypeInfo *info = find_ggml_type(t.type);
        if (!info)
            return {};
        const auto word = std::ranges::find(gguf_types, info->name);
        if (word == std::ranges::end(gguf_types) || !is_u32(t.ne[0]) || !is_u32(t.ne[1]) ||
            t.dimensions < 2 || t.ne[1] < 2)
            return {};
        ModelProduct out;
        out.word = *word;
        out.k = static_cast<u32>(t.ne[0]), out.n = static_cast<u32>(t.ne[1]);
        out.last_row = t.name == logits || t.name == embedding;
        out.own_rows = t.name.find("down") != t.name.npos;
        return t.dimensions == 2 || of_experts(t) ? std::optional(out) : std::nullopt;
    }

    bool of_experts(const GgufTensor &t) const {
        return t.dimensions == 3 && t.name.ends_with("_exps.weight") && top_k_ &&
               top_k_ <= t.ne[2] && is_u32(t.ne[2]);
    }

    static bool is_matrix(const GgufTensor &t) {
        return t.dimensions >= 2 && t.ne[1] > 1 && t.name.ends_with(".weight");
    }

    void add(const GgufTensor &t) {
        out_.bytes += t.data.size();
        if (t.name == embedding) {
            out_.embedding_bytes = t.row_bytes;
            if (model_.find(logits)) // else it is both
                return;
        }
        ModelTensors of{without_layer(t.name), t.type, 1, t.data.size()};
        of.matrix = is_matrix(t);
        of.draft = layers_.is_draft(t.name);
        if (of_experts(t))
            of.experts = static_cast<u32>(t.ne[2]), of.top_k = static_cast<u32>(top_k_);
        if (std::optional<ModelProduct> product = product_of(t)) {
            static_cast<ModelTensors &>(*product) = of;
            merge(out_.products, *product, [&](const ModelProduct &a) {
                return a.n == product->n && a.k == product->k && a.experts == product->experts;
            });
        } else {
            merge(out_.others, of, [](const ModelTensors &) { return true; });
        }
    }

    template <class T> void merge(std::vector<T> &list, const T &one, const auto &alike) {
        const auto found = std::ranges::find_if(list, [&](const T &a) {
            return a.name == one.name && a.type == one.type && a.bytes == one.bytes &&
                   a.draft == one.draft && alike(a);
        });
        if (found == list.end())
            list.push_back(one);
        else
            ++found->count;
    }

    const GgufModel &model_;
    const ModelLayers layers_;
    const u64 top_k_;
    ModelSummary out_;
};

} // namespace

ModelSummary summarize(const GgufModel &model) { return Reader(model).read(); }

ModelSummary summarize_products(const GgufModel &model) {
    ModelSummary out = summarize(model);
    if (out.products.empty())
        throw Error(fmt::format("{}: no tensor is a matrix of a type that has kernels: nw inspect "
                                "lists its tensors",
                                model.path().string()));
    return out;
}

} // namespace nw::cli
