// SPDX-License-Identifier: MIT
// Data races: two waves access the same byte of LDS or global memory, at least one writes, and no
// synchronization orders them.
//
// Each wave has a vector clock (race_clock.h); memory remembers its last accesses (race_shadow.h).
// Workgroup barriers join the clocks of all waves; named ones (S-033) pass them from signallers to
// waiters. Atomics order waves of any workgroup: each location carries the clocks of its updaters.
// An atomic that returns, or a load that bypasses the caches (glc; scope:SCOPE_SE and wider on
// gfx12), acquires them. Such a load also acquires the clock of the wave that stored the flag it
// reads. A store is released only if its wave has waited for it before the barrier or atomic; data
// of another workgroup is visible only after a cache invalidation. A store of SGPRs is
// released once s_dcache_wb has written the scalar cache back and the wave has waited (S-077).
//
// A wave's own accesses need a wait in two cases: LDS that a load from memory writes (vmcnt), and
// bytes that both a vector store and a scalar load access, in either order.
//
// Not races: all other accesses of one wave; atomics with each other; two stores of the same value;
// a load that a compare-exchange checks (race_guess.cpp). Lanes of one instruction that store
// different values to one byte are reported: the winner is unspecified.
//
// A grid under this check runs on one thread: the order of accesses decides which of two racing
// accesses is reported, and must be deterministic. Workgroups could keep private shadows that are
// merged in grid order (turns.h). But a race would then be found long after its second access,
// without the lane, wave state and address that a report names, and the wave would have gone on
// with what it read. Reader lists are bounded: only the last 32 per 128 bytes of global memory are
// kept.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/targets.h"
#include "sim/check/race_clock.h"
#include "sim/check/race_shadow.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/access.h"
#include "sim/isa/code.h"

namespace nw::sim {

// Static facts about each instruction, made once per launch.
struct RaceFacts {
    enum class Kind : u8 {
        none,
        memory,
        scalar_load,
        scalar_write,
        write_back, // of the scalar cache
        counters,   // waits for memory
        barrier,    // signal and wait
        signal,
        wait,
        barrier_init,
        barrier_join,
        barrier_leave,
        invalidate,
        end
    };
    struct Entry {
        Kind kind = Kind::none;
        bool synchronizes = false; // a load or store that bypasses the caches
        bool guess = false;        // only a compare-exchange sees what it loads
        bool on_lds = false, on_store = false, on_load = false; // counters it increments
        bool dma = false;                                       // a load that writes LDS
        u8 caches = 0;                        // invalidated: 1 the CU's own, 2 also outer levels
        u32 keep_lds = ~0u, keep_store = ~0u; // how many may be outstanding after a wait
        u32 keep_load = ~0u;                  // the same, in code with a dma
        bool waits_scalar = false;            // for all of them
    };
    std::vector<Entry> entries; // by instruction index, and the end sentinel
    RaceFacts(const Code &code, const Target &target);
};

using News = std::shared_ptr<const Knowledge>;

// Clocks of the waves that updated an atomic location.
using SyncLocations = std::unordered_map<u64, std::vector<News>>;

// Launch-wide state, which outlives workgroups.
struct RaceShared {
    GlobalShadow memory;
    SyncLocations locations;
    std::vector<News> news; // clocks of stores that may turn out to be flags
};

// State of a running workgroup.
class RaceCheck {
public:
    RaceCheck(const RaceFacts &facts, RaceShared &shared) : facts_(&facts), shared_(&shared) {}
    void start_group(u64 group, u32 waves, size_t lds_bytes);
    // Before an instruction that is not Kind::none. Throws Fault.
    void step(Wave &, const Inst &);

private:
    static constexpr u32 nothing = ~0u;
    struct State {
        u32 number = 0; // in the grid
        Knowledge knows;
        u32 clock = 1;
        u32 lds_issued = 0, lds_done = 0, global_issued = 0, global_done = 0;
        u32 scalar_issued = 0, scalar_back = 0, scalar_done = 0; // issued, being written back
        u32 loads_issued = 0, loads_done = 0;
        u32 scalar_loads = 0, scalar_loads_done = 0;
        u32 caches = 0;       // invalidated since the last atomic
        u32 awaits = nothing; // the phase to acquire, of this barrier:
        u32 barrier = 0;
        u32 news = 0;   // 1 + index of its published state; 0: changed since
        News published; // the same for atomics
    };
    // Clocks of the waves that signalled a barrier, by phase. Observing a complete phase implies
    // all earlier ones.
    class Phases {
    public:
        // The incomplete phase, number `number`.
        Knowledge &current(u32 number, const Knowledge &blank);
        const Knowledge *find(u32 number) const; // null: not signalled yet

