// SPDX-License-Identifier: MIT
#include "sim/func/launch/dump.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/func/launch/launch.h"

namespace nw::sim {

namespace {

constexpr u32 listed_before = 4, listed_after = 3; // instructions around the fault
constexpr unsigned per_line = 8;                   // registers, lanes
constexpr unsigned user_sgprs_end = 106;           // s0 to s105, then VCC and TTMP

std::string mask(const Wave &w, unsigned reg) {
    return w.halves == 2 ? fmt::format("{:08x}_{:08x}", w.s[reg + 1], w.s[reg])
                         : fmt::format("{:08x}", w.s[reg]);
}

std::string joined(const Wave &w) {
    if (!w.joined)
        return "";
    const NamedBarrier &b = w.group->named[w.joined - 1];
    return fmt::format("; it has joined barrier {}, {} of whose {} members have signalled",
                       w.joined, b.signalled, b.members);
}

std::string state(const Wave &w) {
    const Group &g = *w.group;
    const char *now = w.state == State::barrier ? "waits at a barrier"
                      : w.state == State::ended ? "has ended"
                                                : "runs";
    return fmt::format("    EXEC {}  VCC {}  SCC {}  M0 {:08x}  MODE {:08x}\n"
                       "    LDS {} bytes, scratch {} bytes per lane, {} instructions executed\n"
                       "    the wave {}; it has waited for {} barriers, the workgroup completed "
                       "{}, {} of {} live waves have signalled the next{}\n",
                       mask(w, sreg::exec), mask(w, sreg::vcc), w.s[sreg::scc], w.s[sreg::m0],
                       w.mode.bits, g.lds.size(), w.scratch_bytes, w.executed, now, w.barriers,
                       g.phase, g.signalled, g.live(), joined(w));
}

// `per_line` to a line, poisoned registers omitted.
std::string sgprs(const Wave &w) {
    std::string text;
    unsigned written = 0;
    for (unsigned reg = 0; reg < user_sgprs_end; ++reg) {
        if (w.s[reg] == poison)
            continue;
        text += fmt::format("{}{:>5} {:08x}", written % per_line == 0 ? "   " : "",
                            fmt::format("s{}", reg), w.s[reg]);
        text += ++written % per_line == 0 ? "\n" : "";
    }
    return written % per_line ? text + "\n" : text;
}

bool is_poison(const u32 *lanes) {
    return std::all_of(lanes, lanes + row_lanes, [](u32 x) { return x == poison; });
}

// One value when all lanes agree, else a table; unwritten lanes are dots.
std::string vgpr(const Wave &w, unsigned reg, unsigned half) {
    const u32 *lanes = w.v[half * vgpr_count + reg].lane;
    std::string name = fmt::format("v{}{}", reg, w.halves == 2 ? half ? " hi" : " lo" : "");
    if (std::all_of(lanes, lanes + row_lanes, [&](u32 x) { return x == lanes[0]; }))
        return fmt::format("    {:<8} {:08x} in all lanes\n", name, lanes[0]);
    std::string text;
    for (unsigned l = 0; l < row_lanes; ++l) {
        if (l % per_line == 0)
            text += fmt::format("    {:<8}", l ? "" : name);
        text += lanes[l] == poison ? " ........" : fmt::format(" {:08x}", lanes[l]);
        text += l % per_line == per_line - 1 ? "\n" : "";
    }
    return text;
}

} // namespace

std::string listing(const Wave &w, const Inst &at) {
    const Executable &e = w.context->code;
    std::string text;
    u32 first = at.index > listed_before ? at.index - listed_before : 0;
    auto count = static_cast<u32>(e.code->instructions.size());
    for (u32 n = first; n < std::min(count, at.index + listed_after + 1); ++n) {
        const Instruction &i = e.code->instructions[n];
        text += fmt::format("    {} 0x{:x}  {}\n", n == at.index ? "->" : "  ",
                            e.code->base + i.offset, i.text.empty() ? "(undecodable)" : i.text);
    }
    return text;
}

std::string dump(const Wave &w, const Inst &at) {
    std::string text = listing(w, at) + state(w) + sgprs(w);
    for (unsigned reg = 0; reg < vgpr_count; ++reg)
        for (unsigned half = 0; half < w.halves; ++half)
            if (const u32 *lanes = w.v[half * vgpr_count + reg].lane;
                reg < w.context->vgprs && !is_poison(lanes))
                text += vgpr(w, reg, half);
    return text;
}

} // namespace nw::sim
