// SPDX-License-Identifier: MIT
// The race check's accesses: the bytes, their last accesses, and whether these are ordered before.
#include <algorithm>

#include "sim/check/global_lanes.h"
#include "sim/check/race.h"
#include "sim/func/alu/frames.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/buffer_access.h"
#include "sim/func/memory/image_access.h"
#include "sim/func/memory/lane_memory.h"

namespace nw::sim {

namespace {

constexpr u64 block_mask = ~u64{shadow_bytes - 1};
constexpr unsigned flag_bytes = 8; // the widest store that counts as a flag

// Splits [address, address + size) at block boundaries.
template <class F> void for_blocks(u64 address, u64 size, F f) {
    while (size) {
        auto offset = static_cast<unsigned>(address & ~block_mask);
        auto here = static_cast<unsigned>(std::min<u64>(size, shadow_bytes - offset));
        f(address & block_mask, ByteMask::span(offset, here));
        address += here;
        size -= here;
    }
}

bool all_equal(const Places &p) {
    u64 off = 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        off |= p.at[l] ^ p.at[0];
    return off == 0 && p.active == ~0u;
}

Touch touch_of(const MemoryOp &op) {
    return op.loads() ? Touch::read : op.updates() ? Touch::atomic : Touch::write;
}

} // namespace

// ---- from an instruction to byte masks ----------------------------------------------------------

void RaceCheck::memory(Wave &w, const Inst &i, State &me, const RaceFacts::Entry &e) {
    const Frames &f = frames();
    me.lds_issued += e.on_lds;
    me.global_issued += e.on_store;
    me.loads_issued += e.on_load;
    if (e.guess || !i.access) // or it can't be run
        return;
    const MemoryAccess &a = *i.access;
    if (a.space == Space::scratch || a.exchanges_lanes)
        return;
    Places p;
    for (unsigned half = 0; half < w.halves; ++half)
        for (unsigned part = 0; part < a.parts; ++part) {
            p.lds = 0;
            f.places(w, i, half, part, p);
            if (!p.active)
                continue;
            Half h{w, i, me, p, half, p.bytes, part, {}};
            const bool value = a.between_lds && part == 1;
            h.access = {
                {}, me.number, me.clock, 0, i.index, 0, value ? Touch::read : touch_of(a.op)};
            if (u32 shared = p.lds & p.active) {
                h.lds = true;
                h.base = reinterpret_cast<u64>(w.group->lds.data());
                for_lanes(shared, [&](unsigned l) { p.at[l] -= h.base; });
                h.synchronizes = h.cached = false;
                h.access.serial = e.on_lds && !a.returns ? me.lds_issued : 0;
                touch_lanes(h, shared);
            }
            if (u32 global = global_lanes(w, a, p)) {
                h.lds = false;
                h.base = 0;
                h.synchronizes = e.synchronizes && h.size <= flag_bytes;
                h.cached = a.op.loads() && !e.synchronizes;
                h.access.serial = e.on_store ? me.global_issued : 0;
                touch_lanes(h, global);
            }
        }
    if (e.dma)
        dma_to_lds(w, i, me);
}

// Bytes of LDS that a load from memory writes.
void RaceCheck::dma_to_lds(Wave &w, const Inst &i, State &me) {
    Places p;
    for (unsigned half = 0; half < w.halves; ++half) {
        p.active = 0;
        for_lanes(w.exec(half), [&](unsigned l) {
            p.at[l] = load_to_lds_offset(w, i, l + row_lanes * half);
            if (p.at[l] + 4 <= w.group->lds.size()) // else the load faults
                p.active |= 1u << l;
        });
        if (!p.active)
            continue;
        Half h{w, i, me, p, half, 4, 0, {}};
        h.lds = h.dma = true;
        h.base = reinterpret_cast<u64>(w.group->lds.data());
        h.access = {{}, me.number, me.clock, me.loads_issued, i.index, 0, Touch::write};
        h.access.dma = true;
        for_lanes(p.active, [&](unsigned l) { touch_range(h, p.at[l], 4); });
    }
}

void RaceCheck::scalar_load(Wave &w, const Inst &i, State &me) {
    const ScalarPlace place = scalar_load_place(w, i);
    Places p;
    p.at[0] = place.address;
    p.active = 1;
    Half h{w, i, me, p, 0, static_cast<unsigned>(place.bytes), 0, {}};
    h.access = {{}, me.number, me.clock, ++me.scalar_loads, i.index, 0, Touch::read};
    h.access.scalar_load = true;
    for (u64 at = 0; at < place.bytes;) { // the bytes in bounds, run by run
        u64 end = at;
        while (end < place.bytes && !(place.missing >> end & 1))
            ++end;
        if (end > at)
            touch_range(h, place.address + at, end - at);
        at = end + 1;
    }
}

void RaceCheck::scalar_write(Wave &w, const Inst &i, State &me) {
    const ScalarPlace place = scalar_load_place(w, i);
    if (place.bytes == 0)
        return;
    Places p;
    p.at[0] = place.address;
    p.active = 1;
    Half h{w, i, me, p, 0, static_cast<unsigned>(place.bytes), 0, {}};
    h.access = {{}, me.number, me.clock, 0, i.index, 0, touch_of(i.access->op)};
    if (i.access->op.updates()) // in L2
        return touch_each(h, 1);
    h.access.serial = ++me.scalar_issued;
    h.access.scalar = true;
    touch_range(h, place.address, place.bytes);
}

void RaceCheck::touch_lanes(Half &h, u32 lanes) {
    const Places &p = h.places;
    Touch &kind = h.access.touch;
    SyncLocations &locations = h.lds ? lds_locations_ : shared_->locations;
    const bool flag = h.synchronizes || (kind == Touch::write && !locations.empty());
    if (kind == Touch::write && !h.lds && h.size <= flag_bytes)
        h.access.news = store_news(h.me);
    if (kind == Touch::atomic || (flag && h.size <= flag_bytes))
        return touch_each(h, lanes);
    if (lanes == ~0u && in_a_row(p.at, h.size))
        return touch_range(h, p.at[0], u64{h.size} * row_lanes);
    if (kind == Touch::write)
        lanes_agree(h, lanes);
    if (lanes == ~0u && all_equal(p))
        return touch_range(h, p.at[0], h.size);
    u64 block = ~u64{0};
    ByteMask mask;
    for_lanes(lanes, [&](unsigned l) {
        for_blocks(p.at[l], h.size, [&](u64 b, ByteMask m) {
            if (b != block) {
                if (mask.any())
                    touch(h, block, mask);
                block = b;
                mask = {};
            }
            mask.add(m);
        });
    });
    touch(h, block, mask);
}

// Atomics, and loads and stores that may synchronize: each lane is a separate location.
void RaceCheck::touch_each(Half &h, u32 lanes) {
    SyncLocations &locations = h.lds ? lds_locations_ : shared_->locations;
    const Touch kind = h.access.touch;
    const bool marked = h.synchronizes;
    std::vector<u64> released;
    if (kind == Touch::write)
        lanes_agree(h, lanes);
    for_lanes(lanes, [&](unsigned l) {
        const u64 address = h.places.at[l];
        if (kind == Touch::write && (marked || is_own_flag(h, address)))
            h.access.touch = Touch::atomic;
        h.synchronizes = marked || h.access.touch == Touch::atomic;
        if (kind == Touch::read || (kind == Touch::atomic && h.i.access->returns))
            acquire(h.me, locations, address);
        touch_range(h, address, h.size);
        if (h.access.touch == Touch::atomic)
            released.push_back(address);
        h.access.touch = kind;
    });
    if (!released.empty())
        release(h.me, locations, released, kind == Touch::atomic && h.i.access->returns);
}

void RaceCheck::touch_range(Half &h, u64 address, u64 size) {
    for_blocks(address, size, [&](u64 block, ByteMask mask) { touch(h, block, mask); });
}

// ---- one block ----------------------------------------------------------------------------------

ShadowBlock &RaceCheck::block(const Half &h, u64 address) {
    return h.lds ? lds_[address / shadow_bytes] : shared_->memory.block(address);
}

bool RaceCheck::ordered(const Half &h, const ShadowAccess &older, bool cached) const {
    Progress p = h.me.knows.of(older.wave, cached);
    if (older.serial && !older.scalar_load)
        return older.serial <= (older.scalar ? p.scalar
                                : older.dma  ? p.loads
                                : h.lds      ? p.lds
                                             : p.global);
    return older.clock <= p.clock;
}

// The wait that the wave's own access lacks before this one; null: none.
const char *RaceCheck::missing_wait(const Half &h, const ShadowAccess &own) {
    const bool gfx12 = h.w.mode.gfx12, reads = h.access.touch == Touch::read;
    if (own.dma && !h.dma && own.serial > h.me.loads_done)
        return "s_waitcnt vmcnt(0)"; // gfx10
    if (own.scalar_load && !reads && !h.access.scalar && own.serial > h.me.scalar_loads_done)
        return gfx12 ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)";
    if (h.access.scalar_load && own.touch != Touch::read && !own.scalar &&
        own.serial > h.me.global_done)
        return gfx12 ? "s_wait_storecnt 0" : "s_waitcnt_vscnt null, 0";
    return nullptr;
}

