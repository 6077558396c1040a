// SPDX-License-Identifier: MIT
#include "decode_shapes.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/half.h"
#include "formats/row_stride.h"
#include "goals.h"

namespace nw::bench {

namespace {

constexpr u64 large = u64{8} << 20; // bytes of weights from which goals hold

u64 weight_bytes(const ProductShape &p) { return u64{p.n} * p.k / 2; }

// Of each size one, by the first layer that has it.
std::vector<LinearShape> sizes(const std::vector<LinearShape> &shapes, u32 group) {
    std::set<std::pair<u32, u32>> seen;
    std::vector<LinearShape> out;
    for (const LinearShape &s : shapes)
        if (!s.moe && s.k % group == 0 && seen.emplace(s.n, s.k).second)
            out.push_back(s);
    return out;
}

std::vector<DecodeJob> jobs_of(const Options &o, const std::vector<LinearShape> &shapes,
                               const std::string &gfx, const std::regex &only) {
    std::vector<DecodeJob> out;
    for (const LinearShape &s : sizes(shapes, o.group))
        for (Dtype dtype : o.dtypes)
            for (Zeros zeros : {Zeros::eight, Zeros::packed})
                for (u32 m : o.m) {
                    const ProductShape p{
                        dtype, zeros, m, s.n, s.k, o.group, weight_row_stride(gfx, s.k)};
                    if (std::regex_search(name(p), only))
                        out.push_back({p, s.model, s.layer, &chosen_kernel(gfx, p)});
                }
    return out;
}

std::vector<Sized> run(const std::vector<DecodeJob> &jobs) {
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

void print_rows(const std::vector<Sized> &rows, const std::string &gfx, const Bound &bound) {
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
                   r.job.kernel->symbol.substr(sizeof "decode_w4a16"), r.time.us,
                   r.time.gb_per_s(p.bytes_moved()), 100 * bound.us(p) / r.time.us, r.time.slots,
                   r.job.kernel->vgprs, r.of_m1 > 0 ? fmt::format("{:.3f}", r.of_m1) : "-");
    }
}

// The row of the largest or smallest value of those that `value` has one for (above zero).
template <class Value>
void add_goal(std::vector<Goal> &goals, const std::vector<Sized> &rows, const std::string &what,
              f64 goal, bool at_most, const Value &value) {
    const Sized *worst = nullptr;
    for (const Sized &r : rows)
        if (value(r) > 0 &&
            (!worst || (at_most ? value(r) > value(*worst) : value(r) < value(*worst))))
            worst = &r;
    if (worst)
        goals.push_back({what, goal, value(*worst), at_most, name(worst->job.shape)});
}

std::vector<Goal> goals_of(const std::vector<Sized> &rows, const Bound &bound) {
    std::vector<Goal> out;
    for (u32 m : {2, 4})
        add_goal(out, rows, fmt::format("batch {} by batch 1", m), 1.03, true,
                 [&](const Sized &r) { return r.job.shape.m == m ? r.of_m1 : 0; });
    add_goal(out, rows, "batch 8 by batch 1, weights of 8 MiB and more", 1.15, true,
             [](const Sized &r) {
                 return r.job.shape.m == 8 && weight_bytes(r.job.shape) >= large ? r.of_m1 : 0;
             });
    const auto of_bound = [&](const Sized &r, f64 overhead) {
        return 100 * bound.us(r.job.shape) / (r.time.us - overhead);
    };
    const auto large_alone = [](const Sized &r) {
        return r.job.shape.m == 1 && weight_bytes(r.job.shape) >= large;
    };
    add_goal(out, rows, "% of DRAM's sustained bandwidth at m1, 8 MiB and more", 97, false,
             [&](const Sized &r) { return large_alone(r) ? of_bound(r, 0) : 0; });
    add_goal(out, rows, "the same without the launch's overhead", 97, false,
             [&](const Sized &r) { return large_alone(r) ? of_bound(r, bound.overhead_us) : 0; });
    add_goal(out, rows, "% of the bytes bound without it at m1, 2048x2048", 92, false,
             [&](const Sized &r) {
                 const ProductShape &p = r.job.shape;
                 return p.m == 1 && p.n == 2048 && p.k == 2048 ? of_bound(r, bound.overhead_us) : 0;
             });
    std::map<std::string, f64> symmetric;
    for (const Sized &r : rows)
        if (r.job.shape.zeros == Zeros::eight)
            symmetric[name(r.job.shape)] = r.time.slots;
    add_goal(out, rows, "slots per 8 weights at m1 that zero points add", 1, true,
             [&](const Sized &r) {
                 ProductShape p = r.job.shape;
                 p.zeros = Zeros::eight;
                 const auto found = symmetric.find(name(p));
                 return r.job.shape.m == 1 && r.job.shape.zeros != Zeros::eight &&
                                found != symmetric.end()
                            ? r.time.slots - found->second
                            : 0;
             });
    return out;
}

} // namespace

nlohmann::json decode_shapes(const Options &o, const std::vector<LinearShape> &shapes,
                             const std::regex &only) {
    const std::string gfx = simulated_gfx(o);
    nlohmann::json json = nlohmann::json::array();
    const std::vector<DecodeJob> jobs = jobs_of(o, shapes, gfx, only);
    if (jobs.empty())
        return json;
    const std::vector<Sized> rows = run(jobs);
    const Bound bound = dram_bound(gfx);
    print_rows(rows, gfx, bound);
    for (const Sized &r : rows) {
        json.push_back(to_json(r.job, r.time, bound));
        json.back()["table"] = "shapes";
        if (r.of_m1 > 0)
            json.back()["of_m1"] = r.of_m1;
    }
    for (const nlohmann::json &row : model_view(rows, shapes))
        json.push_back(row);
    const std::vector<Goal> goals = goals_of(rows, bound);
    print(goals);
    for (const Goal &g : goals)
        json.push_back(to_json(g));
    return json;
}

} // namespace nw::bench
