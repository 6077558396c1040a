// SPDX-License-Identifier: MIT
// The suite layer: the linear layers of a model through decode_w4a16 on a card or a simulated part:
// errors, wave instructions, VALU slots per 8 weights, and time where the device gives one.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/half.h"
#include "base/median.h"
#include "base/progress.h"
#include "bench/data.h"
#include "bench/errors.h"
#include "bench/layer/table.h"
#include "bench/stats.h"
#include "check/decode_bound.h"
#include "check/ops.h"

namespace nw::bench {

namespace {

// Times launches by events. On a card each run finds its caches full of something else.
class Stopwatch {
public:
    explicit Stopwatch(const hip::Device &device)
        : device_(device), start_(device.event()), stop_(device.event()) {
        if (!device.info().simulated)
            other_ = device.allocate(cache_bytes);
    }

    // Zero where neither a card nor a model keeps time.
    template <class Launch> f64 milliseconds(const Launch &launch) {
        if (other_.size())
            other_.fill(0);
        device_.record(start_);
        launch();
        device_.record(stop_);
        return device_.elapsed_ms(start_, stop_);
    }

    template <class Launch> f64 median_milliseconds(const Launch &launch) {
        std::vector<f64> times(21);
        for (f64 &ms : times)
            ms = milliseconds(launch);
        return upper_median(times);
    }

private:
    static constexpr u64 cache_bytes = u64{256} << 20; // the largest cache has 96 MiB
    const hip::Device &device_;
    hip::Event start_, stop_;
    hip::Buffer other_;
};

class Suite {
public:
    Suite(const Options &o, Shapes shapes, const hip::Device &device, LaunchCounts &stats)
        : options_(o), shapes_(std::move(shapes)), device_(device), modules_(device), stats_(stats),
          stopwatch_(device), progress_(work()) {}

    Json run() {
        for (const LinearShape &shape : shapes_)
            for (Dtype dtype : options_.dtypes)
                run_shape(shape, dtype);
        return std::move(rows_);
    }

private:
    // The chosen kernel first.
    std::vector<const Kernel *> variants(const LinearShape &shape, Dtype dtype, u32 m) const {
        const std::string &gfx = device_.info().gfx;
        const Kernel *chosen =
            &choose(gfx, linear_w4a16(dtype, options_.group, Zeros::eight, m, shape.n, shape.k));
        std::vector<const Kernel *> out = {chosen};
        for (const Kernel &k : kernels(gfx))
            if (k.family == chosen->family && k.reference && k.param("without").empty() &&
                k.param("dtype") == name(dtype) && k.number("group") == options_.group &&
                k.number("m") == m)
                out.push_back(&k);
        return out;
    }

    u32 rows_of(const Kernel &kernel, u32 n) const {
        return kernel.reference && options_.before_rows ? std::min(n, options_.before_rows) : n;
    }

    // Activations times weights, of all launches.
    u64 work() const {
        u64 sum = 0;
        for (const LinearShape &shape : shapes_)
            for (Dtype dtype : options_.dtypes)
                for (u32 m : options_.m)
                    for (const Kernel *kernel : variants(shape, dtype, m))
                        sum += u64{rows_of(*kernel, shape.n)} * shape.k * m;
        return sum;
    }

    void run_shape(const LinearShape &shape, Dtype dtype) {
        const std::string size = fmt::format("{} {}", shape.layer, by(shape.n, shape.k));
        progress_.show(fmt::format("{} {}: quantizing", size, name(dtype)));
        const Rng rng = Rng(options_.seed).fork(u64{shape.n} << 32 | shape.k);
        const Resident layer(
            device_,
            make_layer(dtype, layout_for(device_.info().gfx, shape.n, shape.k, options_.group),
                       rng.fork(0)));
        for (u32 m : options_.m) {
            const std::vector<u16> a = make_activations(dtype, m, shape.k, rng.fork(1));
            u32 rows = 0; // that `exact` is for
            ref::DecodeResult exact;
            for (const Kernel *kernel : variants(shape, dtype, m)) {
                progress_.show(fmt::format("{} {}", size, kernel->symbol));
                const u32 n = rows_of(*kernel, shape.n);
                const ref::DecodeW4A16 problem = product(layer.data, a, m, n);
                if (std::exchange(rows, n) != n)
                    exact = ref::decode_w4a16(problem);
                rows_.push_back(measure(*kernel, layer, problem, exact));
                rows_.back().update({{"model", shape.model}, {"layer", shape.layer}});
                progress_.advance(u64{n} * shape.k * m);
            }
        }
    }

