// SPDX-License-Identifier: MIT
// Features of gfx10 that later generations lack: SDWA (A-014), item ids in three registers (A-011),
// scratch memory by way of a buffer descriptor (A-012), its own names (A-013).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/assemble.h"
#include "sim/check/checks.h"
#include "sim/func/machine.h"
#include "sim/isa/code.h"
#include "sim/isa/mnemonics.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

constexpr const char *rdna[] = {"gfx1010", "gfx1030"};

// `instruction` on v2 = a, v3 = b and v4 = old, which it changes; v4 of lane 0 afterwards.
u32 result_of(const std::string &gfx, const std::string &instruction, u32 a, u32 b, u32 old) {
    KernelText k;
    k.gfx = gfx;
    k.body = fmt::format("  v_lshlrev_b32 v1, 2, v0\n  v_mov_b32 v2, {:#x}\n  v_mov_b32 v3, {:#x}\n"
                         "  v_mov_b32 v4, {:#x}\n  {}\n  global_store_b32 v1, v4, s[2:3]",
                         a, b, old, instruction);
    return run(k)[0];
}

struct Sdwa {
    const char *instruction;
    u32 a, b, old, want;
};
constexpr Sdwa sdwa[] = {
    // a piece of each source
    {"v_or_b32_sdwa v4, v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:WORD_1",
     0x11223344, 0xaabbccdd, 0, 0x33 | 0xaabb},
    {"v_add_nc_u32_sdwa v4, sext(v2), v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 "
     "src1_sel:DWORD",
     0x80000000, 3, 0, 0xffffff83},
    {"v_add_nc_u32_sdwa v4, v2, sext(v3) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_0 "
     "src1_sel:WORD_1",
     0x1234ffff, 0xfffe0000, 0, 0xfffd},
    // a piece of the result, and what becomes of the others
    {"v_mov_b32_sdwa v4, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PAD src0_sel:DWORD", 0x123456f8, 0,
     0x11223344, 0x00f80000},
    {"v_mov_b32_sdwa v4, v2 dst_sel:BYTE_2 dst_unused:UNUSED_SEXT src0_sel:DWORD", 0x123456f8, 0,
     0x11223344, 0xfff80000},
    {"v_mov_b32_sdwa v4, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:DWORD", 0x123456f8,
     0, 0x11223344, 0x11f83344},
    {"v_lshlrev_b32_sdwa v4, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0 "
     "src1_sel:BYTE_1",
     4, 0x0000ab00, 0x11223344, 0x0ab03344},
    // of halves, with modifiers of a float: -1.5 + 2.0 and |-1.5| * 2.0
    {"v_add_f16_sdwa v4, v2, v3 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 "
     "src1_sel:WORD_0",
     0xbe000000, 0x4000, 0x11223344, 0x38003344},
    {"v_mul_f16_sdwa v4, |v2|, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 "
     "src1_sel:WORD_0",
     0xbe000000, 0x4000, 0x11223344, 0x4200},
    {"v_mul_f32_sdwa v4, -v2, v3 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
     0x3fc00000, 0x40000000, 0, 0xc0400000},
    {"v_cvt_f32_u32_sdwa v4, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2", 0x00070000, 0,
     0, 0x40e00000},
};

} // namespace

TEST_CASE("SDWA") {
    for (const char *gfx : rdna)
        for (const Sdwa &c : sdwa) {
            CAPTURE(gfx);
            CAPTURE(c.instruction);
            CHECK(result_of(gfx, c.instruction, c.a, c.b, c.old) == c.want);
        }
}

TEST_CASE("SDWA of a compare and of a select") {
    for (const char *gfx : rdna) {
        CAPTURE(gfx);
        const std::string select = "\n  v_cndmask_b32 v4, v4, v2, vcc_lo";
        const std::string compare =
            "v_cmp_eq_u32_sdwa vcc_lo, v2, v3 src0_sel:BYTE_0 src1_sel:BYTE_3";
        CHECK(result_of(gfx, compare + select, 0x155, 0x55000000, 7) == 0x155);
        CHECK(result_of(gfx, compare + select, 0x156, 0x55000000, 7) == 7);
        CHECK(
            result_of(gfx,
                      "s_mov_b32 vcc_lo, 1\n  v_cndmask_b32_sdwa v4, v2, v3, vcc_lo dst_sel:BYTE_0 "
                      "dst_unused:UNUSED_PRESERVE src0_sel:DWORD src1_sel:BYTE_1",
                      1, 0x7700, 0x11223344) == 0x11223377);
    }
}

