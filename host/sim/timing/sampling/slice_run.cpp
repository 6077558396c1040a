// SPDX-License-Identifier: MIT
#include "sim/timing/sampling/slice_run.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "sim/func/alu/mode.h"
#include "sim/func/choices.h"
#include "sim/func/launch/workgroup.h"
#include "sim/timing/core/pass.h"
#include "sim/timing/sampling/slice.h"

namespace nw::sim::timing {

namespace {

struct KeptSlice {
    std::unique_ptr<Executable> code;
};
struct KeptReader { // a slice without stores
    std::unique_ptr<Executable> code;
};

// One per kernel.
u32 key_of(const Dispatch &d) {
    return static_cast<u32>(d.kernel->entry - d.program->code(d.kernel->wave_size).base);
}

// Scalar stores, and flat ones, which may go to LDS.
bool writes_otherwise(const Code &code) {
    return std::ranges::any_of(code.instructions, [](const Instruction &i) {
        const std::string_view n = i.x.mnemonic;
        return (n.starts_with("s_") || n.starts_with("flat_")) &&
               (n.find("store") != n.npos || n.find("atomic") != n.npos);
    });
}

const Executable *reader_of(const Dispatch &d, const ProgramFacts &facts) {
    const Executable *slice = slice_of(d, facts);
    if (!slice)
        return nullptr;
    return d.program
        ->derived<KeptReader>(key_of(d),
                              [&] {
                                  auto reader = std::make_shared<KeptReader>();
                                  if (!writes_otherwise(d.program->code(d.kernel->wave_size)))
                                      reader->code = without_stores(*slice, facts);
                                  return reader;
                              })
        .code.get();
}

// For a trial run: the launch after it has the same emulated addresses as without the trial.
class SameLaunchSlot {
public:
    explicit SameLaunchSlot(Memory &m) : memory_(m), slot_(m.launch_slot()) {}
    ~SameLaunchSlot() { memory_.set_launch_slot(slot_); }
    SameLaunchSlot(const SameLaunchSlot &) = delete;
    SameLaunchSlot &operator=(const SameLaunchSlot &) = delete;

private:
    Memory &memory_;
    const u64 slot_;
};

} // namespace

const Executable *slice_of(const Dispatch &d, const ProgramFacts &facts) {
    if (d.cooperative)
        return nullptr;
    return d.program
        ->derived<KeptSlice>(key_of(d),
                             [&] {
                                 auto slice = std::make_shared<KeptSlice>();
                                 const Executable &code =
                                     executable(*d.program, d.kernel->wave_size);
                                 const auto idle = idle_instructions(
                                     *code.code, facts, code.code->find(d.kernel->entry));
                                 if (!idle.empty())
                                     slice->code = without_idle(code, facts, idle);
                                 return slice;
                             })
        .code.get();
}

RunStats run_slice(Context &c, const Executable &slice, unsigned threads,
                   const std::function<u64()> &next) {
    Context own{c.dispatch, c.memory, slice, c.config, c.device};
    own.kernarg = c.kernarg;
    own.packet = c.packet;
    own.lds_bytes = c.lds_bytes;
    own.waves_per_group = c.waves_per_group;
    own.vgprs = c.vgprs;
    std::atomic<bool> faulted{false};
    std::mutex mutex;
    std::exception_ptr fault;
    RunStats stats;
    const auto work = [&] {
        MxcsrScope host_fpu(mxcsr_default);
        const UseChoices chosen(c.config.choices);
        try {
            Workgroup group(own, nullptr);
            for (u64 g; !faulted && (g = next()) != no_group;)
                group.run(g);
            const std::lock_guard lock(mutex);
            stats += group.stats();
        } catch (...) {
            faulted = true;
            const std::lock_guard lock(mutex);
            fault = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    for (unsigned n = 1; n < threads; ++n)
        others.emplace_back(work);
    work();
    for (std::thread &t : others)
        t.join();
    if (fault)
        std::rethrow_exception(fault);
    return stats;
}

std::vector<GroupWork> probe(const std::vector<u64> &groups, const Dispatch &d, Memory &memory,
                             const Device &device, const RunConfig &config,
                             const ProgramFacts &facts) {
    const Executable *reader = reader_of(d, facts);
    if (!reader || groups.empty())
        return {};
    const u32 waves = ceil_div(d.block.x * d.block.y * d.block.z, d.kernel->wave_size);
    Recorder recorder(facts.payloads, device.target->generation == Generation::gfx12,
                      groups.back() + 1, waves);
    RunConfig own = config;
    own.observer = &recorder;
    own.checker = nullptr;
    std::vector<GroupWork> found;
    const SameLaunchSlot same(memory);
    try {
        size_t at = 0;
        sim::run(d, memory, device, own, [&](Context &c) {
            return run_slice(c, *reader, 1,
                             [&] { return at < groups.size() ? groups[at++] : no_group; });
        });
    } catch (const Fault &) { // the launch itself will say so
        return {};
    }
    for (const u64 group : groups)
        found.push_back(work_of(recorder, group, waves, facts));
    return found;
}

} // namespace nw::sim::timing
