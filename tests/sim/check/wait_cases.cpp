// SPDX-License-Identifier: MIT
// Registers touched while a memory instruction is under way: each bug is reported where it is, and
// its clean twin is not. The simulator's check and the lint both run (found.h).
#include <doctest/doctest.h>

#include "sim/check/found.h"

using namespace nw::sim::test;

namespace {

struct Case {
    const char *name;
    const char *body;
    const char *register_name; // nullptr: clean
    const char *remedy = "";
};

// clang-format off
const Case gfx11[] = {
    {"read before any wait", "global_load_b32 v2, v1, s[2:3]\n v_add_nc_u32 v3, v2, v2", "v2 is read", "vmcnt(0)"},
    {"waited", "global_load_b32 v2, v1, s[2:3]\n s_waitcnt vmcnt(0)\n v_add_nc_u32 v3, v2, v2", nullptr},
    {"wrong counter", "global_load_b32 v2, v1, s[2:3]\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v3, v2", "v2 is read", "vmcnt(0)"},
    {"the older of two is there", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v1, s[2:3]\n s_waitcnt vmcnt(1)\n v_mov_b32 v4, v2", nullptr},
    {"the younger of two is not", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v1, s[2:3]\n s_waitcnt vmcnt(1)\n v_mov_b32 v4, v3", "v3 is read", "vmcnt(0)"},
    {"the remedy counts the younger ones", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v1, s[2:3]\n global_load_b32 v4, v1, s[2:3]\n v_mov_b32 v5, v2", "v2 is read", "vmcnt(2)"},
    {"a register of a wide load", "global_load_b128 v[4:7], v1, s[2:3]\n v_mov_b32 v3, v6", "v6 is read"},
    {"overwritten in flight", "global_load_b32 v2, v1, s[2:3]\n v_mov_b32 v2, 0", "v2 is overwritten"},
    {"a second load into the same register", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v2, v1, s[2:3] offset:4\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v2", nullptr},
    {"LDS over a load in flight", "global_load_b32 v2, v1, s[2:3]\n ds_load_b32 v2, v1", "v2 is overwritten"},
    {"a store of what is in flight", "global_load_b32 v2, v1, s[2:3]\n global_store_b32 v1, v2, s[2:3]", "v2 is read"},
    {"an address in flight", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v2, s[2:3]", "v2 is read"},
    {"stores read when they issue", "v_mov_b32 v2, 1\n global_store_b32 v1, v2, s[2:3]\n v_mov_b32 v2, 2", nullptr},
    {"stores don't count as loads", "global_load_b32 v2, v1, s[2:3]\n global_store_b32 v1, v0, s[2:3] offset:256\n s_waitcnt vmcnt(1)\n v_mov_b32 v3, v2", "v2 is read", "vmcnt(0)"},
    {"LDS in order", "ds_load_b32 v2, v1\n ds_load_b32 v3, v1\n s_waitcnt lgkmcnt(1)\n v_mov_b32 v4, v2", nullptr},
    {"LDS stores count, too", "ds_load_b32 v2, v1\n ds_store_b32 v1, v0\n s_waitcnt lgkmcnt(1)\n v_mov_b32 v4, v2", nullptr},
    {"LDS not waited", "ds_load_b64 v[2:3], v1\n s_waitcnt vmcnt(0)\n v_mov_b32 v4, v3", "v3 is read", "lgkmcnt(0)"},
    {"scalar load", "s_load_b32 s8, s[2:3], 0x0\n s_add_u32 s9, s8, 1", "s8 is read", "lgkmcnt(0)"},
    {"scalar loads come in any order", "s_load_b32 s8, s[2:3], 0x0\n s_load_b32 s9, s[2:3], 0x4\n s_waitcnt lgkmcnt(1)\n s_mov_b32 s10, s8", "s8 is read", "lgkmcnt(0)"},
    {"scalar load waited", "s_load_b32 s8, s[2:3], 0x0\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v3, s8", nullptr},
    {"VALU reads a scalar load in flight", "s_load_b64 s[8:9], s[2:3], 0x0\n v_mov_b32 v3, s9", "s9 is read"},
    {"atomic with return", "global_atomic_add_u32 v2, v1, v0, s[2:3] glc\n v_mov_b32 v3, v2", "v2 is read", "vmcnt(0)"},
    {"atomic without return counts as a store", "global_load_b32 v2, v1, s[2:3]\n global_atomic_add_u32 v1, v0, s[2:3]\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v2", nullptr},
    {"scratch", "scratch_load_b32 v2, off, off\n v_mov_b32 v3, v2", "v2 is read"},
    {"bpermute", "ds_bpermute_b32 v2, v1, v0\n v_mov_b32 v3, v2", "v2 is read", "lgkmcnt(0)"},
    {"VOPD", "global_load_b32 v2, v1, s[2:3]\n v_dual_mov_b32 v4, v0 :: v_dual_mov_b32 v5, v2", "v2 is read"},
    {"an accumulator is read, too", "global_load_b32 v2, v1, s[2:3]\n v_fmac_f32 v2, v0, v0", "v2 is overwritten"},
    {"the other half", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n v_add_f16 v3.l, v2.h, v2.h", "v2 is read", "vmcnt(0)"},
    {"the other half is written", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n v_mov_b16 v2.h, 0", "v2 is overwritten", "vmcnt(0)"},
    {"the half itself", "v_mov_b32 v2, 0\n global_load_d16_hi_b16 v2, v1, s[2:3]\n v_add_f16 v3.l, v2.h, v2.h", "v2 is read", "vmcnt(0)"},
    {"the older of two halves", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n global_load_d16_hi_b16 v2, v1, s[2:3]\n s_waitcnt vmcnt(1)\n v_add_f16 v3.l, v2.l, v2.l", "v2 is read", "vmcnt(0)"},
    {"both of two halves", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n global_load_d16_hi_b16 v2, v1, s[2:3]\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v2", nullptr},
    {"two halves from LDS", "v_mov_b32 v2, 0\n ds_load_u16_d16 v2, v1\n ds_load_u16_d16_hi v2, v1\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v3, v2", nullptr},
    {"a half from LDS, the other from memory", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n ds_load_u16_d16_hi v2, v1", "v2 is overwritten", "vmcnt(0)"},
    {"the whole of two halves", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n global_load_d16_hi_b16 v2, v1, s[2:3]\n s_waitcnt vmcnt(1)\n v_mov_b32 v3, v2", "v2 is read", "vmcnt(0)"},
    {"across a branch", "global_load_b32 v2, v1, s[2:3]\n s_branch .Lthere\n s_nop 0\n.Lthere:\n v_mov_b32 v3, v2", "v2 is read"},
};
const Case gfx12[] = {
    {"read before any wait", "global_load_b32 v2, v1, s[2:3]\n v_add_nc_u32 v3, v2, v2", "v2 is read", "s_wait_loadcnt 0"},
    {"waited", "global_load_b32 v2, v1, s[2:3]\n s_wait_loadcnt 0\n v_mov_b32 v3, v2", nullptr},
    {"wrong counter", "global_load_b32 v2, v1, s[2:3]\n s_wait_dscnt 0\n s_wait_kmcnt 0\n v_mov_b32 v3, v2", "v2 is read", "s_wait_loadcnt 0"},
    {"LDS", "ds_load_b32 v2, v1\n s_wait_dscnt 0\n v_mov_b32 v3, v2", nullptr},
    {"LDS not waited", "ds_load_b32 v2, v1\n s_wait_kmcnt 0\n v_mov_b32 v3, v2", "v2 is read", "s_wait_dscnt 0"},
    {"scalar", "s_load_b32 s8, s[2:3], 0x0\n s_wait_kmcnt 0\n s_mov_b32 s9, s8", nullptr},
    {"scalar not waited", "s_load_b32 s8, s[2:3], 0x0\n s_wait_dscnt 0\n s_mov_b32 s9, s8", "s8 is read", "s_wait_kmcnt 0"},
    {"two halves", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n global_load_d16_hi_b16 v2, v1, s[2:3]", "v2 is", "s_wait_loadcnt"},
    {"two halves waited for", "v_mov_b32 v2, 0\n global_load_d16_b16 v2, v1, s[2:3]\n s_wait_loadcnt 0\n global_load_d16_hi_b16 v2, v1, s[2:3]\n s_wait_loadcnt 0\n v_mov_b32 v3, v2", nullptr},
    {"two halves from LDS", "v_mov_b32 v2, 0\n ds_load_u16_d16 v2, v1\n ds_load_u16_d16_hi v2, v1\n s_wait_dscnt 0\n v_mov_b32 v3, v2", nullptr},
    {"SCC of a barrier's signal", "s_barrier_signal_isfirst -1\n s_cselect_b32 s8, 1, 0\n s_barrier_wait -1", "scc is read", "s_wait_kmcnt 0"},
    {"the same overwritten", "s_barrier_signal_isfirst -1\n s_cmp_eq_u32 s2, 0\n s_barrier_wait -1", "scc is overwritten", "s_wait_kmcnt 0"},
    {"the same waited for", "s_barrier_signal_isfirst -1\n s_wait_kmcnt 0\n s_cselect_b32 s8, 1, 0\n s_barrier_wait -1", nullptr},
    {"the barrier's wait brings it", "s_barrier_signal_isfirst -1\n s_barrier_wait -1\n s_cselect_b32 s8, 1, 0", nullptr},
    {"wrong counter", "s_barrier_signal_isfirst -1\n s_wait_dscnt 0\n s_cselect_b32 s8, 1, 0\n s_barrier_wait -1", "scc is read", "s_wait_kmcnt 0"},
    {"SCC of leaving a barrier", "s_barrier_leave\n s_cselect_b32 s8, 1, 0", "scc is read", "s_wait_kmcnt 0"},
    {"a barrier's state", "s_get_barrier_state s8, -1\n s_mov_b32 s9, s8", "s8 is read", "s_wait_kmcnt 0"},
    {"a barrier's state waited for", "s_get_barrier_state s8, -1\n s_wait_kmcnt 0\n s_mov_b32 s9, s8", nullptr},
    {"a message's answer", "s_sendmsg_rtn_b32 s8, sendmsg(MSG_RTN_GET_REALTIME)\n s_mov_b32 s9, s8", "s8 is read", "s_wait_kmcnt 0"},
    {"combined wait", "global_load_b32 v2, v1, s[2:3]\n ds_load_b32 v3, v1\n s_wait_loadcnt_dscnt 0x0\n v_add_nc_u32 v4, v2, v3", nullptr},
    {"combined wait for the load only", "global_load_b32 v2, v1, s[2:3]\n ds_load_b32 v3, v1\n s_wait_loadcnt_dscnt 0x1\n v_add_nc_u32 v4, v2, v3", "v3 is read", "s_wait_dscnt 0"},
};
// clang-format on

template <size_t N> void run_cases(const Case (&cases)[N], const std::string &gfx) {
    for (const Case &c : cases) {
        CAPTURE(gfx);
        CAPTURE(c.name);
        const std::string text = found_in(gfx, 32, c.body);
        if (!c.register_name) {
            CHECK(text == "");
            continue;
        }
        CHECK_MESSAGE(text.starts_with("wait:"), text);
        CHECK_MESSAGE(text.find(c.register_name) != text.npos, text);
        CHECK_MESSAGE(text.find(c.remedy) != text.npos, text);
    }
}

} // namespace

TEST_CASE("waits, gfx11") {
    run_cases(gfx11, "gfx1151");
    run_cases(gfx11, "gfx1100");
}
TEST_CASE("waits, gfx12") { run_cases(gfx12, "gfx1201"); }