TEST_CASE("lanes that are off keep their registers under SDWA") {
    KernelText k;
    k.gfx = "gfx1030";
    k.body = R"(
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v4, 0x5a5a5a5a
  s_mov_b32 exec_lo, 0xf0f0f0f0
  v_mov_b32_sdwa v4, v0 dst_sel:BYTE_0 dst_unused:UNUSED_PAD src0_sel:DWORD
  s_mov_b32 exec_lo, -1
  global_store_b32 v1, v4, s[2:3])";
    const std::vector<u32> out = run(k);
    for (u32 l = 0; l < 32; ++l)
        CHECK(out[l] == (0xf0f0f0f0 >> l & 1 ? l : 0x5a5a5a5a));
}

TEST_CASE("work-item ids come in v0, v1 and v2") {
    for (const char *gfx : rdna) {
        CAPTURE(gfx);
        KernelText k;
        k.gfx = gfx;
        k.descriptor = ".amdhsa_system_vgpr_workitem_id 2";
        k.body = R"(
  v_mad_u32_u24 v4, v1, 5, v0
  v_mad_u32_u24 v4, v2, 15, v4
  v_lshlrev_b32 v4, 2, v4
  v_lshl_or_b32 v5, v1, 8, v0
  v_lshl_or_b32 v5, v2, 16, v5
  global_store_b32 v4, v5, s[2:3])";
        Launch launch;
        launch.block = {5, 3, 4};
        const std::vector<u32> out = run(k, launch);
        for (u32 z = 0; z < 4; ++z)
            for (u32 y = 0; y < 3; ++y)
                for (u32 x = 0; x < 5; ++x)
                    REQUIRE(out[x + 5 * (y + 3 * z)] == (x | y << 8 | z << 16));
    }
}

TEST_CASE("ds_cmpst compares with its first value") {
    for (const char *gfx : rdna) {
        CAPTURE(gfx);
        KernelText k;
        k.gfx = gfx;
        k.lds = 128;
        k.body = R"(
  v_lshlrev_b32 v1, 2, v0
  ds_store_b32 v1, v0
  v_mov_b32 v2, 3
  v_mov_b32 v3, 77
  ds_cmpst_b32 v1, v2, v3
  ds_load_b32 v4, v1
  s_waitcnt lgkmcnt(0)
  global_store_b32 v1, v4, s[2:3])";
        const std::vector<u32> out = run(k);
        for (u32 l = 0; l < 32; ++l)
            CHECK(out[l] == (l == 3 ? 77 : l));
    }
}

TEST_CASE("loads into LDS") {
    for (const char *gfx : rdna)
        for (const char *load : {"buffer_load_b32 v3, s[8:11], 0 offen offset:4 lds",
                                 "global_load_b32 v3, s[2:3] offset:4 lds"}) {
            CAPTURE(gfx);
            CAPTURE(load);
            KernelText k;
            k.gfx = gfx;
            k.lds = 512;
            k.body = fmt::format(R"(
  s_mov_b32 s8, s2
  s_mov_b32 s9, s3
  s_mov_b32 s10, 1024
  s_mov_b32 s11, 0x31016fac
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v3, 12, v1
  s_movk_i32 m0, 256
  {}
  s_waitcnt vmcnt(0)
  ds_load_b32 v4, v1 offset:260
  s_waitcnt lgkmcnt(0)
  global_store_b32 v1, v4, s[2:3] offset:256)",
                                 load);
            Launch launch;
            launch.words = 128;
            for (u32 n = 0; n < 64; ++n)
                launch.initial.push_back(500 + n);
            const std::vector<u32> out = run(k, launch);
            for (u32 l = 0; l < 32; ++l)
                CHECK(out[64 + l] == 500 + (l ^ 3) + 1);
        }
}

