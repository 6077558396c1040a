// SPDX-License-Identifier: MIT
// The five cases of the hazards of isa/hazards.inc that only the lint checks, and their edges. The
// simulator can't be asked: it runs neither gfx10 nor loads from LDS past the counters, and H-013
// is no fault.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lint/lint.h"
#include "sim/assemble.h"
#include "sim/hazard_rows.h"

using namespace nw;
using namespace nw::sim::test;

namespace {

const Targets gfx10_1{"gfx1010", "gfx1013"}, gfx10{"gfx1010", "gfx1030"}, gfx10_3{"gfx1030"},
    gfx11{"gfx1100", "gfx1151"}, gfx12{"gfx1201"}, later{"gfx1030", "gfx1100", "gfx1201"},
    all{"gfx1100", "gfx1151", "gfx1201"}, none{};

// clang-format off
const Row rows[] = {
    {"H-007", gfx10_1, gfx10_3, 32, "v_cmpx_ge_u32 v0, v0", "v_permlane16_b32 v2, v0, s2, s3",
     "v_cmp_ge_u32 vcc_lo, v0, v0\n v_permlane16_b32 v2, v0, s2, s3",
     "v_mov_b32 v9, v0", "v_nop"},
    {"H-013", all, none, 64, "", "v_cmp_eq_u32 s[8:9], s8, v1",
     "v_cmp_eq_u32 s[8:9], s10, v1",
     nullptr, "s_waitcnt_depctr depctr_va_sdst(0)"},
    {"H-014", gfx11, none, 32, "v_mov_b32 v2, v1", "lds_direct_load v1 wait_vdst:15",
     "v_mov_b32 v2, v0\n lds_direct_load v1 wait_vdst:15",
     "s_waitcnt_depctr depctr_va_vdst(0)", "s_waitcnt_depctr depctr_vm_vsrc(0)"},
    {"H-014", gfx12, none, 32, "v_mov_b32 v1, v2", "ds_direct_load v1 wait_va_vdst:15 wait_vm_vsrc:0",
     "v_mov_b32 v3, v2\n ds_direct_load v1 wait_va_vdst:15 wait_vm_vsrc:0",
     "s_wait_alu depctr_va_vdst(0)", "s_wait_alu depctr_vm_vsrc(0)"},
    {"H-015", gfx11, none, 32, "global_store_b32 v1, v0, s[2:3]", "lds_direct_load v1 wait_vdst:15",
     "global_store_b32 v3, v0, s[2:3]\n lds_direct_load v1 wait_vdst:15",
     "s_waitcnt_depctr depctr_vm_vsrc(0)", "s_waitcnt_depctr depctr_va_vdst(0)"},
    {"H-015", gfx12, none, 32, "ds_store_b32 v1, v0", "ds_direct_load v1 wait_va_vdst:0 wait_vm_vsrc:1",
     "ds_store_b32 v3, v0\n ds_direct_load v1 wait_va_vdst:0 wait_vm_vsrc:1",
     "s_wait_alu depctr_vm_vsrc(0)", "s_wait_alu depctr_va_vdst(0)"},
    {"H-016", gfx10_1, later, 32, "s_mov_b32 s8, exec_lo", "v_cmpx_eq_u32 v0, v1",
     "s_mov_b32 s8, s9\n v_cmpx_eq_u32 v0, v1",
     "s_waitcnt_depctr depctr_sa_sdst(0)", "s_waitcnt_depctr depctr_va_vdst(0)"},
    // The branch between is part of the hazard.
    {"H-017", gfx10_1, gfx10_3, 32, "ds_write_b32 v1, v0\n s_branch .Lb\n.Lb:", "global_store_dword v1, v0, s[2:3]",
     "ds_write_b32 v1, v0\n global_store_dword v1, v0, s[2:3]",
     "s_waitcnt_vscnt null, 0", "s_waitcnt vmcnt(0) lgkmcnt(0)"},
    {"H-017", gfx10_1, gfx10_3, 32, "global_load_dword v2, v1, s[2:3]\n s_branch .Lb\n.Lb:", "ds_read_b32 v3, v1",
     "global_load_dword v2, v1, s[2:3]\n s_branch .Lb\n.Lb:\n global_load_dword v3, v1, s[2:3]",
     "s_waitcnt_vscnt null, 0", "s_waitcnt_vscnt null, 1"},
    {"H-018", gfx10_1, gfx10_3, 32, "s_load_dword s8, s[2:3], 0x0", "v_readfirstlane_b32 s2, v0",
     "s_load_dword s8, s[2:3], 0x0\n v_readfirstlane_b32 s9, v0",
     "s_mov_b32 null, 0", "s_waitcnt vmcnt(0)"},
    {"H-019", gfx10_1, gfx10_3, 32, "global_store_dword v1, v0, s[2:3]", "s_mov_b32 s2, 0",
     "global_store_dword v1, v0, s[2:3]\n s_mov_b32 s4, 0",
     "s_waitcnt_depctr depctr_vm_vsrc(0)", "s_waitcnt vmcnt(0)"},
    // These are one instruction each: nothing before it resolves it.
    {"H-021", gfx10_1, gfx10_3, 32, "", ".long 0xbf82003f\n .rept 63\n s_nop 0\n .endr",
     "s_branch .Lb\n .rept 62\n s_nop 0\n .endr\n.Lb:",
     nullptr, "s_nop 0"},
    {"H-022", gfx10_1, gfx10_3, 32, "", "s_inst_prefetch 0x1",
     "s_nop 0",
     nullptr, "s_waitcnt lgkmcnt(0)"},
    {"H-023", gfx10, none, 32, "global_atomic_fmin v1, v2, s[2:3]", "s_denorm_mode 0x0",
     "global_atomic_umin v1, v2, s[2:3]\n s_denorm_mode 0x0",
     "s_nop 2", "s_nop 1"},
    {"H-024", gfx10_1, gfx10_3, 32, "", "flat_load_dword v2, v[4:5] offset:16",
     "flat_load_dword v2, v[4:5]\n global_load_dword v3, v[4:5], off offset:16",
     nullptr, "s_waitcnt vmcnt(0) lgkmcnt(0)"},
};
// clang-format on

// A kernel of these lines alone: what its registers hold is no matter here.
std::string source(u32 wave, const std::string &body) {
    return fmt::format(R"(.text
.globl test
.p2align 8
.type test,@function
test:
{}
  s_endpgm
.Lend:
.size test, .Lend - test
.rodata
.p2align 6
.amdhsa_kernel test
  .amdhsa_next_free_vgpr 64
  .amdhsa_next_free_sgpr 100
  .amdhsa_wavefront_size32 {}
.end_amdhsa_kernel
)",
                       body, wave == 32 ? 1 : 0);
}

