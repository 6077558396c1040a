// SPDX-License-Identifier: MIT
#include "sim/timing/run.h"

namespace nw::sim::test {

namespace {

struct Collector : timing::Watcher {
    std::vector<timing::IssueEvent> events;
    std::vector<u64> starts;
    void wave_started(u64, u32, u32, u64 at) override { starts.push_back(at); }
    void wave_ended(u64, u32, u32, u64) override {}
    void issued(const timing::IssueEvent &e) override { events.push_back(e); }
    void answered(u64, u64, u32, Level) override {}
};

template <class F>
std::vector<u64> of_first_wave(const TimedLaunch &l, std::string_view prefix, F what) {
    std::vector<u64> times;
    for (const timing::IssueEvent &e : l.events)
        if (e.group == 0 && e.wave == 0 && l.mnemonic(e).starts_with(prefix))
            times.push_back(what(e));
    return times;
}

} // namespace

std::vector<u64> TimedLaunch::issues(std::string_view prefix) const {
    return of_first_wave(*this, prefix, [](const auto &e) { return e.issue; });
}

std::vector<u64> TimedLaunch::executions(std::string_view prefix) const {
    return of_first_wave(*this, prefix, [](const auto &e) { return e.done; });
}

std::vector<u64> deltas(const std::vector<u64> &times) {
    std::vector<u64> d;
    for (size_t n = 1; n < times.size(); ++n)
        d.push_back(times[n] - times[n - 1]);
    return d;
}

void time(const KernelText &text, TimedLaunch &l) {
    const Device &device = *find_device(text.gfx);
    l.program = load(text);
    l.code = &l.program->code(text.wave);
    Memory memory;
    auto *buffer = static_cast<u32 *>(memory.allocate(u64{l.words} * 4));
    if (l.reads)
        std::fill_n(buffer, l.words, 0);
    u64 arguments[] = {reinterpret_cast<u64>(buffer), 0};
    Dispatch d;
    d.program = l.program.get();
    d.kernel = l.program->find_kernel("test");
    d.grid = l.grid;
    d.block = l.block;
    d.kernarg = std::as_bytes(std::span(arguments));
    Collector collector;
    timing::Timing model(device, l.part ? *l.part : *timing::default_part(text.gfx),
                         l.own_costs ? l.costs : timing::costs_for(text.gfx), l.options);
    timing::Watcher *const watcher = l.watched ? &collector : nullptr;
    const auto run = [&] {
        return l.times ? model.run_for_times(d, memory, l.config, l.exact, watcher)
                       : model.run(d, memory, l.config, l.exact, watcher);
    };
    auto timed = run();
    if (l.warm) { // again, with its code and data in the caches
        collector.events.clear();
        collector.starts.clear();
        timed = run();
    }
    l.events = std::move(collector.events);
    l.starts = std::move(collector.starts);
    l.result = std::move(timed.result);
    l.stats = timed.stats;
    l.sliced = timed.sliced;
    if (l.reads)
        l.memory.assign(buffer, buffer + l.words);
    memory.release(buffer);
}

} // namespace nw::sim::test
