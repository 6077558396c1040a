// SPDX-License-Identifier: MIT
// Two waves that touch the same byte of LDS or global memory, one of them writing, with nothing
// that orders them.
//
// Each wave keeps a vector clock of what it knows of other waves (race_clock.h); memory remembers
// who touched it last (race_shadow.h). Barriers join the clocks of a workgroup, named ones (S-033)
// pass them from those who signal to those who wait. Atomics order waves of any workgroup: each
// location carries what the waves that updated it knew, and an atomic that returns, or a load that
// bypasses the caches (glc; scope:SCOPE_SE and wider on gfx12), takes it over. Such a load also
// takes over what the wave knew that stored the flag it reads. A store counts as passed on only
// when its wave has waited for it before the barrier or atomic, and what comes from another
// workgroup only after the caches were invalidated.
//
// Not races: a wave's own accesses; atomics among themselves; two stores of the same value. Lanes
// of one instruction that store different values to one byte are reported, too: which one stays is
// nobody's promise.
//
// A grid under this check runs on one thread: the order of accesses decides which of two racing
// ones is reported, and has to be the same in every run. Workgroups could each keep a shadow of
// their own that is held against the common one when their turn comes (turns.h); but a race would
// then be found when its second access is long past, without the lane, the wave's state and the
// place of memory that a report names, and nothing would have stopped the wave from going on with
// what it read. Lists of readers are bounded: the 32 last of each 128 bytes of global memory count.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/check/race_clock.h"
#include "sim/check/race_shadow.h"
#include "sim/func/access.h"
#include "sim/func/launch.h"
#include "sim/isa/code.h"

namespace nw::sim {

// What the check needs to know of each instruction, made once per launch.
struct RaceFacts {
    enum class Kind : u8 {
        none,
        memory,
        scalar_load,
        counters, // waits for memory
        barrier,  // signal and wait
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
        bool synchronizes = false;             // a load or store that bypasses the caches
        bool on_lds = false, on_store = false; // counters that it adds to
        u8 caches = 0;                         // invalidated: 1 the CU's own, 2 those further out
        u32 keep_lds = ~0u, keep_store = ~0u;  // that may be outstanding after a wait
    };
    std::vector<Entry> entries; // by instruction index; one more where the code ends
    RaceFacts(const Code &code, bool gfx12);
};

using News = std::shared_ptr<const Knowledge>;

// What the waves knew that updated an atomic location.
using SyncLocations = std::unordered_map<u64, std::vector<News>>;

// Of a launch: what workgroups leave behind.
struct RaceShared {
    GlobalShadow memory;
    SyncLocations locations;
    std::vector<News> news; // of stores that may turn out to be flags
};

// Of a running workgroup.
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
        u32 caches = 0;       // invalidated since the last atomic
        u32 awaits = nothing; // the phase whose knowledge it takes over, of this barrier:
        u32 barrier = 0;
        u32 news = 0;   // 1 + index of its present state; 0: it changed
        News published; // the same for atomics
    };
    // What the waves knew that have signalled a barrier, by phase. Those who see a phase completed
    // know that the ones before it are.
    class Phases {
    public:
        // That is incomplete, when `number` phases are not.
        Knowledge &current(u32 number, const Knowledge &blank);
        const Knowledge *find(u32 number) const; // null: nobody has signalled it

    private:
        static constexpr size_t most = 16; // who asks for an older one hears of more than that
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
    // One access of a half wave, and the lanes that make it.
    struct Half {
        Wave &w;
        const Inst &i;
        State &me;
        const Places &places; // LDS addresses are relative
        unsigned half, size, part;
        ShadowAccess access;
        bool lds = false;
        u64 base = 0;              // what makes an address the host's
        bool synchronizes = false; // an atomic, or a load or store that others may wait for
        bool cached = false;       // a load that may hit a stale cache line
    };

    void memory(Wave &, const Inst &, State &, const RaceFacts::Entry &);
    void scalar_load(Wave &, const Inst &, State &);
    void touch_lanes(Half &, u32 lanes);
    void touch_each(Half &, u32 lanes);
    void touch_range(Half &, u64 address, u64 size);
    void touch(Half &, u64 block, ByteMask);
    void record(ShadowBlock &, ShadowAccess, bool lds);
    bool ordered(const Half &, const ShadowAccess &older, bool cached) const;
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
    [[noreturn]] void report_init(const Wave &, const Inst &, u32 barrier, const BarrierUse &other,
                                  bool init) const;
    void acquire(State &, SyncLocations &, u64 address);
    void release(State &, SyncLocations &, const std::vector<u64> &addresses, bool returns);
    void take(State &, const Knowledge &);
    Knowledge news_of(const State &) const;
    const News &publish(State &);
    u32 store_news(State &);
    ShadowBlock &block(const Half &, u64 address);

    [[noreturn]] void report(const Half &, u64 address, const ShadowAccess &older);
    [[noreturn]] void report_lanes(const Half &, u64 address, unsigned a, unsigned b);

    const RaceFacts *facts_;
    RaceShared *shared_;
    u32 first_ = 0; // wave of the grid that is the group's first
    std::vector<State> waves_;
    std::vector<ShadowBlock> lds_;
    SyncLocations lds_locations_;
    Barrier barriers_[1 + named_barriers]; // the first is the workgroup's
};

} // namespace nw::sim
