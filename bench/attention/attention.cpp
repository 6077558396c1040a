// SPDX-License-Identifier: MIT
// The suite attention: modelled times of attn_forward, dense and with lists. Sequences of up to 8K
// are timed whole. Workgroups of a longer one are alike but for the keys that they see, so a slice
// of them is timed (slice_of).
#include <fmt/format.h>
#include <functional>

#include "base/half.h"
#include "bench/attention/launch.h"
#include "bench/attention/layer.h"
#include "bench/attention/tables.h"
#include "bench/product.h"
#include "bench/result.h"
#include "check/ops.h"
#include "measure/on_cores.h"
#include "runtime/catalogue.h"

namespace nw::bench {

namespace {

constexpr u32 heads = 12, kv_heads = 6;

struct Job {
    const Kernel *kernel;
    Cache cache;
    u32 s;       // of the whole sequence
    f64 density; // of the blocks before each query
    ContextShape slice;

    std::string name() const {
        return fmt::format("{} d{} {}{} {:.0f}%", s, kernel->p.d, nw::name(dtype_of(*kernel)),
                           cache.words(), 100 * density);
    }
    ContextShape tensors() const { return {heads, kv_heads, kernel->p.d, slice.sq, slice.sk}; }
};

constexpr std::array caches = {Cache{}, Cache{"same", 16}, Cache{"q8_0"}, Cache{"fp8"}};

const Kernel *kernel_for(const std::string &gfx, Dtype dtype, std::string_view d,
                         const Cache &cache) {
    const std::string_view form = cache.kv == "same" && !cache.page ? "plain" : "cache";
    return check::find_default(
        "attn_forward", gfx, {{"dtype", name(dtype)}, {"d", d}, {"kv", cache.kv}, {"form", form}});
}

Job job_of(const Kernel &kernel, const Cache &cache, u32 s, f64 density) {
    const u32 d = kernel.p.d;
    return {&kernel, cache, s, density,
            s <= 8192 ? ContextShape{heads, kv_heads, d, s, s}
                      : slice_of(kernel, {"", 1, heads, kv_heads, d}, s, density < 1)};
}

struct Result1 {
    Timed timed;
    f64 pairs = 0;
};

Result1 time_one(const Job &job, const hip::Device &device) {
    const ContextShape p = job.tensors();
    const Dtype dtype = dtype_of(*job.kernel);
    const u64 q_values = u64{p.sq} * p.h * p.d, k_values = u64{p.sk} * p.hk * p.d;
    const hip::Buffer q = normal_values(device, dtype, q_values, 1),
                      k = normal_values(device, dtype, k_values, 2, job.cache.kv),
                      v = normal_values(device, dtype, k_values, 3, job.cache.kv),
                      o = device.allocate(2 * q_values);
    const std::vector<i32> table = page_table(job.cache, p.sk);
    const BlockLists sparse = random_lists(job.slice, job.density);
    const hip::Buffer pages = upload(device, table), idx = upload(device, sparse.idx),
                      cnt = upload(device, sparse.cnt);

    Op op = attention_op(dtype, p, job.cache);
    op.h = job.slice.h, op.hk = job.slice.hk;
    op.q = address(q.data()), op.k = address(k.data()), op.v = address(v.data());
    op.o = address(o.data());
    op.page_table = job.cache.page ? address(pages.data()) : 0;
    if (job.density < 1)
        op.idx = address(idx.data()), op.cnt = address(cnt.data());

    Modules modules(device);
    Result1 out;
    out.timed = time_launch(device, modules, *job.kernel, op);
    out.pairs = sparse.pairs;
    return out;
}

std::vector<Job> jobs_of(const Options &o, const std::string &gfx) {
    const Pattern only("--only", o.only);
    std::vector<Job> out;
    for (u32 s : {8192u, 32768u})
        for (std::string_view d : {"64", "128", "256"})
            for (Dtype dtype : o.dtypes)
                for (const Cache &cache : caches)
                    for (f64 density : {1.0, 0.1}) {
                        const Kernel *kernel = kernel_for(gfx, dtype, d, cache);
                        if (!kernel)
                            continue;
                        const Job job = job_of(*kernel, cache, s, density);
                        // Others take minutes, longer ones more: only by --full or --only.
                        const bool usual =
                            s == 8192 && d == "128" && dtype == Dtype::f16 && cache.words().empty();
                        if ((usual || o.full || !o.only.empty()) && only.found_in(job.name()))
                            out.push_back(job);
                    }
    return out;
}

Json to_json(const Job &job, const Result1 &one, f64 peak) {
    const u32 d = job.kernel->p.d;
    const f64 flop = 4.0 * d * one.pairs;
    const f64 tflops = 1e-6 * flop / one.timed.us;
    const f64 dense = seen_pairs({heads, kv_heads, d, job.s, job.s}),
              sliced = seen_pairs(job.slice);
    Json row = {{"table", "forward"},
                {"kernel", job.kernel->symbol},
                {"gfx", job.kernel->gfx},
                {"s", job.s},
                {"d", d},
                {"dtype", name(dtype_of(*job.kernel))},
                {"kv", job.cache.kv},
                {"page", job.cache.page},
                {"density", one.pairs / sliced},
                {"time_us", one.timed.us * dense / sliced},
                {"slice_us", one.timed.us},
                {"tflops", tflops},
                {"pct_of_wmma_peak", 100e12 * tflops / peak},
                {"pct_wmma_busy", 100 * one.timed.launch.busy.wmma},
                {"_name", job.name()}};
    add_bounds(row, one.timed.drawn);
    return row;
}

void time_jobs(const std::vector<Job> &jobs, const std::string &gfx,
               const std::function<void(u64, const Result1 &)> &done) {
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(static_cast<u64>(job.density * job.slice.h * job.slice.sq * job.slice.sk *
                                         job.kernel->p.d));
    on_cores<Result1>(
        sizes,
        [&](u64 i) {
            return time_one(jobs[i], model_device("sim:" + gfx, jobs.size(), "stats=on"));
        },
        done);
}

Json attention_forward(const Options &o, const std::string &gfx) {
    const std::vector<Job> jobs = jobs_of(o, gfx);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Peak peak = product_peak(gfx);
    fmt::print("Attention of one layer, causal, {} heads, {} of keys, on sim {}: modelled times.\n"
               "density: keys that queries see, of those before them; time: of the whole sequence, "
               "beyond 8192\nfrom that of the queries before its middle; TFLOP/s: 4 d for each "
               "query and key "
               "that it sees; peak: of {}'s\n{:.1f} TFLOP/s; wmma: per cent of cycles in which "
               "it is busy.\n\n",
               heads, kv_heads, gfx, peak.by, peak.flops / 1e12);
    Table table(std::string("S {s:>6}; d {d:>4}; type {dtype:<5}; cache {kv:<5}; "
                            "page {page:>4}; density {density:>6.2f}; time us {time_us:>10.1f}; "
                            "TFLOP/s {tflops:>7.2f}; "
                            "peak {pct_of_wmma_peak:>5.1f}%; wmma {pct_wmma_busy:>5.1f}%"));
    time_jobs(jobs, gfx, [&](u64 i, const Result1 &one) {
        rows.push_back(to_json(jobs[i], one, peak.flops));
        table.print(rows.back());
    });
    return rows;
}

// ---- the ladder

struct Step {
    std::string_view idea, without; // what the kernel still lacks
};
constexpr Step steps[] = {
    {"plain: the maximum of every stage, loads when they are due",
     "_without_turns_mixed_lazy_ahead"},
    {"loads of keys and values a stage ahead", "_without_turns_mixed_lazy"},
    {"a maximum only where a stage's sum needs one (T-115)", "_without_turns_mixed"},
    {"powers between other work (T-117)", "_without_turns"},
    {"waves with more keys left go first (T-130)", ""},
};

Json attention_ladder(const Options &o, const std::string &gfx) {
    const Pattern only("--only", o.only);
    std::vector<Job> jobs;
    std::vector<std::string_view> ideas;
    for (const Step &step : steps) {
        const std::string symbol = fmt::format("attn_forward_f16_d128{}", step.without);
        const Kernel *kernel = find_kernel(gfx, symbol);
        if (!kernel)
            throw Error(
                fmt::format("{} is not in this build for {}, which the ladder needs: name a "
                            "target by --device that asm/attn_forward/family.toml has it for",
                            symbol, gfx));
        for (u32 s : {8192u, 32768u}) {
            const Job job = job_of(*kernel, {}, s, 1);
            if ((s == 8192 || o.full || !o.only.empty()) && only.found_in(job.name()))
                jobs.push_back(job), ideas.push_back(step.idea);
        }
    }
    if (jobs.empty())
        no_row(o, "the ladder");
    const Peak peak = product_peak(gfx);
    fmt::print(
        "\nFrom a plain online softmax to attn_forward on sim {}, an idea at a time: modelled "
        "times.\nf16, d = 128, causal, {} heads, {} of keys; peak: of {}'s {:.1f} "
        "TFLOP/s.\n\n",
        gfx, heads, kv_heads, peak.by, peak.flops / 1e12);
    Table table("S {s:>6}; time us {time_us:>10.1f}; TFLOP/s {tflops:>7.2f}; "
                "peak {pct_of_wmma_peak:>5.1f}%; with {with}");
    Json rows = Json::array();
    time_jobs(jobs, gfx, [&](u64 i, const Result1 &one) {
        rows.push_back(to_json(jobs[i], one, peak.flops));
        rows.back().update({{"table", "ladder"}, {"with", ideas[i]}});
        table.print(rows.back());
    });
    return rows;
}

} // namespace

Result run_suite(const Options &o, const Shapes &shapes) {
    const std::string gfx = simulated_gfx(o);
    Result out;
    const auto add = [&](std::string_view table, Json (*rows)(const Options &, const std::string &),
                         bool usual = true) {
        if (wanted(o, table, usual))
            append(out.rows, rows(o, gfx));
    };
    add("decode", attention_decode);
    add("forward", attention_forward);
    add("stages", attention_stages);
    Json stages = Json::array();
    for (const Json &row : out.rows)
        if (row.at("table") == "stages")
            stages.push_back(row);
    append(out.rows, attention_first_token(stages, shapes, gfx));
    add("selection", attention_selection);
    add("ladder", attention_ladder, false);
    if (out.rows.empty())
        no_row(o, "suite attention");
    return out;
}

} // namespace nw::bench
