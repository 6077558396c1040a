// SPDX-License-Identifier: MIT
// Sources of a vector instruction as rows of lanes: fetched, permuted (DPP), modified.
#pragma once
#include "sim/func/alu/lanes.h"

namespace nw::sim::NW_LEVEL {

inline void broadcast(u32 *d, u32 value) {
    for (unsigned l = 0; l < row_lanes; ++l)
        d[l] = value;
}

// The lanes of one source: in place for a VGPR or constant, else in `room` (2 rows).
inline const u32 *fetch(Wave &w, const Source &s, unsigned half, Row *room) {
    switch (s.kind) {
    case Source::vgpr:
        return w.row(s.at, half);
    case Source::constant:
        return w.constants[s.at].lane;
    case Source::sgpr:
        broadcast(room[0].lane, w.s[s.at]);
        if (s.rows == 2)
            broadcast(room[1].lane, w.s[s.at + 1]);
        return room[0].lane;
    case Source::mask:
        break;
    }
    u32 bits = w.s[s.at + half];
    for (unsigned l = 0; l < row_lanes; ++l)
        room[0].lane[l] = bits >> l & 1 ? ~0u : 0u;
    return room[0].lane;
}

// DPP (3.12 to 3.17): permutes `x` into `out`; returns the lanes to write.
u32 read_permuted(const Dpp &, const u32 *x, u32 *out, u32 exec, unsigned half);

// src[0..2] of one half of a wave, ready for a kernel.
struct Operands {
    const u32 *src[3];
    u32 write; // lanes to write: EXEC without those that DPP disables

    void plain(Wave &w, const Inst &i, unsigned half) {
        write = w.exec(half);
        for (unsigned n = 0; n < 3; ++n)
            src[n] = fetch(w, i.src[n], half, room_[n]);
    }
    void full(Wave &w, const Inst &i, unsigned half); // with i.extra's modifiers
    void load(Wave &w, const Inst &i, unsigned half) {
        if (i.extra)
            full(w, i, half);
        else
            plain(w, i, half);
    }

private:
    Row room_[3][2];
};

// OMOD and CLAMP of i.extra, on results of i.type.
void scale_and_clamp(Row *results, const Inst &i, const Mode &m);

} // namespace nw::sim::NW_LEVEL
