// SPDX-License-Identifier: MIT
// Dispatch: entry state, scheduling of a workgroup's waves, workgroups over host threads.
#include "sim/func/launch/launch.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <fmt/format.h>
#include <mutex>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <thread>
#include <unistd.h>

#include "sim/func/choices.h"
#include "sim/func/launch/together.h"
#include "sim/func/launch/turns.h"
#include "sim/func/launch/workgroup.h"
#include "sim/isa/classes.h"
#include "sim/isa/device.h"

namespace nw::sim {

namespace {

std::atomic<bool> abandoned{false};

constexpr u32 max_workgroup = 1024;
constexpr u64 kernarg_alignment = 64; // compilers widen scalar loads up to this alignment

// The field that holds it counts in units of 256 bytes.
u64 max_wave_scratch(const Target &target) { return u64{256} * ((1u << target.scratch_bits) - 1); }

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
    const Target &target = target_of(d.program->gfx());
    u64 limit = max_wave_scratch(target);
    if (scratch > limit)
        bad_dispatch(d, fmt::format("{} bytes of scratch per lane, a wave{} can have {}",
                                    scratch_bytes(d), d.kernel->wave_size,
                                    limit / d.kernel->wave_size));
    u64 lds = u64{d.kernel->lds_bytes} + d.dynamic_lds;
    if (lds > target.lds_per_workgroup)
        bad_dispatch(d, fmt::format("{} bytes of LDS, a workgroup can have {}", lds,
                                    target.lds_per_workgroup));
    if (static_cast<unsigned __int128>(d.grid.x) * d.grid.y * d.grid.z >> 63)
        bad_dispatch(d, "the grid has more than 2^63 workgroups");
}

[[noreturn]] void out_of_memory(const Dispatch &d, const std::string &why) {
    throw Fault(Fault::Kind::out_of_memory,
                fmt::format("launch of {}: out of memory: {}", d.kernel->name, why));
}

// Queried once: Linux reads files for it, which takes longer than a short launch.
u64 host_memory() {
    static const u64 bytes =
        static_cast<u64>(sysconf(_SC_PHYS_PAGES)) * static_cast<u64>(sysconf(_SC_PAGESIZE));
    return bytes;
}
unsigned host_threads() {
    static const unsigned threads = std::thread::hardware_concurrency();
    return threads;
}

// How many workgroups may run at once within the scratch limit.
u64 groups_by_scratch(const Context &c) {
    const u64 each =
        u64{scratch_bytes(c.dispatch)} * c.dispatch.kernel->wave_size * c.waves_per_group;
    const u64 limit = c.config.max_scratch ? c.config.max_scratch : host_memory() / 2;
    if (each > limit)
        out_of_memory(c.dispatch, fmt::format("{} bytes of scratch for one workgroup, there are {}",
                                              each, limit));
    return each ? limit / each : ~u64{0};
}

// Memory owned by the launch, freed at its end.
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

// The first `total` workgroups, on `threads` host threads. Reports the fault of the first workgroup
// in grid order, whichever thread faulted first.
RunStats run_groups(Context &c, unsigned threads, u64 total) {
    std::atomic<u64> next{0}, first_fault{~u64{0}};
    std::mutex mutex;
    std::exception_ptr fault;
    RunStats stats;
    const auto checks = launch_checker(c);
    Turns turns;
    // More threads than TBB provides would only run in turns.
    int most = tbb::this_task_arena::max_concurrency();
    auto workers = static_cast<int>(std::min<u64>({threads, total, static_cast<u64>(most)}));
    c.turns = workers > 1 ? &turns : nullptr;

    auto work = [&] {
        MxcsrScope host_fpu(mxcsr_default);
        const UseChoices chosen(c.config.choices);
        Workgroup group(c, checks.get());
        for (u64 g; (g = next++) < total && g < first_fault;) {
            try {
                group.run(g);
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
        stats += group.stats();
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

// A kernel that ends after scalar instructions in a row, as an empty one does: what one workgroup
// counts, all count. Programs launch such kernels to measure, some with 2^31 workgroups.
bool does_nothing(const Context &c) {
    const Code &code = *c.code.code;
    u32 at = code.find(c.dispatch.kernel->entry);
    while (at < code.instructions.size() && class_of(code.instructions[at]) == Class::salu)
        ++at;
    return at < code.instructions.size() && !c.config.observer &&
           code.instructions[at].x.mnemonic == "s_endpgm";
}

RunStats run_one_for_all(Context &c) {
    RunStats sum, power = run_groups(c, 1, 1); // of 2^i workgroups
    for (u64 left = group_count(c.dispatch); left != 0; left >>= 1) {
        if (left & 1)
            sum += power;
        power += RunStats(power);
    }
    return sum;
}

} // namespace

RunStats run(const Dispatch &d, Memory &memory, const Device &device, const RunConfig &config) {
    return run(d, memory, device, config, [&](Context &c) {
        if (does_nothing(c))
            return run_one_for_all(c);
        const u64 most = groups_by_scratch(c), total = group_count(d);
        if (d.cooperative && total > most)
            out_of_memory(d, fmt::format("{} workgroups of a cooperative launch must run at once, "
                                         "and there is scratch for {}",
                                         total, most));
        if (d.cooperative)
            return run_together(c);
        const unsigned threads = config.threads ? config.threads : host_threads();
        return run_groups(c,
                          config.checker && config.checker->needs_order()
                              ? 1
                              : static_cast<unsigned>(std::clamp<u64>(threads, 1, most)),
                          total);
    });
}

std::unique_ptr<LaunchChecker> launch_checker(const Context &c) {
    return c.config.checker
               ? c.config.checker->launch(*c.dispatch.program, c.dispatch.kernel->wave_size)
               : nullptr;
}

RunStats run(const Dispatch &d, Memory &memory, const Device &device, const RunConfig &config,
             const std::function<RunStats(Context &)> &schedule) {
    check(d);
    const UseChoices chosen(config.choices);
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
    c.vgprs = allocated_vgprs(k);
    c.waves_per_group = ceil_div(d.block.x * d.block.y * d.block.z, k.wave_size);
    if (c.code.code->find(k.entry) == Code::none)
        bad_dispatch(d, "its entry is not an instruction");
    try {
        RunStats stats = schedule(c);
        stats.fast_math = config.fast_math;
        return stats;
    } catch (const std::bad_alloc &) {
        out_of_memory(
            d, "the host has no memory left for registers, LDS, scratch or a checker's state");
    }
}

void abandon() { abandoned = true; }

void check_abandoned() {
    if (abandoned)
        throw Abandoned();
}

RunStats &RunStats::operator+=(const RunStats &o) {
    insts += o.insts;
    fidelity += o.fidelity;
    bytes += o.bytes;
    waves += o.waves;
    waited = std::max(waited, o.waited);
    return *this;
}

ByteCounts &ByteCounts::operator+=(const ByteCounts &o) {
    global_load += o.global_load, global_store += o.global_store;
    lds_read += o.lds_read, lds_write += o.lds_write;
    return *this;
}

} // namespace nw::sim