// A wave that has atomically updated a location may also store to it: this releases a lock.
bool RaceCheck::is_own_flag(Half &h, u64 address) {
    ByteMask mask = ByteMask::span(static_cast<unsigned>(address & ~block_mask), 1);
    for (const ShadowAccess &a : block(h, address))
        if (a.wave == h.me.number && a.touch == Touch::atomic && (a.bytes & mask).any())
            return true;
    return false;
}

void RaceCheck::touch(Half &h, u64 address, ByteMask mask) {
    ShadowBlock &b = block(h, address);
    const Touch kind = h.access.touch;
    for (size_t n = 0; n < b.size(); ++n) {
        ShadowAccess &a = b[n];
        if (a.wave == h.me.number) {
            if (const ByteMask own = a.bytes & mask; own.any())
                if (const char *wait = missing_wait(h, a))
                    report_own(h, address + own.first(), a, wait);
            if (a.touch == kind && kind == Touch::read && a.clock == h.me.clock &&
                !h.access.scalar_load && a.bytes.covers(mask))
                return; // covered by the earlier access
            continue;
        }
        if (a.touch == kind && kind != Touch::write)
            continue;
        ByteMask both = a.bytes & mask;
        if (!both.any())
            continue;
        if (!ordered(h, a, h.cached))
            conflict(h, address, both, a);
        else if (kind == Touch::write)
            a.bytes.remove(mask); // ordered before this one, which supersedes it for later accesses
    }
    if (kind == Touch::read && h.synchronizes)
        return; // a later write of the flag doesn't race with its readers
    h.access.bytes = mask;
    record(b, h.access, h.lds);
}

