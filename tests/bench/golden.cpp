// SPDX-License-Identifier: MIT
// What counts as worse: the comparison behind the gate.
#include "bench/golden/golden.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

#include "base/error.h"

using namespace nw;
using namespace nw::bench;

namespace {

using Lines = std::vector<std::string>;

const Golden before = {
    {"a", {{"slots", 10}, {"vgprs", 76}, {"lds_bytes", 0}, {"waves_per_simd", 12}}},
    {"b", {{"slots", 7}, {"us 2048x2048", 13.25}}}};

GoldenChanges with(const std::string &symbol, const std::string &figure, f64 value) {
    Golden now = before;
    now[symbol][figure] = value;
    return compare(before, now, 2);
}

} // namespace

TEST_CASE("nothing changed, or by no more than the tolerance") {
    CHECK(compare(before, before, 2).none());
    CHECK(with("a", "slots", 10.19).none());
    CHECK(with("a", "slots", 9.81).none());
    CHECK(with("b", "us 2048x2048", 13.4).none());
}

TEST_CASE("more is worse, and of waves less") {
    CHECK(with("a", "slots", 10.5).worse == Lines{"a: slots 10 -> 10.5, +5.0 %"});
    CHECK(with("b", "us 2048x2048", 14).worse.size() == 1);
    CHECK(with("a", "lds_bytes", 1024).worse == Lines{"a: lds_bytes 0 -> 1024, +100.0 %"});
    CHECK(with("a", "waves_per_simd", 10).worse == Lines{"a: waves_per_simd 12 -> 10, -16.7 %"});
    CHECK(with("a", "waves_per_simd", 16).better.size() == 1);
    CHECK(with("a", "vgprs", 70).better == Lines{"a: vgprs 76 -> 70, -7.9 %"});
    CHECK(with("a", "vgprs", 70).worse.empty());
}

TEST_CASE("kernels and figures that come and go are said") {
    Golden now = before;
    now.erase("a");
    now["c"] = {};
    now["b"].erase("slots");
    now["b"]["vgprs"] = 3;
    const GoldenChanges changes = compare(before, now, 2);
    CHECK(changes.gone == Lines{"a", "b: slots"});
    CHECK(changes.added == Lines{"b: vgprs", "c"});
    CHECK(changes.worse.empty());
}

TEST_CASE("what is written is read again; a file that is none says how to write it") {
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("nw_golden_{}", getpid())).string();
    std::ofstream(path) << to_text("gfx1151", before);
    CHECK(read_golden(path) == before);
    std::ofstream(path) << "{";
    CHECK_THROWS_WITH_AS(read_golden(path), doctest::Contains("--update-golden"), Error);
    std::filesystem::remove(path);
    CHECK_THROWS_WITH_AS(read_golden(path), doctest::Contains("--update-golden"), Error);
}
