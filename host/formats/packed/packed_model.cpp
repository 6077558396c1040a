// SPDX-License-Identifier: MIT
#include "formats/packed/packed_model.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/error.h"
#include "base/half.h"
#include "formats/layers/source_problem.h"
#include "formats/packed/row_stride.h"

namespace nw {

namespace {

using Json = nlohmann::json;

Dtype dtype_of(const SourceLinear &l, const PackOptions &o) {
    if (o.dtype)
        return *o.dtype;
    if (l.scale_dtype == "F32")
        throw Error(fmt::format("{}: its scales are F32, but kernels read them in the activations' "
                                "type; choose --dtype f16 or bf16",
                                l.name));
    return l.scale_dtype == "BF16" ? Dtype::bf16 : Dtype::f16;
}

u32 known_bits(const Tensor &t) {
    const auto bits = dtype_bits(t.dtype);
    if (!bits)
        refuse_tensor(
            t,
            "is of a dtype that is not known here, so that its size isn't either: leave out --all");
    return *bits;
}

const char *dtype_name(Dtype d) { return d == Dtype::bf16 ? "BF16" : "F16"; }

// Matrices of one name, in the order of their experts.
std::vector<PackedLinear> grouped(const SourceLayers &sources) {
    std::vector<PackedLinear> out;
    std::unordered_map<std::string, size_t> place;
    for (const SourceLinear &l : sources.linears) {
        const auto [found, fresh] = place.try_emplace(l.name, out.size());
        if (fresh)
            out.emplace_back().name = l.name;
        out[found->second].parts.push_back({&l, l.expert.value_or(0), 0});
    }
    for (PackedLinear &p : out) {
        std::ranges::stable_sort(p.parts, {}, &PackedPart::expert);
        if (p.parts.front().source->expert)
            p.experts = static_cast<u32>(p.parts.size());
    }
    return out;
}

std::string described(const SourceLinear &l) {
    return fmt::format("{} is {} x {} in groups of {}, {}, {} bias", l.tensor, l.n, l.k, l.group,
                       l.scale_dtype, l.bias.empty() ? "without" : "with");
}

void check_experts(const PackedLinear &p) {
    const SourceLinear &first = *p.parts.front().source;
    for (u32 e = 0; e < p.parts.size(); ++e) {
        const SourceLinear &l = *p.parts[e].source;
        if (p.parts[e].expert != e || l.expert.has_value() != (p.experts > 0))
            throw Error(fmt::format("{}: expert {} is missing or duplicate (next is {}); experts "
                                    "must be numbered from 0 without gaps",
                                    p.name, e, l.tensor));
        if (l.n != first.n || l.k != first.k || l.group != first.group ||
            l.scale_dtype != first.scale_dtype || l.bias.empty() != first.bias.empty())
            throw Error(fmt::format("{}: {}, {}: experts of a layer must agree", p.name,
                                    described(first), described(l)));
    }
}

void describe(PackedLinear &p, const PackOptions &o) {
    const SourceLinear &first = *p.parts.front().source;
    p.n = first.n;
    p.k = first.k;
    p.group = first.group;
    p.symmetric = std::ranges::all_of(p.parts, [](auto &part) { return part.source->symmetric; });
    p.act_order = std::ranges::any_of(p.parts, [](auto &part) { return part.source->act_order; });
    p.dtype = dtype_of(first, o);
    p.w_stride = weight_row_stride(o.gfx, p.k);
}

// Layers that engines read together, by the last component of the name, in joined row order.
struct Fusion {
    std::string_view joined;
    std::vector<std::string_view> parts;
};
const Fusion fusions[] = {{"qkv_proj", {"q_proj", "k_proj", "v_proj"}},
                          {"gate_up_proj", {"gate_proj", "up_proj"}},
                          {"w13", {"w1", "w3"}}};

// True if an expert's columns are in the same order in both; of dense layers all columns. Layers
// that were quantized on the same activations agree.
bool same_order(const PackedLinear &a, const PackedLinear &b) {
    return std::ranges::all_of(b.parts, [&](const PackedPart &of_b) {
        const auto of_a = std::ranges::find(a.parts, of_b.expert, &PackedPart::expert);
        return of_a != a.parts.end() && of_a->source->group_of == of_b.source->group_of;
    });
}

// True if the rows of b can follow those of a.
bool join(const PackedLinear &a, const PackedLinear &b) {
    const bool dwords_of_zeros = a.n % 8 == 0 && b.n % 8 == 0;
    return a.k == b.k && a.group == b.group && a.experts == b.experts && a.dtype == b.dtype &&
           a.parts.front().source->bias.empty() == b.parts.front().source->bias.empty() &&
           dwords_of_zeros && same_order(a, b);
}

void append(PackedLinear &a, PackedLinear &b) {
    for (PackedPart part : b.parts) {
        part.row += a.n;
        a.parts.push_back(part);
    }
    a.n += b.n;
    a.symmetric &= b.symmetric;
    b.parts.clear();
}

// Joins layers if all parts exist and are compatible; otherwise leaves them separate.
void fuse(std::vector<PackedLinear> &linears) {
    std::unordered_map<std::string, PackedLinear *> by_name;
    for (PackedLinear &p : linears)
        by_name[p.name] = &p;
    for (const Fusion &f : fusions)
        for (PackedLinear &first : linears) {
            if (first.parts.empty() || !first.name.ends_with(fmt::format(".{}", f.parts[0])))
                continue;
            const std::string folder = first.name.substr(0, first.name.size() - f.parts[0].size());
            std::vector<PackedLinear *> rest;
            for (size_t i = 1; i < f.parts.size(); ++i)
                if (const auto found = by_name.find(fmt::format("{}{}", folder, f.parts[i]));
                    found != by_name.end() && join(first, *found->second))
                    rest.push_back(found->second);
            if (rest.size() + 1 != f.parts.size() ||
                by_name.contains(fmt::format("{}{}", folder, f.joined)))
                continue;
            for (PackedLinear *p : rest)
                append(first, *p);
            first.name = fmt::format("{}{}", folder, f.joined);
        }
    std::erase_if(linears, [](const PackedLinear &p) { return p.parts.empty(); });
}

void add_tensors(TensorOrder &specs, PackedLinear &p) {
    const auto add = [&](size_t &index, const char *end, u32 alignment, const char *dtype,
                         std::vector<u64> shape) {
        if (p.experts)
            shape.insert(shape.begin(), p.experts);
        specs.add(index, alignment, {p.name + end, dtype, std::move(shape)});
    };
    add(p.w, ".w", 16, "U32", {p.n, p.w_stride / 4});
    add(p.s, ".s", 2, dtype_name(p.dtype), {p.n, p.groups()});
    if (!p.symmetric)
        add(p.zp, ".zp", 4, "U32", {ceil_div(p.n, 8u), p.groups()});
    if (p.act_order)
        add(p.perm, ".perm", 16, "U32", {p.k}); // as permute_a wants it
    if (!p.parts.front().source->bias.empty())
        add(p.bias, ".bias", 2, dtype_name(p.dtype), {p.n});
}

// {role: tensors} of the carried tensors of these layers; null where there are none.
Json carried_json(const PackedModel &m, const std::vector<std::string> &layers) {
    Json out;
    for (const CarriedTensor &c : m.carried)
        if (std::ranges::find(layers, c.layer) != layers.end())
            out[c.role].push_back(c.tensor->name);
    return out;
}

Json linear_json(const PackedModel &m, const PackedLinear &p) {
    const SourceLinear &first = *p.parts.front().source;
    Json from = Json::array(), rows = Json::array();
    for (const PackedPart &part : p.parts) {
        if (from.empty() || from.back() != part.source->tensor)
            from.push_back(part.source->tensor);
        if (part.expert == 0)
            rows.push_back({{"name", part.source->name}, {"n", part.source->n}});
    }
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
        out["experts"] = p.experts;
        out["w_expert_stride"] = p.matrix_bytes();
    }
    if (rows.size() > 1) // joined by rows
        out["parts"] = rows;
    if (p.zp != PackedLinear::none) {
        out["zp"] = m.tensors[p.zp].name;
        out["zp_stride"] = 4 * p.groups();
    }
    if (p.perm != PackedLinear::none)
        out["perm"] = m.tensors[p.perm].name;
    if (p.bias != PackedLinear::none)
        out["bias"] = m.tensors[p.bias].name;
    std::vector<std::string> layers;
    for (const PackedPart &part : p.parts)
        if (layers.empty() || layers.back() != part.source->name)
            layers.push_back(part.source->name);
    if (Json carried = carried_json(m, layers); !carried.is_null())
        out["carried"] = std::move(carried);
    return out;
}

Json fp4_json(const PackedModel &m, const PackedFp4 &p) {
    Json from = Json::array(), shape = p.source->outer;
    for (const Tensor *t : p.source->made_from)
        from.push_back(t->name);
    shape.push_back(p.source->k);
    Json out = {{"name", p.source->name},
                {"type", find_ggml_type(p.source->type)->name},
                {"shape", shape},
                {"w", m.tensors[p.w].name},
                {"w_stride", p.source->row_bytes()},
                {"made_from", from}};
    if (p.source->scale)
        out["scale"] = *p.source->scale;
    if (p.source->bias)
        out["bias"] = p.source->bias->name;
    if (Json carried = carried_json(m, {p.source->name}); !carried.is_null())
        out["carried"] = std::move(carried);
    return out;
}

} // namespace

