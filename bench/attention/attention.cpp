// SPDX-License-Identifier: MIT
// The suite attention: modelled times of attn_forward, dense and with lists. Sequences of up to 8K
// are timed whole. Workgroups of a longer one are alike but for the keys that they see, so a slice
// of them is timed: the queries before the middle, which see half of the keys, as on average.
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "base/half.h"
#include "bench/attention/launch.h"
#include "bench/attention/layer.h"
#include "bench/attention/tables.h"
#include "bench/product.h"
#include "bench/suites.h"
#include "check/ops.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

constexpr u32 heads = 12, kv_heads = 6;

struct Job {
    const Kernel *kernel;
    u32 s;       // of the whole sequence
    f64 density; // of the blocks before each query
    u32 sq, sk;  // that are timed: the last query is query sk - 1

    std::string name() const {
        return fmt::format("{} d{} {} {:.0f}%", s, kernel->p.d, nw::name(dtype_of(*kernel)),
                           100 * density);
    }
};

// Of a slice the workgroups fill the part an even number of times; more often where lists are short
// and of any length: the longest of a round would count alone.
Job job_of(const Kernel &kernel, u32 s, f64 density) {
    if (s <= 8192)
        return {&kernel, s, density, s, s};
    const u32 at_once = kernel.waves_per_simd * 128 / kernel.block * usual_machine(kernel.gfx).wgps;
    const u32 of_block = heads * (attention_block / kernel.rows_per_workgroup);
    const u32 blocks = std::lcm(at_once, of_block) / of_block * static_cast<u32>(1 / density);
    return {&kernel, s, density, std::min(s / 2, blocks * attention_block), s / 2};
}

struct Result1 {
    Timed timed;
    f64 pairs = 0;
};

Result1 time_one(const Job &job, const hip::Device &device) {
    const u32 d = job.kernel->p.d;
    const Dtype dtype = dtype_of(*job.kernel);
    const u64 q_words = u64{job.sq} * heads * d, k_words = u64{job.sk} * kv_heads * d;
    const hip::Buffer q = normal_values(device, dtype, q_words, 1),
                      k = normal_values(device, dtype, k_words, 2),
                      v = normal_values(device, dtype, k_words, 3),
                      o = device.allocate(2 * q_words);
    const BlockLists sparse = random_lists({heads, kv_heads, d, job.sq, job.sk}, job.density);
    const hip::Buffer idx = upload(device, sparse.idx), cnt = upload(device, sparse.cnt);

    Op op{.kind = OpKind::attention};
    op.dtype = word_of(dtype), op.kv = word("same");
    op.b = 1, op.sq = job.sq, op.sk = job.sk, op.h = heads, op.hk = kv_heads, op.d = d;
    op.causal = 1, op.scale = std::bit_cast<u32>(1 / std::sqrt(static_cast<f32>(d)));
    op.q = address(q.data()), op.k = address(k.data()), op.v = address(v.data());
    op.o = address(o.data());
    op.q_h = op.k_h = op.v_h = op.o_h = 2 * u64{d};
    op.q_s = op.o_s = heads * op.q_h, op.k_s = op.v_s = kv_heads * op.k_h;
    op.q_b = op.o_b = job.sq * op.q_s, op.k_b = op.v_b = job.sk * op.k_s;
    if (job.density < 1)
        op.idx = address(idx.data()), op.cnt = address(cnt.data());

    Modules modules(device);
    Result1 out;
    out.timed = time_launch(device, modules, *job.kernel, op);
    out.pairs = sparse.pairs;
    return out;
}

std::vector<Job> jobs_of(const Options &o, const std::string &gfx) {
    const std::regex only = only_pattern(o);
    std::vector<Job> out;
    for (u32 s : {8192u, 32768u})
        for (std::string_view d : {"64", "128", "256"})
            for (Dtype dtype : o.dtypes)
                for (f64 density : {1.0, 0.1}) {
                    const Kernel &kernel =
                        check::default_of("attn_forward", gfx, {{"dtype", name(dtype)}, {"d", d}});
                    const Job job = job_of(kernel, s, density);
                    // Minutes, and the longer ones a multiple: asked for.
                    const bool usual = s == 8192 && d == "128" && dtype == Dtype::f16;
                    if ((usual || o.full || !o.only.empty()) && std::regex_search(job.name(), only))
                        out.push_back(job);
                }
    return out;
}

Json to_json(const Job &job, const Result1 &one, f64 peak) {
    const u32 d = job.kernel->p.d;
    const f64 flop = 4.0 * d * one.pairs;
    const f64 tflops = 1e-6 * flop / one.timed.us;
    const f64 dense = seen_pairs({heads, kv_heads, d, job.s, job.s}),
              sliced = seen_pairs({heads, kv_heads, d, job.sq, job.sk});
    Json row = {{"table", "forward"},
                {"kernel", job.kernel->symbol},
                {"gfx", job.kernel->gfx},
                {"s", job.s},
                {"d", job.kernel->p.d},
                {"dtype", name(dtype_of(*job.kernel))},
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

Json attention_forward(const Options &o, const std::string &gfx) {
    const std::vector<Job> jobs = jobs_of(o, gfx);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const f64 peak = wmma_peak(gfx);
    fmt::print("Attention of one layer, causal, {} heads, {} of keys, on sim {}: modelled times.\n"
               "density: keys that queries see, of those before them; time: of the whole sequence, "
               "beyond 8192\nfrom that of the queries before its middle; TFLOP/s: 4 d for each "
               "query and key "
               "that it sees; peak: of WMMA's\n{:.1f} TFLOP/s; wmma: per cent of cycles in which "
               "it is busy.\n\n",
               heads, kv_heads, gfx, peak / 1e12);
    Table table(std::string("S {s:>6}; d {d:>4}; type {dtype:<5}; density {density:>6.2f}; "
                            "time us {time_us:>10.1f}; TFLOP/s {tflops:>7.2f}; "
                            "peak {pct_of_wmma_peak:>5.1f}%; wmma {pct_wmma_busy:>5.1f}%"));
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(static_cast<u64>(job.density * job.sq * job.sk * job.kernel->p.d));
    on_cores<Result1>(
        sizes,
        [&](u64 i) {
            return time_one(jobs[i], model_device("sim:" + gfx, jobs.size(), "stats=on"));
        },
        [&](u64 i, const Result1 &one) {
            rows.push_back(to_json(jobs[i], one, peak));
            table.print(rows.back());
        });
    return rows;
}

} // namespace

Result run_attention(const Options &o, const Shapes &shapes) {
    const std::string gfx = simulated_gfx(o);
    Result out;
    const auto add = [&](std::string_view table,
                         Json (*rows)(const Options &, const std::string &)) {
        if (wanted(o, table, true))
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
    if (out.rows.empty())
        throw Usage(fmt::format("--only {}: no row of suite attention has such a name", o.only));
    return out;
}

} // namespace nw::bench
