// SPDX-License-Identifier: MIT
// nw inspect: what is in a checkpoint, and what nw pack would make of it.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/commands.h"
#include "formats/json.h"
#include "formats/source_linear.h"

namespace nw::cli {

namespace {

using Json = nlohmann::json;

struct Options {
    std::string input;
    bool json = false;
};

std::string size_text(u64 bytes) {
    if (bytes < 10'000)
        return fmt::format("{} B", bytes);
    return bytes < 1'000'000'000 ? fmt::format("{:.1f} MB", static_cast<f64>(bytes) / 1e6)
                                 : fmt::format("{:.2f} GB", static_cast<f64>(bytes) / 1e9);
}

// a.12.b as a.*.b: what the layers of a model have in common.
std::string pattern(const std::string &name) {
    std::string out, part;
    const auto flush = [&] {
        const bool number = !part.empty() && part.find_first_not_of("0123456789") == part.npos;
        out += number ? "*" : part;
        part.clear();
    };
    for (char c : name) {
        if (c != '.') {
            part += c;
            continue;
        }
        flush();
        out += c;
    }
    flush();
    return out;
}

std::string zero_text(const SourceLinear &l) { return l.symmetric ? "sym" : "asym"; }

// Lines that differ in numbers only, once, in the order they came.
class Lines {
public:
    void add(const std::string &left, const std::string &name) {
        const std::string right = pattern(name);
        const auto [found, fresh] = place_.try_emplace(left + right, rows_.size());
        if (fresh)
            rows_.push_back({left, right, 0});
        ++rows_[found->second].count;
    }
    void print() const {
        for (const Row &row : rows_)
            fmt::print("{} {:>6}  {}\n", row.left, row.count, row.right);
    }

private:
    struct Row {
        std::string left, right;
        u64 count;
    };
    std::vector<Row> rows_;
    std::map<std::string, size_t> place_;
};

void print_files(const Checkpoint &c) {
    u64 bytes = 0, tensors = 0;
    for (const SafetensorsFile &file : c.files()) {
        bytes += file.size();
        tensors += file.tensors().size();
    }
    fmt::print("{}: {} file{}, {}, {} tensors\n", c.path().string(), c.files().size(),
               c.files().size() == 1 ? "" : "s", size_text(bytes), tensors);
    for (const auto &[key, value] : c.files().front().metadata())
        fmt::print("metadata {} = {}\n", in_quotes(key), in_quotes(value));
    if (!c.quantization().empty())
        fmt::print("quantization {}\n",
                   c.quantization().dump(-1, ' ', true, Json::error_handler_t::replace));
}

void print_text(const Checkpoint &c, const SourceLinears &found) {
    print_files(c);
    if (!found.linears.empty()) {
        fmt::print(
            "\n{} matrices of 4-bit layers\n{:<18} {:<4} {:>5} {:<5} {:>16} {:<9} {:>6}  {}\n",
            found.linears.size(), "format", "zero", "group", "scale", "N x K", "with", "count",
            "name");
        Lines lines;
        for (const SourceLinear &l : found.linears) {
            const std::string with =
                fmt::format("{}{}{}", l.bias.empty() ? "" : "bias",
                            !l.bias.empty() && l.act_order ? "," : "", l.act_order ? "perm" : "");
            lines.add(fmt::format("{:<18} {:<4} {:>5} {:<5} {:>16} {:<9}", name(l.format),
                                  zero_text(l), l.per_row() ? "row" : std::to_string(l.group),
                                  l.scale_dtype, fmt::format("{} x {}", l.n, l.k), with),
                      l.name);
        }
        lines.print();
    }
    if (!found.others.empty()) {
        fmt::print("\n{} other tensors\n", found.others.size());
        Lines lines;
        for (const Tensor *t : found.others)
            lines.add(fmt::format("{:<7} {:>22} {:>10}", t->dtype, shape_text(t->shape),
                                  size_text(t->bytes.size())),
                      t->name);
        lines.print();
    }
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

void print_json(const Checkpoint &c, const SourceLinears &found) {
    Json out = {{"path", c.path().string()}, {"quantization", c.quantization()},
                {"files", Json::array()},    {"linears", Json::array()},
                {"others", Json::array()},   {"problems", found.problems}};
    for (const SafetensorsFile &file : c.files())
        out["files"].push_back({{"path", file.path().string()},
                                {"bytes", file.size()},
                                {"tensors", file.tensors().size()},
                                {"metadata", file.metadata()}});
    for (const SourceLinear &l : found.linears)
        out["linears"].push_back(linear_json(l));
    for (const Tensor *t : found.others)
        out["others"].push_back({{"name", t->name},
                                 {"dtype", t->dtype},
                                 {"shape", t->shape},
                                 {"bytes", t->bytes.size()}});
    fmt::print("{}\n", out.dump(1, ' ', false, Json::error_handler_t::replace));
}

void run(const Options &o) {
    const Checkpoint checkpoint{o.input};
    const SourceLinears found = find_linears(checkpoint);
    (o.json ? print_json : print_text)(checkpoint, found);
}

} // namespace

void add_inspect(CLI::App &app) {
    auto options = std::make_shared<Options>();
    CLI::App *command = app.add_subcommand(
        "inspect", "Say what is in a checkpoint, and which of its layers nw pack can read");
    command
        ->add_option("input", options->input,
                     "A safetensors file, or a folder with one or with shards and their index")
        ->required();
    command->add_flag("--json", options->json, "Everything, as JSON");
    command->footer("Names of layers that differ in numbers only are one line, with * for the "
                    "numbers; count says how many.");
    command->callback([options] { run(*options); });
}

} // namespace nw::cli
