// SPDX-License-Identifier: MIT
// The open questions of memory, barriers and entry state (S-050 to S-053): each answer gives its
// own result.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/check/checks.h"
#include "sim/func/choices.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

const std::vector<std::string> both{"gfx1151", "gfx1201"};

std::vector<u32> words_under(const std::string &choices, const std::string &gfx,
                             const std::string &body, Launch launch = {}) {
    ChoicesScope scope(choices);
    KernelText k;
    k.gfx = gfx;
    k.body = body;
    k.lds = 64;
    return run(k, launch);
}

std::string wait(const std::string &gfx) {
    return is_gfx12(gfx) ? "  s_wait_loadcnt_dscnt 0\n" : "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
}

// Memory holds one subnormal and a second is added: 3 of the smallest, or 0 where they are flushed,
// by a global, a flat and an LDS atomic. Lane 0 only; words 0, 4 and 8.
constexpr u32 smallest = 1;
std::string three_additions(const std::string &gfx) {
    return "  s_mov_b32 exec_lo, 1\n  v_mov_b32 v1, 0\n  v_mov_b32 v2, 2\n"
           "  global_atomic_add_f32 v1, v2, s[2:3]\n"
           "  v_mov_b32 v3, 1\n  v_mov_b32 v4, 0\n  v_mov_b32 v5, 16\n"
           "  ds_store_b32 v4, v3\n  ds_store_b32 v5, v3\n" +
           wait(gfx) +
           "  s_mov_b64 s[8:9], src_shared_base\n  v_mov_b32 v6, 0\n  v_mov_b32 v7, s9\n"
           "  flat_atomic_add_f32 v[6:7], v2\n  ds_add_f32 v5, v2\n" +
           wait(gfx) + "  ds_load_b32 v8, v4\n  ds_load_b32 v9, v5\n" + wait(gfx) +
           "  global_store_b32 v1, v8, s[2:3] offset:16\n"
           "  global_store_b32 v1, v9, s[2:3] offset:32\n";
}

struct Sums {
    u32 memory, flat, lds;
    bool operator==(const Sums &) const = default;
};
Sums sums(const std::string &choices, const std::string &gfx, bool flush) {
    std::string mode = flush ? "  s_denorm_mode 12\n" : "  s_denorm_mode 15\n";
    auto words = words_under(choices, gfx, mode + three_additions(gfx), {.initial = {smallest}});
    return {words[0], words[4], words[8]};
}

} // namespace

TEST_CASE("S-050: subnormals in f32 atomics, by path") {
    const std::string older = "gfx1151", newer = "gfx1201";
    CHECK(sums("", older, false) == Sums{0, 3, 3});
    CHECK(sums("", newer, false) == Sums{3, 3, 3});
    CHECK(sums("", newer, true) == Sums{3, 0, 0});
    CHECK(sums("atomic_subnormals=kept", older, true) == Sums{3, 0, 0});
    CHECK(sums("atomic_subnormals=flushed", newer, false) == Sums{0, 3, 3});
    CHECK(sums("atomic_subnormals=mode", older, false) == Sums{3, 3, 3});
    CHECK(sums("atomic_subnormals=mode", newer, true) == Sums{0, 0, 0});
    CHECK(sums("atomic_flat_lds=as_memory", older, false) == Sums{0, 0, 3});
    CHECK(sums("atomic_flat_lds=as_memory", newer, true) == Sums{3, 3, 0});
}

TEST_CASE("minimum and maximum compare flushed inputs; gfx12 stores what it compared") {
    // LDS holds 2 units of the last place, -1 comes: flushed, both are zeros of their signs.
    for (const std::string &gfx : both)
        for (bool flush : {false, true}) {
            const std::string op = is_gfx12(gfx) ? "ds_min_num_f32" : "ds_min_f32";
            const std::string body =
                std::string(flush ? "  s_denorm_mode 12\n" : "  s_denorm_mode 15\n") +
                "  s_mov_b32 exec_lo, 1\n  v_mov_b32 v1, 0\n  v_mov_b32 v2, 2\n"
                "  v_mov_b32 v3, 0x80000001\n  ds_store_b32 v1, v2\n  " +
                op + " v1, v3\n  ds_load_b32 v4, v1\n" + wait(gfx) +
                "  global_store_b32 v1, v4, s[2:3]\n";
            CAPTURE(gfx);
            CHECK(words_under("", gfx, body)[0] ==
                  (flush && is_gfx12(gfx) ? 0x80000000 : 0x80000001));
        }
}

