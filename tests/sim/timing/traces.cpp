// SPDX-License-Identifier: MIT
// Single rules that thread traces of a 7900 XTX (gfx1100) and a 9070 XT (gfx1201) show (T-051 to
// T-057).
#include <algorithm>
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <map>
#include <ranges>

#include "sim/timing/run.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

TimedLaunch timed(const std::string &body, const std::string &gfx, Dim3 grid = {1, 1, 1},
                  Dim3 block = {32, 1, 1}) {
    TimedLaunch l;
    l.grid = grid, l.block = block;
    time({.gfx = gfx, .body = body, .lds = 1024}, l);
    return l;
}

// Distances between the last `count` + 1 issues of the first wave, without the end of the kernel.
std::vector<u64> last_deltas(const TimedLaunch &l, size_t count) {
    std::vector<u64> d = deltas(l.issues(""));
    REQUIRE(d.size() > count);
    return {d.end() - 1 - static_cast<long>(count), d.end() - 1};
}

const std::string both[] = {"gfx1100", "gfx1201"};
const std::string carry = "v_add_co_u32 v1, vcc_lo, v2, v3\n";

// The issues of the last instructions of the body are so far apart, within a cycle.
void check_issue(const std::string &body, const std::string &gfx,
                 const std::vector<u64> &published) {
    const std::vector<u64> model = last_deltas(timed(body, gfx), published.size());
    for (size_t n = 0; n < published.size(); ++n) {
        CAPTURE(gfx);
        CAPTURE(n);
        CAPTURE(model[n]);
        CHECK(std::abs(static_cast<i64>(model[n]) - static_cast<i64>(published[n])) <= 1);
    }
}

// From the first to the last start of a wave.
u64 starting(const TimedLaunch &l) {
    const auto [first, last] = std::ranges::minmax(l.starts);
    return last - first;
}

} // namespace

TEST_CASE(
    "1,024 one-wave workgroups start within 10 % of the cards' time, all shader engines at once") {
    for (const auto &[gfx, published] : {std::pair("gfx1100", 342), std::pair("gfx1201", 511)}) {
        const u64 took = starting(timed("s_nop 0\n", gfx, {1024, 1, 1}));
        CHECK(static_cast<f64>(took) == doctest::Approx(published).epsilon(0.1));
    }
}

TEST_CASE("waves of a workgroup start a cycle apart, workgroups of four waves without a gap") {
    // Eight to each engine.
    CHECK(starting(timed("s_nop 0\n", "gfx1201", {4 * 8, 1, 1}, {128, 1, 1})) == 31);
}

TEST_CASE("s_nop, s_clause and waits issue 3 after another instruction, n + 1 after an s_nop n") {
    for (const std::string &gfx : both) {
        check_issue("s_mov_b32 s20, 0\n" +
                        std::string("s_nop 1\ns_nop 1\ns_nop 1\ns_mov_b32 s20, 0\n"),
                    gfx, {3, 2, 2, 1});
        check_issue("s_nop 0\ns_nop 0\ns_nop 0\ns_nop 0\n", gfx, {1, 1, 1});
    }
}

TEST_CASE("a carry through VCC goes on without a gap") {
    for (const std::string &gfx : both) {
        const std::string pair = carry + "v_add_co_ci_u32 v4, vcc_lo, 0, v5, vcc_lo\n";
        CHECK(deltas(timed(pair + pair, gfx).executions("v_add_co")).back() == 1);
    }
}

TEST_CASE("a scalar write waits until VALU instructions have read their SGPRs") {
    for (const std::string &gfx : both) {
        check_issue("v_add_u32 v1, s20, v2\ns_mov_b32 s20, 0\n", gfx, {6});
        check_issue("v_add_u32 v1, v3, v2\ns_mov_b32 s20, 0\n", gfx, {1});
    }
}

TEST_CASE("a VALU instruction that writes VCC or an SGPR waits for scalar instructions") {
    for (const std::string &gfx : both)
        check_issue("s_mov_b32 s20, 0\n" + carry, gfx, {8});
}

TEST_CASE("a scalar load waits for scalar instructions, in a clause for none") {
    for (const std::string &gfx : both)
        check_issue("s_load_b32 s20, s[0:1], 0x0\ns_lshl_b32 s21, s22, 5\ns_load_b32 "
                    "s23, s[0:1], 0x4\n",
                    gfx, {1, 9});
}

