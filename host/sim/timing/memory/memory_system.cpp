// SPDX-License-Identifier: MIT
#include "sim/timing/memory/memory_system.h"

#include <algorithm>

#include "sim/timing/memory/memory_levels.h"
#include "sim/timing/memory/translation.h"

namespace nw::sim::timing {

namespace {

using Kind = VectorRequest::Kind;
using Level = MemoryWatcher::Level;
using Policy = VectorRequest::Policy;

constexpr u32 l0_arrivals = 512, narrow_arrivals = 64; // entries, see Arrivals

// Private memory units of a CU.
struct ComputeUnit {
    Cache l0;
    Arrivals arrivals;
    Port fill;    // from GL1 or L2 into L0
    Queue misses; // sectors in flight, loads and stores
    PageCache utcl0;
    u64 free = 0;     // when the address unit is available
    u64 returned = 0; // when the last load so far returned
    u32 array = 0;    // its shader array
};

// A scalar or instruction cache. Its lines are sectors of the vector path's (T-011).
struct Narrow {
    Cache cache;
    Arrivals arrivals;
    i64 hit;    // ticks that a hit takes
    i64 sooner; // see MemoryLevels::Miss
    MemoryCounts::Cache MemoryCounts::*counted;

    Narrow(u32 bytes, u32 ways, i64 hit_, i64 sooner_, MemoryCounts::Cache MemoryCounts::*counted_)
        : cache(u64{bytes} * line_sectors, ways), arrivals(narrow_arrivals), hit(hit_),
          sooner(sooner_), counted(counted_) {}
    MemoryCounts::Cache &counts(MemoryCounts &all) const { return all.*counted; }
};

struct Wgp {
    Narrow scalar, instruction;
    PageCache utcl0;
    u64 scalar_free = 0; // when the scalar cache can look up a line
    u32 array = 0;
};

// Calls visit(line, sectors) for the lines of the runs, in order.
template <class Visit> void each_line(std::span<const SectorRun> runs, Visit visit) {
    for (const SectorRun &run : runs)
        for (u64 sector = run.first, end = run.first + run.count; sector < end;) {
            u64 line = sector / line_sectors, next = std::min(end, (line + 1) * line_sectors);
            Sectors upto = (1u << (next - line * line_sectors)) - 1;
            Sectors below = (1u << (sector - line * line_sectors)) - 1;
            visit(line, upto & ~below);
            sector = next;
        }
}

// A vector request inside its CU.
struct Passage {
    const VectorRequest &request;
    ComputeUnit &cu;
    u64 lookup;   // when the next line is looked up
    u64 done = 0; // latest completion of its lines
    Level level = Level::l0;

    void answered(u64 at, Level by) {
        done = std::max(done, at);
        level = std::max(level, by);
    }
};

} // namespace

struct MemorySystem::Impl {
    Impl(const Part &part, const Costs &costs);

    u64 address_work(const VectorRequest &request) const;
    void load(Passage &p, u64 line, Sectors sectors);
    void store(Passage &p, u64 line, Sectors sectors);
    void atomic(Passage &p, u64 line, Sectors sectors, u32 lanes);
    u64 enter(Passage &p, u64 line, Sectors sectors);
    MemoryLevels::Miss miss(const Passage &p, u64 at, u64 line, Sectors sectors) const;

    void pass(Passage &p);
    MemoryLevels::Arrival narrow(Wgp &wgp, Narrow &cache, u64 at, u64 sector);

    u64 inside(u64 now) const { return base + now * ticks_per_cycle; }
    u64 outside(u64 at) {
        latest = std::max(latest, at);
        return cycles_up(at - base);
    }

