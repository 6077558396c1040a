// SPDX-License-Identifier: MIT
// Reports of the race check.
#include <fmt/format.h>

#include "sim/check/race.h"
#include "sim/func/launch/launch.h"
#include "sim/func/launch/report.h"

namespace nw::sim {

namespace {

const char *verb(Touch touch, bool past) {
    switch (touch) {
    case Touch::read:
        return past ? "read" : "reads";
    case Touch::write:
        return past ? "wrote" : "writes";
    default:
        return past ? "updated atomically" : "updates atomically";
    }
}

std::string place(u64 address, bool lds) {
    return lds ? fmt::format("LDS byte {}", address) : fmt::format("byte 0x{:x}", address);
}

Report details(const Wave &w, u64 address, bool lds, int lane, const char *rule) {
    Report r;
    r.check = "race";
    r.rule = rule;
    r.lane = lane;
    r.space = lds ? "lds" : "global";
    r.address = address;
    if (!lds) {
        r.allocation = describe_allocation(w.context->memory, address);
        r.maker = origin_of(w.context->memory, address).maker;
    }
    return r;
}

} // namespace

void RaceCheck::report(const Half &h, u64 address, const ShadowAccess &older) {
    const u32 group_waves = static_cast<u32>(waves_.size());
    const bool same_group = older.wave - first_ < group_waves, gfx12 = h.w.mode.gfx12;
    const Progress p = h.me.knows.of(older.wave, false);
    const char *rule = "unordered";
    std::string missing;
    if (older.clock <= p.clock && !ordered(h, older, false)) {
        rule = "not_waited";
        missing = fmt::format("that store was not waited for before the {} between them; put {} "
                              "before it",
                              same_group ? "barrier or atomic" : "atomic",
                              older.scalar ? "s_dcache_wb and s_waitcnt lgkmcnt(0)"
                              : older.dma  ? "s_waitcnt vmcnt(0)"
                              : h.lds      ? gfx12 ? "s_wait_dscnt 0" : "s_waitcnt lgkmcnt(0)"
                              : gfx12      ? "s_wait_storecnt 0"
                                           : "s_waitcnt_vscnt null, 0");
    } else if (ordered(h, older, false)) {
        rule = "stale_cache";
    } else {
        missing = same_group ? "no barrier and no atomic orders the two; put a barrier between them"
                             : "workgroups run in any order; order the two with atomics, or make "
                               "them two launches";
    }
    if (std::string_view(rule) == "stale_cache")
        missing =
            fmt::format("the load may hit a stale cache line; put {} between the atomic and it",
                        gfx12 ? "global_inv scope:SCOPE_DEV" : "buffer_gl1_inv and buffer_gl0_inv");
    int lane = 0;
    for_lanes(h.places.active, [&](unsigned l) {
        if (address - h.places.at[l] < h.size)
            lane = static_cast<int>(l + h.half * row_lanes);
    });
    const Dim3 &grid = h.w.context->dispatch.grid;
    const u64 group = older.wave / group_waves;
    const Dim3 id{static_cast<u32>(group % grid.x), static_cast<u32>(group / grid.x % grid.y),
                  static_cast<u32>(group / grid.x / grid.y)};
    Report r = details(h.w, address, h.lds, lane, rule);
    r.other = site_of(*h.w.context, older.inst, id, older.wave % group_waves);
    std::string who = same_group ? fmt::format("wave {}", r.other->wave)
                                 : fmt::format("wave {} of workgroup ({}, {}, {})", r.other->wave,
                                               id.x, id.y, id.z);
    std::string text = fmt::format("race: lane {} of wave {} {} {}, which {} {} at {}: {}", lane,
                                   h.w.number, verb(h.access.touch, false), place(address, h.lds),
                                   who, verb(older.touch, true), text_of(*r.other), missing);
    if (!h.lds)
        text += "; " + r.allocation;
    finding(h.w, h.i, text, std::move(r));
}

void RaceCheck::report_own(const Half &h, u64 address, const ShadowAccess &older,
                           const char *wait) const {
    Report r = details(h.w, address, h.lds, static_cast<int>(h.half * row_lanes), "own_access");
    r.other = site_of(*h.w.context, older.inst, h.w.group->id, h.w.number);
    const std::string text = fmt::format(
        "race: wave {} {} {}, which it {} at {}: nothing says that this is done; put {} between",
        h.w.number, verb(h.access.touch, false), place(address, h.lds), verb(older.touch, true),
        text_of(*r.other), wait);
    finding(h.w, h.i, text, std::move(r));
}

void RaceCheck::report_lanes(const Half &h, u64 address, unsigned a, unsigned b) {
    int first = static_cast<int>(a + h.half * row_lanes);
    finding(
        h.w, h.i,
        fmt::format("race: lanes {} and {} of one store write different values to {}: which one "
                    "stays is not defined",
                    first, b + h.half * row_lanes, place(address, h.lds)),
        details(h.w, address, h.lds, first, "lanes"));
}

} // namespace nw::sim
