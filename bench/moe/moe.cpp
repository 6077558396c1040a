// SPDX-License-Identifier: MIT
// The suite moe: the expert layers of models through moe_w4a16, checked and timed; then many tokens
// through moe_prefill_w4a16.
#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "base/half.h"
#include "bench/data.h"
#include "bench/errors.h"
#include "bench/moe/tables.h"
#include "check/moe_bound.h"
#include "check/ops.h"
#include "formats/packed/row_stride.h"
#include "measure/routes.h"

namespace nw::bench {

namespace {

// The largest group that K has.
u32 group_of(const LinearShape &shape, u32 wanted) {
    for (u32 group : {wanted, 64u, 32u})
        if (shape.k % group == 0)
            return group;
    throw Usage(
        fmt::format("--group {}: {} {} has K = {}", wanted, shape.model, shape.layer, shape.k));
}

std::vector<MoeJob> decode_jobs(const Options &o, const Shapes &shapes) {
    const Pattern only("--only", o.only);
    std::vector<MoeJob> out;
    for (const LinearShape &shape : shapes) {
        if (!shape.moe)
            continue;
        for (Dtype dtype : o.dtypes)
            for (u32 tokens : {1u, 2u, 4u})
                for (u32 block_size : std::set{1u, tokens})
                    for (bool silu : {false, true}) {
                        const MoeJob job{shape,  dtype,      group_of(shape, o.group),
                                         tokens, block_size, silu};
                        if ((job.up() || !silu) && only.found_in(job.name()))
                            out.push_back(job);
                    }
    }
    return out;
}

// Experts of a launch. All have the rows of one layer, each rotated by another number of rows: that
// is quick to make, and a wrong expert gives wrong results.
class Experts {
public:
    Experts(const hip::Device &device, const MoeJob &job, u32 count, const Rng &rng)
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
    }
    const RowLayout &layout() const { return layout_; }
    std::vector<ref::Expert> reference() const {
        std::vector<ref::Expert> out;
        for (u64 e = 0; e < q_.size(); ++e)
            out.push_back({q_[e], s_[e], {}, {}});
        return out;
    }
    u64 bytes_of_one() const { // without padding between rows
        return layout_.n * (layout_.row_bytes() + layout_.scale_row_bytes());
    }

private:
    RowLayout layout_;
    std::vector<std::vector<u8>> q_;
    std::vector<std::vector<u16>> s_;
    hip::Buffer w_, scales_;
};

// Routes: each token has `top_k` random experts. Ids number the experts in use from 1; expert 0 is
// for an untimed launch that warms only the code.
struct Routing {
    u32 met = 0;
    std::vector<i32> expert_ids, sorted_token_ids; // the latter empty: in order

