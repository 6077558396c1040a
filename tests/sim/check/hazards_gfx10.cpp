// SPDX-License-Identifier: MIT
// The hazards of gfx10: the five cases of each, and what else resolves it. The simulator's check
// and the lint both run (found.h); H-020 is the lint's alone.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/check/found.h"
#include "sim/check/hazard_rows.h"

using namespace nw::sim::test;

namespace {

const Targets gfx10_1{"gfx1010", "gfx1012"}, gfx10{"gfx1010", "gfx1030"}, gfx10_3{"gfx1030"},
    later{"gfx1030", "gfx1100", "gfx1201"}, none{};

// clang-format off
const Row rows[] = {
    {"H-007", gfx10_1, gfx10_3, 32, "v_cmpx_ge_u32 v0, v0", "v_permlane16_b32 v2, v0, s2, s3",
     "v_cmp_ge_u32 vcc_lo, v0, v0\n v_permlane16_b32 v2, v0, s2, s3",
     "v_mov_b32 v9, v0", "v_nop"},
    {"H-016", gfx10_1, later, 32, "s_mov_b32 s8, exec_lo", "v_cmpx_eq_u32 v0, v1",
     "s_mov_b32 s8, s9\n v_cmpx_eq_u32 v0, v1",
     "s_waitcnt_depctr depctr_sa_sdst(0)", "s_waitcnt_depctr depctr_va_vdst(0)"},
    // The branch between is part of the hazard.
    {"H-017", gfx10_1, gfx10_3, 32, "ds_store_b32 v1, v0\n s_branch .Lb\n.Lb:", "global_store_b32 v1, v0, s[2:3]",
     "ds_store_b32 v1, v0\n global_store_b32 v1, v0, s[2:3]",
     "s_waitcnt_vscnt null, 0", "s_waitcnt vmcnt(0) lgkmcnt(0)"},
    {"H-017", gfx10_1, gfx10_3, 32, "global_load_b32 v2, v1, s[2:3]\n s_branch .Lb\n.Lb:", "ds_load_b32 v3, v1",
     "global_load_b32 v2, v1, s[2:3]\n s_branch .Lb\n.Lb:\n global_load_b32 v3, v1, s[2:3]",
     "s_waitcnt_vscnt null, 0", "s_waitcnt_vscnt null, 1"},
    {"H-018", gfx10_1, gfx10_3, 32, "s_load_b32 s8, s[2:3], 0x0", "v_readfirstlane_b32 s2, v0",
     "s_load_b32 s8, s[2:3], 0x0\n v_readfirstlane_b32 s9, v0",
     "s_mov_b32 null, 0", "s_waitcnt vmcnt(0)"},
    {"H-019", gfx10_1, gfx10_3, 32, "global_store_b32 v1, v0, s[2:3]", "s_mov_b32 s2, 0",
     "global_store_b32 v1, v0, s[2:3]\n s_mov_b32 s4, 0",
     "s_waitcnt_depctr depctr_vm_vsrc(0)", "s_waitcnt vmcnt(0)"},
    // These are one instruction each: nothing before it resolves it.
    {"H-021", gfx10_1, gfx10_3, 32, "", ".long 0xbf82003f\n .rept 63\n s_nop 0\n .endr",
     "s_branch .Lb\n .rept 62\n s_nop 0\n .endr\n.Lb:",
     nullptr, "s_nop 0"},
    {"H-022", gfx10_1, gfx10_3, 32, "", "s_set_inst_prefetch_distance 0x1",
     "s_nop 0",
     nullptr, "s_waitcnt lgkmcnt(0)"},
    {"H-023", gfx10, none, 32, "global_atomic_min_f32 v1, v2, s[2:3]", "s_denorm_mode 0x0",
     "global_atomic_min_u32 v1, v2, s[2:3]\n s_denorm_mode 0x0",
     "s_nop 2", "s_nop 1"},
    {"H-024", gfx10_1, gfx10_3, 32, "", "v_mov_b32 v4, s2\n v_mov_b32 v5, s3\n flat_load_b32 v2, v[4:5] offset:16",
     "v_mov_b32 v4, s2\n v_mov_b32 v5, s3\n flat_load_b32 v2, v[4:5]\n global_load_b32 v3, v[4:5], off offset:16",
     nullptr, "s_waitcnt vmcnt(0) lgkmcnt(0)"},
};
// clang-format on

struct Edge {
    const char *name, *note;
    Targets targets;
    std::string body;
    bool found;
};

void check_edges(const std::vector<Edge> &edges) {
    for (const Edge &e : edges)
        for (const std::string &gfx : e.targets) {
            const std::string text = found_in(gfx, 32, e.body);
            INFO(fmt::format("{} {}, {}:\n{}\nfinds: {}", e.note, gfx, e.name, e.body, text));
            if (e.found)
                CHECK(text.find(e.note) != text.npos);
            else
                CHECK(text == "");
        }
}

} // namespace

