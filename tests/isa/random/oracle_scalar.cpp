// SPDX-License-Identifier: MIT
// Scalar instructions and their SCC (4.1 to 4.4, 4.7).
#include <algorithm>
#include <bit>

#include "isa/random/oracle_float.h"

namespace nw::oracle {

namespace {

i128 exact(T t, u64 x) {
    bool is_signed = t == T::i32 || t == T::i64;
    unsigned width = is_64(t) ? 64 : 32;
    return is_signed ? i128{sign_extended(width, x)} : i128{low(width, x)};
}

enum class Scc { kept, nonzero, carry, overflow };

// d: the old destination, s: the old SCC
using Value = i128 (*)(i128 a, i128 b, i128 d, bool s);

bool new_scc(Scc kind, T d, i128 v, bool old) {
    unsigned width = is_64(d) ? 64 : 32;
    switch (kind) {
    case Scc::kept:
        return old;
    case Scc::nonzero:
        return low(width, static_cast<u64>(v)) != 0;
    case Scc::carry: // of unsigned operands: also a borrow
        return v < 0 || v >> width != 0;
    case Scc::overflow:
        return v < -(i128{1} << (width - 1)) || v >= i128{1} << (width - 1);
    }
    return false;
}

Row scalar(const std::string &name, T d, T a, T b, Value f, Scc kind, Form form = Form::scalar) {
    Row r{name, form, d, a, b, T::u32, {}};
    r.f = [=](const In &in, const Env &) {
        i128 old = exact(d, in.d);
        i128 second = form == Form::scalar_imm ? i128{sign_extended(16, in.b)} : exact(b, in.b);
        i128 v = f(exact(a, in.a), second, old, in.flag);
        return Out(low(is_64(d) ? 64 : 32, static_cast<u64>(v)), new_scc(kind, d, v, in.flag));
    };
    return r;
}

void one(Rows &rows, const char *name, T d, T a, Value f, Scc kind) {
    add(rows, scalar(name, d, a, T::none, f, kind));
}
void two(Rows &rows, const char *name, T d, T a, T b, Value f, Scc kind) {
    add(rows, scalar(name, d, a, b, f, kind));
}

struct Bitwise {
    const char *name;
    i128 (*f)(i128 a, i128 b);
};
constexpr Bitwise bitwise[] = {
    {"and", [](i128 a, i128 b) { return a & b; }},
    {"or", [](i128 a, i128 b) { return a | b; }},
    {"xor", [](i128 a, i128 b) { return a ^ b; }},
    {"nand", [](i128 a, i128 b) { return ~(a & b); }},
    {"nor", [](i128 a, i128 b) { return ~(a | b); }},
    {"xnor", [](i128 a, i128 b) { return ~(a ^ b); }},
    {"andn2", [](i128 a, i128 b) { return a & ~b; }},
    {"and_not1", [](i128 a, i128 b) { return a & ~b; }},
    {"and_not0", [](i128 a, i128 b) { return ~a & b; }},
    {"orn2", [](i128 a, i128 b) { return a | ~b; }},
    {"or_not1", [](i128 a, i128 b) { return a | ~b; }},
    {"or_not0", [](i128 a, i128 b) { return ~a | b; }},
};

void add_logic(Rows &rows) {
    for (const Bitwise &op : bitwise)
        for (T t : {T::u32, T::u64}) {
            std::string bits = t == T::u64 ? "_b64" : "_b32";
            unsigned width = t == T::u64 ? 64 : 32;
            Row r{"s_" + std::string(op.name) + bits, Form::scalar, t, t, t, T::u32, {}};
            r.f = [=, f = op.f](const In &in, const Env &) {
                u64 v = low(width, static_cast<u64>(f(exact(t, in.a), exact(t, in.b))));
                return Out(v, v != 0);
            };
            add(rows, r);
            for (bool wrexec : {false, true}) { // 4.3: EXEC takes the value; SCC: EXEC isn't 0
                Row x{"s_" + std::string(op.name) + (wrexec ? "_wrexec" : "_saveexec") + bits,
                      Form::exec,
                      t,
                      t,
                      T::none,
                      T::u32,
                      {}};
                x.f = [=, f = op.f](const In &in, const Env &) {
                    u64 exec = low(width, in.exec);
                    u64 v = low(width, static_cast<u64>(f(exact(t, in.a), i128{exec})));
                    Out out(wrexec ? v : exec, v != 0);
                    out.exec = width == 64 ? v : (in.exec >> 32 << 32) | v;
                    return out;
                };
                add(rows, x);
            }
        }
}

i128 leading(i128 a, int width) {
    u64 v = static_cast<u64>(a);
    return v ? std::countl_zero(v) - (64 - width) : -1;
}
i128 sign_bits(i128 a, unsigned width) {
    u64 v = static_cast<u64>(a);
    for (unsigned n = 1; n < width; ++n)
        if ((v >> (width - 1 - n) & 1) != (v >> (width - 1) & 1))
            return n;
    return -1;
}
u64 reversed(u64 x, unsigned width) {
    u64 r = 0;
    for (unsigned n = 0; n < width; ++n)
        r |= (x >> n & 1) << (width - 1 - n);
    return r;
}
i128 quads(u64 x, bool whole) { // 4.2
    u64 r = 0;
    for (unsigned q = 0; q < 16; ++q)
        if (x >> 4 * q & 15)
            r |= whole ? u64{15} << 4 * q : u64{1} << q;
    return r;
}
i128 doubled(u64 x) {
    u64 r = 0;
    for (unsigned n = 0; n < 32; ++n)
        r |= (x >> n & 1 ? u64{3} : 0) << 2 * n;
    return r;
}

// 4.1: width S1[22:16]; beyond the register: all that is left (section 7: above 64 is open).
template <unsigned bits, bool is_signed> i128 extracted(i128 a, i128 b, i128, bool) {
    unsigned offset = static_cast<unsigned>(b) & (bits - 1);
    unsigned width = std::min(static_cast<unsigned>(b >> 16) & 127, bits);
    if (!width)
        return 0;
    i128 shifted = is_signed ? i128{sign_extended(bits, static_cast<u64>(a))} >> offset
                             : i128{low(bits, static_cast<u64>(a))} >> offset;
    return is_signed ? i128{sign_extended(width, static_cast<u64>(shifted))}
                     : i128{low(width, static_cast<u64>(shifted))};
}

void add_bits(Rows &r) {
    for (T t : {T::u32, T::u64}) {
        bool wide = t == T::u64;
        auto named = [&](const char *stem) { return stem + std::string(wide ? "_b64" : "_b32"); };
        one(
            r, named("s_not").c_str(), t, t, [](i128 a, i128, i128, bool) { return ~a; },
            Scc::nonzero);
        one(
            r, named("s_mov").c_str(), t, t, [](i128 a, i128, i128, bool) { return a; }, Scc::kept);
        one(
            r, named("s_cmov").c_str(), t, t,
            [](i128 a, i128, i128 d, bool s) { return s ? a : d; }, Scc::kept);
        two(
            r, named("s_cselect").c_str(), t, t, t,
            [](i128 a, i128 b, i128, bool s) { return s ? a : b; }, Scc::kept);
        one(
            r, named("s_wqm").c_str(), t, t,
            [](i128 a, i128, i128, bool) { return quads(static_cast<u64>(a), true); },
            Scc::nonzero);
        one(
            r, named("s_quadmask").c_str(), t, t,
            [](i128 a, i128, i128, bool) { return quads(static_cast<u64>(a), false); },
            Scc::nonzero);
        one(
            r, named("s_bcnt1_i32").c_str(), T::u32, t,
            [](i128 a, i128, i128, bool) { return i128{std::popcount(static_cast<u64>(a))}; },
            Scc::nonzero);
        constexpr Value zero32 = [](i128 a, i128, i128, bool) {
            const u32 clear = ~static_cast<u32>(a);
            return clear ? i128{std::countr_zero(clear)} : i128{-1};
        };
        constexpr Value zero64 = [](i128 a, i128, i128, bool) {
            const u64 clear = ~static_cast<u64>(a);
            return clear ? i128{std::countr_zero(clear)} : i128{-1};
        };
        one(r, named("s_ff0_i32").c_str(), T::u32, t, wide ? zero64 : zero32, Scc::kept);
        one(
            r, named("s_ctz_i32").c_str(), T::u32, t,
            [](i128 a, i128, i128, bool) {
                return a ? i128{std::countr_zero(static_cast<u64>(a))} : i128{-1};
            },
            Scc::kept);
        auto shifted = [&](const char *stem, Value narrow, Value full) {
            two(r, named(stem).c_str(), t, t, T::u32, wide ? full : narrow, Scc::nonzero);
        };
        shifted(
            "s_lshl", [](i128 a, i128 b, i128, bool) { return a << int(b & 31); },
            [](i128 a, i128 b, i128, bool) {
                return static_cast<i128>(static_cast<u128>(a) << int(b & 63));
            });
        shifted(
            "s_lshr", [](i128 a, i128 b, i128, bool) { return a >> int(b & 31); },
            [](i128 a, i128 b, i128, bool) { return a >> int(b & 63); });
        one(r, named("s_bitset0").c_str(), t, T::u32,
            wide ? Value([](i128 a, i128, i128 d, bool) { return d & ~(i128{1} << int(a & 63)); })
                 : Value([](i128 a, i128, i128 d, bool) { return d & ~(i128{1} << int(a & 31)); }),
            Scc::kept);
        one(r, named("s_bitset1").c_str(), t, T::u32,
            wide ? Value([](i128 a, i128, i128 d, bool) { return d | i128{1} << int(a & 63); })
                 : Value([](i128 a, i128, i128 d, bool) { return d | i128{1} << int(a & 31); }),
            Scc::kept);
    }
    two(
        r, "s_ashr_i32", T::i32, T::i32, T::u32,
        [](i128 a, i128 b, i128, bool) { return a >> int(b & 31); }, Scc::nonzero);
    two(
        r, "s_ashr_i64", T::i64, T::i64, T::u32,
        [](i128 a, i128 b, i128, bool) { return a >> int(b & 63); }, Scc::nonzero);
    two(
        r, "s_bfm_b32", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return ((i128{1} << int(a & 31)) - 1) << int(b & 31); },
        Scc::kept);
    two(
        r, "s_bfm_b64", T::u64, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) {
            return static_cast<i128>(static_cast<u128>((i128{1} << int(a & 63)) - 1)
                                     << int(b & 63));
        },
        Scc::kept);
    two(r, "s_bfe_u32", T::u32, T::u32, T::u32, extracted<32, false>, Scc::nonzero);
    two(r, "s_bfe_i32", T::i32, T::u32, T::u32, extracted<32, true>, Scc::nonzero);
    two(r, "s_bfe_u64", T::u64, T::u64, T::u32, extracted<64, false>, Scc::nonzero);
    two(r, "s_bfe_i64", T::i64, T::u64, T::u32, extracted<64, true>, Scc::nonzero);
    one(
        r, "s_brev_b32", T::u32, T::u32,
        [](i128 a, i128, i128, bool) { return i128{reversed(static_cast<u64>(a), 32)}; },
        Scc::kept);
    one(
        r, "s_brev_b64", T::u64, T::u64,
        [](i128 a, i128, i128, bool) { return i128{reversed(static_cast<u64>(a), 64)}; },
        Scc::kept);
    one(
        r, "s_clz_i32_u32", T::u32, T::u32, [](i128 a, i128, i128, bool) { return leading(a, 32); },
        Scc::kept);
    one(
        r, "s_clz_i32_u64", T::u32, T::u64, [](i128 a, i128, i128, bool) { return leading(a, 64); },
        Scc::kept);
    one(
        r, "s_cls_i32", T::u32, T::u32, [](i128 a, i128, i128, bool) { return sign_bits(a, 32); },
        Scc::kept);
    one(
        r, "s_cls_i32_i64", T::u32, T::u64,
        [](i128 a, i128, i128, bool) { return sign_bits(a, 64); }, Scc::kept);
    one(
        r, "s_bcnt0_i32_b32", T::u32, T::u32,
        [](i128 a, i128, i128, bool) { return i128{32 - std::popcount(static_cast<u64>(a))}; },
        Scc::nonzero);
    one(
        r, "s_bcnt0_i32_b64", T::u32, T::u64,
        [](i128 a, i128, i128, bool) { return i128{64 - std::popcount(static_cast<u64>(a))}; },
        Scc::nonzero);
    one(
        r, "s_sext_i32_i8", T::i32, T::u32,
        [](i128 a, i128, i128, bool) { return i128{sign_extended(8, static_cast<u64>(a))}; },
        Scc::kept);
    one(
        r, "s_sext_i32_i16", T::i32, T::u32,
        [](i128 a, i128, i128, bool) { return i128{sign_extended(16, static_cast<u64>(a))}; },
        Scc::kept);
    one(
        r, "s_bitreplicate_b64_b32", T::u64, T::u32,
        [](i128 a, i128, i128, bool) { return doubled(static_cast<u64>(a)); }, Scc::kept);
    two(
        r, "s_pack_ll_b32_b16", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return (a & 0xffff) | (b & 0xffff) << 16; }, Scc::kept);
    two(
        r, "s_pack_lh_b32_b16", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return (a & 0xffff) | (b >> 16) << 16; }, Scc::kept);
    two(
        r, "s_pack_hl_b32_b16", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return a >> 16 | (b & 0xffff) << 16; }, Scc::kept);
    two(
        r, "s_pack_hh_b32_b16", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return a >> 16 | (b >> 16) << 16; }, Scc::kept);
}

