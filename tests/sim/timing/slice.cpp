// SPDX-License-Identifier: MIT
// For times alone only what decides branches, masks and addresses is executed: the times are the
// same to the cycle.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/func/executable/executable.h"
#include "sim/timing/run.h"
#include "sim/timing/sampling/slice.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

TimedLaunch timed(const std::string &body, bool times) {
    TimedLaunch l;
    l.grid = {24, 1, 1};
    l.block = {64, 1, 1};
    l.words = 1 << 16;
    l.warm = l.watched = false;
    l.times = times;
    time({.body = body, .vgprs = 96, .lds = 4096}, l);
    return l;
}

// The times with and without results; returns whether something was left out.
bool same_times(const std::string &body) {
    const TimedLaunch all = timed(body, false), times = timed(body, true);
    CHECK(times.result.cycles == all.result.cycles);
    CHECK(times.result.insts == all.result.insts);
    CHECK(times.result.stalls == all.result.stalls);
    CHECK(times.result.memory.requests == all.result.memory.requests);
    CHECK(times.result.memory.sectors == all.result.memory.sectors);
    CHECK(times.result.busy.lds == all.result.busy.lds);
    return times.sliced;
}

// By line of the body, which begins behind the kernel's first instructions.
std::string idle_lines(const std::string &body) {
    const auto program = load({.body = body, .vgprs = 96, .lds = 4096});
    const Executable &code = executable(*program, 32);
    const timing::ProgramFacts facts(*code.code, program->gfx(), timing::costs_for(program->gfx()));
    const auto idle = timing::idle_instructions(
        *code.code, facts, code.code->find(program->find_kernel("test")->entry));
    std::string out;
    for (size_t n = 0; n < idle.size(); ++n)
        if (idle[n])
            out += std::string(code.code->instructions[n].x.mnemonic) + " ";
    return out;
}

} // namespace

TEST_CASE("a loop that multiplies: its products are not executed") {
    const std::string body = "v_lshlrev_b32 v1, 4, v0\nv_mov_b32 v2, v1\ns_mov_b32 s20, 20\n"
                             "L_loop:\n"
                             "global_load_b128 v[4:7], v2, s[2:3]\nv_add_nc_u32 v2, 0x800, v2\n"
                             "s_waitcnt vmcnt(0)\nds_store_b128 v1, v[4:7]\n"
                             "s_waitcnt lgkmcnt(0)\ns_barrier\nds_load_b128 v[8:11], v1\n"
                             "s_waitcnt lgkmcnt(0)\nv_fmac_f32 v20, v8, v9\n"
                             "v_fmac_f32 v21, v10, v11\n"
                             "s_sub_u32 s20, s20, 1\ns_cmp_lg_u32 s20, 0\n"
                             "s_cbranch_scc1 L_loop\n"
                             "global_store_b64 v1, v[20:21], s[2:3]\n";
    CHECK(idle_lines(body) == "ds_store_b128 ds_load_b128 v_fmac_f32 v_fmac_f32 ");
    CHECK(same_times(body));
}

TEST_CASE("an address that comes through LDS: what is stored there is executed") {
    const std::string body = "v_lshlrev_b32 v1, 2, v0\nv_mul_u32_u24 v3, 20, v0\n"
                             "v_add_f32 v9, 1.0, v9\n"
                             "ds_store_b32 v1, v3\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                             "ds_load_b32 v4, v1 offset:64\ns_waitcnt lgkmcnt(0)\n"
                             "v_and_b32 v4, 0xffc, v4\nglobal_load_b32 v5, v4, s[2:3]\n"
                             "s_waitcnt vmcnt(0)\nv_add_nc_u32 v6, v5, v3\n";
    CHECK(idle_lines(body) == "v_add_f32 v_add_nc_u32 ");
    CHECK(same_times(body));
}

TEST_CASE("a mask that comes from a value: the value is executed") {
    const std::string body = "v_lshlrev_b32 v1, 2, v0\nv_mul_u32_u24 v3, 3, v0\n"
                             "v_add_nc_u32 v8, v3, v0\nv_cmp_lt_u32 vcc_lo, 60, v3\n"
                             "s_and_saveexec_b32 s20, vcc_lo\ns_cbranch_execz L_end\n"
                             "global_store_b32 v1, v8, s[2:3]\nL_end:\ns_mov_b32 exec_lo, s20\n"
                             "global_load_b32 v5, v1, s[2:3]\n";
    CHECK(idle_lines(body) == "v_add_nc_u32 ");
    CHECK(same_times(body));
}

TEST_CASE("lanes that are off keep an address: a write under a mask does not replace it") {
    const std::string body = "v_lshlrev_b32 v1, 4, v0\nv_cmp_lt_u32 vcc_lo, 20, v0\n"
                             "s_and_saveexec_b32 s20, vcc_lo\nv_mov_b32 v1, 0\n"
                             "s_mov_b32 exec_lo, s20\nglobal_load_b32 v5, v1, s[2:3]\n";
    CHECK(idle_lines(body) == "");
    CHECK(same_times(body));
    // Without the mask it does.
    CHECK(idle_lines("v_lshlrev_b32 v1, 4, v0\nv_mov_b32 v1, 0\n"
                     "global_load_b32 v5, v1, s[2:3]\n") == "v_lshlrev_b32 ");
}

TEST_CASE("half of a register is an address still") {
    CHECK(idle_lines("v_lshlrev_b32 v1, 4, v0\nglobal_load_d16_b16 v1, v0, s[2:3]\n"
                     "s_waitcnt vmcnt(0)\nv_and_b32 v1, 0xfc, v1\n"
                     "ds_load_b32 v5, v1\n") == "ds_load_b32 ");
}

TEST_CASE("kernels whose addresses may come from what they store are executed") {
    // Its own store.
    CHECK(!same_times("v_lshlrev_b32 v1, 2, v0\nglobal_store_b32 v1, v1, s[2:3]\n"
                      "s_waitcnt_vscnt null, 0\nglobal_load_b32 v5, v1, s[2:3]\n"
                      "s_waitcnt vmcnt(0)\nv_and_b32 v5, 0xffc, v5\n"
                      "global_load_b32 v6, v5, s[2:3]\n"));
    // An atomic that returns; another is a store.
    const std::string add = "v_lshlrev_b32 v1, 2, v0\nv_mov_b32 v2, 1\n"
                            "global_atomic_add_u32 ";
    CHECK(!same_times(add + "v3, v1, v2, s[2:3] glc\n"));
    CHECK(same_times(add + "v1, v2, s[2:3]\n"));
    CHECK(!same_times(add + "v1, v2, s[2:3]\nglobal_load_b32 v5, v1, s[2:3]\n"
                            "s_waitcnt vmcnt(0)\nv_and_b32 v5, 0xffc, v5\n"
                            "global_load_b32 v6, v5, s[2:3]\n"));
    // Before any store: executed in part.
    CHECK(same_times("v_lshlrev_b32 v1, 2, v0\nglobal_load_b32 v5, v1, s[2:3]\n"
                     "s_waitcnt vmcnt(0)\nv_and_b32 v5, 0xffc, v5\n"
                     "global_load_b32 v6, v5, s[2:3]\ns_waitcnt vmcnt(0)\n"
                     "global_store_b32 v1, v6, s[2:3]\n"));
}
