// SPDX-License-Identifier: MIT
// nw inspect: contents of a checkpoint and what nw pack would make of it; contents of a GGUF file.
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "formats/layers/source_layers.h"
#include "formats/safetensors/json.h"
#include "nw/commands.h"
#include "nw/inspect/gguf.h"
#include "nw/inspect/text.h"

namespace nw::cli {

namespace {

using Json = nlohmann::json;

struct Options {
    std::string input, gfx = "gfx1151";
    bool json = false;
};

std::string zero_text(const SourceLinear &l) { return l.symmetric ? "sym" : "asym"; }

void print_files(const Checkpoint &c) {
    u64 bytes = 0, tensors = 0;
    for (const SafetensorsFile &file : c.files()) {
        bytes += file.size();
        tensors += file.tensors().size();
    }
    print_heading(fmt::format("{}: {}, {}, {} tensors", c.path().string(),
                              count_text(c.files().size(), "file"), size_text(bytes), tensors));
    for (const auto &[key, value] : c.files().front().metadata())
        print_clipped(fmt::format("metadata {} = {}", in_quotes(key), in_quotes(value)));
    for (const QuantizationConfig::Source &s : c.quantization().sources())
        print_clipped(fmt::format("{} = {}", s.where,
                                  s.object.dump(-1, ' ', true, Json::error_handler_t::replace)));
}

// K last.
std::vector<u64> shape_of(const SourceFp4 &s) {
    std::vector<u64> shape = s.outer;
    shape.push_back(s.k);
    return shape;
}

void print_text(const Checkpoint &c, const SourceLayers &found) {
    print_files(c);
    if (!found.linears.empty()) {
        fmt::print(
            "\n{} matrices of 4-bit layers; sym, asym: without and with zero points; group: "
            "weights per scale;\nperm: act-order; *: layer numbers, count: number of layers\n",
            found.linears.size());
        print_heading(fmt::format("{:<18} {:<4} {:>5} {:<5} {:>14} {:<9} {:>6}  {}", "format",
                                  "zero", "group", "scale", "N x K", "with", "count", "name"));
        Lines lines;
        for (const SourceLinear &l : found.linears) {
            const std::string with =
                fmt::format("{}{}{}", l.bias.empty() ? "" : "bias",
                            !l.bias.empty() && l.act_order ? "," : "", l.act_order ? "perm" : "");
            lines.add(fmt::format("{:<18} {:<4} {:>5} {:<5} {:>14} {:<9}", name(l.format),
                                  zero_text(l), l.per_row() ? "row" : std::to_string(l.group),
                                  l.scale_dtype, fmt::format("{} x {}", l.n, l.k), with),
                      l.name);
        }
        lines.print();
    }
    if (!found.fp4.empty()) {
        fmt::print("\n{} tensors of e2m1, which nw pack makes rows of ggml's blocks of\n",
                   found.fp4.size());
        print_heading(fmt::format("{:<7} {:>22} {:>6}  {}", "type", "shape", "count", "name"));
        Lines lines;
        for (const SourceFp4 &s : found.fp4)
            lines.add(
                fmt::format("{:<7} {:>22}", find_ggml_type(s.type)->name, shape_text(shape_of(s))),
                s.name);
        lines.print();
    }
    if (!found.others.empty()) {
        fmt::print("\n{} other tensors\n", found.others.size());
        print_heading(
            fmt::format("{:<7} {:>22} {:>10} {:>6}  {}", "type", "shape", "size", "count", "name"));
        Lines lines;
        for (const Tensor *t : found.others)
            lines.add(fmt::format("{:<7} {:>22} {:>10}", t->dtype, shape_text(t->shape),
                                  size_text(t->bytes.size())),
                      t->name);
        lines.print();
    }
    if (!found.carried.empty()) {
        fmt::print("\n{} tensors of layers, which nw pack copies beside them\n",
                   found.carried.size());
        Lines lines;
        for (const CarriedTensor &t : found.carried)
            lines.add(fmt::format("{:<7} {:>22}", t.tensor->dtype, shape_text(t.tensor->shape)),
                      t.tensor->name);
        lines.print();
    }
    for (const std::string &note : found.notes)
        fmt::print("note: {}\n", note);
    if (!found.problems.empty())
        fmt::print("\n{} layers that can't be read\n", found.problems.size());
    for (const std::string &problem : found.problems)
        fmt::print("{}\n", problem);
}

Json linear_json(const SourceLinear &l) {
    Json out = {{"name", l.name},
                {"tensor", l.tensor},
                {"format", name(l.format)},
                {"n", l.n},
                {"k", l.k},
                {"group", l.per_row() ? -1 : static_cast<i64>(l.group)},
                {"symmetric", l.symmetric},
                {"act_order", l.act_order},
                {"scale_dtype", l.scale_dtype},
                {"bias", !l.bias.empty()}};
    if (l.expert)
        out["expert"] = *l.expert;
    return out;
}

void print_json(const Checkpoint &c, const SourceLayers &found) {
    Json out = {
        {"path", c.path().string()}, {"quantization", Json::object()}, {"files", Json::array()},
        {"linears", Json::array()},  {"fp4", Json::array()},           {"carried", Json::array()},
        {"others", Json::array()},   {"problems", found.problems},     {"notes", found.notes}};
    for (const QuantizationConfig::Source &s : c.quantization().sources())
        out["quantization"][s.where] = s.object;
    for (const SafetensorsFile &file : c.files())
        out["files"].push_back({{"path", file.path().string()},
                                {"bytes", file.size()},
                                {"tensors", file.tensors().size()},
                                {"metadata", file.metadata()}});
    for (const SourceLinear &l : found.linears)
        out["linears"].push_back(linear_json(l));
    for (const CarriedTensor &t : found.carried)
        out["carried"].push_back({{"name", t.tensor->name}, {"layer", t.layer}, {"role", t.role}});
    for (const SourceFp4 &s : found.fp4)
        out["fp4"].push_back(
            {{"name", s.name}, {"type", find_ggml_type(s.type)->name}, {"shape", shape_of(s)}});
    for (const Tensor *t : found.others)
        out["others"].push_back({{"name", t->name},
                                 {"dtype", t->dtype},
                                 {"shape", t->shape},
                                 {"bytes", t->bytes.size()}});
    fmt::print("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
}

void run(const Options &o) {
    if (is_gguf(o.input))
        return inspect_gguf(o.input, o.gfx, o.json);
    const Checkpoint checkpoint{o.input};
    const SourceLayers found = read_layers(checkpoint);
    if (o.json)
        print_json(checkpoint, found);
    else
        print_text(checkpoint, found);
}

} // namespace

void add_inspect(Command &app) {
    auto options = std::make_shared<Options>();
    Command &command =
        app.add_subcommand("inspect", "List the contents of a checkpoint or GGUF file, and the "
                                      "layers of a checkpoint that nw pack can read");
    command.add("input", &options->input,
                "A safetensors file, or a directory with one or with shards and their index; "
                "or any file of a GGUF model",
                {.required = true});
    command.add("--gfx", &options->gfx, "For a GGUF model: the target whose kernels are listed",
                {.show_default = true});
    command.add("--json", &options->json,
                "Print everything as JSON; of GGUF arrays only the first elements");
    command.footer =
        "Layers whose names differ only in numbers share a line, with * for the numbers and their "
        "count.\nKernels are listed for 1, 8, 16 and 512 tokens at once; an embedding table that "
        "is only looked up needs none. --json adds their families,\nand the reason if a matrix has "
        "no kernel. The formulas of decoded GGUF types are in ref/gguf.h.\n\n"
        "  nw inspect model.gguf --gfx gfx1201\n"
        "  nw inspect checkpoint --json";
    command.run = [options] { run(*options); };
}

} // namespace nw::cli
