// SPDX-License-Identifier: MIT
// Registers that instructions write besides their first operand, and instructions that write none.
// LLVM's descriptions of the instructions (MCInstrDesc) agree.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "sim/assemble.h"
#include "sim/isa/code.h"
#include "sim/isa/uses.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

// Registers that a line writes: "v2 s8 scc", in the order of register_uses().
std::string writes_of(const std::string &gfx, const std::string &line) {
    KernelText k;
    k.gfx = gfx;
    k.body = "  " + line;
    const auto program = load(k);
    const Code &code = program->code(32);
    std::string out;
    for (const RegisterUse &use : register_uses(code.instructions[3])) // behind the arguments
        for (unsigned n = 0; use.write && n < use.count; ++n) {
            const unsigned reg = use.first + n;
            out += (out.empty() ? "" : " ") + (use.bank == RegisterUse::vgpr
                                                   ? "v" + std::to_string(reg)
                                               : reg == sreg::scc ? "scc"
                                               : reg == sreg::vcc ? "vcc"
                                                                  : "s" + std::to_string(reg));
        }
    return out;
}

} // namespace

TEST_CASE("second destinations") {
    CHECK(writes_of("gfx1100", "ds_bvh_stack_rtn_b32 v2, v3, v4, v[5:8]") == "v2 v3");
    CHECK(writes_of("gfx1201", "ds_bvh_stack_push8_pop2_rtn_b64 v[2:3], v4, v5, v[8:15]") ==
          "v2 v3 v4");
    for (const char *gfx : {"gfx1030", "gfx1100", "gfx1201"}) {
        CHECK(writes_of(gfx, "v_swap_b32 v2, v3") == "v2 v3");
        CHECK(writes_of(gfx, "v_add_co_u32 v2, s8, v3, v4") == "v2 s8");
        CHECK(writes_of(gfx, "v_div_scale_f32 v2, vcc_lo, v3, v4, v5") == "v2 vcc");
    }
    CHECK(writes_of("gfx1151", "v_mad_u64_u32 v[2:3], s8, v4, v5, v[6:7]") == "v2 v3 s8");
    CHECK(writes_of("gfx1201", "v_mad_co_i64_i32 v[2:3], s8, v4, v5, v[6:7]") == "v2 v3 s8");
    CHECK(writes_of("gfx1151", "v_dual_mov_b32 v2, v4 :: v_dual_mov_b32 v3, v5") == "v2 v3");
}

TEST_CASE("instructions that write SCC") {
    const std::pair<const char *, const char *> all[] = {
        {"s_add_i32 s8, s9, s10", "s8 scc"},  {"s_addk_i32 s8, 1", "s8 scc"},
        {"s_abs_i32 s8, s9", "s8 scc"},       {"s_bfe_u32 s8, s9, s10", "s8 scc"},
        {"s_bcnt1_i32_b32 s8, s9", "s8 scc"}, {"s_wqm_b32 s8, s9", "s8 scc"},
        {"s_quadmask_b32 s8, s9", "s8 scc"},  {"s_and_saveexec_b32 s8, s9", "s8 scc"},
        {"s_bitcmp1_b32 s8, s9", "scc"},      {"s_cmp_eq_u64 s[8:9], s[10:11]", "scc"},
        {"s_mov_b32 s8, s9", "s8"},           {"s_mul_i32 s8, s9, s10", "s8"},
        {"s_cselect_b32 s8, s9, s10", "s8"},  {"s_cmov_b32 s8, s9", "s8"},
        {"s_brev_b32 s8, s9", "s8"},          {"s_pack_ll_b32_b16 s8, s9, s10", "s8"},
    };
    for (const char *gfx : {"gfx1100", "gfx1201"})
        for (const auto &[line, written] : all) {
            CAPTURE(gfx);
            CAPTURE(line);
            CHECK(writes_of(gfx, line) == written);
        }
    CHECK(writes_of("gfx1201", "s_barrier_signal_isfirst -1") == "scc");
    CHECK(writes_of("gfx1201", "s_barrier_leave") == "scc");
    CHECK(writes_of("gfx1201", "s_alloc_vgpr s8") == "scc");
    CHECK(writes_of("gfx1201", "s_barrier_signal -1") == "");
    CHECK(writes_of("gfx1201", "s_min_f32 s8, s9, s10") == "s8");
}

TEST_CASE("addresses are no destinations") {
    CHECK(writes_of("gfx1201", "s_buffer_prefetch_data s[8:11], 0x0, s12, 0") == "");
    CHECK(writes_of("gfx1201", "s_prefetch_data s[8:9], 0x0, s12, 0") == "");
    CHECK(writes_of("gfx1010", "s_dcache_discard s[8:9], 0x0") == "");
}