void add_arithmetic(Rows &r) {
    Value sum = [](i128 a, i128 b, i128, bool) { return a + b; };
    Value difference = [](i128 a, i128 b, i128, bool) { return a - b; };
    for (const char *name : {"s_add_u32", "s_add_co_u32"})
        two(r, name, T::u32, T::u32, T::u32, sum, Scc::carry);
    for (const char *name : {"s_sub_u32", "s_sub_co_u32"})
        two(r, name, T::u32, T::u32, T::u32, difference, Scc::carry);
    for (const char *name : {"s_addc_u32", "s_add_co_ci_u32"})
        two(
            r, name, T::u32, T::u32, T::u32, [](i128 a, i128 b, i128, bool s) { return a + b + s; },
            Scc::carry);
    for (const char *name : {"s_subb_u32", "s_sub_co_ci_u32"})
        two(
            r, name, T::u32, T::u32, T::u32, [](i128 a, i128 b, i128, bool s) { return a - b - s; },
            Scc::carry);
    for (const char *name : {"s_add_i32", "s_add_co_i32"})
        two(r, name, T::i32, T::i32, T::i32, sum, Scc::overflow);
    for (const char *name : {"s_sub_i32", "s_sub_co_i32"})
        two(r, name, T::i32, T::i32, T::i32, difference, Scc::overflow);
    two(r, "s_add_nc_u64", T::u64, T::u64, T::u64, sum, Scc::kept);
    two(r, "s_sub_nc_u64", T::u64, T::u64, T::u64, difference, Scc::kept);
    Value product = [](i128 a, i128 b, i128, bool) {
        return static_cast<i128>(static_cast<u128>(a) * static_cast<u128>(b));
    };
    two(r, "s_mul_u64", T::u64, T::u64, T::u64, product, Scc::kept);
    two(r, "s_mul_i32", T::u32, T::u32, T::u32, product, Scc::kept);
    Value high = [](i128 a, i128 b, i128, bool) { return a * b >> 32; };
    two(r, "s_mul_hi_u32", T::u32, T::u32, T::u32, high, Scc::kept);
    two(r, "s_mul_hi_i32", T::i32, T::i32, T::i32, high, Scc::kept);
    two(
        r, "s_absdiff_i32", T::i32, T::i32, T::i32,
        [](i128 a, i128 b, i128, bool) { // 4.1: the difference wraps before its sign is taken
            i64 d = sign_extended(32, static_cast<u64>(a - b));
            return i128{d < 0 ? -d : d};
        },
        Scc::nonzero);
    one(
        r, "s_abs_i32", T::i32, T::i32, [](i128 a, i128, i128, bool) { return a < 0 ? -a : a; },
        Scc::nonzero);
    two(
        r, "s_lshl1_add_u32", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return (a << 1) + b; }, Scc::carry);
    two(
        r, "s_lshl2_add_u32", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return (a << 2) + b; }, Scc::carry);
    two(
        r, "s_lshl3_add_u32", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return (a << 3) + b; }, Scc::carry);
    two(
        r, "s_lshl4_add_u32", T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128, bool) { return (a << 4) + b; }, Scc::carry);
    for (T t : {T::u32, T::i32})
        for (bool lesser : {true, false}) {
            Row m{std::string(lesser ? "s_min" : "s_max") + (t == T::u32 ? "_u32" : "_i32"),
                  Form::scalar,
                  t,
                  t,
                  t,
                  T::u32,
                  {}};
            m.f = [=](const In &in, const Env &) {
                i128 a = exact(t, in.a), b = exact(t, in.b);
                bool first = lesser ? a < b : a >= b; // SCC on equality of max: open, >= by default
                return Out(low(32, static_cast<u64>(first ? a : b)), first);
            };
            add(r, m);
        }
}

