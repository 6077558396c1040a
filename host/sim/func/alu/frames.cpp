// SPDX-License-Identifier: MIT
// The frames around the lane kernels, and the loop that runs a wave. Compiled per host level.
#include "sim/func/alu/frames.h"

#include "sim/func/alu/kernels.h"
#include "sim/func/alu/operands.h"

namespace nw::sim::NW_LEVEL {

namespace {

constexpr u32 rounding_control = 3 << 13; // MXCSR.RC; 0 is to nearest

void plain(Wave &w, const Inst &i) {
    for (unsigned half = 0; half < w.halves; ++half) {
        if (w.exec(half) == 0)
            continue;
        Operands o;
        o.plain(w, i, half);
        i.lane(w.row(i.dst, half), o.src[0], o.src[1], o.src[2], o.write, w.mode);
    }
}

// A wave32 whose sources are VGPRs and constants: no preparation needed.
void rows(Wave &w, const Inst &i) {
    u32 exec = w.s[sreg::exec];
    if (exec)
        i.lane(w.v[i.dst].lane, w.row(i.src[0]), w.row(i.src[1]), w.row(i.src[2]), exec, w.mode);
}

// The same, with DPP and no other modifier.
void permuted_rows(Wave &w, const Inst &i) {
    const u32 exec = w.s[sreg::exec];
    if (exec == 0)
        return;
    Row first[2];
    const u32 write = read_permuted(i.extra->dpp, w.row(i.src[0]), first[0].lane, exec, 0);
    i.lane(w.v[i.dst].lane, first[0].lane, w.row(i.src[1]), w.row(i.src[2]), write, w.mode);
}

// ---- CLAMP, OMOD, high halves: on a copy of the result ---------------------------------------

// 2.11, on the bits: the result was flushed before, if at all, and a NaN that stays stays as it is.
template <class U> U clamp_bits(U x, U sign, U inf, U one, const Mode &m) {
    if ((x & ~sign) > inf)
        return m.dx10_clamp ? 0 : x;
    return x & sign ? U{0} : x < one ? x : one;
}
u32 clamp32(u32 x, const Mode &m) {
    return clamp_bits<u32>(x, 0x80000000, 0x7f800000, 0x3f800000, m);
}
u32 clamp16(u32 h, const Mode &m) { return clamp_bits<u32>(h, 0x8000, 0x7c00, 0x3c00, m); }
u64 clamp64(u64 x, const Mode &m) {
    return clamp_bits<u64>(x, u64{1} << 63, u64{0x7ff} << 52, u64{0x3ff} << 52, m);
}

void clamp_row(Row *r, Type type, const Mode &m) {
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 &x = r[0].lane[l];
        switch (type) {
        case Type::f32:
            x = clamp32(x, m);
            break;
        case Type::f16:
            x = (x & 0xffff0000) | clamp16(x & 0xffff, m);
            break;
        case Type::pkf16:
            x = clamp16(x & 0xffff, m) | clamp16(x >> 16, m) << 16;
            break;
        case Type::f64: {
            u64 v = Value<Type::u64>::load(r[0].lane, l, m);
            Value<Type::u64>::store(r[0].lane, l, clamp64(v, m), nullptr);
            break;
        }
        default:
            break; // integers saturate in their own kernels
        }
    }
}

// 2.9: gfx11 ignores OMOD in IEEE mode and when subnormal results are kept.
bool omod_counts(Type type, const Mode &m) {
    bool keeps = m.bits >> (type == Type::f32 ? 5 : 7) & 1;
    return m.gfx12 || (!m.ieee && !keeps);
}

// 2.10: on the rounded result; zero and subnormals become +0.
f64 scale(f64 x, int log2, f64 smallest_normal) {
    if (fp::is_nan(x) || __builtin_isinf(x))
        return x;
    if (__builtin_fabs(x) < smallest_normal)
        return 0.0;
    if (log2 < 0 && __builtin_fabs(x) < 2 * smallest_normal)
        return __builtin_copysign(0.0, x); // before the host rounds it up to a normal
    f64 y = x * fp::power_of_two(log2);
    return __builtin_fabs(y) < smallest_normal ? __builtin_copysign(0.0, x) : y;
}

void scale_row(Row *r, Type type, int log2, const Mode &m) {
    if (!log2 || !omod_counts(type, m))
        return;
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 &x = r[0].lane[l];
        if (type == Type::f32 && !fp::is_nan(fp::f32_of(x))) {
            x = fp::bits(static_cast<f32>(scale(fp::f32_of(x), log2, 0x1p-126)));
        } else if (type == Type::f16 && !fp::is_nan16(x)) {
            x = (x & 0xffff0000) | fp::narrow16(scale(fp::widen16(x & 0xffff), log2, 0x1p-14), m);
        } else if (type == Type::f64) {
            f64 v = scale(Value<Type::f64>::load(r[0].lane, l, m), log2, 0x1p-1022);
            Value<Type::f64>::store(r[0].lane, l, v, nullptr);
        }
    }
}

} // namespace

