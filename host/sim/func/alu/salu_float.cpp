// SPDX-License-Identifier: MIT
// The floating-point rows of salu.inc. MODE's f32 fields are on the host's FPU while a wave runs.
#include "sim/func/alu/fp_div.h"
#include "sim/func/alu/salu.h"

namespace nw::sim {

namespace {

namespace fp = base::fp;

template <Type> struct Scalar;
template <> struct Scalar<Type::u32> {
    static u32 read(u32 bits, const Mode &) { return bits; }
    static u32 write(u32 v, const Mode &) { return v; }
};
template <> struct Scalar<Type::i32> {
    static i32 read(u32 bits, const Mode &) { return static_cast<i32>(bits); }
    static u32 write(i32 v, const Mode &) { return static_cast<u32>(v); }
};
template <> struct Scalar<Type::none> : Scalar<Type::u32> {};
template <> struct Scalar<Type::u16> : Scalar<Type::u32> {};
template <> struct Scalar<Type::f32> {
    static f32 read(u32 bits, const Mode &m) { return fp::in(fp::f32_of(bits), m); }
    static u32 write(f32 v, const Mode &) { return fp::bits(v); }
};
// f16: exact in f64, one rounding at the end. Results have no upper half (3.7).
template <> struct Scalar<Type::f16> {
    static f64 read(u32 bits, const Mode &m) {
        u32 h = bits & 0xffff;
        return fp::widen16(h & 0x7c00 ? h : h & m.keep16);
    }
    static u32 write(f64 v, const Mode &m) { return fp::narrow16(v, m); }
};

u32 bits_of(const Wave &w, const Source &s) { return s.kind == Source::sgpr ? w.s[s.at] : s.value; }

template <Type T, class F, class N> void arithmetic(Wave &w, const Inst &i, F f, N nan) {
    const Mode &m = w.mode;
    auto a = Scalar<T>::read(bits_of(w, i.src[0]), m), b = Scalar<T>::read(bits_of(w, i.src[1]), m);
    auto c = Scalar<T>::read(bits_of(w, i.src[2]), m);
    auto r = f(a, b, c, m);
    if (!fp::is_nan(r))
        w.s[i.dst] = Scalar<T>::write(r, m);
    else if constexpr (T == Type::f16) { // as f32: widening to f64 quiets
        auto in = [&](unsigned n) { return fp::in16(bits_of(w, i.src[n]), m); };
        w.s[i.dst] = fp::nan16(fp::bits(nan(in(0), in(1), in(2), m)));
    } else
        w.s[i.dst] = fp::bits(nan(a, b, c, m));
}

template <Type D, Type A, Type B, class F> void convert(Wave &w, const Inst &i, F f) {
    const Mode &m = w.mode;
    w.s[i.dst] = Scalar<D>::write(
        f(Scalar<A>::read(bits_of(w, i.src[0]), m), Scalar<B>::read(bits_of(w, i.src[1]), m), m),
        m);
}

template <Type T, class F> void compare(Wave &w, const Inst &i, F f) {
    const Mode &m = w.mode;
    w.scc() = f(Scalar<T>::read(bits_of(w, i.src[0]), m), Scalar<T>::read(bits_of(w, i.src[1]), m));
}

#define ARGS3                                                                                      \
    [[maybe_unused]] auto a, [[maybe_unused]] auto b, [[maybe_unused]] auto c,                     \
        [[maybe_unused]] const Mode &m
#define ARGS2 [[maybe_unused]] auto a, [[maybe_unused]] auto b, [[maybe_unused]] const Mode &m
#define SFP(mn, T, expr, ...)                                                                      \
    void mn(Wave &w, const Inst &i) {                                                              \
        arithmetic<Type::T>(                                                                       \
            w, i, [](ARGS3) { return expr; }, [](ARGS3) { return fp::nan_of(m, __VA_ARGS__); });   \
    }
#define SFPX(mn, D, A, B, ...)                                                                     \
    void mn(Wave &w, const Inst &i) {                                                              \
        convert<Type::D, Type::A, Type::B>(w, i, [](ARGS2) { return __VA_ARGS__; });               \
    }
#define SCMPF(mn, T, ...)                                                                          \
    void mn(Wave &w, const Inst &i) {                                                              \
        compare<Type::T>(w, i, [](auto a, auto b) { return __VA_ARGS__; });                        \
    }
#define SOP(...)
#define SOPK(...)
#define SCMP(...)
#define SCMPB(...)
#define SCMPK(...)
#define SEXEC(...)
#include "sim/isa/tables/salu.inc"
#undef SFP
#undef SFPX
#undef SCMPF
#undef SOP
#undef SOPK
#undef SCMP
#undef SCMPB
#undef SCMPK
#undef SEXEC

// f16 rows round explicitly: the host rounds to nearest, so that intermediate steps are exact.
template <Handler H> void nearest(Wave &w, const Inst &i) {
    if (w.mode.round32 == round_nearest)
        return H(w, i);
    MxcsrScope scope(mxcsr_default);
    Handler volatile handler = H; // through a pointer: nothing moves out of the scope
    handler(w, i);
}

} // namespace

Handler salu_float_handler(Op op) {
    switch (op) {
#define ROW(mn, T)                                                                                 \
    case Op::mn:                                                                                   \
        return Type::T == Type::f16 ? nearest<mn> : mn;
#define SFP(mn, T, ...) ROW(mn, T)
#define SFPX(mn, D, A, B, ...) ROW(mn, D)
#define SCMPF(mn, T, ...) ROW(mn, T)
#define SOP(...)
#define SOPK(...)
#define SCMP(...)
#define SCMPB(...)
#define SCMPK(...)
#define SEXEC(...)
#include "sim/isa/tables/salu.inc"
    default:
        return nullptr;
    }
}

} // namespace nw::sim