TEST_CASE("the five cases of each hazard of gfx10") { check_five_cases(rows, found_in_row); }

TEST_CASE("H-016 to H-019: what else resolves them, and what doesn't") {
    const std::string cmpx = "v_cmpx_eq_u32 v0, v1\n", store = "global_store_b32 v1, v0, s[2:3]\n",
                      lds = "ds_store_b32 v1, v0\n", branch = "s_branch .Lb\n.Lb:\n",
                      load = "s_load_b32 s8, s[2:3], 0x0\n", write = "v_readfirstlane_b32 s2, v0\n";
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
        {"a branch not taken", "H-017", gfx10_1,
         "s_cmp_lg_u32 s4, s4\n" + lds + "s_cbranch_scc1 .Lc\n" + store + ".Lc:\n", true},
        {"a flat store", "H-017", gfx10_1,
         "v_mov_b32 v2, s2\n v_mov_b32 v3, s3\n flat_store_b32 v[2:3], v1\n" + branch + lds, true},
        {"into VCC", "H-018", gfx10_1,
         "s_mov_b64 vcc, s[2:3]\n s_load_b32 s8, vcc, 0x0\n v_cmp_eq_u32 vcc_lo, v0, v1\n", true},
        {"a wait resolves it", "H-018", gfx10_1, load + "s_waitcnt lgkmcnt(0)\n" + write, false},
        {"s_nop doesn't", "H-018", gfx10_1, load + "s_nop 7\n" + write, true},
        {"a vector instruction doesn't", "H-018", gfx10_1, load + "v_mov_b32 v2, 0\n" + write,
         true},
        {"a scalar store", "H-018", gfx10_1, "s_store_b32 s4, s[2:3], 0x0\n" + write, true},
        {"EXEC after memory", "H-019", gfx10_1, store + "s_mov_b32 exec_lo, 0\n", true},
        {"EXEC after LDS", "H-019", gfx10_1, lds + "s_or_b32 exec_lo, exec_lo, s4\n", true},
        {"EXEC by s_and_saveexec, which LLVM leaves out", "H-019", gfx10_1,
         lds + "s_and_saveexec_b32 s8, s4\n", false},
        {"by a scalar load", "H-019", gfx10_1, store + "s_load_b32 s2, s[4:5], 0x0\n", true},
        {"a vector instruction resolves it", "H-019", gfx10_1,
         store + "v_mov_b32 v2, 0\n s_mov_b32 s2, 0\n", false},
        {"so does a wait for the store", "H-019", gfx10_1,
         store + "s_waitcnt_vscnt null, 0\n s_mov_b32 s2, 0\n", false},
        {"for the load", "H-019", gfx10_1,
         "global_load_b32 v2, v1, s[2:3]\n s_waitcnt vmcnt(0)\n s_mov_b32 s2, 0\n", false},
        {"not for another load", "H-019", gfx10_1,
         "global_load_b32 v2, v1, s[2:3]\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s2, 0\n", true},
    });
}

TEST_CASE("H-023: what else resolves it") {
    const std::string atomic = "global_atomic_min_f32 v1, v2, s[2:3]\n",
                      mode = "s_denorm_mode 0x0\n", move = "s_mov_b32 s8, 0\n",
                      buffer = "s_mov_b64 s[8:9], s[2:3]\n s_mov_b32 s10, 64\n"
                               " s_mov_b32 s11, 0x31016fac\n";
    check_edges({
        {"two instructions between", "H-023", gfx10, atomic + move + move + mode, true},
        {"three", "H-023", gfx10, atomic + move + move + move + mode, false},
        {"a vector instruction", "H-023", gfx10, atomic + "v_mov_b32 v5, 0\n" + mode, false},
        {"a wait", "H-023", gfx10, atomic + "s_waitcnt lgkmcnt(0)\n" + mode, false},
        {"a buffer's", "H-023", gfx10,
         buffer + "buffer_atomic_max_f32 v1, off, s[8:11], 0\n" + mode, true},
    });
}
