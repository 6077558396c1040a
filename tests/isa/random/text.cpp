// SPDX-License-Identifier: MIT
#include "isa/random/text.h"

#include <fmt/format.h>

#include "base/targets.h"
#include "sim/assemble.h"
#include "sim/isa/gfx10_names.h"

namespace nw::oracle {

namespace {

bool gfx12(const std::string &gfx) { return gfx.starts_with("gfx12"); }
bool names_registers_halves(const std::string &gfx) {
    return target_of(gfx).generation == Generation::gfx11;
}

std::string registers(char kind, unsigned first, T t) {
    return is_64(t) ? fmt::format("{}[{}:{}]", kind, first, first + 1)
                    : fmt::format("{}{}", kind, first);
}

// gfx11 names halves in the operand, others in op_sel.
std::string vector_register(unsigned first, T t, bool high, const std::string &gfx) {
    std::string text = registers('v', first, t);
    if (is_16(t) && names_registers_halves(gfx))
        text += high ? ".h" : ".l";
    return text;
}

std::string source_text(const Row &r, const Variant &v, unsigned n, const std::string &gfx) {
    bool fixed = (r.form == Form::fmamk && n == 1) || (r.form == Form::fmaak && n == 2);
    if (fixed)
        return r.d == T::h16 ? "0x3e40" : "0x3fc90000";
    const Operand &o = v.source[n];
    T t = source_type(r, n);
    std::string text = o.kind == Operand::sgpr ? registers('s', 38, t)
                       : o.kind == Operand::constant
                           ? o.text
                           : vector_register(2 + 2 * n, t, v.high >> n & 1, gfx);
    if (v.sdwa && v.sdwa->sign[n])
        return "sext(" + text + ")";
    if (v.abs >> n & 1)
        text = "|" + text + "|";
    else if (v.neg >> n & 1 && o.kind == Operand::constant)
        return "neg(" + text + ")"; // -1.0 is another constant
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

bool names_halves(const Variant &v, const std::string &gfx) {
    for (unsigned n = 0; n < 3; ++n) // an SGPR's half has no name
        if (v.high >> n & 1 && v.source[n].kind != Operand::vgpr)
            return true;
    return v.high && !names_registers_halves(gfx);
}

std::string modifiers(const Row &r, const Variant &v, const std::string &gfx) {
    std::string text;
    if (r.form == Form::packed || r.form == Form::mixed || r.form == Form::dot)
        text += packed_modifiers(r, v);
    else if (names_halves(v, gfx)) {
        unsigned count = source_count(r);
        u32 bits = (v.high & ((1u << count) - 1)) | (v.high >> 3 & 1) << count;
        text += list("op_sel", bits, count + 1);
    }
    if (v.clamp)
        text += " clamp";
    if (v.omod)
        text += v.omod == -1 ? " div:2" : fmt::format(" mul:{}", 1 << v.omod);
    if (v.sdwa)
        text += v.sdwa->text(source_count(r), r.d != T::none);
    return v.dpp ? text + " " + v.dpp->text() : text;
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

std::string instruction_text(const Row &r, const Variant &v, const std::string &gfx,
                             unsigned wave) {
    if (is_scalar(r.form))
        return scalar_text(r, v);
    std::string text =
        target_of(gfx).old_names ? std::string(sim::name_before_gfx11(r.name)) : r.name;
    if (v.sdwa)
        text += "_sdwa";
    else if (names_halves(v, gfx))
        text += "_e64";
    std::string separator = " ";
    auto operand = [&](const std::string &o) {
        text += separator + o;
        separator = ", ";
    };
    std::string mask = wave == 64   ? (v.own_mask ? "s[48:49]" : "vcc")
                       : v.own_mask ? "s48"
                                    : "vcc_lo";
    if (r.d != T::none)
        operand(r.form == Form::mixed ? "v8" : vector_register(8, r.d, v.high >> 3 & 1, gfx));
    if (writes_mask(r.form) && r.form != Form::comparex)
        operand(mask);
    for (unsigned n = 0; n < source_count(r); ++n)
        operand(source_text(r, v, n, gfx));
    if (r.form == Form::carry || r.form == Form::select)
        operand(mask);
    return text + modifiers(r, v, gfx);
}

// ---- programs ---------------------------------------------------------------------------------

namespace {

struct Target {
    std::string gfx;
    unsigned wave;
    const char *scalar_wait() const {
        return gfx12(gfx) ? "s_wait_kmcnt 0x0" : "s_waitcnt lgkmcnt(0)";
    }
    const char *vector_wait() const {
        return gfx12(gfx) ? "s_wait_loadcnt 0x0" : "s_waitcnt vmcnt(0)";
    }
    const char *lds_wait() const {
        return gfx12(gfx) ? "s_wait_dscnt 0x0" : "s_waitcnt lgkmcnt(0)";
    }
    const char *group() const { return target_of(gfx).wg_x.data(); }
    bool wide() const { return wave == 64; }
};

// WaveIn in s[32:39], a wave64's second one in s[40:47]; LaneIn in v[2:9]; this lane's place in
// v12.
std::string prologue(const Target &t) {
    std::string high_masks = t.wide() ? "  s_mov_b32 s49, s44\n  s_mov_b32 vcc_hi, s42\n" : "";
    return fmt::format(R"(  s_mov_b32 s10, {}
  s_load_b128 s[4:7], s[0:1], 0x0
  s_load_b64 s[8:9], s[0:1], 0x10
  {}
  s_lshl_b32 s11, s10, {}
  s_load_b256 s[32:39], s[8:9], s11 offset:0x0
  {}
  s_lshl_b32 s12, s10, {}
  v_add_nc_u32 v1, s12, v0
  v_lshlrev_b32 v12, 5, v1
  global_load_b128 v[2:5], v12, s[4:5]
  global_load_b128 v[6:9], v12, s[4:5] offset:16
  {}
  {}
  s_mov_b32 s48, s36
  s_mov_b32 vcc_lo, s34
{}  s_setreg_b32 hwreg(1, 0, 24), s32
  v_readlane_b32 s14, v6, 0
  v_readlane_b32 s15, v6, 1
)",
                       t.group(), t.scalar_wait(), t.wide() ? 6 : 5,
                       t.wide() ? "s_load_b256 s[40:47], s[8:9], s11 offset:0x20" : "s_nop 0",
                       t.wide() ? 6 : 5, t.scalar_wait(), t.vector_wait(), high_masks);
}

// v10 and up: the current masks, for the lane's half.
std::string epilogue(const Target &t) {
    if (!t.wide())
        return R"(  s_mov_b32 s52, exec_lo
  s_mov_b32 exec_lo, -1
  v_mov_b32 v10, s48
  v_mov_b32 v11, s52
  v_mov_b32 v13, vcc_lo
)";
    return R"(  s_mov_b64 s[52:53], exec
  s_mov_b64 exec, -1
  v_mov_b32 v10, s48
  v_mov_b32 v11, s52
  v_mov_b32 v13, vcc_lo
  s_mov_b32 exec_lo, 0
  v_mov_b32 v10, s49
  v_mov_b32 v11, s53
  v_mov_b32 v13, vcc_hi
  s_mov_b32 exec_lo, -1
)";
}

std::string vector_form(const std::string &instruction, const Target &t) {
    return fmt::format("  s_mov_b32 exec_lo, s35\n{}  {}\n",
                       t.wide() ? "  s_mov_b32 exec_hi, s43\n" : "", instruction);
}

// One lane after the other through the scalar registers. SCC starts as the lane's bit of VCC, EXEC
// as the low word of the third operand; SCC and EXEC afterwards go to v10 and v11.
std::string scalar_form(const std::string &instruction, const std::string &label) {
    return fmt::format(R"(  s_mov_b32 s14, vcc_lo
  s_mov_b32 s16, 0
{0}_loop:
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
  s_cbranch_scc1 {0}_loop
)",
                       label, instruction);
}

std::string form_text(const KernelSource &k, u32 n, const Target &t) {
    std::string label = fmt::format(".L{}_{}", k.name, n), text = label + ":\n";
    if (k.body == Body::scalar)
        text += scalar_form(k.forms[n], label);
    else
        text += vector_form(k.forms[n], t);
    if (k.body == Body::lanes)
        text += fmt::format("  {}\n", t.lds_wait());
    return text +
           fmt::format("  s_branch .L{}_{}\n", k.name, k.body == Body::scalar ? "store" : "end");
}

std::string kernel_text(const KernelSource &k, const Target &t) {
    std::string text = fmt::format(".globl {0}\n.p2align 8\n.type {0},@function\n{0}:\n", k.name);
    text += prologue(t);
    for (u32 n = 1; n < k.forms.size(); ++n)
        text += fmt::format("  s_cmp_eq_u32 s33, {1}\n  s_cbranch_scc1 .L{0}_{1}\n", k.name, n);
    for (u32 n = 0; n < k.forms.size(); ++n)
        text += form_text(k, n, t);
    text += fmt::format(".L{}_end:\n{}.L{}_store:\n", k.name, epilogue(t), k.name);
    text += "  global_store_b128 v12, v[8:11], s[6:7]\n"
            "  global_store_b32 v12, v13, s[6:7] offset:16\n  s_endpgm\n";
    return text + fmt::format(".size {0}, . - {0}\n", k.name);
}

std::string descriptor(const std::string &kernel, const Target &t) {
    bool init16 = target_of(t.gfx).init16;
    return fmt::format(R"(.amdhsa_kernel {}
  .amdhsa_next_free_vgpr 32
  .amdhsa_next_free_sgpr 64
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  {}
  .amdhsa_kernarg_size 24
  .amdhsa_wavefront_size32 {}
.end_amdhsa_kernel
)",
                       kernel, init16 ? ".amdhsa_user_sgpr_count 15" : "", t.wide() ? 0 : 1);
}

} // namespace

std::string program_text(const std::vector<KernelSource> &kernels, const std::string &gfx,
                         unsigned wave) {
    const Target target{gfx, wave};
    std::string text = ".text\n", descriptors = ".rodata\n.p2align 6\n";
    for (const KernelSource &k : kernels) {
        text += kernel_text(k, target);
        descriptors += descriptor(k.name, target);
    }
    text += descriptors;
    return target_of(gfx).old_names ? sim::test::with_old_names(text) : text;
}

} // namespace nw::oracle