void immediate(Rows &rows, const char *name, Value f, Scc kind) {
    add(rows, scalar(name, T::i32, T::none, T::u32, f, kind, Form::scalar_imm));
}

void add_immediates(Rows &r) {
    immediate(
        r, "s_movk_i32", [](i128, i128 b, i128, bool) { return b; }, Scc::kept);
    immediate(
        r, "s_cmovk_i32", [](i128, i128 b, i128 d, bool s) { return s ? b : d; }, Scc::kept);
    for (const char *name : {"s_addk_i32", "s_addk_co_i32"})
        immediate(
            r, name, [](i128, i128 b, i128 d, bool) { return d + b; }, Scc::overflow);
    immediate(
        r, "s_mulk_i32", [](i128, i128 b, i128 d, bool) { return d * b; }, Scc::kept);
    struct Condition {
        const char *name;
        bool (*truth)(i128 a, i128 b);
    };
    constexpr Condition conditions[] = {{"eq", [](i128 a, i128 b) { return a == b; }},
                                        {"lg", [](i128 a, i128 b) { return a != b; }},
                                        {"gt", [](i128 a, i128 b) { return a > b; }},
                                        {"ge", [](i128 a, i128 b) { return a >= b; }},
                                        {"lt", [](i128 a, i128 b) { return a < b; }},
                                        {"le", [](i128 a, i128 b) { return a <= b; }}};
    for (const Condition &c : conditions)
        for (T t : {T::u32, T::i32}) {
            Row k{"s_cmpk_" + std::string(c.name) + (t == T::u32 ? "_u32" : "_i32"),
                  Form::scalar_imm,
                  T::none,
                  t,
                  T::u32,
                  T::u32,
                  {}};
            k.f = [=, truth = c.truth](const In &in, const Env &) {
                i128 imm = t == T::u32 ? i128{low(16, in.b)} : i128{sign_extended(16, in.b)};
                return Out(0, truth(exact(t, in.a), imm));
            };
            add(r, k);
        }
    for (T t : {T::u32, T::u64})
        for (bool set : {false, true}) {
            Row b{std::string("s_bitcmp") + (set ? "1" : "0") + (t == T::u32 ? "_b32" : "_b64"),
                  Form::scalar_compare,
                  T::none,
                  t,
                  T::u32,
                  T::u32,
                  {}};
            b.f = [=](const In &in, const Env &) {
                unsigned n = in.b & (t == T::u32 ? 31 : 63);
                return Out(0, (in.a >> n & 1) == set);
            };
            add(r, b);
        }
}

