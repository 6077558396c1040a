// SPDX-License-Identifier: MIT
// The frame that turns a row's expression into a kernel over 32 lanes. Compiled per host level.
#pragma once
#include "sim/func/alu/fp.h"
#include "sim/func/alu/half.h"
#include "sim/func/wave.h"

namespace nw::sim::NW_LEVEL {

using T_ = Type;

// Conversion of lane `l` of an operand to a C++ value, and back.
template <Type> struct Value;

template <class T> struct Word {
    using type = T;
    static T load(const u32 *r, unsigned l, const Mode &) { return std::bit_cast<T>(r[l]); }
    static void store(u32 *d, unsigned l, T v, const u32 *) { d[l] = std::bit_cast<u32>(v); }
};
template <class T> struct Pair {
    using type = T;
    static T load(const u32 *r, unsigned l, const Mode &) {
        return std::bit_cast<T>(r[l] | u64{r[l + row_lanes]} << 32);
    }
    static void store(u32 *d, unsigned l, T v, const u32 *) {
        u64 u = std::bit_cast<u64>(v);
        d[l] = static_cast<u32>(u);
        d[l + row_lanes] = static_cast<u32>(u >> 32);
    }
};
template <> struct Value<Type::u32> : Word<u32> {};
template <> struct Value<Type::i32> : Word<i32> {};
template <> struct Value<Type::f32> : Word<f32> {};
template <> struct Value<Type::pk16> : Word<u32> {};
template <> struct Value<Type::pkf16> : Word<u32> {};
template <> struct Value<Type::mix> : Word<f32> {};
template <> struct Value<Type::u64> : Pair<u64> {};
template <> struct Value<Type::i64> : Pair<i64> {};
template <> struct Value<Type::f64> : Pair<f64> {};
template <> struct Value<Type::none> : Word<u32> {};
// A 16-bit result keeps the other half of its register (3.7): `old` is the register before.
template <> struct Value<Type::u16> {
    using type = u32;
    static u32 load(const u32 *r, unsigned l, const Mode &) { return r[l] & 0xffff; }
    static void store(u32 *d, unsigned l, u32 v, const u32 *old) {
        d[l] = (old[l] & 0xffff0000) | (v & 0xffff);
    }
};
template <> struct Value<Type::bf16> : Value<Type::u16> {};
template <> struct Value<Type::i16> {
    using type = i32;
    static i32 load(const u32 *r, unsigned l, const Mode &) { return static_cast<i16>(r[l]); }
    static void store(u32 *d, unsigned l, i32 v, const u32 *old) {
        d[l] = (old[l] & 0xffff0000) | (static_cast<u32>(v) & 0xffff);
    }
};
template <> struct Value<Type::f16> { // as a source; results go through narrow_row
    using type = f32;
    static f32 load(const u32 *r, unsigned l, const Mode &m) { return fp::in16(r[l], m); }
};

// d = exec ? r : d
inline void blend(u32 *d, const u32 *r, u32 exec, unsigned rows) {
    for (unsigned i = 0; i < rows; ++i, d += row_lanes, r += row_lanes) {
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l)
            d[l] = exec >> l & 1 ? r[l] : d[l];
    }
}

template <Type D, Type A, Type B, Type C, class F>
inline void each_lane(u32 *d, const u32 *old, const u32 *a, const u32 *b, const u32 *c,
                      const Mode &mode, F f) {
    const Mode m = mode; // a copy: tells the compiler that results don't overwrite it
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        Value<D>::store(
            d, l,
            static_cast<typename Value<D>::type>(
                f(Value<A>::load(a, l, m), Value<B>::load(b, l, m), Value<C>::load(c, l, m), m)),
            old);
}

// Rows fully defined by their expression: integers, bit moves, min and max of f32.
template <Type D, Type A, Type B, Type C, class F>
inline void run_lanes(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m,
                      F f) {
    if (exec == ~0u)
        return each_lane<D, A, B, C>(d, d, a, b, c, m, f);
    Row r[rows_of(D)];
    each_lane<D, A, B, C>(r[0].lane, d, a, b, c, m, f);
    blend(d, r[0].lane, exec, rows_of(D));
}

