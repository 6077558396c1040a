// SPDX-License-Identifier: MIT
// Compilers' uses of registers that are no bug, beside similar code that is one.
#include <doctest/doctest.h>

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "lint/lint.h"
#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim::test;

namespace {

// The rules that a kernel of these lines breaks, notes left out.
std::vector<std::string> rules(const std::string &gfx, u32 wave, const std::string &body) {
    const auto program = load(waiting_kernel(gfx, wave, body));
    std::vector<std::string> out;
    for (const lint::Finding &f : lint::lint(*program, program->kernels().front(), false))
        if (info(f.rule).severity != lint::Severity::note && info(f.rule).id != "D-008")
            out.emplace_back(info(f.rule).id);
    return out;
}

using Rules = std::vector<std::string>;

} // namespace

TEST_CASE("a register that nothing wrote may be copied, but not used") {
    const std::string save = "s_mov_b32 s40, s41\n";
    CHECK(rules("gfx1151", 32, save) == Rules{});
    CHECK(rules("gfx1151", 32, save + "s_add_u32 s42, s40, 1") == Rules{"R-001"});
    CHECK(rules("gfx1151", 32, "v_mov_b32 v9, v10\n v_add_nc_u32 v11, v9, v0") == Rules{"R-001"});
    CHECK(rules("gfx1151", 32, "v_mov_b32 v9, s41\n v_add_nc_u32 v11, v9, v0") == Rules{"R-001"});
    CHECK(rules("gfx1151", 32, "v_mov_b32 v9, src_private_limit\n v_add_nc_u32 v11, v9, v0") ==
          Rules{});
}

TEST_CASE("the upper half of a multiply-add's addend goes into the upper half of the sum") {
    const std::string sum[] = {"v_mad_u64_u32 v[2:3], null, v0, 3, v[10:11]\n",
                               "v_mad_co_u64_u32 v[2:3], null, v0, 3, v[10:11]\n"};
    for (const char *gfx : {"gfx1151", "gfx1201"}) {
        const std::string half = "v_mov_b32 v10, 1\n" + sum[is_gfx12(gfx)];
        CHECK(rules(gfx, 32, half + "v_add_nc_u32 v4, v2, v0") == Rules{});
        CHECK(rules(gfx, 32, half + "v_add_nc_u32 v4, v3, v0") == Rules{"R-001"});
        CHECK(rules(gfx, 32, sum[is_gfx12(gfx)]) == Rules{"R-001"});
    }
}

TEST_CASE("a shift of a pair by 32 uses one half") {
    const std::string half = "s_mov_b32 s43, s2\n", shift = "s_lshr_b64 s[40:41], s[42:43], s3\n";
    CHECK(rules("gfx1151", 32, half + shift + "s_add_u32 s50, s40, 1") == Rules{});
    CHECK(rules("gfx1151", 32, shift) == Rules{"R-001"});
    CHECK(rules("gfx1151", 32, half + "s_add_u32 s50, s42, s43") == Rules{"R-001"});
}

TEST_CASE("M0 selects among the registers from the one that is named on") {
    const std::string number = "s_mov_b32 m0, s2\n";
    const auto said = [&](const std::string &body) { return rules("gfx1151", 32, number + body); };
    CHECK(said("v_movreld_b32 v10, v0\n v_add_nc_u32 v4, v14, v0") == Rules{});
    CHECK(said("v_movreld_b32 v10, v0\n v_add_nc_u32 v4, v9, v0") == Rules{"R-001"});
    CHECK(said("v_movreld_b32 v10, v3\n v_add_nc_u32 v4, v14, v0") == Rules{"R-001"});
    CHECK(said("v_mov_b32 v14, 0\n v_movrels_b32 v4, v10\n v_add_nc_u32 v4, v4, v0") == Rules{});
    CHECK(said("v_mov_b32 v9, 0\n v_movrels_b32 v4, v10\n v_add_nc_u32 v4, v4, v0") ==
          Rules{"R-001"});
    CHECK(said("v_mov_b32 v14, 0\n v_movrelsd_b32 v20, v10\n v_add_nc_u32 v4, v25, v0") == Rules{});
    CHECK(said("v_mov_b32 v14, 0\n v_movrelsd_2_b32 v20, v10\n v_add_nc_u32 v4, v25, v0") ==
          Rules{});
    CHECK(said("v_mov_b32 v14, 0\n v_mov_b32 v25, 0\n v_swaprel_b32 v20, v10\n"
               "v_add_nc_u32 v4, v22, v12") == Rules{});
    CHECK(said("v_mov_b32 v14, 0\n v_swaprel_b32 v20, v10\n v_add_nc_u32 v4, v12, v0") ==
          Rules{"R-001"}); // nothing to swap v10 to v14 with
    CHECK(said("s_movreld_b32 s40, s2\n s_add_u32 s50, s44, 1") == Rules{});
    CHECK(said("s_movreld_b64 s[40:41], s[2:3]\n s_add_u32 s50, s45, 1") == Rules{});
    CHECK(said("s_movreld_b32 s40, s2\n s_add_u32 s50, s39, 1") == Rules{"R-001"});
    CHECK(said("s_mov_b32 s44, 1\n s_movrels_b32 s50, s40\n s_add_u32 s50, s50, 1") == Rules{});
    CHECK(said("s_movrels_b32 s50, s60\n s_add_u32 s50, s50, 1") == Rules{"R-001"});
}

