// SPDX-License-Identifier: MIT
#include "isa/random/check.h"

#include <fmt/format.h>

#include "isa/random/expected.h"
#include "isa/random/levels.h"
#include "sim/func/launch/coverage.h"

namespace nw::oracle {

namespace {

struct Form {
    Variant variant;
    Amount amount;
};
struct Case {
    const Row *row;
    std::vector<Form> forms;
    KernelSource source;
};

// LLVM has it for this gfx, and the simulator doesn't list it as missing.
std::set<std::string> runnable(const std::string &gfx) {
    std::set<std::string> names;
    for (const sim::Coverage &c : sim::coverage(gfx))
        if (c.state < sim::Coverage::State::missing)
            names.insert(c.mnemonic);
    return names;
}

std::vector<Form> forms_of(const Row &r, const std::string &gfx, unsigned wave) {
    std::vector<Form> all;
    std::vector<Variant> modifiers = variants(r, gfx), operands = operand_variants(r, gfx);
    if (wave == 64) { // a few of each: both halves behave as a wave32
        modifiers.resize(std::min<size_t>(modifiers.size(), 2));
        operands.resize(std::min<size_t>(operands.size(), 2));
    }
    for (Variant &v : modifiers)
        all.push_back({v, wave == 32 ? Amount::thorough : Amount::some});
    for (const Variant &v : operands)
        all.push_back({v, Amount::few});
    for (const Variant &v : lane_variants(r, gfx))
        all.push_back({v, v.own_mask ? Amount::some : Amount::few});
    for (const Variant &v : sdwa_variants(r, gfx))
        all.push_back({v, wave == 32 ? Amount::some : Amount::few});
    return all;
}

std::vector<Case> cases_of(const std::string &gfx, unsigned wave, const Options &options) {
    std::vector<Case> cases;
    const std::set<std::string> there = runnable(gfx);
    for (const auto &[name, row] : rows()) {
        if (name == "v_mov_b16" && gfx.starts_with("gfx12"))
            continue; // needs an option that code for gfx12 isn't made with (0.1)
        if (!there.contains(name) || name.find(options.only) == std::string::npos)
            continue;
        if (wave == 64 && is_scalar(row.form))
            continue;
        Case c{&row, forms_of(row, gfx, wave), {}};
        c.source = {fmt::format("k{}", cases.size()),
                    is_scalar(row.form) ? Body::scalar : Body::vector,
                    {}};
        for (const Form &f : c.forms)
            c.source.forms.push_back(instruction_text(row, f.variant, gfx, wave));
        cases.push_back(std::move(c));
    }
    return cases;
}

std::string reproducer(const Place &p, const Batch &b, size_t n, const Expected &want) {
    const LaneIn &in = b.in[n];
    const LaneOut &got = b.out[n];
    const WaveIn &first = b.halves[n / b.wave * (b.wave / 32)], &half = b.halves[n / 32];
    return fmt::format(
        "{} wave{} {} {}: MODE {:#x} lane {} exec {:#010x} vcc {:#010x} mask "
        "{:#010x} scalar {:#x} a {:#x} b {:#x} c {:#x} old {:#x}: got {:#x} vcc "
        "{:#x} mask {:#x} exec {:#x}, want {:#x} mask bit {} exec bit {} (seed {:#x})",
        p.gfx, b.wave, sim::name_of(p.level), p.text, first.mode, n % b.wave, half.exec, half.vcc,
        half.mask, first.scalar, in.a, in.b, in.c, in.d, got.d[0] | u64{got.d[1]} << 32, got.vcc,
        got.mask, got.exec, want.d, want.mask, want.exec, p.options.seed);
}

bool same(const Row &r, const Variant &v, const WaveIn &half, unsigned lane, const LaneOut &got,
          const Expected &want) {
    if (!want.same(got.d[0] | u64{got.d[1]} << 32))
        return false;
    if (is_scalar(r.form))
        return (got.mask & 1) == want.mask && got.exec == want.scalar_exec;
    u32 written = v.own_mask ? got.mask : got.vcc, other = v.own_mask ? got.vcc : got.mask;
    return (written >> lane & 1) == want.mask && other == (v.own_mask ? half.vcc : half.mask) &&
           (got.exec >> lane & 1) == want.exec;
}

bool compare(const Place &p, const Row &r, const Variant &v, const Batch &b,
             const std::vector<Expected> &want) {
    unsigned failures = 0;
    for (size_t n = 0; n < b.in.size(); ++n) {
        if (same(r, v, b.halves[n / 32], n % 32, b.out[n], want[n]))
            continue;
        if (failures++ < p.options.failures_shown)
            fmt::print("{}\n", reproducer(p, b, n, want[n]));
    }
    if (failures)
        fmt::print("{} wave{} {} {}: {} of {} lanes differ\n", p.gfx, b.wave, sim::name_of(p.level),
                   p.text, failures, b.in.size());
    return !failures;
}

std::vector<Expected> expected_of(const Row &r, const Variant &v, const Batch &b, bool gfx12) {
    std::vector<Expected> all;
    all.reserve(b.in.size());
    for (size_t first = 0; first < b.in.size(); first += b.wave) {
        auto wave = expected(r, v, &b.halves[first / 32], &b.in[first], b.wave, gfx12);
        all.insert(all.end(), wave.begin(), wave.end());
    }
    return all;
}

bool check_form(const Case &c, u32 n, const sim::Program &program, const std::string &gfx,
                unsigned wave, const Options &options, Totals &totals) {
    const Row &r = *c.row;
    const std::string &text = c.source.forms[n];
    const Variant &v = c.forms[n].variant;
    Random random(options.seed ^ std::hash<std::string>{}(text));
    Batch b = make_batch(r, v, n, gfx, wave, c.forms[n].amount, options.waves, random);
    auto want = expected_of(r, v, b, gfx.starts_with("gfx12"));
    ++totals.forms;
    totals.modes += b.modes;
    totals.lanes += b.in.size();
    const Place where{gfx, text, {}, options};
    return run_everywhere(program, c.source.name, where, b,
                          [&](const Place &p) { return compare(p, r, v, b, want); });
}

} // namespace

Totals check(const std::string &gfx, unsigned wave, const Options &options) {
    std::vector<Case> cases = cases_of(gfx, wave, options);
    Totals totals;
    if (cases.empty())
        return totals;
    std::vector<KernelSource> sources;
    for (const Case &c : cases)
        sources.push_back(c.source);
    const Accepted accepted = accept(sources, gfx, wave);
    const auto program = sim::Program::load(accepted.code, gfx);
    for (size_t k = 0; k < cases.size(); ++k) {
        const Case &c = cases[k];
        totals.instructions.insert(c.row->name);
        for (u32 n = 0; n < c.forms.size(); ++n) {
            bool refused = accepted.refused[k].contains(n);
            totals.refused += refused;
            if (refused && (!c.forms[n].variant.optional || options.show_refused))
                fmt::print("{} wave{} {}: LLVM refuses it\n", gfx, wave, c.source.forms[n]);
            if (refused ? !c.forms[n].variant.optional
                        : !check_form(c, n, *program, gfx, wave, options, totals))
                totals.failed.insert(c.row->name);
        }
    }
    return totals;
}

} // namespace nw::oracle