// S-076
TEST_CASE("typed buffers have gfx10's formats") {
    for (const char *gfx : rdna) {
        CAPTURE(gfx);
        KernelText k;
        k.gfx = gfx;
        k.body = R"(
  s_mov_b32 s8, s2
  s_mov_b32 s9, s3
  s_mov_b32 s10, 256
  s_mov_b32 s11, 0x31038fac // 8_8_8_8_UNORM
  v_mov_b32 v1, 0
  buffer_load_format_xyzw v[2:5], off, s[8:11], 0
  tbuffer_load_format_xy v[6:7], off, s[8:11], 0 format:[BUF_FMT_32_32_UINT]
  tbuffer_load_format_xyz v[8:10], off, s[8:11], 0 format:[BUF_FMT_10_11_11_UINT]
  s_waitcnt vmcnt(0)
  global_store_b128 v1, v[2:5], s[2:3] offset:16
  global_store_b64 v1, v[6:7], s[2:3] offset:32
  global_store_b96 v1, v[8:10], s[2:3] offset:48
  tbuffer_store_format_xyzw v[2:5], off, s[8:11], 0 format:[BUF_FMT_8_8_8_8_UNORM] offset:64
  tbuffer_store_format_x v6, off, s[8:11], 0 format:[BUF_FMT_32_FLOAT] offset:68)";
        Launch launch{.block = {1, 1, 1}, .initial = {0xff330080, 7}};
        const std::vector<u32> out = run(k, launch);
        CHECK(out[4] == 0x3f008081); // 128 / 255
        CHECK(out[5] == 0);
        CHECK(out[6] == 0x3e4ccccd); // 51 / 255
        CHECK(out[7] == 0x3f800000);
        CHECK(out[8] == 0xff330080);
        CHECK(out[9] == 7);
        CHECK(out[12] == (0xff330080 & 0x7ff));
        CHECK(out[13] == (0xff330080 >> 11 & 0x7ff));
        CHECK(out[14] == 0xff330080 >> 22);
        CHECK(out[16] == 0xff330080);
        CHECK(out[17] == 0xff330080);
    }
}

// The fault of `body` under the wait check; "" for none.
static std::string waits_fault(const char *gfx, const std::string &body) {
    KernelText k;
    k.gfx = gfx;
    k.body = "  v_lshlrev_b32 v1, 2, v0\n" + body;
    Launch launch;
    launch.words = 2048;
    launch.config.checker = checker({.wait = true});
    return fault_of(k, launch);
}

TEST_CASE("the wait check reads gfx10's counters, and finds gfx10.1's hazards") {
    const std::string load = "  global_load_b32 v3, v1, s[2:3]\n",
                      exec = "  s_mov_b32 exec_lo, -1\n",
                      end = "  s_waitcnt vmcnt(0)\n  v_mov_b32 v4, v3";
    CHECK(waits_fault("gfx1030", load + "  s_waitcnt vmcnt(1)\n  v_mov_b32 v4, v3") != "");
    CHECK(waits_fault("gfx1030", load + end) == "");
    CHECK(waits_fault("gfx1030", load + exec + end) == "");
    CHECK(waits_fault("gfx1010", load + exec + end).find("H-019") != std::string::npos);
    CHECK(waits_fault("gfx1010", load + "  s_waitcnt_depctr 0xffe3\n" + exec + end) == "");
    CHECK(waits_fault("gfx1010", load + "  v_nop\n" + exec + end) == "");
    const std::string compare = "  v_cmpx_lt_u32 v0, v1\n";
    CHECK(waits_fault("gfx1010", load + compare + end).find("H-016") != std::string::npos);
    CHECK(waits_fault("gfx1010", load + "  s_waitcnt_depctr 0xfffe\n" + compare + end) == "");
}

TEST_CASE("s_memtime and s_memrealtime count on") {
    KernelText k;
    k.gfx = "gfx1010";
    k.body = R"(
  s_memtime s[6:7]
  s_waitcnt lgkmcnt(0)
  s_memtime s[8:9]
  s_memrealtime s[10:11]
  s_waitcnt lgkmcnt(0)
  s_sub_u32 s8, s8, s6
  v_mov_b32 v1, 0
  v_mov_b32 v2, s8
  v_mov_b32 v3, s11
  global_store_b64 v1, v[2:3], s[2:3])";
    const std::vector<u32> out = run(k);
    CHECK(out[0] > 0);
    CHECK(out[1] == 0);
}

TEST_CASE("a message, and a register, that gfx10 has not") {
    KernelText k;
    k.gfx = "gfx1030";
    k.body = "  s_sendmsg 3";
    CHECK(fault_of(k).find("message 3 is not for compute kernels") != std::string::npos);
    k.gfx = "gfx1010";
    k.body = "  s_getreg_b32 s6, hwreg(29)";
    CHECK(fault_of(k).find("hardware register 29 can't be read here") != std::string::npos);
}

