// SPDX-License-Identifier: MIT
#include "bench/decode/sized.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>

namespace nw::bench {

namespace {

// All but the family's "_w4a16".
std::string short_name(const Kernel &kernel) {
    std::string out(kernel.symbol);
    if (const u64 at = out.find("_w4a16"); at != out.npos)
        out.erase(at, sizeof "_w4a16" - 1);
    return out;
}

} // namespace

std::vector<Sized> time_sized(const std::vector<DecodeJob> &jobs) {
    const std::vector<DecodeTime> times = time_decode(jobs);
    std::map<std::string, f64> alone;
    std::vector<Sized> out;
    for (u64 i = 0; i < jobs.size(); ++i) {
        out.push_back({jobs[i], times[i], 0});
        if (jobs[i].shape.m == 1)
            alone[name(jobs[i].shape)] = times[i].us;
    }
    for (Sized &s : out) {
        ProductShape one = s.job.shape;
        one.m = 1;
        if (const auto found = alone.find(name(one)); found != alone.end())
            s.of_m1 = s.time.us / found->second;
    }
    return out;
}

void print_sized(const std::vector<Sized> &rows, const std::string &gfx, const Bound &bound) {
    fmt::print("\nLinear layers on sim {}, weights cold; zp: packed zero points; GB/s of all bytes "
               "moved, and the time of\nthese at {:.1f} GB/s, which the model's DRAM sustains, in "
               "percent of ours; slots: VALU issue slots per 8\nweights and lane; /m1: time by "
               "that of one row of activations\n\n"
               "{:>12} {:>4} {:<11} {:<30} {:>9} {:>6} {:>6} {:>6} {:>5} {:>6}\n",
               gfx, bound.gb_per_s, "K x N", "g", "type", "kernel", "us", "GB/s", "bound", "slots",
               "vgprs", "/m1");
    for (const Sized &r : rows) {
        const ProductShape &p = r.job.shape;
        fmt::print("{} {:<30} {:>9.2f} {:>6.1f} {:>5.1f}% {:>6.2f} {:>5} {:>6}\n", columns(p),
                   short_name(*r.job.kernel), r.time.us, r.time.gb_per_s(p.bytes_moved()),
                   100 * bound.us(p) / r.time.us, r.time.slots, r.job.kernel->vgprs,
                   r.of_m1 > 0 ? fmt::format("{:.3f}", r.of_m1) : "-");
    }
}

nlohmann::json to_json(const Sized &r, const Bound &bound) {
    nlohmann::json out = to_json(r.job, r.time, bound);
    if (r.of_m1 > 0)
        out["of_m1"] = r.of_m1;
    return out;
}

bool is_large(const ProductShape &p) { return u64{p.n} * p.k / 2 >= u64{8} << 20; }

void add_goal(std::vector<Goal> &goals, const std::vector<Sized> &rows, const std::string &what,
              f64 goal, bool at_most, const std::function<f64(const Sized &)> &value) {
    add_goal(goals, rows, what, goal, at_most, value,
             [](const Sized &r) { return name(r.job.shape); });
}

} // namespace nw::bench