// Findings of this row's rule only: other defects of such a kernel don't matter here.
std::string find(const Row &r, const std::string &gfx, const std::string &body) {
    const auto program = sim::Program::load(assemble(gfx, source(r.wave, body)), gfx);
    for (const lint::Finding &f : lint::lint(*program, program->kernels().front(), true))
        if (info(f.rule).id == r.note)
            return fmt::format("{} ({})", f.text, r.note);
    return "";
}

struct Edge {
    const char *name, *note;
    Targets targets;
    std::string body;
    bool found;
    u32 wave = 32;
};

void check_edges(const std::vector<Edge> &edges) {
    for (const Edge &e : edges)
        for (const std::string &gfx : e.targets) {
            const Row row{e.note, {}, {}, e.wave, "", "", "", "", ""};
            const std::string text = find(row, gfx, e.body);
            INFO(fmt::format("{} {}, {}:\n{}\nfinds: {}", e.note, gfx, e.name, e.body, text));
            CHECK(text.empty() != e.found);
        }
}

std::string times(unsigned n, const std::string &line) {
    std::string out;
    for (unsigned i = 0; i < n; ++i)
        out += line + "\n";
    return out;
}

} // namespace

TEST_CASE("the five cases of hazards that only the lint checks") { check_five_cases(rows, find); }

