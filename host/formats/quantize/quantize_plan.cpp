// SPDX-License-Identifier: MIT
#include "formats/quantize/quantize_plan.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>
#include <regex>

#include "base/error.h"
#include "base/half.h"
#include "base/lower_case.h"
#include "formats/layers/source_problem.h"
#include "formats/quantize/gguf_names.h"
#include "formats/safetensors/json.h"

namespace nw {

namespace {

constexpr u64 most_weight_rows = u64{1} << 31; // of N or K: they are u32

// Regular expressions, each of which must match a tensor.
class Patterns {
public:
    Patterns(const std::vector<std::string> &texts, const char *option) : option_(option) {
        for (const std::string &text : texts) {
            try {
                rows_.push_back({text, std::regex(text), false});
            } catch (const std::regex_error &e) {
                throw Error(fmt::format("{} {}: is not a regular expression: {}", option,
                                        in_quotes(text), e.what()));
            }
        }
    }
    bool match(const std::string &name) {
        bool any = false;
        for (Row &row : rows_)
            if (std::regex_search(name, row.regex))
                any = row.used = true;
        return any;
    }
    void check_used() const {
        for (const Row &row : rows_)
            if (!row.used)
                throw Error(
                    fmt::format("{} {}: matches no tensor of 2 or 3 dimensions; `nw inspect` lists "
                                "the names",
                                option_, in_quotes(row.text)));
    }

private:
    struct Row {
        std::string text;
        std::regex regex;
        bool used;
    };
    const char *option_;
    std::vector<Row> rows_;
};

// Throws Error if the shape can't be quantized. `t`: what has the weights.
void check_shape(const Tensor &t, const std::string &name, u64 n, u64 k, const QuantizeOptions &o) {
    if (n < 1 || k < 1 || n >= most_weight_rows || k >= most_weight_rows)
        refuse_tensor(
            t, fmt::format("N = {}, K = {}: both must be 1 to 2^31 - 1; --keep copies the tensor "
                           "unchanged",
                           n, k));
    if (k % scale_block(o))
        refuse_tensor(
            t, fmt::format("K = {}: must be a multiple of {}, the weights that share a scale; "
                           "{}--keep copies the tensor unchanged",
                           k, scale_block(o),
                           o.to == QuantizedType::w4a16 && k % 32 == 0
                               ? "choose a smaller --group, or "
                               : ""));
    if (o.to == QuantizedType::w4a16 && name != "weight" && !name.ends_with(".weight"))
        refuse_tensor(
            t, "is not called NAME.weight, the name that nw pack finds 4-bit layers by: leave it "
               "out of --include, or rename it");
}

Dtype scale_dtype(const std::string &weights, const QuantizeOptions &o) {
    return o.scale_dtype.value_or(weights == "F16" ? Dtype::f16 : Dtype::bf16);
}

// --transposed and --not-transposed, else what the model says. Throws Error where nothing does.
bool is_transposed(const Tensor &t, Patterns &transposed, Patterns &plain,
                   const QuantizeOptions &o) {
    const bool yes = transposed.match(t.name), no = plain.match(t.name);
    if (yes && no)
        refuse_tensor(t, "is matched by --transposed and by --not-transposed");
    if (yes || no)
        return yes;
    const Orientation found = orientation_of(t.name, t.shape, o.shape);
    if (found == Orientation::unknown)
        refuse_tensor(
            t, fmt::format("its orientation is not known: neither the model_type of config.json "
                           "nor one dimension that is its hidden_size tells. Say --transposed "
                           "REGEX if it is {0}K, N], --not-transposed REGEX if it is {0}N, K]",
                           t.shape.size() == 3 ? "[E, " : "["));
    return found == Orientation::columns_first;
}

QuantizedLinear linear_of(const Tensor &t, bool transposed, const QuantizeOptions &o) {
    if (t.dtype != "BF16" && t.dtype != "F16" && t.dtype != "F32")
        refuse_tensor(
            t, fmt::format("weights must be BF16, F16 or F32; convert the checkpoint to BF16 "
                           "first, or copy the tensor unchanged with --keep"));
    const size_t leading = t.shape.size() - 2;
    const u64 n = t.shape[leading + transposed], k = t.shape[leading + !transposed];
    check_shape(t, t.name, n, k, o);
    QuantizedLinear l{t.name, t.dtype, &t, nullptr, static_cast<u32>(n), static_cast<u32>(k)};
    l.columns_first = transposed;
    if (leading) {
        if (t.shape[0] < 1 || t.shape[0] >= most_weight_rows)
            refuse_tensor(
                t, fmt::format("has {} experts: must be 1 to 2^31 - 1; --keep copies the tensor "
                               "unchanged",
                               t.shape[0]));
        l.experts = static_cast<u32>(t.shape[0]);
    }
    l.scale_dtype = scale_dtype(t.dtype, o);
    return l;
}

QuantizedLinear linear_of(const CodedLayer &c, const QuantizeOptions &o) {
    check_shape(*c.codes, c.name, c.n, c.k, o);
    QuantizedLinear l{c.name, c.dtype, c.codes, &c, c.n, c.k, c.experts};
    l.scale_dtype = scale_dtype(c.dtype, o);
    return l;
}

std::vector<u64> shape_of(const CodedLayer &c) {
    return c.experts ? std::vector<u64>{c.experts, c.n, c.k} : std::vector<u64>{c.n, c.k};
}

// Adds a tensor that has a part for each expert.
void add_part(TensorOrder &order, size_t &index, u32 alignment, const QuantizedLinear &l,
              TensorSpec spec) {
    if (l.experts)
        spec.shape.insert(spec.shape.begin(), l.experts);
    order.add(index, alignment, std::move(spec));
}

void add_w4a16(TensorOrder &order, QuantizedLinear &l, const QuantizeOptions &o) {
    const u64 groups = l.k / o.group;
    const std::string &stem = l.name; // NAME.weight, or what --include names
    order.add(l.shape, 8, {stem + "_shape", "I64", {2}});
    add_part(order, l.weights, 4, l, {stem + "_packed", "I32", {l.n, l.k / 8}});
    if (o.zero_points)
        add_part(order, l.zeros, 4, l, {stem + "_zero_point", "I32", {ceil_div(l.n, 8u), groups}});
    add_part(order, l.scales, 2, l,
             {stem + "_scale", l.scale_dtype == Dtype::bf16 ? "BF16" : "F16", {l.n, groups}});
}

void add_linear(TensorOrder &order, QuantizedLinear &l, const QuantizeOptions &o) {
    const u64 blocks = l.k / 32;
    if (o.gguf) {
        l.head_rows = l.experts ? 0 : interleaved_rows(l.name, o.model, l.n);
        add_part(order, l.weights, 1, l,
                 {gguf_name(l.name, o.model, l.head_rows), std::string(name(o.to)), {l.n, l.k}});
    } else if (o.to == QuantizedType::mxfp4) {
        add_part(order, l.weights, 1, l, {l.name + "_blocks", "U8", {l.n, blocks, 16}});
        add_part(order, l.scales, 1, l, {l.name + "_scales", "U8", {l.n, blocks}});
    } else {
        add_w4a16(order, l, o);
    }
}

// A copied tensor, or one that is dequantized. GGUF pads tensors, so that there they stay in their
// order.
void add_copy(TensorOrder &order, size_t &index, const TensorSpec &t, const QuantizeOptions &o) {
    if (!o.gguf)
        return order.add(index, std::max(1u, dtype_bits(t.dtype).value_or(8) / 8), t);
    for (std::string_view type : {"f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64"})
        if (lower_case(t.dtype) == type)
            return order.add(index, 1,
                             {gguf_name(t.name, o.model, false), std::string(type), t.shape});
    throw Error(
        fmt::format("{} ({} {}): GGUF has no such type to copy it to: remove the tensor from "
                    "the input, or choose a type that is written as safetensors",
                    in_quotes(t.name), t.dtype, shape_text(t.shape)));
}

} // namespace

std::string_view name(QuantizedType type) {
    constexpr std::array names = {"w4a16", "q4_K", "mxfp4"};
    return names[static_cast<size_t>(type)];
}

u32 scale_block(const QuantizeOptions &o) {
    return o.to == QuantizedType::q4_K ? 256 : o.to == QuantizedType::mxfp4 ? 32 : o.group;
}

bool is_linear_name(std::string_view name) {
    if (name != "weight" && !name.ends_with(".weight"))
        return false;
    for (std::string_view other : {"embed", "norm", "lm_head", "wte", "wpe", "router"})
        if (name.find(other) != name.npos)
            return false;
    const std::string_view layer = name.substr(0, name.size() - std::min(name.size(), size_t{7}));
    return layer != "gate" && !layer.ends_with(".gate") && !layer.ends_with("_gate");
}

bool is_experts_name(std::string_view name) {
    return is_linear_name(name) &&
           (name.find("expert") != name.npos || name.find("moe") != name.npos);
}

QuantizePlan plan_quantization(std::span<const Tensor *const> tensors,
                               std::span<const CodedLayer> coded, const QuantizeOptions &o) {
    Patterns keep(o.keep, "--keep"), include(o.include, "--include"),
        transposed(o.transposed, "--transposed"), plain(o.not_transposed, "--not-transposed");
    QuantizePlan plan;
    for (const CodedLayer &layer : coded) {
        const bool kept = keep.match(layer.name), included = include.match(layer.name);
        if (!kept && (included || is_linear_name(layer.name)))
            plan.linears.push_back(linear_of(layer, o));
        else
            plan.dequantized.push_back({0, &layer});
    }
    for (const Tensor *t : tensors) {
        const bool matrix = t->shape.size() == 2, matrices = t->shape.size() == 3;
        const bool kept = (matrix || matrices) && keep.match(t->name),
                   included = (matrix || matrices) && include.match(t->name);
        if (!kept && (included || (matrix && is_linear_name(t->name)) ||
                      (matrices && is_experts_name(t->name))))
            plan.linears.push_back(linear_of(*t, is_transposed(*t, transposed, plain, o), o));
        else
            plan.copies.push_back({0, t});
    }
    for (const Patterns *patterns : {&keep, &include, &transposed, &plain})
        patterns->check_used();
    if (plan.linears.empty())
        throw Error(fmt::format("no linear weights among {} tensors: these are 2-D, or 3-D of "
                                "experts, called NAME.weight, and not of an embedding, norm, head "
                                "or router; --include quantizes others by name",
                                tensors.size()));
    TensorOrder order;
    for (QuantizedLinear &l : plan.linears)
        add_linear(order, l, o);
    for (auto &[index, t] : plan.copies)
        add_copy(order, index, {t->name, t->dtype, t->shape}, o);
    for (auto &[index, layer] : plan.dequantized)
        add_copy(order, index, {layer->name, layer->dtype, shape_of(*layer)}, o);
    plan.tensors = order.placed();
    return plan;
}

} // namespace nw
