// SPDX-License-Identifier: MIT
// The suite sim: the speed of the simulated GPU, on one core and two, and what the checkers cost.
#include <algorithm>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <regex>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/data.h"
#include "bench/sim/interpreter.h"
#include "bench/stats.h"
#include "bench/suites.h"
#include "hip/hip.h"
#include "runtime/decode.h"
#include "runtime/modules.h"

namespace nw::bench {

namespace {

// One way to run the simulator.
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

// ---- the kernels on one device ------------------------------------------------------------------

class Kernels {
public:
    Kernels(const Options &o, const Shapes &shapes, Setup setup)
        : device_(o.device.empty() ? "sim:gfx1151" : o.device), modules_(device_), setup_(setup),
          shapes_(layers_of(shapes, o.model)), group_(o.group), seed_(o.seed),
          only_(o.only.empty() ? "." : o.only) {
        if (!device_.info().simulated)
            throw Usage(fmt::format("--device {}: the suite sim measures a simulated GPU, sim:gfx…",
                                    o.device));
        out_ = device_.allocate(4 * 32 * micro_groups);
    }

    // Whether --only leaves anything to run.
    bool any() const { return any_; }

    void add_all() {
        if (setup_.checked())
            return add_checked();
        if (setup_.threads == 1 && !setup_.fast)
            add_interpreter();
        if (setup_.threads == 1)
            add_micro("micro_wmma", 2000);
        if (setup_.threads == 1 && !setup_.fast)
            add_micro("micro_valu", 20000);
        if (!setup_.fast)
            for (Dtype dtype : {Dtype::bf16, Dtype::f16})
                for (u32 m : {1u, 4u})
                    add_decode(dtype, m);
        if (setup_.threads == 2 && !setup_.fast)
            add_layer();
        if (setup_.threads == 2)
            add_gemm();
    }

private:
    static constexpr u32 micro_groups = 1;

    // Registers `name`; `run` queues launches, `count` wave instructions in all.
    void add(const std::string &name, std::function<void()> run, std::function<u64()> count) {
        any_ |= std::regex_search(name, only_);
        auto *b =
            benchmark::RegisterBenchmark(name.c_str(), [this, run, count](benchmark::State &state) {
                const u64 insts = count();
                for ([[maybe_unused]] auto _ : state) {
                    run();
                    device_.synchronize();
                }
                stats_.skip();
                state.counters["insts"] = static_cast<f64>(insts);
            });
        b->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();
        if (setup_.threads > 1) // of one core, processor time: what else runs doesn't count
            b->UseRealTime();
    }

    // Wave instructions of one run, from the simulator's statistics.
    u64 counted(const std::string &symbol, const std::function<void()> &run) {
        run();
        device_.synchronize();
        return stats_.next(symbol).value().total();
    }

    void add_interpreter() {
        any_ |= std::regex_search("scalar interpreter", only_);
        benchmark::RegisterBenchmark("scalar interpreter", [](benchmark::State &state) {
            u64 insts = 0;
            for ([[maybe_unused]] auto _ : state)
                benchmark::DoNotOptimize(insts = interpret(200000));
            state.counters["insts"] = static_cast<f64>(insts);
        });
    }

    // Registers only, matrices, and memory with LDS.
    void add_checked() {
        add_micro("micro_valu", 20000, {"fma_f32", "mix"});
        add_micro("micro_wmma", 2000, {"f16"});
        add_decode(Dtype::bf16, 4);
        add_decode(Dtype::f16, 1);
    }

    // All kernels of the family, or those whose first parameter is one of `some`.
    void add_micro(std::string_view family, u32 loops, std::vector<std::string_view> some = {}) {
        for (const Kernel &kernel : kernels()) {
            if (kernel.family != family || kernel.gfx != device_.info().gfx)
                continue;
            if (setup_.fast && kernel.param("dtype").starts_with("iu"))
                continue;
            if (!some.empty() && std::ranges::none_of(some, [&](std::string_view x) {
                    return kernel.param("op") == x || kernel.param("dtype") == x;
                }))
                continue;
            auto run = [this, &kernel, loops] {
                std::vector<std::byte> kernarg(kernel.kernarg_bytes);
                const void *out = out_.data();
                std::memcpy(kernarg.data(), &out, sizeof out);
                std::memcpy(kernarg.data() + 8, &loops, sizeof loops);
                device_.launch(modules_.function(kernel), micro_groups, kernel.block, 0, kernarg);
            };
            std::string symbol(kernel.symbol);
            add(symbol, run, [=, this] { return counted(symbol, run); });
        }
    }

