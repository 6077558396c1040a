// SPDX-License-Identifier: MIT
// The suite sim: speed of the simulated GPU on one core and two, and cost of the checkers.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <optional>

#include "base/pattern.h"
#include "bench/data.h"
#include "bench/result.h"
#include "bench/sim/interpreter.h"
#include "runtime/choose.h"
#include "runtime/launch.h"

namespace nw::bench {

namespace {

constexpr f64 least_seconds = 0.3; // of a measurement

// One configuration of the simulator.
struct Setup {
    u32 threads;
    bool fast;
    std::string check = "off"; // as HIPSIM_CHECK has it
    bool checked() const { return check != "off"; }
    std::string name() const {
        return fmt::format("{} core{}{}{}", threads, threads > 1 ? "s" : "", fast ? ", fast" : "",
                           checked() ? ", check " + check : "");
    }
};

const Setup plain{1, false};
constexpr const char *checks[] = {"mem", "init", "wait", "race", "all"};

hip::Device device_for(const Options &o, const Setup &setup) {
    const std::string spec = o.device.empty() || o.device == "auto" ? "sim:gfx1151" : o.device;
    if (!spec.starts_with("sim:"))
        throw Usage(
            fmt::format("--device {}: the suite sim measures a simulated GPU, sim:gfx…", o.device));
    return hip::Device::own(fmt::format("{}?threads={}&math={}&check={}&stats=on", spec,
                                        setup.threads, setup.fast ? "fast" : "exact", setup.check));
}

// The rows of one setup that --only leaves.
class Bench {
public:
    using Measured = std::function<void(const Json &row)>;

    Bench(const Options &o, const Shapes &shapes, const Setup &setup, Measured measured)
        : measured_(std::move(measured)), device_(device_for(o, setup)), modules_(device_),
          setup_(setup), shapes_(layers_of(shapes, o.model)), group_(o.group), seed_(o.seed),
          only_("--only", o.only), out_(device_.allocate(4 * 32)) {}

    Json run() {
        if (setup_.checked()) { // registers only, matrices, and memory with LDS
            run_micro("micro_valu", 20000, {"fma_f32", "mix"});
            run_micro("micro_wmma", 2000, {"f16"});
            run_decode(Dtype::bf16, 4);
            run_decode(Dtype::f16, 1);
            return std::move(rows_);
        }
        const bool one = setup_.threads == 1;
        if (one && !setup_.fast)
            measure("scalar interpreter", [] { return interpret(200000); });
        if (one)
            run_micro("micro_wmma", 2000);
        if (one && !setup_.fast)
            run_micro("micro_valu", 20000);
        if (!setup_.fast)
            for (Dtype dtype : {Dtype::bf16, Dtype::f16})
                for (u32 m : {1u, 4u})
                    run_decode(dtype, m);
        if (!one && !setup_.fast)
            run_layer();
        if (!one)
            run_gemm();
        return std::move(rows_);
    }

private:
    // CPU time for one core, which excludes other programs.
    f64 seconds() const {
        if (setup_.threads == 1)
            return static_cast<f64>(std::clock()) / CLOCKS_PER_SEC;
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return std::chrono::duration<f64>(now).count();
    }

    // A row; `run` returns how many instructions it ran.
    void measure(const std::string &name, const std::function<u64()> &run) {
        if (!only_.found_in(name))
            return;
        run(); // untimed: loads and allocates
        u64 insts = 0, runs = 0;
        f64 spent = 0;
        for (const f64 start = seconds(); spent < least_seconds; spent = seconds() - start, ++runs)
            insts += run();
        rows_.push_back({{"name", name},
                         {"setup", setup_.name()},
                         {"check", setup_.check},
                         {"wave_insts_per_s", static_cast<f64>(insts) / spent},
                         {"time_us", 1e6 * spent / static_cast<f64>(runs)}});
        measured_(rows_.back());
    }

    void measure_launches(const std::string &name, const std::function<void()> &launches) {
        u64 insts = 0; // wave instructions of one run, from the simulator's statistics
        measure(name, [&] {
            launches();
            device_.synchronize();
            const std::vector<std::string> lines = device_.take_stats();
            if (!insts)
                for (const std::string &line : lines)
                    insts += Json::parse(line).at("insts").at("total").get<u64>();
            return insts;
        });
    }

    // All kernels of the family, or those whose first parameter is one of `some`.
    void run_micro(std::string_view family, u32 loops, std::vector<std::string_view> some = {}) {
        for (const Kernel &kernel : kernels(device_.info().gfx)) {
            if (kernel.family != family)
                continue;
            if (setup_.fast && kernel.param("dtype").starts_with("iu"))
                continue;
            if (!some.empty() && std::ranges::none_of(some, [&](std::string_view x) {
                    return kernel.param("op") == x || kernel.param("dtype") == x;
                }))
                continue;
            measure_launches(std::string(kernel.symbol), [&] {
                Op op{};
                op.out = address(out_.data());
                op.loops = loops;
                op.workgroups = 1;
                launch(modules_, kernel, op);
            });
        }
    }

    // Its data, and a launch of it.
    std::function<void()> linear(const LinearShape &shape, Dtype dtype, u32 m) {
        struct Linear {
            Resident layer;
            hip::Buffer a, c;
        };
        const std::string &gfx = device_.info().gfx;
        const Rng rng = Rng(seed_).fork(u64{shape.n} << 32 | shape.k);
        const auto l = std::make_shared<Linear>(Linear{
            {device_, make_layer(dtype, layout_for(gfx, shape.n, shape.k, group_), rng.fork(0))},
            upload(device_, make_activations(dtype, m, shape.k, rng.fork(1))),
            device_.allocate(u64{2} * m * shape.n)});
        const Kernel &kernel =
            choose(gfx, linear_w4a16(dtype, group_, Zeros::eight, m, shape.n, shape.k));
        modules_.function(kernel);
        return
            [this, l, m, &kernel] { launch(modules_, kernel, l->layer.arguments(m, l->a, l->c)); };
    }

