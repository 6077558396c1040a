// SPDX-License-Identifier: MIT
// The VALU in time: published chains (T-050), slow instructions (T-053), WMMA (T-054).
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "sim/timing/run.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

std::string repeated(const std::string &line, u32 times) {
    std::string text;
    for (u32 n = 0; n < times; ++n)
        text += line + "\n";
    return text;
}

// A constant into v1, then n - 1 instructions each of which needs the one before it.
std::string chain(u32 n) { return "v_mov_b32 v1, 1.0\n" + repeated("v_add_f32 v1, v1, v1", n - 1); }

std::vector<u64> execution_deltas(const std::string &body, const std::string &gfx = "gfx1100") {
    TimedLaunch l;
    time({.gfx = gfx, .body = body}, l);
    return deltas(l.executions("v_"));
}

std::vector<u64> sequence(std::vector<u64> first, u64 then, u32 times) {
    first.insert(first.end(), times, then);
    return first;
}

} // namespace

TEST_CASE("cold chains of dependent instructions execute as published") {
    const struct {
        u32 n, fives, nines;
    } published[] = {{5, 2, 1},  {8, 3, 3},  {12, 4, 6}, {15, 5, 8},
                     {16, 6, 8}, {18, 8, 8}, {20, 10, 8}};
    for (const auto &[n, fives, nines] : published) {
        CAPTURE(n);
        CHECK(execution_deltas(chain(n)) == sequence(sequence({6}, 5, fives), 9, nines));
    }
}

TEST_CASE("the queue's back-pressure: the 15th of a chain issues after 3, then one every 5") {
    TimedLaunch l;
    time({.gfx = "gfx1100", .body = chain(20)}, l);
    CHECK(deltas(l.issues("v_")) == sequence(sequence(sequence({}, 1, 13), 3, 1), 5, 5));
}

TEST_CASE("a producer, independents, and its consumer") {
    const u64 published[] = {6, 5, 4, 3, 3, 4, 3, 3, 3, 3};
    for (u32 n = 0; n < std::size(published); ++n) {
        CAPTURE(n);
        std::string body = "v_mov_b32 v1, 1.0\n";
        for (u32 i = 0; i < n; ++i)
            body += fmt::format("v_mov_b32 v{}, 1.0\n", 10 + i);
        const auto d = execution_deltas(body + "v_add_f32 v2, v1, v1\n");
        CHECK(std::abs(static_cast<i64>(d.back()) - static_cast<i64>(published[n])) <= 1);
    }
}

TEST_CASE("independents after a chain keep the pipeline awake") {
    const u64 published[] = {9, 9, 5, 5};
    for (u32 n = 0; n < std::size(published); ++n) {
        CAPTURE(n);
        TimedLaunch l;
        std::string body = chain(5);
        for (u32 i = 0; i < n; ++i)
            body += fmt::format("v_mov_b32 v{}, 1.0\n", 10 + i);
        time({.gfx = "gfx1100", .body = body + "v_add_f32 v2, v1, v1\n"}, l);
        const auto at = l.executions("v_");
        CHECK(at.back() - at[4] == published[n]);
    }
}

TEST_CASE("independent instructions issue and execute one a cycle") {
    std::string body;
    for (u32 i = 0; i < 40; ++i)
        body += fmt::format("v_add_f32 v{}, v40, v41\n", i % 16 + 1);
    TimedLaunch l;
    time({.gfx = "gfx1100",
          .body = "v_mov_b32 v40, 1.0\nv_mov_b32 v41, 1.0\ns_nop 15\ns_nop 15\n" + body},
         l);
    const auto d = deltas(l.executions("v_add"));
    CHECK(d == sequence({}, 1, 39));
    CHECK(deltas(l.issues("v_add")) == sequence({}, 1, 39));
}

TEST_CASE("s_nop between VALU instructions") {
    for (u32 n = 0; n <= 15; ++n) {
        CAPTURE(n);
        const auto d =
            execution_deltas(fmt::format("v_mov_b32 v1, 1.0\ns_nop {}\nv_mov_b32 v2, 1.0\n", n));
        CHECK(d == std::vector<u64>{n + (n >= 11 ? 8u : 4u)});
    }
}

