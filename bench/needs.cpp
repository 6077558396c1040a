// SPDX-License-Identifier: MIT
#include "bench/needs.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "base/targets.h"
#include "bench/published.h"
#include "hip/hip.h"
#include "runtime/catalogue.h"

namespace nw::bench {

namespace {

std::set<std::string> all_targets() {
    std::set<std::string> out;
    for (const Target &target : targets())
        out.emplace(target.name);
    return out;
}

// Targets that the suite itself opens, in addition to the device's.
std::set<std::string> gfx_of_suite(const Options &o) {
    if (o.suite == "golden" && o.device.empty())
        return all_targets();
    if (o.suite == "validate" || o.suite == "sensitivity") {
        std::set<std::string> out = {std::string(published_gfx)};
        for (const PublishedCycles &row : read_published_cycles(NW_BENCH_DATA "/cycles.csv"))
            out.insert(row.gfx);
        return out;
    }
    if (o.suite == "decode" || o.suite == "prefill") // their tables of published times
        return {std::string(published_gfx)};
    if (o.suite == "stride" && o.device.empty())
        return {stride_targets.begin(), stride_targets.end()};
    return {};
}

// Other suites use a simulated device unless one is named.
bool opens_device(const Options &o) {
    return o.suite == "layer" || o.suite == "micro" || o.suite == "moe";
}

// The build has no target for a family without kernels for the gfx.
bool has_kernels(std::string_view gfx, std::string_view family) {
    const std::span<const Kernel> all = kernels(gfx);
    return std::ranges::find(all, family, &Kernel::family) != all.end();
}

std::set<std::string> gfx_needed(const Options &o) {
    if (std::ranges::find(o.gfx, "all") != o.gfx.end())
        return all_targets();
    if (!o.gfx.empty())
        return {o.gfx.begin(), o.gfx.end()};
    std::set<std::string> out = gfx_of_suite(o);
    if (opens_device(o) || !o.device.empty())
        out.insert(hip::Device(o.device).info().gfx);
    else if (out.empty())
        out.insert(std::string(published_gfx));
    return out;
}

} // namespace

std::vector<std::string> targets_needed(const Options &o, const Suite &suite) {
    std::vector<std::string> out = {fmt::format("nw_bench_{}", suite.name)};
    if (!suite.kernels)
        return out;
    for (const std::string &name : gfx_needed(o)) {
        if (const Target *target = find_target(name); !target || !target->supported)
            throw Usage(fmt::format("--gfx {}: must be all, or of {}", name, target_names()));
        if (suite.families.empty())
            out.push_back("kernels_" + name);
        for (const auto *families : {&suite.families, &suite.others})
            for (std::string_view family : *families)
                if (has_kernels(name, family))
                    out.push_back(fmt::format("kernels_{}_{}", name, family));
    }
    return out;
}

} // namespace nw::bench