void RaceCheck::record(ShadowBlock &b, ShadowAccess access, bool lds) {
    constexpr size_t most = 32, most_lds = 96;             // entries of a block
    const bool may_replace = access.touch == Touch::write; // removed by touch()
    for (size_t n = 0; n < b.size();) {
        ShadowAccess &a = b[n];
        if (a.wave != access.wave && !may_replace) {
            ++n;
            continue;
        }
        const bool atomics = a.touch == Touch::atomic && access.touch == Touch::atomic;
        const bool plain = a.touch != Touch::atomic &&
                           (access.touch == Touch::write ||
                            (a.touch == access.touch && a.scalar_load <= access.scalar_load));
        if (a.wave == access.wave && (atomics || plain))
            a.bytes.remove(access.bytes);
        if (a.bytes.any()) {
            ++n;
        } else {
            a = b.back();
            b.pop_back();
        }
    }
    if (b.size() >= (lds ? most_lds : most)) {
        auto oldest = std::find_if(b.begin(), b.end(),
                                   [](const ShadowAccess &a) { return a.touch == Touch::read; });
        b.erase(oldest == b.end() ? b.begin() : oldest);
    }
    b.push_back(access);
}

// Unordered accesses: a race, unless one is a flag that the other synchronizes with, or both store
// the same value.
void RaceCheck::conflict(Half &h, u64 address, ByteMask both, const ShadowAccess &older) {
    const Touch kind = h.access.touch;
    if (h.synchronizes && kind == Touch::read) {
        if (older.touch == Touch::atomic)
            return;
        if (older.touch == Touch::write && older.news) {
            const News news = shared_->news[older.news - 1];
            take(h.me, *news);
            h.me.caches = 0;
            return;
        }
    }
    if (kind == Touch::write && older.touch == Touch::write && !h.dma &&
        same_value(h, address, both))
        return;
    report(h, address + both.first(), older);
}