TEST_CASE("only wave32 wants 16 initialised SGPRs (A-001)") {
    const std::string few = ".amdhsa_user_sgpr_count 2", many = ".amdhsa_user_sgpr_count 15";
    KernelText k;
    k.body = "s_nop 0";
    for (const char *gfx : {"gfx1100", "gfx1102"})
        for (u32 wave : {32u, 64u}) {
            k.gfx = gfx, k.wave = wave;
            std::string source = kernel_source(k);
            source.replace(source.find(many), many.size(), few);
            const auto program = sim::Program::load(assemble(gfx, source), gfx);
            const auto found = lint::lint(*program, program->kernels().front(), false);
            CHECK(std::ranges::count(found, lint::Rule::init16, &lint::Finding::rule) ==
                  (wave == 32));
        }
}

TEST_CASE("lanes come back from what holds those that were off") {
    const std::string compare = "v_cmp_gt_u32 vcc_lo, 7, v0\n", barrier = "\ns_barrier";
    const std::string if_else = compare +
                                "s_and_saveexec_b32 s40, vcc_lo\n s_xor_b32 s40, exec_lo, s40\n"
                                "v_mov_b32 v3, 1\n s_or_saveexec_b32 s40, s40\n"
                                "s_xor_b32 exec_lo, exec_lo, s40\n v_mov_b32 v3, 2\n";
    CHECK(rules("gfx1151", 32, if_else + "s_or_b32 exec_lo, exec_lo, s40" + barrier) == Rules{});
    CHECK(rules("gfx1151", 32, if_else + "s_or_b32 exec_lo, exec_lo, s2" + barrier) ==
          Rules{"F-005"});
    CHECK(rules("gfx1151", 32, if_else + barrier) == Rules{"F-005"});

    const std::string loop = "s_mov_b32 s41, 0\n.Lloop:\n v_add_nc_u32 v0, 1, v0\n" + compare +
                             "s_or_b32 s41, vcc_lo, s41\n s_and_not1_b32 exec_lo, exec_lo, s41\n"
                             "s_cbranch_execnz .Lloop\n";
    CHECK(rules("gfx1151", 32, loop + "s_or_b32 exec_lo, exec_lo, s41" + barrier) == Rules{});
    CHECK(rules("gfx1151", 32, loop + barrier) == Rules{"F-005"});

    const std::string spilled = compare +
                                "s_and_saveexec_b32 s40, vcc_lo\n v_writelane_b32 v9, s40, 3\n"
                                "v_mov_b32 v3, 1\n s_mov_b32 s40, 0\n";
    CHECK(rules("gfx1151", 32,
                spilled + "v_readlane_b32 s42, v9, 3\n s_or_b32 exec_lo, exec_lo, s42" + barrier) ==
          Rules{});
    CHECK(rules("gfx1151", 32,
                spilled + "v_readlane_b32 s42, v9, 4\n s_or_b32 exec_lo, exec_lo, s42" + barrier) ==
          Rules{"F-005"});
}

