// SPDX-License-Identifier: MIT
// The suite attention: modelled times of attn_decode, a few queries against a long cache. No cache
// of the part has any of it before.
#include "bench/attention/tables.h"

#include <array>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

#include "base/half.h"
#include "base/rng.h"
#include "bench/attention/launch.h"
#include "bench/product.h"
#include "check/ops.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

struct Job {
    std::string_view kv;
    u32 d, h, hk, sk, sq;
    u32 page = 0; // keys, 0: no pages
    const Kernel *kernel = nullptr;

    std::string name() const {
        return fmt::format("decode {} d{} {} kv {} rows {}{}", sk, d, nw::name(dtype_of(*kernel)),
                           kv, sq, page ? fmt::format(" pages of {}", page) : "");
    }
    u64 row_bytes() const { return kv == "q8_0" ? d / 32 * 34 : kv == "fp8" ? d : 2 * d; }
    u64 cache_bytes() const { return u64{sk} * hk * row_bytes(); } // of k, and of v
};

// Shapes of Llama 3.1 8B and Qwen3 8B, gpt-oss 20B and Qwen3.6 27B.
constexpr std::array shapes = {
    Job{"same", 128, 32, 8, 32768, 1},     Job{"same", 128, 32, 8, 32768, 8},
    Job{"same", 128, 32, 8, 32768, 1, 16}, Job{"same", 128, 32, 8, 4096, 1},
    Job{"q8_0", 128, 32, 8, 32768, 1},     Job{"fp8", 128, 32, 8, 32768, 1},
    Job{"same", 64, 64, 8, 32768, 1},      Job{"same", 256, 24, 4, 32768, 1},
    Job{"q8_0", 256, 24, 4, 32768, 1},
};

// Pages in any order.
std::vector<i32> page_table(const Job &job) {
    std::vector<i32> out(job.sk / std::max(job.page, 1u));
    std::iota(out.begin(), out.end(), 0);
    Rng rng(1);
    for (u64 i = out.size(); i > 1; --i)
        std::swap(out[i - 1], out[rng.below(static_cast<u32>(i))]);
    return out;
}

// Values near a standard normal, some of them again and again: times don't depend on which.
std::vector<u8> content(const Job &job, u64 bytes) {
    constexpr u64 distinct = 1 << 16;
    const Dtype dtype = dtype_of(*job.kernel);
    const Rng rng(1);
    std::vector<u8> out(bytes);
    for (u64 i = 0; i < std::min(bytes, 2 * distinct); i += 2) {
        const u16 word = job.kv == "same" ? round_to(dtype, rng.normal_at(i))
                                          : round_to(Dtype::f16, 0.01); // a scale, and quants
        out[i] = static_cast<u8>(word), out[i + 1] = static_cast<u8>(word >> 8);
    }
    for (u64 i = 2 * distinct; i < bytes; ++i)
        out[i] = out[i - 2 * distinct];
    return out;
}

Timed time_one(const Job &job, const hip::Device &device) {
    const Kernel &kernel = *job.kernel;
    const Machine machine = usual_machine(kernel.gfx);
    const u64 q_row = 2 * u64{job.d};
    Op op{.kind = OpKind::attention};
    op.dtype = word_of(dtype_of(kernel)), op.kv = kernel.p.kv;
    op.b = 1, op.sq = job.sq, op.sk = job.sk, op.h = job.h, op.hk = job.hk, op.d = job.d;
    op.causal = 1, op.page = job.page;
    const std::vector<i32> table = page_table(job);
    op.pages = table.size(), op.table_b = 4 * table.size();
    op.scale = std::bit_cast<u32>(1 / std::sqrt(static_cast<f32>(job.d)));
    op.q_h = op.o_h = q_row, op.q_s = op.o_s = job.h * q_row, op.q_b = op.o_b = job.sq * op.q_s;
    op.k_h = op.v_h = job.row_bytes(), op.k_s = op.v_s = job.hk * op.k_h;
    op.k_b = op.v_b = (job.page ? job.page : job.sk) * op.k_s;
    const u64 parts_bytes =
        check::scratch_bytes(kernel, check::derived(kernel, op, machine), machine, &Op::parts);
    const u64 counters = 4 * u64{job.h} * job.sq;
    const hip::Buffer k = upload(device, content(job, job.cache_bytes())),
                      v = upload(device, content(job, job.cache_bytes())),
                      o = device.allocate(op.o_b), parts = device.allocate(parts_bytes),
                      q = upload(device, std::vector<u8>(op.q_b)),
                      arrived = upload(device, std::vector<u8>(counters));
    const hip::Buffer pages = upload(device, table);
    op.page_table = job.page ? address(pages.data()) : 0;
    op.q = address(q.data()), op.k = address(k.data()), op.v = address(v.data());
    op.o = address(o.data());
    op.parts = address(parts.data()), op.arrived = address(arrived.data());

    Modules modules(device);
    return time_launch(device, modules, kernel, op);
}

std::vector<Job> jobs_of(const Options &o, const std::string &gfx) {
    const std::regex only = only_pattern(o);
    std::vector<Job> out;
    for (Job job : shapes)
        for (Dtype dtype : o.dtypes) {
            const std::string d = std::to_string(job.d);
            job.kernel = check::find_default("attn_decode", gfx,
                                             {{"dtype", name(dtype)}, {"d", d}, {"kv", job.kv}});
            const bool usual = job.sk == 4096 || (dtype == Dtype::f16 && job.kv == "q8_0");
            if (job.kernel && (usual || o.full || !o.only.empty()) &&
                std::regex_search(job.name(), only))
                out.push_back(job);
        }
    return out;
}

Json to_json(const Job &job, const Timed &timed, const Bound &bound) {
    const u64 bytes = 2 * job.cache_bytes();
    Json row = {{"table", "decode"},
                {"kernel", job.kernel->symbol},
                {"gfx", job.kernel->gfx},
                {"s", job.sk},
                {"rows", job.sq},
                {"h", job.h},
                {"hk", job.hk},
                {"d", job.d},
                {"dtype", name(dtype_of(*job.kernel))},
                {"kv", job.kv},
                {"page", job.page},
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
        sizes.push_back(job.cache_bytes());
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
