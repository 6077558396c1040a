// SPDX-License-Identifier: MIT
#include "bench/moe/moe.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/half.h"
#include "bench/data.h"
#include "bench/decode_times.h"
#include "bench/moe/prefill.h"
#include "check/moe_bound.h"
#include "formats/row_stride.h"
#include "measure/routes.h"
#include "runtime/moe.h"

namespace nw::bench {

namespace {

// A launch of the table.
struct Job {
    LinearShape shape;
    Dtype dtype;
    u32 group, tokens, block_size;
    bool silu;

    u32 slots() const { return tokens * shape.top_k; }
    bool up() const { return shape.layer == "gate_up"; }
    // The second product of an expert reads what the first one wrote, a row a slot.
    u32 slots_per_row() const { return up() ? shape.top_k : 1; }
    std::string name() const {
        return fmt::format("{} {} {}x{} g{} {} t{} b{}{}", shape.model, shape.layer, shape.n,
                           shape.k, group, nw::name(dtype), tokens, block_size,
                           silu ? " silu" : "");
    }
};

// The largest group that K has.
u32 group_of(const LinearShape &shape, u32 wanted) {
    for (u32 group : {wanted, 64u, 32u})
        if (shape.k % group == 0)
            return group;
    throw Usage(
        fmt::format("--group {}: {} {} has K = {}", wanted, shape.model, shape.layer, shape.k));
}

std::vector<Job> jobs(const Options &o, const std::vector<LinearShape> &shapes) {
    const std::regex only = only_pattern(o);
    std::vector<Job> out;
    for (const LinearShape &shape : shapes) {
        if (!shape.moe)
            continue;
        for (Dtype dtype : o.dtypes)
            for (u32 tokens : {1u, 2u, 4u})
                for (u32 block_size : std::set{1u, tokens})
                    for (bool silu : {false, true}) {
                        const Job job{shape,  dtype,      group_of(shape, o.group),
                                      tokens, block_size, silu};
                        if ((job.up() || !silu) && std::regex_search(job.name(), only))
                            out.push_back(job);
                    }
    }
    return out;
}

hip::Buffer upload(const hip::Device &device, const void *from, u64 bytes) {
    hip::Buffer buffer = device.allocate(bytes);
    buffer.upload(from, bytes);
    return buffer;
}

template <class T> hip::Buffer upload(const hip::Device &device, const std::vector<T> &from) {
    return upload(device, from.data(), from.size() * sizeof(T));
}

// The experts that a launch meets, one behind the other. All have the rows of one layer, each from
// another row on: that is quick to make, and an expert taken for another shows.
class Experts {
public:
    Experts(const hip::Device &device, const Job &job, u32 count, const Rng &rng)
        : layout_(layout_for(device.info().gfx, job.shape.n, job.shape.k, job.group)) {
        const LayerData layer = make_layer(job.dtype, layout_, rng);
        std::vector<u8> w, s;
        for (u32 e = 0; e < count; ++e) {
            const u64 first = 37 * u64{e} % layout_.n;
            q_.push_back(layer.q);
            std::rotate(q_[e].begin(), q_[e].begin() + static_cast<i64>(first * layout_.k),
                        q_[e].end());
            s_.push_back(layer.s);
            std::rotate(s_[e].begin(),
                        s_[e].begin() + static_cast<i64>(first * (layout_.k / layout_.group)),
                        s_[e].end());
            const std::vector<u8> rows = pack_rows(q_[e], layout_),
                                  scales = pack_scales(s_[e], layout_);
            w.insert(w.end(), rows.begin(), rows.end());
            s.insert(s.end(), scales.begin(), scales.end());
        }
        w_ = upload(device, w);
        scales_ = upload(device, s);
    }

    void put_into(MoeW4A16 &p) const {
        p.experts = static_cast<u32>(q_.size());
        p.w = w_.data();
        p.s = scales_.data();
        p.w_stride = layout_.w_stride;
        p.w_expert = layout_.weight_bytes();
        p.s_stride = layout_.s_stride;
        p.s_expert = layout_.scale_bytes();
    }
    std::vector<ref::Expert> reference() const {
        std::vector<ref::Expert> out;
        for (u64 e = 0; e < q_.size(); ++e)
            out.push_back({q_[e], s_[e], {}, {}});
        return out;
    }
    u64 bytes_of_one() const { // what lies between rows left out
        return layout_.n * (layout_.row_bytes() + layout_.scale_row_bytes());
    }

private:
    RowLayout layout_;
    std::vector<std::vector<u8>> q_;
    std::vector<std::vector<u16>> s_;
    hip::Buffer w_, scales_;
};

// Which slot goes where: each token at `top_k` experts of its own choice; ids count the experts
// that are met from 1 up, 0 is for a launch before that warms nothing but the code.
struct Routing {
    u32 met = 0;
    std::vector<i32> expert_ids, sorted_token_ids; // the latter empty: in order

