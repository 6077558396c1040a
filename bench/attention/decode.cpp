// SPDX-License-Identifier: MIT
// The suite attention: modelled times of attn_decode, a few queries against a long KV cache. The
// part's caches are cold.
#include "bench/attention/tables.h"

#include <array>
#include <fmt/format.h>

#include "bench/attention/launch.h"
#include "bench/product.h"
#include "check/ops.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

struct Job {
    ContextShape shape;
    Cache cache;
    const Kernel *kernel = nullptr;

    std::string name() const {
        const auto &[h, hk, d, sq, sk] = shape;
        return fmt::format("decode {} d{} {} kv {} rows {}{}", sk, d, nw::name(dtype_of(*kernel)),
                           cache.kv, sq, Cache{"same", cache.page}.words());
    }
    u64 values() const { return u64{shape.sk} * shape.hk * shape.d; } // of k, and of v
    u64 bytes() const { return u64{shape.sk} * shape.hk * cache.row_bytes(shape.d); }
};

// Shapes of Llama 3.1 8B and Qwen3 8B, gpt-oss 20B and Qwen3.6 27B.
constexpr std::array shapes = {
    Job{{32, 8, 128, 1, 32768}, {}},
    Job{{32, 8, 128, 8, 32768}, {}},
    Job{{32, 8, 128, 1, 32768}, {"same", 16}},
    Job{{32, 8, 128, 1, 4096}, {}},
    Job{{32, 8, 128, 1, 32768}, {"q8_0"}},
    Job{{32, 8, 128, 1, 32768}, {"fp8"}},
    Job{{64, 8, 64, 1, 32768}, {}},
    Job{{24, 4, 256, 1, 32768}, {}},
    Job{{24, 4, 256, 1, 32768}, {"q8_0"}},
};

Timed time_one(const Job &job, const hip::Device &device) {
    const Kernel &kernel = *job.kernel;
    const Machine machine = usual_machine(kernel.gfx);
    const Dtype dtype = dtype_of(kernel);
    const ContextShape &p = job.shape;
    const std::vector<i32> table = page_table(job.cache, p.sk);
    Op op = attention_op(dtype, p, job.cache);
    const u64 parts_bytes =
        check::scratch_bytes(kernel, check::derived(kernel, op, machine), machine, &Op::parts);
    const u64 counters = 4 * u64{p.h} * p.sq;
    const hip::Buffer k = normal_values(device, dtype, job.values(), 2, job.cache.kv),
                      v = normal_values(device, dtype, job.values(), 3, job.cache.kv),
                      o = device.allocate(op.o_b), parts = device.allocate(parts_bytes),
                      q = upload(device, std::vector<u8>(op.q_b)),
                      arrived = upload(device, std::vector<u8>(counters)),
                      pages = upload(device, table);
    op.page_table = job.cache.page ? address(pages.data()) : 0;
    op.q = address(q.data()), op.k = address(k.data()), op.v = address(v.data());
    op.o = address(o.data());
    op.parts = address(parts.data()), op.arrived = address(arrived.data());

    Modules modules(device);
    return time_launch(device, modules, kernel, op);
}

std::vector<Job> jobs_of(const Options &o, const std::string &gfx) {
    const Pattern only("--only", o.only);
    std::vector<Job> out;
    for (Job job : shapes)
        for (Dtype dtype : o.dtypes) {
            const std::string d = std::to_string(job.shape.d);
            job.kernel = check::find_default(
                "attn_decode", gfx, {{"dtype", name(dtype)}, {"d", d}, {"kv", job.cache.kv}});
            const bool usual =
                job.shape.sk == 4096 || (dtype == Dtype::f16 && job.cache.kv == "q8_0");
            if (job.kernel && (usual || o.full || !o.only.empty()) && only.found_in(job.name()))
                out.push_back(job);
        }
    return out;
}

Json to_json(const Job &job, const Timed &timed, const Bound &bound) {
    const u64 bytes = 2 * job.bytes();
    const auto &[h, hk, d, sq, sk] = job.shape;
    Json row = {{"table", "decode"},
                {"kernel", job.kernel->symbol},
                {"gfx", job.kernel->gfx},
                {"s", sk},
                {"rows", sq},
                {"h", h},
                {"hk", hk},
                {"d", d},
                {"dtype", name(dtype_of(*job.kernel))},
                {"kv", job.cache.kv},
                {"page", job.cache.page},
                {"time_us", timed.us},
                {"gb_per_s", static_cast<f64>(bytes) / timed.us / 1e3},
                {"pct_of_bound", 100 * bound.us(bytes) / timed.us},
                {"bound", "DRAM"},
                {"_name", job.name()}};
    row["pct_of_bus"] = 100 * row["gb_per_s"].get<f64>() / bound.bus_gb_per_s;
    add_bounds(row, timed.drawn);
    return row;
}

} // namespace

Json attention_decode(const Options &o, const std::string &gfx) {
    const std::vector<Job> jobs = jobs_of(o, gfx);
    Json rows = Json::array();
    if (jobs.empty())
        return rows;
    const Bound bound = dram_bound(gfx);
    fmt::print("Attention of a few rows against a cache that memory alone has, on sim {}: modelled "
               "times, launch included.\nDRAM: per cent of the {:.0f} GB/s that it sustains; bus: "
               "of the {:.0f} GB/s of its bus.\n\n",
               gfx, bound.gb_per_s, bound.bus_gb_per_s);
    Table table(
        std::string("S {s:>6}; rows {rows:>4}; heads {h:>5}; of keys {hk:>7}; d {d:>4}; "
                    "type {dtype:<5}; cache {kv:<5}; page {page:>4}; time us {time_us:>8.1f}; "
                    "GB/s {gb_per_s:>6.1f}; DRAM {pct_of_bound:>5.1f}%; "
                    "bus {pct_of_bus:>5.1f}%"));
    std::vector<u64> sizes;
    for (const Job &job : jobs)
        sizes.push_back(job.bytes());
    on_cores<Timed>(
        sizes,
        [&](u64 i) {
            return time_one(jobs[i], model_device("sim:" + gfx, jobs.size(),
                                                  "stats=on&cold=weights&warm=code"));
        },
        [&](u64 i, const Timed &one) {
            rows.push_back(to_json(jobs[i], one, bound));
            table.print(rows.back());
        });
    fmt::print("\n");
    return rows;
}

} // namespace nw::bench
