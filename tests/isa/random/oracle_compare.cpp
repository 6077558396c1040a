// SPDX-License-Identifier: MIT
// v_cmp, v_cmpx and their scalar forms (2.22).
#include "isa/random/oracle.h"

namespace nw::oracle {

namespace {

enum Order { less = 1, equal = 2, greater = 4, unordered = 8 };

struct Condition {
    const char *name;
    int true_for;
};
// `n` forms are the logical NOT: also true for NaN.
constexpr Condition float_conditions[] = {
    {"f", 0},
    {"lt", less},
    {"eq", equal},
    {"le", less | equal},
    {"gt", greater},
    {"lg", less | greater},
    {"ge", greater | equal},
    {"o", less | equal | greater},
    {"u", unordered},
    {"nge", less | unordered},
    {"nlg", equal | unordered},
    {"ngt", less | equal | unordered},
    {"nle", greater | unordered},
    {"neq", less | greater | unordered},
    {"nlt", greater | equal | unordered},
    {"t", 15},
};
constexpr Condition integer_conditions[] = {
    {"f", 0},
    {"lt", less},
    {"eq", equal},
    {"le", less | equal},
    {"gt", greater},
    {"ne", less | greater},
    {"ge", greater | equal},
    {"t", 7},
    {"lg", less | greater},
};

Order compared(const Format &f, u64 a, u64 b, const Env &e) {
    if (f.nan(a) || f.nan(b))
        return unordered;
    Real x(f, flushed(f, a, e)), y(f, flushed(f, b, e));
    int c = mpfr_cmp(x, y);
    return c < 0 ? less : c > 0 ? greater : equal;
}

template <class Integer> Order compared(Integer a, Integer b) {
    return a < b ? less : a > b ? greater : equal;
}

std::function<bool(const In &, const Env &)> test_of(T t, int true_for) {
    unsigned width = is_64(t) ? 64 : is_16(t) ? 16 : 32;
    if (is_float(t))
        return [=](const In &in, const Env &e) {
            return (compared(format_of(t), in.a, in.b, e) & true_for) != 0;
        };
    if (t == T::i16 || t == T::i32 || t == T::i64)
        return [=](const In &in, const Env &) {
            return (compared(sign_extended(width, in.a), sign_extended(width, in.b)) & true_for) !=
                   0;
        };
    return [=](const In &in, const Env &) {
        return (compared(low(width, in.a), low(width, in.b)) & true_for) != 0;
    };
}

void add_both(Rows &rows, const std::string &rest, T a, T b,
              std::function<bool(const In &, const Env &)> truth) {
    for (bool x : {false, true}) {
        Row r{(x ? "v_cmpx_" : "v_cmp_") + rest,
              x ? Form::comparex : Form::compare,
              T::none,
              a,
              b,
              T::none,
              {}};
        r.f = [truth](const In &in, const Env &e) { return Out(0, truth(in, e)); };
        r.omod = r.clamp = false;
        r.modifiers = is_float(a);
        add(rows, r);
    }
}

// Flushing doesn't matter to a class (2.22).
bool in_class(const Format &f, u64 x, u64 mask) {
    unsigned bit;
    if (f.nan(x))
        bit = f.signalling(x) ? 0 : 1;
    else {
        unsigned size = f.inf(x) ? 3 : f.zero(x) ? 0 : f.subnormal(x) ? 1 : 2;
        bit = f.negative(x) ? 5 - size : 6 + size;
    }
    return mask >> bit & 1;
}

} // namespace

void add_compare_rows(Rows &rows) {
    struct Named {
        const char *name;
        T t;
    };
    constexpr Named floats[] = {{"f16", T::h16}, {"f32", T::s32}, {"f64", T::d64}};
    constexpr Named integers[] = {{"u16", T::u16}, {"i16", T::i16}, {"u32", T::u32},
                                  {"i32", T::i32}, {"u64", T::u64}, {"i64", T::i64}};
    for (const Named &type : floats) {
        for (const Condition &c : float_conditions) {
            add_both(rows, std::string(c.name) + "_" + type.name, type.t, type.t,
                     test_of(type.t, c.true_for));
            Row s{"s_cmp_" + std::string(c.name) + "_" + type.name,
                  Form::scalar_compare,
                  T::none,
                  type.t,
                  type.t,
                  T::none,
                  {}};
            auto truth = test_of(type.t, c.true_for);
            s.f = [truth](const In &in, const Env &e) { return Out(0, truth(in, e)); };
            add(rows, s);
        }
        // On gfx11 f16's mask is a whole register, too: its bits 9:0 matter.
        add_both(
            rows, std::string("class_") + type.name, type.t, is_16(type.t) ? T::u16 : T::u32,
            [t = type.t](const In &in, const Env &) { return in_class(format_of(t), in.a, in.b); });
    }
    for (const Named &type : integers)
        for (const Condition &c : integer_conditions) {
            auto truth = test_of(type.t, c.true_for);
            if (std::string_view(c.name) != "lg")
                add_both(rows, std::string(c.name) + "_" + type.name, type.t, type.t, truth);
            if (is_16(type.t))
                continue;
            Row s{"s_cmp_" + std::string(c.name) + "_" + type.name,
                  Form::scalar_compare,
                  T::none,
                  type.t,
                  type.t,
                  T::none,
                  {}};
            s.f = [truth](const In &in, const Env &e) { return Out(0, truth(in, e)); };
            add(rows, s);
        }
}

} // namespace nw::oracle