TEST_CASE("H-013: a scalar that the instruction itself overwrites") {
    check_edges({
        {"VCC", "H-013", all, "v_cmp_eq_u32 vcc, vcc_lo, v1", true, 64},
        {"a wide number", "H-013", all, "v_cmp_eq_u64 s[8:9], s[8:9], v[2:3]", true, 64},
        {"a carry has a half for each pass", "H-013", all,
         "v_add_co_ci_u32 v2, s[8:9], v0, v1, s[8:9]", false, 64},
        {"the second register is written last", "H-013", all, "v_cmp_eq_u32 s[8:9], s9, v1", false,
         64},
        {"one pass only", "H-013", all, "v_readlane_b32 s8, v1, s8", false, 64},
        {"wave32", "H-013", all, "v_cmp_eq_u32 s8, s8, v1", false, 32},
    });
}

TEST_CASE("H-014, H-015: registers that a load from LDS past the counters overwrites") {
    const std::string use = "v_mov_b32 v2, v1\n", other = "v_mov_b32 v5, v3\n",
                      load = "lds_direct_load v1 wait_vdst:15\n";
    check_edges({
        {"two behind it, three allowed", "H-014", gfx11,
         use + other + other + "lds_direct_load v1 wait_vdst:3", true},
        {"two behind it, two allowed", "H-014", gfx11,
         use + other + other + "lds_direct_load v1 wait_vdst:2", false},
        {"a transcendental between", "H-014", gfx11,
         use + "v_exp_f32 v5, v3\n lds_direct_load v1 wait_vdst:1", true},
        {"waits for all", "H-014", gfx11, use + "v_exp_f32 v5, v3\n lds_direct_load v1 wait_vdst:0",
         false},
        {"fourteen between", "H-014", gfx11, use + times(14, other) + load, true},
        {"fifteen", "H-014", gfx11, use + times(15, other) + load, false},
        {"memory instructions wait, too", "H-014", gfx11, use + "ds_store_b32 v0, v0\n" + load,
         false},
        {"around a loop", "H-014", gfx11, ".Lloop:\n" + load + use + "s_cbranch_scc1 .Lloop\n",
         true},
        {"a parameter", "H-014", gfx11, use + "lds_param_load v1, attr0.x wait_vdst:15", true},
        {"a load into it", "H-015", gfx11, "global_load_b32 v1, v0, s[2:3]\n" + load, true},
        {"a vector instruction between", "H-015", gfx11,
         "global_store_b32 v1, v0, s[2:3]\n" + other + load, false},
        {"waited for everything", "H-015", gfx11,
         "global_load_b32 v1, v0, s[2:3]\n s_waitcnt 0\n" + load, false},
        {"the load itself waits", "H-015", gfx12,
         "global_store_b32 v1, v0, s[2:3]\n ds_direct_load v1 wait_va_vdst:15 wait_vm_vsrc:0",
         false},
    });
}

