// SPDX-License-Identifier: MIT
#include "sim/timing/memory/memory_levels.h"

#include <algorithm>
#include <cmath>

namespace nw::sim::timing {

namespace {

using Level = MemoryWatcher::Level;
using Policy = VectorRequest::Policy;

constexpr u32 gl1_arrivals = 4096, l2_arrivals = 16384; // entries, see Arrivals

u32 work_of(f64 units, f64 per_cycle) { return static_cast<u32>(ticks(units / per_cycle)); }

// Ticks to transfer a sector through one of `ways` equal units of this total bandwidth.
u32 work_of(const Part &part, f64 gb_per_s, u32 ways) {
    if (gb_per_s == 0)
        return 0;
    f64 bytes_per_cycle = gb_per_s / ways * 1000 / part.shader_mhz;
    return work_of(sector_bytes, bytes_per_cycle);
}

void count_sectors(MemoryCounts::Cache &cache, Sectors hits, Sectors misses) {
    cache.hits += count(hits);
    cache.misses += count(misses);
}

// True if data of this policy is cached above L2.
bool kept_above_l2(Policy policy) { return policy == Policy::normal; }
bool kept_in_mall(Policy policy) { return policy != Policy::stream; }
Cache::Age age_in_l2(Policy policy) {
    return policy == Policy::stream ? Cache::Age::middle : Cache::Age::youngest;
}

} // namespace

MemoryLevels::MemoryLevels(const Part &part, const Costs &costs)
    : latency_{ticks(costs.gl1_latency),
               ticks(costs.l2_latency),
               ticks(part.cycles_of_ns(part.mall_latency)),
               ticks(part.cycles_of_ns(part.dram_latency)),
               ticks(costs.store_latency),
               ticks(costs.atomic_latency)},
      work_{work_of(sector_bytes, costs.gl1_bytes), work_of(sector_bytes, costs.l2_bytes),
            work_of(part, part.mall_gb_per_s, part.dram_channels),
            work_of(part, part.dram_gb_per_s * part.dram_efficiency, part.dram_channels),
            work_of(1, costs.atomic_lanes)},
      l2_(part.l2_size, costs.l2_ways, Cache::Replacement::random),
      mall_(part.mall_size, costs.mall_ways), l2_arrivals_(l2_arrivals),
      l2_map_(part.l2_channels, costs.l2_interleave, ChannelHash::hash),
      dram_map_(part.dram_channels, part.dram_interleave, part.dram_channel_hash()),
      l2_channels_(part.l2_channels, {Port(), Queue(costs.l2_misses)}),
      dram_channels_(part.dram_channels) {
    if (part.gl1_size)
        gl1_.assign(part.shader_arrays,
                    {Cache(part.gl1_size, costs.gl1_ways, Cache::Replacement::random),
                     Arrivals(gl1_arrivals), Port()});
}

void MemoryLevels::Walk::found(Sectors sectors, u64 at, Level where) {
    if (!sectors)
        return;
    missing &= ~sectors;
    answer = std::max(answer, at);
    level = std::max(level, where);
}

MemoryLevels::Arrival MemoryLevels::load(const Miss &miss) {
    Walk walk{miss, miss.sectors};
    if (!gl1_.empty() && kept_above_l2(miss.policy))
        visit_gl1(walk);
    else
        visit_l2(walk);
    return {walk.answer, walk.level};
}

void MemoryLevels::visit_gl1(Walk &walk) {
    const Miss &miss = walk.miss;
    Gl1 &gl1 = gl1_[miss.array];
    walk.delay += gl1.port.reserve(walk.reach(latency_.gl1), work_.gl1 * count(miss.sectors));
    u64 back = walk.back(latency_.gl1);
    Sectors held = gl1.cache.use(miss.line) & miss.sectors;
    Arrivals::Pending pending = gl1.arrivals.pending(miss.line, held, back);
    walk.found(held, std::max(back, pending.until), Level::gl1);
    count_sectors(counts.gl1, held, walk.missing);
    if (Sectors missing = walk.missing) {
        visit_l2(walk);
        gl1.cache.fill(miss.line, missing);
        gl1.arrivals.expect(miss.line, missing, walk.answer);
    }
}

void MemoryLevels::visit_l2(Walk &walk) {
    const Miss &miss = walk.miss;
    L2Channel &channel = l2_channels_[l2_map_.of(miss.line)];
    walk.delay += channel.port.reserve(walk.reach(latency_.l2), work_.l2 * count(walk.missing));
    u64 back = walk.back(latency_.l2);
    Sectors asked = walk.missing, held = l2_.use(miss.line) & asked;
    Arrivals::Pending pending = l2_arrivals_.pending(miss.line, held, back);
    walk.found(held, std::max(back, pending.until), Level::l2);
    count_sectors(counts.l2, held, walk.missing);
    if (Sectors missing = walk.missing) {
        visit_memory(walk, channel);
        Cache::Evicted evicted = l2_.fill(miss.line, missing, 0, age_in_l2(miss.policy));
        leave_l2(evicted, walk.reach(latency_.l2));
        l2_arrivals_.expect(miss.line, missing, walk.answer);
    }
}

void MemoryLevels::visit_memory(Walk &walk, L2Channel &channel) {
    const Miss &miss = walk.miss;
    u32 sectors = count(walk.missing);
    u64 at = walk.reach(latency_.l2);
    walk.delay += channel.misses.enter(at, sectors) - at;
    DramChannel &home = dram_channels_[dram_map_.of(miss.line)];
    if (mall_.exists()) {
        walk.delay += home.mall.reserve(walk.reach(latency_.mall), work_.mall * sectors);
        Sectors held = mall_.use(miss.line) & walk.missing;
        walk.found(held, walk.back(latency_.mall), Level::mall);
        count_sectors(counts.mall, held, walk.missing);
    }
    if (Sectors missing = walk.missing) {
        u32 work = work_.dram * count(missing);
        walk.delay += home.dram.reserve(walk.reach(latency_.dram), work);
        // The whole burst must have arrived.
        walk.found(missing, walk.back(latency_.dram) + work - work_.dram, Level::dram);
        counts.dram_read += count(missing) * sector_bytes;
        if (mall_.exists() && kept_in_mall(miss.policy)) {
            Cache::Evicted evicted = mall_.fill(miss.line, missing);
            leave_mall(evicted, walk.reach(latency_.dram));
        }
    }
    channel.misses.leave(walk.answer, sectors);
}

// L2 evicts to MALL, MALL to DRAM; the line occupies an entry of its channel's queue until it's
// there. Returns how long it waited for the entry.
u64 MemoryLevels::leave_l2(const Cache::Evicted &evicted, u64 at) {
    if (!evicted.dirty)
        return 0;
    Queue &queue = l2_channels_[l2_map_.of(evicted.line)].misses;
    u32 sectors = count(evicted.dirty);
    u64 entry = queue.enter(at, sectors), there = entry;
    counts.l2_write += sectors * sector_bytes;
    if (mall_.exists()) {
        DramChannel &home = dram_channels_[dram_map_.of(evicted.line)];
        u32 work = work_.mall * sectors;
        there += work + home.mall.reserve(entry, work);
        mall_.use(evicted.line);
        there += leave_mall(mall_.fill(evicted.line, evicted.dirty, evicted.dirty), there);
    } else {
        there += leave_mall(evicted, there);
    }
    queue.leave(there, sectors);
    return entry - at;
}

// Returns the time it takes.
u64 MemoryLevels::leave_mall(const Cache::Evicted &evicted, u64 at) {
    if (!evicted.dirty)
        return 0;
    DramChannel &home = dram_channels_[dram_map_.of(evicted.line)];
    u32 work = work_.dram * count(evicted.dirty);
    counts.dram_write += count(evicted.dirty) * sector_bytes;
    return work + home.dram.reserve(at, work);
}

// L2 merges written bytes with the line: nothing is fetched. Returns how long the line waited for
// room.
u64 MemoryLevels::write_l2(const Miss &miss, u64 at) {
    if (!gl1_.empty())
        gl1_[miss.array].cache.drop(miss.line);
    l2_.use(miss.line);
    Cache::Evicted evicted =
        l2_.fill(miss.line, miss.sectors, miss.sectors, age_in_l2(miss.policy));
    return leave_l2(evicted, at);
}

u64 MemoryLevels::store(const Miss &miss) {
    u64 at_l2 = miss.at + latency_.store / 2;
    Port &port = l2_channels_[l2_map_.of(miss.line)].port;
    u64 delay = port.reserve(at_l2, work_.l2 * count(miss.sectors));
    delay += write_l2(miss, at_l2 + delay);
    return miss.at + latency_.store + delay;
}

MemoryLevels::Arrival MemoryLevels::atomic(const Miss &miss, u32 lanes) {
    Walk walk{miss, miss.sectors};
    visit_l2(walk);
    Port &port = l2_channels_[l2_map_.of(miss.line)].port;
    u64 at_l2 = walk.reach(latency_.l2);
    u64 delay = port.reserve(at_l2, work_.atomic * lanes);
    delay += write_l2(miss, at_l2 + delay);
    return {walk.answer + latency_.atomic + delay, walk.level};
}

// ---- requests of skipped instructions -----------------------------------------------------------

void MemoryLevels::touch(const Miss &miss, VectorRequest::Kind kind) {
    if (kind == VectorRequest::Kind::store)
        return touch_write(miss);
    Sectors missing = miss.sectors;
    if (!gl1_.empty() && kind == VectorRequest::Kind::load && kept_above_l2(miss.policy)) {
        Cache &gl1 = gl1_[miss.array].cache;
        const Sectors held = gl1.use(miss.line) & missing;
        missing &= ~held;
        count_sectors(counts.gl1, held, missing);
        if (!missing)
            return;
        gl1.fill(miss.line, missing);
    }
    const Sectors held = l2_.use(miss.line) & missing;
    missing &= ~held;
    count_sectors(counts.l2, held, missing);
    if (missing)
        touch_memory(miss, missing);
    if (kind != VectorRequest::Kind::load) // an atomic
        touch_write(miss);
}

void MemoryLevels::touch_memory(const Miss &miss, Sectors missing) {
    Sectors beyond = missing;
    if (mall_.exists()) {
        const Sectors held = mall_.use(miss.line) & missing;
        beyond &= ~held;
        count_sectors(counts.mall, held, beyond);
        if (beyond && kept_in_mall(miss.policy))
            counts.dram_write += count(mall_.fill(miss.line, beyond).dirty) * sector_bytes;
    }
    counts.dram_read += count(beyond) * sector_bytes;
    touch_evicted(l2_.fill(miss.line, missing, 0, age_in_l2(miss.policy)));
}

void MemoryLevels::touch_write(const Miss &miss) {
    if (!gl1_.empty())
        gl1_[miss.array].cache.drop(miss.line);
    l2_.use(miss.line);
    touch_evicted(l2_.fill(miss.line, miss.sectors, miss.sectors, age_in_l2(miss.policy)));
}

void MemoryLevels::touch_evicted(Cache::Evicted evicted) { // from L2
    counts.l2_write += count(evicted.dirty) * sector_bytes;
    if (evicted.dirty && mall_.exists()) {
        mall_.use(evicted.line);
        evicted = mall_.fill(evicted.line, evicted.dirty, evicted.dirty);
    }
    counts.dram_write += count(evicted.dirty) * sector_bytes;
}

void MemoryLevels::start_kernel() {
    for (Gl1 &gl1 : gl1_)
        gl1.cache.clear();
    counts = {};
}

void MemoryLevels::warm_l2(u64 line, Sectors sectors) {
    l2_.use(line); // fill() adds to the line that was used last
    l2_.fill(line, sectors);
}

void MemoryLevels::forget() {
    l2_.clear();
    mall_.clear();
}

} // namespace nw::sim::timing
