// SPDX-License-Identifier: MIT
#include "sim/timing/timing.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "sim/timing/constants/draws.h"
#include "sim/timing/core/dispatcher.h"
#include "sim/timing/core/engine.h"
#include "sim/timing/core/footprints.h"
#include "sim/timing/limiter.h"
#include "sim/timing/sampling/slice_run.h"

namespace nw::sim::timing {

namespace {

// A grid of more generations of workgroups is sampled.
constexpr u64 generations_exact = 8;
// Generations whose instructions say whether to skip iterations of loops.
constexpr u64 generations_expected = 6;
// Workgroups of a grid whose work is found out in advance.
constexpr u64 most_probes = 64;
// As generations_exact, for launches of more than `long_launch` instructions: about ten seconds.
constexpr u64 generations_exact_long = 4;
constexpr f64 long_launch = 6e7;
// Bytes of recorded workgroups that wait to be timed.
constexpr u64 recorded_ahead = u64{256} << 20;
// Instructions above which iterations of loops are skipped: about a second of the host's time.
constexpr f64 played_whole = 8e6;

u64 groups_of(const Dispatch &d) { return u64{d.grid.x} * d.grid.y * d.grid.z; }

u64 code_address(const Code &code, const Memory &memory) {
    constexpr u64 elsewhere = u64{1} << 46; // outside the image's allocation
    const Allocation a = memory.find(code.base);
    return a.holds(code.base) ? a.device + (code.base - a.begin) : elsewhere;
}

u32 next_key() {
    static std::atomic<u32> last{1};
    return ++last;
}

// Bytes of a kernel's code, up to the next kernel's.
u64 code_bytes(const Dispatch &d) {
    const Code &code = d.program->code(d.kernel->wave_size);
    const Instruction &last = code.instructions.back();
    u64 end = code.base + last.offset + last.size;
    for (const KernelInfo &other : d.program->kernels())
        if (other.entry > d.kernel->entry)
            end = std::min(end, other.entry);
    return end - d.kernel->entry;
}

// A part under one set of constants. Its caches keep their contents across launches.
struct Model {
    const Device &device;
    const Part part;
    const Costs costs;
    MemorySystem memory;
    const u32 key = next_key(); // of data kept with programs

    Model(const Device &d, Constants c)
        : device(d), part(std::move(c.part)), costs(c.costs), memory(part, costs) {}

    const ProgramFacts &facts_of(const Dispatch &d) const {
        const u32 wave_size = d.kernel->wave_size;
        return d.program->derived<ProgramFacts>(key << 8 | wave_size, [&] {
            return std::make_shared<ProgramFacts>(d.program->code(wave_size), device.gfx, costs);
        });
    }

    Machine machine(const Dispatch &d, const Memory &m, Watcher *w) {
        return {part,   costs,
                device, facts_of(d),
                memory, code_address(d.program->code(d.kernel->wave_size), m),
                w};
    }

