// SPDX-License-Identifier: MIT
// Loads, stores, LDS, scratch and atomics.
#include <doctest/doctest.h>

#include <numeric>

#include "sim/assemble.h"
#include "sim/check/checks.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

std::vector<u32> counted(u32 n) {
    std::vector<u32> v(n);
    std::iota(v.begin(), v.end(), 0x10203040u);
    return v;
}

} // namespace

TEST_CASE("global loads and stores, both address forms") {
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1151", "gfx1201"}) {
        CAPTURE(gfx);
        KernelText k;
        k.gfx = gfx;
        k.body = R"(
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v2, s2
  v_mov_b32 v3, s3
  v_add_co_u32 v2, vcc_lo, v2, v1
  v_add_co_ci_u32 v3, vcc_lo, 0, v3, vcc_lo
  global_load_b128 v[4:7], v1, s[2:3] offset:16
  global_load_b32 v8, v[2:3], off offset:4
  )" + std::string(is_gfx12(gfx) ? "s_wait_loadcnt 0" : "s_waitcnt vmcnt(0)") +
                 R"(
  global_store_b128 v[2:3], v[4:7], off offset:1024
  global_store_b32 v1, v8, s[2:3] offset:1536)";
        auto in = counted(256);
        auto out = run(k, Launch{.initial = in, .words = 1024});
        for (u32 l = 0; l < 32; ++l) {
            for (u32 n = 0; n < 4; ++n)
                REQUIRE(out[256 + 4 * l + n] == in[4 * l + 4 + n]);
            REQUIRE(out[384 + 4 * l] == in[4 * l + 1]);
        }
    }
}

// S-060
TEST_CASE("a scalar load past the end reads poison within the page, and faults beyond it") {
    for (const char *gfx : {"gfx1010", "gfx1100", "gfx1201"}) {
        CAPTURE(gfx);
        KernelText k;
        k.gfx = gfx;
        const std::string wait = is_gfx12(gfx) ? "  s_wait_kmcnt 0\n" : "  s_waitcnt lgkmcnt(0)\n";
        k.body = "  s_load_b256 s[8:15], s[2:3], 0x0\n" + wait;
        for (unsigned n = 0; n < 8; ++n)
            k.body +=
                "  v_mov_b32 v" + std::to_string(n + 2) + ", s" + std::to_string(n + 8) + "\n";
        k.body += "  v_mov_b32 v1, 0\n  global_store_b96 v1, v[7:9], s[2:3]";
        Launch launch{.block = {1, 1, 1}, .initial = counted(7), .words = 7};
        const auto out = run(k, std::move(launch));
        CHECK(out == std::vector<u32>{counted(7)[5], counted(7)[6], poison, counted(7)[3],
                                      counted(7)[4], counted(7)[5], counted(7)[6]});

        Launch strict{.initial = counted(7), .words = 7};
        strict.config.checker = checker({.strict_scalar = true});
        CHECK(fault_of(k, strict).find("reads 32 bytes") != std::string::npos);
        k.body = "  s_load_b128 s[8:11], s[2:3], 0xff4\n";
        CHECK(fault_of(k, Launch{.words = 1024}).find("reads 16 bytes") != std::string::npos);
        CHECK(fault_of(k, Launch{.words = 1025}) == "");
        k.body =
            "  v_mov_b32 v1, 0\n  global_load_b128 v[4:7], v1, s[2:3]\n"; // vectors: to the byte
        CHECK(fault_of(k, Launch{.words = 3}).find("reads 16 bytes") != std::string::npos);
    }
}

TEST_CASE("small loads extend, d16 loads keep the other half, small stores cut") {
    KernelText k;
    k.body = R"(
  v_mov_b32 v1, 0
  v_mov_b32 v2, 0x55556666
  v_mov_b32 v3, 0x55556666
  v_mov_b32 v8, 0x12345678
  global_load_u8 v4, v1, s[2:3] offset:3
  global_load_i8 v5, v1, s[2:3] offset:3
  global_load_u16 v6, v1, s[2:3] offset:2
  global_load_i16 v7, v1, s[2:3] offset:2
  global_load_d16_b16 v2, v1, s[2:3]
  global_load_d16_hi_u8 v3, v1, s[2:3]
  s_waitcnt vmcnt(0)
  global_store_b32 v1, v4, s[2:3] offset:4
  global_store_b32 v1, v5, s[2:3] offset:8
  global_store_b32 v1, v6, s[2:3] offset:12
  global_store_b32 v1, v7, s[2:3] offset:16
  global_store_b32 v1, v2, s[2:3] offset:20
  global_store_b32 v1, v3, s[2:3] offset:24
  global_store_b8 v1, v8, s[2:3] offset:28
  global_store_d16_hi_b16 v1, v8, s[2:3] offset:30)";
    auto out = run(k, Launch{.initial = {0x90ab1234}, .words = 16});
    CHECK(out[1] == 0x90);
    CHECK(out[2] == 0xffffff90);
    CHECK(out[3] == 0x90ab);
    CHECK(out[4] == 0xffff90ab);
    CHECK(out[5] == 0x55551234);
    CHECK(out[6] == 0x00346666);
    CHECK(out[7] == 0x12340078);
}

