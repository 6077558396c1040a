// SPDX-License-Identifier: MIT
// Every launch says how sure its results are.
#include <doctest/doctest.h>

#include "sim/assemble.h"
#include "sim/isa/fidelity.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

RunStats stats_of(const std::string &body, const std::string &gfx = "gfx1151") {
    KernelText k;
    k.gfx = gfx;
    k.body = body;
    Launch launch{.grid = {3, 1, 1}, .block = {64, 1, 1}};
    launch.config.threads = 2;
    run(k, launch);
    return launch.stats;
}

} // namespace

TEST_CASE("exact instructions leave no notes") {
    RunStats s = stats_of("  v_add_f32 v1, v2, v3\n  v_dual_mul_f32 v4, v5, v6 :: v_dual_mov_b32 "
                          "v7, v8\n  s_mov_b32 s6, 0");
    CHECK(s.fidelity.exact == s.insts.total());
    CHECK(s.fidelity.approximate + s.fidelity.open == 0);
    CHECK(s.fidelity.notes.empty());
}

TEST_CASE("approximate and open ones are counted by wave, and their notes named once") {
    REQUIRE(fidelity_of("v_rcp_f64").fidelity == Fidelity::approximate);
    REQUIRE(fidelity_of("v_sin_f32").fidelity == Fidelity::open);
    std::string body;
    for (int n = 0; n < 5; ++n)
        body += "  v_rcp_f64 v[2:3], v[4:5]\n";
    body += "  v_rsq_f64 v[2:3], v[4:5]\n  v_sin_f32 v6, v7\n  v_cos_f32 v6, v7\n"
            "  v_rcp_f32 v6, v7";
    const u64 waves = 3 * 2;
    for (const char *gfx : {"gfx1100", "gfx1201"}) {
        RunStats s = stats_of(body, gfx);
        CHECK(s.fidelity.approximate == 6 * waves);
        CHECK(s.fidelity.open == 2 * waves);
        CHECK(s.fidelity.exact == s.insts.total() - 8 * waves);
        CHECK(s.insts.trans == 9 * waves); // classes are counted as ever
        CHECK(s.fidelity.notes == std::vector<std::string>{"S-011", "S-013"});
    }
}

TEST_CASE("what is skipped is not counted") {
    RunStats s = stats_of("  s_branch .Lover\n  v_rcp_f64 v[2:3], v[4:5]\n.Lover:");
    CHECK(s.fidelity.approximate == 0);
    CHECK(s.fidelity.notes.empty());
}
