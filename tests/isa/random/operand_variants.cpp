// SPDX-License-Identifier: MIT
// Constants and SGPRs as sources (3.2 to 3.6, 0.6, 0.7); DPP and masks other than VCC.
#include <fmt/format.h>
#include <span>

#include "base/targets.h"
#include "isa/random/operands.h"
#include "isa/random/variant.h"

namespace nw::oracle {

namespace {

// An inline float in each format.
struct Real {
    const char *text;
    u64 f16, bf16, f32, f64;
};
// clang-format off
constexpr Real reals[] = {
    {"0.5",  0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000},
    {"-0.5", 0xb800, 0xbf00, 0xbf000000, 0xbfe0000000000000},
    {"1.0",  0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000},
    {"-1.0", 0xbc00, 0xbf80, 0xbf800000, 0xbff0000000000000},
    {"2.0",  0x4000, 0x4000, 0x40000000, 0x4000000000000000},
    {"-2.0", 0xc000, 0xc000, 0xc0000000, 0xc000000000000000},
    {"4.0",  0x4400, 0x4080, 0x40800000, 0x4010000000000000},
    {"-4.0", 0xc400, 0xc080, 0xc0800000, 0xc010000000000000},
    {"0.15915494309189532", 0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882}}; // 1 / (2 pi)
// clang-format on

u64 real_bits(const Real &r, T t) {
    switch (t) {
    case T::h16:
    case T::pkh16:
        return r.f16;
    case T::pkbf16:
        return r.bf16;
    case T::d64:
    case T::u64:
    case T::i64:
        return r.f64;
    default:
        return r.f32;
    }
}

// Zero, smallest and largest subnormals and normals, NaNs with payloads, ends of the integers. As
// text they are numbers of 32 bits, of 16 for 16-bit sources.
constexpr u32 words[] = {0x80000000, 0x007fffff, 0x00800001, 0x7f7fffff, 0x7f800000, 0x7f812345,
                         0xffc01234, 0x7fffffff, 0x12345678, 0xfedcba98, 0x0000ffff, 0x3fc90fdb};
constexpr u32 half_words[] = {0x8000, 0x03ff, 0x0401, 0x7bff, 0x7c00, 0x7d01,
                              0xfe12, 0x7fff, 0x1234, 0xfedc, 0x00ff, 0x3e48};

Operand integer(i64 n, T t) {
    u64 bits = static_cast<u64>(n);
    return {Operand::constant, fmt::format("{}", n), is_64(t) ? bits : low(32, bits)};
}

Operand literal(T t, Random &random) {
    bool narrow = is_16(t) || t == T::mix; // of fma_mix LLVM takes no others
    u64 n =
        narrow ? half_words[random() % std::size(half_words)] : words[random() % std::size(words)];
    std::string text = fmt::format("{:#x}", n);
    if (t == T::d64)
        return {Operand::constant, text, n << 32};
    return {Operand::constant, text, t == T::i64 ? static_cast<u64>(sign_extended(32, n)) : n};
}

Operand real(T t, Random &random) {
    const Real &r = reals[random() % std::size(reals)];
    return {Operand::constant, r.text, real_bits(r, t)};
}

// The hardware's results for inline constants there aren't published (0.6, 3.4), except for -1.
bool open_inline(const Row &r, unsigned n) {
    T t = source_type(r, n);
    return (r.name.starts_with("v_dot2") && is_packed(t)) || r.name == "v_pk_fmac_f16";
}
bool open_real(const Row &r, unsigned n) {
    T t = source_type(r, n);
    return t == T::u16 || t == T::i16 || open_inline(r, n);
}

std::vector<Operand> stand_ins(const Row &r, unsigned n, Random &random) {
    T t = source_type(r, n);
    std::vector<Operand> all{{Operand::sgpr}, literal(t, random), integer(-1, t)};
    if (!open_inline(r, n)) {
        all.push_back(integer(static_cast<i64>(random() % 65), t));
        all.push_back(integer(-1 - static_cast<i64>(random() % 16), t));
    }
    if (!open_real(r, n))
        all.push_back(real(t, random));
    return all;
}

Variant first_of(const Row &r) {
    Variant v;
    v.op_sel_hi = r.form == Form::mixed ? 0 : 7;
    v.optional = true;
    return v;
}

// NEG and ABS on what stands there, where it is a float; halves of packed sources; of 16-bit ones
// the high half of an SGPR.
void vary(const Row &r, Variant &v, unsigned n, Random &random) {
    bool packed = r.form == Form::packed || r.form == Form::dot || r.form == Form::mixed;
    bool inverse_two_pi = v.source[n].text.starts_with("0.159"); // LLVM can't negate it
    if (!packed && r.modifiers && is_float(source_type(r, n)) && !inverse_two_pi) {
        v.neg = (random() & 1) << n;
        v.abs = (random() & 1) << n;
    }
    if (r.form == Form::packed) {
        u32 sources = (1u << source_count(r)) - 1;
        v.op_sel = random() & sources;
        v.op_sel_hi = random() & sources;
    }
    if (v.source[n].kind == Operand::sgpr && is_16(source_type(r, n)) && r.form == Form::plain)
        v.high = (random() & 1) << n;
}

} // namespace

std::vector<Variant> operand_variants(const Row &r, const std::string &gfx) {
    std::vector<Variant> all;
    if (is_scalar(r.form))
        return all;
    Random random(std::hash<std::string>{}(r.name + gfx));
    bool fixed = r.form == Form::fmamk || r.form == Form::fmaak; // they have a literal already
    for (unsigned n = 0; n < source_count(r); ++n)
        for (const Operand &o : stand_ins(r, n, random)) {
            if (fixed && (n == (r.form == Form::fmamk ? 1u : 2u)))
                continue;
            Variant v = first_of(r);
            v.source[n] = o;
            all.push_back(v);
            vary(r, v, n, random);
            if (v.neg || v.abs || v.high || v.op_sel || v.op_sel_hi != first_of(r).op_sel_hi)
                all.push_back(v);
        }
    if (source_count(r) < 2 || fixed)
        return all;
    for (unsigned turn = 0; turn < source_count(r); ++turn) { // no VGPR at all
        Variant v = first_of(r);
        v.source[turn] = {Operand::sgpr};
        for (unsigned n = 0; n < source_count(r); ++n)
            if (n != turn)
                v.source[n] = integer(open_inline(r, n) ? -1 : static_cast<i64>(random() % 65),
                                      source_type(r, n));
        all.push_back(v);
    }
    return all;
}

std::vector<Variant> lane_variants(const Row &r, const std::string &gfx) {
    std::vector<Variant> all;
    if (is_scalar(r.form))
        return all;
    if (writes_mask(r.form) || r.form == Form::select) {
        Variant v = first_of(r);
        v.own_mask = true;
        all.push_back(v);
    }
    const bool vop3 = target_of(gfx).generation != Generation::gfx10; // VOP3 and VOPC have DPP
    if (!vop3 && (source_count(r) == 3 || is_compare(r.form)))
        return all;
    Random random(std::hash<std::string>{}(r.name + gfx) + 1);
    const std::vector<Dpp> controls = dpp_controls();
    for (unsigned n = 0; n < 5 && source_count(r) > 0; ++n) {
        Variant v = first_of(r);
        v.dpp = n == 4 ? dpp8() : controls[random() % controls.size()];
        v.dpp->fi = n == 4 ? random() & 1 : n & 1;
        v.dpp->bound_ctrl = n & 2;
        if (n == 1 || n == 2)
            v.dpp->row_mask = random() & 15, v.dpp->bank_mask = random() & 15;
        const bool signs = vop3 || n != 4; // DPP16 has NEG and ABS; DPP8 and CLAMP need VOP3
        if (n >= 2 && signs && is_float(r.a) && r.modifiers && r.form != Form::mixed)
            v.neg = 1 & random(), v.abs = 1 & random(), v.clamp = vop3 && r.clamp && r.d != T::none;
        all.push_back(v);
    }
    return all;
}

std::vector<Variant> sdwa_variants(const Row &r, const std::string &gfx) {
    std::vector<Variant> all;
    const bool packed = r.form == Form::packed || r.form == Form::mixed || r.form == Form::dot;
    const bool wide = is_64(r.d) || is_64(r.a) || is_64(r.b);
    if (target_of(gfx).generation != Generation::gfx10 || is_scalar(r.form) || packed || wide ||
        source_count(r) == 0 || source_count(r) == 3)
        return all;
    Random random(std::hash<std::string>{}(r.name + gfx) + 2);
    for (const Sdwa &form : sdwa_forms(is_16(r.d))) {
        Variant v = first_of(r);
        v.sdwa = form;
        for (unsigned n = 0; n < source_count(r); ++n) {
            if (!is_float(source_type(r, n)))
                continue;
            v.sdwa->sign[n] = false;
            if (r.modifiers)
                v.neg |= (random() & 1) << n, v.abs |= (random() & 1) << n;
        }
        if (is_float(r.d) && r.omod && random() % 4 == 0)
            v.omod = 1;
        v.clamp = r.clamp && r.d != T::none && random() % 4 == 0;
        if (random() % 4 == 0)
            v.source[random() % source_count(r)] = {Operand::sgpr};
        v.own_mask = r.form == Form::compare && random() % 2; // others have VCC
        all.push_back(v);
    }
    return all;
}

} // namespace nw::oracle
