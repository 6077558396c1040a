// SPDX-License-Identifier: MIT
#include "bench/decode_times.h"

#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/half.h"
#include "base/processes.h"
#include "bench/part_constants.h"
#include "bench/stats.h"

namespace nw::bench {

namespace {

std::string_view name(Zeros zeros) {
    return zeros == Zeros::eight ? "sym" : zeros == Zeros::packed ? "zp" : "zt";
}

DecodeTime time(const DecodeJob &job) {
    StatsFile stats; // first: a device reads where its statistics go when it is opened
    const hip::Device device("sim:" + std::string(job.kernel->gfx));
    ColdProduct product(device, std::span(&job.shape, 1), 1);
    std::optional<Instructions> counts;
    DecodeTime out;
    out.us = product_us(
        product, *job.kernel, job.shape, [&] { counts = stats.next(job.kernel->symbol); },
        job.workgroups);
    if (counts)
        out.slots = slots_per_8_weights(*counts, job.shape);
    return out;
}

} // namespace

Bound dram_bound(const std::string &gfx) {
    const std::vector<Constant> constants = part_constants(gfx);
    return {value_of(constants, "dram_gb_per_s") * value_of(constants, "dram_efficiency"),
            value_of(constants, "launch_overhead")};
}

f64 slots_per_8_weights(const Instructions &counts, const ProductShape &p) {
    return 32.0 * 8 * static_cast<f64>(counts.valu_slots()) / (f64{1} * p.n * p.k);
}

std::vector<DecodeTime> time_decode(const std::vector<DecodeJob> &jobs) {
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<u64> work;
    for (const DecodeJob &job : jobs)
        work.push_back(u64{job.shape.n} * job.shape.k * (2 + job.shape.m));
    return in_processes<DecodeTime>(work, [&](u64 i) { return time(jobs[i]); });
}

std::string type_name(const ProductShape &p) {
    return fmt::format("{} {} m{}", nw::name(p.dtype), name(p.zeros), p.m);
}

std::string name(const ProductShape &p) {
    return fmt::format("{}x{} g{} {}", p.k, p.n, group_name(p.group), type_name(p));
}

std::string columns(const ProductShape &p) {
    return fmt::format("{:>12} {:>4} {:<11}", fmt::format("{}x{}", p.k, p.n), group_name(p.group),
                       type_name(p));
}

std::string simulated_gfx(const Options &o) {
    if (o.device.empty() || o.device == "sim")
        return "gfx1151";
    if (!o.device.starts_with("sim:"))
        throw Usage(fmt::format("--device {}: suite {} is of modelled times, on sim:gfx...; for a "
                                "card there is the suite layer",
                                o.device, o.suite));
    return o.device.substr(4);
}

nlohmann::json to_json(const DecodeJob &job, const DecodeTime &time, const Bound &bound) {
    const ProductShape &p = job.shape;
    return {{"kernel", job.kernel->symbol},
            {"gfx", job.kernel->gfx},
            {"model", job.model},
            {"layer", job.layer},
            {"dtype", nw::name(p.dtype)},
            {"group", group_name(p.group)},
            {"zp", name(p.zeros)},
            {"m", p.m},
            {"n", p.n},
            {"k", p.k},
            {"row_stride", p.w_stride},
            {"valu_slots_per_8w", time.slots},
            {"vgprs", job.kernel->vgprs},
            {"lds_bytes", job.kernel->lds_bytes},
            {"waves_per_simd", job.kernel->waves_per_simd},
            {"time_us", time.us},
            {"gb_per_s", time.gb_per_s(p.bytes_moved())},
            {"pct_of_bound", 100 * bound.us(p) / time.us},
            {"bound", "dram"}};
}

} // namespace nw::bench
