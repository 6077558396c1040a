// SPDX-License-Identifier: MIT
// Dispatch: entry state, scheduling of a workgroup's waves, workgroups over host threads.
#include "sim/func/launch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>
#include <unistd.h>

#include "sim/func/checks.h"
#include "sim/func/choices.h"
#include "sim/func/frames.h"
#include "sim/func/turns.h"

namespace nw::sim {

namespace {

std::atomic<bool> abandoned{false};

constexpr u64 quantum = 1 << 20; // instructions before another wave of the group gets a turn
constexpr u64 cooperative_quantum =
    1 << 12; // the same, where workgroups wait for each other in loops
constexpr u64 default_fuel = u64{1} << 40;
constexpr u32 max_lds = 64 * 1024;
constexpr u32 max_workgroup = 1024;
constexpr u64 kernarg_alignment = 64; // compilers widen scalar loads up to it

// Kernel descriptor fields (1.2, 1.3, 1.7).
enum : u16 {
    wants_dispatch_ptr = 1 << 1,
    wants_queue_ptr = 1 << 2,
    wants_kernarg_ptr = 1 << 3,
    wants_dispatch_id = 1 << 4,
    wants_private_size = 1 << 6,
    dynamic_stack = 1 << 11
};

// The field that holds it counts 256 bytes: 15 bits on gfx11, 18 on gfx12.
u64 max_wave_scratch(std::string_view gfx) {
    return u64{256} * ((1u << (gfx.starts_with("gfx12") ? 18 : 15)) - 1);
}

u32 user_sgprs(const KernelInfo &k) { return k.rsrc2 >> 1 & 31; }
// A kernel that calls through pointers doesn't know its callees' frames: its descriptor holds its
// own only, and the runtime gives what hipLimitStackSize says.
u32 scratch_bytes(const Dispatch &d) {
    const KernelInfo &k = *d.kernel;
    return k.properties & dynamic_stack ? std::max(k.scratch_bytes, d.stack_bytes)
                                        : k.scratch_bytes;
}
u32 vgprs(const KernelInfo &k) {
    return std::min(vgpr_count, ((k.rsrc1 & 63) + 1) * (k.wave_size == 32 ? 8 : 4));
}

u32 mode_bits(const KernelInfo &k, bool gfx12) {
    u32 r = k.rsrc1;
    u32 bits = (r >> 12 & 0xff) | (r >> 26 & 1) << 23;
    if (!gfx12)
        bits |= (r >> 21 & 1) << 8 | (r >> 23 & 1) << 9;
    return bits;
}

[[noreturn]] void bad_dispatch(const Dispatch &d, const std::string &why) {
    throw Fault(Fault::Kind::bad_dispatch,
                fmt::format("launch of {}: {}", d.kernel ? d.kernel->name : "no kernel", why));
}

void check(const Dispatch &d) {
    if (!d.program || !d.kernel)
        bad_dispatch(d, "no program or no kernel");
    u64 block = u64{d.block.x} * d.block.y * d.block.z;
    if (block == 0 || d.grid.x == 0 || d.grid.y == 0 || d.grid.z == 0)
        bad_dispatch(d, "a dimension of the grid or the block is 0");
    u32 most = std::min(max_workgroup, d.kernel->max_workgroup);
    if (std::max({d.block.x, d.block.y, d.block.z}) > most || block > most)
        bad_dispatch(
            d, fmt::format("{} work-items in a workgroup, the kernel allows {}", block, most));
    u64 scratch = u64{scratch_bytes(d)} * d.kernel->wave_size;
    u64 limit = max_wave_scratch(d.program->gfx());
    if (scratch > limit)
        bad_dispatch(d, fmt::format("{} bytes of scratch per lane, a wave{} can have {}",
                                    scratch_bytes(d), d.kernel->wave_size,
                                    limit / d.kernel->wave_size));
    u64 lds = u64{d.kernel->lds_bytes} + d.dynamic_lds;
    if (lds > max_lds)
        bad_dispatch(d, fmt::format("{} bytes of LDS, a workgroup can have {}", lds, max_lds));
    if (static_cast<unsigned __int128>(d.grid.x) * d.grid.y * d.grid.z >> 63)
        bad_dispatch(d, "the grid has more than 2^63 workgroups");
}

[[noreturn]] void out_of_memory(const Dispatch &d, const std::string &why) {
    throw Fault(Fault::Kind::out_of_memory,
                fmt::format("launch of {}: out of memory: {}", d.kernel->name, why));
}

// How many workgroups may run at once, as far as their scratch goes.
u64 groups_by_scratch(const Context &c) {
    const u64 each =
        u64{scratch_bytes(c.dispatch)} * c.dispatch.kernel->wave_size * c.waves_per_group;
    const u64 host = static_cast<u64>(sysconf(_SC_PHYS_PAGES)) *
                     static_cast<u64>(sysconf(_SC_PAGESIZE)),
              limit = c.config.max_scratch ? c.config.max_scratch : host / 2;
    if (each > limit)
        out_of_memory(c.dispatch, fmt::format("{} bytes of scratch for one workgroup, there are {}",
                                              each, limit));
    return each ? limit / each : ~u64{0};
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
    user(wants_dispatch_ptr, 2, c.packet);
    user(wants_queue_ptr, 2, 0);
    user(wants_kernarg_ptr, 2, c.kernarg);
    user(wants_dispatch_id, 2, 0);
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
}

// 1.12, 1.13: packed work-item ids in v0, EXEC for the lanes that exist.
void set_work_items(Wave &w, const Context &c) {
    const Dim3 &block = c.dispatch.block;
    u32 fields = c.dispatch.kernel->rsrc2 >> 11 & 3;
    u32 lanes = row_lanes * w.halves, first = w.number * lanes;
    u32 total = block.x * block.y * block.z;
    u32 live = std::min(lanes, total - first);
    u32 x = first % block.x, y = first / block.x % block.y, z = first / (block.x * block.y);
    for (u32 l = 0; l < lanes; ++l) {
        u32 id = x | (fields >= 1 ? y << 10 : 0) | (fields >= 2 ? z << 20 : 0);
        w.row(0, l / row_lanes)[l % row_lanes] = l < live ? id : poison;
        if (++x == block.x)
            x = 0, ++y;
        if (y == block.y)
            y = 0, ++z;
    }
    u64 exec = live == 64 ? ~u64{0} : (u64{1} << live) - 1;
    w.s[sreg::exec] = static_cast<u32>(exec);
    w.s[sreg::exec + 1] = static_cast<u32>(exec >> 32);
}

// ---- one host thread's share --------------------------------------------------------------------

class Worker {
public:
    Worker(Context &c, const CheckFacts &facts) : c_(c), frames_(frames()) {
        if (facts.any())
            checks_ = std::make_unique<Checks>(facts, c.waves_per_group);
        const KernelInfo &k = *c.dispatch.kernel;
        halves_ = k.wave_size / row_lanes;
        group_.waves.resize(c.waves_per_group);
        group_.lds.resize(c.lds_bytes);
        registers_.resize(size_t{c.waves_per_group} * halves_ * vgpr_count);
        scratch_bytes_ = scratch_bytes(c.dispatch);
        scratch_.resize(size_t{scratch_bytes_} * k.wave_size * c.waves_per_group);
        entry_ = &c.code.insts[c.code.code->find(k.entry)];
    }

