// SPDX-License-Identifier: MIT
// InitCheck for global memory that is watched (Memory::watch_writes): what nothing has written is
// uninitialised, as registers are. Other memory counts as initialised.
#include "sim/check/global_lanes.h"
#include "sim/check/init.h"
#include "sim/func/alu/frames.h"
#include "sim/func/launch/launch.h"
#include "sim/func/memory/written.h"

namespace nw::sim {

namespace {

// A byte of shadow for each bit.
void spread(u64 bits, u32 *words) {
    for (unsigned n = 0; n < 16; ++n)
        if (bits >> n & 1)
            words[n / 4] |= 0xffu << n % 4 * 8;
}

} // namespace

const Allocation &InitCheck::place_of(const Wave &w, u64 address) {
    const Memory &memory = w.context->memory;
    const u64 now = memory.generation();
    if (place_generation_ != now || !place_.holds(address)) {
        place_ = memory.find(address);
        place_generation_ = now;
    }
    return place_;
}

u64 InitCheck::unwritten(const Wave &w, u64 address, u64 bytes) {
    if (!w.context->memory.watches_writes() || bytes == 0)
        return 0;
    const Written *const written = place_of(w, address).written;
    const u64 missing = written ? written->missing(address, bytes) : 0;
    if (missing)
        read_unwritten_ = address + static_cast<u64>(__builtin_ctzll(missing));
    return missing;
}

// Its registers have been handled as if memory were initialised.
void InitCheck::global(const Wave &w, const Inst &i) {
    if (!i.access || !w.context->memory.watches_writes())
        return;
    const MemoryAccess &a = *i.access;
    if (a.space == Space::lds || a.space == Space::scratch || a.space == Space::image ||
        a.exchanges_lanes || a.op.elements > 4)
        return;
    Wave copy = w; // places() may only look at it
    Places p;
    for (unsigned half = 0; half < halves_; ++half)
        for (unsigned part = 0; part < a.parts; ++part) {
            p.lds = 0;
            frames().places(copy, i, half, part, p);
            for_lanes(global_lanes(w, a, p),
                      [&](unsigned l) { global_lane(w, i, half, part, l, p.at[l], p.bytes); });
        }
    for (unsigned r = 0; (a.op.loads() || a.returns) && r < a.op.registers(); ++r)
        note((a.result + r) & 255);
}

// An atomic on bytes that nothing has written leaves them so, unless it replaces them.
void InitCheck::global_lane(const Wave &w, const Inst &i, unsigned half, unsigned part,
                            unsigned lane, u64 address, unsigned bytes) {
    const MemoryAccess &a = *i.access;
    if (a.op.loads() || a.op.updates()) {
        const u64 missing = unwritten(w, address, bytes);
        if (missing && (a.op.loads() || a.returns)) {
            u32 words[4] = {};
            spread(missing, words);
            if (a.op.components) // converted
                words[0] = words[1] = words[2] = words[3] = ~0u;
            take_loaded(a.op, half, lane, (a.result + part) & 255,
                        a.op.components ? 4 * a.op.registers() : bytes, words);
        }
        if (a.op.loads() || (missing && a.op.atomic != Atomic::exchange))
            return;
    }
    write(w, address, bytes);
}

void InitCheck::write(const Wave &w, u64 address, u64 bytes) {
    if (const Allocation &place = place_of(w, address); place.written)
        place.written->add(address, bytes);
}

} // namespace nw::sim