void scale_and_clamp(Row *results, const Inst &i, const Mode &m) {
    if (i.extra->omod)
        scale_row(results, i.type, i.extra->omod, m);
    if (i.extra->clamp)
        clamp_row(results, i.type, m);
}

namespace {

void full(Wave &w, const Inst &i) {
    const Extra &e = *i.extra;
    for (unsigned half = 0; half < w.halves; ++half) {
        if (w.exec(half) == 0)
            continue;
        Operands o;
        o.full(w, i, half);
        u32 *d = w.row(i.dst, half);
        if (!e.clamp && !e.omod && !e.dst_high) {
            i.lane(d, o.src[0], o.src[1], o.src[2], o.write, w.mode);
            continue;
        }
        Row r[2];
        for (unsigned l = 0; l < row_lanes * i.dst_rows; ++l)
            r[0].lane[l] = d[l] >> (e.dst_high ? 16 : 0);
        i.lane(r[0].lane, o.src[0], o.src[1], o.src[2], ~0u, w.mode);
        scale_and_clamp(r, i, w.mode);
        if (e.dst_high)
            for (unsigned l = 0; l < row_lanes; ++l)
                r[0].lane[l] = (d[l] & 0xffff) | r[0].lane[l] << 16;
        blend(d, r[0].lane, o.write, i.dst_rows);
    }
}

// A special row: its handler has already written the result.
void modified(Wave &w, const Inst &i) {
    const Inst &inner = *i.pair;
    inner.run(w, inner);
    for (unsigned half = 0; half < w.halves; ++half) {
        u32 *d = w.row(i.dst, half);
        Row r[2];
        blend(r[0].lane, d, ~0u, i.dst_rows);
        scale_row(r, i.type, i.extra->omod, w.mode);
        if (i.extra->clamp)
            clamp_row(r, i.type, w.mode);
        blend(d, r[0].lane, w.exec(half), i.dst_rows);
    }
}

// The result's piece of a register, and what becomes of the others.
u32 place(u32 result, u32 old, const Extra &e) {
    const Piece &p = e.placed;
    const u32 ones = p.bits == 32 ? ~0u : (1u << p.bits) - 1, mask = ones << p.shift;
    const u32 value = result << p.shift & mask;
    switch (e.rest) {
    case Extra::kept:
        return value | (old & ~mask);
    case Extra::sign: {
        const unsigned left = 32 - p.bits - p.shift;
        return static_cast<u32>(static_cast<i32>(value << left) >> left);
    }
    default:
        return value;
    }
}

void placed(Wave &w, const Inst &i) {
    Row old[2];
    for (unsigned half = 0; half < w.halves; ++half)
        blend(old[half].lane, w.row(i.dst, half), ~0u, 1);
    i.pair->run(w, *i.pair);
    for (unsigned half = 0; half < w.halves; ++half) {
        u32 *d = w.row(i.dst, half);
        const u32 exec = w.exec(half);
        for (unsigned l = 0; l < row_lanes; ++l)
            d[l] = exec >> l & 1 ? place(d[l], old[half].lane[l], *i.extra) : d[l];
    }
}

// ---- compares: every bit of the mask is written (3.10) ---------------------------------------

template <bool Full> u32 compare(Wave &w, const Inst &i, unsigned half) {
    if (w.exec(half) == 0)
        return 0;
    Operands o;
    if constexpr (Full)
        o.full(w, i, half);
    else
        o.plain(w, i, half);
    return i.mask(o.src[0], o.src[1], w.mode) & o.write;
}

template <bool Full> void mask(Wave &w, const Inst &i) {
    u32 r[2] = {};
    for (unsigned half = 0; half < w.halves; ++half)
        r[half] = compare<Full>(w, i, half);
    for (unsigned half = 0; half < w.halves; ++half)
        w.s[i.dst + half] = r[half];
}

template <bool Full> void maskx(Wave &w, const Inst &i) {
    for (unsigned half = 0; half < w.halves; ++half)
        w.s[sreg::exec + half] = compare<Full>(w, i, half);
}

// ---- VOPD (3.8): wave32 only ------------------------------------------------------------------

// One half of a pair. Scoped: a DOT rounds to nearest even beside an fmac that follows MODE.
template <bool Scoped>
void half_of_pair(Wave &w, const Inst &i, const u32 *const *src, u32 *d, u32 exec) {
    if (Scoped && i.own_rounding && w.mode.round32 != round_nearest) {
        MxcsrScope scope(w.mode.mxcsr32 & ~rounding_control);
        i.lane(d, src[0], src[1], src[2], exec, w.mode);
        return;
    }
    i.lane(d, src[0], src[1], src[2], exec, w.mode);
}

template <bool Scoped> void dual(Wave &w, const Inst &i) {
    u32 exec = w.exec(0);
    if (exec == 0)
        return;
    const Inst &x = i.pair[0], &y = i.pair[1];
    Operands ox, oy;
    ox.plain(w, x, 0);
    oy.plain(w, y, 0);
    Row r; // X's result waits until Y has read its sources
    half_of_pair<Scoped>(w, x, ox.src, r.lane, exec);
    half_of_pair<Scoped>(w, y, oy.src, w.row(y.dst, 0), exec);
    blend(w.row(x.dst, 0), r.lane, exec, 1);
}

// Y doesn't read X's result; all sources are VGPRs and constants.
template <bool Scoped> void dual_rows(Wave &w, const Inst &i) {
    u32 exec = w.exec(0);
    if (exec == 0)
        return;
    for (unsigned n = 0; n < 2; ++n) {
        const Inst &x = i.pair[n];
        const u32 *src[] = {w.row(x.src[0]), w.row(x.src[1]), w.row(x.src[2])};
        half_of_pair<Scoped>(w, x, src, w.v[x.dst].lane, exec);
    }
}

// ---- the host's FPU for instructions that don't follow MODE's f32 fields -----------------------

template <Handler H> void scoped(Wave &w, const Inst &i) {
    u32 want = i.fp64 ? w.mode.mxcsr64 : w.mode.mxcsr32;
    if (i.own_rounding)
        want &= ~rounding_control;
    if (want == w.mode.mxcsr32)
        return H(w, i);
    MxcsrScope scope(want);
    H(w, i);
}

u64 run(Wave &w, u64 budget) {
    while (budget && w.state == State::running) {
        const Inst &i = *w.pc++;
        --budget;
        ++w.counts[i.tally];
        i.run(w, i);
    }
    return budget;
}

Frames make() {
    Frames f{};
    f.run = run;
    f.rows = rows, f.rows_scoped = scoped<rows>;
    f.permuted_rows = permuted_rows, f.permuted_rows_scoped = scoped<permuted_rows>;
    f.plain = plain, f.plain_scoped = scoped<plain>;
    f.full = full, f.full_scoped = scoped<full>;
    f.placed = placed;
    f.modified = modified;
    f.mask_plain = mask<false>, f.mask_full = mask<true>;
    f.mask_plain_scoped = scoped<mask<false>>, f.mask_full_scoped = scoped<mask<true>>;
    f.maskx_plain = maskx<false>, f.maskx_full = maskx<true>;
    f.maskx_plain_scoped = scoped<maskx<false>>, f.maskx_full_scoped = scoped<maskx<true>>;
    f.dual = dual<false>, f.dual_scoped = dual<true>;
    f.dual_rows = dual_rows<false>, f.dual_rows_scoped = dual_rows<true>;
    fill_kernels(f);
    fill_special(f);
    fill_memory(f);
    fill_matrix(f);
    fill_matrix_fp8(f);
    fill_matrix_sparse(f);
    return f;
}

} // namespace

const Frames &level() {
    static const Frames frames = make();
    return frames;
}

} // namespace nw::sim::NW_LEVEL