    void run_group(u64 index) {
        start_group(index);
        while (take_turn(quantum))
            ;
    }

    void start_group(u64 index) {
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

    // At most `turn` instructions of every wave that can run; false when the group has ended.
    bool take_turn(u64 turn) {
        bool ran = false;
        for (Wave &w : group_.waves)
            if (w.state == State::running) {
                run_wave(w, turn);
                ran = true;
            }
        for (Wave &w : group_.waves)
            if (w.state == State::barrier && group_.released(w)) {
                w.state = State::running, ran = true;
                w.waits_for_joined = false;
            }
        if (!ran && group_.live())
            deadlock();
        return group_.live();
    }

    RunStats stats() const {
        RunStats sum = stats_;
        c_.code.tallies.add_up(counts_, c_.config.fast_math, sum);
        return sum;
    }

private:
    static void fill(std::vector<std::byte> &bytes) {
        if (bytes.empty())
            return;
        auto words = reinterpret_cast<u32 *>(bytes.data());
        std::fill_n(words, bytes.size() / 4, poison);
        std::memcpy(bytes.data() + bytes.size() / 4 * 4, &poison, bytes.size() % 4);
    }

    void start_wave(u32 n) {
        const KernelInfo &k = *c_.dispatch.kernel;
        Wave &w = group_.waves[n];
        w.number = n;
        w.halves = halves_;
        w.v = &registers_[size_t{n} * halves_ * vgpr_count];
        for (unsigned half = 0; half < halves_; ++half)
            std::fill_n(w.row(0, half), size_t{vgprs(k)} * row_lanes, poison);
        w.constants = c_.code.constants.data();
        w.mode.gfx12 = std::string_view(c_.device.gfx).starts_with("gfx12");
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
        std::fill_n(w.counts, c_.code.tallies.size(), 0);
        w.bytes = {};
        w.executed = 0;
        set_sgprs(w, c_, group_.id);
        set_work_items(w, c_);
        w.state = State::running;
        if (checks_)
            checks_->start_wave(w);
        ++stats_.waves;
    }

    void run_wave(Wave &w, u64 turn) {
        check_abandoned();
        u64 limit = c_.config.max_wave_insts ? c_.config.max_wave_insts : default_fuel;
        u64 budget = std::min(turn, limit - w.executed);
        set_mxcsr(w.mode.mxcsr32);
        w.executed += budget - (checks_ ? checks_->run(w, budget) : frames_.run(w, budget));
        if (w.state == State::ended)
            finish(w);
        else if (w.executed >= limit)
            fault(w, *w.pc, Fault::Kind::endless,
                  fmt::format("endless: the wave has executed {} instructions, the limit", limit));
    }

    void finish(Wave &w) {
        ++group_.ended;
        group_.leave_named(w);
        group_.check_barrier();
        for (size_t i = 0; i < c_.code.tallies.size(); ++i)
            counts_[i] += w.counts[i];
        stats_.bytes += w.bytes;
    }

    [[noreturn]] void deadlock() {
        const auto waiting = std::count_if(group_.waves.begin(), group_.waves.end(),
                                           [](const Wave &x) { return x.state == State::barrier; });
        for (Wave &w : group_.waves)
            if (w.state == State::barrier)
                fault(w, *(w.pc - 1), Fault::Kind::barrier,
                      fmt::format("barrier deadlock: {} of {} live waves wait, {}", waiting,
                                  group_.live(), group_.state_of_barrier(w)));
        std::terminate(); // live waves either run or wait
    }

    Context &c_;
    const Frames &frames_;
    std::unique_ptr<Checks> checks_; // null when all are off
    Group group_;
    std::vector<Row> registers_;
    std::vector<std::byte> scratch_;
    RangeCache cache_;
    const Inst *entry_ = nullptr;
    unsigned halves_ = 1;
    u32 scratch_bytes_ = 0;
    u64 counts_[tally_limit] = {}; // of all waves that have ended
    RunStats stats_;               // the rest of them
};

RunStats &operator+=(RunStats &sum, const RunStats &more) {
    sum.insts += more.insts;
    sum.fidelity += more.fidelity;
    sum.bytes += more.bytes;
    sum.waves += more.waves;
    return sum;
}

// Memory of the launch itself, gone with it.
class Owned {
public:
    Owned(Memory &memory, u64 bytes)
        : memory_(memory), p_(memory.allocate(bytes, "the launch's arguments", true)) {
        if (!p_)
            throw Fault(Fault::Kind::out_of_memory,
                        fmt::format("no memory for {} bytes of kernel arguments", bytes));
    }
    ~Owned() { memory_.release(p_); }
    Owned(const Owned &) = delete;
    Owned &operator=(const Owned &) = delete;
    void *get() const { return p_; }

private:
    Memory &memory_;
    void *p_;
};

void fill_packet(std::byte *p, const Dispatch &d, u64 kernarg) { // 1.26
    std::memset(p, 0, 64);
    auto put = [&](unsigned at, auto value) { std::memcpy(p + at, &value, sizeof value); };
    put(2, u16{3});
    put(4, static_cast<u16>(d.block.x));
    put(6, static_cast<u16>(d.block.y));
    put(8, static_cast<u16>(d.block.z));
    put(12, d.grid.x * d.block.x);
    put(16, d.grid.y * d.block.y);
    put(20, d.grid.z * d.block.z);
    put(24, scratch_bytes(d));
    put(28, d.kernel->lds_bytes + d.dynamic_lds);
    put(32, d.kernel->descriptor);
    put(40, kernarg);
}

// All workgroups at once, in turns on this thread: each gets on while others wait for it.
RunStats run_together(Context &c, u64 most) {
    const Dim3 &grid = c.dispatch.grid;
    const u64 total = u64{grid.x} * grid.y * grid.z;
    if (total > most)
        out_of_memory(c.dispatch, fmt::format("{} workgroups of a cooperative launch must run at "
                                              "once, and there is scratch for {}",
                                              total, most));
    const CheckFacts facts(c.config, *c.code.code, c.device.gfx);
    MxcsrScope host_fpu(mxcsr_default);
    std::vector<std::unique_ptr<Worker>> groups;
    for (u64 g = 0; g < total; ++g) {
        groups.push_back(std::make_unique<Worker>(c, facts));
        groups.back()->start_group(g);
    }
    RunStats stats;
    while (!groups.empty())
        std::erase_if(groups, [&](const auto &group) {
            if (group->take_turn(cooperative_quantum))
                return false;
            stats += group->stats();
            return true;
        });
    return stats;
}

// All workgroups, on `threads` host threads. The fault of the first workgroup (in grid order) that
// has one is what comes out, whichever thread met its own first.
RunStats run_groups(Context &c, unsigned threads) {
    const Dim3 &grid = c.dispatch.grid;
    u64 total = u64{grid.x} * grid.y * grid.z;
    std::atomic<u64> next{0}, first_fault{~u64{0}};
    std::mutex mutex;
    std::exception_ptr fault;
    RunStats stats;
    const CheckFacts facts(c.config, *c.code.code, c.device.gfx);
    Turns turns;
    // More threads than TBB has would only take turns.
    int most = tbb::this_task_arena::max_concurrency();
    auto workers = static_cast<int>(std::min<u64>({threads, total, static_cast<u64>(most)}));
    c.turns = workers > 1 ? &turns : nullptr;

    auto work = [&] {
        MxcsrScope host_fpu(mxcsr_default);
        Worker worker(c, facts);
        for (u64 g; (g = next++) < total && g < first_fault;) {
            try {
                worker.run_group(g);
            } catch (...) {
                std::lock_guard lock(mutex);
                if (g < first_fault) {
                    first_fault = g;
                    fault = std::current_exception();
                }
                turns.stop_above(g);
            }
            turns.done(g);
        }
        std::lock_guard lock(mutex);
        stats += worker.stats();
    };
    if (workers == 1)
        work();
    else
        tbb::task_arena(workers).execute([&] {
            tbb::parallel_for(
                0, workers, [&](int) { work(); }, tbb::simple_partitioner());
        });
    if (fault)
        std::rethrow_exception(fault);
    return stats;
}

} // namespace

RunStats run(const Dispatch &d, Memory &memory, const Device &device, const RunConfig &config) {
    check(d);
    if (d.program->gfx() != device.gfx)
        bad_dispatch(d, fmt::format("the program was loaded for {}, the device is {}",
                                    d.program->gfx(), device.gfx));
    const KernelInfo &k = *d.kernel;
    u64 kernarg_bytes =
        round_up(std::max<u64>({d.kernarg.size(), k.kernarg_bytes, 1}), kernarg_alignment);
    Owned kernarg(memory, kernarg_bytes), packet(memory, 64);
    auto p = static_cast<std::byte *>(kernarg.get());
    for (u64 at = 0; at < kernarg_bytes; at += 4)
        std::memcpy(p + at, &poison, 4);
    if (!d.kernarg.empty())
        std::memcpy(p, d.kernarg.data(), d.kernarg.size());
    fill_packet(static_cast<std::byte *>(packet.get()), d, reinterpret_cast<u64>(p));

    Context c{d, memory, executable(*d.program, k.wave_size), config, device};
    c.kernarg = reinterpret_cast<u64>(p);
    c.packet = reinterpret_cast<u64>(packet.get());
    c.lds_bytes = k.lds_bytes + d.dynamic_lds;
    c.vgprs = vgprs(k);
    c.waves_per_group = ceil_div(d.block.x * d.block.y * d.block.z, k.wave_size);
    if (c.code.code->find(k.entry) == Code::none)
        bad_dispatch(d, "its entry is not an instruction");
    unsigned threads = config.threads ? config.threads : std::thread::hardware_concurrency();
    const u64 most = groups_by_scratch(c);
    threads = config.check_race ? 1 : static_cast<unsigned>(std::clamp<u64>(threads, 1, most));
    try {
        RunStats stats = d.cooperative ? run_together(c, most) : run_groups(c, threads);
        stats.fast_math = config.fast_math;
        return stats;
    } catch (const std::bad_alloc &) {
        out_of_memory(d,
                      "the host has none left for registers, LDS, scratch or what a check keeps");
    }
}

void abandon() { abandoned = true; }

void check_abandoned() {
    if (abandoned)
        throw Abandoned();
}

ByteCounts &ByteCounts::operator+=(const ByteCounts &o) {
    global_load += o.global_load, global_store += o.global_store;
    lds_read += o.lds_read, lds_write += o.lds_write;
    return *this;
}

} // namespace nw::sim