TEST_CASE("a comparison that comes out the same in all lanes turns off none") {
    const std::string skip = "s_and_saveexec_b32 s40, vcc_lo\n s_cbranch_execz .Ldone\n s_barrier\n"
                             ".Ldone:\n s_or_b32 exec_lo, exec_lo, s40",
                      slot = "scratch_store_b32 off, v5, off offset:8\n v_mov_b32 v5, v0\n"
                             "scratch_load_b32 v6, off, off offset:{}\n s_waitcnt vmcnt(0)\n"
                             "v_cmp_gt_u32 vcc_lo, 7, v6\n";
    const auto said = [&](const std::string &body) { return rules("gfx1151", 32, body + skip); };
    const std::string compare = "v_cmp_gt_u32 vcc_lo, 7, v5\n";
    CHECK(said("v_mov_b32 v5, s2\n" + compare) == Rules{});
    CHECK(said("v_mov_b32 v5, v0\n" + compare) == Rules{"F-005"});
    CHECK(said("v_add_nc_u32 v5, s2, v0\n" + compare) == Rules{"F-005"});
    CHECK(said("v_mbcnt_lo_u32_b32 v5, -1, 0\n" + compare) == Rules{"F-005"});
    CHECK(said("v_mov_b32 v4, 0\n global_load_b32 v5, v4, s[2:3]\n s_waitcnt vmcnt(0)\n" +
               compare) == Rules{});
    CHECK(said("global_load_b32 v5, v1, s[2:3]\n s_waitcnt vmcnt(0)\n" + compare) ==
          Rules{"F-005"});
    // Through scratch memory, as at -O0: what was stored there, or nobody knows.
    CHECK(said("v_mov_b32 v5, s2\n" + fmt::format(fmt::runtime(slot), 8)) == Rules{});
    CHECK(said("v_mov_b32 v5, v0\n" + fmt::format(fmt::runtime(slot), 8)) == Rules{"F-005"});
    CHECK(said("v_mov_b32 v5, v0\n" + fmt::format(fmt::runtime(slot), 12)) == Rules{});
    // Values that lanes set separately differ among them.
    const std::string some = "v_cmp_gt_u32 vcc_lo, 3, v0\n s_and_saveexec_b32 s41, vcc_lo\n"
                             "v_mov_b32 v5, 9\n s_or_b32 exec_lo, exec_lo, s41\n";
    CHECK(said("v_mov_b32 v5, s2\n" + some + compare) == Rules{"F-005"});
    // A loop with the same number of iterations in all lanes.
    const std::string loop =
        "s_mov_b32 s42, 0\n v_mov_b32 v5, s2\n.Lloop:\n v_add_nc_u32 v5, 1, v5\n"
        "s_barrier\n v_cmp_lt_u32 vcc_lo, 9, v5\n s_or_b32 s42, vcc_lo, s42\n"
        "s_and_not1_b32 exec_lo, exec_lo, s42\n s_cbranch_execnz .Lloop\n"
        "s_or_b32 exec_lo, exec_lo, s42";
    CHECK(rules("gfx1151", 32, loop) == Rules{});
    std::string own = loop; // rounds of each lane's own
    own.replace(own.find("v5, s2"), 6, "v5, v0");
    CHECK(rules("gfx1151", 32, own) == Rules{"F-005"});
}

TEST_CASE("masks come back through slots of scratch memory") {
    const std::string begin = "v_cmp_gt_u32 vcc_lo, 7, v0\n s_and_saveexec_b32 s40, vcc_lo\n"
                              "v_writelane_b32 v9, s40, 3\n s_or_saveexec_b32 s41, -1\n"
                              "scratch_store_b32 off, v9, off offset:16\n s_mov_b32 exec_lo, s41\n"
                              "v_mov_b32 v9, 0\n s_mov_b32 s40, 0\n s_or_saveexec_b32 s41, -1\n",
                      end =
                          "s_mov_b32 exec_lo, s41\n s_waitcnt vmcnt(0)\n"
                          "v_readlane_b32 s42, v8, 3\n s_or_b32 exec_lo, exec_lo, s42\n s_barrier";
    const auto said = [&](const char *load) { return rules("gfx1151", 32, begin + load + end); };
    CHECK(said("scratch_load_b32 v8, off, off offset:16\n") == Rules{});
    CHECK(said("v_mov_b32 v8, 0\n") == Rules{"F-005"});
}