    Json measure(const Kernel &kernel, const Resident &layer, const ref::DecodeW4A16 &p,
                 const ref::DecodeResult &exact) {
        const hip::Buffer a = upload(device_, p.a);
        hip::Buffer c = device_.allocate(u64{2} * p.m * p.n);
        c.fill(0xff); // NaN: an output that no kernel wrote is seen
        W4A16 arguments = layer.arguments(p.m, a, c);
        arguments.n = p.n;
        modules_.function(kernel); // loading is no part of the time
        const auto run = [&] { launch(modules_, kernel, arguments); };
        f64 ms = stopwatch_.milliseconds(run);
        device_.synchronize();
        const std::optional<Instructions> instructions = stats_.next(kernel.symbol);
        std::vector<u16> got(u64{p.m} * p.n);
        c.download(got.data(), 2 * got.size());
        if (!device_.info().simulated)
            ms = stopwatch_.median_milliseconds(run);

        const std::vector<f64> bound = check::decode_bound(kernel, p, exact);
        Errors errors;
        for (u64 at = 0; at < got.size(); at += p.n)
            errors.add(p.dtype, std::span(exact.c).subspan(at, p.n),
                       std::span(bound).subspan(at, p.n), std::span(got).subspan(at, p.n));
        const ProductShape shape{p.dtype, Zeros::eight, p.m, p.n, p.k, p.group, arguments.w_stride};
        Json row = layer_row(kernel, shape, errors, instructions);
        if (ms > 0) {
            row["time_us"] = 1000 * ms;
            row["gb_per_s"] = static_cast<f64>(shape.bytes_moved()) / ms / 1e6;
        }
        return row;
    }

    const Options &options_;
    Shapes shapes_;
    const hip::Device &device_;
    Modules modules_;
    LaunchCounts &stats_;
    Stopwatch stopwatch_;
    Progress progress_;
    Json rows_ = Json::array();
};

// The layers that decode_w4a16 can run, each other one said in a line.
Shapes usable(const Options &o, const Shapes &shapes) {
    Shapes out;
    for (const LinearShape &shape : shapes) {
        if (!o.layers.empty() && std::ranges::find(o.layers, shape.layer) == o.layers.end())
            continue;
        if (shape.moe)
            fmt::print("{} is a mixture of experts, which decode_w4a16 does not run: left out\n",
                       shape.layer);
        else if (shape.k % o.group)
            fmt::print(
                "{} has K = {}, no multiple of the group size {}: left out, try --group 32\n",
                shape.layer, shape.k, o.group);
        else
            out.push_back(shape);
    }
    if (out.empty())
        throw Usage(fmt::format("--model {}: no layer is left to run", o.model));
    return out;
}

// Names in `layers` that the model does not have are errors, not silence.
void need_known_layers(const Options &o, const Shapes &shapes) {
    for (const std::string &layer : o.layers)
        if (std::ranges::find(shapes, layer, &LinearShape::layer) == shapes.end())
            throw Usage(
                fmt::format("--layer {}: {} has {}", layer, o.model,
                            fmt::join(std::views::transform(shapes, &LinearShape::layer), ", ")));
}

// Of decode: others have no bound for their errors here.
void need_kernels(const Options &o, const std::string &gfx) {
    std::set<std::tuple<Dtype, u64, u32>> kinds;
    std::set<std::string> have;
    for (const Kernel &k : kernels(gfx))
        if (k.family == "decode_w4a16" && !k.reference && !k.candidate) {
            kinds.emplace(dtype_of(k), k.p.group, k.p.m);
            if (k.param("zeros").empty())
                have.insert(
                    fmt::format("{} g{} m 1 2 3 4 5 6 7 8", k.param("dtype"), k.param("group")));
        }
    for (Dtype dtype : o.dtypes)
        for (u32 m : o.m)
            if (!kinds.contains({dtype, o.group, m}))
                throw Usage(
                    fmt::format("--dtype {} --group {} --m {}: no such kernel on {}; there is {}",
                                name(dtype), o.group, m, gfx, fmt::join(have, "; ")));
}

} // namespace

Result run_layer(const Options &o, const Shapes &all) {
    const hip::Device device(o.device, "timing=on&stats=on");
    LaunchCounts stats(device);
    if (!device.info().note.empty())
        fmt::print("{}\n", device.info().note);
    const Shapes shapes = layers_of(all, o.model);
    need_known_layers(o, shapes);
    need_kernels(o, device.info().gfx);
    Result out{Suite(o, usable(o, shapes), device, stats).run(), device.info().label};
    print_layers(out.rows, o, device.info());
    for (const Json &row : out.rows)
        if (row.contains("_wrong")) {
            out.right = false;
            fmt::print(stderr, "nw_bench: {} on {}: {} outputs are outside the error bound\n",
                       row["kernel"].get<std::string>(), row["_size"].get<std::string>(),
                       row["_wrong"].get<u64>());
        }
    return out;
}

} // namespace nw::bench
