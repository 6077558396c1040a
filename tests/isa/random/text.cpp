// SPDX-License-Identifier: MIT
#include "isa/random/text.h"

#include <fmt/format.h>

namespace nw::oracle {

namespace {

bool gfx12(const std::string &gfx) { return gfx.starts_with("gfx12"); }

bool is_scalar(Form f) { return f >= Form::scalar; }

T source_type(const Row &r, unsigned n) { return n == 0 ? r.a : n == 1 ? r.b : r.c; }

unsigned source_count(const Row &r) {
    if (r.form == Form::accumulate)
        return 2; // the third is the destination
    return r.c != T::none ? 3 : r.b != T::none ? 2 : r.a != T::none ? 1 : 0;
}

std::string registers(char kind, unsigned first, T t) {
    return is_64(t) ? fmt::format("{}[{}:{}]", kind, first, first + 1)
                    : fmt::format("{}{}", kind, first);
}

// gfx11 names halves in the operand, gfx12's text in op_sel.
std::string vector_register(unsigned first, T t, bool high, const std::string &gfx) {
    std::string text = registers('v', first, t);
    if (is_16(t) && !gfx12(gfx))
        text += high ? ".h" : ".l";
    return text;
}

std::string source_text(const Row &r, const Variant &v, unsigned n, const std::string &gfx) {
    bool literal = (r.form == Form::fmamk && n == 1) || (r.form == Form::fmaak && n == 2);
    if (literal)
        return r.d == T::h16 ? "0x3e40" : "0x3fc90000";
    std::string text = vector_register(2 + 2 * n, source_type(r, n), v.high >> n & 1, gfx);
    if (v.abs >> n & 1)
        text = "|" + text + "|";
    return v.neg >> n & 1 ? "-" + text : text;
}

std::string list(const char *name, u32 bits, unsigned count) {
    std::string text = fmt::format(" {}:[", name);
    for (unsigned n = 0; n < count; ++n)
        text += fmt::format("{}{}", n ? "," : "", bits >> n & 1);
    return text + "]";
}

std::string packed_modifiers(const Row &r, const Variant &v) {
    unsigned count = source_count(r);
    u32 all = (1u << count) - 1, default_hi = r.form == Form::mixed ? 0 : all;
    std::string text;
    if (v.op_sel)
        text += list("op_sel", v.op_sel, count);
    if ((v.op_sel_hi & all) != default_hi)
        text += list("op_sel_hi", v.op_sel_hi, count);
    if (v.neg_lo)
        text += list("neg_lo", v.neg_lo, count);
    if (v.neg_hi)
        text += list("neg_hi", v.neg_hi, count);
    return text;
}

std::string modifiers(const Row &r, const Variant &v, const std::string &gfx) {
    std::string text;
    if (r.form == Form::packed || r.form == Form::mixed || r.form == Form::dot)
        text += packed_modifiers(r, v);
    else if (v.high && gfx12(gfx)) {
        unsigned count = source_count(r);
        u32 bits = (v.high & ((1u << count) - 1)) | (v.high >> 3 & 1) << count;
        text += list("op_sel", bits, count + 1);
    }
    if (v.clamp)
        text += " clamp";
    if (v.omod)
        text += v.omod == -1 ? " div:2" : fmt::format(" mul:{}", 1 << v.omod);
    return text;
}

std::string scalar_text(const Row &r, const Variant &v) {
    std::string d = registers('s', 28, r.d), a = registers('s', 24, r.a),
                b = registers('s', 26, r.b);
    if (r.form == Form::scalar_imm)
        return fmt::format("{} {}, {:#x}", r.name, r.d == T::none ? a : d, v.immediate);
    if (r.form == Form::scalar_compare)
        return fmt::format("{} {}, {}", r.name, a, b);
    if (r.name == "s_fmamk_f32")
        return fmt::format("{} {}, {}, 0x3fc90000, {}", r.name, d, a, b);
    if (r.name == "s_fmaak_f32")
        return fmt::format("{} {}, {}, {}, 0x3fc90000", r.name, d, a, b);
    std::string text = fmt::format("{} {}, {}", r.name, d, a);
    return r.b == T::none ? text : text + ", " + b;
}

} // namespace

std::string instruction_text(const Row &r, const Variant &v, const std::string &gfx) {
    if (is_scalar(r.form))
        return scalar_text(r, v);
    std::string text = r.name;
    if (v.high && gfx12(gfx))
        text += "_e64";
    std::string separator = " ";
    auto operand = [&](const std::string &o) {
        text += separator + o;
        separator = ", ";
    };
    if (r.d != T::none)
        operand(r.form == Form::mixed ? "v8" : vector_register(8, r.d, v.high >> 3 & 1, gfx));
    if (r.form == Form::compare || r.form == Form::carry_out || r.form == Form::carry ||
        r.form == Form::carry_mad)
        operand("vcc_lo");
    for (unsigned n = 0; n < source_count(r); ++n)
        operand(source_text(r, v, n, gfx));
    if (r.form == Form::carry || r.form == Form::select)
        operand("vcc_lo");
    return text + modifiers(r, v, gfx);
}

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
    if (halves && !packed && !fixed &&
        (!gfx12(gfx) ||
         (all_halves && (source_count(r) == 3 || r.name.find("_nc_") != std::string::npos)))) {
        u32 allowed = (is_16(r.a) ? 1 : 0) | (is_16(r.b) ? 2 : 0) |
                      (is_16(r.c) && r.form != Form::accumulate ? 4 : 0) | (is_16(r.d) ? 8 : 0);
        for (u32 high : {1u, 10u, 13u})
            if (high & allowed)
                add([&](Variant &v) { v.high = high & allowed; });
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

namespace {

std::string prologue(const std::string &gfx) {
    std::string wait_scalar = gfx12(gfx) ? "s_wait_kmcnt 0x0" : "s_waitcnt lgkmcnt(0)";
    std::string wait_vector = gfx12(gfx) ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
    std::string group = gfx12(gfx) ? "ttmp9" : gfx == "gfx1100" || gfx == "gfx1102" ? "s15" : "s2";
    return fmt::format(R"(  s_mov_b32 s10, {}
  s_load_b128 s[4:7], s[0:1], 0x0
  s_load_b64 s[8:9], s[0:1], 0x10
  {}
  s_lshl_b32 s11, s10, 3
  s_load_b64 s[20:21], s[8:9], s11 offset:0x0
  s_lshl_b32 s12, s10, 5
  v_add_nc_u32 v1, s12, v0
  v_lshlrev_b32 v12, 5, v1
  global_load_b128 v[2:5], v12, s[4:5]
  global_load_b128 v[6:9], v12, s[4:5] offset:16
  {}
  {}
  s_mov_b32 vcc_lo, s21
  s_setreg_b32 hwreg(1, 0, 24), s20
)",
                       group, wait_scalar, wait_scalar, wait_vector);
}

constexpr const char *epilogue = R"(  v_lshlrev_b32 v13, 4, v1
  global_store_b128 v13, v[8:11], s[6:7]
  s_endpgm
)";

std::string vector_body(const KernelSource &k) {
    bool narrows = k.row->form == Form::comparex;
    return fmt::format("  {}\n  s_mov_b32 s22, {}\n  s_mov_b32 exec_lo, -1\n  v_mov_b32 v10, s22\n",
                       k.instruction, narrows ? "exec_lo" : "vcc_lo");
}

// EXEC is what VCC is elsewhere.
std::string lanes_body(const KernelSource &k, const std::string &gfx) {
    return fmt::format("  v_readlane_b32 s14, v6, 0\n  v_readlane_b32 s15, v6, 1\n"
                       "  s_mov_b32 exec_lo, s21\n  {}\n  {}\n  s_mov_b32 exec_lo, -1\n"
                       "  v_mov_b32 v10, s21\n",
                       k.instruction, gfx12(gfx) ? "s_wait_dscnt 0x0" : "s_waitcnt lgkmcnt(0)");
}

// One lane after the other through the scalar registers. SCC starts as the lane's bit of VCC, EXEC
// as the low word of the third operand.
std::string scalar_body(const KernelSource &k) {
    return fmt::format(R"(  s_mov_b32 s14, vcc_lo
  s_mov_b32 s16, 0
.L{0}:
  v_readlane_b32 s24, v2, s16
  v_readlane_b32 s25, v3, s16
  v_readlane_b32 s26, v4, s16
  v_readlane_b32 s27, v5, s16
  v_readlane_b32 s17, v6, s16
  v_readlane_b32 s28, v8, s16
  v_readlane_b32 s29, v9, s16
  s_mov_b32 exec_lo, s17
  s_mov_b32 exec_hi, s17
  s_bitcmp1_b32 s14, s16
  {1}
  s_cselect_b32 s22, 1, 0
  s_mov_b32 s23, exec_lo
  s_mov_b32 exec_lo, -1
  v_writelane_b32 v8, s28, s16
  v_writelane_b32 v9, s29, s16
  v_writelane_b32 v10, s22, s16
  v_writelane_b32 v11, s23, s16
  s_add_u32 s16, s16, 1
  s_cmp_lt_u32 s16, 32
  s_cbranch_scc1 .L{0}
)",
                       k.name, k.instruction);
}

std::string descriptor(const std::string &kernel, const std::string &gfx) {
    bool init16 = gfx == "gfx1100" || gfx == "gfx1102"; // A-001
    return fmt::format(R"(.amdhsa_kernel {}
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 64
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  {}
  .amdhsa_kernarg_size 24
  .amdhsa_wavefront_size32 1
.end_amdhsa_kernel
)",
                       kernel, init16 ? ".amdhsa_user_sgpr_count 15" : "");
}

} // namespace

std::string program_text(const std::vector<KernelSource> &kernels, const std::string &gfx) {
    std::string text = ".text\n", descriptors = ".rodata\n.p2align 6\n";
    for (const KernelSource &k : kernels) {
        text += fmt::format(".globl {0}\n.p2align 8\n.type {0},@function\n{0}:\n", k.name);
        text += prologue(gfx);
        text += !k.row                   ? lanes_body(k, gfx)
                : is_scalar(k.row->form) ? scalar_body(k)
                                         : vector_body(k);
        text += epilogue;
        text += fmt::format(".size {0}, . - {0}\n", k.name);
        descriptors += descriptor(k.name, gfx);
    }
    return text + descriptors;
}

} // namespace nw::oracle
