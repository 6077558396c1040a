// SPDX-License-Identifier: MIT
// Whether a figure is worse: the comparison behind the gate.
#include "bench/golden/golden.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
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

TEST_CASE("a row is a kernel on the targets that agree; series are named as a whole") {
    Golden other = before;
    other["a"]["vgprs"] = 71;
    const GoldenOfAll all = {
        {"gfx1010", other}, {"gfx1151", before}, {"gfx1200", before}, {"gfx1201", before}};
    CHECK(to_text(all) ==
          "[\n"
          "[\"a\", \"gfx1010\", {\"lds_bytes\": 0, \"slots\": 10, \"vgprs\": 71, "
          "\"waves_per_simd\": 12}],\n"
          "[\"a\", \"gfx1151 gfx120x\", {\"lds_bytes\": 0, \"slots\": 10, \"vgprs\": 76, "
          "\"waves_per_simd\": 12}],\n"
          "[\"b\", \"gfx1010 gfx1151 gfx120x\", {\"slots\": 7, \"us 2048x2048\": 13.25}]\n"
          "]\n");
}

TEST_CASE("what is written is read again; a file that is none says how to write it") {
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("nw_golden_{}", getpid())).string();
    const GoldenOfAll all = {{"gfx1100", before}, {"gfx1200", before}, {"gfx1201", before}};
    std::ofstream(path) << to_text(all);
    CHECK(read_golden(path) == all);
    for (const char *text : {"{", "[[\"a\"]]", "[1]"}) {
        std::ofstream(path) << text;
        CHECK_THROWS_WITH_AS(read_golden(path), doctest::Contains("--update-golden"), Error);
    }
    std::filesystem::remove(path);
    CHECK_THROWS_WITH_AS(read_golden(path), doctest::Contains("--update-golden"), Error);
}

TEST_CASE("the file of the repository is as it would be written") {
    const std::string path = NW_SOURCE_DIR "/bench/golden/golden.json";
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(to_text(read_golden(path)) == text);
}