PackedModel plan(const SourceLayers &sources, const PackOptions &o) {
    if (!sources.problems.empty())
        throw Error(sources.problems.size() == 1
                        ? sources.problems.front()
                        : fmt::format("{} (and {} more; `nw inspect` lists them)",
                                      sources.problems.front(), sources.problems.size() - 1));
    PackedModel m;
    m.linears = grouped(sources);
    if (m.linears.empty() && sources.fp4.empty())
        throw Error("no 4-bit linear layer found: GPTQ and AWQ name their tensors ...qweight, "
                    "compressed-tensors ...weight_packed, gpt-oss ..._blocks");
    for (PackedLinear &p : m.linears) {
        check_experts(p);
        describe(p, o);
    }
    if (o.fuse)
        fuse(m.linears);
    TensorOrder specs;
    for (PackedLinear &p : m.linears) {
        m.weight_bytes += p.matrices() * p.n * (p.k / 2);
        add_tensors(specs, p);
    }
    for (const SourceFp4 &s : sources.fp4)
        m.fp4.push_back({&s});
    for (PackedFp4 &p : m.fp4) {
        m.weight_bytes += p.source->rows * p.source->k / 2;
        std::vector<u64> shape = p.source->outer;
        shape.push_back(p.source->row_bytes());
        specs.add(p.w, 16, {p.source->name + ".w", "U8", std::move(shape)});
    }
    m.carried = sources.carried;
    for (const SourceFp4 &f : sources.fp4)
        if (f.bias)
            m.copies.push_back({0, f.bias});
    for (const CarriedTensor &c : sources.carried)
        m.copies.push_back({0, c.tensor});
    for (const Tensor *t : o.all ? sources.others : std::vector<const Tensor *>())
        m.copies.push_back({0, t});
    for (PackedCopy &copy : m.copies) {
        const Tensor &t = *copy.from;
        specs.add(copy.tensor, std::max(1u, known_bits(t) / 8), {t.name, t.dtype, t.shape});
    }
    m.tensors = specs.placed();
    return m;
}

Json layout_json(const PackedModel &m, const PackOptions &o, const std::string &file) {
    Json linears = Json::array();
    for (const PackedLinear &p : m.linears)
        linears.push_back(linear_json(m, p));
    Json out = {{"format", "nibblewave"},
                {"version", 1},
                {"gfx", o.gfx},
                {"file", file},
                {"nibble_order", {0, 2, 4, 6, 1, 3, 5, 7}},
                {"linears", std::move(linears)}};
    for (const PackedFp4 &p : m.fp4)
        out["fp4"].push_back(fp4_json(m, p));
    if (Json scales = carried_json(m, {""}); !scales.is_null())
        out["carried"] = std::move(scales);
    return out;
}

} // namespace nw
