// SPDX-License-Identifier: MIT
#include "host_group.h"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <memory>
#include <vector>

#include "base/error.h"

namespace nw::diff {

namespace {

constexpr std::size_t stack_bytes = 128 << 10;
constexpr u32 max_lanes = 64;

// Where the lanes of a set meet: each leaves a value, the last one lets all of them go.
struct Meeting {
    std::array<u32, max_lanes> left{}, seen{};
    u32 arrived = 0, generation = 0;
};

struct WorkItem {
    ucontext_t context;
    std::unique_ptr<std::byte[]> stack = std::make_unique<std::byte[]>(stack_bytes);
    bool done = false;
    const u32 *waits_for = nullptr; // this generation must differ from `since`
    u32 since = 0;
};

struct Group {
    HostKernel kernel;
    const u32 *in;
    u32 *out;
    u32 n, block, wave_size;
    u32 id = 0, current = 0, live = 0;
    u32 at_barrier = 0, barrier_generation = 0;
    std::vector<std::map<u64, Meeting>> meetings; // per wave, by the set of lanes
    std::vector<WorkItem> items;
    ucontext_t scheduler;

    void run(u32 group);
    bool resume(u32 item);
    void wait_while(const u32 &generation);
    void barrier();
    void release_barrier();
    u64 everyone() const;
    const u32 *exchange(u64 members, u32 value);
};

Group *running; // the one whose work-item is calling

void work_item() {
    running->kernel(running->in, running->out, running->n);
    running->items[running->current].done = true;
    --running->live;
    running->release_barrier(); // ended threads are not waited for
}

void Group::run(u32 group) {
    id = group;
    live = block;
    at_barrier = 0;
    meetings.assign(ceil_div(block, wave_size), {});
    for (WorkItem &item : items) {
        getcontext(&item.context);
        item.context.uc_stack.ss_sp = item.stack.get();
        item.context.uc_stack.ss_size = stack_bytes;
        item.context.uc_link = &scheduler;
        makecontext(&item.context, work_item, 0);
        item.done = false;
        item.waits_for = nullptr;
    }
    while (live > 0) {
        bool progress = false;
        for (current = 0; current < block; ++current)
            progress |= resume(current);
        if (!progress)
            throw Error("work-items wait for each other: a barrier or lane exchange in code that "
                        "not all of them reach");
    }
}

bool Group::resume(u32 index) {
    WorkItem &item = items[index];
    if (item.done || (item.waits_for && *item.waits_for == item.since))
        return false;
    swapcontext(&scheduler, &item.context);
    return true;
}

void Group::wait_while(const u32 &generation) {
    WorkItem &item = items[current];
    item.waits_for = &generation;
    item.since = generation;
    swapcontext(&item.context, &scheduler);
    item.waits_for = nullptr;
}

void Group::release_barrier() {
    if (at_barrier == 0 || at_barrier < live)
        return;
    at_barrier = 0;
    ++barrier_generation;
}

void Group::barrier() {
    const u32 before = barrier_generation;
    ++at_barrier;
    release_barrier();
    if (barrier_generation == before)
        wait_while(barrier_generation);
}

u64 Group::everyone() const {
    const u32 first = current / wave_size * wave_size, lanes = std::min(wave_size, block - first);
    return lanes == 64 ? ~u64{0} : (u64{1} << lanes) - 1;
}

// A lane can't be two meetings ahead of another of its set, so `seen` lasts until all have read it.
const u32 *Group::exchange(u64 members, u32 value) {
    const u32 lane = current % wave_size;
    members &= everyone();
    if (!(members >> lane & 1))
        throw Error("a lane that is no member reads other lanes");
    Meeting &meeting = meetings[current / wave_size][members];
    meeting.left[lane] = value;
    if (++meeting.arrived < static_cast<u32>(std::popcount(members))) {
        wait_while(meeting.generation);
    } else {
        meeting.seen = meeting.left;
        meeting.arrived = 0;
        ++meeting.generation;
    }
    return meeting.seen.data();
}

} // namespace

void run_on_host(HostKernel kernel, u32 groups, u32 block, u32 wave_size, const u32 *in, u32 *out,
                 u32 n) {
    Group group{
        .kernel = kernel, .in = in, .out = out, .n = n, .block = block, .wave_size = wave_size};
    group.items.resize(block);
    running = &group;
    for (u32 id = 0; id < groups; ++id)
        group.run(id);
    running = nullptr;
}

} // namespace nw::diff

// ---- what kernels/prelude.h declares for the host
using nw::diff::running;
extern "C" {
nw::u32 host_group_id() { return running->id; }
nw::u32 host_local_id() { return running->current; }
nw::u32 host_group_size() { return running->block; }
nw::u32 host_wave_size() { return running->wave_size; }
void host_barrier() { running->barrier(); }
nw::u64 host_everyone() { return running->everyone(); }
const nw::u32 *host_exchange(nw::u64 members, nw::u32 value) {
    return running->exchange(members, value);
}
}