// Float arithmetic on the host's FPU. The host's choice of NaN is discarded: lanes with a NaN are
// recomputed by `nan`, the rule of 2.1.
template <Type D, Type A, Type B, Type C, class F, class N>
inline void run_float(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &mode,
                      F f, N nan) {
    const Mode m = mode;
    alignas(64) typename Value<D>::type r[row_lanes];
    u32 nans = 0;
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        r[l] = f(Value<A>::load(a, l, m), Value<B>::load(b, l, m), Value<C>::load(c, l, m), m);
        nans |= r[l] != r[l];
    }
    if (nans)
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l) {
            auto fixed =
                nan(Value<A>::load(a, l, m), Value<B>::load(b, l, m), Value<C>::load(c, l, m), m);
            r[l] = fp::is_nan(r[l]) ? fixed : r[l];
        }
    if (exec == ~0u) {
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l)
            Value<D>::store(d, l, r[l], d);
        return;
    }
    Row out[rows_of(D)];
    for (unsigned l = 0; l < row_lanes; ++l)
        Value<D>::store(out[0].lane, l, r[l], d);
    blend(d, out[0].lane, exec, rows_of(D));
}

inline bool simple16(const Mode &m) {
    return m.round16_64 == round_nearest && !m.flush16_out && !m.fp16_ovfl;
}

// An operand of half_results. A signalling NaN may come out quiet: lanes whose result is NaN read
// the operand again.
template <Type T>
inline void half_operands(typename Value<T>::type *out, const u32 *r, const Mode &m) {
    if constexpr (T == Type::f16)
        if (m.keep16 == 0xffff)
            return widen_row(out, r);
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        out[l] = Value<T>::load(r, l, m);
}

// One f16 result per lane. `f` gets f32 values for rounding to nearest even (double rounding is
// harmless: 24 >= 2 * 11 + 2), else f64, where all but fma is exact. It returns f32, or f64 rounded
// to odd.
template <Type A, Type B, Type C, class F>
inline void half_results(u32 *r, const u32 *a, const u32 *b, const u32 *c, const Mode &m, F f) {
    alignas(64) typename Value<A>::type x[row_lanes];
    alignas(64) typename Value<B>::type y[row_lanes];
    alignas(64) typename Value<C>::type z[row_lanes];
    half_operands<A>(x, a, m);
    half_operands<B>(y, b, m);
    half_operands<C>(z, c, m);
    if (simple16(m)) {
        alignas(64) f32 v[row_lanes];
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l)
            v[l] = fp::odd32(f(x[l], y[l], z[l], m));
        narrow_row(r, v);
    } else {
        for (unsigned l = 0; l < row_lanes; ++l)
            r[l] = fp::narrow16(
                f(static_cast<f64>(x[l]), static_cast<f64>(y[l]), static_cast<f64>(z[l]), m), m);
    }
}

// Rows that select one of their f16 sources, or an exact result: no rounding, no output flushing
// (2.21, 2.26).
template <Type A, Type B, Type C, class F>
inline void run_half_pick(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec,
                          const Mode &mode, F f) {
    const Mode m = mode;
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        f32 v = f(Value<A>::load(a, l, m), Value<B>::load(b, l, m), Value<C>::load(c, l, m), m);
        d[l] = exec >> l & 1 ? (d[l] & 0xffff0000) | fp::picked16(v) : d[l];
    }
}

template <Type A, Type B, Type C, class F, class N>
inline void run_half(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &mode,
                     F f, N nan) {
    const Mode m = mode;
    alignas(64) u32 r[row_lanes];
    half_results<A, B, C>(r, a, b, c, m, f);
    u32 nans = 0;
    for (unsigned l = 0; l < row_lanes; ++l)
        nans |= fp::is_nan16(r[l]) ? 1 : 0;
    if (nans)
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l) {
            f32 fixed =
                nan(Value<A>::load(a, l, m), Value<B>::load(b, l, m), Value<C>::load(c, l, m), m);
            r[l] = fp::is_nan16(r[l]) ? fp::nan16(fp::bits(fixed)) : r[l];
        }
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        d[l] = exec >> l & 1 ? (d[l] & 0xffff0000) | r[l] : d[l];
}

