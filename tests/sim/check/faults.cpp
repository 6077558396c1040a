// SPDX-License-Identifier: MIT
// Code on which hardware would fault or hang is a Fault that says where and why.
#include <doctest/doctest.h>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

bool has(const std::string &text, const std::string &part) {
    INFO(text);
    bool found = text.find(part) != text.npos;
    CHECK_MESSAGE(found, "no '" << part << "' in: " << text);
    return found;
}

KernelText kernel(const std::string &body, u32 lds = 0) {
    KernelText k;
    k.body = body;
    k.lds = lds;
    return k;
}

} // namespace

TEST_CASE("one lane past the end is named, with the nearest allocation") {
    KernelText k =
        kernel("  v_lshlrev_b32 v1, 3, v0\n  global_load_b64 v[2:3], v1, s[2:3] offset:8");
    k.debug = true;
    std::string text = fault_of(k, Launch{.words = 64}); // 256 bytes; lane 31 reads [256, 264)
    has(text, "illegal address");
    has(text, "lane 31");
    has(text, "8 bytes");
    has(text, "0 bytes past its end");
    has(text, "global_load_b64 v[2:3], v1, s[2:3] offset:8");
    has(text, "test.s:");
    has(text, "kernel test");
}

TEST_CASE("a null pointer, a wild scalar load, a store before the buffer") {
    has(fault_of(kernel("  v_mov_b32 v1, 0\n  v_mov_b32 v2, 0\n  global_load_b32 v3, v[1:2], off")),
        "illegal address");
    has(fault_of(kernel("  s_mov_b64 s[6:7], 64\n  s_load_b32 s8, s[6:7], 0x0")),
        "reads 4 bytes at 0x40");
    has(fault_of(kernel("  v_mov_b32 v1, 0\n  global_store_b32 v1, v0, s[2:3] offset:-4")),
        "4 bytes before");
}

TEST_CASE("inactive lanes may hold any address") {
    CHECK(fault_of(kernel("  v_mov_b32 v1, 0x40000000\n  v_mov_b32 v2, v0\n  s_mov_b32 exec_lo, 1\n"
                          "  v_mov_b32 v1, 0\n  global_store_b32 v1, v2, s[2:3]")) == "");
    CHECK(fault_of(kernel("  v_mov_b32 v1, 0x40000000\n  s_mov_b32 exec_lo, 0\n"
                          "  global_store_b32 v1, v0, s[2:3]")) == "");
}

TEST_CASE("LDS out of range, scratch out of range, a misaligned atomic") {
    has(fault_of(kernel("  v_lshlrev_b32 v1, 2, v0\n  ds_store_b32 v1, v0", 64)),
        "LDS out of range: lane 16");
    KernelText scratch = kernel("  scratch_store_b32 off, v0, off offset:16");
    scratch.scratch = 16;
    scratch.descriptor = ".amdhsa_enable_private_segment 1";
    has(fault_of(scratch), "scratch out of range");
    has(fault_of(kernel("  v_mov_b32 v1, 2\n  global_atomic_add_u32 v1, v0, s[2:3]")),
        "misaligned atomic");
}

TEST_CASE("endless loops end") {
    Launch launch;
    launch.config.max_wave_insts = 1000;
    has(fault_of(kernel(".Lagain:\n  s_branch .Lagain"), launch), "endless");
}

TEST_CASE("a wave that never arrives is a deadlock, one that has ended is not") {
    // Waves 0 and 1, distinguished by v_readfirstlane of the work-item id.
    std::string wave = "  v_readfirstlane_b32 s6, v0\n  s_cmp_eq_u32 s6, 0\n";
    Launch two;
    two.block = {64, 1, 1};
    CHECK(fault_of(kernel(wave + "  s_cbranch_scc1 .Lend0\n  s_barrier\n.Lend0:"), two) == "");
    std::string split = "  s_barrier_signal -1\n";
    KernelText k =
        kernel(wave + "  s_cbranch_scc1 .Lskip\n" + split + ".Lskip:\n  s_barrier_wait -1");
    k.gfx = "gfx1201";
    has(fault_of(k, two), "barrier deadlock");
}

