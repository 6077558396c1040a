// SPDX-License-Identifier: MIT
#include "sim/timing/timing.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>

#include "sim/func/mode.h"
#include "sim/timing/dispatcher.h"
#include "sim/timing/engine.h"
#include "sim/timing/limiter.h"

namespace nw::sim::timing {

namespace {

// Timed generations of workgroups: the first fills the machine, the last drains it.
constexpr u64 generations_timed = 6, generations_exact = 8;
// Instructions above which iterations of loops are skipped: about a second of the host's time.
constexpr f64 played_whole = 8e6;

// Extrapolates the rest of the grid from the rate of the middle generations, with its variance.
void extrapolate(Result &r, std::vector<u64> ends, u64 resident) {
    std::sort(ends.begin(), ends.end());
    const u64 n = ends.size(), left = r.groups - n;
    const u64 first = resident, last = n - resident; // completions followed by a new workgroup
    const f64 each =
        static_cast<f64>(ends[last - 1] - ends[first - 1]) / static_cast<f64>(last - first);
    constexpr u64 batches = 8;
    f64 squares = 0;
    for (u64 b = 0; b < batches; ++b) {
        const u64 from = first + (last - first) * b / batches,
                  to = first + (last - first) * (b + 1) / batches;
        const f64 here =
            static_cast<f64>(ends[to - 1] - ends[from - 1]) / static_cast<f64>(to - from);
        squares += (here - each) * (here - each);
    }
    const f64 error = std::sqrt(squares / (batches - 1) / batches);
    const f64 more = each * static_cast<f64>(left);
    const f64 cycles = static_cast<f64>(r.cycles) + more;
    r.sampling_error = std::hypot(error * static_cast<f64>(left) / cycles,
                                  r.sampling_error * static_cast<f64>(r.cycles) / cycles);
    r.cycles = static_cast<u64>(cycles);
}

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

} // namespace

struct Timing::Impl {
    const Device &device;
    Part part;
    Costs costs;
    MemorySystem memory;
    std::mutex mutex;           // launches are timed one at a time
    u64 elapsed = 0;            // cycles of all launches so far
    const u32 key = next_key(); // of data kept with programs

    Impl(const Device &d, Part p, Costs c)
        : device(d), part(std::move(p)), costs(c), memory(part, costs) {}

    const ProgramFacts &facts_of(const Dispatch &d) const {
        const u32 wave_size = d.kernel->wave_size;
        return *static_cast<const ProgramFacts *>(
            d.program->derived(key << 8 | wave_size, [&]() -> std::shared_ptr<void> {
                return std::make_shared<ProgramFacts>(d.program->code(wave_size), device.gfx,
                                                      costs);
            }));
    }

    u64 groups_timed(const Dispatch &d, u64 resident, bool exact) const {
        const u64 all = groups_of(d);
        return exact || all <= generations_exact * resident ? all : generations_timed * resident;
    }

    Recorder recorder_of(const Dispatch &d, const ProgramFacts &facts, u64 groups) const {
        const u32 waves = ceil_div(d.block.x * d.block.y * d.block.z, d.kernel->wave_size);
        return {facts.payloads, device.target->generation == Generation::gfx12, groups, waves};
    }

    Machine machine(const Dispatch &d, const ProgramFacts &facts, const Memory &m, Watcher *w) {
        return {part,  costs,  device,
                facts, memory, code_address(d.program->code(d.kernel->wave_size), m),
                w};
    }

    Timed recorded(const Dispatch &, Memory &, const RunConfig &, const ProgramFacts &, bool exact,
                   Watcher *);
    Timed live(const Dispatch &, Memory &, const RunConfig &, const ProgramFacts &, Watcher *);
    void summarize(Timed &, const Dispatch &, const Outcome &);
};

Timing::Timed Timing::Impl::recorded(const Dispatch &d, Memory &m, const RunConfig &config,
                                     const ProgramFacts &facts, bool exact, Watcher *watcher) {
    const u64 resident = Dispatcher(part, device, *d.kernel, d).resident();
    const u64 groups = groups_timed(d, resident, exact);
    Recorder recorder = recorder_of(d, facts, groups);
    RunConfig observed = config;
    observed.observer = &recorder;
    Timed timed;
    timed.stats = sim::run(d, m, device, observed);
    const Code &code = d.program->code(d.kernel->wave_size);
    const f64 insts = static_cast<f64>(timed.stats.insts.total()) * static_cast<f64>(groups) /
                      static_cast<f64>(groups_of(d));
    const bool skips = !exact && !watcher && insts > played_whole;
    Outcome o = play(machine(d, facts, m, watcher), d, code, {&recorder, groups, skips});
    summarize(timed, d, o);
    return timed;
}

Timing::Timed Timing::Impl::live(const Dispatch &d, Memory &m, const RunConfig &config,
                                 const ProgramFacts &facts, Watcher *watcher) {
    const u64 groups = groups_of(d);
    Recorder recorder = recorder_of(d, facts, groups);
    RunConfig observed = config;
    observed.observer = &recorder;
    observed.clock = {part.shader_mhz, elapsed};
    Timed timed;
    const Code &code = d.program->code(d.kernel->wave_size);
    timed.stats = sim::run(d, m, device, observed, [&](Context &c) {
        const auto checks = launch_checker(c);
        MxcsrScope host_fpu(mxcsr_default);
        Outcome o = play(machine(d, facts, m, watcher), d, code,
                         {&recorder, groups, false, &c, checks.get()});
        summarize(timed, d, o);
        return o.stats;
    });
    return timed;
}

void Timing::Impl::summarize(Timed &timed, const Dispatch &d, const Outcome &o) {
    Result &r = timed.result = o.result;
    r.groups = groups_of(d);
    r.scale = static_cast<f64>(r.groups) / static_cast<f64>(r.groups_timed);
    r.limiter = limiter(r, part);
    if (r.groups_timed < r.groups)
        extrapolate(r, o.group_ends, o.resident);
    r.time_us = static_cast<f64>(r.cycles) / part.shader_mhz + part.launch_overhead;
    elapsed += r.cycles;
}

Timing::Timing(const Device &device, Part part, Costs costs)
    : impl_(std::make_unique<Impl>(device, std::move(part), costs)) {}
Timing::~Timing() = default;
const Part &Timing::part() const { return impl_->part; }

Timing::Timed Timing::run(const Dispatch &d, Memory &memory, const RunConfig &config, bool exact,
                          Watcher *watcher) {
    const std::lock_guard lock(impl_->mutex);
    // sim::run reports an invalid dispatch.
    if (!d.program || !d.kernel)
        return {sim::run(d, memory, impl_->device, config), {}};
    const ProgramFacts &facts = impl_->facts_of(d);
    Timed timed = facts.reads_clock ? impl_->live(d, memory, config, facts, watcher)
                                    : impl_->recorded(d, memory, config, facts, exact, watcher);
    if (watcher)
        watcher->finished(timed.result);
    return timed;
}

} // namespace nw::sim::timing