TEST_CASE("a VALU instruction overwrites addresses 12 cycles after the last of eight loads in two "
          "clauses") {
    for (const std::string &gfx : both) {
        std::string body = "v_mov_b32 v1, 0\nv_mov_b32 v2, s0\nv_mov_b32 v3, s1\ns_clause 2\n";
        for (int n = 0; n < 8; ++n)
            body += fmt::format("{}global_load_b32 v{}, v[2:3], off\n",
                                n == 3 ? "s_clause 4\n" : "", 10 + n);
        check_issue(body + "v_mov_b32 v2, 1\n", gfx, {12});
    }
}

TEST_CASE("slow VALU instructions hold up dispatch at once, TRANS only the next TRANS") {
    check_issue("v_lshlrev_b64 v[2:3], 1, v[4:5]\nv_mov_b32 v1, 0\nv_exp_f32 v6, "
                "v7\nv_exp_f32 v8, v9\nv_mov_b32 v10, 0\n",
                "gfx1201", {2, 1, 4, 1});
}

TEST_CASE("a pseudo-scalar TRANS holds up the next one for a cycle") {
    std::string body;
    for (int n = 0; n < 4; ++n)
        body += fmt::format(
            "v_mov_b32 v20, 0\nv_s_rcp_f32 s20, s12\nv_rcp_f32 v{}, v12\nv_s_exp_f32 s21, s12\n",
            30 + n);
    check_issue(body, "gfx1201", {1, 1, 4, 1, 1, 1, 4, 1, 1, 1, 4});
}

TEST_CASE("eight WMMAs are dispatched at once; then one when one has executed, and the wave waits "
          "with it") {
    std::string body;
    for (int n = 0; n < 10; ++n) {
        const int d = 20 + 16 * n;
        body += fmt::format("v_wmma_{} v[{}:{}], {}, v[{}:{}]\n",
                            n % 2 ? "i32_16x16x16_iu8" : "f32_16x16x16_f16", d, d + 7,
                            n % 2 ? "v[2:3], v[4:5]" : "v[2:5], v[6:9]", d, d + 7);
    }
    check_issue("s_mov_b32 s20, 0\n" + body + "s_mov_b32 s20, 1\n", "gfx1201",
                {1, 1, 1, 1, 1, 1, 1, 24, 8, 16});
}

TEST_CASE("a WMMA that overwrites the D of another one waits for it") {
    const std::string one = "v_wmma_f32_16x16x16_f16 v[20:27], v[2:5], v[6:9], 1.0\n",
                      chain = "v_wmma_f32_16x16x16_f16 v[20:27], v[2:5], v[6:9], v[20:27]\n";
    CHECK(deltas(timed(one + one, "gfx1201").executions("v_wmma"))[0] == 21);
    CHECK(deltas(timed(chain + chain, "gfx1201").executions("v_wmma"))[0] == 16);
}

TEST_CASE("VALU instructions execute in the order of dispatch: a wave's stall is another's") {
    // Wave 0 waits 9 cycles for each of its TRANS results; wave 1's instructions do not overtake.
    std::string body = "v_mov_b32 v1, 0\n";
    for (int n = 0; n < 8; ++n)
        body += "v_exp_f32 v2, v1\nv_add_f32 v1, v2, v2\n";
    const auto one = timed(body, "gfx1201"),
               two = timed(body, "gfx1201", {1, 1, 1}, {32 * 8, 1, 1});
    CHECK(two.result.cycles > one.result.cycles + 60);
}

TEST_CASE("a line of code under way is waited for by all waves of the WGP") {
    TimedLaunch l;
    l.warm = false;
    l.block = {128, 1, 1};
    time({.gfx = "gfx1100", .body = "s_nop 0\n", .lds = 1024}, l);
    std::map<u32, u64> first; // issue, by wave
    for (const timing::IssueEvent &e : l.events)
        first.try_emplace(e.wave, e.issue);
    const auto issues = std::views::values(first);
    REQUIRE(first.size() == 4);
    CHECK(std::ranges::max(issues) - std::ranges::min(issues) <= 4);
}