TEST_CASE("jumps out of code, illegal and unimplemented instructions, traps") {
    has(fault_of(kernel("  s_mov_b64 s[6:7], 0x1000\n  s_setpc_b64 s[6:7]")), "jump out of code");
    has(fault_of(kernel("  s_branch 4096")), "jump out of code");
    has(fault_of(kernel("  .long 0xffffffff")), "illegal instruction: 0xffffffff");
    KernelText literal_barrier = kernel("  .long 0xbe804eff\n  .long 1"); // LLVM 22 can't print it
    literal_barrier.gfx = "gfx1201";
    has(fault_of(literal_barrier), "illegal instruction: 0xbe804eff");
    std::string missing = fault_of(
        kernel("  image_msaa_load v[0:3], v[4:6], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D_MSAA"));
    has(missing, "not implemented: image_msaa_load");
    has(fault_of(kernel("  s_trap 2")), "s_trap 2");
}

TEST_CASE("a pc is named by the symbol that holds it") {
    has(fault_of(kernel("  s_trap 2")), "(test + 0x");
    has(fault_of(
            kernel("  s_branch helper\n.p2align 8\n.type helper,@function\nhelper:\n  s_nop 0\n"
                   "  s_trap 2")),
        "(helper + 0x4)");
}

TEST_CASE("an unimplemented instruction that isn't executed does no harm") {
    CHECK(fault_of(kernel("  s_branch .Lover\n  image_msaa_load v[0:3], v[4:6], s[8:15] "
                          "dmask:0x1 dim:SQ_RSRC_IMG_2D_MSAA\n.Lover:")) == "");
}

TEST_CASE("absurd launches") {
    KernelText k = kernel("");
    has(fault_of(k, Launch{.block = {2048, 1, 1}}), "2048 work-items");
    has(fault_of(k, Launch{.grid = {0, 1, 1}}), "is 0");
    Launch lds;
    lds.dynamic_lds = 100000;
    has(fault_of(k, lds), "100000 bytes of LDS");
}

TEST_CASE("scratch that the host doesn't have") {
    KernelText k = kernel("");
    k.scratch = 1000; // 32000 bytes of a wave, 64000 of a workgroup
    k.descriptor = ".amdhsa_enable_private_segment 1";
    Launch launch{.grid = {8, 1, 1}, .block = {64, 1, 1}};
    launch.config.max_scratch = 63999;
    has(fault_of(k, launch), "out of memory: 64000 bytes of scratch for one workgroup");
    launch.config.max_scratch = 64000; // one at a time
    launch.config.threads = 4;
    CHECK(fault_of(k, launch) == "");
    launch.cooperative = true;
    has(fault_of(k, launch), "out of memory: 8 workgroups of a cooperative launch");
    launch.config.max_scratch = 8 * 64000;
    CHECK(fault_of(k, launch) == "");
}

TEST_CASE("the fault that comes out is the first workgroup's, on any number of threads") {
    // Groups 3 and later store past the buffer: group id * 1024 + lane * 4 of 3072 bytes.
    KernelText k = kernel("  v_lshlrev_b32 v1, 2, v0\n  s_lshl_b32 s6, s15, 10\n"
                          "  v_add_nc_u32 v1, s6, v1\n  global_store_b32 v1, v0, s[2:3]");
    k.gfx = "gfx1100";
    for (unsigned threads : {1u, 2u, 7u}) {
        Launch launch{.grid = {64, 1, 1}, .words = 768};
        launch.config.threads = threads;
        has(fault_of(k, launch), "workgroup (3, 0, 0)");
    }
}

TEST_CASE("a mode of SCHED_MODE of which nothing is published") {
    const auto set = [](const std::string &gfx, u32 value, u32 bits) {
        KernelText k;
        k.gfx = gfx;
        k.body = "  s_setreg_imm32_b32 hwreg(26, 0, " + std::to_string(bits) + "), " +
                 std::to_string(value) +
                 "\n  s_getreg_b32 s8, hwreg(26, 0, 2)\n"
                 "  v_mov_b32 v1, 0\n  v_mov_b32 v2, s8\n  global_store_b32 v1, v2, s[2:3]";
        return k;
    };
    for (const u32 value : {0u, 2u})
        CHECK(run(set("gfx1201", value, 2)).front() == value);
    has(fault_of(set("gfx1201", 1, 2)), "SCHED_MODE 1 may leave more dependencies");
    has(fault_of(set("gfx1200", 3, 2)), "SCHED_MODE 3");
    has(fault_of(set("gfx1201", 18, 5)), "SCHED_MODE 18");
    has(fault_of(set("gfx1151", 0, 2)), "hardware register 26");
}
