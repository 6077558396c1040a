// SPDX-License-Identifier: MIT
#include <bit>
#include <cmath>

#include "base/half.h"
#include "base/median.h"
#include "base/rng.h"
#include "measure/on_cores.h"
#include "nw/atlas/facts.h"
#include "nw/atlas/launches.h"
#include "runtime/launch.h"

namespace nw::cli {

namespace {

constexpr u32 topics = 8;

// Tokens of a block have a part in common, and every eighth block the same.
std::vector<u16> tokens(const AttentionJob &job, u32 heads, u64 count, u64 seed) {
    const Rng common(1), own(seed);
    std::vector<u16> out;
    const u64 row = u64{heads} * job.of.d;
    for (u64 t = 0; t < count; ++t)
        for (u64 i = 0; i < row; ++i) {
            const u64 topic = (t + job.sk - count) / job.block % topics;
            const f32 both =
                common.normal_at(topic * job.of.d + i % job.of.d) + own.normal_at(t * row + i);
            out.push_back(round_to(job.dtype, 0.707f * both));
        }
    return out;
}

// The tensors of a job on a device.
class Tensors {
public:
    Tensors(const hip::Device &device, const AttentionJob &job)
        : device_(device), job_(job), machine_(machine_of(device)), modules_(device),
          q_(upload(tokens(job, job.of.h, job.sq, 2))),
          k_(upload(tokens(job, job.of.hk, job.sk, 3))),
          v_(upload(tokens(job, job.of.hk, job.sk, 4))), o_(device.allocate(job.q_bytes())),
          idx_(device.allocate(4 * job.list_entries())),
          cnt_(device.allocate(4 * job.of.h * job.tiles())) {}

    std::vector<AttentionLaunch> launches(u32 runs) {
        std::vector<AttentionLaunch> out;
        Op attention = op(OpKind::attention);
        time(attention, runs, 1, out);
        if (!job_.lists)
            return out;
        Op select = op(OpKind::attention_select);
        select.mode = word("canonical"), select.rule = word("peak");
        select.share = std::bit_cast<u32>(0.12f), select.sink = 2, select.window = 4;
        select.all_rows = 0, select.last_full = 2;
        select.idx = attention.idx = address(idx_.data());
        select.cnt = attention.cnt = address(cnt_.data());
        time(select, runs, 1, out);
        time(attention, runs, density(), out);
        out.back().op += ", lists";
        return out;
    }

private:
    hip::Buffer upload(const std::vector<u16> &words) const {
        hip::Buffer out = device_.allocate(2 * words.size());
        out.upload(words.data(), 2 * words.size());
        return out;
    }

    Op op(OpKind kind) const {
        Op op{.kind = kind};
        op.dtype = word_of(job_.dtype), op.kv = word("same");
        op.b = 1, op.sq = job_.sq, op.sk = job_.sk;
        op.h = job_.of.h, op.hk = job_.of.hk, op.d = job_.of.d;
        op.causal = 1, op.scale = std::bit_cast<u32>(1 / std::sqrt(static_cast<f32>(job_.of.d)));
        op.q = address(q_.data()), op.k = address(k_.data()), op.v = address(v_.data());
        op.o = address(o_.data());
        op.q_h = op.k_h = op.v_h = op.o_h = 2 * u64{job_.of.d};
        op.q_s = op.o_s = op.h * op.q_h, op.k_s = op.v_s = op.hk * op.k_h;
        op.q_b = op.o_b = job_.q_bytes(), op.k_b = op.v_b = job_.k_bytes();
        op.pages = 1;
        return op;
    }

    // Each launch of the op, apart.
    void time(Op op, u32 runs, f64 density, std::vector<AttentionLaunch> &out) {
        op.workspace_bytes = workspace_for_any(op, machine_);
        const std::vector<u8> zeros(std::max<u64>(op.workspace_bytes, 16));
        hip::Buffer workspace = device_.allocate(zeros.size());
        workspace.upload(zeros.data(), zeros.size());
        op.workspace = address(workspace.data());
        const Plan plan = nw::plan(op, machine_, check_shape(op));
        check_operands(plan);
        const hip::Event start = device_.event(), stop = device_.event();
        plan.each([&](const Step &step) {
            modules_.function(*step.kernel);
            std::vector<f64> us;
            for (u32 run = 0; run < runs; ++run) {
                device_.record(start);
                launch(modules_, step);
                device_.record(stop);
                us.push_back(1000 * f64{device_.elapsed_ms(start, stop)});
            }
            const std::string family(step.kernel->family);
            out.push_back({step.kernel, family.substr(family.find('_') + 1), step.dynamic_lds,
                           upper_median(us), "", density});
            if (const std::vector<std::string> lines = device_.take_stats(); !lines.empty())
                out.back().stats = last_atlas_stats(lines, *step.kernel);
        });
    }

    f64 density() const {
        std::vector<i32> cnt(job_.of.h * job_.tiles());
        cnt_.download(cnt.data(), 4 * cnt.size());
        f64 listed = 0;
        for (i32 count : cnt)
            listed += count;
        const f64 tiles = static_cast<f64>(job_.tiles()), blocks = static_cast<f64>(job_.blocks());
        return listed / (job_.of.h * tiles * (blocks - (tiles - 1) / 2));
    }

    const hip::Device &device_;
    const AttentionJob &job_;
    const Machine machine_;
    Modules modules_;
    hip::Buffer q_, k_, v_, o_, idx_, cnt_;
};

} // namespace

std::vector<std::vector<AttentionLaunch>> time_attention(const std::vector<AttentionJob> &jobs,
                                                         const hip::DeviceInfo &on, u32 repeats) {
    if (on.simulated) {
        std::vector<u64> work;
        for (const AttentionJob &job : jobs)
            work.push_back(u64{job.sq} * job.sk * job.of.h * job.of.d);
        return on_cores<std::vector<AttentionLaunch>>(work, [&](u64 i) {
            const hip::Device device = model_device(on.spec, work.size(), "stats=on");
            return Tensors(device, jobs[i]).launches(1);
        });
    }
    const hip::Device device(on.spec);
    std::vector<std::vector<AttentionLaunch>> out;
    for (const AttentionJob &job : jobs)
        out.push_back(Tensors(device, job).launches(repeats));
    return out;
}

} // namespace nw::cli