    // gfx10 has f16 alone.
    bool decodes(Dtype dtype) const {
        return std::ranges::any_of(kernels(device_.info().gfx), [&](const Kernel &k) {
            return k.family == "decode_w4a16" && k.param("dtype") == name(dtype);
        });
    }

    void run_decode(Dtype dtype, u32 m) {
        if (!decodes(dtype))
            return;
        const LinearShape &of = shapes_.front();
        const std::string name(
            choose(device_.info().gfx, linear_w4a16(dtype, group_, Zeros::eight, m, 2048, of.k))
                .symbol);
        if (only_.found_in(name))
            measure_launches(name, linear({of.model, of.layer, 2048, of.k}, dtype, m));
    }

    // The linear layers of a decoder layer of the model, one token.
    void run_layer() {
        const std::string name = fmt::format("{} layer, m 1", shapes_.front().model);
        if (!only_.found_in(name))
            return;
        const Dtype dtype = decodes(Dtype::bf16) ? Dtype::bf16 : Dtype::f16;
        std::vector<std::function<void()>> layer;
        for (const LinearShape &shape : shapes_)
            if (!shape.moe && shape.k % group_ == 0)
                layer.push_back(linear(shape, dtype, 1));
        measure_launches(name, [&] {
            for (const auto &launch : layer)
                launch();
        });
    }

    void run_gemm() {
        constexpr u32 m = 2048, n = 2560, k = 3840;
        const std::span<const Kernel> all = kernels(device_.info().gfx);
        const auto found = std::ranges::find(all, "wmma_gemm", &Kernel::family);
        if (found == all.end())
            return;
        const Kernel &kernel = *found;
        const std::string name = fmt::format("{} {}x{}x{}", kernel.symbol, m, n, k);
        if (!only_.found_in(name))
            return;
        const hip::Buffer a = upload(device_, make_activations(Dtype::f16, 1, m * k, Rng(seed_))),
                          b = upload(device_, make_activations(Dtype::f16, 1, n * k, Rng(seed_))),
                          c = device_.allocate(u64{4} * m * n);
        measure_launches(name, [&] {
            Op op{};
            op.a = address(a.data()), op.b = address(b.data()), op.c = address(c.data());
            op.m = m, op.n = n, op.k = k;
            launch(modules_, kernel, op);
        });
    }

    const Measured measured_;
    const hip::Device device_;
    Modules modules_;
    const Setup setup_;
    const Shapes shapes_;
    const u32 group_;
    const u64 seed_;
    const Pattern only_;
    hip::Buffer out_;
    Json rows_ = Json::array();
};

// Adds to rows with checkers their slowdown against the same row without.
void compare(Json &rows) {
    for (Json &row : rows)
        for (const Json &base : rows)
            if (row["check"] != "off" && base["setup"] == plain.name() &&
                base["name"] == row["name"])
                row["slowdown"] = row["time_us"].get<f64>() / base["time_us"].get<f64>();
}

void print_checks(const Json &rows) {
    std::map<std::string, Json> kernels;
    for (const Json &row : rows)
        if (row.contains("slowdown"))
            kernels[row["name"]].update(
                {{"name", row["name"]}, {row["check"].get<std::string>(), row["slowdown"]}});
    if (kernels.empty())
        return;
    std::string columns = "times as slow with HIPSIM_CHECK= {name:<36}";
    for (const char *check : checks)
        columns += fmt::format("; {0} {{{0}:>6.2f}}", check);
    Json lines = Json::array();
    for (const auto &[name, line] : kernels)
        lines.push_back(line);
    fmt::print("\n");
    print_table(columns, lines);
}

// Prints rows as they come. The scalar interpreter, the unit of others, is the first of all.
class Printer {
public:
    Printer() {
        fmt::print("The speed of the simulated GPU on this host.\n"
                   "M insts/s: wave instructions, of one core by processor time, of two by the "
                   "clock.\n"
                   "units: the same by the rate of a scalar interpreter's loop on this host.\n\n");
    }
    void print(Json row) {
        const f64 rate = row["wave_insts_per_s"];
        if (row["name"] == "scalar interpreter")
            unit_ = rate;
        row.update({{"millions", rate / 1e6}, {"ms", row["time_us"].get<f64>() / 1e3}});
        if (unit_ > 0)
            row["units"] = rate / unit_;
        table_.print(row);
    }

private:
    Table table_{"name {name:<36}; cores, math, check {setup:<18}; M insts/s {millions:>12.3f}; "
                 "units {units:>10.3f}; ms {ms:>10.2f}"};
    f64 unit_ = 0;
};

} // namespace

Result run_suite(const Options &o, const Shapes &shapes) {
    std::vector<Setup> setups{plain};
    for (const char *check : checks)
        setups.push_back({1, false, check});
    for (const Setup &setup : {Setup{1, true}, Setup{2, false}, Setup{2, true}})
        setups.push_back(setup);
    Result out;
    out.device = "sim " + (o.device.empty() ? "gfx1151" : o.device.substr(4));
    std::optional<Printer> printer;
    const auto print = [&](const Json &row) {
        if (!printer)
            printer.emplace();
        printer->print(row);
    };
    for (const Setup &setup : setups)
        append(out.rows, Bench(o, shapes, setup, print).run());
    if (out.rows.empty())
        no_row(o, "the suite sim");
    compare(out.rows);
    print_checks(out.rows);
    return out;
}

} // namespace nw::bench