namespace {

// Lane 0 accesses 8 bytes at 60 of 64: the first dword is inside.
std::string load_at_edge(const std::string &gfx) {
    return "  s_mov_b32 exec_lo, 1\n  v_mov_b32 v1, 60\n  v_mov_b32 v2, 7\n"
           "  ds_store_b32 v1, v2\n  v_mov_b32 v4, 9\n  v_mov_b32 v5, 9\n"
           "  ds_load_b64 v[4:5], v1\n" +
           wait(gfx) + "  v_mov_b32 v6, 0\n  global_store_b64 v6, v[4:5], s[2:3]\n";
}
std::string store_at_edge(const std::string &gfx) {
    return "  s_mov_b32 exec_lo, 1\n  v_mov_b32 v1, 60\n  v_mov_b32 v2, 7\n"
           "  ds_store_b32 v1, v2\n  v_mov_b32 v4, 8\n  v_mov_b32 v5, 9\n"
           "  ds_store_b64 v1, v[4:5]\n  ds_load_b32 v4, v1\n" +
           wait(gfx) + "  v_mov_b32 v6, 0\n  global_store_b32 v6, v4, s[2:3]\n";
}
std::string edge_fault(const std::string &choices, Launch launch = {}) {
    ChoicesScope scope(choices);
    KernelText k;
    k.body = load_at_edge(k.gfx);
    k.lds = 64;
    return fault_of(k, launch);
}

} // namespace

TEST_CASE("S-051: accesses that reach beyond the end of LDS") {
    CHECK(edge_fault("").find("lane 0 reads 8 bytes at LDS address 60") != std::string::npos);
    for (const std::string &gfx : both) {
        CAPTURE(gfx);
        auto whole = words_under("lds_edge=whole", gfx, load_at_edge(gfx));
        CHECK(whole[0] == 0);
        CHECK(whole[1] == 0);
        auto parts = words_under("lds_edge=parts", gfx, load_at_edge(gfx));
        CHECK(parts[0] == 7);
        CHECK(parts[1] == 0);
        CHECK(words_under("lds_edge=whole", gfx, store_at_edge(gfx))[0] == 7);
        CHECK(words_under("lds_edge=parts", gfx, store_at_edge(gfx))[0] == 8);
    }
}

TEST_CASE("S-051: stores end at the byte, loads at the dword; far outside nothing happens") {
    const std::string gfx = "gfx1151",
                      head = "  s_mov_b32 exec_lo, 1\n  v_mov_b32 v1, 60\n  v_mov_b32 v2, -1\n"
                             "  v_mov_b32 v6, 0\n  ds_store_b32 v1, v6\n";
    const std::string tail = wait(gfx) + "  global_store_b32 v6, v4, s[2:3]\n";
    CHECK(words_under("lds_edge=parts", gfx,
                      head + "  ds_store_b32 v1, v2 offset:2\n  ds_load_b32 v4, v1\n" + tail)[0] ==
          0xffff0000);
    CHECK(words_under("lds_edge=parts", gfx,
                      head + "  ds_store_b32 v1, v2\n  ds_load_b32 v4, v1 offset:2\n" + tail)[0] ==
          0);
    for (const char *choices : {"lds_edge=parts", "lds_edge=whole"})
        CHECK(words_under(choices, gfx,
                          head +
                              "  ds_store_b32 v1, v2 offset:60000\n"
                              "  ds_add_rtn_u32 v4, v1, v2 offset:60000\n" +
                              tail)[0] == 0);
}

TEST_CASE("S-051: the checkers that shadow LDS don't accept accesses outside it") {
    for (bool race : {false, true}) {
        Launch launch;
        launch.config.checker = checker({.init = !race, .race = race});
        CHECK(edge_fault("lds_edge=parts", launch).find("LDS out of range") != std::string::npos);
    }
}

