// SPDX-License-Identifier: MIT
// Each rule but the hazards': a kernel that it is against, and the same without the fault.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lint/lint.h"
#include "sim/assemble.h"
#include "sim/isa/code.h"

using namespace nw;
using namespace nw::sim::test;

namespace {

struct Case {
    const char *name;
    const char *gfx;
    const char *body;
    const char *rule;      // "": nothing is found
    const char *says = ""; // in its text or remedy
};

// clang-format off
const Case waits[] = {
    {"W-004 nothing is outstanding", "gfx1151", "s_waitcnt vmcnt(0)", "W-004"},
    {"W-004 on one of two ways something is", "gfx1151", "s_cmp_eq_u32 s2, 0\n s_cbranch_scc1 .L\n global_load_b32 v2, v1, s[2:3]\n.L:\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v2", ""},
    {"W-005 the older is needed first", "gfx1151", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_mov_b32 v4, v2\n s_waitcnt vmcnt(0)\n v_mov_b32 v5, v3", "W-005", "vmcnt(1) is enough: of what it waits for, global_load_b32 v2, v1, s[2:3] is used first, 1 instructions later"},
    {"W-005 both are", "gfx1151", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v1, s[4:5]\n s_waitcnt vmcnt(0)\n v_mov_b32 v4, v2\n v_mov_b32 v5, v3", ""},
    {"W-005 nobody touches it", "gfx1151", "global_load_b32 v2, v1, s[2:3]\n s_waitcnt vmcnt(0)", "W-005", "leave vmcnt(0) out"},
    {"W-005 the next trip does", "gfx1151", "v_mov_b32 v2, 0\n s_mov_b32 s8, 4\n.L:\n v_add_nc_u32 v3, v2, v2\n global_load_b32 v2, v1, s[2:3]\n s_waitcnt vmcnt(0)\n s_sub_u32 s8, s8, 1\n s_cmp_lg_u32 s8, 0\n s_cbranch_scc1 .L", ""},
    {"W-005 LDS that others read", "gfx1151", "ds_store_b32 v1, v0\n s_waitcnt lgkmcnt(0)\n s_barrier", ""},
    {"W-005 LDS that others don't read", "gfx1151", "ds_store_b32 v1, v0\n s_waitcnt lgkmcnt(0)", "W-005", "leave lgkmcnt(0) out"},
    {"W-005 scalar loads have no order", "gfx1151", "s_load_b32 s8, s[2:3], 0x0\n ds_load_b32 v2, v1\n ds_load_b32 v3, v1\n s_waitcnt lgkmcnt(0)\n s_mov_b32 s9, s8\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v4, v2", "W-004"},
    {"W-005 a counter of its own on gfx12", "gfx1201", "global_load_b32 v2, v1, s[2:3]\n global_load_b32 v3, v1, s[4:5]\n s_wait_loadcnt 0\n v_mov_b32 v4, v2\n s_wait_loadcnt 0\n v_mov_b32 v5, v3", "W-005", "s_wait_loadcnt 1 is enough"},
    {"W-006", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n v_mov_b32 v0, 0", "W-006", "s_waitcnt expcnt(0)"},
    {"W-006 another register", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n v_mov_b32 v2, 0", ""},
    {"W-006 waited", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n s_waitcnt expcnt(0)\n v_mov_b32 v0, 0", ""},
    {"W-006 across a branch", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n s_branch .L\n s_nop 0\n.L:\n v_mov_b32 v0, 0", "W-006"},
    {"W-006 wrong counter", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n s_waitcnt vmcnt(0) lgkmcnt(0)\n v_mov_b32 v0, 0", "W-006"},
    {"W-006 gfx12", "gfx1201", "export mrt0 v0, v0, v0, v0 done\n v_mov_b32 v0, 0", "W-006", "s_wait_expcnt 0"},
    {"W-006 EXEC", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n s_mov_b32 exec_lo, 1\n s_mov_b32 exec_lo, -1", "W-006", "EXEC is overwritten while exp mrt0"},
    {"W-006 EXEC by s_and_saveexec", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n s_and_saveexec_b32 s8, s2\n s_mov_b32 exec_lo, s8", "W-006", "s_waitcnt expcnt(0)"},
    {"W-006 EXEC by v_cmpx", "gfx1201", "export mrt0 v0, v0, v0, v0 done\n v_cmpx_gt_u32 s2, v0\n v_mov_b32 v1, 0", "W-006", "s_wait_expcnt 0"},
    {"W-006 EXEC waited", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n s_waitcnt expcnt(0)\n s_mov_b32 exec_lo, 1\n s_mov_b32 exec_lo, -1", ""},
    {"W-006 EXEC is a source", "gfx1151", "exp mrt0 v0, v0, v0, v0 done\n s_mov_b32 s8, exec_lo\n v_mov_b32 v1, exec_lo\n v_mov_b32 v2, s8", ""},
    {"W-006 EXEC after a load for pixels", "gfx1151", "s_mov_b32 m0, 0\n lds_param_load v2, attr0.x wait_vdst:15\n s_mov_b32 exec_lo, 1\n s_mov_b32 exec_lo, -1", ""},
    {"W-001 gfx12 an atomic that cascades and returns", "gfx1201", ".long 0xee0d4002, 0x01d80004, 0x00000001\n v_mov_b32 v5, v4", "W-001", "s_wait_loadcnt 0"},
    {"W-001 gfx12 an atomic that cascades", "gfx1201", "global_atomic_add_u32 v1, v0, s[2:3] th:TH_ATOMIC_CASCADE_RT scope:SCOPE_DEV\n v_mov_b32 v5, v1", ""},
    {"W-001 gfx12 a sampler's counter", "gfx1201", "image_sample v2, [v0, v1], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D\n s_wait_loadcnt 0\n v_mov_b32 v3, v2", "W-001", "s_wait_samplecnt 0"},
    {"W-001 gfx11 has no such", "gfx1151", "image_sample v2, [v0, v1], s[8:15], s[16:19] dmask:0x1 dim:SQ_RSRC_IMG_2D\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v2", "R-001"},
};
const Case gfx10[] = {
    {"a load", "gfx1030", "global_load_dword v2, v1, s[2:3]\n v_mov_b32 v3, v2", "W-001", "s_waitcnt vmcnt(0)"},
    {"waited", "gfx1030", "global_load_dword v2, v1, s[2:3]\n s_waitcnt vmcnt(0)\n v_mov_b32 v3, v2", ""},
    {"another register", "gfx1030", "global_load_dword v2, v1, s[2:3]\n v_mov_b32 v3, v1", ""},
    {"wrong counter", "gfx1030", "global_load_dword v2, v1, s[2:3]\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v3, v2", "W-001"},
    {"across a branch", "gfx1030", "global_load_dword v2, v1, s[2:3]\n s_branch .L\n s_nop 0\n.L:\n v_mov_b32 v3, v2", "W-001"},
    {"the older of two", "gfx1010", "global_load_dwordx2 v[2:3], v1, s[2:3]\n global_load_dwordx4 v[4:7], v1, s[2:3]\n s_waitcnt vmcnt(1)\n v_mov_b32 v8, v3\n s_waitcnt vmcnt(0)\n v_mov_b32 v8, v7", ""},
    {"the younger of two", "gfx1010", "global_load_dwordx2 v[2:3], v1, s[2:3]\n global_load_dwordx4 v[4:7], v1, s[2:3]\n s_waitcnt vmcnt(1)\n v_mov_b32 v8, v7", "W-001"},
    {"LDS", "gfx1030", "ds_read_b64 v[2:3], v1\n v_mov_b32 v4, v3", "W-001", "s_waitcnt lgkmcnt(0)"},
    {"LDS waited", "gfx1030", "ds_read_b64 v[2:3], v1\n s_waitcnt lgkmcnt(0)\n v_mov_b32 v4, v3", ""},
    {"LDS at a barrier", "gfx1030", "ds_write_b32 v1, v0\n s_barrier", "W-003"},
    {"a store has no result", "gfx1030", "global_store_dword v1, v0, s[2:3]\n v_mov_b32 v2, v1\n ds_write_b32 v1, v0\n v_mov_b32 v2, v1", ""},
    {"stores are counted apart", "gfx1030", "global_load_dword v2, v1, s[2:3]\n s_waitcnt_vscnt null, 0x0\n v_mov_b32 v3, v2", "W-001"},
    {"a scalar load", "gfx1030", "s_load_dwordx2 s[8:9], s[2:3], 0x0\n s_mov_b32 s10, s9", "W-001", "s_waitcnt lgkmcnt(0)"},
    {"an export", "gfx1030", "exp mrt0 v0, v0, v0, v0 done\n v_mov_b32 v0, 0", "W-006", "s_waitcnt expcnt(0)"},
    {"an export waited", "gfx1030", "exp mrt0 v0, v0, v0, v0 done\n s_waitcnt expcnt(0)\n v_mov_b32 v0, 0", ""},
    {"an export reads EXEC", "gfx1030", "exp mrt0 v0, v0, v0, v0 done\n s_mov_b32 exec_lo, 1\n s_mov_b32 exec_lo, -1", "W-006", "s_waitcnt expcnt(0)"},
};
const Case values[] = {
    {"R-001", "gfx1151", "v_add_f32 v2, v3, v0", "R-001", "v3"},
    {"R-001 a copy is read where it is", "gfx1151", "v_mov_b32 v2, v3\n v_add_f32 v4, v2, v0", "R-001", "v2"},
    {"R-001 a copy that nothing reads", "gfx1151", "v_mov_b32 v2, v3", ""},
    {"R-001 on one of two ways it is written", "gfx1151", "s_cmp_eq_u32 s2, 0\n s_cbranch_scc1 .L\n v_mov_b32 v3, 0\n.L:\n v_mov_b32 v2, v3", ""},
    {"R-001 the other half", "gfx1151", "v_mov_b16 v3.l, 0\n v_add_f16 v2.l, v3.h, v3.h", "R-001", "v3.h"},
    {"R-001 the half itself", "gfx1151", "v_mov_b16 v3.h, 0\n v_add_f16 v2.l, v3.h, v3.h", ""},
    {"R-001 a whole register with one half", "gfx1151", "v_mov_b16 v3.l, 0\n v_mov_b32 v2, v3\n v_add_nc_u32 v2, v2, v2", ""},
    {"R-001 a user SGPR that nothing is put into", "gfx1100", "s_add_u32 s6, s7, 1", "R-001", "s7"},
    {"R-001 the last of them is the workgroup's id", "gfx1100", "s_add_u32 s6, s15, 1", ""},
    {"F-009 DS", "gfx1151", "v_mov_b32 v2, v0\n .long 0xd8000000, 0x05000201", "F-009", "ds_add_u32 v1, v2"},
    {"F-009 VOPD", "gfx1151", ".long 0xca100700, 0x02020b00", "F-009", "v_dual_mov_b32"},
    {"F-009 SOPP", "gfx1151", ".long 0xbfbd0007", "F-009", "s_barrier"},
    {"F-002 an SGPR as an operand of v_interp", "gfx1151", ".long 0xcd000000, 0x040e0401", "F-002"},
    {"F-001", "gfx1151", ".long 0xbfa07fff", "F-001"},
    {"F-002", "gfx1151", "s_branch .L\n.L:\n .long 0xbfff0000", "F-002"},
    {"F-004", "gfx1151", "s_branch .L\n v_mov_b32 v2, 0\n.L:", "F-004"},
    {"F-005", "gfx1151", "s_mov_b32 exec_lo, 1\n s_barrier\n s_mov_b32 exec_lo, -1", "F-005"},
    {"F-005 given back", "gfx1151", "s_mov_b32 exec_lo, 1\n s_mov_b32 exec_lo, -1\n s_barrier", ""},
    {"F-006", "gfx1151", "s_mov_b32 exec_lo, 0\n global_store_b32 v1, v0, s[2:3]", "F-006"},
    {"F-006 a lane is on", "gfx1151", "s_mov_b32 exec_lo, 1\n global_store_b32 v1, v0, s[2:3]", ""},
    {"F-007", "gfx1151", "s_cmp_eq_u32 s2, 0\n s_add_u32 s6, s2, s3\n s_cbranch_scc1 .L\n v_mov_b32 v2, 0\n.L:", "F-007"},
    {"F-007 read in time", "gfx1151", "s_add_u32 s6, s2, s3\n s_cmp_eq_u32 s2, 0\n s_cbranch_scc1 .L\n v_mov_b32 v2, 0\n.L:", ""},
    {"F-007 VCC", "gfx1151", "v_cmp_eq_u32 vcc_lo, 0, v0\n s_mov_b32 vcc_lo, 0\n v_cndmask_b32 v2, v0, v1, vcc_lo", "F-007"},
};
// clang-format on

// Findings for the kernel, except that many of these wait for arguments that they don't use.
std::vector<lint::Finding> findings(const std::vector<std::byte> &image, const std::string &gfx) {
    const auto program = sim::Program::load(image, gfx);
    REQUIRE(program->kernels().size() == 1);
    const sim::KernelInfo &kernel = program->kernels().front();
    const u32 wait = program->code(kernel.wave_size).find(kernel.entry) + 2;
    std::vector<lint::Finding> found = lint::lint(*program, kernel, true);
    std::erase_if(found, [&](const lint::Finding &f) {
        return f.rule == lint::Rule::long_wait && f.instruction == wait;
    });
    return found;
}

std::string ids_of(const std::vector<lint::Finding> &found) {
    std::vector<std::string_view> ids;
    for (const lint::Finding &f : found)
        ids.push_back(info(f.rule).id);
    return fmt::format("{}", fmt::join(ids, " "));
}

std::string source_of(const Case &c) {
    KernelText k = waiting_kernel(c.gfx, 32, c.body);
    const bool is_gfx10 = std::string_view(c.gfx).starts_with("gfx10");
    if (is_gfx10)
        k.scratch = 0, k.descriptor.clear();
    std::string source = ".amdhsa_code_object_version 5\n" + kernel_source(k);
    constexpr std::string_view load = "s_load_b64";
    for (size_t at; is_gfx10 && (at = source.find(load)) != source.npos;)
        source.replace(at, load.size(), "s_load_dwordx2");
    return source;
}

void check(const Case &c) {
    CAPTURE(c.name);
    CAPTURE(c.gfx);
    std::vector<lint::Finding> found = findings(assemble(c.gfx, source_of(c)), c.gfx);
    std::erase_if(found, [](const lint::Finding &f) { // the kernel as a whole
        return f.rule == lint::Rule::no_args || f.rule == lint::Rule::scratch_unused;
    });
    std::string texts;
    for (const lint::Finding &f : found)
        texts += fmt::format("{} {}; {}\n", info(f.rule).id, f.text, f.remedy);
    CAPTURE(texts);
    if (std::string_view(c.rule).empty())
        CHECK(ids_of(found) == "");
    else
        CHECK(ids_of(found).find(c.rule) != std::string::npos);
    CHECK(texts.find(c.says) != texts.npos);
}

// ---- what descriptor and metadata say

constexpr const char *metadata = R"(
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - {{ .name: test, .symbol: test.kd, .kernarg_segment_size: {}, .kernarg_segment_align: 8,
      .group_segment_fixed_size: 0, .private_segment_fixed_size: 0, .max_flat_workgroup_size: 1024,
      .wavefront_size: {}, .sgpr_count: {}, .vgpr_count: 64, .args: [ {} ] }}
...
.end_amdgpu_metadata
)";
constexpr const char *two_args =
    "{ .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }, "
    "{ .offset: 8, .size: 8, .value_kind: by_value }";

struct Says {
    const char *gfx = "gfx1151", *load_as = gfx;
    std::string body;
    u32 version = 5;
    u32 kernarg = 16, wave = 32, sgprs = 100;
    std::string args = two_args;
    u32 lds = 0, scratch = 0;
    std::string descriptor;
};

std::string said_of(const Says &s) {
    KernelText k;
    k.gfx = s.gfx;
    k.body = s.body;
    k.lds = s.lds, k.scratch = s.scratch;
    k.kernarg = s.kernarg;
    k.descriptor = s.descriptor;
    const std::string source = fmt::format(".amdhsa_code_object_version {}\n", s.version) +
                               kernel_source(k) +
                               fmt::format(metadata, s.kernarg, s.wave, s.sgprs, s.args);
    return ids_of(findings(assemble(s.gfx, source), s.load_as));
}

} // namespace

TEST_CASE("waits") {
    for (const Case &c : waits)
        check(c);
}

TEST_CASE("waits of gfx10") {
    for (const Case &c : gfx10)
        check(c);
}

// The rules W-nnn that a body breaks: its other registers hold nothing.
std::string waits_of(const char *gfx, const std::string &body) {
    const Case c{"", gfx, body.c_str(), ""};
    std::vector<lint::Finding> found = findings(assemble(gfx, source_of(c)), gfx);
    std::erase_if(found, [](const lint::Finding &f) {
        return !info(f.rule).id.starts_with("W-") || info(f.rule).severity == lint::Severity::note;
    });
    return ids_of(found);
}

TEST_CASE("loads of two kinds return in no order (H-010)") {
    const std::string
        sample = "image_sample v2, [v0, v1], s[8:15], s[16:19] dmask:0x1 "
                 "dim:SQ_RSRC_IMG_2D\n",
        image = "image_load v2, [v0, v1], s[8:15] dmask:0x1 dim:SQ_RSRC_IMG_2D\n",
        ray = "image_bvh_intersect_ray v[2:5], [v10, v11, v[12:14], v[15:17], v[18:20]], s[8:11]\n",
        old_ray = "image_bvh_intersect_ray v[2:5], v[10:20], s[8:11]\n",
        wait = "s_waitcnt vmcnt(0)\n";
    for (const char *gfx : {"gfx1030", "gfx1100", "gfx1151"}) {
        CAPTURE(gfx);
        const bool gfx10 = std::string_view(gfx) == "gfx1030";
        const std::string load = gfx10 ? "global_load_dword v2, v1, s[2:3]\n"
                                       : "global_load_b32 v2, v1, s[2:3]\n",
                          bvh = gfx10 ? old_ray : ray;
        CHECK(waits_of(gfx, sample + load) == "W-002");
        CHECK(waits_of(gfx, load + sample) == "W-002");
        CHECK(waits_of(gfx, bvh + load) == "W-002");
        CHECK(waits_of(gfx, bvh + sample) == "W-002");
        CHECK(waits_of(gfx, sample + wait + load) == "");
        CHECK(waits_of(gfx, image + load) == "");
        CHECK(waits_of(gfx, load + image) == "");
        CHECK(waits_of(gfx, bvh + bvh) == "");
        // A sample that gfx11.5 may do as a plain load.
        CHECK(waits_of(gfx, sample + sample) ==
              (std::string_view(gfx) == "gfx1151" ? "W-002" : ""));
        CHECK(waits_of(gfx, sample + "s_branch .L\n s_nop 0\n.L:\n" + load) == "W-002");
    }
}

TEST_CASE("LDS that a load from memory writes") {
    const std::string dma = "buffer_load_dword v1, s[8:11], 0 offen lds\n",
                      read = "ds_read_b32 v3, v1\n", wait = "s_waitcnt vmcnt(0)\n";
    for (const char *gfx : {"gfx1010", "gfx1030"}) {
        CAPTURE(gfx);
        CHECK(waits_of(gfx, dma + read) == "W-007");
        CHECK(waits_of(gfx, dma + "ds_write_b32 v1, v0\n") == "W-007");
        CHECK(waits_of(gfx, dma + "s_waitcnt lgkmcnt(0)\n" + read) == "W-007");
        CHECK(waits_of(gfx, dma + wait + read) == "");
        CHECK(waits_of(gfx, dma + "global_load_dword v4, v1, s[2:3]\n s_waitcnt vmcnt(1)\n" +
                                read) == "");
        CHECK(waits_of(gfx, dma + "s_branch .L\n s_nop 0\n.L:\n" + read) == "W-007");
        CHECK(waits_of(gfx, dma + "ds_bpermute_b32 v3, v1, v0\n") == "");
        CHECK(waits_of(gfx, dma + "s_barrier\n") == "W-003");
        CHECK(waits_of(gfx, dma + wait + "s_barrier\n") == "");
    }
}

TEST_CASE("values and where control goes") {
    for (const Case &c : values)
        check(c);
}

TEST_CASE("descriptor and metadata") {
    CHECK(said_of({}) == "");
    CHECK(said_of({.body = "v_mov_b32 v64, 0"}) == "D-001");
    CHECK(said_of({.body = "s_mov_b32 s20, 0"}) == "");
    CHECK(said_of({.body = "s_mov_b32 s20, 0", .sgprs = 16}) == "D-002");
    CHECK(said_of({.body = "ds_store_b32 v0, v0 offset:1024", .lds = 1024}) == "D-003");
    CHECK(said_of({.body = "ds_store_b32 v0, v0 offset:1020", .lds = 1024}) == "");
    CHECK(said_of({.kernarg = 8}) == "D-004"); // the second argument is loaded all the same
    CHECK(said_of({.gfx = "gfx1100"}) == "");
    CHECK(said_of({.gfx = "gfx1101", .descriptor = ".amdhsa_user_sgpr_count 8"}) == "");
    CHECK(said_of({.gfx = "gfx11-generic", .load_as = "gfx1100", .version = 6}) == "D-005");
    CHECK(said_of({.wave = 64}) == "D-006");
    CHECK(said_of({.scratch = 64, .descriptor = ".amdhsa_enable_private_segment 1"}) == "D-007");
    CHECK(said_of({.args = ""}) == "D-008");
    CHECK(said_of({.version = 6}) == "D-010");
}

TEST_CASE("gfx10's prologue for scratch, in a kernel that has none") {
    const auto said = [](const char *body) {
        return said_of({.gfx = "gfx1010",
                        .body = body,
                        .descriptor = ".amdhsa_user_sgpr_private_segment_buffer 1"});
    };
    CHECK(said("s_add_u32 s0, s0, s7\n s_addc_u32 s1, s1, 0") == "");
    CHECK(said("s_add_u32 s0, s0, s7\n s_add_u32 s8, s0, 0") == "R-001"); // a use of the sum
    CHECK(said("s_add_u32 s0, s0, s8") == "R-001");
}

TEST_CASE("gfx10: what a kernel without scratch does for addresses in scratch memory") {
    // As clang 22 compiles an atomic of flat memory for gfx1030 and gfx1010, and of a uniform
    // address.
    const std::string prologue = "s_mov_b64 s[8:9], s[0:1]\n s_mov_b64 s[10:11], s[2:3]\n"
                                 "s_add_u32 s8, s8, s7\n s_addc_u32 s9, s9, 0\n"
                                 "s_mov_b64 s[12:13], src_private_base\n"
                                 "v_mov_b32 v2, v0\n v_mov_b32 v3, v0\n s_mov_b32 s14, exec_lo\n",
                      access = "buffer_load_dword v4, v2, s[8:11], 0 offen\n s_waitcnt vmcnt(0)\n"
                               "v_add_nc_u32 v5, v4, v0\n",
                      other = "s_xor_b32 s14, exec_lo, s14\n s_cbranch_execz .Lprivate\n"
                              "v_mov_b32 v4, v0\n.Lprivate:\n s_and_not1_saveexec_b32 s14, s14\n"
                              "s_cbranch_execz .Ldone\n",
                      end = ".Ldone:\n s_or_b32 exec_lo, exec_lo, s14\n";
    const std::string cmpx = prologue + "v_cmpx_ne_u32 s13, v3\n" + other,
                      cmp = prologue +
                            "v_cmp_ne_u32 vcc_lo, s13, v3\n s_and_saveexec_b32 s14, vcc_lo\n" +
                            other,
                      equal = prologue +
                              "v_cmp_eq_u32 vcc_lo, s13, v3\n s_and_saveexec_b32 s14, vcc_lo\n"
                              "s_cbranch_execz .Ldone\n",
                      scalar = prologue + "s_cmp_eq_u32 s6, s13\n s_cbranch_scc0 .Ldone\n",
                      select = prologue +
                               "s_cmp_eq_u32 s6, s13\n"
                               "s_cselect_b32 s15, -1, 0\n"
                               "s_and_b32 vcc_lo, exec_lo, s15\n s_cbranch_vccz .Ldone\n",
                      flag = prologue +
                             "s_mov_b32 s15, 1\n s_cmp_lg_u32 s6, s13\n s_cbranch_scc0 .Lelse\n"
                             "s_mov_b32 s15, 0\n.Lelse:\n s_xor_b32 s15, s15, 1\n"
                             "s_cmp_lg_u32 s15, 0\n s_cbranch_scc1 .Ldone\n";
    const auto said = [](std::string body) {
        return said_of({.gfx = "gfx1030",
                        .body = std::move(body),
                        .descriptor = ".amdhsa_user_sgpr_private_segment_buffer 1"});
    };
    for (const std::string &guard : {cmpx, cmp, equal, scalar, select, flag}) {
        CAPTURE(guard);
        CHECK(said(guard + access + end) == "");
        CHECK(said(guard + access + end + access) == "R-001"); // also where all lanes come by
        std::string another = guard;                           // compared with another number
        another.replace(another.find("src_private_base"), 16, "0");
        CHECK(said(another + access + end) == "R-001");
    }
    std::string turned = equal; // lanes whose address is not in scratch memory
    turned.replace(turned.find("v_cmp_eq"), 8, "v_cmp_ne");
    CHECK(said(turned + access + end) == "R-001");
    CHECK(said(prologue + access) == "R-001");
}

TEST_CASE("D-004: what a wide load brings from behind the arguments") {
    // 3 and 7 dwords at the end, which s_load has no widths for.
    const std::string three = "s_load_b128 s[8:11], s[0:1], 0x8\n s_waitcnt lgkmcnt(0)\n",
                      seven = "s_load_b256 s[8:15], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n";
    const auto said = [](const std::string &body, u32 bytes) {
        return said_of({.body = body, .kernarg = bytes});
    };
    CHECK(said(three + "s_add_u32 s20, s10, s8", 20) == "");
    CHECK(said(three + "s_add_u32 s20, s11, s8", 20) == "D-004");
    CHECK(said(three + "s_mov_b32 s21, s11\n s_add_u32 s20, s10, s8", 20) == "");
    CHECK(said(three + "s_mov_b32 s21, s11\n s_add_u32 s20, s21, s8", 20) == "D-004");
    CHECK(said(three + "s_mov_b32 s11, 7\n s_add_u32 s20, s11, s8", 20) == "");
    CHECK(said(three + "s_add_u32 s20, s11, s8", 24) == "");
    CHECK(said(seven + "s_add_u32 s20, s14, s8", 28) == "");
    CHECK(said(seven + "s_add_u32 s20, s15, s8", 28) == "D-004");
    CHECK(said("s_load_b32 s8, s[0:1], 0x14\n s_waitcnt lgkmcnt(0)\n s_add_u32 s20, s8, 1", 20) ==
          "D-004"); // nothing of it is declared
    CHECK(said("s_load_b512 s[8:23], s[0:1], 0x0\n s_waitcnt lgkmcnt(0)\n s_add_u32 s24, s8, 1",
               20) == "D-004"); // and from the next 16 bytes
    CHECK(said("s_load_b32 s8, s[0:1], 0x10\n s_waitcnt lgkmcnt(0)\n s_and_b32 s20, s8, 0xff",
               17) == ""); // a byte, extended
}

TEST_CASE("a generic target has its version from code object V6 on") {
    CHECK(said_of({.gfx = "gfx11-generic", .load_as = "gfx1151", .version = 6}) == "");
    CHECK(said_of({.gfx = "gfx11-generic", .load_as = "gfx1151"}) == "D-009");
}
