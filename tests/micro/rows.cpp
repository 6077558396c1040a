// SPDX-License-Identifier: MIT
// How raw clocks become numbers, the patterns that lanes are given, and reports as files.
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/error.h"
#include "measure/micro/chase.h"
#include "measure/micro/derive.h"
#include "measure/micro/patterns.h"
#include "measure/micro/report.h"

using namespace nw;
using namespace nw::micro;

TEST_CASE("a slope has no part of what it costs to begin and to end") {
    // 21 to read the clock, 30 more before the first step counts, 5 a step; passes 0 and 1 are
    // cold.
    const Row row = derive(
        "x",
        {{0, {90, 21, 21, 21, 21}}, {8, {300, 150, 91, 91, 91}}, {40, {700, 251, 251, 253, 250}}});
    CHECK(row.name == "x");
    CHECK(row.unit == "cycles");
    CHECK(row.value == doctest::Approx(5));
    CHECK(row.low == doctest::Approx((250 - 91) / 32.0));
    CHECK(row.high == doctest::Approx((253 - 91) / 32.0));
    CHECK(row.offset == doctest::Approx(30));
}

TEST_CASE("without a longer run, the time is what lies beyond no step") {
    const Row row = derive("x", {{0, {20, 20}}, {1, {61, 63}}});
    CHECK(row.value == doctest::Approx(42));
    CHECK(row.low == doctest::Approx(41));
    CHECK(row.high == doctest::Approx(43));
    CHECK(row.offset == 0);
}

TEST_CASE("records that are missing are an error that names the measurement") {
    CHECK_THROWS_WITH_AS(derive("v_mov_b32", {{0, {1}}}), doctest::Contains("v_mov_b32"), Error);
    CHECK_THROWS_AS(derive("x", {{8, {1}}, {40, {2}}}), Error);
    CHECK_THROWS_AS(derive("x", {{0, {}}, {8, {}}}), Error);
}

TEST_CASE("lanes are aligned, inside of the room, and apart where they are strided") {
    for (const u32 width : {32u, 64u, 128u})
        for (const Pattern &p : patterns(width)) {
            INFO(width, " ", p.name);
            const std::set<u32> apart(p.at.begin(), p.at.end());
            CHECK(apart.size() == (p.name == "one address" ? 1 : 32));
            for (const u32 at : p.at) {
                CHECK(at % (width / 8) == 0);
                CHECK(at + width / 8 <= 16384);
            }
        }
    CHECK(packed(64).at[31] == 31 * 8);
}

TEST_CASE("the two patterns of eighths are free of conflicts in their own groups of lanes only") {
    const auto conflicts = [](const Pattern &p, std::vector<std::array<u32, 8>> groups) {
        u32 worst = 0;
        for (const auto &lanes : groups) {
            std::array<u32, 8> uses{};
            for (const u32 lane : lanes)
                worst = std::max(worst, ++uses[p.at[lane] / 16 % 8]);
        }
        return worst;
    };
    std::vector<std::array<u32, 8>> by_8, by_4_and_4; // as published for gfx1201 and gfx1100
    for (u32 g = 0; g < 4; ++g)
        by_8.push_back(
            {8 * g, 8 * g + 1, 8 * g + 2, 8 * g + 3, 8 * g + 4, 8 * g + 5, 8 * g + 6, 8 * g + 7});
    for (const auto &[a, b] : {std::pair{0u, 20u}, {4u, 16u}, {8u, 28u}, {12u, 24u}})
        by_4_and_4.push_back({a, a + 1, a + 2, a + 3, b, b + 1, b + 2, b + 3});
    const std::vector<Pattern> all = patterns(128);
    const Pattern &eights = all[all.size() - 2], &fours = all.back();
    CHECK(eights.name == "eighths by 8 lanes");
    CHECK(conflicts(eights, by_8) == 1);
    CHECK(conflicts(eights, by_4_and_4) == 2);
    CHECK(fours.name == "eighths by 4 + 4 lanes");
    CHECK(conflicts(fours, by_4_and_4) == 1);
    CHECK(conflicts(fours, by_8) == 2);
}

TEST_CASE("a walk visits every line once before it comes back") {
    for (const u32 lines : {1u, 2u, 3u, 1000u}) {
        const std::vector<u32> next = next_lines(lines, 7);
        u32 at = 0, steps = 0;
        do {
            REQUIRE(at < lines);
            at = next[at];
        } while (++steps < lines && at != 0);
        CHECK(steps == lines);
        CHECK(at == 0);
    }
    CHECK(next_lines(1000, 7) == next_lines(1000, 7));
    CHECK(next_lines(1000, 7) != next_lines(1000, 8));
}

TEST_CASE("a report comes back as it was written; what is none is named") {
    const std::string path = std::filesystem::temp_directory_path() / "nw_micro_report.json";
    Report report{"sim gfx1151", "gfx1151", true, 4096, {}};
    report.rows.push_back(derive("v_mov_b32 dependent", {{0, {20, 20}}, {1, {61, 63}}}));
    write_report(path, report);
    const Report back = read_report(path);
    CHECK(back.device == report.device);
    CHECK(back.gfx == report.gfx);
    CHECK(back.simulated);
    CHECK(back.bytes == 4096);
    CHECK(back.rows == report.rows);
    REQUIRE(back.find("v_mov_b32 dependent"));
    CHECK(back.find("v_mov_b32 dependent")->value == report.rows[0].value);
    CHECK(back.find("v_mov_b32") == nullptr);

    for (
        const char *text :
        {"", "{}", "[1]", R"({"schema": "nibblewave.micro.v9"})",
         R"({"schema": "nibblewave.micro.v1", "device": 1})",
         R"({"schema": "nibblewave.micro.v1", "device": "d", "gfx": "g", "simulated": true, "bytes": 1, "rows": [{}]})"}) {
        std::ofstream(path) << text;
        INFO(text);
        CHECK_THROWS_WITH_AS(read_report(path), doctest::Contains(path.c_str()), Error);
    }
    std::filesystem::remove(path);
    CHECK_THROWS_WITH_AS(read_report(path), doctest::Contains(path.c_str()), Error);
    CHECK_THROWS_WITH_AS(write_report("/nowhere/x.json", report), doctest::Contains("/nowhere"),
                         Error);
}
