// SPDX-License-Identifier: MIT
#include "sim/timing/core/lds_banks.h"

#include <algorithm>
#include <functional>
#include <thread>

#include "sim/func/memory/access.h"

namespace nw::sim::timing {

namespace {

constexpr u32 banks = 32; // of a compute unit's half, four bytes each (T-052)
constexpr u32 lanes = 32;

// Lanes served together, as masks: b64 in halves, b128 in eighths, which differ between gfx11 and
// gfx12.
constexpr u32 whole[] = {0xffffffff};
constexpr u32 halves[] = {0x0000ffff, 0xffff0000};
constexpr u32 gfx11_quarters[] = {0x00f0000f, 0x000f00f0, 0xf0000f00, 0x0f00f000};
constexpr u32 gfx12_quarters[] = {0x000000ff, 0x0000ff00, 0x00ff0000, 0xff000000};

std::span<const u32> groups_of(u32 bytes, bool gfx12) {
    if (bytes <= 4)
        return whole;
    if (bytes <= 8)
        return halves;
    return gfx12 ? gfx12_quarters : gfx11_quarters;
}

using Pattern = LdsMemo::Pattern;

Pattern pattern_of(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial) {
    Pattern p{{}, active, bytes, gfx12, serial};
    const u64 base = at[__builtin_ctz(active)] & ~u64{3};
    for (u32 l = 0; l < lanes; ++l)
        p.at[l] = active >> l & 1 ? static_cast<u32>(at[l] - base) : 0;
    return p;
}

u32 hash(const Pattern &p) {
    u32 sum = p.active + p.bytes * 5 + p.serial * 3 + p.gfx12;
    for (u32 l = 0; l < lanes; ++l)
        sum += p.at[l] * (2 * l * l + 1);
    return sum * 0x9e3779b1 >> 16;
}

// Maximum number of different dwords that these lanes access in one bank.
u32 phases_of(const Pattern &p, u32 active) {
    u32 count[banks] = {}, most = 0;
    u32 seen[banks][lanes]; // each lane accesses a bank once: it has less than 128 bytes
    for (u32 rest = active; rest; rest &= rest - 1) {
        const u32 at = p.at[__builtin_ctz(rest)], dwords = (at % 4 + p.bytes + 3) / 4;
        for (u32 dword = at / 4; dword != at / 4 + dwords; ++dword) {
            u32 &n = count[dword % banks], *const of_bank = seen[dword % banks];
            if (!p.serial && std::find(of_bank, of_bank + n, dword) != of_bank + n)
                continue;
            of_bank[n++] = dword;
            most = std::max(most, n);
        }
    }
    return most;
}

LdsPhases phases_of(const Pattern &p) {
    LdsPhases out;
    for (u32 group : groups_of(p.bytes, p.gfx12))
        if (group & p.active) {
            const u32 phases = phases_of(p, group & p.active);
            out += {phases, phases - 1};
        }
    return out;
}

bool is_regular(const u64 *at, u32 active, u32 bytes) {
    return active == ~0u && (bytes == 4 || bytes == 8 || bytes == 16) && in_a_row(at, bytes) &&
           at[0] % bytes == 0;
}

} // namespace

LdsPhases lds_phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial) {
    if (!active)
        return {};
    if (is_regular(at, active, bytes))
        return {static_cast<u32>(groups_of(bytes, gfx12).size()), 0};
    return phases_of(pattern_of(at, active, bytes, gfx12, serial));
}

LdsPhases LdsMemo::phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial) {
    if (!active || is_regular(at, active, bytes))
        return lds_phases(at, active, bytes, gfx12, serial);
    const Pattern p = pattern_of(at, active, bytes, gfx12, serial);
    const u32 key = hash(p);
    Shard &shard =
        shards_[std::hash<std::thread::id>()(std::this_thread::get_id()) % shards_.size()];
    if (shard.busy.test_and_set(std::memory_order_acquire))
        return phases_of(p);
    Entry &entry = shard.entries[key % std::size(shard.entries)];
    if (entry.pattern != p)
        entry = {p, phases_of(p)};
    const LdsPhases phases = entry.phases;
    shard.busy.clear(std::memory_order_release);
    return phases;
}

} // namespace nw::sim::timing
