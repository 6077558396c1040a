// SPDX-License-Identifier: MIT
#include "nw/tune/gguf.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>

#include "base/median.h"
#include "base/progress.h"
#include "measure/cold_product.h"
#include "measure/on_cores.h"
#include "nw/tune/decide.h"
#include "nw/tune/inputs.h"
#include "nw/tune/tune.h"
#include "runtime/choose.h"

namespace nw::cli {

namespace {

// A type and a number of rows: a section of the table.
struct Kind {
    std::string type;
    u32 m;
};

// A shape and its candidate kernels, the default first.
struct Job {
    GgufShape shape;
    std::vector<const Kernel *> kernels;
};

std::vector<Job> jobs_of(const GgufTuning &o, const Kind &kind) {
    std::vector<Job> out;
    for (const auto &[n, k] : dense_shapes(o.shapes)) {
        const GgmlTypeInfo &type = *find_ggml_type(kind.type); // its name outlasts the kind's
        if (k % type.elements)
            continue;
        const Op op = linear_gguf(type.name, kind.m, n, k);
        Job job{{type.name, kind.m, n, k}, {&cheapest(o.gfx, op)}};
        for (const Kernel *kernel : kernels_for(o.gfx, op))
            if (kernel != job.kernels.front() &&
                kernel->contract->worth(op, *kernel, usual_machine(o.gfx)))
                job.kernels.push_back(kernel);
        if (job.kernels.size() > 1)
            out.push_back(std::move(job));
    }
    return out;
}

std::vector<Kind> kinds_of(const GgufTuning &o) {
    std::vector<Kind> out;
    for (const std::string &type : o.types)
        for (u32 m : o.m)
            out.push_back({type, m});
    return out;
}

// On the model one run suffices, on a cold device; times of all jobs, concatenated.
std::vector<f64> model_times(const GgufTuning &o, const std::vector<Job> &jobs) {
    std::vector<std::pair<const Job *, const Kernel *>> runs;
    std::vector<u64> work;
    for (const Job &job : jobs)
        for (const Kernel *kernel : job.kernels) {
            runs.emplace_back(&job, kernel);
            work.push_back(job.shape.weight_bytes() * (2 + job.shape.m));
        }
    return on_cores<f64>(work, [&](u64 i) {
        const auto &[job, kernel] = runs[i];
        const hip::Device device = model_device("sim:" + o.gfx, work.size());
        const Op op = job->shape.op();
        return ColdProduct(device, {&op, 1}, 1).us(*kernel, op);
    });
}

f64 median_us(ColdProduct &product, const Kernel &kernel, const GgufShape &shape, u32 repeats) {
    std::vector<f64> times(repeats);
    for (f64 &us : times)
        us = product.us(kernel, shape.op());
    return upper_median(std::move(times));
}

std::vector<f64> card_times(const GgufTuning &o, const hip::Device &device,
                            const std::vector<Job> &jobs) {
    std::vector<Op> ops;
    for (const Job &job : jobs)
        ops.push_back(job.shape.op());
    ColdProduct product(device, ops);
    Progress progress(jobs.size());
    std::vector<f64> out;
    for (const Job &job : jobs) {
        progress.show(
            fmt::format("{} m{} {}x{}", job.shape.type, job.shape.m, job.shape.n, job.shape.k));
        for (const Kernel *kernel : job.kernels)
            out.push_back(median_us(product, *kernel, job.shape, o.repeats));
        progress.advance(1);
    }
    return out;
}

template <class Times> void tune(const GgufTuning &o, const std::string &by, const Times &times) {
    TuningTable table = TuningTable::read(o.out);
    table.write(o.out); // fail early if the file can't be written
    Gain all;
    for (const Kind &kind : kinds_of(o)) {
        const std::vector<Job> jobs = jobs_of(o, kind);
        if (jobs.empty())
            continue;
        const std::vector<f64> us = times(jobs);
        Gain gain;
        u64 at = 0;
        for (const Job &job : jobs) {
            const u64 count = job.kernels.size();
            const TunedShape row = decide(job.kernels, std::span(us).subspan(at, count), by);
            at += count;
            const std::string what = fmt::format("{}x{}", job.shape.n, job.shape.k);
            gain.add(row, job.kernels.front()->symbol, what);
            all.add(row, job.kernels.front()->symbol,
                    fmt::format("{} {} m{}", what, kind.type, kind.m));
            table.put({std::string(gguf_table), "", "", "", kind.type, kind.m}, job.shape.n,
                      job.shape.k, row);
        }
        table.write(o.out);
        fmt::print("{:<16} {}\n", fmt::format("{} m{}", kind.type, kind.m), gain.text());
        std::fflush(stdout);
    }
    fmt::print("{:<16} {}\n", "all", all.text());
}

void print_plan(const GgufTuning &o) {
    u64 runs = 0;
    for (const Kind &kind : kinds_of(o))
        for (const Job &job : jobs_of(o, kind)) {
            fmt::print("{} m{} {}x{}:", kind.type, kind.m, job.shape.n, job.shape.k);
            for (const Kernel *k : job.kernels)
                fmt::print(" {}{}", k->symbol, k == job.kernels.front() ? ", the default" : "");
            fmt::print("\n");
            runs += job.kernels.size();
        }
    fmt::print("{} products of a kernel and a shape\n", runs);
}

} // namespace

void tune_gguf(GgufTuning o) {
    if (o.m.empty())
        o.m = {1, 2, 4, 8, 9, 12, 16, 17, 23, 24, 32, 33, 48, 64};
    if (o.dry_run)
        return print_plan(o);
    const auto begin = std::chrono::steady_clock::now();
    if (o.device.empty() || o.device.starts_with("sim:")) {
        tune(o, model_name(o.gfx),
             [&](const std::vector<Job> &jobs) { return model_times(o, jobs); });
    } else {
        const hip::Device device(o.device);
        need_gfx(device, o.gfx);
        tune(o, device.info().label,
             [&](const std::vector<Job> &jobs) { return card_times(o, device, jobs); });
    }
    const std::chrono::duration<f64> took = std::chrono::steady_clock::now() - begin;
    fmt::print("written to {} in {:.0f} s; the next build has it\n", o.out, took.count());
}

} // namespace nw::cli