// ---- values -------------------------------------------------------------------------------------

namespace {

// Byte `n` of the value that a lane stores.
u8 stored_byte(Wave &w, const Inst &i, unsigned half, unsigned lane, unsigned part, unsigned n) {
    const MemoryAccess &a = *i.access;
    if (i.cls == Class::smem)
        return static_cast<u8>(w.s[i.dst + n / 4] >> 8 * (n % 4));
    if (a.between_lds) {
        Places from;
        a.find_places(w, i, half, 1, from);
        return reinterpret_cast<const u8 *>(from.at[lane])[n];
    }
    if (a.image)
        return static_cast<u8>(stored_texel(w, i, half, lane).dword[n / 4] >> 8 * (n % 4));
    if (a.op.components)
        return static_cast<u8>(stored_element(w, i, half, lane).dword[n / 4] >> 8 * (n % 4));
    unsigned reg = a.part_data(part) + n / 4;
    unsigned shift = 8 * (n % 4) + (a.op.extend == Extend::high_zero ? 16 : 0);
    return static_cast<u8>(w.v[half * vgpr_count + reg].lane[lane] >> shift);
}

} // namespace

// True if the bytes already hold the value of this store.
bool RaceCheck::same_value(Half &h, u64 block, ByteMask bytes) const {
    bool same = true;
    for_lanes(h.places.active, [&](unsigned l) {
        for (unsigned n = 0; n < h.size; ++n) {
            u64 at = h.places.at[l] + n;
            if ((at & block_mask) != block ||
                !(bytes & ByteMask::span(static_cast<unsigned>(at & ~block_mask), 1)).any())
                continue;
            same &= *reinterpret_cast<const u8 *>(h.base + at) ==
                    stored_byte(h.w, h.i, h.half, l, h.part, n);
        }
    });
    return same;
}

void RaceCheck::lanes_agree(Half &h, u32 lanes) {
    const u64 *at = h.places.at;
    u64 end = 0;
    bool ascending = true;
    for_lanes(lanes, [&](unsigned l) {
        ascending &= at[l] >= end;
        end = at[l] + h.size;
    });
    if (ascending)
        return;
    for_lanes(lanes, [&](unsigned a) {
        for_lanes(lanes & ~((2u << a) - 1), [&](unsigned b) {
            if (at[a] + h.size <= at[b] || at[b] + h.size <= at[a])
                return;
            for (u64 x = std::max(at[a], at[b]); x < std::min(at[a], at[b]) + h.size; ++x)
                if (stored_byte(h.w, h.i, h.half, a, h.part, static_cast<unsigned>(x - at[a])) !=
                    stored_byte(h.w, h.i, h.half, b, h.part, static_cast<unsigned>(x - at[b])))
                    report_lanes(h, x, a, b);
        });
    });
}

} // namespace nw::sim
