// SPDX-License-Identifier: MIT
// Carries, wide multiply-adds and division. Compiled once per host level.
#include "sim/func/alu/mask_operands.h"

#include "sim/func/alu/fp_div.h"
#include "sim/func/alu/operands.h"

namespace nw::sim::NW_LEVEL {

namespace {

// ---- carries: src2 is a mask source; the mask out has 0 in inactive lanes (3.10). i.flag: CLAMP

// One dword, and the carry or borrow out of it as all ones or zero. `in`: the same of what comes
// in. CLAMP gives `limit`.
struct Sum {
    static constexpr u32 limit = ~0u;
    static u32 result(u32 a, u32 b, u32 in) { return a + b - in; }
    static u32 out(u32 a, u32, u32 in, u32 sum) {
        return (sum < a ? ~0u : 0u) | (sum == a ? in : 0u);
    }
};
struct Difference {
    static constexpr u32 limit = 0;
    static u32 result(u32 a, u32 b, u32 in) { return a - b + in; }
    static u32 out(u32 a, u32 b, u32 in, u32) { return (a < b ? ~0u : 0u) | (a == b ? in : 0u); }
};

template <class F, bool Reversed, bool In> void carry(Wave &w, const Inst &i) {
    u32 out[2] = {};
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.load(w, i, half);
        const u32 *const a = o.src[Reversed ? 1 : 0], *const b = o.src[Reversed ? 0 : 1];
        Row r;
        alignas(64) u32 truth[row_lanes];
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l) {
            const u32 in = In ? o.src[2][l] : 0, result = F::result(a[l], b[l], in);
            truth[l] = F::out(a[l], b[l], in, result);
            r.lane[l] = result;
        }
        if (i.flag)
            for (unsigned l = 0; l < row_lanes; ++l)
                r.lane[l] = truth[l] ? F::limit : r.lane[l];
        out[half] = mask_of(truth) & o.write;
        blend(w.row(i.dst, half), r.lane, o.write, 1);
    }
    for (unsigned half = 0; half < w.halves; ++half)
        w.s[i.dst2 + half] = out[half];
}

// 2.64: the 65-bit sum's top bit goes to the mask: the carry, or the sign. CLAMP: to the type's
// range.
template <bool Signed> void mad_64(Wave &w, const Inst &i) {
    using Word = std::conditional_t<Signed, i32, u32>;
    using Wide = std::conditional_t<Signed, i64, u64>;
    u32 out[2] = {};
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.load(w, i, half);
        Row r[2];
        alignas(64) u32 top[row_lanes], outside[row_lanes];
#pragma GCC ivdep
        for (unsigned l = 0; l < row_lanes; ++l) {
            const u64 c = o.src[2][l] | u64{o.src[2][l + row_lanes]} << 32;
            const auto product = static_cast<u64>(Wide{static_cast<Word>(o.src[0][l])} *
                                                  static_cast<Word>(o.src[1][l]));
            const u64 sum = product + c;
            // In the sign bits: the carry of unsigned numbers; the overflow of signed ones.
            const u64 carried = (product & c) | ((product | c) & ~sum);
            const u64 over = Signed ? (product ^ sum) & (c ^ sum) : carried;
            r[0].lane[l] = static_cast<u32>(sum);
            r[1].lane[l] = static_cast<u32>(sum >> 32);
            outside[l] = static_cast<u32>(over >> 32);
            top[l] = Signed ? static_cast<u32>((sum ^ over) >> 32) : outside[l];
        }
        if (i.flag)
            for (unsigned l = 0; l < row_lanes; ++l)
                if (outside[l] >> 31) {
                    const bool negative = Signed && top[l] >> 31;
                    r[0].lane[l] = negative ? 0 : ~0u;
                    r[1].lane[l] = !Signed ? ~0u : negative ? 0x80000000 : 0x7fffffff;
                }
        out[half] = mask_of(top) & o.write;
        blend(w.row(i.dst, half), r[0].lane, o.write, 2);
    }
    for (unsigned half = 0; half < w.halves; ++half)
        w.s[i.dst2 + half] = out[half];
}