    Routing(const Job &job, const Rng &rng) {
        std::vector<std::vector<i32>> slots_of(job.shape.experts);
        std::vector<i32> order;
        const std::vector<i32> expert_of =
            random_routes(job.tokens, job.shape.experts, job.shape.top_k, rng);
        for (u32 slot = 0; slot < expert_of.size(); ++slot) {
            std::vector<i32> &slots = slots_of[static_cast<u32>(expert_of[slot])];
            if (slots.empty())
                order.push_back(expert_of[slot]);
            slots.push_back(static_cast<i32>(slot));
        }
        met = static_cast<u32>(order.size());
        const auto id = [&](i32 expert) {
            return static_cast<i32>(std::ranges::find(order, expert) - order.begin()) + 1;
        };
        if (job.block_size == 1) {
            for (i32 expert : expert_of)
                expert_ids.push_back(id(expert));
            return;
        }
        for (i32 expert : order) {
            std::vector<i32> &slots = slots_of[static_cast<u32>(expert)];
            slots.resize(round_up<u64>(slots.size(), job.block_size),
                         static_cast<i32>(job.slots()));
            sorted_token_ids.insert(sorted_token_ids.end(), slots.begin(), slots.end());
            expert_ids.resize(sorted_token_ids.size() / job.block_size, id(expert));
        }
    }
};

struct Errors {
    f64 max = 0; // ulps
    u64 out_of_bound = 0;
};

Errors compare(const Kernel &kernel, Dtype dtype, const std::vector<ref::MoeSlot> &want,
               const std::vector<u16> &got) {
    Errors out;
    for (const ref::MoeSlot &slot : want) {
        const std::vector<f64> bound = check::moe_bound(kernel, slot);
        f64 squares = 0;
        for (f64 x : slot.c)
            squares += x * x;
        const f64 rms = std::sqrt(squares / static_cast<f64>(slot.c.size()));
        for (u64 n = 0; n < slot.c.size(); ++n) {
            const f64 exact = slot.c[n], x = to_f32(dtype, got[slot.slot * slot.c.size() + n]);
            out.max = std::max(out.max,
                               std::fabs(x - exact) / ulp(dtype, std::max(std::fabs(exact), rms)));
            out.out_of_bound += !(x >= to_f32(dtype, round_to(dtype, exact - bound[n])) &&
                                  x <= to_f32(dtype, round_to(dtype, exact + bound[n])));
        }
    }
    return out;
}

class Suite {
public:
    Suite(const Options &o, const hip::Device &device)
        : options_(o), device_(device), modules_(device), start_(device.event()),
          stop_(device.event()), bound_(dram_bound(device.info().gfx)) {}

    void run(const Job &job) {
        const Rng rng = Rng(options_.seed).fork(u64{job.shape.n} << 32 | job.shape.k);
        const Routing routing(job, rng.fork(2 + job.tokens));
        const Experts experts(device_, job, routing.met + 1, rng.fork(0));
        const u32 rows = ceil_div(job.slots(), job.slots_per_row());
        const std::vector<u16> a = make_activations(job.dtype, rows, job.shape.k, rng.fork(1));
        const Kernel &kernel =
            choose_moe(device_.info().gfx, job.dtype, job.group, job.block_size, Zeros::eight);
        const u32 columns = job.silu ? job.shape.n / 2 : job.shape.n;
        std::vector<u16> c(u64{job.slots()} * columns);
        const f64 us = time(job, kernel, experts, routing, a, c);

        const std::vector<ref::Expert> reference = experts.reference();
        const Errors errors = compare(kernel, job.dtype,
                                      ref::moe_w4a16({job.dtype,
                                                      job.shape.n,
                                                      job.shape.k,
                                                      job.group,
                                                      job.block_size,
                                                      job.slots(),
                                                      job.slots_per_row(),
                                                      job.silu,
                                                      a,
                                                      reference,
                                                      routing.expert_ids,
                                                      routing.sorted_token_ids,
                                                      {},
                                                      {}}),
                                      c);
        wrong += errors.out_of_bound;
        report(job, kernel, routing.met,
               routing.met * experts.bytes_of_one() + 2 * (a.size() + c.size()), us, errors);
    }

