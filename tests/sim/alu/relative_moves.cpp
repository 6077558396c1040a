// SPDX-License-Identifier: MIT
// Moves whose registers M0 selects, under the init check: what they write counts as written, what
// they read must be.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/check/checks.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

struct Case {
    const char *name, *body;
    const char *uninitialised; // nullptr: nothing is reported
};

// clang-format off
const Case cases[] = {
    {"movreld writes v22", "s_mov_b32 m0, 2\n v_movreld_b32 v20, v0\n global_store_b32 v1, v22, s[2:3]", nullptr},
    {"movreld leaves v20", "s_mov_b32 m0, 2\n v_movreld_b32 v20, v0\n global_store_b32 v1, v20, s[2:3]", "v20"},
    {"movreld leaves v23", "s_mov_b32 m0, 2\n v_movreld_b32 v20, v0\n global_store_b32 v1, v23, s[2:3]", "v23"},
    {"movreld brings what it reads", "v_mov_b32 v22, 0\n s_mov_b32 m0, 2\n v_movreld_b32 v20, v30\n global_store_b32 v1, v22, s[2:3]", "v22"},
    {"movreld with some lanes off", "s_mov_b32 m0, 2\n s_mov_b64 exec, 0xf\n v_movreld_b32 v20, v0\n s_mov_b64 exec, 0xff\n global_store_b32 v1, v22, s[2:3]", "v22 of lane 4"},
    {"movreld out of range", "s_movk_i32 m0, 0x7000\n v_movreld_b32 v20, v0\n global_store_b32 v1, v20, s[2:3]", "v20"},
    {"movrels reads v12", "v_mov_b32 v12, 0\n s_mov_b32 m0, 2\n v_movrels_b32 v20, v10\n global_store_b32 v1, v20, s[2:3]", nullptr},
    {"movrels reads v11", "v_mov_b32 v10, 0\n v_mov_b32 v12, 0\n s_mov_b32 m0, 1\n v_movrels_b32 v20, v10\n global_store_b32 v1, v20, s[2:3]", "v20"},
    {"movrelsd", "v_mov_b32 v11, 0\n s_mov_b32 m0, 1\n v_movrelsd_b32 v20, v10\n global_store_b32 v1, v21, s[2:3]", nullptr},
    {"movrelsd elsewhere", "v_mov_b32 v11, 0\n s_mov_b32 m0, 1\n v_movrelsd_b32 v20, v10\n global_store_b32 v1, v20, s[2:3]", "v20"},
    {"movrelsd_2", "v_mov_b32 v11, 0\n s_mov_b32 m0, 0x30001\n v_movrelsd_2_b32 v20, v10\n global_store_b32 v1, v23, s[2:3]", nullptr},
    {"movrelsd_2 elsewhere", "v_mov_b32 v11, 0\n s_mov_b32 m0, 0x30001\n v_movrelsd_2_b32 v20, v10\n global_store_b32 v1, v21, s[2:3]", "v21"},
    {"swaprel takes v23's for v11", "v_mov_b32 v23, 0\n s_mov_b32 m0, 0x30001\n v_swaprel_b32 v20, v10\n global_store_b32 v1, v11, s[2:3]", nullptr},
    {"swaprel gives v23 nothing", "v_mov_b32 v23, 0\n s_mov_b32 m0, 0x30001\n v_swaprel_b32 v20, v10\n global_store_b32 v1, v23, s[2:3]", "v23"},
    {"s_movreld", "s_mov_b32 m0, 2\n s_movreld_b32 s20, s2\n v_mov_b32 v2, s22\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"s_movreld elsewhere", "s_mov_b32 m0, 2\n s_movreld_b32 s20, s2\n v_mov_b32 v2, s20\n global_store_b32 v1, v2, s[2:3]", "v2"},
    {"s_movreld of two", "s_mov_b32 m0, 2\n s_movreld_b64 s[20:21], s[2:3]\n v_mov_b32 v2, s23\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"s_movrels", "s_mov_b32 s22, 1\n s_mov_b32 m0, 2\n s_movrels_b32 s24, s20\n v_mov_b32 v2, s24\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"s_movrels elsewhere", "s_mov_b32 s20, 1\n s_mov_b32 m0, 2\n s_movrels_b32 s24, s20\n v_mov_b32 v2, s24\n global_store_b32 v1, v2, s[2:3]", "v2"},
    {"s_movrels of two", "s_mov_b64 s[22:23], 1\n s_mov_b32 m0, 2\n s_movrels_b64 s[24:25], s[20:21]\n v_mov_b32 v2, s25\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"s_movrelsd_2", "s_mov_b32 s21, 1\n s_mov_b32 m0, 0x30001\n s_movrelsd_2_b32 s24, s20\n v_mov_b32 v2, s27\n global_store_b32 v1, v2, s[2:3]", nullptr},
    {"no number in M0", "v_movreld_b32 v20, v0", "m0"},
    {"a constant, to any register", "s_mov_b32 m0, 3\n v_movreld_b32 v20, 7\n global_store_b32 v1, v23, s[2:3]", nullptr},
};
// clang-format on

} // namespace

TEST_CASE("init check: registers that M0 selects") {
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1151", "gfx1201"})
        for (u32 wave : {32u, 64u})
            for (const Case &c : cases) {
                CAPTURE(gfx);
                CAPTURE(wave);
                CAPTURE(c.name);
                Launch launch;
                launch.block = {wave, 1, 1};
                launch.config.checker = checker({.init = true});
                const std::string text = fault_of(waiting_kernel(gfx, wave, c.body), launch);
                if (!c.uninitialised)
                    CHECK(text == "");
                else
                    CHECK_MESSAGE(text.find(std::string("init: ") + c.uninitialised + " ") !=
                                      std::string::npos,
                                  text);
            }
}
