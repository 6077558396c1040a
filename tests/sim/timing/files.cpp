// SPDX-License-Identifier: MIT
// The files that timed launches write, where their limits are: what the commands write is tested in
// tests/nw.
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <unistd.h>

#include "sim/timing/files/trace_file.h"
#include "sim/timing/run.h"
#include "sim/timing/sampling/series.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;
using namespace nw::sim::timing;

namespace {

struct Path {
    std::string name = std::string(NW_BUILD_DIR) + "/timing_files_" + std::to_string(getpid());
    ~Path() { std::filesystem::remove(name); }
};

nlohmann::json trace_of(const std::string &path, TraceLimits limits, u32 launches,
                        std::vector<std::string> &said) {
    const auto program = load({.body = "s_nop 0\ns_nop 0\ns_nop 0\n"});
    TraceFile file(
        path, [&](const std::string &text) { said.push_back(text); }, limits);
    const Device &device = *find_device("gfx1151");
    Memory memory;
    Timing model(device, *default_part("gfx1151"), costs_for("gfx1151"));
    const u64 arguments[2] = {reinterpret_cast<u64>(memory.allocate(64)), 0};
    Dispatch d;
    d.program = program.get();
    d.kernel = program->find_kernel("test");
    d.block = {64, 1, 1};
    d.kernarg = std::as_bytes(std::span(arguments));
    for (u32 n = 0; n < launches; ++n)
        model.run(d, memory, {}, true, file.watch(d, model.part()).get());
    std::ifstream in(path);
    return nlohmann::json::parse(in);
}

size_t count(const nlohmann::json &trace, const std::string &category) {
    size_t n = 0;
    for (const auto &event : trace["traceEvents"])
        n += event.value("cat", "") == category;
    return n;
}

} // namespace

TEST_CASE("a trace holds what it may of each launch and of all") {
    const Path path;
    std::vector<std::string> said;
    const auto whole = trace_of(path.name, {}, 3, said);
    CHECK(said.empty());
    const size_t each = count(whole, "instruction") / 3; // of two waves
    CHECK(count(whole, "wave") == 6);
    CHECK(whole["otherData"]["instructions_left_out"] == 0);

    const auto launch = trace_of(path.name, {.of_launch = 8}, 3, said);
    CHECK(said.size() == 1); // once for all launches
    CHECK(count(launch, "launch") == 3);
    CHECK(count(launch, "wave") == 3);
    CHECK(count(launch, "instruction") > 3);
    CHECK(launch["otherData"]["instructions_left_out"] == 3 * each - count(launch, "instruction"));

    said.clear();
    const auto file = trace_of(path.name, {.of_file = 8}, 3, said);
    CHECK(said.size() == 1);
    CHECK(count(file, "wave") == 1); // of the first launch
    CHECK(file["otherData"]["launches"] == 3);
    CHECK(file["otherData"]["instructions_left_out"] == 3 * each - count(file, "instruction"));
}

TEST_CASE("a series keeps its sums when its steps widen") {
    Series s;
    s.add(0, 100, 2);
    s.add(50, 7.0);
    CHECK(s.at(0) * static_cast<f64>(s.step()) == doctest::Approx(64));
    for (u64 end : {u64{10'000}, u64{1'000'000}, u64{123'456'789}}) {
        s.add(end - 10, end, 3);
        f64 sum = 0;
        for (size_t n = 0; n < s.size(); ++n)
            sum += s.at(n) * static_cast<f64>(s.step());
        const f64 expected = 207 + 30 * (end == 10'000 ? 1 : end == 1'000'000 ? 2 : 3);
        CHECK(sum == doctest::Approx(expected));
        CHECK(s.size() <= Series::most);
        CHECK(s.size() * s.step() >= end);
        CHECK((s.size() - 1) * s.step() < end);
    }
}
