// SPDX-License-Identifier: MIT
#include "bench/layer/layer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "base/half.h"
#include "base/progress.h"
#include "bench/data.h"
#include "check/decode_bound.h"
#include "runtime/decode.h"

namespace nw::bench {

namespace {

struct Errors {
    f64 max = 0, mean = 0;
    u64 out_of_bound = 0;
};

bool within(Dtype dtype, u16 got, f64 exact, f64 bound) {
    const f64 x = to_f32(dtype, got); // false for NaN
    return x >= to_f32(dtype, round_to(dtype, exact - bound)) &&
           x <= to_f32(dtype, round_to(dtype, exact + bound));
}

// See error_unit for what is counted.
Errors compare(const Kernel &kernel, const ref::DecodeW4A16 &p, const ref::DecodeResult &exact,
               const std::vector<u16> &got) {
    const std::vector<f64> bound = check::decode_bound(kernel, p, exact);
    Errors e;
    for (u64 m = 0; m < p.m; ++m) {
        f64 squares = 0;
        for (u64 i = m * p.n; i < (m + 1) * p.n; ++i)
            squares += exact.c[i] * exact.c[i];
        const f64 rms = std::sqrt(squares / p.n);
        for (u64 i = m * p.n; i < (m + 1) * p.n; ++i) {
            const f64 error = std::fabs(to_f32(p.dtype, got[i]) - exact.c[i]) /
                              ulp(p.dtype, std::max(std::fabs(exact.c[i]), rms));
            e.max = error > e.max || std::isnan(error) ? error : e.max;
            e.mean += error / static_cast<f64>(got.size());
            e.out_of_bound += !within(p.dtype, got[i], exact.c[i], bound[i]);
        }
    }
    return e;
}

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
        std::array<f64, 21> times;
        for (f64 &ms : times)
            ms = milliseconds(launch);
        std::ranges::sort(times);
        return times[times.size() / 2];
    }

private:
    static constexpr u64 cache_bytes = u64{256} << 20; // the largest cache has 96 MiB
    const hip::Device &device_;
    hip::Event start_, stop_;
    hip::Buffer other_;
};

// What a product has to move at least: weights, scales, activations, outputs.
f64 bytes_moved(const ref::DecodeW4A16 &p) {
    return f64{1} * p.n * (p.k / 2 + 2 * (p.k / p.group)) + 2.0 * p.m * (p.k + p.n);
}

hip::Buffer upload(const hip::Device &device, const void *from, u64 bytes) {
    hip::Buffer buffer = device.allocate(bytes);
    buffer.upload(from, bytes);
    return buffer;
}

// One layer's weights on the device and on the host.
struct Resident {
    LayerData data;
    hip::Buffer w, s;
    Resident(const hip::Device &device, LayerData layer)
        : data(std::move(layer)), w(upload(device, data.packed_w.data(), data.packed_w.size())),
          s(upload(device, data.packed_s.data(), data.packed_s.size())) {}
};

class Suite {
public:
    Suite(const Options &o, std::vector<LinearShape> shapes, const hip::Device &device,
          StatsFile &stats)
        : options_(o), shapes_(std::move(shapes)), device_(device), modules_(device), stats_(stats),
          stopwatch_(device), progress_(work()) {}

    std::vector<Row> run() {
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
            &choose(gfx, dtype, options_.group, m, Zeros::eight, shape.n, shape.k);
        std::vector<const Kernel *> out = {chosen};
        for (const Kernel &k : kernels())
            if (k.gfx == gfx && k.family == chosen->family && k.reference &&
                k.param("without").empty() && k.param("dtype") == name(dtype) &&
                k.number("group") == options_.group && k.number("m") == m)
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
        progress_.show(
            fmt::format("{} {}x{} {}: quantizing", shape.layer, shape.n, shape.k, name(dtype)));
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
                progress_.show(
                    fmt::format("{} {}x{} {}", shape.layer, shape.n, shape.k, kernel->symbol));
                const u32 n = rows_of(*kernel, shape.n);
                const ref::DecodeW4A16 problem = product(layer.data, a, m, n);
                if (std::exchange(rows, n) != n)
                    exact = ref::decode_w4a16(problem);
                Row row = measure(*kernel, layer, problem, exact);
                row.model = shape.model;
                row.layer = shape.layer;
                rows_.push_back(row);
                progress_.advance(u64{n} * shape.k * m);
            }
        }
    }

    Row measure(const Kernel &kernel, const Resident &layer, const ref::DecodeW4A16 &p,
                const ref::DecodeResult &exact) {
        const RowLayout &l = layer.data.layout;
        const hip::Buffer a = upload(device_, p.a.data(), p.a.size_bytes());
        hip::Buffer c = device_.allocate(u64{2} * p.m * p.n);
        c.fill(0xff); // NaN: an output that no kernel wrote is seen
        const W4A16 arguments = {
            p.dtype,        p.m,     p.n,      p.k,        p.group,   a.data(), layer.w.data(),
            layer.s.data(), nullptr, c.data(), l.w_stride, l.s_stride};
        modules_.function(kernel); // loading is no part of the time
        const auto run = [&] { launch(modules_, kernel, arguments); };
        f64 ms = stopwatch_.milliseconds(run);
        device_.synchronize();
        const std::optional<Instructions> instructions = stats_.next(kernel.symbol);
        std::vector<u16> got(u64{p.m} * p.n);
        c.download(got.data(), 2 * got.size());
        if (!device_.info().simulated)
            ms = stopwatch_.median_milliseconds(run);

        const Errors errors = compare(kernel, p, exact, got);
        Row row{&kernel,     {},  {},         p.dtype,    p.group,     p.m,
                p.n,         p.k, l.w_stride, errors.max, errors.mean, errors.out_of_bound,
                instructions};
        row.time_us = 1000 * ms;
        row.gb_per_s = ms > 0 ? bytes_moved(p) / ms / 1e6 : 0;
        return row;
    }

    const Options &options_;
    std::vector<LinearShape> shapes_;
    const hip::Device &device_;
    Modules modules_;
    StatsFile &stats_;
    Stopwatch stopwatch_;
    Progress progress_;
    std::vector<Row> rows_;
};

// The layers that decode_w4a16 can run, each other one said in a line.
std::vector<LinearShape> usable(const Options &o, const std::vector<LinearShape> &shapes) {
    std::vector<LinearShape> out;
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
void need_known_layers(const Options &o, const std::vector<LinearShape> &shapes) {
    std::vector<std::string> known;
    for (const LinearShape &shape : shapes)
        known.push_back(shape.layer);
    for (const std::string &layer : o.layers)
        if (std::ranges::find(known, layer) == known.end())
            throw Usage(
                fmt::format("--layer {}: {} has {}", layer, o.model, fmt::join(known, ", ")));
}

void need_kernels(const Options &o, const std::string &gfx) {
    for (Dtype dtype : o.dtypes) {
        for (u32 m : o.m) {
            try {
                choose(gfx, dtype, o.group, m);
            } catch (const Error &e) {
                throw Usage(fmt::format("--dtype {} --group {} --m {}: {}", name(dtype), o.group, m,
                                        e.what()));
            }
        }
    }
}

} // namespace

std::vector<Row> run_layer(const Options &o, const std::vector<LinearShape> &all,
                           const hip::Device &device, StatsFile &stats) {
    const std::vector<LinearShape> shapes = layers_of(all, o.model);
    need_known_layers(o, shapes);
    need_kernels(o, device.info().gfx);
    return Suite(o, usable(o, shapes), device, stats).run();
}

} // namespace nw::bench