TEST_CASE("gfx12's small scalar loads extend, and are aligned to their size") {
    KernelText k;
    k.gfx = "gfx1201";
    k.body = R"(
  s_load_u8 s6, s[2:3], 3
  s_load_i8 s7, s[2:3], 3
  s_load_u16 s8, s[2:3], 3
  s_load_i16 s9, s[2:3], 2
  s_wait_kmcnt 0
  v_mov_b32 v1, s6
  v_mov_b32 v2, s7
  v_mov_b32 v3, s8
  v_mov_b32 v4, s9
  v_mov_b32 v5, 0
  global_store_b128 v5, v[1:4], s[2:3])";
    auto out = run(k, Launch{.block = {1, 1, 1}, .initial = {0x89abcdef}});
    CHECK(out[0] == 0x89);
    CHECK(out[1] == 0xffffff89);
    CHECK(out[2] == 0x89ab);
    CHECK(out[3] == 0xffff89ab);
}

TEST_CASE("LDS between the waves of a workgroup, through a barrier") {
    for (const std::string &gfx : {std::string("gfx1010"), std::string("gfx1030"),
                                   std::string("gfx1100"), std::string("gfx1201")}) {
        CAPTURE(gfx);
        bool gfx12 = is_gfx12(gfx);
        KernelText k;
        k.gfx = gfx;
        k.lds = 1024;
        k.body = std::string(R"(
  v_lshlrev_b32 v1, 2, v0
  ds_store_b32 v1, v0
  )") +
                 (gfx12 ? "s_wait_dscnt 0\n s_barrier_signal -1\n s_barrier_wait -1"
                        : "s_waitcnt lgkmcnt(0)\n s_barrier") +
                 R"(
  v_xor_b32 v2, 0xff, v0
  v_lshlrev_b32 v2, 2, v2
  ds_load_b32 v3, v2
  )" + (gfx12 ? "s_wait_dscnt 0" : "s_waitcnt lgkmcnt(0)") +
                 R"(
  global_store_b32 v1, v3, s[2:3])";
        Launch launch;
        launch.block = {256, 1, 1};
        launch.words = 256;
        auto out = run(k, launch);
        for (u32 i = 0; i < 256; ++i)
            REQUIRE(out[i] == 255 - i);
        CHECK(launch.stats.bytes.lds_write == 1024);
        CHECK(launch.stats.bytes.global_store == 1024);
        CHECK(launch.stats.waves == 8);
    }
}

TEST_CASE("LDS with two addresses and b128") {
    KernelText k;
    k.lds = 4096;
    k.body = R"(
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v2, 1
  v_mov_b32 v3, 2
  v_mov_b32 v4, 3
  v_mov_b32 v5, v0
  ds_store_b128 v1, v[2:5]
  ds_store_2addr_b32 v1, v3, v0 offset0:1 offset1:2
  s_waitcnt lgkmcnt(0)
  ds_load_2addr_b64 v[6:9], v1 offset0:0 offset1:1
  s_waitcnt lgkmcnt(0)
  global_store_b128 v1, v[6:9], s[2:3])";
    auto out = run(k, Launch{.words = 128});
    for (u32 l = 0; l < 32; ++l) {
        CHECK(out[4 * l] == 1);
        CHECK(out[4 * l + 1] == 2);
        CHECK(out[4 * l + 2] == l);
        CHECK(out[4 * l + 3] == l);
    }
}

TEST_CASE("an LDS address and its offset add up modulo 2^32") {
    KernelText k;
    k.lds = 128;
    k.body = R"(
  v_lshlrev_b32 v1, 2, v0
  v_sub_nc_u32 v2, 0, v1
  ds_store_b32 v2, v0 offset:124
  s_waitcnt lgkmcnt(0)
  ds_load_b32 v3, v1
  s_waitcnt lgkmcnt(0)
  global_store_b32 v1, v3, s[2:3])";
    auto out = run(k, Launch{.words = 32});
    for (u32 l = 0; l < 32; ++l)
        CHECK(out[l] == 31 - l);
}

TEST_CASE("scratch is private to a lane") {
    KernelText k;
    k.scratch = 64;
    k.descriptor = ".amdhsa_enable_private_segment 1";
    k.body = R"(
  v_lshlrev_b32 v1, 2, v0
  scratch_store_b32 off, v0, off offset:12
  s_waitcnt_vscnt null, 0x0
  s_mov_b32 s6, 8
  scratch_load_b32 v2, off, s6 offset:4
  s_waitcnt vmcnt(0)
  global_store_b32 v1, v2, s[2:3])";
    auto out = run(k);
    for (u32 l = 0; l < 32; ++l)
        CHECK(out[l] == l);
}

TEST_CASE("atomics return the old value, in lane order, and add up over workgroups") {
    KernelText k;
    k.body = R"(
  v_mov_b32 v1, 0
  v_mov_b32 v2, 3
  global_atomic_add_u32 v3, v1, v2, s[2:3] glc
  s_waitcnt vmcnt(0)
  v_lshlrev_b32 v4, 2, v0
  global_store_b32 v4, v3, s[2:3] offset:4)";
    auto out = run(k);
    CHECK(out[0] == 96);
    for (u32 l = 0; l < 32; ++l)
        CHECK(out[1 + l] == 3 * l);

    KernelText sum;
    sum.body = "  v_mov_b32 v1, 0\n  v_mov_b32 v2, 1.0\n  global_atomic_add_f32 v1, v2, s[2:3]";
    CHECK(run(sum, Launch{.grid = {100, 1, 1}})[0] == 0x45480000); // 3200
}