    private:
        static constexpr size_t most = 16; // older phases are implied by the kept ones
        std::vector<Knowledge> kept_;
        u32 first_ = 0; // number of kept_[0]
    };
    struct BarrierUse {
        u32 wave = nothing, clock = 0, inst = 0;
    };
    struct Barrier {
        Phases phases;
        BarrierUse init;
        std::vector<BarrierUse> uses; // the last one of each wave
    };
    // One access of a half wave, with its lanes.
    struct Half {
        Wave &w;
        const Inst &i;
        State &me;
        const Places &places; // LDS addresses are relative
        unsigned half, size, part;
        ShadowAccess access;
        bool lds = false;
        u64 base = 0;              // added to give a host address
        bool synchronizes = false; // an atomic, or a load or store that may synchronize
        bool cached = false;       // a load that may hit a stale cache line
        bool dma = false;          // what is written is no register's
    };

    void memory(Wave &, const Inst &, State &, const RaceFacts::Entry &);
    void scalar_load(Wave &, const Inst &, State &);
    void scalar_write(Wave &, const Inst &, State &);
    void dma_to_lds(Wave &, const Inst &, State &);
    void touch_lanes(Half &, u32 lanes);
    void touch_each(Half &, u32 lanes);
    void touch_range(Half &, u64 address, u64 size);
    void touch(Half &, u64 block, ByteMask);
    void record(ShadowBlock &, ShadowAccess, bool lds);
    bool ordered(const Half &, const ShadowAccess &older, bool cached) const;
    static const char *missing_wait(const Half &, const ShadowAccess &own);
    bool is_own_flag(Half &, u64 address);
    void conflict(Half &, u64 block, ByteMask, const ShadowAccess &older);
    void lanes_agree(Half &, u32 lanes);
    bool same_value(Half &, u64 address, ByteMask) const;

    void counters(State &, const RaceFacts::Entry &);
    // race_barrier.cpp
    void barrier(Wave &, const Inst &, State &, RaceFacts::Kind);
    void signal(Wave &, const Inst &, State &, u32 barrier);
    void await(State &, u32 barrier, u32 phase);
    void pass(State &);
    void use_barrier(Wave &, const Inst &, State &, u32 barrier);
    void init_barrier(Wave &, const Inst &, State &, u32 barrier);
    void report_init(const Wave &, const Inst &, u32 barrier, const BarrierUse &other,
                     bool init) const;
    void acquire(State &, SyncLocations &, u64 address);
    void release(State &, SyncLocations &, const std::vector<u64> &addresses, bool returns);
    void take(State &, const Knowledge &);
    Knowledge news_of(const State &) const;
    const News &publish(State &);
    u32 store_news(State &);
    ShadowBlock &block(const Half &, u64 address);

    void report(const Half &, u64 address, const ShadowAccess &older);
    void report_own(const Half &, u64 address, const ShadowAccess &older, const char *wait) const;
    void report_lanes(const Half &, u64 address, unsigned a, unsigned b);

    const RaceFacts *facts_;
    RaceShared *shared_;
    u32 first_ = 0; // index in the grid of the group's first wave
    std::vector<State> waves_;
    std::vector<ShadowBlock> lds_;
    SyncLocations lds_locations_;
    Barrier barriers_[1 + named_barriers]; // index 0: the workgroup's
};

} // namespace nw::sim
