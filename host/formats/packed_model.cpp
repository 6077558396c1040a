// SPDX-License-Identifier: MIT
#include "formats/packed_model.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "base/half.h"
#include "formats/row_stride.h"

namespace nw {

namespace {

using Json = nlohmann::json;

Dtype dtype_of(const SourceLinear &l, const PackOptions &o) {
    if (o.dtype)
        return *o.dtype;
    if (l.scale_dtype == "F32")
        throw Error(fmt::format("{}: its scales are F32, kernels read them as the activations are; "
                                "choose --dtype f16 or bf16",
                                l.name));
    return l.scale_dtype == "BF16" ? Dtype::bf16 : Dtype::f16;
}

const char *dtype_name(Dtype d) { return d == Dtype::bf16 ? "BF16" : "F16"; }

// Slices of one name, in the order of their experts.
std::vector<PackedLinear> grouped(const SourceLinears &sources) {
    std::vector<PackedLinear> out;
    std::unordered_map<std::string, size_t> place;
    for (const SourceLinear &l : sources.linears) {
        const auto [found, fresh] = place.try_emplace(l.name, out.size());
        if (fresh)
            out.emplace_back().name = l.name;
        out[found->second].slices.push_back(&l);
    }
    for (PackedLinear &p : out) {
        std::ranges::stable_sort(p.slices, {}, [](auto *l) { return l->expert.value_or(0); });
        p.experts = p.slices.front()->expert.has_value();
    }
    return out;
}

void check_experts(const PackedLinear &p) {
    const SourceLinear &first = *p.slices.front();
    for (u32 e = 0; e < p.slices.size(); ++e) {
        const SourceLinear &l = *p.slices[e];
        if (l.expert.value_or(0) != e || l.expert.has_value() != p.experts)
            throw Error(fmt::format("{}: expert {} is missing or there twice (next is {}); experts "
                                    "are numbered from 0 without gaps",
                                    p.name, e, l.tensor));
        if (l.n != first.n || l.k != first.k || l.group != first.group ||
            l.scale_dtype != first.scale_dtype || l.bias.empty() != first.bias.empty())
            throw Error(fmt::format("{}: {} is {} x {} in groups of {}, {}, {} bias; {} is {} x {} "
                                    "in groups of {}, {}, {} bias: experts of a layer must agree",
                                    p.name, l.tensor, l.n, l.k, l.group, l.scale_dtype,
                                    l.bias.empty() ? "no" : "with", first.tensor, first.n, first.k,
                                    first.group, first.scale_dtype,
                                    first.bias.empty() ? "no" : "with"));
    }
}

// Tensors by the bytes they must be aligned to, so that each begins at such a place in the file.
class Specs {
public:
    void add(size_t &index, u32 alignment, TensorSpec spec) {
        rows_.push_back({alignment, &index, std::move(spec)});
    }
    std::vector<TensorSpec> placed() {
        std::ranges::stable_sort(rows_, std::greater{}, &Row::alignment);
        std::vector<TensorSpec> out;
        for (Row &row : rows_) {
            *row.index = out.size();
            out.push_back(std::move(row.spec));
        }
        return out;
    }

private:
    struct Row {
        u32 alignment;
        size_t *index;
        TensorSpec spec;
    };
    std::vector<Row> rows_;
};

void add_tensors(Specs &specs, PackedLinear &p) {
    const auto add = [&](size_t &index, const char *end, u32 alignment, const char *dtype,
                         std::vector<u64> shape) {
        if (p.experts)
            shape.insert(shape.begin(), p.slices.size());
        specs.add(index, alignment, {p.name + end, dtype, std::move(shape)});
    };
    add(p.w, ".w", 16, "U32", {p.n, p.w_stride / 4});
    add(p.s, ".s", 2, dtype_name(p.dtype), {p.n, p.groups()});
    if (!p.symmetric)
        add(p.zp, ".zp", 4, "U32", {ceil_div(p.n, 8u), p.groups()});
    if (p.act_order)
        add(p.perm, ".perm", 4, "U32", {p.k});
    if (!p.slices.front()->bias.empty())
        add(p.bias, ".bias", 2, dtype_name(p.dtype), {p.n});
}

Json linear_json(const PackedModel &m, const PackedLinear &p) {
    const SourceLinear &first = *p.slices.front();
    Json from = Json::array();
    for (const SourceLinear *l : p.slices)
        if (from.empty() || from.back() != l->tensor)
            from.push_back(l->tensor);
    Json out = {{"name", p.name},
                {"n", p.n},
                {"k", p.k},
                {"group", first.per_row() ? -1 : static_cast<i64>(p.group)},
                {"symmetric", p.symmetric},
                {"dtype", name(p.dtype)},
                {"w", m.tensors[p.w].name},
                {"w_stride", p.w_stride},
                {"s", m.tensors[p.s].name},
                {"s_stride", 2 * p.groups()},
                {"made_from", {{"format", name(first.format)}, {"tensors", from}}}};
    if (p.experts) {
        out["experts"] = p.slices.size();
        out["w_expert_stride"] = p.slice_bytes();
    }
    if (p.zp != PackedLinear::none) {
        out["zp"] = m.tensors[p.zp].name;
        out["zp_stride"] = 4 * p.groups();
    }
    if (p.perm != PackedLinear::none)
        out["perm"] = m.tensors[p.perm].name;
    if (p.bias != PackedLinear::none)
        out["bias"] = m.tensors[p.bias].name;
    return out;
}

} // namespace

PackedModel plan(const SourceLinears &sources, const PackOptions &o) {
    if (!sources.problems.empty())
        throw Error(sources.problems.size() == 1
                        ? sources.problems.front()
                        : fmt::format("{} (and {} more; `nw inspect` lists them)",
                                      sources.problems.front(), sources.problems.size() - 1));
    PackedModel m;
    m.linears = grouped(sources);
    if (m.linears.empty())
        throw Error("no 4-bit linear layer is in there: GPTQ and AWQ have tensors named "
                    "...qweight, compressed-tensors ...weight_packed");
    Specs specs;
    for (PackedLinear &p : m.linears) {
        check_experts(p);
        const SourceLinear &first = *p.slices.front();
        p.n = first.n;
        p.k = first.k;
        p.group = first.group;
        p.symmetric = std::ranges::all_of(p.slices, &SourceLinear::symmetric);
        p.act_order = std::ranges::any_of(p.slices, &SourceLinear::act_order);
        p.dtype = dtype_of(first, o);
        p.w_stride = weight_row_stride(o.gfx, p.k);
        m.weight_bytes += p.slices.size() * p.n * (p.k / 2);
        add_tensors(specs, p);
    }
    if (o.all) {
        m.copies.resize(sources.others.size());
        for (size_t i = 0; i < m.copies.size(); ++i) {
            const Tensor &t = *sources.others[i];
            m.copies[i].second = &t;
            specs.add(m.copies[i].first, std::max(1u, *dtype_bits(t.dtype) / 8),
                      {t.name, t.dtype, t.shape});
        }
    }
    m.tensors = specs.placed();
    return m;
}

Json layout_json(const PackedModel &m, const PackOptions &o, const std::string &file) {
    Json linears = Json::array();
    for (const PackedLinear &p : m.linears)
        linears.push_back(linear_json(m, p));
    return {{"format", "nibblewave"},
            {"version", 1},
            {"gfx", o.gfx},
            {"file", file},
            {"nibble_order", {0, 2, 4, 6, 1, 3, 5, 7}},
            {"linears", std::move(linears)}};
}

} // namespace nw
