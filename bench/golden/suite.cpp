// SPDX-License-Identifier: MIT
// The suite golden: the catalogue against bench/golden.
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "base/error.h"
#include "base/targets.h"
#include "bench/golden/golden.h"
#include "bench/result.h"
#include "hip/hip.h"
#include "runtime/catalogue.h"

namespace nw::bench {

namespace {

constexpr f64 tolerance_pct = 2;

std::string path_of(const std::string &gfx) {
    return fmt::format("{}/bench/golden/{}.json", NW_SOURCE_DIR, gfx);
}

void print(const std::string &heading, const std::vector<std::string> &lines) {
    constexpr u64 shown = 40; // of a change that touches all kernels, enough to see the direction
    if (lines.empty())
        return;
    fmt::print("{}: {}\n", heading, lines.size());
    for (u64 i = 0; i < std::min(shown, lines.size()); ++i)
        fmt::print("  {}\n", lines[i]);
    if (lines.size() > shown)
        fmt::print("  and {} more\n", lines.size() - shown);
}

void write(const std::string &gfx, const Golden &golden) {
    std::filesystem::create_directories(std::filesystem::path(path_of(gfx)).parent_path());
    std::ofstream file(path_of(gfx));
    file << to_text(gfx, golden);
    if (!file.flush())
        throw Error(fmt::format("{}: can't be written", path_of(gfx)));
}

bool is_built(std::string_view gfx) { return std::ranges::all_of(kernels(gfx), &Kernel::built); }

std::vector<std::string> targets(const Options &o) {
    std::vector<std::string> out;
    for (const Target &target : nw::targets())
        if (is_built(target.name) &&
            (o.device.empty() || o.device == fmt::format("sim:{}", target.name)))
            out.emplace_back(target.name);
    if (out.empty())
        throw Usage(fmt::format("--device {}: the suite golden has sim: and one of {}", o.device,
                                target_names()));
    return out;
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    u64 kernels = 0, worse = 0, others = 0;
    for (const auto &[gfx, now] : measure_golden(targets(o))) {
        kernels += now.size();
        if (!o.update_golden || std::filesystem::exists(path_of(gfx))) {
            const GoldenChanges changes = compare(read_golden(path_of(gfx)), now, tolerance_pct);
            print(fmt::format("{}: worse by more than {} %", gfx, tolerance_pct), changes.worse);
            print(fmt::format("{}: better", gfx), changes.better);
            print(fmt::format("{}: new", gfx), changes.added);
            print(fmt::format("{}: gone", gfx), changes.gone);
            worse += changes.worse.size();
            others += changes.better.size() + changes.added.size() + changes.gone.size();
        }
        if (o.update_golden)
            write(gfx, now);
    }
    if (o.update_golden)
        fmt::print("{} kernels in bench/golden\n", kernels);
    else if (worse || others)
        fmt::print(
            "{} kernels against bench/golden: {} figures worse; {} better, new or gone. Where "
            "that is meant: ./bench/run --update-golden\n",
            kernels, worse, others);
    else
        fmt::print("{} kernels as in bench/golden\n", kernels);
    Result out;
    out.right = o.update_golden || worse == 0;
    return out;
}

} // namespace nw::bench