    // Result for all workgroups, extrapolated from the played ones.
    Result result_of(const Dispatch &d, const Outcome &o) const {
        Result r = o.result;
        r.groups = groups_of(d);
        r.scale = static_cast<f64>(r.groups) / static_cast<f64>(r.groups_timed);
        r.dram_read = static_cast<f64>(r.memory.dram_read);
        r.dram_write = static_cast<f64>(r.memory.dram_write);
        r.limiter = limiter(r, part);
        r.use = utilization(r, part);
        r.mhz = part.mhz_under(r.use.wmma);
        r.use.dram *= r.mhz / part.shader_mhz;
        r.slots = std::min(1.0, static_cast<f64>(r.groups) / std::max(1u, o.resident));
        o.generations.add_left_out(r);
        r.time_us = static_cast<f64>(r.cycles) / r.mhz + part.launch_overhead;
        return r;
    }
};

// The first workgroups, and what is executed of the program.
struct Recording {
    Recorder recorder;
    u64 resident;
    bool exact;
    const Executable *slice; // null: all of it
    RunStats stats;
};

// A launch that can be replayed.
struct Kept {
    std::unique_ptr<Recording> recording; // null: it isn't
    std::unique_ptr<MemorySystem> before;
    Script script;
};

// Instructions that are played. The first workgroup is recorded.
f64 played_insts(const Recording &r) {
    const u64 all = r.recorder.groups(),
              played = r.exact ? all : std::min(all, generations_expected * r.resident);
    return static_cast<f64>(r.recorder.instructions(0)) * static_cast<f64>(played);
}

// Without the workgroups at the end that don't fill the part.
void leave_out_rest(Script &script, u64 resident) {
    GroupRange &groups = script.plan.front().groups;
    if (script.plan.size() == 1 && groups.size() > resident)
        groups.end -= groups.size() % resident;
}

} // namespace

struct Timing::Impl {
    const Device &device;
    const TimingOptions options;
    Model base;
    Kept kept;
    std::vector<std::unique_ptr<Model>> draws;
    std::mutex mutex; // launches are timed one at a time
    u64 elapsed = 0;  // cycles of all launches so far

    Impl(const Device &d, const Constants &c, TimingOptions o) : device(d), options(o), base(d, c) {
        for (u32 n = 0; n < o.draws; ++n)
            draws.push_back(std::make_unique<Model>(d, draw(c.part, c.costs, n, o.draws)));
    }

    Recorder recorder_of(const Dispatch &d, const ProgramFacts &facts, u64 groups) const {
        const u32 waves = ceil_div(d.block.x * d.block.y * d.block.z, d.kernel->wave_size);
        return {facts.payloads, device.target->generation == Generation::gfx12, groups, waves};
    }

