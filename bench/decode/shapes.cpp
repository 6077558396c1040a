// SPDX-License-Identifier: MIT
#include "bench/decode/shapes.h"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/half.h"
#include "bench/goals.h"
#include "formats/row_stride.h"

namespace nw::bench {

namespace {

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

std::vector<Goal> goals_of(const std::vector<Sized> &rows, const Bound &bound) {
    std::vector<Goal> out;
    for (u32 m : {2, 4})
        add_goal(out, rows, fmt::format("batch {} by batch 1", m), 1.03, true,
                 [&](const Sized &r) { return r.job.shape.m == m ? r.of_m1 : 0; });
    add_goal(
        out, rows, "batch 8 by batch 1, weights of 8 MiB and more", 1.15, true,
        [](const Sized &r) { return r.job.shape.m == 8 && is_large(r.job.shape) ? r.of_m1 : 0; });
    const auto of_bound = [&](const Sized &r, f64 overhead) {
        return 100 * bound.us(r.job.shape) / (r.time.us - overhead);
    };
    const auto large_alone = [](const Sized &r) {
        return r.job.shape.m == 1 && is_large(r.job.shape);
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
    const std::vector<Sized> rows = time_sized(jobs);
    const Bound bound = dram_bound(gfx);
    print_sized(rows, gfx, bound);
    for (const Sized &r : rows) {
        json.push_back(to_json(r, bound));
        json.back()["table"] = "shapes";
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
