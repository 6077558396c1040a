// SPDX-License-Identifier: MIT
#include "isa/random/expected.h"

namespace nw::oracle {

namespace {

u64 modified(u64 x, T t, bool neg, bool abs) {
    const u64 sign = is_16(t) ? 0x8000 : is_64(t) ? u64{1} << 63 : 0x80000000;
    if (abs)
        x &= ~sign;
    return neg ? x ^ sign : x;
}

u64 source(u64 x, T t, const Variant &v, unsigned n) {
    if (v.sdwa && n < v.sdwa->source.size())
        x = v.sdwa->take(x, n);
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
    if (is_scalar(r.form)) {
        in.exec = low(32, lane.c) | lane.c << 32;
        if (r.form == Form::scalar_imm)
            in.b = v.immediate;
    }
    return in;
}

} // namespace

Expected lane_result(const Row &r, const Variant &v, const LaneIn &lane, bool mask, const Env &e) {
    In in = operands_of(r, v, lane, mask, e);
    Expected x{lane.d, ~u64{0}, mask, true, static_cast<u32>(in.exec)};
    if (r.form == Form::packed) {
        x.d = (lane.d & ~u64{0xffffffff}) | packed_result(r, v, lane, e);
        return x;
    }
    Out out = r.f(in, e);
    u64 d = result(r, v, out, e);
    if (r.form == Form::comparex)
        x.exec = out.flag;
    else if (writes_mask(r.form) || is_scalar(r.form))
        x.mask = out.flag;
    if (r.form == Form::exec)
        x.scalar_exec = static_cast<u32>(out.exec);
    if (r.d == T::none)
        return x;
    if (v.sdwa) {
        x.d = (lane.d & ~u64{0xffffffff}) | v.sdwa->place(low(is_16(r.d) ? 16 : 32, d), lane.d);
        x.counts = out.ignore ? 0 : ~u64{0};
        return x;
    }
    bool high = v.high >> 3 & 1 || r.name == "v_fma_mixhi_f16";
    unsigned width = is_64(r.d)                         ? 64
                     : is_16(r.d) && !is_scalar(r.form) ? 16
                                                        : 32,
             shift = high ? 16 : 0;
    u64 field = (width == 64 ? ~u64{0} : (u64{1} << width) - 1) << shift;
    x.d = (lane.d & ~field) | (d << shift & field); // the rest of the register is kept (3.7)
    x.counts = ~(out.ignore << shift & field);
    return x;
}

std::vector<Expected> expected(const Row &r, const Variant &v, const WaveIn *wave, const LaneIn *in,
                               unsigned lanes, bool gfx12) {
    const Env e{wave->mode, gfx12};
    auto whole = [&](u32 WaveIn::*word) {
        return wave[0].*word | (lanes == 64 ? u64{wave[1].*word} << 32 : 0);
    };
    const u64 exec = is_scalar(r.form) ? ~u64{0} : whole(&WaveIn::exec),
              mask = whole(v.own_mask ? &WaveIn::mask : &WaveIn::vcc);
    std::vector<Expected> all;
    all.reserve(lanes);
    for (unsigned l = 0; l < lanes; ++l) {
        LaneIn lane = in[l];
        u64 *source[] = {&lane.a, &lane.b, &lane.c};
        for (unsigned n = 0; n < 3; ++n)
            if (v.source[n].kind != Operand::vgpr)
                *source[n] = v.source[n].kind == Operand::sgpr ? wave->scalar : v.source[n].bits;
        bool written = exec >> l & 1;
        if (v.dpp) {
            Dpp::Fetch fetch = v.dpp->fetch(static_cast<int>(l), exec);
            written &= fetch != Dpp::Fetch::nothing;
            if (fetch == Dpp::Fetch::lane)
                lane.a = in[v.dpp->from(static_cast<int>(l))].a;
            else
                lane.a = 0;
        }
        if (written) {
            all.push_back(lane_result(r, v, lane, mask >> l & 1, e));
            continue;
        }
        // 3.10, 3.15, 3.16
        bool kept = mask >> l & 1 && (!writes_mask(r.form) || r.form == Form::comparex);
        all.push_back({lane.d, ~u64{0}, kept, (exec >> l & 1) && r.form != Form::comparex, 0});
    }
    return all;
}

namespace {

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

} // namespace

} // namespace nw::oracle
