// SPDX-License-Identifier: MIT
// The suite golden: the kernels that are built against bench/golden.
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

const std::string path = NW_SOURCE_DIR "/bench/golden/golden.json";

void print(const std::string &heading, const std::vector<std::string> &lines) {
    constexpr u64 shown = 40; // lines; enough to see the direction of a change to all kernels
    if (lines.empty())
        return;
    fmt::print("{}: {}\n", heading, lines.size());
    for (u64 i = 0; i < std::min(shown, lines.size()); ++i)
        fmt::print("  {}\n", lines[i]);
    if (lines.size() > shown)
        fmt::print("  and {} more\n", lines.size() - shown);
}

void write(const GoldenOfAll &golden) {
    std::ofstream file(path);
    file << to_text(golden);
    if (!file.flush())
        throw Error(fmt::format("{}: can't be written", path));
}

bool any_built(std::string_view gfx) { return std::ranges::any_of(kernels(gfx), &Kernel::built); }

std::vector<std::string> targets(const Options &o) {
    std::vector<std::string> out;
    for (const Target &target : nw::targets())
        if (any_built(target.name) &&
            (o.device.empty() || o.device == fmt::format("sim:{}", target.name)))
            out.emplace_back(target.name);
    if (out.empty())
        throw Usage(fmt::format("--device {}: the suite golden has sim: and one of {}", o.device,
                                target_names()));
    return out;
}

bool is_unbuilt(std::string_view gfx, const std::string &symbol) {
    const Kernel *kernel = find_kernel(gfx, symbol);
    return kernel && !kernel->built;
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    u64 kernels = 0, unbuilt = 0, worse = 0, others = 0;
    GoldenOfAll golden;
    if (!o.update_golden || std::filesystem::exists(path))
        golden = read_golden(path);
    for (auto &[gfx, now] : measure_golden(targets(o))) {
        Golden before = golden[gfx];
        unbuilt += std::erase_if(
            before, [&, name = gfx](const auto &row) { return is_unbuilt(name, row.first); });
        const GoldenChanges changes = compare(before, now, tolerance_pct);
        print(fmt::format("{}: worse by more than {} %", gfx, tolerance_pct), changes.worse);
        print(fmt::format("{}: better", gfx), changes.better);
        print(fmt::format("{}: new", gfx), changes.added);
        print(fmt::format("{}: gone", gfx), changes.gone);
        kernels += now.size();
        worse += changes.worse.size();
        others += changes.better.size() + changes.added.size() + changes.gone.size();
        std::erase_if(golden[gfx], [&, name = gfx](const auto &row) {
            return !is_unbuilt(name, row.first); // kept where they can't be measured now
        });
        golden[gfx].merge(now);
    }
    if (unbuilt)
        fmt::print("{} kernels of bench/golden are not built: not compared\n", unbuilt);
    if (o.update_golden) {
        write(golden);
        fmt::print("{} kernels in bench/golden\n", kernels);
    } else if (worse || others)
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