// One half of each dword, as run_half.
template <class F, class N>
inline void run_half_at(u32 *r, const u32 *a, const u32 *b, const u32 *c, unsigned shift,
                        const Mode &m, F f, N nan) {
    Row x[3];
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        x[0].lane[l] = a[l] >> shift;
        x[1].lane[l] = b[l] >> shift;
        x[2].lane[l] = c[l] >> shift;
        r[l] = 0;
    }
    run_half<Type::f16, Type::f16, Type::f16>(r, x[0].lane, x[1].lane, x[2].lane, ~0u, m, f, nan);
}

// Two halves in one register, each as run_half.
template <class F, class N>
inline void run_packed_half(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec,
                            const Mode &mode, F f, N nan) {
    const Mode m = mode;
    Row r;
    bool again = !simple16(m) || m.keep16 != 0xffff;
    if (!again) {
        alignas(64) f32 x[row_halves], y[row_halves], z[row_halves];
        widen_halves(x, a);
        widen_halves(y, b);
        widen_halves(z, c);
        u32 nans = 0;
#pragma GCC ivdep
        for (unsigned n = 0; n < row_halves; ++n) {
            x[n] = f(x[n], y[n], z[n], m);
            nans |= x[n] != x[n];
        }
        narrow_halves(r.lane, x);
        again = nans;
    }
    if (again) {
        Row high;
        run_half_at(r.lane, a, b, c, 0, m, f, nan);
        run_half_at(high.lane, a, b, c, 16, m, f, nan);
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l)
            r.lane[l] |= high.lane[l] << 16;
    }
    blend(d, r.lane, exec, 1);
}

// The same for run_half_pick.
template <class F>
inline void run_packed_pick(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec,
                            const Mode &mode, F f) {
    const Mode m = mode;
    auto pick = [&](u32 x, u32 y, u32 z) {
        return fp::picked16(f(fp::in16(x, m), fp::in16(y, m), fp::in16(z, m), m));
    };
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 r = pick(a[l], b[l], c[l]) | pick(a[l] >> 16, b[l] >> 16, c[l] >> 16) << 16;
        d[l] = exec >> l & 1 ? r : d[l];
    }
}

// Packed integers: `f` on each half, zero- or sign-extended as T says.
template <Type T, class F>
inline void run_packed(u32 *d, const u32 *a, const u32 *b, const u32 *c, u32 exec, const Mode &m,
                       F f) {
    using V = typename Value<T>::type;
    auto low = [](u32 x) {
        return T == Type::i16 ? static_cast<V>(static_cast<i16>(x)) : static_cast<V>(x & 0xffff);
    };
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l) {
        u32 r0 = static_cast<u32>(f(low(a[l]), low(b[l]), low(c[l]), m)) & 0xffff;
        u32 r1 = static_cast<u32>(f(low(a[l] >> 16), low(b[l] >> 16), low(c[l] >> 16), m));
        d[l] = exec >> l & 1 ? r0 | r1 << 16 : d[l];
    }
}

u32 mask_of(const u32 *truth); // bit l = sign bit of truth[l]

template <Type A, Type B, class F>
inline u32 run_mask(const u32 *a, const u32 *b, const Mode &mode, F f) {
    const Mode m = mode;
    alignas(64) u32 truth[row_lanes];
#pragma GCC ivdep
    for (unsigned l = 0; l < row_lanes; ++l)
        truth[l] = f(Value<A>::load(a, l, m), Value<B>::load(b, l, m), m) ? ~0u : 0u;
    return mask_of(truth);
}

} // namespace nw::sim::NW_LEVEL
