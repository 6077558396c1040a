// SPDX-License-Identifier: MIT
// The five cases of the hazards of isa/hazards.inc that only the lint checks, and their edges. The
// simulator can't be asked: it runs neither images nor loads from LDS past the counters, and H-013
// is no fault.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lint/lint.h"
#include "sim/assemble.h"
#include "sim/check/hazard_rows.h"

using namespace nw;
using namespace nw::sim::test;

namespace {

const Targets gfx10_1{"gfx1010", "gfx1013"}, gfx10_3{"gfx1030"}, gfx11{"gfx1100", "gfx1151"},
    gfx12{"gfx1201"}, all{"gfx1100", "gfx1151", "gfx1201"}, none{};

// clang-format off
const Row rows[] = {
    {"H-030", all, none, 32, "", "v_dual_mov_b32 v4, v0 :: v_dual_add_f32 v5, v1, v4",
     "v_dual_add_f32 v5, v1, v4 :: v_dual_mov_b32 v4, v0",
     nullptr, "s_waitcnt_depctr depctr_va_vdst(0)"},
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

TEST_CASE("H-030: halves that depend on each other") {
    check_edges({
        {"the second writes what the first reads", "H-030", all,
         "v_dual_add_f32 v5, v1, v0 :: v_dual_mov_b32 v0, v2", false},
        {"an accumulator", "H-030", all, "v_dual_mov_b32 v4, v0 :: v_dual_fmac_f32 v5, v1, v4",
         true},
        {"SGPRs", "H-030", all, "v_dual_mov_b32 v4, s2 :: v_dual_add_f32 v5, s2, v1", false},
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
