// SPDX-License-Identifier: MIT
#include "nw/tune/clock.h"

#include <fmt/format.h>
#include <mutex>

#include "base/error.h"
#include "base/median.h"
#include "base/progress.h"
#include "measure/cold_product.h"
#include "measure/on_cores.h"

namespace nw::cli {

namespace {

namespace fs = std::filesystem;

std::string text(const TuneJob &job, const Kernel &kernel) {
    return fmt::format("{} {}", kernel.symbol, job.text());
}

void must_be(const std::string &gfx, const hip::DeviceInfo &info) {
    if (info.gfx != gfx)
        throw Error(fmt::format("--gfx {}: the device {} is a {}", gfx, info.spec, info.gfx));
}

// One run suffices. Each has a cold device, so the order doesn't matter.
class ModelClock : public Clock {
public:
    ModelClock(const std::string &gfx, const std::string &spec, fs::path kernels)
        : info_(hip::Device(spec).info()), kernels_(std::move(kernels)) {
        must_be(gfx, info_);
    }

    std::string name() override { return info_.name; }
    // The model's mean error (nw_bench --suite validate).
    f64 least_gain() const override { return 0.035; }

    std::vector<f64> times(std::span<const TuneJob> jobs) override {
        std::vector<std::pair<const TuneJob *, const Kernel *>> runs;
        std::vector<u64> work;
        for (const TuneJob &job : jobs)
            for (const Kernel *kernel : job.kernels) {
                runs.emplace_back(&job, kernel);
                work.push_back((u64{job.n} * job.k >> 10) * (2 + job.op.m));
            }
        Progress progress(runs.size());
        std::mutex mutex; // of progress
        return on_cores<f64>(work, [&](u64 i) {
            const auto &[job, kernel] = runs[i];
            const hip::Device device = model_device(info_.spec, work.size());
            const f64 us = ColdProduct(device, {&job->op, 1}, 1, kernels_).us(*kernel, job->op);
            const std::lock_guard lock(mutex);
            progress.advance(1);
            progress.show(text(*job, *kernel));
            return us;
        });
    }

private:
    const hip::DeviceInfo info_;
    const fs::path kernels_;
};

class CardClock : public Clock {
public:
    CardClock(const std::string &gfx, const std::string &device, fs::path kernels, u32 repeats)
        : device_(device), kernels_(std::move(kernels)), repeats_(repeats) {
        must_be(gfx, device_.info());
    }

    std::string name() override { return device_.info().label; }
    f64 least_gain() const override { return 0.005; }

    std::vector<f64> times(std::span<const TuneJob> jobs) override {
        std::vector<Op> ops;
        u64 runs = 0;
        for (const TuneJob &job : jobs)
            ops.push_back(job.op), runs += job.kernels.size();
        ColdProduct product(device_, ops, ~u64{0}, kernels_);
        Progress progress(runs);
        std::vector<f64> out;
        for (const TuneJob &job : jobs)
            for (const Kernel *kernel : job.kernels) {
                progress.show(text(job, *kernel));
                std::vector<f64> us(repeats_);
                for (f64 &one : us)
                    one = product.us(*kernel, job.op);
                out.push_back(upper_median(std::move(us)));
                progress.advance(1);
            }
        return out;
    }

private:
    const hip::Device device_;
    const fs::path kernels_;
    const u32 repeats_;
};

} // namespace

std::unique_ptr<Clock> make_clock(const std::string &gfx, const std::string &device,
                                  const fs::path &kernels, u32 repeats) {
    if (device.empty() || device.starts_with("sim:"))
        return std::make_unique<ModelClock>(gfx, device.empty() ? "sim:" + gfx : device, kernels);
    return std::make_unique<CardClock>(gfx, device, kernels, repeats);
}

} // namespace nw::cli
