// SPDX-License-Identifier: MIT
// Synchronization: atomics, waits and cache invalidations. Barriers: race_barrier.cpp; accesses:
// race_access.cpp.
#include "sim/check/race.h"

#include <algorithm>

#include "sim/check/race_guess.h"
#include "sim/func/alu/frames.h"
#include "sim/func/launch/launch.h"
#include "sim/isa/uses.h"

namespace nw::sim {

namespace {

// Scopes from SE outwards on gfx12, glc on gfx11: LLVM sets them on atomic loads and stores.
bool bypasses_caches(const Instruction &inst, bool gfx12) {
    if (!gfx12)
        return inst.x.has("glc");
    return inst.text.find("scope:") != inst.text.npos &&
           inst.text.find("SCOPE_CU") == inst.text.npos;
}

u8 invalidated(const Instruction &inst, bool gfx12) {
    const std::string_view name = inst.x.mnemonic;
    if (name == "buffer_gl0_inv")
        return 1;
    if (name == "buffer_gl1_inv")
        return 2;
    if (name == "global_inv" || name == "global_wbinv")
        return bypasses_caches(inst, gfx12) ? 3 : 1;
    return 0;
}

RaceFacts::Kind kind_of(std::string_view name) {
    using Kind = RaceFacts::Kind;
    if (find_memory_op(name).access != Access::none)
        return Kind::memory;
    if (find_scalar_write(name).access != Access::none)
        return Kind::scalar_write;
    return loads_scalars(name)                    ? Kind::scalar_load
           : name == "s_dcache_wb"                ? Kind::write_back
           : name == "s_barrier"                  ? Kind::barrier
           : name.starts_with("s_barrier_signal") ? Kind::signal
           : name == "s_barrier_wait"             ? Kind::wait
           : name == "s_barrier_init"             ? Kind::barrier_init
           : name == "s_barrier_join"             ? Kind::barrier_join
           : name == "s_barrier_leave"            ? Kind::barrier_leave
           : name.starts_with("s_endpgm")         ? Kind::end
           : name.starts_with("s_wait")           ? Kind::counters
                                                  : Kind::none;
}

RaceFacts::Entry entry_of(const Instruction &inst, Generation generation, bool any_dma) {
    const bool gfx12 = generation == Generation::gfx12;
    RaceFacts::Entry e;
    e.kind = kind_of(inst.x.mnemonic);
    e.caches = invalidated(inst, gfx12);
    if (e.caches)
        e.kind = RaceFacts::Kind::invalidate;
    if (e.kind == RaceFacts::Kind::memory) {
        Issues on = issues(inst, generation);
        e.on_lds = on.on[static_cast<int>(Counter::lds)];
        e.on_store = on.on[static_cast<int>(Counter::store)];
        e.on_load = on.on[static_cast<int>(Counter::load)];
        e.dma = loads_to_lds(inst.x);
        e.synchronizes = bypasses_caches(inst, gfx12);
    }
    if (e.kind == RaceFacts::Kind::counters) {
        WaitLimits limits = wait_limits(inst, generation);
        e.keep_lds = limits.limit[static_cast<int>(Counter::lds)];
        e.keep_store = limits.limit[static_cast<int>(Counter::store)];
        e.keep_load = any_dma ? limits.limit[static_cast<int>(Counter::load)] : ~0u;
        e.waits_scalar = limits.limit[static_cast<int>(Counter::smem)] == 0;
        if (e.keep_lds == WaitLimits::unlimited && e.keep_store == WaitLimits::unlimited &&
            e.keep_load == WaitLimits::unlimited && !e.waits_scalar)
            e.kind = RaceFacts::Kind::none;
    }
    return e;
}

} // namespace

RaceFacts::RaceFacts(const Code &code, const Target &target) {
    entries.reserve(code.instructions.size() + 1);
    const bool any_dma = std::ranges::any_of(
        code.instructions, [](const Instruction &inst) { return loads_to_lds(inst.x); });
    for (const Instruction &inst : code.instructions) {
        entries.push_back(inst.text.empty() ? Entry{} : entry_of(inst, target.generation, any_dma));
        Entry &e = entries.back();
        e.guess = e.kind == Kind::memory && is_guess(code, entries.size() - 1, target);
    }
    entries.emplace_back();
}

void RaceCheck::start_group(u64 group, u32 waves, size_t lds_bytes) {
    first_ = static_cast<u32>(group * waves);
    waves_.assign(waves, {});
    for (u32 n = 0; n < waves; ++n) {
        waves_[n].number = first_ + n;
        waves_[n].knows = Knowledge(first_, waves);
    }
    lds_.resize(ceil_div(lds_bytes, size_t{shadow_bytes}));
    for (ShadowBlock &b : lds_)
        b.clear();
    lds_locations_.clear();
    for (Barrier &b : barriers_)
        b = {};
}

void RaceCheck::step(Wave &w, const Inst &i) {
    using Kind = RaceFacts::Kind;
    const RaceFacts::Entry &e = facts_->entries[i.index];
    State &me = waves_[w.number];
    if (me.awaits != nothing) // the wave resumes: the phase is complete
        pass(me);
    switch (e.kind) {
    case Kind::memory:
        return memory(w, i, me, e);
    case Kind::scalar_load:
        return scalar_load(w, i, me);
    case Kind::scalar_write:
        return scalar_write(w, i, me);
    case Kind::write_back:
        me.scalar_back = me.scalar_issued;
        return;
    case Kind::counters:
        return counters(me, e);
    case Kind::barrier:
    case Kind::signal:
    case Kind::wait:
    case Kind::barrier_init:
    case Kind::barrier_join:
    case Kind::barrier_leave:
    case Kind::end:
        return barrier(w, i, me, e.kind);
    case Kind::invalidate:
        me.caches |= e.caches;
        if (me.caches == 3)
            me.knows.invalidate_caches();
        return;
    case Kind::none:
        return;
    }
}

void RaceCheck::counters(State &me, const RaceFacts::Entry &e) {
    auto wait = [&](u32 issued, u32 keep, u32 &done) {
        if (keep > issued || issued - keep <= done)
            return;
        done = issued - keep;
        me.news = 0;
        me.published.reset();
    };
    wait(me.lds_issued, e.keep_lds, me.lds_done);
    wait(me.global_issued, e.keep_store, me.global_done);
    wait(me.loads_issued, e.keep_load, me.loads_done);
    wait(me.scalar_back, e.waits_scalar ? 0 : ~0u, me.scalar_done);
    if (e.waits_scalar)
        me.scalar_loads_done = me.scalar_loads;
}

// ---- release: publishing a wave's clock ---------------------------------------------------------

void RaceCheck::take(State &me, const Knowledge &knowledge) {
    me.knows.join(knowledge);
    me.news = 0;
    me.published.reset();
}

Knowledge RaceCheck::news_of(const State &me) const {
    Knowledge all = me.knows;
    all.mate(me.number - first_) = {me.clock, me.lds_done, me.global_done, me.scalar_done,
                                    me.loads_done};
    return all;
}

const News &RaceCheck::publish(State &me) {
    if (!me.published)
        me.published = std::make_shared<const Knowledge>(news_of(me));
    return me.published;
}

u32 RaceCheck::store_news(State &me) {
    if (!me.news) {
        shared_->news.push_back(publish(me));
        me.news = static_cast<u32>(shared_->news.size());
    }
    return me.news;
}

void RaceCheck::acquire(State &me, SyncLocations &locations, u64 address) {
    auto at = locations.find(address);
    if (at == locations.end())
        return;
    for (const News &news : at->second)
        if (news != me.published)
            take(me, *news);
    me.caches = 0;
}

// After the atomics of an instruction on `addresses`. One that returned has also acquired them.
void RaceCheck::release(State &me, SyncLocations &locations, const std::vector<u64> &addresses,
                        bool returns) {
    constexpr size_t most = 64; // longer lists are of plain data: they are merged
    const News news = publish(me);
    for (u64 address : addresses) {
        std::vector<News> &there = locations[address];
        if (returns)
            there.clear();
        if (there.size() >= most) {
            auto sum = std::make_shared<Knowledge>(*news);
            for (const News &older : there)
                sum->join(*older);
            there.assign(1, std::move(sum));
        } else {
            there.push_back(news);
        }
    }
    ++me.clock;
    me.news = 0;
    me.published.reset();
}

} // namespace nw::sim
