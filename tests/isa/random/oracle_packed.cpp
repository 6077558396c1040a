// SPDX-License-Identifier: MIT
// VOP3P on two halves: each row is one half's result; op_sel and neg belong to the checker.
#include <algorithm>

#include "isa/random/oracle_float.h"

namespace nw::oracle {

namespace {

using Value = i128 (*)(i128 a, i128 b, i128 c);

void integer(Rows &rows, const char *name, bool is_signed, unsigned sources, Value f,
             bool saturates) {
    Row r{name, Form::packed, T::pk16, T::pk16, T::pk16, sources == 3 ? T::pk16 : T::none, {}};
    r.f = [=](const In &in, const Env &) {
        auto exact = [&](u64 x) {
            return is_signed ? i128{sign_extended(16, x)} : i128{low(16, x)};
        };
        i128 v = f(exact(in.a), exact(in.b), exact(in.c));
        Out out(low(16, static_cast<u64>(v)));
        if (saturates)
            out.wide = v;
        return out;
    };
    r.clamp = saturates;
    r.modifiers = false;
    add(rows, r);
}

using Half = std::function<u64(u64 a, u64 b, u64 c, const Env &)>;
void floating(Rows &rows, const char *name, unsigned sources, Half f) {
    Row r{name, Form::packed, T::pkh16, T::pkh16, T::pkh16, sources == 3 ? T::pkh16 : T::none, {}};
    r.f = [f](const In &in, const Env &e) { return Out(f(in.a, in.b, in.c, e)); };
    add(rows, r);
}

} // namespace

void add_packed_rows(Rows &rows) {
    for (bool is_signed : {false, true}) {
        auto named = [&](const char *stem) {
            return stem + std::string(is_signed ? "_i16" : "_u16");
        };
        integer(
            rows, named("v_pk_add").c_str(), is_signed, 2,
            [](i128 a, i128 b, i128) { return a + b; }, true);
        integer(
            rows, named("v_pk_sub").c_str(), is_signed, 2,
            [](i128 a, i128 b, i128) { return a - b; }, true);
        integer(
            rows, named("v_pk_mad").c_str(), is_signed, 3,
            [](i128 a, i128 b, i128 c) { return a * b + c; }, true);
        integer(
            rows, named("v_pk_min").c_str(), is_signed, 2,
            [](i128 a, i128 b, i128) { return std::min(a, b); }, false);
        integer(
            rows, named("v_pk_max").c_str(), is_signed, 2,
            [](i128 a, i128 b, i128) { return std::max(a, b); }, false);
    }
    integer(
        rows, "v_pk_mul_lo_u16", false, 2, [](i128 a, i128 b, i128) { return a * b; }, false);
    integer(
        rows, "v_pk_lshlrev_b16", false, 2, [](i128 a, i128 b, i128) { return b << int(a & 15); },
        false);
    integer(
        rows, "v_pk_lshrrev_b16", false, 2, [](i128 a, i128 b, i128) { return b >> int(a & 15); },
        false);
    integer(
        rows, "v_pk_ashrrev_i16", true, 2, [](i128 a, i128 b, i128) { return b >> int(a & 15); },
        false);

    floating(rows, "v_pk_add_f16", 2,
             [](u64 a, u64 b, u64, const Env &e) { return sum(f16, a, b, e, Rounding(f16, e)); });
    floating(rows, "v_pk_mul_f16", 2, [](u64 a, u64 b, u64, const Env &e) {
        return product(f16, a, b, e, Rounding(f16, e));
    });
    floating(rows, "v_pk_fma_f16", 3, [](u64 a, u64 b, u64 c, const Env &e) {
        return fused(f16, a, b, c, e, Rounding(f16, e));
    });
    for (bool lesser : {true, false}) {
        for (const char *num : {"", "_num"})
            floating(rows, ((lesser ? "v_pk_min" : "v_pk_max") + std::string(num) + "_f16").c_str(),
                     2, [lesser](u64 a, u64 b, u64, const Env &e) {
                         return min_max(f16, a, b, lesser, e);
                     });
        floating(rows, lesser ? "v_pk_minimum_f16" : "v_pk_maximum_f16", 2,
                 [lesser](u64 a, u64 b, u64, const Env &e) {
                     return minimum_maximum(f16, a, b, lesser, e);
                 });
    }
    // VOP2: no op_sel; c is the old destination.
    Row fmac{"v_pk_fmac_f16", Form::accumulate, T::pkh16, T::pkh16, T::pkh16, T::pkh16, {}};
    fmac.f = [](const In &in, const Env &e) {
        u64 d = 0;
        for (unsigned at : {0u, 16u}) {
            auto half = [&](u64 x) { return low(16, x >> at); };
            d |= fused(f16, half(in.a), half(in.b), half(in.c), e, Rounding(f16, e)) << at;
        }
        return Out(d);
    };
    fmac.modifiers = fmac.clamp = false;
    add(rows, fmac);
}

} // namespace nw::oracle
