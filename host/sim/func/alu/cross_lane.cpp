// SPDX-License-Identifier: MIT
// DS instructions that move data between lanes without touching LDS (5.12 to 5.14).
#include "sim/func/memory/access.h"

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
    for (unsigned half = 0; half < w.halves; ++half) {
        u32 *d = w.row(reg, half), exec = w.exec(half);
        for (unsigned l = 0; l < row_lanes; ++l)
            d[l] = exec >> l & 1 ? r.lane[l + row_lanes * half] : d[l];
    }
}

// Number of lanes that an address can select: gfx11 stays within the half.
unsigned nameable(const Wave &w) { return w.mode.gfx12 && w.halves == 2 ? 63 : 31; }
unsigned named_lane(unsigned nameable, u32 address, unsigned own) {
    return (address >> 2 & nameable) | (own & ~nameable);
}

} // namespace

void run_ds_bpermute(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    Lanes address = read(w, a.address.at), data = read(w, a.data), r;
    const u64 readable = i.flag ? ~u64{0} : w.exec_mask(); // flag: the _fi form
    const unsigned lanes = nameable(w);
    for (unsigned l = 0; l < row_lanes * w.halves; ++l) {
        unsigned from = named_lane(lanes, address.lane[l] + static_cast<u32>(a.offset), l);
        r.lane[l] = data.lane[from] & (0u - static_cast<u32>(readable >> from & 1));
    }
    write(w, a.result, r);
}

void run_ds_permute(Wave &w, const Inst &i) {
    const MemoryAccess &a = *i.access;
    Lanes address = read(w, a.address.at), data = read(w, a.data), r{};
    const u64 exec = w.exec_mask();
    const unsigned lanes = nameable(w);
    for (unsigned l = 0; l < row_lanes * w.halves; ++l) // ascending: the highest source wins
        if (exec >> l & 1)
            r.lane[named_lane(lanes, address.lane[l] + static_cast<u32>(a.offset), l)] =
                data.lane[l];
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
