// SPDX-License-Identifier: MIT
#include "sim/func/launch/workgroup.h"

#include <algorithm>
#include <cwchar>
#include <fmt/format.h>

#include "sim/func/alu/frames.h"
#include "sim/func/choices.h"
#include "sim/func/memory/buffer.h"
#include "sim/isa/device.h"

namespace nw::sim {

namespace {

constexpr u64 quantum = 1 << 20; // time slice of a wave, in instructions
constexpr u64 default_fuel = u64{1} << 40;

// Kernel descriptor fields (1.2, 1.3, 1.7).
enum : u16 {
    wants_scratch_buffer = 1 << 0, // only where hardware doesn't know the wave's scratch
    wants_flat_scratch = 1 << 5,
    wants_dispatch_ptr = 1 << 1,
    wants_queue_ptr = 1 << 2,
    wants_kernarg_ptr = 1 << 3,
    wants_dispatch_id = 1 << 4,
    wants_private_size = 1 << 6,
    dynamic_stack = 1 << 11
};

u32 user_sgprs(const KernelInfo &k) { return k.rsrc2 >> 1 & 31; }
u32 mode_bits(const KernelInfo &k, bool gfx12) {
    u32 r = k.rsrc1;
    u32 bits = (r >> 12 & 0xff) | (r >> 26 & 1) << 23;
    if (!gfx12)
        bits |= (r >> 21 & 1) << 8 | (r >> 23 & 1) << 9;
    return bits;
}

// ---- entry state
// ---------------------------------------------------------------------------------

void set_pair(Wave &w, u32 reg, u64 value) {
    w.s[reg] = static_cast<u32>(value);
    w.s[reg + 1] = static_cast<u32>(value >> 32);
}

void set_sgprs(Wave &w, const Context &c, const Dim3 &group) {
    const KernelInfo &k = *c.dispatch.kernel;
    std::fill(std::begin(w.s), std::end(w.s), poison);
    w.s[sreg::null] = 0;
    w.scc() = 0;
    set_pair(w, sreg::shared_base, u64{shared_aperture} << 32);
    set_pair(w, sreg::shared_limit, u64{shared_aperture} << 32 | 0xffffffff);
    set_pair(w, sreg::private_base, u64{private_aperture} << 32);
    set_pair(w, sreg::private_limit, u64{private_aperture} << 32 | 0xffffffff);

    u32 at = 0; // 1.8: dense, in this order
    auto user = [&](u16 wanted, u32 count, u64 value) {
        if (!(k.properties & wanted))
            return;
        w.s[at] = static_cast<u32>(value);
        if (count == 2)
            w.s[at + 1] = static_cast<u32>(value >> 32);
        at += count;
    };
    const bool told = !c.device.target->own_scratch;
    if (told && k.properties & wants_scratch_buffer) {
        const ScratchBuffer buffer = scratch_buffer(k.wave_size);
        std::copy(buffer.begin(), buffer.end(), &w.s[at]);
        at += static_cast<u32>(buffer.size());
    }
    user(wants_dispatch_ptr, 2, c.packet);
    user(wants_queue_ptr, 2, c.dispatch.queue);
    user(wants_kernarg_ptr, 2, c.kernarg);
    user(wants_dispatch_id, 2, 0);
    if (told)
        user(wants_flat_scratch, 2, 0);
    user(wants_private_size, 1, scratch_bytes(c.dispatch));

    bool x = k.rsrc2 >> 7 & 1, y = k.rsrc2 >> 8 & 1, z = k.rsrc2 >> 9 & 1;
    if (w.mode.gfx12) { // 1.10
        if (choices().other_ttmps == choice::other_ttmps::zero)
            std::fill(&w.s[sreg::ttmp0], &w.s[sreg::null], 0);
        w.s[sreg::ttmp0 + 9] = group.x;
        w.s[sreg::ttmp0 + 7] = (group.y & 0xffff) | (z ? group.z << 16 : 0);
        w.s[sreg::ttmp0 + 8] = w.number << 25;
        return;
    }
    std::fill(&w.s[sreg::ttmp0], &w.s[sreg::null], 0); // 1.11
    at = user_sgprs(k);
    if (x)
        w.s[at++] = group.x;
    if (y)
        w.s[at++] = group.y;
    if (z)
        w.s[at++] = group.z;
    const bool info = k.rsrc2 >> 10 & 1, scratch = k.rsrc2 & 1;
    if (info)
        w.s[at++] = 0;
    if (told && scratch)
        w.s[at++] = 0; // the scratch buffer begins at the wave's own
}

// 1.12, 1.13: work-item ids, packed in v0 or in v0 to v2, and EXEC for the lanes that exist.
void set_work_items(Wave &w, const Context &c) {
    const Dim3 &block = c.dispatch.block;
    u32 fields = c.dispatch.kernel->rsrc2 >> 11 & 3;
    const bool packed = c.device.target->packed_ids;
    u32 lanes = row_lanes * w.halves, first = w.number * lanes;
    u32 total = block.x * block.y * block.z;
    u32 live = std::min(lanes, total - first);
    u32 x = first % block.x, y = first / block.x % block.y, z = first / (block.x * block.y);
    u32 ids[3][2 * row_lanes];
    for (u32 l = 0; l < lanes; ++l) {
        ids[0][l] = x, ids[1][l] = y, ids[2][l] = z;
        if (++x == block.x) {
            x = 0;
            if (++y == block.y)
                y = 0, ++z;
        }
    }
    if (packed)
        for (u32 l = 0; l < lanes; ++l)
            ids[0][l] |= (fields >= 1 ? ids[1][l] << 10 : 0) | (fields >= 2 ? ids[2][l] << 20 : 0);
    const u32 registers = item_id_vgprs(*c.dispatch.kernel, *c.device.target);
    for (u32 reg = 0; reg < registers; ++reg)
        for (u32 l = 0; l < live; ++l)
            w.row(reg, l / row_lanes)[l % row_lanes] = ids[reg][l];
    u64 exec = live == 64 ? ~u64{0} : (u64{1} << live) - 1;
    w.s[sreg::exec] = static_cast<u32>(exec);
    w.s[sreg::exec + 1] = static_cast<u32>(exec >> 32);
}

// With the C library's loop, which is for this host; std::fill's is for the oldest.
void fill(u32 *words, size_t count) {
    static_assert(sizeof(wchar_t) == sizeof(u32));
    std::wmemset(reinterpret_cast<wchar_t *>(words), static_cast<wchar_t>(poison), count);
}

void fill(std::vector<std::byte> &bytes) {
    if (bytes.empty())
        return;
    fill(reinterpret_cast<u32 *>(bytes.data()), bytes.size() / 4);
    std::memcpy(bytes.data() + bytes.size() / 4 * 4, &poison, bytes.size() % 4);
}

// Registers of this thread's last workgroup: clearing new ones takes longer than a small launch. A
// kernel that uses registers that it did not allocate may find values of an earlier one there.
thread_local std::vector<Row> spare_registers;

// As Frames::run, with an observer.
u64 run_observed(Wave &w, u64 budget, Observer &observer) {
    while (budget && w.state == State::running) {
        const Inst &i = *w.pc++;
        --budget;
        ++w.counts[i.tally];
        observer.before(w, i);
        i.run(w, i);
    }
    return budget;
}

} // namespace

// A kernel that calls through pointers doesn't know its callees' frames: its descriptor holds only
// its own, and hipLimitStackSize sets the total.
u32 scratch_bytes(const Dispatch &d) {
    const KernelInfo &k = *d.kernel;
    return k.properties & dynamic_stack ? std::max(k.scratch_bytes, d.stack_bytes)
                                        : k.scratch_bytes;
}

Workgroup::Workgroup(Context &c, const LaunchChecker *checks) : c_(c), frames_(frames()) {
    if (checks)
        checks_ = checks->group(c.waves_per_group);
    const KernelInfo &k = *c.dispatch.kernel;
    halves_ = k.wave_size / row_lanes;
    group_.waves.resize(c.waves_per_group);
    group_.lds.resize(c.lds_bytes);
    registers_.swap(spare_registers);
    const size_t rows = size_t{c.waves_per_group} * halves_ * vgpr_count;
    if (registers_.size() < rows)
        registers_ = std::vector<Row>(rows);
    scratch_bytes_ = scratch_bytes(c.dispatch);
    scratch_.resize(size_t{scratch_bytes_} * k.wave_size * c.waves_per_group);
    entry_ = &c.code.insts[c.code.code->find(k.entry)];
}

Workgroup::~Workgroup() {
    if (registers_.size() > spare_registers.size())
        spare_registers = std::move(registers_);
}

void Workgroup::run(u64 index) {
    start(index);
    while (take_turn(quantum))
        ;
}

void Workgroup::start(u64 index) {
    const Dim3 &grid = c_.dispatch.grid;
    group_.number = index;
    group_.id = {static_cast<u32>(index % grid.x), static_cast<u32>(index / grid.x % grid.y),
                 static_cast<u32>(index / grid.x / grid.y)};
    group_.ended = group_.signalled = group_.phase = 0;
    std::fill(std::begin(group_.named), std::end(group_.named), NamedBarrier());
    fill(group_.lds);
    fill(scratch_);
    if (checks_)
        checks_->start_group(index, group_.lds.size());
    for (u32 n = 0; n < group_.waves.size(); ++n)
        start_wave(n);
}

bool Workgroup::take_turn(u64 turn) {
    bool ran = false, quiet = true;
    for (Wave &w : group_.waves)
        if (w.state == State::running) {
            run_wave(w, turn);
            ran = true;
            quiet &= w.state != State::running && w.state != State::ended;
            if (w.state == State::asleep)
                w.state = State::running;
        }
    const bool released = release_waiting();
    quiet_ = quiet && !released;
    if (!ran && !released && group_.live())
        deadlock();
    return group_.live();
}

bool Workgroup::polls_only(u64 begin, u64 end, u64 turn) {
    const auto outside = [&](const RangeCache::Range &r) {
        return r.begin < r.end && (r.begin < begin || r.end > end);
    };
    const auto used = [](const RangeCache::Range &r) { return r.begin < r.end; };
    bool only = true;
    for (Wave &w : group_.waves) {
        if (w.state != State::running)
            continue;
        RangeCache seen; // fills with the allocations that the wave accesses
        w.cache = &seen;
        run_wave(w, turn);
        w.cache = &cache_;
        only &= w.state == State::asleep && std::ranges::any_of(seen.ranges, used) &&
                std::ranges::none_of(seen.ranges, outside);
        if (w.state == State::asleep)
            w.state = State::running;
    }
    return only && !release_waiting();
}

bool Workgroup::release_waiting() {
    bool released = false;
    for (Wave &w : group_.waves)
        if (w.state == State::barrier && group_.released(w)) {
            w.state = State::running, released = true;
            w.waits_for_joined = false;
        }
    return released;
}

RunStats Workgroup::stats() const {
    RunStats sum = stats_;
    c_.code.tallies.add_up(counts_, c_.config.fast_math, sum);
    return sum;
}

void Workgroup::start_wave(u32 n) {
    const KernelInfo &k = *c_.dispatch.kernel;
    Wave &w = group_.waves[n];
    w.number = n;
    w.halves = halves_;
    w.v = &registers_[size_t{n} * halves_ * vgpr_count];
    for (unsigned half = 0; half < halves_; ++half)
        fill(w.row(0, half), size_t{allocated_vgprs(k)} * row_lanes);
    w.constants = c_.code.constants.data();
    w.mode.gfx12 = c_.device.target->generation == Generation::gfx12;
    w.mode.bits = mode_bits(k, w.mode.gfx12);
    w.mode.update();
    w.mode.fast = c_.config.fast_math;
    w.group = &group_;
    w.context = &c_;
    w.cache = &cache_;
    w.scratch_bytes = scratch_bytes_;
    w.scratch = scratch_.data() + size_t{n} * scratch_bytes_ * k.wave_size;
    w.pc = entry_;
    w.barriers = w.joined_phases = w.joined = 0;
    w.waits_for_joined = false;
    w.sched_mode = 0;
    std::fill(std::begin(w.flat_scratch), std::end(w.flat_scratch), poison);
    std::fill_n(w.counts, c_.code.tallies.size(), 0);
    w.bytes = {};
    w.executed = 0;
    w.waiting = {};
    w.observed = c_.config.observer ? c_.config.observer->start(group_.number, n) : nullptr;
    set_sgprs(w, c_, group_.id);
    set_work_items(w, c_);
    w.state = State::running;
    if (checks_)
        checks_->start_wave(w);
    ++stats_.waves;
}

u64 Workgroup::run_instructions(Wave &w, u64 budget) {
    return checks_      ? checks_->run(w, budget)
           : w.observed ? run_observed(w, budget, *c_.config.observer)
                        : frames_.run(w, budget);
}

void Workgroup::run_wave(Wave &w, u64 turn) {
    check_abandoned();
    u64 limit = c_.config.max_wave_insts ? c_.config.max_wave_insts : default_fuel;
    u64 budget = std::min(turn, limit - w.executed);
    set_mxcsr(w.mode.mxcsr32);
    const u64 left = c_.config.findings ? run_on(w, budget) : run_instructions(w, budget);
    w.executed += budget - left;
    if (w.state == State::ended)
        finish(w);
    else if (w.executed >= limit)
        fault(w, *w.pc, Fault::Kind::endless,
              fmt::format("endless: the wave has executed {} instructions, the limit", limit));
    else if (left == 0 && turn > 1 && c_.dispatch.services)
        c_.dispatch.services->serve(w, *w.pc); // it may wait without sleeping
}

void Workgroup::finish(Wave &w) {
    ++group_.ended;
    group_.leave_named(w);
    group_.check_barrier();
    for (size_t i = 0; i < c_.code.tallies.size(); ++i)
        counts_[i] += w.counts[i];
    stats_.bytes += w.bytes;
    stats_.waited = std::max(stats_.waited, w.waiting.skipped);
}

void Workgroup::deadlock() {
    const auto waiting = std::count_if(group_.waves.begin(), group_.waves.end(),
                                       [](const Wave &x) { return x.state == State::barrier; });
    for (Wave &w : group_.waves)
        if (w.state == State::barrier)
            fault(w, *(w.pc - 1), Fault::Kind::barrier,
                  fmt::format("barrier deadlock: {} of {} live waves wait, {}", waiting,
                              group_.live(), group_.state_of_barrier(w)));
    std::terminate(); // live waves either run or wait
}

void Workgroup::grid_deadlock(const std::string &text) {
    for (const State state : {State::running, State::barrier})
        for (Wave &w : group_.waves)
            if (w.state == state)
                fault(w, *(w.pc - 1), Fault::Kind::endless, text);
    std::terminate(); // the group has live waves
}

} // namespace nw::sim
