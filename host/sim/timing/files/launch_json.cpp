// SPDX-License-Identifier: MIT
#include "sim/timing/files/launch_json.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/timing/constants/draws.h"
#include "sim/timing/limiter.h"

namespace nw::sim::timing {

using Json = nlohmann::ordered_json;

namespace {

Json json(const Dim3 &dim) { return {dim.x, dim.y, dim.z}; }

Json json(const InstCounts &counts) {
    return {{"valu", counts.valu},
            {"vopd", counts.vopd},
            {"trans", counts.trans},
            {"wmma", counts.wmma},
            {"salu", counts.salu},
            {"smem", counts.smem},
            {"vmem_load", counts.vmem_load},
            {"vmem_store", counts.vmem_store},
            {"lds", counts.lds},
            {"branch", counts.branch},
            {"wait", counts.wait},
            {"other", counts.other},
            {"total", counts.total()}};
}

Json json(const ByteCounts &bytes) {
    return {{"global_load", bytes.global_load},
            {"global_store", bytes.global_store},
            {"lds_read", bytes.lds_read},
            {"lds_write", bytes.lds_write}};
}

Json json(const FidelityCounts &counts) {
    return {{"exact", counts.exact},
            {"approximate", counts.approximate},
            {"open", counts.open},
            {"notes", counts.notes}};
}

f64 rate(const MemoryCounts::Cache &cache) {
    const u64 all = cache.hits + cache.misses;
    return all ? static_cast<f64>(cache.hits) / static_cast<f64>(all) : 0;
}

// Busy cycles of units, summed over the part: VALU, WMMA, TRANS and SALU have one unit per SIMD,
// LDS one per two SIMDs.
Json json(const Busy &busy, const auto &whole) {
    return {{"valu", whole(busy.valu)},   {"wmma", whole(busy.wmma)},
            {"trans", whole(busy.trans)}, {"salu", whole(busy.salu)},
            {"lds", whole(busy.lds)},     {"lds_conflicts", whole(busy.lds_conflicts)}};
}

// Counts of the timed workgroups, scaled up to the whole grid.
void add_times(Json &line, const Result &r, const RunStats &stats) {
    const auto whole = [&](u64 count) {
        return static_cast<u64>(static_cast<f64>(count) * r.scale + 0.5);
    };
    Json stalls = Json::object();
    for (size_t n = 1; n < r.stalls.size(); ++n)
        stalls[std::string(name(static_cast<Stall>(n)))] = whole(r.stalls[n]);
    line["part"] = r.part;
    line["label"] = "sim";
    line["cycles"] = r.cycles;
    line["time_us"] = r.time_us;
    line["mhz"] = r.mhz;
    if (!r.draws_us.empty()) {
        const auto [low, high] = bounds(r.time_us, r.draws_us);
        line["time_low_us"] = low;
        line["time_high_us"] = high;
        line["draws_us"] = r.draws_us;
    }
    if (const f64 share = fetch_share(r); share >= cold_code_share)
        line["note"] = fmt::format("cold code: {:.0f} % of the waves' cycles wait for instructions "
                                   "that no cache near them has; warm=code leaves this out",
                                   100 * share);
    line["limiter"] = r.limiter;
    line["occupancy"] = r.occupancy;
    line["stalls"] = stalls;
    line["simds"] = r.simds;
    line["busy"] = json(r.busy, whole);
    line["dram_read"] = std::llround(r.dram_read);
    line["dram_write"] = std::llround(r.dram_write);
    line["l0_hit_rate"] = rate(r.memory.l0);
    line["gl1_hit_rate"] = rate(r.memory.gl1);
    line["l2_hit_rate"] = rate(r.memory.l2);
    line["mall_hit_rate"] = rate(r.memory.mall);
    line["gb_per_s"] = r.time_us > 0
                           ? static_cast<f64>(stats.bytes.global_load + stats.bytes.global_store) /
                                 r.time_us / 1000
                           : 0;
    line["dram_gb_per_s"] = r.time_us > 0 ? (r.dram_read + r.dram_write) / r.time_us / 1000 : 0;
    line["groups_timed"] = r.groups_timed;
    line["sampling_error"] = r.sampling_error;
    line["unknown_classes"] = r.unknown;
}

} // namespace

nlohmann::ordered_json launch_json(const Dispatch &dispatch, const Device &device,
                                   const RunStats &stats, const Result *times) {
    const KernelInfo &kernel = *dispatch.kernel;
    const u32 lds_bytes = kernel.lds_bytes + dispatch.dynamic_lds;
    const u32 workgroup = dispatch.block.x * dispatch.block.y * dispatch.block.z;
    Json line = {
        {"kernel", kernel.name},
        {"gfx", device.gfx},
        {"grid", json(dispatch.grid)},
        {"block", json(dispatch.block)},
        {"lds_bytes", lds_bytes},
        {"vgprs", kernel.vgprs},
        {"sgprs", kernel.sgprs},
        {"waves_per_simd", waves_per_simd(device, kernel, workgroup, lds_bytes)},
        {"insts", json(stats.insts)},
        {"bytes", json(stats.bytes)},
        {"fidelity", json(stats.fidelity)},
        {"math", stats.fast_math ? "fast" : "exact"},
    };
    if (times)
        add_times(line, *times, stats);
    return line;
}

} // namespace nw::sim::timing