    void prepare(const Dispatch &, const Memory &);
    void replay(Result &, const Dispatch &, const Memory &, const Script &);
    void record(Recording &, const Dispatch &, Memory &, const RunConfig &);
    bool keeps(const Recording &r) const {
        return played_insts(r) <= static_cast<f64>(options.kept_insts);
    }
    Script script_of(Recording &, bool exact, bool watched) const;
    Script play_beside(Recording &, const Dispatch &, Memory &, const RunConfig &,
                       const ProgramFacts &, bool exact, Watcher *, Outcome &);
    Timed recorded(const Dispatch &, Memory &, const RunConfig &, const ProgramFacts &, bool exact,
                   Watcher *, bool times);
    Timed live(const Dispatch &, Memory &, const RunConfig &, const ProgramFacts &, Watcher *);
};

// Brings the caches into the state that the options ask for.
void Timing::Impl::prepare(const Dispatch &d, const Memory &m) {
    const auto prepare_one = [&](Model &model) {
        if (options.cold_data)
            model.memory.forget_data();
        if (options.warm_code) {
            const Code &code = d.program->code(d.kernel->wave_size);
            model.memory.warm_code(code_address(code, m) + (d.kernel->entry - code.base),
                                   code_bytes(d));
        }
    };
    prepare_one(base);
    for (const auto &model : draws)
        prepare_one(*model);
}

void Timing::Impl::replay(Result &result, const Dispatch &d, const Memory &m,
                          const Script &script) {
    const Code &code = d.program->code(d.kernel->wave_size);
    for (const auto &model : draws) {
        const Outcome o = play(model->machine(d, m, nullptr), d, code, script);
        result.draws_us.push_back(model->result_of(d, o).time_us);
    }
}

void Timing::Impl::record(Recording &r, const Dispatch &d, Memory &m, const RunConfig &config) {
    RunConfig observed = config;
    observed.observer = &r.recorder;
    if (!r.slice) {
        r.stats = sim::run(d, m, device, observed);
        return;
    }
    const unsigned threads = config.threads ? config.threads : std::thread::hardware_concurrency();
    std::atomic<u64> last{0};
    const auto next = [&] { // that is recorded
        for (u64 g; (g = last++) < r.recorder.groups();)
            if (r.recorder.needs(g))
                return g;
        return no_group;
    };
    r.stats = sim::run(d, m, device, observed, [&](Context &c) {
        const u64 useful = std::clamp<u64>(threads, 1, r.recorder.groups());
        return run_slice(c, *r.slice, static_cast<unsigned>(useful), next);
    });
}

// Workgroups all over the grid.
std::vector<u64> spread(u64 groups) {
    std::vector<u64> out;
    const u64 probes = std::min(groups, most_probes);
    for (u64 n = 0; n < probes; ++n)
        out.push_back((2 * n + 1) * groups / (2 * probes));
    return out;
}

// Plan for playing a record whose first workgroup has been recorded.
Script Timing::Impl::script_of(Recording &r, bool exact, bool watched) const {
    const u64 groups = r.recorder.groups();
    const f64 insts = static_cast<f64>(r.recorder.instructions(0)) * static_cast<f64>(groups);
    const u64 whole = insts > long_launch ? generations_exact_long : generations_exact;
    return {.recorder = &r.recorder,
            .plan = {{Stretch::What::played, {0, groups}}},
            .samples = !exact && groups > whole * r.resident,
            .skips = !exact && !watched && played_insts(r) > played_whole};
}

// Times workgroups while later ones are recorded.
Script Timing::Impl::play_beside(Recording &r, const Dispatch &d, Memory &m,
                                 const RunConfig &config, const ProgramFacts &facts, bool exact,
                                 Watcher *watcher, Outcome &o) {
    std::vector<GroupWork> probes;
    if (!exact && r.recorder.groups() > generations_exact_long * r.resident)
        probes = probe(spread(r.recorder.groups()), d, m, device, config, facts);
    // Workgroups that wait for each other are all recorded at once.
    if (!d.cooperative)
        r.recorder.read_beside(recorded_ahead);
    std::exception_ptr fault, own;
    std::thread recording([&] {
        try {
            record(r, d, m, config);
        } catch (...) {
            fault = std::current_exception();
        }
        r.recorder.finish();
    });
    Script script;
    try {
        r.recorder.await(0);
        script = script_of(r, exact, watcher);
        script.probes = std::move(probes);
        script.beside = true;
        script.keeps = !draws.empty() || keeps(r);
        o = play(base.machine(d, m, watcher), d, d.program->code(d.kernel->wave_size), script);
    } catch (const Recorder::Ended &) { // by the fault
    } catch (...) {
        own = std::current_exception();
    }
    r.recorder.stop_reading();
    recording.join();
    for (const std::exception_ptr &e : {fault, own})
        if (e)
            std::rethrow_exception(e);
    return script;
}

Timing::Timed Timing::Impl::recorded(const Dispatch &d, Memory &m, const RunConfig &config,
                                     const ProgramFacts &facts, bool exact, Watcher *watcher,
                                     bool times) {
    const u64 resident = Dispatcher(base.part, device, *d.kernel, d).resident(), all = groups_of(d);
    const bool sliced = times && !config.checker;
    std::unique_ptr<Recording> recording(new Recording{
        recorder_of(d, facts, all), resident, exact, sliced ? slice_of(d, facts) : nullptr, {}});
    Recording &r = *recording;
    if (options.kept_insts)
        kept.before = std::make_unique<MemorySystem>(base.memory);
    Timed timed;
    Outcome o;
    Script script;
    if (all > 1) {
        script = play_beside(r, d, m, config, facts, exact, watcher, o);
        script.plan = o.generations.plan();
        script.samples = script.beside = false;
    } else {
        record(r, d, m, config);
        script = script_of(r, exact, watcher);
        o = play(base.machine(d, m, watcher), d, d.program->code(d.kernel->wave_size), script);
    }
    timed.result = base.result_of(d, o);
    replay(timed.result, d, m, script);
    timed.stats = r.stats;
    timed.sliced = r.slice != nullptr;
    if ((all == 1 || script.keeps) && keeps(r)) {
        kept.recording = std::move(recording);
        kept.script = std::move(script);
    }
    return timed;
}

Timing::Timed Timing::Impl::live(const Dispatch &d, Memory &m, const RunConfig &config,
                                 const ProgramFacts &facts, Watcher *watcher) {
    const u64 groups = groups_of(d);
    Recorder recorder = recorder_of(d, facts, groups);
    RunConfig observed = config;
    observed.observer = &recorder;
    observed.clock = {base.part.shader_mhz, elapsed};
    Timed timed;
    const Code &code = d.program->code(d.kernel->wave_size);
    timed.stats = sim::run(d, m, device, observed, [&](Context &c) {
        const auto checks = launch_checker(c);
        MxcsrScope host_fpu(mxcsr_default);
        Outcome o = play(base.machine(d, m, watcher), d, code,
                         {.recorder = &recorder,
                          .plan = {{Stretch::What::played, {0, groups}}},
                          .live = &c,
                          .checks = checks.get()});
        timed.result = base.result_of(d, o);
        return o.stats;
    });
    return timed;
}

Timing::Timing(const Device &device, Part part, Costs costs, TimingOptions options)
    : impl_(std::make_unique<Impl>(device, Constants{std::move(part), costs}, options)) {}
Timing::~Timing() = default;
const Part &Timing::part() const { return impl_->base.part; }
bool Timing::kept() const { return impl_->kept.recording != nullptr; }

Result Timing::replay(const Dispatch &d, const Memory &m, const WhatIf &changes) const {
    const Kept &kept = impl_->kept;
    const Model &base = impl_->base;
    const Code &code = d.program->code(d.kernel->wave_size);
    const ProgramFacts &facts = base.facts_of(d);
    std::optional<ProgramFacts> paired;
    if (!changes.pairs.empty())
        paired.emplace(code, impl_->device.gfx, base.costs, changes.pairs);
    if (changes.coalesced)
        coalesce(kept.recording->recorder, facts);
    Script script = kept.script;
    if (changes.whole_generations)
        leave_out_rest(script, kept.recording->resident);
    MemorySystem memory(*kept.before);
    const Outcome o = play({base.part, base.costs, impl_->device, paired ? *paired : facts, memory,
                            code_address(code, m), nullptr, changes},
                           d, code, script);
    return base.result_of(d, o);
}

std::vector<Footprint> Timing::footprints(const Dispatch &d) const {
    return timing::footprints(impl_->kept.recording->recorder, impl_->base.facts_of(d));
}

Timing::Timed Timing::run(const Dispatch &d, Memory &memory, const RunConfig &config, bool exact,
                          Watcher *watcher) {
    return run(d, memory, config, exact, watcher, false);
}

Timing::Timed Timing::run_for_times(const Dispatch &d, Memory &memory, const RunConfig &config,
                                    bool exact, Watcher *watcher) {
    return run(d, memory, config, exact, watcher, true);
}

Timing::Timed Timing::run(const Dispatch &d, Memory &memory, const RunConfig &config, bool exact,
                          Watcher *watcher, bool times) {
    const std::lock_guard lock(impl_->mutex);
    // sim::run reports an invalid dispatch.
    if (!d.program || !d.kernel)
        return {sim::run(d, memory, impl_->device, config), {}};
    const ProgramFacts &facts = impl_->base.facts_of(d);
    impl_->kept = {};
    impl_->prepare(d, memory);
    Timed timed = facts.reads_clock
                      ? impl_->live(d, memory, config, facts, watcher)
                      : impl_->recorded(d, memory, config, facts, exact, watcher, times);
    impl_->elapsed += timed.result.cycles;
    if (watcher)
        watcher->finished(timed.result);
    return timed;
}

} // namespace nw::sim::timing
