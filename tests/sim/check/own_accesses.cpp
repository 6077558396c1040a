// SPDX-License-Identifier: MIT
// The race check: a wave's own accesses that need a wait between. LDS that a load from memory
// writes, and bytes of memory that both a vector store and a scalar load access.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/check/checks.h"

using namespace nw;
using namespace nw::sim::test;

namespace {

std::string raced(const std::string &gfx, const std::string &body, u32 waves = 1) {
    Launch launch;
    launch.words = 2048;
    launch.block = {32 * waves, 1, 1};
    launch.config.checker = sim::checker({.race = true});
    return fault_of(waiting_kernel(gfx, 32, body), launch);
}

struct Case {
    const char *name;
    std::string body;
    const char *wait; // that it lacks; null: silent
    u32 waves = 1;
};

void check(const std::string &gfx, const std::vector<Case> &cases) {
    for (const Case &c : cases) {
        CAPTURE(gfx);
        CAPTURE(c.name);
        const std::string text = raced(gfx, c.body, c.waves);
        if (!c.wait)
            CHECK(text == "");
        else
            CHECK_MESSAGE((text.starts_with("race: ") && text.find(c.wait) != text.npos), text);
    }
}

// s[8:11] = the buffer of argument 0.
const std::string buffer = "s_mov_b32 s8, s2\n s_mov_b32 s9, s3\n s_mov_b32 s10, 4096\n"
                           "s_mov_b32 s11, 0x31016fac\n s_mov_b32 m0, 0\n",
                  dma = "buffer_load_dword v1, s[8:11], 0 offen lds\n",
                  use = "ds_read_b32 v3, v1\n s_waitcnt lgkmcnt(0)\n";

} // namespace

TEST_CASE("LDS that a load writes") {
    // Each of two waves loads into its own half and reads the other one's.
    const std::string wait = "s_waitcnt vmcnt(0)\n", other = "v_xor_b32 v1, 0x80, v1\n",
                      own = buffer + "v_readfirstlane_b32 s12, v0\n s_lshl_b32 m0, s12, 2\n";
    for (const char *gfx : {"gfx1010", "gfx1030"})
        check(gfx, {
                       {"not waited", buffer + dma + use, "vmcnt(0)"},
                       {"waited", buffer + dma + wait + use, nullptr},
                       {"wrong counter", buffer + dma + "s_waitcnt lgkmcnt(0)\n" + use, "vmcnt(0)"},
                       {"one younger",
                        buffer + dma +
                            "global_load_dword v4, v1, s[2:3]\n"
                            "s_waitcnt vmcnt(1)\n" +
                            use,
                        nullptr},
                       {"the younger of two",
                        buffer + "global_load_dword v4, v1, s[2:3]\n" + dma +
                            "s_waitcnt vmcnt(1)\n" + use,
                        "vmcnt(0)"},
                       {"overwritten", buffer + dma + "ds_write_b32 v1, v0\n", "vmcnt(0)"},
                       {"other bytes", buffer + dma + "ds_read_b32 v3, v1 offset:128\n", nullptr},
                       {"across a branch", buffer + dma + "s_branch .Lb\n.Lb:\n" + use, "vmcnt(0)"},
                       {"a barrier before the wait", own + dma + "s_barrier\n" + wait + other + use,
                        "vmcnt(0)", 2},
                       {"the wait before the barrier",
                        own + dma + wait + "s_barrier\n" + other + use, nullptr, 2},
                   });
}

TEST_CASE("a vector store and a scalar load of the same bytes") {
    for (const std::string gfx : {"gfx1030", "gfx1100", "gfx1201"}) {
        const bool gfx12 = is_gfx12(gfx);
        const std::string scalar = "s_load_b32 s8, s[2:3], 0x0\n",
                          store = "global_store_b32 v1, v0, s[2:3]\n",
                          kmcnt = gfx12 ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)",
                          stores = gfx12 ? "s_wait_storecnt 0" : "s_waitcnt_vscnt null, 0";
        const std::vector<Case> cases{
            {"a store after the load", scalar + store + kmcnt, kmcnt.c_str()},
            {"waited", scalar + kmcnt + "\n" + store, nullptr},
            {"other bytes", scalar + "global_store_b32 v1, v0, s[2:3] offset:4\n" + kmcnt, nullptr},
            {"a load after the store", store + scalar + kmcnt, stores.c_str()},
            {"waited for the store", store + stores + "\n" + scalar + kmcnt, nullptr},
            {"wrong counter", store + kmcnt + "\n" + scalar + kmcnt, stores.c_str()},
            {"an atomic after the load", scalar + "global_atomic_add_u32 v1, v0, s[2:3]\n" + kmcnt,
             kmcnt.c_str()},
            {"vector loads are ordered", "global_load_b32 v3, v1, s[2:3]\n" + store, nullptr},
            {"a vector load between", scalar + "global_load_b32 v3, v1, s[2:3]\n" + store + kmcnt,
             kmcnt.c_str()},
        };
        check(gfx, cases);
    }
}
