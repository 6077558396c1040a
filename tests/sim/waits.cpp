// SPDX-License-Identifier: MIT
// The wait check and the initialisation check: each bug is reported where it is, and its clean twin
// is not.
#include <doctest/doctest.h>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

std::string checked(const std::string &body, const std::string &gfx, bool wait = true) {
    KernelText k;
    k.gfx = gfx;
    k.body = body;
    k.lds = 4096;
    k.scratch = 64;
    k.descriptor = ".amdhsa_enable_private_segment 1";
    Launch launch;
    launch.words = 2048;
    launch.config.check_wait = wait;
    launch.config.check_init = !wait;
    return fault_of(k, launch);
}

bool has(const std::string &text, const std::string &part) {
    bool found = text.find(part) != text.npos;
    CHECK_MESSAGE(found, "no '" << part << "' in: " << text);
    return found;
}

struct Case {
    const char *name;
    const char *body;
    const char *register_name; // nullptr: clean
    const char *remedy = "";
};

const std::string address = "  v_lshlrev_b32 v1, 2, v0\n";

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
    {"combined wait", "global_load_b32 v2, v1, s[2:3]\n ds_load_b32 v3, v1\n s_wait_loadcnt_dscnt 0x0\n v_add_nc_u32 v4, v2, v3", nullptr},
    {"combined wait for the load only", "global_load_b32 v2, v1, s[2:3]\n ds_load_b32 v3, v1\n s_wait_loadcnt_dscnt 0x1\n v_add_nc_u32 v4, v2, v3", "v3 is read", "s_wait_dscnt 0"},
};
const Case init[] = {
    {"address", "v_mov_b32 v2, v9\n global_load_b32 v3, v2, s[2:3]", "v2 of lane 0"},
    {"value stored", "v_add_f32 v2, v9, v0\n global_store_b32 v1, v2, s[2:3]", "v2 of lane 0"},
    {"one lane", "v_mov_b32 v2, 1\n s_mov_b32 exec_lo, 0x10\n v_mov_b32 v2, v9\n s_mov_b32 exec_lo, -1\n global_store_b32 v1, v2, s[2:3]", "v2 of lane 4"},
    {"inactive lanes don't count", "s_mov_b32 exec_lo, 1\n v_mov_b32 v2, 3\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"branch", "s_cmp_eq_u32 s40, 3\n s_cbranch_scc1 .Lthere\n.Lthere:", "SCC"},
    {"EXEC", "v_cmpx_gt_u32 v9, v0", "the new EXEC"},
    {"scalar address", "s_add_u32 s2, s2, s40\n s_load_b32 s6, s[2:3], 0x0", "s2"},
    {"xor with itself is 0", "v_xor_b32 v9, v9, v9\n global_store_b32 v1, v9, s[2:3]", nullptr},
    {"halves of a packed value", "v_mov_b16 v2.l, 1.0\n v_mov_b16 v2.h, 2.0\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"half a packed value", "v_mov_b16 v2.l, 1.0\n global_store_b32 v1, v2, s[2:3]", "v2 of lane 0"},
    {"the written half, stored alone", "v_mov_b16 v2.l, 1.0\n global_store_b16 v1, v2, s[2:3]", nullptr},
    {"masked off", "v_and_b32 v2, 0xff00, v9\n v_lshrrev_b32 v2, 16, v2\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"LDS", "ds_load_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n global_store_b32 v1, v2, s[2:3]", "v2 of lane 0"},
    {"LDS written before", "ds_store_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n ds_load_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"through LDS", "ds_store_b32 v1, v9\n s_waitcnt lgkmcnt(0)\n ds_load_b32 v2, v1\n s_waitcnt lgkmcnt(0)\n global_store_b32 v1, v2, s[2:3]", "v2 of lane 0"},
    {"scratch", "scratch_load_b32 v2, off, off\n s_waitcnt vmcnt(0)\n global_store_b32 v1, v2, s[2:3]", "v2 of lane 0"},
    {"cndmask picks the written one", "v_cmp_eq_u32 vcc_lo, v0, v0\n v_cndmask_b32 v2, v9, v0, vcc_lo\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"VOPD", "v_dual_mov_b32 v4, v0 :: v_dual_add_f32 v5, v9, v0\n global_store_b32 v1, v5, s[2:3]", "v5 of lane 0"},
    {"an accumulator that nobody set", "v_mov_b32 v2, 1.0\n v_fmac_f32 v9, v2, v2\n global_store_b32 v1, v9, s[2:3]", "v9 of lane 0"},
    {"compare that can't tell", "v_cmp_le_u32 vcc_lo, 0, v9\n v_cndmask_b32 v2, 1, v0, vcc_lo\n global_store_b32 v1, v2, s[2:3]", nullptr},
};
// clang-format on

template <size_t N> void run_cases(const Case (&cases)[N], const std::string &gfx, bool wait) {
    for (const Case &c : cases) {
        CAPTURE(gfx);
        CAPTURE(c.name);
        std::string text = checked(address + c.body, gfx, wait);
        if (!c.register_name) {
            CHECK(text == "");
            continue;
        }
        has(text, wait ? "wait:" : "init:");
        has(text, c.register_name);
        has(text, c.remedy);
    }
}

} // namespace

TEST_CASE("waits, gfx11") {
    run_cases(gfx11, "gfx1151", true);
    run_cases(gfx11, "gfx1100", true);
}
TEST_CASE("waits, gfx12") { run_cases(gfx12, "gfx1201", true); }
TEST_CASE("uninitialised values") { run_cases(init, "gfx1151", false); }

TEST_CASE("a wait report names both places") {
    KernelText k;
    k.debug = true;
    k.body = "  v_mov_b32 v1, 0\n  global_load_b32 v2, v1, s[2:3]\n  s_nop 0\n  v_mov_b32 v3, v2";
    Launch launch;
    launch.config.check_wait = true;
    std::string text = fault_of(k, launch);
    has(text, "global_load_b32 v2, v1, s[2:3]");
    has(text, "v_mov_b32_e32 v3, v2");
    has(text, "test.s:11");
    has(text, "test.s:13");
}
