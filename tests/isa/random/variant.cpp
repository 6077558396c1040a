// SPDX-License-Identifier: MIT
#include "isa/random/variant.h"

#include "base/targets.h"

namespace nw::oracle {

T source_type(const Row &r, unsigned n) { return n == 0 ? r.a : n == 1 ? r.b : r.c; }

unsigned source_count(const Row &r) {
    if (r.form == Form::accumulate)
        return 2; // the third is the destination
    return r.c != T::none ? 3 : r.b != T::none ? 2 : r.a != T::none ? 1 : 0;
}

bool is_compare(Form f) { return f == Form::compare || f == Form::comparex; }
bool is_scalar(Form f) { return f >= Form::scalar; }
bool writes_mask(Form f) { return f >= Form::compare && f <= Form::carry_mad; }

std::vector<Variant> variants(const Row &r, const std::string &gfx) {
    std::vector<Variant> all{Variant{}};
    if (r.form == Form::mixed)
        all[0].op_sel_hi = 0;
    if (r.form == Form::scalar_imm)
        for (u16 immediate : {0x0001, 0x7fff, 0x8000, 0xffff, 0xabcd})
            all.emplace_back().immediate = immediate;
    if (is_scalar(r.form))
        return all;
    u32 sources = (1u << source_count(r)) - 1, floats = 0;
    for (unsigned n = 0; n < source_count(r); ++n)
        floats |= is_float(source_type(r, n)) ? 1u << n : 0;
    auto add = [&](auto change) {
        Variant v = all[0];
        change(v);
        all.push_back(v);
    };
    bool packed = r.form == Form::packed || r.form == Form::mixed || r.form == Form::dot;
    if (!packed && r.modifiers && floats) {
        add([&](Variant &v) { v.neg = 5 & floats, v.abs = 6 & floats; });
        add([&](Variant &v) { v.neg = 2 & floats, v.abs = 1 & floats, v.clamp = r.clamp; });
    }
    if (!packed && is_float(r.d) && r.omod) {
        add([&](Variant &v) { v.omod = 1; });
        add([&](Variant &v) { v.omod = -1, v.clamp = r.clamp; });
        add([&](Variant &v) { v.omod = 2, v.neg = r.modifiers ? floats : 0; });
    }
    if (!is_float(r.d) && r.clamp && !packed && r.d != T::none)
        add([&](Variant &v) { v.clamp = true; });
    bool halves = is_16(r.d) || is_16(r.a) || is_16(r.b) || is_16(r.c);
    bool all_halves = source_count(r) >= 2 && is_16(r.d) && is_16(r.a) && is_16(r.b) &&
                      (source_count(r) == 2 || is_16(r.c)) && r.form == Form::plain;
    bool fixed = r.form == Form::fmamk || r.form == Form::fmaak;
    // gfx11 has op_sel everywhere; the others in some of VOP3 alone, gfx10 also in a few more.
    const Generation generation = target_of(gfx).generation;
    const bool selects =
        generation == Generation::gfx11 ||
        (all_halves && (source_count(r) == 3 || r.name.find("_nc_") != r.name.npos));
    if (halves && !packed && !fixed && (selects || generation == Generation::gfx10)) {
        u32 allowed = (is_16(r.a) ? 1 : 0) | (is_16(r.b) ? 2 : 0) |
                      (is_16(r.c) && r.form != Form::accumulate ? 4 : 0) | (is_16(r.d) ? 8 : 0);
        for (u32 high : {1u, 10u, 13u})
            if (high & allowed)
                add([&](Variant &v) { v.high = high & allowed, v.optional = !selects; });
    }
    if (r.form == Form::packed) {
        add([&](Variant &v) { v.op_sel = 5 & sources, v.op_sel_hi = 6 & sources; });
        add([&](Variant &v) { v.op_sel = 2 & sources, v.op_sel_hi = 1, v.clamp = r.clamp; });
        if (r.modifiers) {
            add([&](Variant &v) { v.neg_lo = 5 & sources, v.neg_hi = 3 & sources; });
            add([&](Variant &v) { v.neg_lo = 2, v.neg_hi = 1, v.clamp = true, v.op_sel = 1; });
        }
    }
    if (r.form == Form::mixed) {
        add([&](Variant &v) { v.op_sel_hi = 7, v.op_sel = 2; });
        add([&](Variant &v) { v.op_sel_hi = 1, v.op_sel = 1, v.neg = 3, v.abs = 2; });
        add([&](Variant &v) { v.op_sel_hi = 6, v.op_sel = 4, v.neg = 4, v.abs = 4; });
        add([&](Variant &v) { v.op_sel_hi = 5, v.clamp = true, v.neg = 1; });
    }
    if (r.form == Form::dot && r.modifiers)
        for (u32 signs : {1u, 2u, 3u})
            add([&](Variant &v) { v.neg_lo = signs, v.clamp = signs == 3; });
    if (r.form == Form::dot && r.clamp)
        add([&](Variant &v) { v.clamp = true; });
    return all;
}

} // namespace nw::oracle
