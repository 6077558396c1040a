// SPDX-License-Identifier: MIT
#include "nw/inspect/gguf.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/gguf/gguf_model.h"
#include "formats/safetensors/json.h"
#include "nw/gfx.h"
#include "nw/inspect/kernels.h"
#include "nw/inspect/text.h"

namespace nw::cli {

namespace {

using Json = nlohmann::json;

constexpr u64 shown = 4; // elements of an array

// Number and bytes of one type's tensors.
struct Total {
    u64 tensors = 0, bytes = 0;
};

std::map<GgmlType, Total> totals(const std::vector<const GgufTensor *> &tensors) {
    std::map<GgmlType, Total> out;
    for (const GgufTensor *t : tensors) {
        Total &total = out[t->type];
        ++total.tensors;
        total.bytes += t->data.size();
    }
    return out;
}

bool decoded(GgmlType type) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    return info && info->decoded;
}

std::string value_text(const GgufValue &value) {
    switch (value.type) {
    case GgufType::string:
        return in_quotes(text(value));
    case GgufType::boolean:
        return truth(value) ? "true" : "false";
    case GgufType::f32:
        return fmt::format("{}", static_cast<f32>(real(value)));
    case GgufType::f64:
        return fmt::format("{}", real(value));
    case GgufType::array: {
        std::vector<std::string> first;
        for (const GgufValue &element : elements(value, shown))
            first.push_back(value_text(element));
        return fmt::format("{}[{}] [{}{}]", name(value.element), value.count,
                           fmt::join(first, ", "), value.count > shown ? ", ..." : "");
    }
    default:
        if (const auto number = unsigned_number(value))
            return std::to_string(*number);
        return std::to_string(*signed_number(value));
    }
}

Json value_json(const GgufValue &value) {
    Json out = {{"type", name(value.type)}};
    switch (value.type) {
    case GgufType::string:
        out["value"] = text(value);
        break;
    case GgufType::boolean:
        out["value"] = truth(value);
        break;
    case GgufType::f32:
    case GgufType::f64:
        out["value"] = real(value);
        break;
    case GgufType::array:
        out["element"] = name(value.element);
        out["count"] = value.count;
        out["first"] = Json::array();
        for (const GgufValue &element : elements(value, shown)) {
            const Json one = value_json(element);
            out["first"].push_back(one.contains("value") ? one["value"] : one);
        }
        break;
    default:
        if (const auto number = unsigned_number(value))
            out["value"] = *number;
        else
            out["value"] = *signed_number(value);
    }
    return out;
}

// N x K; experts x N x K; K alone.
std::string extent_text(const GgufTensor &t) {
    const std::vector<u64> sizes(t.shape().rbegin(), t.shape().rend());
    return sizes.empty() ? "1" : fmt::format("{}", fmt::join(sizes, " x "));
}

// Without the quotes: a name may hold bytes that are no text.
std::string plain(std::string_view name) {
    const std::string quoted = in_quotes(name);
    return quoted.substr(1, quoted.rfind('"') - 1) + quoted.substr(quoted.rfind('"') + 1);
}

u64 bytes_of(const GgufModel &model) {
    u64 bytes = 0;
    for (const GgufFile &file : model.files())
        bytes += file.size();
    return bytes;
}

void print_text(const GgufModel &model, const ModelKernels &kernels) {
    const auto tensors = model.tensors();
    print_heading(fmt::format("{}: {}, {}, GGUF {}, {}", model.path().string(),
                              count_text(model.files().size(), "file"), size_text(bytes_of(model)),
                              model.first().version, count_text(tensors.size(), "tensor")));
    if (!model.architecture().empty())
        fmt::print("architecture {}\n", in_quotes(model.architecture()));
    for (const GgufEntry &e : model.first().metadata)
        print_clipped(fmt::format("metadata {} = {}", in_quotes(e.key), value_text(e.value)));
    if (tensors.empty())
        return;
    fmt::print("\nTypes; decoded: nibblewave's kernels or references read it\n");
    print_heading(fmt::format("{:<12} {:>7} {:>10}  {}", "type", "tensors", "size", "decoded"));
    for (const auto &[type, total] : totals(tensors))
        fmt::print("{:<12} {:>7} {:>10}  {}\n", type_name(type), total.tensors,
                   find_ggml_type(type) ? size_text(total.bytes) : "?",
                   decoded(type) ? "yes" : "no");
    if (const std::string line = kernels.line(); !line.empty())
        print_wrapped(line);
    fmt::print("\nTensors; *: numbers of layers, count: how many; size: of one\n");
    print_heading(
        fmt::format("{:<12} {:>22} {:>10} {:>6}  {}", "type", "N x K", "size", "count", "name"));
    Lines lines;
    for (const GgufTensor *t : tensors)
        lines.add(fmt::format("{:<12} {:>22} {:>10}", type_name(t->type), extent_text(*t),
                              t->known() ? size_text(t->data.size()) : "?"),
                  plain(t->name));
    lines.print();
}

Json tensor_json(const GgufTensor &t, u64 file) {
    return {{"name", t.name},
            {"type", type_name(t.type)},
            {"type_id", static_cast<u32>(t.type)},
            {"ne", std::vector<u64>(t.shape().begin(), t.shape().end())},
            {"n", t.ne[1]},
            {"k", t.ne[0]},
            {"file", file},
            {"offset", t.offset},
            {"row_bytes", t.known() ? Json(t.row_bytes) : Json()},
            {"bytes", t.known() ? Json(t.data.size()) : Json()}};
}

Json kernels_json(const ModelKernels &kernels) {
    Json out = {{"gfx", kernels.gfx}, {"with", Json::array()}, {"without", Json::array()}};
    for (const ModelKernels::With &w : kernels.with) {
        out["with"].push_back({{"type", w.type}, {"experts", w.experts}, {"tensors", w.count}});
        for (u64 i = 0; i < w.families.size(); ++i)
            out["with"].back()["families"].push_back(
                {{"tokens", ModelKernels::tokens[i]},
                 {"family", w.families[i].empty() ? Json() : Json(w.families[i])}});
    }
    for (const ModelKernels::Without &w : kernels.without)
        out["without"].push_back(
            {{"type", w.type}, {"name", w.name}, {"tensors", w.count}, {"why", w.why}});
    return out;
}

void print_json(const GgufModel &model, const ModelKernels &kernels) {
    Json out = {{"path", model.path().string()},    {"architecture", model.architecture()},
                {"version", model.first().version}, {"files", Json::array()},
                {"metadata", Json::object()},       {"types", Json::array()},
                {"tensors", Json::array()},         {"kernels", kernels_json(kernels)}};
    for (const GgufFile &file : model.files()) {
        const u64 number = out["files"].size();
        for (const GgufTensor &t : file.contents().tensors)
            out["tensors"].push_back(tensor_json(t, number));
        out["files"].push_back({{"path", file.path().string()},
                                {"bytes", file.size()},
                                {"alignment", file.contents().alignment},
                                {"tensors", file.contents().tensors.size()}});
    }
    for (const GgufEntry &e : model.first().metadata)
        out["metadata"][std::string(e.key)] = value_json(e.value);
    for (const auto &[type, total] : totals(model.tensors()))
        out["types"].push_back({{"type", type_name(type)},
                                {"type_id", static_cast<u32>(type)},
                                {"tensors", total.tensors},
                                {"bytes", find_ggml_type(type) ? Json(total.bytes) : Json()},
                                {"decoded", decoded(type)}});
    fmt::print("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
}

} // namespace

bool is_gguf(const std::string &path) {
    const std::filesystem::path file(path);
    std::error_code none;
    return file.extension() == ".gguf" ||
           (std::filesystem::is_regular_file(file, none) && nw::is_gguf(MappedFile(file).bytes()));
}

void inspect_gguf(const std::string &path, const std::string &gfx, bool json) {
    check_gfx(gfx);
    const GgufModel model{path};
    (json ? print_json : print_text)(model, kernels_of(model, gfx));
}

} // namespace nw::cli