// 4.7: the vector instruction's bits without modifiers; SCC stays.
void add_floats(Rows &r) {
    constexpr const char *like_vector[] = {
        "add_f32",     "sub_f32",           "mul_f32",     "fmac_f32",    "fmamk_f32",
        "fmaak_f32",   "ceil_f32",          "floor_f32",   "trunc_f32",   "rndne_f32",
        "min_f32",     "max_f32",           "min_num_f32", "max_num_f32", "minimum_f32",
        "maximum_f32", "add_f16",           "sub_f16",     "mul_f16",     "fmac_f16",
        "ceil_f16",    "floor_f16",         "trunc_f16",   "rndne_f16",   "min_f16",
        "max_f16",     "min_num_f16",       "max_num_f16", "minimum_f16", "maximum_f16",
        "cvt_f32_i32", "cvt_f32_u32",       "cvt_i32_f32", "cvt_u32_f32", "cvt_f16_f32",
        "cvt_f32_f16", "cvt_pk_rtz_f16_f32"};
    constexpr u64 literal = 0x3fc90000;
    for (std::string name : like_vector) {
        const Row &v = r.at("v_" + name);
        Row s{"s_" + name, v.form == Form::accumulate ? Form::scalar_acc : Form::scalar,
              v.d,         v.a,
              v.b,         v.c,
              {}};
        s.f = [f = v.f, name](const In &in, const Env &e) {
            In x = in;
            x.c = low(name.ends_with("f16") ? 16 : 32, in.d);
            if (name == "fmamk_f32")
                x.c = in.b, x.b = literal;
            if (name == "fmaak_f32")
                x.c = literal;
            return Out(f(x, e).d, in.flag);
        };
        add(r, s);
    }
    Row hi{"s_cvt_hi_f32_f16", Form::scalar, T::s32, T::pkh16, T::none, T::u32, {}};
    hi.f = [](const In &in, const Env &e) {
        u64 half = flushed(f16, low(16, in.a >> 16), e);
        return Out(converted(f32, f16, half, Rounding(f32, e), e.ieee()), in.flag);
    };
    add(r, hi);
}

} // namespace

void add_scalar_rows(Rows &rows) {
    add_logic(rows);
    add_bits(rows);
    add_arithmetic(rows);
    add_immediates(rows);
    add_floats(rows);
}

} // namespace nw::oracle