    struct Linear {
        Resident layer;
        hip::Buffer a, c;
        W4A16 arguments;
        const Kernel *kernel;
    };

    Linear &linear(const LinearShape &shape, Dtype dtype, u32 m) {
        const Rng rng = Rng(seed_).fork(u64{shape.n} << 32 | shape.k);
        const std::string &gfx = device_.info().gfx;
        Linear &l = *linears_.emplace_back(std::make_unique<Linear>(Linear{
            {device_, make_layer(dtype, layout_for(gfx, shape.n, shape.k, group_), rng.fork(0))},
            upload(device_, make_activations(dtype, m, shape.k, rng.fork(1))),
            device_.allocate(u64{2} * m * shape.n),
            {},
            &choose(gfx, dtype, group_, m, Zeros::eight, shape.n, shape.k)}));
        l.arguments = l.layer.arguments(m, l.a, l.c);
        modules_.function(*l.kernel);
        return l;
    }

    void add_decode(Dtype dtype, u32 m) {
        const LinearShape &shape = shapes_.front();
        Linear &l = linear({shape.model, shape.layer, 2048, shape.k, false}, dtype, m);
        auto run = [this, &l] { launch(modules_, *l.kernel, l.arguments); };
        std::string symbol(l.kernel->symbol);
        add(symbol, run, [=, this] { return counted(symbol, run); });
    }

    // The linear layers of a decoder layer of the model, one token.
    void add_layer() {
        std::vector<Linear *> layer;
        for (const LinearShape &shape : shapes_)
            if (!shape.moe && shape.k % group_ == 0)
                layer.push_back(&linear(shape, Dtype::bf16, 1));
        auto run = [this, layer] {
            for (const Linear *l : layer)
                launch(modules_, *l->kernel, l->arguments);
        };
        add(fmt::format("{} layer, m 1", shapes_.front().model), run, [=, this] {
            u64 sum = 0;
            for (const Linear *l : layer)
                sum += counted(std::string(l->kernel->symbol),
                               [this, l] { launch(modules_, *l->kernel, l->arguments); });
            return sum;
        });
    }

    void add_gemm() {
        constexpr u32 m = 2048, n = 2560, k = 3840;
        const auto found = std::ranges::find_if(kernels(), [&](const Kernel &kernel) {
            return kernel.family == "wmma_gemm" && kernel.gfx == device_.info().gfx;
        });
        if (found == kernels().end())
            return;
        const Kernel &kernel = *found;
        a_ = upload(device_, make_activations(Dtype::f16, 1, m * k, Rng(seed_)));
        b_ = upload(device_, make_activations(Dtype::f16, 1, n * k, Rng(seed_)));
        c_ = device_.allocate(u64{4} * m * n);
        auto run = [this, &kernel] {
            struct {
                const void *a, *b;
                void *c;
                u32 m, n, k;
            } args{a_.data(), b_.data(), c_.data(), m, n, k};
            std::vector<std::byte> kernarg(kernel.kernarg_bytes);
            std::memcpy(kernarg.data(), &args, kernarg.size());
            device_.launch(modules_.function(kernel), m / 128 * (n / 128), kernel.block, 0,
                           kernarg);
        };
        std::string symbol(kernel.symbol);
        add(fmt::format("{} {}x{}x{}", symbol, m, n, k), run,
            [=, this] { return counted(symbol, run); });
    }