    nlohmann::json rows = nlohmann::json::array();
    u64 wrong = 0;

private:
    // Weights and scales cold, code and activations warm, as between the layers of a model.
    f64 time(const Job &job, const Kernel &kernel, const Experts &experts, const Routing &routing,
             const std::vector<u16> &activations, std::vector<u16> &result) {
        const hip::Buffer a = upload(device_, activations),
                          ids = upload(device_, routing.expert_ids),
                          none = upload(device_, std::vector<i32>{0});
        std::optional<hip::Buffer> slots;
        if (!routing.sorted_token_ids.empty())
            slots = upload(device_, routing.sorted_token_ids);
        hip::Buffer c = device_.allocate(2 * result.size());
        MoeW4A16 p{.dtype = job.dtype,
                   .n = job.shape.n,
                   .k = job.shape.k,
                   .group = job.group,
                   .block_size = job.block_size,
                   .blocks = 1,
                   .slots = job.slots(),
                   .top_k = job.slots_per_row(),
                   .silu_gate_up = job.silu,
                   .a = a.data(),
                   .c = c.data(),
                   .expert_ids = none.data()};
        experts.put_into(p);
        launch(modules_, kernel, p);
        device_.synchronize();
        c.fill(0xff); // NaN: an output that no kernel wrote is seen
        p.expert_ids = ids.data();
        p.sorted_token_ids = slots ? slots->data() : nullptr;
        p.blocks = static_cast<u32>(routing.expert_ids.size());
        device_.record(start_);
        launch(modules_, kernel, p);
        device_.record(stop_);
        const f64 us = 1000 * f64{device_.elapsed_ms(start_, stop_)};
        c.download(result.data(), 2 * result.size());
        return us;
    }

    void report(const Job &job, const Kernel &kernel, u32 met, u64 bytes, f64 us,
                const Errors &errors) {
        const f64 bound_us = static_cast<f64>(bytes) / bound_.gb_per_s / 1e3,
                  gb_per_s = static_cast<f64>(bytes) / us / 1e3;
        if (rows.empty())
            fmt::print("{:<56} {:>7} {:>8} {:>7} {:>8} {:>8} {:>6}\n", "moe_w4a16", "experts", "us",
                       "GB/s", "% bound", "w/o t0", "ulp");
        const f64 percent = 100 * bound_us / us, net = 100 * bound_us / (us - bound_.overhead_us);
        fmt::print("{:<56} {:>7} {:>8.2f} {:>7.1f} {:>8.1f} {:>8.1f} {:>6.2f}{}\n", job.name(), met,
                   us, gb_per_s, percent, net, errors.max, errors.out_of_bound ? "  WRONG" : "");
        rows.push_back({{"kernel", kernel.symbol},
                        {"gfx", kernel.gfx},
                        {"model", job.shape.model},
                        {"layer", job.shape.layer},
                        {"dtype", nw::name(job.dtype)},
                        {"group", job.group},
                        {"zp", "sym"},
                        {"tokens", job.tokens},
                        {"experts", met},
                        {"block_size_m", job.block_size},
                        {"silu", job.silu},
                        {"m", job.slots()},
                        {"n", job.shape.n},
                        {"k", job.shape.k},
                        {"row_stride", weight_row_stride(device_.info().gfx, job.shape.k)},
                        {"vgprs", kernel.vgprs},
                        {"lds_bytes", kernel.lds_bytes},
                        {"waves_per_simd", kernel.waves_per_simd},
                        {"max_err", errors.max},
                        {"time_us", us},
                        {"gb_per_s", gb_per_s},
                        {"pct_of_bound", percent},
                        {"pct_of_bound_without_launch", net},
                        {"bound", "dram"}});
    }

    const Options &options_;
    const hip::Device &device_;
    Modules modules_;
    hip::Event start_, stop_;
    const Bound bound_;
};

} // namespace

u64 run_moe(const Options &o, const std::vector<LinearShape> &shapes, const hip::Device &device,
            nlohmann::json &rows) {
    const std::vector<Job> all = jobs(o, shapes);
    Suite suite(o, device);
    for (const Job &job : all)
        suite.run(job);
    if (!all.empty())
        fmt::print(
            "experts: that were met, their bytes once; % bound: of what DRAM of the part sustains; "
            "w/o t0: the launch's overhead taken off\n");
    rows = std::move(suite.rows);
    if (!run_moe_prefill(o, shapes, device, rows) && all.empty())
        throw Usage(fmt::format("--only {}: no row of the suite moe has such a name", o.only));
    return suite.wrong;
}

} // namespace nw::bench
