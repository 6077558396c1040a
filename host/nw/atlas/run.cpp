// SPDX-License-Identifier: MIT
#include "nw/atlas/run.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <map>

#include "base/error.h"
#include "nw/atlas/facts.h"
#include "nw/atlas/launches.h"
#include "nw/atlas/plan.h"
#include "runtime/files.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;

namespace {

// Groups shapes of similar size from any model; only products have an n.
std::string shape_bucket(const AtlasJob &job, bool product) {
    const GgufShape &p = job.shape;
    const std::string n = product ? fmt::format("n{} ", std::bit_ceil(p.n)) : "";
    const std::string of =
        job.experts ? fmt::format(" e{}/{}", job.experts->shape.top_k, job.experts->shape.experts)
                    : "";
    return fmt::format("m{} {}k{}{}", std::bit_ceil(p.m), n, std::bit_ceil(p.k), of);
}

Json workload_json(const LinearShape &layer, const AtlasJob &job, std::string_view op) {
    const GgufShape &p = job.shape;
    Json out = {{"suite", "gguf"},
                {"phase", atlas_phase(p.m)},
                {"model", layer.model},
                {"layer", layer.layer},
                {"op", op},
                {"type", p.type},
                {"m", p.m}};
    if (op == "product")
        out["n"] = p.n;
    out["k"] = p.k;
    out["count"] = layer.count;
    if (job.experts) {
        out["experts"] = layer.experts, out["top_k"] = layer.top_k;
        out["experts_met"] = atlas_work(job).matrices;
    }
    out["shape_bucket"] = shape_bucket(job, op == "product");
    return out;
}

// Bytes moved. Products: the weights, which are not cached; activations: reads and writes, which
// may be; lists: those of slots.
u64 bytes_of(const AtlasJob &job, std::string_view op) {
    if (op == "product")
        return atlas_work(job).bytes;
    if (op == "lists")
        return u64{8} * job.experts->shape.slots();
    const u64 rows = job.experts ? job.experts->shape.rows() : job.shape.m;
    return 4 * rows * job.shape.k + activation_bytes(*job.kernel, job.op());
}

Json metrics_json(const AtlasJob &job, std::string_view op, f64 us, u32 runs,
                  const AtlasBound &bound, const std::string &stats) {
    const u64 bytes = bytes_of(job, op);
    Json out = {{"time_us", us}, {"runs", runs}, {"bytes", bytes}};
    add_atlas_draws(out, stats);
    out["gb_per_s"] = static_cast<f64>(bytes) / us / 1e3;
    if (op == "product")
        out["tflops"] = 2 * atlas_work(job).macs / us / 1e6;
    out.update(atlas_bounds(bound, us));
    return out;
}

u32 dynamic_lds(const AtlasJob &job, std::string_view op, u32 wgps) {
    return op == "product" ? dynamic_lds_of(*job.kernel, job.op(), wgps) : 0;
}

class Writer {
public:
    Writer(const AtlasRunOptions &o, const hip::DeviceInfo &on, const AtlasPlan &plan,
           const std::vector<AtlasTimed> &timed)
        : on_(on), plan_(plan), timed_(timed), runs_(on.simulated ? 1 : o.repeats),
          part_(on.gfx, on.simulated ? part_said(timed) : on.name),
          facts_(find_directory(on.gfx), part_.part), commit_(atlas_commit()) {
        for (const AtlasPlanned &p : plan.rows)
            layers_us_[atlas_set(p.layer, job(p).shape)] += p.layer.count * timed[p.job].sum();
    }

    std::vector<Json> rows() {
        std::vector<Json> out;
        for (const AtlasPlanned &p : plan_.rows)
            for (u32 op = 0; op < atlas_ops.size(); ++op)
                if (job(p).launches()[op])
                    out.push_back(row(p, op));
        return out;
    }

private:
    static std::string part_said(const std::vector<AtlasTimed> &timed) {
        return Json::parse(timed.front().stats[0]).at("part").get<std::string>();
    }
    const AtlasJob &job(const AtlasPlanned &p) const { return plan_.jobs[p.job]; }

    Json row(const AtlasPlanned &p, u32 op) {
        const AtlasJob &of = job(p);
        const Kernel &kernel = *of.launches()[op];
        const f64 us = timed_[p.job].us[op];
        const std::string_view name = atlas_ops[op];
        const AtlasBound bound = name == "product" ? product_bound(part_, atlas_work(of))
                                                   : AtlasBound{part_.part.launch_overhead};
        Json out = {{"schema", atlas_schema},
                    {"source", "suite gguf"},
                    {"device", on_.simulated ? "sim" : "card"},
                    {"device_name", on_.label},
                    {"part", part_.part.name},
                    {"part_assumed", part_.assumed},
                    {"gfx", on_.gfx},
                    {"commit", commit_},
                    {"kernel", kernel.symbol},
                    {"workload", workload_json(p.layer, of, name)},
                    {"metrics", metrics_json(of, name, us, runs_, bound, timed_[p.job].stats[op])}};
        if (const std::string set = atlas_set(p.layer, of.shape); plan_.complete.contains(set)) {
            out["metrics"]["layers_us"] = layers_us_.at(set);
            out["metrics"]["share_of_layers"] = p.layer.count * us / layers_us_.at(set);
        }
        out["code_object"] =
            facts_.of(std::string(kernel.symbol), kernel.block, dynamic_lds(of, name, on_.wgps));
        add_atlas_launch(out, timed_[p.job].stats[op]);
        return out;
    }

    const hip::DeviceInfo &on_;
    const AtlasPlan &plan_;
    const std::vector<AtlasTimed> &timed_;
    const u32 runs_;
    const AtlasPart part_;
    CodeFacts facts_;
    const Json commit_;
    std::map<std::string, f64> layers_us_; // of all layers of a model
};

} // namespace

std::vector<Json> atlas_run(const AtlasRunOptions &o) {
    const hip::DeviceInfo on = find_atlas_device(o.device);
    const AtlasPlan plan = plan_atlas(o, on.gfx);
    const std::vector<AtlasTimed> timed = time_jobs(plan.jobs, on, o.repeats);
    return Writer(o, on, plan, timed).rows();
}

} // namespace nw::cli