    StatsFile stats_; // before the device is opened
    hip::Device device_;
    Modules modules_;
    Setup setup_;
    Shapes shapes_;
    u32 group_;
    u64 seed_;
    std::regex only_; // as --only has it
    bool any_ = false;
    hip::Buffer out_, a_, b_, c_;
    std::vector<std::unique_ptr<Linear>> linears_;
};

// ---- Google Benchmark's results as rows ---------------------------------------------------------

class Rows : public benchmark::BenchmarkReporter {
public:
    explicit Rows(Setup setup) : setup_(setup) {}
    bool ReportContext(const Context &) override { return true; }
    void ReportRuns(const std::vector<Run> &runs) override {
        for (const Run &run : runs) {
            std::string name = run.run_name.function_name;
            const bool real = run.run_name.time_type.ends_with("real_time"); // "process_time/…"
            const f64 seconds = (real ? run.real_accumulated_time : run.cpu_accumulated_time) /
                                static_cast<f64>(run.iterations);
            rows.push_back({{"name", name},
                            {"setup", setup_.name()},
                            {"check", setup_.check},
                            {"wave_insts_per_s", run.counters.at("insts") / seconds},
                            {"time_us", 1e6 * seconds}});
        }
    }
    Json rows = Json::array();

private:
    Setup setup_;
};

Json measure(const Options &o, const Shapes &shapes, Setup setup) {
    setenv("HIPSIM_THREADS", std::to_string(setup.threads).c_str(), 1);
    setenv("HIPSIM_MATH", setup.fast ? "fast" : "exact", 1);
    setenv("HIPSIM_CHECK", setup.check.c_str(), 1);
    Kernels kernels(o, shapes, setup);
    kernels.add_all();
    std::string program = "nw_bench", time = "--benchmark_min_time=0.3",
                filter = "--benchmark_filter=" + (o.only.empty() ? std::string(".") : o.only);
    char *arguments[] = {program.data(), time.data(), filter.data()};
    int count = 3;
    benchmark::Initialize(&count, arguments);
    Rows rows(setup);
    if (!kernels.any())
        return rows.rows;
    benchmark::RunSpecifiedBenchmarks(&rows);
    return rows.rows;
}

// The rows that a process of its own measures: the simulator reads its variables once.
Json measure_apart(const Options &o, const Shapes &shapes, Setup setup) {
    int ends[2];
    if (pipe(ends))
        throw Error("pipe: no more files");
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        std::string text;
        int code = 0;
        try {
            text = measure(o, shapes, setup).dump();
        } catch (const Usage &e) {
            fmt::print(stderr, "nw_bench: {}\n", e.what());
            code = 2;
        } catch (const std::exception &e) {
            fmt::print(stderr, "nw_bench: {}\n", e.what());
            code = 1;
        }
        for (size_t at = 0; at < text.size();) {
            const ssize_t n = write(ends[1], text.data() + at, text.size() - at);
            if (n <= 0)
                _exit(1);
            at += static_cast<size_t>(n);
        }
        fflush(nullptr);
        _exit(code);
    }
    close(ends[1]);
    std::string text;
    char part[4096];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
        text.append(part, static_cast<size_t>(n));
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 1)
        throw Error(fmt::format("the suite sim failed on {}", setup.name()));
    if (WEXITSTATUS(status) == 2)
        throw Usage("the suite sim can't run so");
    return Json::parse(text);
}

// Rows under checks get how many times as slow they are as the same without.
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

void print(Json rows) {
    f64 unit = 0;
    for (const Json &row : rows)
        if (row["name"] == "scalar interpreter")
            unit = row["wave_insts_per_s"];
    for (Json &row : rows) {
        const f64 rate = row["wave_insts_per_s"];
        row.update({{"millions", rate / 1e6}, {"ms", row["time_us"].get<f64>() / 1e3}});
        if (unit > 0)
            row["units"] = rate / unit;
    }
    print_table("name {name:<36}; cores, math, check {setup:<18}; M insts/s {millions:>12.3f}; "
                "units {units:>10.3f}; ms {ms:>10.2f}",
                rows);
    fmt::print("\nM insts/s: wave instructions, of one core by processor time, of two by the clock."
               " units: the same\nby the rate of a scalar interpreter's loop on this host.\n");
}

} // namespace

Result run_sim(const Options &o, const Shapes &shapes) {
    std::vector<Setup> setups{plain};
    for (const char *check : checks)
        setups.push_back({1, false, check});
    for (const Setup &setup : {Setup{1, true}, Setup{2, false}, Setup{2, true}})
        setups.push_back(setup);
    Result out;
    out.device = "sim " + (o.device.empty() ? "gfx1151" : o.device.substr(4));
    for (const Setup &setup : setups)
        append(out.rows, measure_apart(o, shapes, setup));
    if (out.rows.empty())
        throw Usage(fmt::format("--only {}: no row of the suite sim has such a name", o.only));
    compare(out.rows);
    print(out.rows);
    print_checks(out.rows);
    return out;
}

} // namespace nw::bench
