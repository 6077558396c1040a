// SPDX-License-Identifier: MIT
// Dot products: of floats one step, integers exactly.
#include "isa/random/oracle.h"
#include "isa/random/steps.h"

namespace nw::oracle {

namespace {

// 2.49, 2.52: gfx11 flushes subnormal bf16 factors.
Out dot2(const Format &in, const Format &out, u64 a, u64 b, u64 c, const Env &e) {
    const bool flush = !e.gfx12 && in == bf16;
    const Factor x[] = {factor(in, low(16, a), flush), factor(in, low(16, a >> 16), flush)},
                 y[] = {factor(in, low(16, b), flush), factor(in, low(16, b >> 16), flush)};
    return step(x, y, c, {e.gfx12, out, factor_nan(out), e.fp16_ovfl()});
}

Row dot2_row(const char *name, Form form, const Format &in, const Format &out, T d, T sources) {
    Row r{name, form, d, sources, sources, d, {}};
    r.f = [=](const In &in_, const Env &e) {
        u64 neg_a = (in_.signs & 1) << 15 | (in_.signs >> 3 & 1) << 31;
        u64 neg_b = (in_.signs >> 1 & 1) << 15 | (in_.signs >> 4 & 1) << 31;
        u64 a = in_.a ^ neg_a, b = in_.b ^ neg_b, c = in_.c;
        if (in_.signs >> 5 & 1)
            c &= ~out.sign();
        if (in_.signs >> 2 & 1)
            c ^= out.sign();
        return dot2(in, out, a, b, c, e);
    };
    r.omod = r.clamp = r.modifiers = false; // 2.9, 2.12
    return r;
}

// 2.59: the exact sum wraps, or saturates with CLAMP.
enum class Signs { none, modifier, both };

void integer_dot(Rows &rows, const char *name, unsigned width, Signs signs, Form form = Form::dot) {
    const bool by_modifier = signs == Signs::modifier, has_signs = signs != Signs::none;
    const T sum = has_signs ? T::i32 : T::u32;
    Row r{name, form, sum, T::u32, T::u32, sum, {}};
    r.f = [=](const In &in, const Env &) {
        i128 v = has_signs ? i128{sign_extended(32, in.c)} : i128{low(32, in.c)};
        for (unsigned at = 0; at < 32; at += width) {
            auto part = [&](u64 x, u32 is_signed) {
                u64 field = low(width, x >> at);
                return is_signed ? i128{sign_extended(width, field)} : i128{field};
            };
            v += part(in.a, by_modifier ? in.signs & 1 : has_signs) *
                 part(in.b, by_modifier ? in.signs & 2 : has_signs);
        }
        Out out(low(32, static_cast<u64>(v)));
        out.wide = v;
        return out;
    };
    r.modifiers = by_modifier;
    r.clamp = form == Form::dot;
    add(rows, r);
}

} // namespace

void add_dot_rows(Rows &rows) {
    add(rows, dot2_row("v_dot2_f32_f16", Form::dot, f16, f32, T::s32, T::pkh16));
    add(rows, dot2_row("v_dot2_f32_bf16", Form::dot, bf16, f32, T::s32, T::pkbf16));
    add(rows, dot2_row("v_dot2acc_f32_f16", Form::accumulate, f16, f32, T::s32, T::pkh16));
    add(rows, dot2_row("v_dot2acc_f32_bf16", Form::accumulate, bf16, f32, T::s32, T::pkbf16));
    add(rows, dot2_row("v_dot2c_f32_f16", Form::accumulate, f16, f32, T::s32, T::pkh16));
    add(rows, dot2_row("v_dot2_f16_f16", Form::plain, f16, f16, T::h16, T::pkh16));
    add(rows, dot2_row("v_dot2_bf16_bf16", Form::plain, bf16, bf16, T::u16, T::pkbf16));
    integer_dot(rows, "v_dot2_u32_u16", 16, Signs::none);
    integer_dot(rows, "v_dot4_u32_u8", 8, Signs::none);
    integer_dot(rows, "v_dot8_u32_u4", 4, Signs::none);
    integer_dot(rows, "v_dot4_i32_iu8", 8, Signs::modifier);
    integer_dot(rows, "v_dot8_i32_iu4", 4, Signs::modifier);
    integer_dot(rows, "v_dot2_i32_i16", 16, Signs::both);
    integer_dot(rows, "v_dot4_i32_i8", 8, Signs::both);
    integer_dot(rows, "v_dot8_i32_i4", 4, Signs::both);
    integer_dot(rows, "v_dot4c_i32_i8", 8, Signs::both, Form::accumulate);
}

} // namespace nw::oracle
