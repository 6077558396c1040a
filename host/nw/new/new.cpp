// SPDX-License-Identifier: MIT
// nw new: writes a small kernel to begin with.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <regex>
#include <sstream>

#include "nw/code_object.h"
#include "nw/commands.h"

namespace nw::cli {

namespace {

// The files of this folder: a kernel of each kind in assembly and HIP, and targets.s.
constexpr struct {
    std::string_view name, text;
} files[] = {
#include "new_files.inc"
};

struct Options {
    std::string file, kind = "elementwise";
    bool hip = false;
};

// Without the licence line: what is written belongs to the user.
std::string text_of(std::string_view name) {
    const auto at =
        std::ranges::find_if(files, [&](const auto &file) { return file.name == name; });
    return std::string(at->text.substr(at->text.find('\n') + 1));
}

void replace(std::string &text, std::string_view what, const std::string &by) {
    if (const size_t at = text.find(what); at != text.npos)
        text.replace(at, what.size(), by);
}

// The template of the kind, with the kernel's name.
std::string kernel_text(const Options &o, bool hip, const std::string &name) {
    std::string kind = o.kind;
    std::ranges::replace(kind, '-', '_');
    std::string text = text_of(kind + (hip ? ".hip" : ".s"));
    replace(text, "        .include        \"targets.s\"\n", text_of("targets.s"));
    return std::regex_replace(text, std::regex("\\b" + kind + "\\b"), name);
}

std::filesystem::path path_of(const Options &o) {
    std::filesystem::path path = o.file;
    if (!path.has_extension())
        path += o.hip ? ".hip" : ".s";
    const std::string suffix = path.extension();
    if (suffix != ".s" && suffix != ".hip")
        throw Error(fmt::format("{}: must end with .s or .hip", o.file));
    if (o.hip && suffix != ".hip")
        throw Error(fmt::format("--hip {}: files in HIP end with .hip", o.file));
    if (!std::regex_match(path.stem().string(), std::regex("[A-Za-z_]\\w*")))
        throw Error(
            fmt::format("{}: '{}' names the kernel, so it must be a word of letters, digits "
                        "and _",
                        o.file, path.stem().string()));
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored))
        throw Error(fmt::format("{}: exists: choose another name, or remove it", path.string()));
    return path;
}

void run(const Options &o) {
    const std::filesystem::path path = path_of(o);
    const std::string text = kernel_text(o, path.extension() == ".hip", path.stem().string());
    write_text("file", path.string(), text);
    fmt::print("{}: {} kernel; to run and to time it:\n", path.string(), o.kind);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("//   nw "))
            fmt::print("  {}\n", line.substr(5));
}

constexpr const char *footer = R"(
elementwise  y = a * x + b
reduction    sums of rows: over lanes by DPP, over waves through LDS
lds-tile     a transpose by tiles in LDS, without bank conflicts
wmma-tile    a 16 x 16 tile of a matrix product by WMMA; gfx11 and gfx12
pipelined    dot products of rows, whose loads run a step ahead

One file is for all targets: what they spell otherwise is at its top.

  nw new saxpy.s
  nw new softmax.hip --kind reduction)";

} // namespace

void add_new(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand("new", "Write a small kernel to begin with");
    command.footer = footer;
    command.add("file", &o->file,
                "The file to write, .s for assembly or .hip; its name is the kernel's",
                {.required = true});
    command.add("--kind", &o->kind, "What it shows",
                {.one_of = {"elementwise", "reduction", "lds-tile", "wmma-tile", "pipelined"},
                 .show_default = true});
    command.add("--hip", &o->hip, "HIP instead of assembly, for a file without .s or .hip");
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