// Encodings of gfx11 that are invalid on gfx10: WMMA, VOPD, new opcodes of VOP3.
TEST_CASE("an instruction of gfx11 is a named fault") {
    const std::vector<Sample> of_gfx11 = known_mnemonics("gfx1100");
    std::vector<Encoding> encodings;
    for (const Sample &s : of_gfx11)
        encodings.push_back(s.encoding);
    for (const char *gfx : rdna) {
        const std::vector<Instruction> here = disassemble_each(encodings, gfx, 32);
        size_t unknown = 0, wmma = 0;
        for (size_t n = 0; n < here.size(); ++n) {
            if (!here[n].text.empty())
                continue;
            const bool matrix = of_gfx11[n].mnemonic.starts_with("v_wmma");
            wmma += matrix;
            if (unknown++ % 40 && !matrix)
                continue;
            CAPTURE(of_gfx11[n].mnemonic);
            const Encoding &e = encodings[n];
            KernelText k;
            k.gfx = gfx;
            k.body = fmt::format("  .long {:#x}, {:#x}, {:#x}", e[0], e[1], e[2]);
            const std::string word = fmt::format("0x{:08x} is not an instruction of {}", e[0], gfx);
            CHECK_MESSAGE(fault_of(k).find(word) != std::string::npos, word << ": " << fault_of(k));
        }
        CHECK(unknown > 200);
        CHECK(wmma == 6);
    }
}

namespace {

// Its three words of each lane. s[0:3] is the buffer of scratch memory, s7 the wave's offset in it.
std::vector<u32> words_of_scratch(const std::string &gfx, u32 wave, const std::string &body) {
    KernelText k;
    k.gfx = gfx;
    k.wave = wave;
    k.scratch = 64;
    k.descriptor = ".amdhsa_user_sgpr_private_segment_buffer 1\n"
                   "  .amdhsa_system_sgpr_private_segment_wavefront_offset 1";
    k.body = with_old_names(body);
    std::string source = kernel_source(k);
    const size_t first = source.find("  s_load_"), end = source.find("  s_waitcnt", first);
    source.replace(first, end - first, "  s_load_dwordx2 s[8:9], s[4:5], 0x0\n");
    auto program = Program::load(assemble(gfx, source), gfx);
    Memory memory;
    auto out = static_cast<u32 *>(memory.allocate(3 * 2 * wave * 4));
    u64 arguments[2] = {reinterpret_cast<u64>(out), 0};
    Dispatch d;
    d.program = program.get();
    d.kernel = program->find_kernel("test");
    d.grid = {1, 1, 1};
    d.block = {2 * wave, 1, 1};
    d.kernarg = std::as_bytes(std::span(arguments));
    sim::run(d, memory, *find_device(gfx), {});
    return {out, out + 3 * 2 * wave};
}

} // namespace

TEST_CASE("scratch memory by its descriptor, by flat addresses and by scratch instructions") {
    for (const char *gfx : rdna)
        for (u32 wave : {32u, 64u}) {
            CAPTURE(gfx);
            CAPTURE(wave);
            const std::vector<u32> out = words_of_scratch(gfx, wave,
                                                          fmt::format(R"(
  s_add_u32 s0, s0, s7
  s_addc_u32 s1, s1, 0
  v_add_nc_u32 v2, 1000, v0
  v_mov_b32 v3, 8
  v_mov_b32 v8, 4
  s_mov_b32 s20, {}
  buffer_store_b32 v2, off, s[0:3], 0 offset:4
  buffer_store_b8 v0, v3, s[0:3], s20 offen offset:1 // byte 25
  s_waitcnt_vscnt null, 0
  buffer_load_b32 v4, v8, s[0:3], 0 offen
  scratch_load_b32 v5, v8, off
  s_mov_b64 s[10:11], src_private_base
  v_mov_b32 v10, 25
  v_mov_b32 v11, s11
  flat_load_u8 v6, v[10:11]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  v_mul_u32_u24 v1, 12, v0
  global_store_b96 v1, v[4:6], s[8:9])",
                                                                      16 * wave));
            for (u32 l = 0; l < 2 * wave; ++l) {
                REQUIRE(out[3 * l] == 1000 + l);
                REQUIRE(out[3 * l + 1] == 1000 + l);
                REQUIRE(out[3 * l + 2] == (l & 0xff));
            }
        }
}

TEST_CASE("scratch memory beyond a lane's own is a fault") {
    CHECK_THROWS_AS(
        words_of_scratch("gfx1030", 32, "  buffer_store_b32 v0, off, s[0:3], 0 offset:64"), Fault);
}
