// SPDX-License-Identifier: MIT
#include "sim/timing/lds_banks.h"

#include <algorithm>

#include "sim/func/access.h"

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

// Maximum number of different dwords that these lanes access in one bank.
u32 phases_of(const u64 *at, u32 active, u32 bytes, bool serial) {
    u32 count[banks] = {};
    u64 seen[lanes * 4];
    u32 seen_count = 0;
    u32 most = 0;
    for (u32 rest = active; rest; rest &= rest - 1) {
        const u32 lane = static_cast<u32>(__builtin_ctz(rest));
        const u64 first = at[lane] / 4, last = (at[lane] + bytes - 1) / 4;
        for (u64 dword = first; dword <= last && seen_count < lanes * 4; ++dword) {
            if (!serial && std::find(seen, seen + seen_count, dword) != seen + seen_count)
                continue;
            seen[seen_count++] = dword;
            most = std::max(most, ++count[dword % banks]);
        }
    }
    return most;
}

} // namespace

LdsPhases lds_phases(const u64 *at, u32 active, u32 bytes, bool gfx12, bool serial) {
    if (!active)
        return {};
    const auto groups = groups_of(bytes, gfx12);
    const bool regular = bytes == 4 || bytes == 8 || bytes == 16;
    if (active == ~0u && regular && in_a_row(at, bytes) && at[0] % bytes == 0)
        return {static_cast<u32>(groups.size()), 0};
    LdsPhases out;
    for (u32 group : groups)
        if (group & active) {
            const u32 phases = phases_of(at, group & active, bytes, serial);
            out += {phases, phases - 1};
        }
    return out;
}

} // namespace nw::sim::timing