TEST_CASE("s_delay_alu spaces dependent instructions by their latency") {
    const auto pair = execution_deltas(
        "v_mov_b32 v1, 1.0\ns_delay_alu instid0(VALU_DEP_1)\nv_add_f32 v1, v1, v1\n");
    CHECK(pair[0] >= 7);
    CHECK(pair[0] <= 8);
    TimedLaunch l;
    time({.gfx = "gfx1201",
          .body = "v_mov_b32 v1, 1.0\n" +
                  repeated("s_delay_alu instid0(VALU_DEP_1)\nv_add_f32 v1, v1, v1", 30)},
         l);
    const auto d = deltas(l.issues("v_add"));
    CHECK(std::count(d.begin(), d.end(), 5) == static_cast<i64>(d.size()));
}

TEST_CASE("TRANS") {
    const auto independent = execution_deltas(
        "v_exp_f32 v1, v40\nv_exp_f32 v2, v40\nv_exp_f32 v3, v40\nv_exp_f32 v4, v40");
    CHECK(independent == std::vector<u64>{4, 4, 4});
    const auto chained = execution_deltas(repeated("v_exp_f32 v1, v1", 4));
    CHECK(chained.front() == 9);
    const auto to_valu = execution_deltas("v_exp_f32 v1, v40\nv_add_f32 v2, v1, v1");
    CHECK(to_valu == std::vector<u64>{13});
    const auto beside = execution_deltas("v_mov_b32 v40, 1.0\ns_nop 15\ns_nop 15\nv_exp_f32 v1, "
                                         "v40\nv_mov_b32 v2, 1.0\nv_mov_b32 v3, 1.0\n");
    CHECK(beside[1] <= 2);
    CHECK(beside[2] == 1);
}

TEST_CASE("instructions that keep the VALU") {
    const struct {
        const char *text;
        u64 interval;
    } published[] = {{"v_lshlrev_b64 v[2:3], 1, v[40:41]", 2},
                     {"v_mad_u64_u32 v[2:3], null, v40, v41, v[42:43]", 4},
                     {"v_add_f64 v[2:3], v[40:41], v[42:43]", 32},
                     {"v_add_f32 v2, v40, v41", 1}};
    for (const auto &[text, interval] : published) {
        CAPTURE(text);
        const auto d = execution_deltas(repeated(text, 8));
        CHECK(d.back() == interval);
    }
}

TEST_CASE("WMMA: interval, bank clash, chain, what waits for D") {
    const auto interval = [](const std::string &gfx, const std::string &text) {
        return execution_deltas(repeated(text, 12), gfx).back();
    };
    const std::string f16 = "v_wmma_f32_16x16x16_f16 v[0:7], v[16:23], v[25:32], v[0:7]",
                      clash = "v_wmma_f32_16x16x16_f16 v[0:7], v[16:23], v[24:31], v[0:7]",
                      iu8 = "v_wmma_i32_16x16x16_iu8 v[0:7], v[16:19], v[21:24], v[0:7]",
                      iu4 = "v_wmma_i32_16x16x16_iu4 v[0:7], v[16:17], v[21:22], v[0:7]";
    CHECK(interval("gfx1100", f16) == 32);
    CHECK(interval("gfx1151", clash) == 34);
    CHECK(interval("gfx1151", iu8) == 32);
    CHECK(interval("gfx1100", iu4) == 16);
    CHECK(interval("gfx1201", "v_wmma_f32_16x16x16_f16 v[0:7], v[16:19], v[20:23], v[0:7]") == 16);
    CHECK(interval("gfx1201", "v_wmma_i32_16x16x16_iu8 v[0:7], v[16:17], v[20:21], v[0:7]") == 8);
    const auto to_valu = execution_deltas(f16 + "\nv_add_f32 v40, v0, v0\n");
    CHECK(to_valu[0] == 47);
    // Whatever comes beside it comes on top of it.
    const auto beside =
        execution_deltas(repeated(f16 + "\nv_mov_b32 v40, 1.0\nv_mov_b32 v41, 1.0", 12));
    const size_t n = beside.size();
    CHECK(beside[n - 1] + beside[n - 2] + beside[n - 3] == 34);
}
