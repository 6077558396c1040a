// SPDX-License-Identifier: MIT
// nw info: static report of a kernel's registers, occupancy, loops and limiter.
#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/parallel.h"
#include "nw/code_object.h"
#include "nw/commands.h"
#include "nw/info/info.h"

namespace nw::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
    InfoOptions info;
    std::vector<std::string> files;
    std::string html;
    bool json = false;
};

std::string as_json(const InfoFile &file, const std::vector<std::unique_ptr<Info>> &kernels) {
    Json all = Json::array();
    for (const auto &info : kernels)
        all.push_back(info_json(*info));
    const Json out = {{"path", file.path},
                      {"gfx", file.gfx},
                      {"part", file.part->name},
                      {"model", "sim"},
                      {"kernels", std::move(all)}};
    return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

// Report options for a file.
std::string report(const Options &o, const std::string &path) {
    InfoFile file(path, o.info);
    std::vector<std::unique_ptr<Info>> kernels;
    for (const sim::KernelInfo *kernel : file.kernels(o.info.kernel))
        kernels.push_back(std::make_unique<Info>(file, *kernel, o.info));
    if (!o.html.empty())
        write_text("--html", o.html, info_html(kernels));
    if (o.json)
        return as_json(file, kernels);
    std::string out;
    for (const auto &info : kernels)
        out += (out.empty() ? "" : "\n") + info_text(*info);
    return out;
}

void info_all(const Options &o) {
    if (!o.html.empty() && o.files.size() != 1)
        throw Error(fmt::format("--html {}: takes one file, {} are given", o.html, o.files.size()));
    constexpr size_t at_once = 64; // files whose reports are held
    for (size_t begin = 0; begin < o.files.size(); begin += at_once) {
        std::vector<std::string> out(std::min(at_once, o.files.size() - begin));
        parallel_each(out.size(),
                      [&] { return [&](u64 n) { out[n] = report(o, o.files[begin + n]); }; });
        for (size_t n = 0; n < out.size(); ++n)
            fmt::print("{}{}",
                       o.json      ? (begin + n ? ",\n" : "[\n")
                       : begin + n ? "\n"
                                   : "",
                       out[n]);
    }
    if (o.json)
        fmt::print("\n]\n");
}

constexpr const char *footer = R"(
Static analysis: nothing runs. Cycles are counted per unit from the timing model and marked sim; they
exclude latency, caches and bank conflicts. Bytes and operations assume that all lanes are active: fma 2,
dot2 4, dot4 8, pk_fma 4 per lane, WMMA 16x16x16 8192 per instruction. In a loop each block counts once, an
inner loop by its trip count if that is known from the code.
Live VGPRs: liveness follows masks, 16-bit halves and d16 loads.

  nw info kernel.s --gfx gfx1151
  nw info build/hsaco/gfx1151/gemv_w4a16.hsaco --html page.html
  nw info kernel.s --json                  an array with one object per file: see kernels, loops, code)";

} // namespace

void add_info(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command =
        app.add_subcommand("info", "Show a kernel's registers, occupancy, loops and their bounds");
    command.footer = footer;
    command.add("file", &o->files, "Code objects, .s, .hip or .cl files", {.required = true});
    command.add("--kernel", &o->info.kernel, "Only this kernel");
    command.add("--gfx", &o->info.gfx, "Target; default: the file's");
    command.add("--part", &o->info.part,
                "The GPU, as in \"7900 XTX\"; default: the default part of the gfx");
    command.add("--workgroup", &o->info.workgroup,
                "Work-items per workgroup; default: .max_flat_workgroup_size",
                {.range = {1, 1024}});
    command.add("--lds", &o->info.dynamic_lds, "Bytes of dynamic LDS", {.range = {0, 65536}});
    command.add("--json", &o->json, "Print JSON");
    command.add("--html", &o->html, "Also write one HTML page to this file",
                {.writable_file = true});
    command.run = [o] { info_all(*o); };
}

} // namespace nw::cli