TEST_CASE("H-016 to H-019: what else resolves them, and what doesn't") {
    const std::string cmpx = "v_cmpx_eq_u32 v0, v1\n",
                      store = "global_store_dword v1, v0, s[2:3]\n", lds = "ds_write_b32 v1, v0\n",
                      branch = "s_branch .Lb\n.Lb:\n", load = "s_load_dword s8, s[2:3], 0x0\n",
                      write = "v_readfirstlane_b32 s2, v0\n";
    check_edges({
        {"memory reads EXEC", "H-016", gfx10_1, store + cmpx, true},
        {"and a branch", "H-016", gfx10_1, "s_cbranch_execz .Lout\n" + cmpx + ".Lout:\n", true},
        {"vector instructions don't", "H-016", gfx10_1, "v_mov_b32 v2, exec_lo\n" + cmpx, false},
        {"none resolves it", "H-016", gfx10_1, store + "v_mov_b32 v2, 0\n" + cmpx, true},
        {"but one that writes VCC", "H-016", gfx10_1,
         store + "v_cmp_eq_u32 vcc_lo, v0, v1\n" + cmpx, false},
        {"v_readfirstlane doesn't", "H-016", gfx10_1, store + write + cmpx, true},
        {"without a branch", "H-017", gfx10_1, lds + store, false},
        {"the same behind the branch, first", "H-017", gfx10_1, lds + branch + lds + store, false},
        {"the same before the branch, last", "H-017", gfx10_1, lds + store + branch + store, false},
        {"two branches", "H-017", gfx10_1, lds + branch + "s_branch .Lc\n.Lc:\n" + store, true},
        {"a branch not taken", "H-017", gfx10_1, lds + "s_cbranch_scc1 .Lc\n" + store + ".Lc:\n",
         true},
        {"a flat store", "H-017", gfx10_1, "flat_store_dword v[2:3], v0\n" + branch + lds, true},
        {"into VCC", "H-018", gfx10_1, "s_load_dword s8, vcc, 0x0\n v_cmp_eq_u32 vcc_lo, v0, v1\n",
         true},
        {"a wait resolves it", "H-018", gfx10_1, load + "s_waitcnt lgkmcnt(0)\n" + write, false},
        {"s_nop doesn't", "H-018", gfx10_1, load + "s_nop 7\n" + write, true},
        {"a vector instruction doesn't", "H-018", gfx10_1, load + "v_mov_b32 v2, 0\n" + write,
         true},
        {"EXEC after memory", "H-019", gfx10_1, store + "s_mov_b32 exec_lo, 0\n", true},
        {"EXEC after LDS", "H-019", gfx10_1, lds + "s_and_saveexec_b32 s8, s9\n", true},
        {"by a scalar load", "H-019", gfx10_1, store + "s_load_dword s2, s[4:5], 0x0\n", true},
        {"a vector instruction resolves it", "H-019", gfx10_1,
         store + "v_mov_b32 v2, 0\n s_mov_b32 s2, 0\n", false},
        {"so does a wait for the store", "H-019", gfx10_1,
         store + "s_waitcnt_vscnt null, 0\n s_mov_b32 s2, 0\n", false},
        {"for the load", "H-019", gfx10_1,
         "global_load_dword v2, v1, s[2:3]\n s_waitcnt vmcnt(0)\n s_mov_b32 s2, 0\n", false},
        {"not for another load", "H-019", gfx10_1,
         "global_load_dword v2, v1, s[2:3]\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s2, 0\n", true},
    });
}

// Any instruction between resolves it: only falling from one block into the next is across.
TEST_CASE("H-020: a buffer right behind a long image instruction") {
    const std::string image = "image_sample_d v[0:3], [v4, v9, v1, v7, v3, v20], s[8:15], s[16:19] "
                              "dmask:0xf dim:SQ_RSRC_IMG_2D\n",
                      shorter = "image_sample_d v[0:3], v[4:9], s[8:15], s[16:19] dmask:0xf "
                                "dim:SQ_RSRC_IMG_2D\n",
                      load = "buffer_load_dword v40, off, s[8:11], 0 offset:6\n";
    check_edges({
        {"hazard", "H-020", gfx10_1, image + load, true},
        {"other targets", "H-020", gfx10_3, image + load, false},
        {"none: offset", "H-020", gfx10_1,
         image + "buffer_load_dword v40, off, s[8:11], 0 offset:8\n", false},
        {"none: addresses in a row", "H-020", gfx10_1, shorter + load, false},
        {"mitigated", "H-020", gfx10_1, image + "s_nop 0\n" + load, false},
        {"across a branch", "H-020", gfx10_1, "s_cbranch_scc1 .Lb\n" + image + ".Lb:\n" + load,
         true},
        {"across a branch that stands between", "H-020", gfx10_1,
         image + "s_branch .Lb\n.Lb:\n" + load, false},
    });
}

TEST_CASE("H-023: what else resolves it") {
    const std::string atomic = "global_atomic_fmin v1, v2, s[2:3]\n", mode = "s_denorm_mode 0x0\n";
    check_edges({
        {"two instructions between", "H-023", gfx10, atomic + times(2, "s_mov_b32 s8, 0") + mode,
         true},
        {"three", "H-023", gfx10, atomic + times(3, "s_mov_b32 s8, 0") + mode, false},
        {"a vector instruction", "H-023", gfx10, atomic + "v_mov_b32 v5, 0\n" + mode, false},
        {"a wait", "H-023", gfx10, atomic + "s_waitcnt lgkmcnt(0)\n" + mode, false},
        {"a buffer's", "H-023", gfx10, "buffer_atomic_fmax v1, off, s[8:11], 0\n" + mode, true},
    });
}