// ---- division (2.23 to 2.25)

// Sets the FPU for the row's type: f64 has its own MODE fields.
u32 control_for(Type t, const Mode &m) { return t == Type::f64 ? m.mxcsr64 : m.mxcsr32; }

// Not inline: its arithmetic must stay inside the caller's FPU scope.
template <Type T> [[gnu::noinline]] u32 div_scale_row(const Operands &o, u32 *r, const Mode &m) {
    using V = Value<T>;
    u32 flags = 0;
    for (unsigned l = 0; l < row_lanes; ++l) {
        bool flag = false;
        auto value = fp::div_scale(V::load(o.src[0], l, m), V::load(o.src[1], l, m),
                                   V::load(o.src[2], l, m), flag, m);
        V::store(r, l, value, nullptr);
        flags |= u32{flag} << l;
    }
    return flags;
}

template <Type T> void div_scale(Wave &w, const Inst &i) {
    u32 out[2] = {};
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.load(w, i, half);
        Row r[2];
        MxcsrScope scope(control_for(T, w.mode));
        out[half] = div_scale_row<T>(o, r[0].lane, w.mode) & o.write;
        blend(w.row(i.dst, half), r[0].lane, o.write, i.dst_rows);
    }
    for (unsigned half = 0; half < w.halves; ++half)
        w.s[i.dst2 + half] = out[half];
}

// VCC selects the lanes whose result is scaled.
template <Type T>
[[gnu::noinline]] void div_fmas_row(const Operands &o, u32 *r, u32 scaled, const Mode &m) {
    using V = Value<T>;
    for (unsigned l = 0; l < row_lanes; ++l) {
        auto a = V::load(o.src[0], l, m), b = V::load(o.src[1], l, m), c = V::load(o.src[2], l, m);
        auto value = fp::div_fmas(a, b, c, scaled >> l & 1, m);
        V::store(r, l, fp::is_nan(value) ? fp::nan_of(m, a, b, fp::addend(a, b, c)) : value,
                 nullptr);
    }
}

template <Type T> void div_fmas(Wave &w, const Inst &i) {
    constexpr u32 flush_inputs = 1 << 6;
    for (unsigned half = 0; half < w.halves; ++half) {
        Operands o;
        o.load(w, i, half);
        Row r[2];
        MxcsrScope scope(control_for(T, w.mode) & ~flush_inputs); // 2.7: never flushed
        div_fmas_row<T>(o, r[0].lane, w.s[sreg::vcc + half], w.mode);
        blend(w.row(i.dst, half), r[0].lane, o.write, i.dst_rows);
    }
}

} // namespace

void add_co(Wave &w, const Inst &i) { carry<Sum, false, false>(w, i); }
void sub_co(Wave &w, const Inst &i) { carry<Difference, false, false>(w, i); }
void subrev_co(Wave &w, const Inst &i) { carry<Difference, true, false>(w, i); }
void add_co_ci(Wave &w, const Inst &i) { carry<Sum, false, true>(w, i); }
void sub_co_ci(Wave &w, const Inst &i) { carry<Difference, false, true>(w, i); }
void subrev_co_ci(Wave &w, const Inst &i) { carry<Difference, true, true>(w, i); }
void mad_u64(Wave &w, const Inst &i) { mad_64<false>(w, i); }
void mad_i64(Wave &w, const Inst &i) { mad_64<true>(w, i); }
void div_scale_f32(Wave &w, const Inst &i) { div_scale<Type::f32>(w, i); }
void div_scale_f64(Wave &w, const Inst &i) { div_scale<Type::f64>(w, i); }
void div_fmas_f32(Wave &w, const Inst &i) { div_fmas<Type::f32>(w, i); }
void div_fmas_f64(Wave &w, const Inst &i) { div_fmas<Type::f64>(w, i); }

} // namespace nw::sim::NW_LEVEL
