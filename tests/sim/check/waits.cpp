// SPDX-License-Identifier: MIT
// The initialisation check: each bug is reported where it is, and its clean twin is not. What the
// wait check says of it.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/check/checks.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

bool has(const std::string &text, const std::string &part) {
    bool found = text.find(part) != text.npos;
    CHECK_MESSAGE(found, "no '" << part << "' in: " << text);
    return found;
}

struct Case {
    const char *name;
    const char *body;
    const char *register_name; // nullptr: clean
};

// clang-format off
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

} // namespace

TEST_CASE("uninitialised values") {
    for (const Case &c : init) {
        CAPTURE(c.name);
        Launch launch;
        launch.words = 2048;
        launch.config.checker = checker({.init = true});
        const std::string text = fault_of(waiting_kernel("gfx1151", 32, c.body), launch);
        if (!c.register_name) {
            CHECK(text == "");
            continue;
        }
        has(text, "init:");
        has(text, c.register_name);
    }
}

TEST_CASE("a wait report names both places") {
    KernelText k;
    k.debug = true;
    k.body = "  v_mov_b32 v1, 0\n  global_load_b32 v2, v1, s[2:3]\n  s_nop 0\n  v_mov_b32 v3, v2";
    Launch launch;
    launch.config.checker = checker({.wait = true});
    std::string text = fault_of(k, launch);
    has(text, "global_load_b32 v2, v1, s[2:3]");
    has(text, "v_mov_b32_e32 v3, v2");
    has(text, "test.s:11");
    has(text, "test.s:13");
}
