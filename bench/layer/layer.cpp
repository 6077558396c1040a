// SPDX-License-Identifier: MIT
// The suite layer: the linear layers of a model through decode_w4a16 on a card or a simulated part:
// time where the device gives one, errors, wave instructions, VALU slots per 8 weights.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ranges>
#include <set>
#include <tuple>
#include <utility>

#include "base/half.h"
#include "base/median.h"
#include "bench/data.h"
#include "bench/errors.h"
#include "bench/layer/table.h"
#include "bench/product.h"
#include "bench/stats.h"
#include "check/decode_bound.h"
#include "check/ops.h"
#include "measure/on_cores.h"

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

// One layer at one type of activations: a row for each number of rows and kernel.
class Product {
public:
    Product(const Options &o, const hip::Device &device, const LinearShape &shape, Dtype dtype)
        : options_(o), device_(device), shape_(shape), dtype_(dtype),
          rng_(Rng(o.seed).fork(u64{shape.n} << 32 | shape.k)),
          data_(make_layer(dtype, layout_for(device.info().gfx, shape.n, shape.k, o.group),
                           rng_.fork(0))) {}

    Json run() {
        Json out = Json::array();
        for (u32 m : options_.m) {
            const std::vector<u16> a = make_activations(dtype_, m, shape_.k, rng_.fork(1));
            u32 rows = 0; // that `exact` is for
            ref::DecodeResult exact;
            for (const Kernel *kernel : kernels_of(m)) {
                const u32 n = kernel->reference && options_.before_rows
                                  ? std::min(shape_.n, options_.before_rows)
                                  : shape_.n;
                const ref::DecodeW4A16 problem = product(data_, a, m, n);
                if (std::exchange(rows, n) != n)
                    exact = ref::decode_w4a16(problem);
                out.push_back(measure(*kernel, problem, exact));
                out.back().update({{"model", shape_.model}, {"layer", shape_.layer}});
            }
        }
        return out;
    }

private:
    // The chosen kernel, then the older ones if they are shown.
    std::vector<const Kernel *> kernels_of(u32 m) const {
        const std::string &gfx = device_.info().gfx;
        const Kernel *chosen =
            &choose(gfx, linear_w4a16(dtype_, options_.group, Zeros::eight, m, shape_.n, shape_.k));
        std::vector<const Kernel *> out = {chosen};
        if (!shows_older(options_))
            return out;
        for (const Kernel &k : kernels(gfx))
            if (k.family == chosen->family && k.reference && k.param("without").empty() &&
                k.param("dtype") == name(dtype_) && k.number("group") == options_.group &&
                k.number("m") == m)
                out.push_back(&k);
        return out;
    }

    // On a simulated GPU of its own, as new: a time doesn't depend on what ran before.
    Json measure(const Kernel &kernel, const ref::DecodeW4A16 &p, const ref::DecodeResult &exact) {
        if (!device_.info().simulated)
            return measure_on(device_, kernel, p, exact);
        constexpr u64 several = 2; // devices at a time
        return measure_on(model_device(device_.info().spec, several, "stats=on&warm=code"), kernel,
                          p, exact);
    }

    Json measure_on(const hip::Device &device, const Kernel &kernel, const ref::DecodeW4A16 &p,
                    const ref::DecodeResult &exact) {
        const Resident layer(device,
                             {data_.dtype, data_.layout, {}, {}, data_.packed_w, data_.packed_s});
        Modules modules(device);
        LaunchCounts stats(device);
        Stopwatch stopwatch(device);
        const hip::Buffer a = upload(device, p.a);
        hip::Buffer c = device.allocate(u64{2} * p.m * p.n);
        c.fill(0xff); // NaN: an output that no kernel wrote is seen
        W4A16 arguments = layer.arguments(p.m, a, c);
        arguments.n = p.n;
        modules.function(kernel); // loading is no part of the time
        const auto run = [&] { launch(modules, kernel, arguments); };
        f64 ms = stopwatch.milliseconds(run);
        device.synchronize();
        const std::optional<LaunchStats> counted = stats.next_launch(kernel.symbol);
        std::vector<u16> got(u64{p.m} * p.n);
        c.download(got.data(), 2 * got.size());
        if (!device.info().simulated)
            ms = stopwatch.median_milliseconds(run);

        const std::vector<f64> bound = check::decode_bound(kernel, p, exact);
        Errors errors;
        for (u64 at = 0; at < got.size(); at += p.n)
            errors.add(p.dtype, std::span(exact.c).subspan(at, p.n),
                       std::span(bound).subspan(at, p.n), std::span(got).subspan(at, p.n));
        const ProductShape shape{p.dtype, Zeros::eight, p.m, p.n, p.k, p.group, arguments.w_stride};
        Json row = layer_row(kernel, shape, errors,
                             counted ? std::optional(counted->insts) : std::nullopt);
        if (ms > 0) {
            row["time_us"] = 1000 * ms;
            if (counted)
                add_bounds(row, {1000 * ms, counted->time.draws});
            row["gb_per_s"] = static_cast<f64>(shape.bytes_moved()) / ms / 1e6;
            if (counted && !counted->part.empty()) {
                const Bound dram = dram_bound(counted->part);
                row["_bound_gb_per_s"] = dram.gb_per_s;
                row["_pct_of_bound"] = dram.us(shape.bytes_moved()) / (10 * ms);
            }
        }
        return row;
    }

    const Options &options_;
    const hip::Device &device_;
    const LinearShape &shape_;
    const Dtype dtype_;
    const Rng rng_;
    const LayerData data_;
};

// All products of the layers: on all cores if simulated, else one after the other.
Json run_products(const Options &o, const hip::Device &device, const Shapes &shapes) {
    struct Job {
        const LinearShape *shape;
        Dtype dtype;
    };
    std::vector<Job> jobs;
    std::vector<u64> work;
    for (const LinearShape &shape : shapes)
        for (Dtype dtype : o.dtypes) {
            jobs.push_back({&shape, dtype});
            work.push_back(u64{shape.n} * shape.k);
        }
    LayerTable table(o, device.info());
    Json rows = Json::array();
    const auto item = [&](u64 i) {
        return Product(o, device, *jobs[i].shape, jobs[i].dtype).run();
    };
    const auto done = [&](u64, const Json &some) {
        table.print(some);
        append(rows, some);
    };
    if (device.info().simulated)
        on_cores<Json>(work, item, done);
    else
        for (u64 i = 0; i < jobs.size(); ++i)
            done(i, item(i));
    table.summarize(rows);
    return rows;
}

// The layers that decode_w4a16 can run; prints a line for each of the others.
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

// decode_w4a16's: other families have no error bound here.
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

Result run_suite(const Options &o, const Shapes &all) {
    const hip::Device device(o.device, "timing=on&stats=on&warm=code");
    if (!device.info().note.empty())
        fmt::print("{}\n", device.info().note);
    const Shapes shapes = layers_of(all, o.model);
    need_known_layers(o, shapes);
    need_kernels(o, device.info().gfx);
    Result out{run_products(o, device, usable(o, shapes)), device.info().label};
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
