// SPDX-License-Identifier: MIT
// Instructions that move values between lanes, and VOPD: cases with a text of their own.
#include "isa/random/dual.h"
#include "isa/random/lanes.h"
#include "isa/random/levels.h"

namespace nw::oracle {

namespace {

// The first few waves with all, no and single lanes active.
Batch lane_batch(const std::string &text, u32 form, const Options &options) {
    Batch b{32, {}, {}, {}, 1};
    Random random(options.seed ^ std::hash<std::string>{}(text));
    unsigned waves = std::max(options.waves / 8, 8u);
    for (unsigned w = 0; w < waves; ++w) {
        b.halves.push_back(
            {0x3f0, form, static_cast<u32>(random()), some_exec(w, random), 0, 0, 0});
        for (unsigned l = 0; l < 32; ++l)
            b.in.push_back({low(32, random()), low(32, random()), low(32, random()), random()});
    }
    b.out.resize(b.in.size());
    return b;
}

bool check_lane_case(const LaneCase &c, const Place &p, const Batch &b) {
    for (size_t w = 0; w < b.halves.size(); ++w) {
        WaveState state{{}, {}, {}, {}, b.halves[w].exec};
        const LaneIn *in = &b.in[w * 32];
        for (size_t l = 0; l < 32; ++l) {
            state.a[l] = static_cast<u32>(in[l].a);
            state.b[l] = static_cast<u32>(in[l].b);
            state.c[l] = static_cast<u32>(in[l].c);
            state.old[l] = static_cast<u32>(in[l].d);
        }
        Lanes want = c.result(state);
        for (size_t l = 0; l < 32; ++l) {
            u32 got = b.out[w * 32 + l].d[0];
            if (got == want[l])
                continue;
            fmt::print(
                "{} {} {}: EXEC {:#x}, wave {}, lane {}: got {:#x}, want {:#x} (seed {:#x})\n",
                p.gfx, sim::name_of(p.level), c.text, state.exec, w, l, got, want[l],
                p.options.seed);
            return false;
        }
    }
    return true;
}

// Operands of VOPD under MODEs that matter to either half.
Batch dual_batch(const DualCase &c, u32 form, const std::string &gfx, const Options &options) {
    Batch b{32, {}, {}, {}, 0};
    Random random(options.seed ^ std::hash<std::string>{}(c.text));
    const Row &either = c.x.row->d == T::s32 ? *c.x.row : *c.y.row;
    const std::vector<u32> all = modes(either, gfx.starts_with("gfx12"), random);
    const unsigned waves = std::max(options.waves / 16, 8u);
    b.modes = std::min<u64>(all.size(), waves);
    for (unsigned w = 0; w < waves; ++w) {
        u32 exec = w % 2 ? some_exec(w / 2, random) : ~0u, vcc = static_cast<u32>(random());
        b.halves.push_back({all[w % all.size()], form, vcc, exec, 0, 0, random()});
        for (unsigned l = 0; l < 32; ++l)
            b.in.push_back(dual_operands(c, random));
    }
    b.out.resize(b.in.size());
    return b;
}

bool check_dual_case(const DualCase &c, const Place &p, const Batch &b) {
    for (size_t n = 0; n < b.in.size(); ++n) {
        const WaveIn &w = b.halves[n / 32];
        const unsigned lane = n % 32;
        const auto [x, y] = dual_result(c, b.in[n], w, lane, p.gfx.starts_with("gfx12"));
        const LaneOut &out = b.out[n];
        const u64 got = out.d[0] | u64{out.d[1]} << 32;
        const u64 want = w.exec >> lane & 1 ? x.d | y.d << 32 : b.in[n].d;
        if (got == want || (w.exec >> lane & 1 && x.same(out.d[0]) && y.same(out.d[1])))
            continue;
        const LaneIn &in = b.in[n];
        fmt::print("{} {} {}: MODE {:#x} lane {} exec {:#x} vcc {:#x} s38 {:#x} v3:2 {:#x} v5:4 "
                   "{:#x} v9:8 {:#x}: got {:#x}, want {:#x} (seed {:#x})\n",
                   p.gfx, sim::name_of(p.level), c.text, w.mode, lane, w.exec, w.vcc,
                   low(32, w.scalar), in.a, in.b, in.d, got, want, p.options.seed);
        return false;
    }
    return true;
}

// Cases that have a text of their own, many of them in a kernel.
template <class Case, class MakeBatch, class Good>
Totals check_cases(std::vector<Case> all, Body body, const std::string &gfx, const Options &options,
                   MakeBatch make_batch, Good good) {
    constexpr size_t forms_of_a_kernel = 32;
    Totals totals;
    std::vector<Case> cases;
    std::vector<KernelSource> sources;
    for (Case &c : all) {
        if (c.text.find(options.only) == std::string::npos)
            continue;
        if (cases.size() % forms_of_a_kernel == 0)
            sources.push_back({fmt::format("k{}", sources.size()), body, {}});
        sources.back().forms.push_back(c.text);
        cases.push_back(std::move(c));
    }
    if (cases.empty())
        return totals;
    const Accepted accepted = accept(sources, gfx, 32);
    const auto program = sim::Program::load(accepted.code, gfx);
    for (size_t n = 0; n < cases.size(); ++n) {
        const Case &c = cases[n];
        const size_t kernel = n / forms_of_a_kernel, form = n % forms_of_a_kernel;
        if (accepted.refused[kernel].contains(static_cast<u32>(form))) {
            ++totals.refused;
            if (options.show_refused)
                fmt::print("{} {}: LLVM refuses it\n", gfx, c.text);
            continue;
        }
        Batch b = make_batch(c, static_cast<u32>(form));
        if (!run_everywhere(*program, sources[kernel].name, Place{gfx, c.text, {}, options}, b,
                            [&](const Place &p) { return good(c, p, b); }))
            totals.failed.insert(c.name());
        totals.instructions.insert(c.name());
        ++totals.forms;
        totals.modes += b.modes;
        totals.lanes += b.in.size();
    }
    return totals;
}

} // namespace

Totals check_lanes(const std::string &gfx, const Options &options) {
    return check_cases(
        lane_cases(gfx), Body::lanes, gfx, options,
        [&](const LaneCase &c, u32 form) { return lane_batch(c.text, form, options); },
        check_lane_case);
}

Totals check_dual(const std::string &gfx, const Options &options) {
    return check_cases(
        dual_cases(gfx), Body::vector, gfx, options,
        [&](const DualCase &c, u32 form) { return dual_batch(c, form, gfx, options); },
        check_dual_case);
}

} // namespace nw::oracle
