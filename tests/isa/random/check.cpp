// SPDX-License-Identifier: MIT
#include "isa/random/check.h"

#include <cstring>
#include <fmt/format.h>

#include "isa/random/lanes.h"
#include "isa/random/operands.h"
#include "sim/assemble.h"
#include "sim/func/coverage.h"

namespace nw::oracle {

namespace {

constexpr unsigned lanes = 32;

struct Case {
    const Row *row;
    Variant variant;
    std::string kernel, text;
};

// LLVM has it for this gfx, and the simulator doesn't list it as missing.
std::set<std::string> runnable(const std::string &gfx) {
    std::set<std::string> names;
    for (const sim::Coverage &c : sim::coverage(gfx))
        if (c.state < sim::Coverage::State::missing)
            names.insert(c.mnemonic);
    return names;
}

std::vector<Case> cases_of(const std::string &gfx, const Options &options) {
    std::vector<Case> cases;
    const std::set<std::string> there = runnable(gfx);
    for (const auto &[name, row] : rows()) {
        if (name == "v_mov_b16" && gfx.starts_with("gfx12"))
            continue; // needs an option that code for gfx12 isn't made with (0.1)
        if (!there.contains(name) || name.find(options.only) == std::string::npos)
            continue;
        for (const Variant &v : variants(row, gfx))
            cases.push_back(
                {&row, v, fmt::format("k{}", cases.size()), instruction_text(row, v, gfx)});
    }
    return cases;
}

// ---- operands ---------------------------------------------------------------------------------

// Every pair of hard values first; then hard and random ones mixed.
LaneIn operands(const Row &r, u64 index, Random &random) {
    auto hard_a = hard_values(r.a), hard_b = hard_values(r.b);
    auto any = [&](T t) {
        auto hard = hard_values(t);
        return random() % 8 < 3 ? hard[random() % hard.size()] : random_value(t, random);
    };
    LaneIn in;
    bool pair = index < hard_a.size() * hard_b.size();
    in.a = pair ? hard_a[index % hard_a.size()] : any(r.a);
    in.b = pair ? hard_b[index / hard_a.size()] : any(r.b);
    in.c = any(r.c);
    in.d = random();
    if (r.form == Form::accumulate || r.form == Form::scalar_acc)
        in.d = (in.d << 16 << 16) | any(r.c);
    if (r.name.starts_with("v_div_scale") && random() % 4) // as division uses it
        in.a = random() & 1 ? in.b : in.c;
    // What an operand doesn't read is noise.
    for (auto [value, t] : {std::pair{&in.a, r.a}, {&in.b, r.b}, {&in.c, r.c}}) {
        unsigned width = is_64(t) ? 64 : is_16(t) ? 16 : t == T::none ? 0 : 32;
        if (width < 64)
            *value = low(32, *value | (width < 32 ? random() << width : 0)) | random() << 32;
    }
    return in;
}

struct Batch {
    std::vector<LaneIn> in;
    std::vector<WaveIn> waves;
    std::vector<LaneOut> out;
    u64 modes = 0;
};

Batch batch_of(const Case &c, const std::string &gfx, const Options &options) {
    Batch b;
    Random random(options.seed ^ std::hash<std::string>{}(c.text));
    std::vector<u32> all = modes(*c.row, gfx.starts_with("gfx12"), random);
    unsigned waves = std::max<unsigned>(options.waves, static_cast<unsigned>(all.size()));
    if (all.size() <= 4)
        waves = std::max(waves / 4, 8u); // MODE doesn't matter
    b.modes = all.size();
    size_t pairs = hard_values(c.row->a).size() * hard_values(c.row->b).size();
    waves = std::max<unsigned>(waves, static_cast<unsigned>(pairs / lanes + 8));
    for (unsigned w = 0; w < waves; ++w) {
        b.waves.push_back({all[w % all.size()], static_cast<u32>(random())});
        for (unsigned l = 0; l < lanes; ++l)
            b.in.push_back(operands(*c.row, u64{w} * lanes + l, random));
    }
    b.out.resize(b.in.size());
    return b;
}

// ---- the simulator ----------------------------------------------------------------------------

void run(const sim::Program &program, const std::string &kernel, const std::string &gfx, Batch &b) {
    sim::Memory memory;
    auto copied = [&](const void *data, size_t bytes) {
        void *p = memory.allocate(bytes);
        std::memcpy(p, data, bytes);
        return p;
    };
    void *in = copied(b.in.data(), b.in.size() * sizeof(LaneIn));
    void *out = copied(b.out.data(), b.out.size() * sizeof(LaneOut));
    void *waves = copied(b.waves.data(), b.waves.size() * sizeof(WaveIn));
    void *arguments[] = {in, out, waves};
    sim::Dispatch d;
    d.program = &program;
    d.kernel = program.find_kernel(kernel);
    d.grid.x = static_cast<u32>(b.waves.size());
    d.block.x = lanes;
    d.kernarg = std::as_bytes(std::span(arguments));
    sim::RunConfig config;
    config.threads = 1;
    sim::run(d, memory, *sim::find_device(gfx), config);
    std::memcpy(b.out.data(), out, b.out.size() * sizeof(LaneOut));
}

// ---- the oracle -------------------------------------------------------------------------------

u64 modified(u64 x, T t, bool neg, bool abs) {
    const u64 sign = is_16(t) ? 0x8000 : is_64(t) ? u64{1} << 63 : 0x80000000;
    if (abs)
        x &= ~sign;
    return neg ? x ^ sign : x;
}

u64 source(u64 x, T t, const Variant &v, unsigned n) {
    if (is_16(t))
        x = low(16, v.high >> n & 1 ? x >> 16 : x);
    else if (!is_64(t))
        x = low(32, x);
    return modified(x, t, v.neg >> n & 1, v.abs >> n & 1);
}

// fma_mix widens where op_sel_hi says so (2.48).
u64 mixed_source(u64 x, const Variant &v, unsigned n, const Env &e) {
    if (v.op_sel_hi >> n & 1) {
        u64 half = low(16, v.op_sel >> n & 1 ? x >> 16 : x);
        x = converted(f32, f16, flushed(f16, half, e), Rounding(nearest, true), e.ieee());
    } else
        x = flushed(f32, low(32, x), e);
    return modified(x, T::s32, v.neg >> n & 1, v.abs >> n & 1);
}

u64 saturated(T t, i128 v) {
    bool is_signed = t == T::i16 || t == T::i32;
    unsigned width = is_16(t) ? 16 : 32;
    i128 least = is_signed ? -(i128{1} << (width - 1)) : 0;
    i128 greatest = (i128{1} << (width - is_signed)) - 1;
    return low(width, static_cast<u64>(v < least ? least : v > greatest ? greatest : v));
}

u64 result(const Row &r, const Variant &v, const Out &out, const Env &e) {
    u64 d = out.d;
    if (is_float(r.d)) {
        if (v.omod)
            d = omod(format_of(r.d), d, v.omod, e);
        if (v.clamp)
            d = clamped(format_of(r.d), d, e);
    } else if (v.clamp && out.wide)
        d = saturated(r.d, *out.wide);
    return d;
}

struct Expected {
    u64 d;
    u64 mask; // bits of d that count
    bool flag;
    u32 exec;
};

u64 packed_result(const Row &, const Variant &, const LaneIn &, const Env &);

In operands_of(const Row &r, const Variant &v, const LaneIn &lane, bool flag, const Env &e) {
    In in{};
    if (r.form == Form::mixed)
        in = {mixed_source(lane.a, v, 0, e),
              mixed_source(lane.b, v, 1, e),
              mixed_source(lane.c, v, 2, e),
              lane.d,
              flag,
              0,
              0,
              v.clamp};
    else
        in = {source(lane.a, r.a, v, 0),
              source(lane.b, r.b, v, 1),
              source(lane.c, r.c, v, 2),
              lane.d,
              flag,
              0,
              v.neg_lo | v.neg_hi << 3,
              v.clamp};
    const u64 literal = r.d == T::h16 ? 0x3e40 : 0x3fc90000;
    if (r.form == Form::fmamk)
        in.b = literal;
    if (r.form == Form::fmaak)
        in.c = literal;
    if (r.form == Form::accumulate)
        in.c = low(is_16(r.c) ? 16 : 32, v.high >> 3 & 1 ? lane.d >> 16 : lane.d);
    if (r.form >= Form::scalar) {
        in.exec = low(32, lane.c) | lane.c << 32;
        if (r.form == Form::scalar_imm)
            in.b = v.immediate;
    }
    return in;
}

Expected expected(const Case &c, const LaneIn &lane, bool flag, const Env &e) {
    const Row &r = *c.row;
    const Variant &v = c.variant;
    In in = operands_of(r, v, lane, flag, e);
    Expected x{lane.d, ~u64{0}, flag, static_cast<u32>(in.exec)};
    if (r.form == Form::packed) {
        x.d = (lane.d & ~u64{0xffffffff}) | packed_result(r, v, lane, e);
        return x;
    }
    Out out = r.f(in, e);
    u64 d = result(r, v, out, e);
    bool sets_flag = r.form >= Form::compare && r.form <= Form::carry_mad;
    x.flag = sets_flag || r.form >= Form::scalar ? out.flag : flag;
    x.exec = r.form == Form::exec ? static_cast<u32>(out.exec) : x.exec;
    if (r.d == T::none)
        return x;
    bool high = v.high >> 3 & 1 || r.name == "v_fma_mixhi_f16";
    unsigned width = is_64(r.d)                            ? 64
                     : is_16(r.d) && r.form < Form::scalar ? 16
                                                           : 32,
             shift = high ? 16 : 0;
    u64 field = (width == 64 ? ~u64{0} : (u64{1} << width) - 1) << shift;
    x.d = (lane.d & ~field) | (d << shift & field); // the rest of the register is kept (3.7)
    x.mask = ~(out.ignore << shift & field);
    return x;
}

// VOP3P: each half by its own op_sel, neg and CLAMP.
u64 packed_result(const Row &r, const Variant &v, const LaneIn &lane, const Env &e) {
    u64 all = 0;
    for (unsigned half = 0; half < 2; ++half) {
        u32 sel = half ? v.op_sel_hi : v.op_sel, neg = half ? v.neg_hi : v.neg_lo;
        u64 from[] = {lane.a, lane.b, r.form == Form::accumulate ? lane.d : lane.c};
        for (unsigned n = 0; n < 3; ++n)
            from[n] = low(16, sel >> n & 1 ? from[n] >> 16 : from[n]) ^ (neg >> n & 1 ? 0x8000 : 0);
        Out out = r.f({from[0], from[1], from[2], lane.d, false, 0, 0, v.clamp}, e);
        u64 d = out.d;
        if (v.clamp && r.clamp) {
            if (out.wide)
                d = saturated(r.modifiers               ? T::u16
                              : r.name.ends_with("i16") ? T::i16
                                                        : T::u16,
                              *out.wide);
            else
                d = clamped(f16, d, e);
        }
        all |= low(16, d) << 16 * half;
    }
    return all;
}

std::string reproducer(const Case &c, const std::string &gfx, const Batch &b, size_t n,
                       const Expected &want, const Options &options) {
    const LaneIn &in = b.in[n];
    const LaneOut &got = b.out[n];
    const WaveIn &w = b.waves[n / lanes];
    return fmt::format("{} {}: MODE {:#x} vcc {} a {:#x} b {:#x} c {:#x} old {:#x}: got {:#x} flag "
                       "{:#x} exec {:#x}, want {:#x} "
                       "flag {} exec {:#x} (seed {:#x})",
                       gfx, c.text, w.mode, w.vcc >> n % lanes & 1, in.a, in.b, in.c, in.d,
                       got.d[0] | u64{got.d[1]} << 32, got.flags, got.exec, want.d, want.flag,
                       want.exec, options.seed);
}

bool check_case(const Case &c, const std::string &gfx, const Batch &b, const Options &options) {
    unsigned failures = 0;
    bool scalar = c.row->form >= Form::scalar;
    for (size_t n = 0; n < b.in.size(); ++n) {
        const WaveIn &w = b.waves[n / lanes];
        Env e{w.mode, gfx.starts_with("gfx12")};
        Expected want = expected(c, b.in[n], w.vcc >> n % lanes & 1, e);
        const LaneOut &got = b.out[n];
        u64 d = got.d[0] | u64{got.d[1]} << 32;
        bool flag = scalar ? got.flags & 1 : got.flags >> n % lanes & 1;
        bool same = ((d ^ want.d) & want.mask) == 0 && flag == want.flag;
        same &= !scalar || got.exec == want.exec;
        if (same)
            continue;
        if (failures++ < options.failures_shown)
            fmt::print("{}\n", reproducer(c, gfx, b, n, want, options));
    }
    if (failures)
        fmt::print("{} {}: {} of {} lanes differ\n", gfx, c.text, failures, b.in.size());
    return !failures;
}

} // namespace

Totals check(const std::string &gfx, const Options &options) {
    std::vector<Case> cases = cases_of(gfx, options);
    std::vector<KernelSource> sources;
    for (const Case &c : cases)
        sources.push_back({c.kernel, c.text, c.row});
    Totals totals;
    if (cases.empty())
        return totals;
    auto program = sim::Program::load(sim::test::assemble(gfx, program_text(sources, gfx)), gfx);
    std::set<std::string> failed;
    for (const Case &c : cases) {
        Batch b = batch_of(c, gfx, options);
        bool good = false;
        try {
            run(*program, c.kernel, gfx, b);
            good = check_case(c, gfx, b, options);
        } catch (const sim::Fault &fault) {
            fmt::print("{} {}: {}\n", gfx, c.text, fault.what());
        }
        if (!good)
            failed.insert(c.row->name);
        totals.instructions.insert(c.row->name);
        ++totals.variants;
        totals.modes += b.modes;
        totals.lanes += b.in.size();
    }
    totals.failed_rows = failed.size();
    return totals;
}

namespace {

// One wave per batch entry; the first few with all, no and single lanes active.
Batch lane_batch(const std::string &text, const Options &options) {
    Batch b;
    Random random(options.seed ^ std::hash<std::string>{}(text));
    unsigned waves = std::max(options.waves / 8, 8u);
    for (unsigned w = 0; w < waves; ++w) {
        u32 exec = w == 0 ? ~0u : w == 1 ? 0 : static_cast<u32>(random());
        b.waves.push_back({0x3f0, w == 2 ? 1u << exec % 32 : exec});
        for (unsigned l = 0; l < lanes; ++l)
            b.in.push_back({low(32, random()), low(32, random()), low(32, random()), random()});
    }
    b.out.resize(b.in.size());
    return b;
}

bool check_lane_case(const LaneCase &c, const std::string &gfx, const Batch &b,
                     const Options &options) {
    for (size_t w = 0; w < b.waves.size(); ++w) {
        WaveState state{{}, {}, {}, {}, b.waves[w].vcc};
        const LaneIn *in = &b.in[w * lanes];
        for (size_t l = 0; l < lanes; ++l) {
            state.a[l] = static_cast<u32>(in[l].a);
            state.b[l] = static_cast<u32>(in[l].b);
            state.c[l] = static_cast<u32>(in[l].c);
            state.old[l] = static_cast<u32>(in[l].d);
        }
        Lanes want = c.result(state);
        for (size_t l = 0; l < lanes; ++l) {
            u32 got = b.out[w * lanes + l].d[0];
            if (got == want[l])
                continue;
            fmt::print("{} {}: EXEC {:#x}, wave {}, lane {}: got {:#x}, want {:#x} (seed {:#x})\n",
                       gfx, c.text, state.exec, w, l, got, want[l], options.seed);
            return false;
        }
    }
    return true;
}

} // namespace

Totals check_lanes(const std::string &gfx, const Options &options) {
    Totals totals;
    std::vector<LaneCase> cases;
    for (LaneCase &c : lane_cases(gfx))
        if (c.text.find(options.only) != std::string::npos)
            cases.push_back(std::move(c));
    if (cases.empty())
        return totals;
    std::vector<KernelSource> sources;
    for (const LaneCase &c : cases)
        sources.push_back({fmt::format("k{}", sources.size()), c.text, nullptr});
    auto program = sim::Program::load(sim::test::assemble(gfx, program_text(sources, gfx)), gfx);
    std::set<std::string> failed;
    for (size_t n = 0; n < cases.size(); ++n) {
        std::string name = cases[n].text.substr(0, cases[n].text.find(' '));
        Batch b = lane_batch(cases[n].text, options);
        bool good = false;
        try {
            run(*program, sources[n].name, gfx, b);
            good = check_lane_case(cases[n], gfx, b, options);
        } catch (const sim::Fault &fault) {
            fmt::print("{} {}: {}\n", gfx, cases[n].text, fault.what());
        }
        if (!good)
            failed.insert(name);
        totals.instructions.insert(name);
        ++totals.variants;
        ++totals.modes;
        totals.lanes += b.in.size();
    }
    totals.failed_rows = failed.size();
    return totals;
}

} // namespace nw::oracle