TEST_CASE("S-052: SCC of s_barrier_signal_isfirst in a workgroup of one wave") {
    for (u32 before : {0u, 1u}) {
        const std::string body = "  s_cmp_eq_u32 " + std::to_string(before) +
                                 ", 1\n  s_barrier_signal_isfirst -1\n  s_cselect_b32 s8, 1, 0\n"
                                 "  s_barrier_wait -1\n  v_mov_b32 v1, s8\n  v_mov_b32 v2, 0\n"
                                 "  global_store_b32 v2, v1, s[2:3]\n";
        CHECK(words_under("", "gfx1201", body)[0] == before);
        CHECK(words_under("isfirst_alone=set", "gfx1201", body)[0] == 1);
        Launch two;
        two.block = {64, 1, 1};
        const std::string count =
            "  s_cmp_eq_u32 " + std::to_string(before) +
            ", 1\n  s_barrier_signal_isfirst -1\n  s_cselect_b32 s8, 1, 0\n"
            "  s_barrier_wait -1\n  s_mov_b32 exec_lo, 1\n  v_mov_b32 v1, s8\n"
            "  v_mov_b32 v2, 0\n  global_atomic_add_u32 v2, v1, s[2:3]\n";
        CHECK(words_under("", "gfx1201", count, two)[0] == 1); // one of the two is the first
    }
}

TEST_CASE("H-026: whether the check takes the interlock of pairs as lost") {
    const auto found = [](const std::string &choices) {
        ChoicesScope scope(choices);
        KernelText k;
        k.body = "  v_mov_b32 v4, v0\n  v_mov_b32 v6, v0\n"
                 "  v_dual_mov_b32 v2, v4 :: v_dual_mov_b32 v3, v6\n";
        Launch launch;
        launch.config.checker = checker({.wait = true});
        return fault_of(k, launch);
    };
    CHECK(found("").find("H-026") != std::string::npos);
    CHECK(found("vopd_interlock=kept") == "");
}

TEST_CASE("S-053: trap registers that hold no ids") {
    const std::string read = "  v_mov_b32 v1, ttmp3\n  v_mov_b32 v2, 0\n"
                             "  global_store_b32 v2, v1, s[2:3]\n";
    CHECK(words_under("", "gfx1201", read)[0] == 0x7fbadbad);
    CHECK(words_under("other_ttmps=zero", "gfx1201", read)[0] == 0);
    CHECK(words_under("", "gfx1151", read)[0] == 0); // 1.11: documented there
}

TEST_CASE("1.11: user code can't write trap registers, and SCC stays what it was") {
    for (const std::string &gfx : both) {
        CAPTURE(gfx);
        const std::string body =
            "  s_mov_b32 ttmp3, 77\n  v_readfirstlane_b32 ttmp3, v0\n"
            "  s_cmp_eq_u32 0, 0\n  s_and_b32 ttmp3, 0, 0\n  s_cselect_b32 s8, 1, 0\n"
            "  s_load_b64 ttmp[4:5], s[2:3], 0x0\n" +
            std::string(is_gfx12(gfx) ? "  s_wait_kmcnt 0\n" : "  s_waitcnt lgkmcnt(0)\n") +
            "  s_mov_b32 ttmp9, 5\n  s_or_b32 s9, ttmp3, ttmp4\n  s_or_b32 s9, s9, ttmp9\n"
            "  s_and_saveexec_b32 ttmp3, 1\n"
            "  v_mov_b32 v1, s8\n  v_mov_b32 v2, s9\n  v_mov_b32 v3, exec_lo\n"
            "  v_mov_b32 v4, 0\n  global_store_b96 v4, v[1:3], s[2:3] offset:16\n";
        auto out = words_under("other_ttmps=zero", gfx, body, {.initial = {1, 2, 3}});
        CHECK(out[4] == 1); // SCC of the comparison
        CHECK(out[5] == 0); // nothing was written; ttmp9 is workgroup id 0, or 0
        CHECK(out[6] == 1); // saveexec still changes EXEC
    }
}