    const Costs costs;
    const u64 lookup_work, fill_work, l0_latency;
    std::vector<ComputeUnit> cus;
    std::vector<Wgp> wgps;
    Translation translation;
    MemoryLevels levels;
    MemoryWatcher *watcher = nullptr;
    // Start time of a launch, long after all earlier requests ended, so that all queues are empty.
    u64 base = 0;
    u64 latest = 0;
};

MemorySystem::Impl::Impl(const Part &part, const Costs &c)
    : costs(c), lookup_work(ticks(1.0 / c.l0_lookups)),
      fill_work(ticks(1.0 * sector_bytes / c.fill_bytes)), l0_latency(ticks(c.l0_latency)),
      translation(part, c), levels(part, c) {
    ComputeUnit cu{Cache(part.l0_size, c.l0_ways, Cache::Replacement::random),
                   Arrivals(l0_arrivals), Port(), Queue(c.l0_misses), translation.utcl0()};
    cus.assign(part.cus(), cu);
    for (u32 n = 0; n < part.cus(); ++n)
        cus[n].array = n * part.shader_arrays / part.cus();
    i64 hit = ticks_per_cycle * i64{c.scalar_latency}, vector_hit = l0_latency;
    i64 beyond_l2 = ticks_per_cycle * (i64{c.l2_latency} - i64{c.instruction_miss});
    Wgp wgp{{part.scalar_size, c.scalar_ways, hit, vector_hit - hit, &MemoryCounts::scalar},
            {part.instruction_size, c.instruction_ways, 0, beyond_l2, &MemoryCounts::instruction},
            translation.utcl0()};
    wgps.assign(part.wgps, wgp);
    for (u32 n = 0; n < part.wgps; ++n)
        wgps[n].array = n * part.shader_arrays / part.wgps;
}

// How long the request occupies its CU's address unit and data path, without lookups.
u64 MemorySystem::Impl::address_work(const VectorRequest &r) const {
    u32 path = r.kind == Kind::load ? costs.l0_bytes : costs.store_bytes;
    f64 addresses = 1.0 * r.lanes / costs.address_lanes;
    f64 data = 1.0 * r.lanes * r.lane_bytes / path;
    return ticks(std::max({1.0, addresses, data}));
}

// When the line's sectors have entries in the CU's queue, and its address is translated. A full
// queue also delays later lines, a page that UTCL0 doesn't have only its own.
u64 MemorySystem::Impl::enter(Passage &p, u64 line, Sectors sectors) {
    u64 at = p.cu.misses.enter(p.lookup, count(sectors));
    p.lookup = at;
    return translation.translated(p.cu.utcl0, p.cu.array, line, at);
}

MemoryLevels::Miss MemorySystem::Impl::miss(const Passage &p, u64 at, u64 line,
                                            Sectors sectors) const {
    return {at, line, sectors, p.cu.array, p.request.policy};
}

void MemorySystem::Impl::load(Passage &p, u64 line, Sectors sectors) {
    ComputeUnit &cu = p.cu;
    Policy policy = p.request.policy;
    u64 hit = p.lookup + l0_latency;
    bool through_l0 = policy == Policy::normal || policy == Policy::stream;
    Sectors found = through_l0 ? cu.l0.use(line) & sectors : 0;
    if (through_l0) {
        // Streamed data isn't cached, but may be in flight.
        Sectors asked = policy == Policy::stream ? sectors : found;
        Arrivals::Pending pending = cu.arrivals.pending(line, asked, hit);
        found |= pending.sectors;
        p.answered(std::max(hit, pending.until), Level::l0);
    }
    Sectors missing = sectors & ~found;
    levels.counts.l0.hits += count(found);
    levels.counts.l0.misses += count(missing);
    if (!missing)
        return;
    u64 at = enter(p, line, missing);
    MemoryLevels::Arrival arrival = levels.load(miss(p, at, line, missing));
    arrival.at += cu.fill.reserve(arrival.at, fill_work * count(missing));
    cu.misses.leave(arrival.at, count(missing));
    if (policy == Policy::normal)
        cu.l0.fill(line, missing);
    if (through_l0)
        cu.arrivals.expect(line, missing, arrival.at);
    p.answered(arrival.at, arrival.level);
}

// Write-through: a hit updates the line in L0.
void MemorySystem::Impl::store(Passage &p, u64 line, Sectors sectors) {
    u64 at = enter(p, line, sectors);
    u64 done = levels.store(miss(p, at, line, sectors));
    p.cu.misses.leave(done, count(sectors));
    p.answered(done, Level::l2);
}

void MemorySystem::Impl::atomic(Passage &p, u64 line, Sectors sectors, u32 lanes) {
    p.cu.l0.drop(line);
    u64 at = enter(p, line, sectors);
    MemoryLevels::Arrival arrival = levels.atomic(miss(p, at, line, sectors), lanes);
    p.cu.misses.leave(arrival.at, count(sectors));
    p.answered(arrival.at, arrival.level);
}

void MemorySystem::Impl::pass(Passage &p) {
    const VectorRequest &r = p.request;
    u32 sectors = 0;
    for (const SectorRun &run : r.runs)
        sectors += run.count;
    each_line(r.runs, [&](u64 line, Sectors wanted) {
        if (r.kind == Kind::load)
            load(p, line, wanted);
        else if (r.kind == Kind::store)
            store(p, line, wanted);
        else
            atomic(p, line, wanted, ceil_div(r.lanes * count(wanted), sectors));
        p.lookup += lookup_work;
    });
    ++levels.counts.requests;
    levels.counts.sectors += sectors;
    levels.counts.written += r.kind == Kind::load ? 0 : sectors;
}

// A load of one sector through a cache of its WGP.
MemoryLevels::Arrival MemorySystem::Impl::narrow(Wgp &wgp, Narrow &narrow, u64 at, u64 sector) {
    u64 hit = at + narrow.hit;
    if (narrow.cache.use(sector)) {
        ++narrow.counts(levels.counts).hits;
        return {std::max(hit, narrow.arrivals.pending(sector, 1, hit).until), Level::l0};
    }
    ++narrow.counts(levels.counts).misses;
    const u64 line = sector / line_sectors;
    at = translation.translated(wgp.utcl0, wgp.array, line, at);
    MemoryLevels::Arrival arrival = levels.load(
        {at, line, 1u << sector % line_sectors, wgp.array, Policy::normal, narrow.sooner});
    narrow.cache.fill(sector, 1);
    narrow.arrivals.expect(sector, 1, arrival.at);
    return arrival;
}

MemorySystem::MemorySystem(const Part &part, const Costs &costs)
    : impl_(std::make_unique<Impl>(part, costs)) {}
MemorySystem::MemorySystem(const MemorySystem &o) : impl_(std::make_unique<Impl>(*o.impl_)) {}
MemorySystem::~MemorySystem() = default;

Answer MemorySystem::vector(u64 now, const VectorRequest &request) {
    ComputeUnit &cu = impl_->cus[request.cu];
    u64 start = std::max(impl_->inside(now), cu.free);
    u64 work = impl_->address_work(request);
    Passage p{request, cu, start};
    impl_->pass(p);
    cu.free = std::max(start + work, p.lookup);
    if (request.kind == Kind::load) // the last bytes leave L0 later than the first
        p.answered(start + impl_->l0_latency + work - ticks_per_cycle, Level::l0);
    bool returns = request.kind == Kind::load || request.kind == Kind::atomic_return;
    if (returns && impl_->costs.ordered_returns)
        cu.returned = p.done = std::max(p.done, cu.returned);
    Answer answer{impl_->outside(cu.free), impl_->outside(std::max(p.done, start + work))};
    if (impl_->watcher)
        impl_->watcher->answered(now, answer.done, request.cu, p.level);
    return answer;
}

void MemorySystem::touch(const VectorRequest &r) {
    ComputeUnit &cu = impl_->cus[r.cu];
    MemoryCounts &counts = impl_->levels.counts;
    each_line(r.runs, [&](u64 line, Sectors wanted) {
        counts.sectors += count(wanted);
        counts.written += r.kind == Kind::load ? 0 : count(wanted);
        if (r.kind == Kind::load) {
            const bool kept = r.policy == Policy::normal;
            const Sectors found = kept || r.policy == Policy::stream ? cu.l0.use(line) & wanted : 0;
            counts.l0.hits += count(found);
            counts.l0.misses += count(wanted & ~found);
            wanted &= ~found;
            if (wanted && kept)
                cu.l0.fill(line, wanted);
        } else if (r.kind != Kind::store) {
            cu.l0.drop(line);
        }
        if (!wanted)
            return;
        impl_->translation.translated(cu.utcl0, cu.array, line, 0);
        impl_->levels.touch({0, line, wanted, cu.array, r.policy}, r.kind);
    });
    ++counts.requests;
}

u64 MemorySystem::scalar(u64 now, u32 wgp, u64 address, u32 bytes) {
    Wgp &w = impl_->wgps[wgp];
    u64 last = (address + bytes - 1) / sector_bytes, done = 0;
    Level level = Level::l0;
    for (u64 sector = address / sector_bytes; sector <= last; ++sector) {
        u64 at = std::max(impl_->inside(now), w.scalar_free);
        w.scalar_free = at + ticks_per_cycle;
        MemoryLevels::Arrival arrival = impl_->narrow(w, w.scalar, at, sector);
        done = std::max(done, arrival.at);
        level = std::max(level, arrival.level);
    }
    u64 answer = impl_->outside(done);
    if (impl_->watcher)
        impl_->watcher->answered(now, answer, wgp * 2, level);
    return answer;
}

u64 MemorySystem::instructions(u64 now, u32 wgp, u64 address) {
    Wgp &w = impl_->wgps[wgp];
    u64 at = impl_->inside(now);
    return impl_->outside(impl_->narrow(w, w.instruction, at, address / sector_bytes).at);
}

void MemorySystem::start_kernel() {
    u64 over = impl_->latest + u64{Port::slot_count} * Port::slot_ticks;
    impl_->base = round_up<u64>(over, Port::slot_ticks);
    for (ComputeUnit &cu : impl_->cus)
        cu.l0.clear();
    for (Wgp &w : impl_->wgps)
        w.scalar.cache.clear();
    impl_->levels.start_kernel();
}

void MemorySystem::forget() {
    forget_data();
    impl_->translation.forget();
    for (Wgp &w : impl_->wgps)
        w.instruction.cache.clear();
}

void MemorySystem::forget_data() {
    start_kernel();
    impl_->levels.forget();
    impl_->translation.forget_near();
    for (ComputeUnit &cu : impl_->cus)
        cu.utcl0.clear();
    for (Wgp &w : impl_->wgps)
        w.utcl0.clear();
}

void MemorySystem::warm_code(u64 address, u64 bytes) {
    if (!bytes)
        return;
    const u64 first = address / sector_bytes, last = (address + bytes - 1) / sector_bytes;
    for (u64 sector = last + 1; sector-- > first;) { // LRU keeps what is filled last
        for (Wgp &w : impl_->wgps) {
            if (!w.instruction.cache.use(sector))
                w.instruction.cache.fill(sector, 1);
            impl_->translation.warm(w.utcl0, w.array, sector / line_sectors);
        }
        impl_->levels.warm_l2(sector / line_sectors, 1u << sector % line_sectors);
    }
}

const MemoryCounts &MemorySystem::counts() const { return impl_->levels.counts; }

LastLevels MemorySystem::last_levels() const { return impl_->levels.contents(); }

void MemorySystem::rename_lines() { impl_->levels.rename(); }

void MemorySystem::displace(u64 l2_lines, u64 mall_lines) {
    impl_->levels.displace(l2_lines, mall_lines);
}

void MemorySystem::watch(MemoryWatcher *watcher) { impl_->watcher = watcher; }

} // namespace nw::sim::timing