    Routing(const MoeJob &job, const Rng &rng) {
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

class MoeSuite {
public:
    MoeSuite(const Options &o, const hip::Device &device)
        : options_(o), device_(device), modules_(device), start_(device.event()),
          stop_(device.event()), bound_(dram_bound(device.info().gfx)) {}

    // A row; _wrong counts outputs outside their bound.
    Json run(const MoeJob &job) {
        const Rng rng = Rng(options_.seed).fork(u64{job.shape.n} << 32 | job.shape.k);
        const Routing routing(job, rng.fork(2 + job.tokens));
        const Experts experts(device_, job, routing.met + 1, rng.fork(0));
        const std::vector<u16> a =
            make_activations(job.dtype, job.rows(), job.shape.k, rng.fork(1));
        const Kernel &kernel = choose_moe(device_.info().gfx, job);
        std::vector<u16> c(u64{job.slots()} * job.columns());
        const DrawnTime drawn = time(job, kernel, experts, routing, a, c);
        const f64 us = drawn.us;
        const Errors errors = compare(job, kernel, experts, routing, a, c);
        const u64 bytes = routing.met * experts.bytes_of_one() + 2 * (a.size() + c.size());
        Json row = to_json(job, kernel, drawn);
        row.update(
            {{"row_stride", weight_row_stride(device_.info().gfx, job.shape.k)},
             {"experts", routing.met},
             {"max_err", errors.max},
             {"gb_per_s", static_cast<f64>(bytes) / us / 1e3},
             {"pct_of_bound", 100 * bound_.us(bytes) / us},
             {"pct_of_bound_without_launch", 100 * bound_.us(bytes) / (us - bound_.overhead_us)},
             {"bound", "dram"}});
        if (errors.out_of_bound)
            row["_wrong"] = errors.out_of_bound;
        row["_note"] = errors.out_of_bound ? "WRONG" : "";
        return row;
    }

private:
    // Weights and scales cold, code and activations warm, as between the layers of a model.
    DrawnTime time(const MoeJob &job, const Kernel &kernel, const Experts &experts,
                   const Routing &routing, const std::vector<u16> &activations,
                   std::vector<u16> &result) {
        const hip::Buffer a = upload(device_, activations),
                          ids = upload(device_, routing.expert_ids),
                          none = upload(device_, std::vector<i32>{0});
        std::optional<hip::Buffer> slots;
        if (!routing.sorted_token_ids.empty())
            slots = upload(device_, routing.sorted_token_ids);
        hip::Buffer c = device_.allocate(2 * result.size());
        MoeW4A16 p = arguments(job, experts.layout());
        experts.put_into(p);
        p.a = a.data();
        p.c = c.data();
        p.expert_ids = none.data();
        p.blocks = 1;
        launch(modules_, kernel, p);
        device_.synchronize();
        c.fill(0xff); // NaN: an output that no kernel wrote is seen
        LaunchCounts stats(device_);
        stats.skip();
        p.expert_ids = ids.data();
        p.sorted_token_ids = slots ? slots->data() : nullptr;
        p.blocks = static_cast<u32>(routing.expert_ids.size());
        device_.record(start_);
        launch(modules_, kernel, p);
        device_.record(stop_);
        DrawnTime time{1000 * f64{device_.elapsed_ms(start_, stop_)}, {}};
        if (const std::optional<LaunchStats> counted = stats.next_launch(kernel.symbol))
            time.draws = counted->time.draws;
        c.download(result.data(), 2 * result.size());
        return time;
    }

    Errors compare(const MoeJob &job, const Kernel &kernel, const Experts &experts,
                   const Routing &routing, const std::vector<u16> &a, const std::vector<u16> &c) {
        const std::vector<ref::Expert> reference = experts.reference();
        Errors out;
        for (const ref::MoeSlot &slot : ref::moe_w4a16({job.dtype,
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
                                                        {}}))
            out.add(job.dtype, slot.c, check::moe_bound(kernel, slot),
                    std::span(c).subspan(slot.slot * slot.c.size(), slot.c.size()));
        return out;
    }

    const Options &options_;
    const hip::Device &device_;
    Modules modules_;
    hip::Event start_, stop_;
    const Bound bound_;
};

} // namespace

std::string MoeJob::name() const {
    return fmt::format("{} {} {} g{} {} t{} b{}{}", shape.model, shape.layer, by(shape.n, shape.k),
                       group, nw::name(dtype), tokens, block_size, silu ? " silu" : "");
}

Json to_json(const MoeJob &job, const Kernel &kernel, const DrawnTime &time) {
    Json row = {{"model", job.shape.model},
                {"layer", job.shape.layer},
                {"dtype", nw::name(job.dtype)},
                {"group", job.group},
                {"zp", "sym"},
                {"tokens", job.tokens},
                {"block_size_m", job.block_size},
                {"silu", job.silu},
                {"m", job.slots()},
                {"n", job.shape.n},
                {"k", job.shape.k},
                {"time_us", time.us},
                {"_name", job.name()}};
    row.update(kernel_facts(kernel));
    add_bounds(row, time);
    return row;
}

const Kernel &choose_moe(std::string_view gfx, const MoeJob &job) {
    Op op{.kind = OpKind::moe_w4a16};
    op.dtype = word_of(job.dtype), op.zeros = word_of(Zeros::eight);
    op.group = job.group, op.block_size = job.block_size;
    return choose(gfx, op);
}

MoeW4A16 arguments(const MoeJob &job, const RowLayout &layout) {
    return {.dtype = job.dtype,
            .n = job.shape.n,
            .k = job.shape.k,
            .group = job.group,
            .block_size = job.block_size,
            .slots = job.slots(),
            .top_k = job.slots_per_row(),
            .silu_gate_up = job.silu,
            .w_stride = layout.w_stride,
            .w_expert = layout.weight_bytes(),
            .s_stride = layout.s_stride,
            .s_expert = layout.scale_bytes()};
}

static void print_legend(const std::string &device, bool simulated, bool verbose) {
    fmt::print("Experts of models on {}{}, weights cold.\n"
               "t: tokens; b: slots of a block; silu: SiLU(gate) * up; met: experts that any token "
               "has.\n"
               "GB/s: their bytes once; % bound: of what DRAM of the part sustains;\n"
               "max err: in units of one rounding of the result (ulp).{}\n\n",
               device, simulated ? ": modelled times" : "",
               verbose ? "\n% w/o launch: without the overhead of a launch." : "");
}

Result run_suite(const Options &o, const Shapes &shapes) {
    const hip::Device device(o.device, "timing=on&stats=on");
    Result out;
    out.device = device.info().label;
    Table table("moe_w4a16 {_name:<55}; met {experts:>3}" + time_columns(o, 7) +
                std::string("; GB/s {gb_per_s:>5.1f}; % bound {pct_of_bound:>7.1f}; "
                            "max err {max_err:>7.2f}") +
                (o.verbose ? "; % w/o launch {pct_of_bound_without_launch:>12.1f}" : "") +
                "; {_note}");
    MoeSuite suite(o, device);
    for (const MoeJob &job : decode_jobs(o, shapes)) {
        if (out.rows.empty())
            print_legend(out.device, device.info().simulated, o.verbose);
        out.rows.push_back(suite.run(job));
        table.print(out.rows.back());
        out.right &= !out.rows.back().contains("_wrong");
    }
    append(out.rows, moe_prefill(o, shapes, device));
    if (out.rows.empty())
        no_row(o, "the suite moe");
    return out;
}

} // namespace nw::bench
