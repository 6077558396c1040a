// SPDX-License-Identifier: MIT
// DS instructions that move data between lanes without touching LDS (5.12 to 5.14).
#include "sim/func/access.h"

namespace nw::sim {

namespace {

struct Lanes {
    u32 lane[64];
};

Lanes read(Wave &w, unsigned reg) {
    Lanes r;
    for (unsigned half = 0; half < w.halves; ++half)
        std::memcpy(r.lane + row_lanes * half, w.row(reg, half), sizeof(Row));
    return r;
}

void write(Wave &w, unsigned reg, const Lanes &r) {
    u64 exec = w.exec_mask();
    for (u64 rest = exec; rest; rest &= rest - 1) {
        auto l = static_cast<unsigned>(__builtin_ctzll(rest));
        w.row(reg, l / row_lanes)[l % row_lanes] = r.lane[l];
    }
}

// Which lane an address names: gfx11 stays within the half, gfx12 counts the whole wave.
unsigned named_lane(const Wave &w, u32 address, unsigned own) {
    unsigned lane = address >> 2;
    if (w.mode.gfx12 && w.halves == 2)
        return lane & 63;
    return (lane & 31) | (own & 32);
}

} // namespace

void run_ds_bpermute(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    Lanes address = read(w, a.address.at), data = read(w, a.data), r;
    u64 exec = w.exec_mask();
    for (unsigned l = 0; l < row_lanes * w.halves; ++l) {
        unsigned from = named_lane(w, address.lane[l] + static_cast<u32>(a.offset), l);
        bool readable = exec >> from & 1 || i.flag; // flag: the _fi form
        r.lane[l] = readable ? data.lane[from] : 0;
    }
    write(w, a.result, r);
}

void run_ds_permute(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    Lanes address = read(w, a.address.at), data = read(w, a.data), r{};
    u64 exec = w.exec_mask();
    for (unsigned l = 0; l < row_lanes * w.halves; ++l) // ascending: the highest source wins
        if (exec >> l & 1)
            r.lane[named_lane(w, address.lane[l] + static_cast<u32>(a.offset), l)] = data.lane[l];
    write(w, a.result, r);
}

void run_ds_swizzle(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    auto off = static_cast<u32>(a.offset);
    u32 m = off & 31;
    auto source = [&](u32 l) -> u32 {
        if (off >= 0xe000) { // FFT: reversed bits, shifted by the size of the mask
            u32 reversed = 0;
            for (unsigned b = 0; b < 5; ++b)
                reversed |= (l >> b & 1) << (4 - b);
            return reversed >> __builtin_popcount(m) | (l & m) | (l & 32);
        }
        if (off >= 0xc000) { // rotate
            u32 n = off >> 5 & 31, to = off & 0x400 ? l - n : l + n;
            return ((l & m) | (to & ~m & 31)) | (l & 32);
        }
        if (off & 0x8000) // quad permutation
            return (l & ~3u) | (off >> 2 * (l & 3) & 3);
        u32 and_mask = m, or_mask = off >> 5 & 31, xor_mask = off >> 10 & 31;
        return (((l & and_mask) | or_mask) ^ xor_mask) | (l & 32);
    };
    Lanes data = read(w, a.address.at), r;
    u64 exec = w.exec_mask();
    for (unsigned l = 0; l < row_lanes * w.halves; ++l) {
        unsigned from = source(l) & 63;
        r.lane[l] = exec >> from & 1 ? data.lane[from] : 0;
    }
    write(w, a.result, r);
}

} // namespace nw::sim
