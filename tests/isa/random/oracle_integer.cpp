// SPDX-License-Identifier: MIT
// Integer rows: plain C++ on 64 bits and more, never the width of the operation itself.
#include <algorithm>
#include <bit>

#include "isa/random/oracle.h"

namespace nw::oracle {

namespace {

using Value = i128 (*)(i128 a, i128 b, i128 c); // exact

unsigned width(T t) { return is_64(t) ? 64 : is_16(t) ? 16 : 32; }
bool is_signed(T t) { return t == T::i16 || t == T::i32 || t == T::i64; }
i128 exact(T t, u64 x) {
    return is_signed(t) ? i128{sign_extended(width(t), x)} : i128{low(width(t), x)};
}

// The exact value's low bits; what CLAMP saturates where `saturates` says so (2.13).
void arithmetic(Rows &rows, const char *name, T d, T a, T b, T c, Value f, bool saturates) {
    Row r{name, Form::plain, d, a, b, c, {}};
    r.f = [=](const In &in, const Env &) {
        i128 v = f(exact(a, in.a), exact(b, in.b), exact(c, in.c));
        Out out(low(width(d), static_cast<u64>(v)));
        if (saturates)
            out.wide = v;
        return out;
    };
    r.clamp = saturates;
    r.modifiers = r.omod = false;
    add(rows, r);
}
void value(Rows &rows, const char *name, T t, Value f) {
    arithmetic(rows, name, t, t, t, T::none, f, false);
}
void value3(Rows &rows, const char *name, T t, Value f) {
    arithmetic(rows, name, t, t, t, t, f, false);
}
void saturating(Rows &rows, const char *name, T t, Value f) {
    arithmetic(rows, name, t, t, t, T::none, f, true);
}
void unary(Rows &rows, const char *name, T d, T a, Value f) {
    arithmetic(rows, name, d, a, T::none, T::none, f, false);
}

i128 low24(i128 x) { return sign_extended(24, static_cast<u64>(x)); }
u32 word(i128 x) { return static_cast<u32>(x); }
unsigned byte(u32 x, unsigned n) { return x >> 8 * n & 255; }

i128 median(i128 a, i128 b, i128 c) {
    return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

u32 sum_of_differences(u32 a, u32 b, bool masked) { // 2.63
    u32 sum = 0;
    for (unsigned n = 0; n < 4; ++n)
        if (!masked || byte(b, n))
            sum += static_cast<u32>(std::abs(int(byte(a, n)) - int(byte(b, n))));
    return sum;
}

u32 permuted(u32 a, u32 b, u32 selector) { // 2.61
    u64 both = u64{a} << 32 | b;
    u32 result = 0;
    for (unsigned n = 0; n < 4; ++n) {
        unsigned s = byte(selector, n), out;
        if (s <= 7)
            out = both >> 8 * s & 255;
        else if (s <= 11)
            out = both >> (8 * (2 * (s - 8) + 1) + 7) & 1 ? 255 : 0;
        else
            out = s == 12 ? 0 : 255;
        result |= out << 8 * n;
    }
    return result;
}

u32 averaged(u32 a, u32 b, u32 c) { // 2.62
    u32 result = 0;
    for (unsigned n = 0; n < 4; ++n)
        result |= (byte(a, n) + byte(b, n) + (byte(c, n) & 1)) >> 1 << 8 * n;
    return result;
}

u32 reversed(u32 x) {
    u32 r = 0;
    for (unsigned n = 0; n < 32; ++n)
        r |= (x >> n & 1) << (31 - n);
    return r;
}

// Leading bits that equal the sign; -1 where all do (2.65).
i128 count_sign_bits(i128 x) {
    u32 v = word(x);
    for (unsigned n = 1; n < 32; ++n)
        if ((v >> (31 - n) & 1) != v >> 31)
            return n;
    return -1;
}

u32 saturated_byte(u32 half) {
    return static_cast<u32>(std::clamp<i64>(sign_extended(16, half), 0, 255));
}

void add_bits(Rows &r) {
    value3(r, "v_and_or_b32", T::u32, [](i128 a, i128 b, i128 c) { return (a & b) | c; });
    value3(r, "v_or3_b32", T::u32, [](i128 a, i128 b, i128 c) { return a | b | c; });
    value3(r, "v_xor3_b32", T::u32, [](i128 a, i128 b, i128 c) { return a ^ b ^ c; });
    value3(r, "v_bfi_b32", T::u32, [](i128 a, i128 b, i128 c) { return (a & b) | (~a & c); });
    for (auto [suffix, t] : {std::pair{"_b32", T::u32}, {"_b16", T::u16}}) {
        auto named = [&](const char *stem) { return std::string(stem) + suffix; };
        value(r, named("v_and").c_str(), t, [](i128 a, i128 b, i128) { return a & b; });
        value(r, named("v_or").c_str(), t, [](i128 a, i128 b, i128) { return a | b; });
        value(r, named("v_xor").c_str(), t, [](i128 a, i128 b, i128) { return a ^ b; });
        unary(r, named("v_not").c_str(), t, t, [](i128 a, i128, i128) { return ~a; });
    }
    value(r, "v_xnor_b32", T::u32, [](i128 a, i128 b, i128) { return ~(a ^ b); });
    unary(r, "v_bfrev_b32", T::u32, T::u32,
          [](i128 a, i128, i128) { return i128{reversed(word(a))}; });
    unary(r, "v_ctz_i32_b32", T::u32, T::u32,
          [](i128 a, i128, i128) { return a ? i128{std::countr_zero(word(a))} : i128{-1}; });
    unary(r, "v_clz_i32_u32", T::u32, T::u32,
          [](i128 a, i128, i128) { return a ? i128{std::countl_zero(word(a))} : i128{-1}; });
    unary(r, "v_cls_i32", T::u32, T::u32, [](i128 a, i128, i128) { return count_sign_bits(a); });
    value(r, "v_bcnt_u32_b32", T::u32,
          [](i128 a, i128 b, i128) { return std::popcount(word(a)) + b; });
    value3(r, "v_bfe_u32", T::u32, [](i128 a, i128 b, i128 c) {
        return (a >> int(b & 31)) & ((i128{1} << int(c & 31)) - 1);
    });
    value3(r, "v_bfe_i32", T::u32, [](i128 a, i128 b, i128 c) {
        int w = int(c & 31);
        i128 signed_a = sign_extended(32, static_cast<u64>(a)); // past bit 31: copies of the sign
        return w ? i128{sign_extended(static_cast<unsigned>(w),
                                      static_cast<u64>(signed_a >> int(b & 31)))}
                 : i128{0};
    });
    value(r, "v_bfm_b32", T::u32,
          [](i128 a, i128 b, i128) { return ((i128{1} << int(a & 31)) - 1) << int(b & 31); });
    value3(r, "v_perm_b32", T::u32,
           [](i128 a, i128 b, i128 c) { return i128{permuted(word(a), word(b), word(c))}; });
    value3(r, "v_alignbit_b32", T::u32,
           [](i128 a, i128 b, i128 c) { return (a << 32 | b) >> int(c & 31); });
    value3(r, "v_alignbyte_b32", T::u32,
           [](i128 a, i128 b, i128 c) { return (a << 32 | b) >> 8 * int(c & 3); });
    arithmetic(
        r, "v_pack_b32_f16", T::u32, T::u16, T::u16, T::none,
        [](i128 a, i128 b, i128) { return b << 16 | a; }, false);
    value3(r, "v_lerp_u8", T::u32,
           [](i128 a, i128 b, i128 c) { return i128{averaged(word(a), word(b), word(c))}; });
    // Bit movers (2.8); NEG and ABS on them are v_mov's own tests.
    unary(r, "v_mov_b32", T::u32, T::u32, [](i128 a, i128, i128) { return a; });
    unary(r, "v_mov_b16", T::u16, T::u16, [](i128 a, i128, i128) { return a; });
}

void add_shifts(Rows &r) {
    value(r, "v_lshlrev_b32", T::u32, [](i128 a, i128 b, i128) { return b << int(a & 31); });
    value(r, "v_lshrrev_b32", T::u32, [](i128 a, i128 b, i128) { return b >> int(a & 31); });
    value(r, "v_ashrrev_i32", T::i32, [](i128 a, i128 b, i128) { return b >> int(a & 31); });
    value(r, "v_lshlrev_b16", T::u16, [](i128 a, i128 b, i128) { return b << int(a & 15); });
    value(r, "v_lshrrev_b16", T::u16, [](i128 a, i128 b, i128) { return b >> int(a & 15); });
    value(r, "v_ashrrev_i16", T::i16, [](i128 a, i128 b, i128) { return b >> int(a & 15); });
    arithmetic(
        r, "v_lshlrev_b64", T::u64, T::u32, T::u64, T::none,
        [](i128 a, i128 b, i128) { return static_cast<i128>(static_cast<u128>(b) << int(a & 63)); },
        false);
    arithmetic(
        r, "v_lshrrev_b64", T::u64, T::u32, T::u64, T::none,
        [](i128 a, i128 b, i128) { return b >> int(a & 63); }, false);
    arithmetic(
        r, "v_ashrrev_i64", T::i64, T::u32, T::i64, T::none,
        [](i128 a, i128 b, i128) { return b >> int(a & 63); }, false);
    value3(r, "v_lshl_or_b32", T::u32, [](i128 a, i128 b, i128 c) { return a << int(b & 31) | c; });
    value3(r, "v_lshl_add_u32", T::u32,
           [](i128 a, i128 b, i128 c) { return (a << int(b & 31)) + c; });
    value3(r, "v_add_lshl_u32", T::u32,
           [](i128 a, i128 b, i128 c) { return (a + b) << int(c & 31); });
}

i128 sum(i128 a, i128 b, i128) { return a + b; }
i128 difference(i128 a, i128 b, i128) { return a - b; }
i128 multiply_add(i128 a, i128 b, i128 c) { return a * b + c; }

void add_arithmetic(Rows &r) {
    for (auto [suffix, t] :
         {std::pair{"_u32", T::u32}, {"_i32", T::i32}, {"_u16", T::u16}, {"_i16", T::i16}}) {
        saturating(r, (std::string("v_add_nc") + suffix).c_str(), t, sum);
        saturating(r, (std::string("v_sub_nc") + suffix).c_str(), t, difference);
    }
    saturating(r, "v_subrev_nc_u32", T::u32, [](i128 a, i128 b, i128) { return b - a; });
    value3(r, "v_add3_u32", T::u32, [](i128 a, i128 b, i128 c) { return a + b + c; });
    value3(r, "v_xad_u32", T::u32, [](i128 a, i128 b, i128 c) { return (a ^ b) + c; });
    value(r, "v_mul_lo_u32", T::u32, [](i128 a, i128 b, i128) { return a * b; });
    value(r, "v_mul_lo_u16", T::u16, [](i128 a, i128 b, i128) { return a * b; });
    value(r, "v_mul_hi_u32", T::u32, [](i128 a, i128 b, i128) { return a * b >> 32; });
    value(r, "v_mul_hi_i32", T::i32, [](i128 a, i128 b, i128) { return a * b >> 32; });
    value(r, "v_mul_u32_u24", T::u32,
          [](i128 a, i128 b, i128) { return (a & 0xffffff) * (b & 0xffffff); });
    value(r, "v_mul_i32_i24", T::i32, [](i128 a, i128 b, i128) { return low24(a) * low24(b); });
    value(r, "v_mul_hi_u32_u24", T::u32,
          [](i128 a, i128 b, i128) { return (a & 0xffffff) * (b & 0xffffff) >> 32; });
    value(r, "v_mul_hi_i32_i24", T::i32,
          [](i128 a, i128 b, i128) { return low24(a) * low24(b) >> 32; });
    arithmetic(
        r, "v_mad_u32_u24", T::u32, T::u32, T::u32, T::u32,
        [](i128 a, i128 b, i128 c) { return (a & 0xffffff) * (b & 0xffffff) + c; }, true);
    arithmetic(
        r, "v_mad_i32_i24", T::i32, T::i32, T::i32, T::i32,
        [](i128 a, i128 b, i128 c) { return low24(a) * low24(b) + c; }, true);
    arithmetic(r, "v_mad_u16", T::u16, T::u16, T::u16, T::u16, multiply_add, true);
    arithmetic(r, "v_mad_i16", T::i16, T::i16, T::i16, T::i16, multiply_add, true);
    arithmetic(r, "v_mad_u32_u16", T::u32, T::u16, T::u16, T::u32, multiply_add, true);
    arithmetic(r, "v_mad_i32_i16", T::i32, T::i16, T::i16, T::i32, multiply_add, true);
    value3(r, "v_sad_u8", T::u32,
           [](i128 a, i128 b, i128 c) { return sum_of_differences(word(a), word(b), false) + c; });
    value3(r, "v_msad_u8", T::u32,
           [](i128 a, i128 b, i128 c) { return sum_of_differences(word(a), word(b), true) + c; });
    value3(r, "v_sad_hi_u8", T::u32, [](i128 a, i128 b, i128 c) {
        return (i128{sum_of_differences(word(a), word(b), false)} << 16) + c;
    });
    value3(r, "v_sad_u16", T::u32, [](i128 a, i128 b, i128 c) {
        auto half = [](i128 x, i128 y) { return x > y ? x - y : y - x; };
        return half(a & 0xffff, b & 0xffff) + half(a >> 16, b >> 16) + c;
    });
    value3(r, "v_sad_u32", T::u32,
           [](i128 a, i128 b, i128 c) { return (a > b ? a - b : b - a) + c; });
    arithmetic(
        r, "v_sat_pk_u8_i16", T::u16, T::u32, T::none, T::none,
        [](i128 a, i128, i128) {
            return i128{saturated_byte(word(a) & 0xffff) | saturated_byte(word(a) >> 16) << 8};
        },
        false);
}

void add_ordering(Rows &r) {
    for (auto [suffix, t] :
         {std::pair{"_u32", T::u32}, {"_i32", T::i32}, {"_u16", T::u16}, {"_i16", T::i16}}) {
        auto named = [&](const char *stem) { return std::string(stem) + suffix; };
        value(r, named("v_min").c_str(), t, [](i128 a, i128 b, i128) { return std::min(a, b); });
        value(r, named("v_max").c_str(), t, [](i128 a, i128 b, i128) { return std::max(a, b); });
        value3(r, named("v_min3").c_str(), t,
               [](i128 a, i128 b, i128 c) { return std::min(std::min(a, b), c); });
        value3(r, named("v_max3").c_str(), t,
               [](i128 a, i128 b, i128 c) { return std::max(std::max(a, b), c); });
        value3(r, named("v_med3").c_str(), t, median);
        if (is_16(t))
            continue;
        value3(r, named("v_minmax").c_str(), t,
               [](i128 a, i128 b, i128 c) { return std::max(std::min(a, b), c); });
        value3(r, named("v_maxmin").c_str(), t,
               [](i128 a, i128 b, i128 c) { return std::min(std::max(a, b), c); });
    }
}

// 3.10, 2.64: the carry is bit 32 of the sum, or the borrow.
Row carry_row(const char *name, Form form, bool subtract, bool reverse) {
    Row r{name, form, T::u32, T::u32, T::u32, T::none, {}};
    r.f = [=](const In &in, const Env &) {
        i128 a = low(32, reverse ? in.b : in.a), b = low(32, reverse ? in.a : in.b);
        i128 c = form == Form::carry && in.flag;
        i128 v = subtract ? a - b - c : a + b + c;
        Out out(low(32, static_cast<u64>(v)), v < 0 || v >> 32);
        out.wide = v;
        return out;
    };
    r.modifiers = r.omod = false;
    return r;
}

Row mad64(const char *name, bool is_signed) {
    Row r{name,
          Form::carry_mad,
          is_signed ? T::i64 : T::u64,
          is_signed ? T::i32 : T::u32,
          is_signed ? T::i32 : T::u32,
          is_signed ? T::i64 : T::u64,
          {}};
    r.f = [=](const In &in, const Env &) {
        i128 v =
            exact(is_signed ? T::i32 : T::u32, in.a) * exact(is_signed ? T::i32 : T::u32, in.b) +
            exact(is_signed ? T::i64 : T::u64, in.c);
        return Out(static_cast<u64>(v), v >> 64 & 1);
    };
    r.modifiers = r.omod = r.clamp = false;
    return r;
}

Row select_row(const char *name, T t) {
    Row r{name, Form::select, t, t, t, T::none, {}};
    r.f = [](const In &in, const Env &) { return Out(in.flag ? in.b : in.a); };
    r.omod = r.clamp = false;
    return r;
}

// 2.63: four windows of S0, at bytes 0 to 3, against S1.
u32 window(u64 a, unsigned n) { return static_cast<u32>(a >> 8 * n); }

void add_quad_sad(Rows &r) {
    for (bool masked : {false, true}) {
        Row row{masked ? "v_mqsad_pk_u16_u8" : "v_qsad_pk_u16_u8",
                Form::plain,
                T::u64,
                T::u64,
                T::u32,
                T::u64,
                {}};
        row.f = [=](const In &in, const Env &) {
            u64 d = 0;
            for (unsigned n = 0; n < 4; ++n) {
                u64 sad = sum_of_differences(window(in.a, n), static_cast<u32>(in.b), masked);
                d |= ((sad + (in.c >> 16 * n)) & 0xffff) << 16 * n;
            }
            return Out(d);
        };
        row.modifiers = row.omod = row.clamp = false;
        add(r, row);
    }
}

} // namespace

void add_integer_rows(Rows &r) {
    add_bits(r);
    add_shifts(r);
    add_arithmetic(r);
    add_ordering(r);
    add(r, carry_row("v_add_co_u32", Form::carry_out, false, false));
    add(r, carry_row("v_sub_co_u32", Form::carry_out, true, false));
    add(r, carry_row("v_subrev_co_u32", Form::carry_out, true, true));
    add(r, carry_row("v_add_co_ci_u32", Form::carry, false, false));
    add(r, carry_row("v_sub_co_ci_u32", Form::carry, true, false));
    add(r, carry_row("v_subrev_co_ci_u32", Form::carry, true, true));
    for (const char *name : {"v_mad_u64_u32", "v_mad_co_u64_u32"})
        add(r, mad64(name, false));
    for (const char *name : {"v_mad_i64_i32", "v_mad_co_i64_i32"})
        add(r, mad64(name, true));
    add(r, select_row("v_cndmask_b32", T::u32));
    add(r, select_row("v_cndmask_b16", T::u16));
    add_quad_sad(r);
}

} // namespace nw::oracle
