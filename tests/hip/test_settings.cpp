// SPDX-License-Identifier: MIT
// host/hip: simulated devices with settings of their own, several in one process.
#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

#include "hip/hip.h"

using namespace nw;

namespace {

std::string code_path(const hip::Device &device) {
    return NW_BUILD_DIR "/tests/hip/code/basic_" + device.info().gfx + ".hsaco";
}

bool contains(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

// Time of a launch whose workgroups add 1 to the same words: a race, unless there is only one.
f32 increment(const hip::Device &device, u32 workgroups) {
    const hip::Module module = device.load(code_path(device));
    hip::Buffer words = device.allocate(128);
    words.fill(0);
    const void *const argument = words.data();
    const hip::Event begin = device.event(), end = device.event();
    device.record(begin);
    device.launch(module.function("increment"), workgroups, 32, 0,
                  std::as_bytes(std::span(&argument, 1)));
    device.record(end);
    device.synchronize();
    return device.elapsed_ms(begin, end);
}

std::string error_of(const auto &body) {
    try {
        body();
    } catch (const hip::Error &error) {
        return error.what();
    }
    return "no error";
}

} // namespace

TEST_CASE("two devices of one process differ in target, time and checks") {
    const hip::Device timed("sim:gfx1151?timing=on&stats=on"), plain("sim:gfx1201?timing=off"),
        checked("sim:gfx1151?check=race&timing=off");
    CHECK_EQ(timed.info().gfx, "gfx1151");
    CHECK_EQ(timed.info().label, "sim gfx1151");
    CHECK_EQ(timed.info().spec, "sim:gfx1151?timing=on&stats=on");
    CHECK_EQ(plain.info().gfx, "gfx1201");
    CHECK_GT(increment(timed, 2), 0.0f);
    CHECK_EQ(increment(plain, 2), 0.0f);
    CHECK_EQ(increment(checked, 1), 0.0f);
    CHECK(contains(error_of([&] { increment(checked, 2); }), "hipErrorLaunchFailure"));
    CHECK_GT(increment(timed, 2), 0.0f); // a fault is its own device's

    const std::vector<std::string> lines = timed.take_stats();
    REQUIRE_EQ(lines.size(), 2);
    CHECK(contains(lines[0], R"("kernel":"increment","gfx":"gfx1151")"));
    CHECK(contains(lines[0], R"("time_us":)"));
    CHECK(timed.take_stats().empty());
    CHECK(plain.take_stats().empty());
}

TEST_CASE("the part of a device goes with its name") {
    const hip::Device first("sim:gfx1201?timing=on&stats=on&part=9070 XT"),
        second("sim:gfx1201?timing=on&stats=on&part=R9700");
    increment(first, 1);
    increment(second, 1);
    CHECK(contains(first.take_stats().at(0), R"("part":"9070 XT")"));
    CHECK(contains(second.take_stats().at(0), R"("part":"R9700")"));
}

TEST_CASE("a part's name stands for its gfx, too") {
    const hip::Device device("sim:R9700?timing=on&stats=on");
    CHECK_EQ(device.info().gfx, "gfx1201");
    CHECK_EQ(device.info().spec, "sim:gfx1201?part=R9700&timing=on&stats=on");
    increment(device, 1);
    CHECK(contains(device.take_stats().at(0), R"("part":"R9700")"));
    CHECK_EQ(hip::Device("sim:6800 XT").info().gfx, "gfx1030");
    CHECK_EQ(hip::Device::own("sim:5700 XT").info().spec, "sim:gfx1010?part=5700 XT");

    const auto refused = [](const char *spec) {
        return error_of([&] { const hip::Device none(spec); });
    };
    CHECK(contains(refused("sim:R9701"), "device sim:R9701: the simulated targets are gfx"));
    CHECK(contains(refused("sim:R9701"), "or a part of them, as in sim:"));
    CHECK(contains(refused("sim:R9700?part=9070 XT"), "part is set twice"));
}

TEST_CASE("what a gfx's constants are follows HIPSIM_PART") {
    const auto part_of = [](const char *name) {
        const std::string json = hip::part_constants(name);
        return json.substr(json.rfind(R"("gfx")")); // keys are sorted: gfx, part
    };
    const std::string usual = part_of("gfx1201");
    setenv("HIPSIM_PART", "6800,R9700", 1);
    const std::string chosen = part_of("gfx1201"), other = part_of("gfx1151");
    unsetenv("HIPSIM_PART");
    CHECK_FALSE(contains(usual, "R9700"));
    CHECK(contains(chosen, "R9700"));
    CHECK_FALSE(contains(other, "R9700"));
}

TEST_CASE("a device has the workgroup processors and the name of its part, timed or not") {
    for (const std::string timing : {"on", "off"}) {
        const std::string spec = "sim:gfx1030?timing=" + timing;
        const hip::DeviceInfo usual = hip::Device::own(spec).info(),
                              smaller = hip::Device::own(spec + "&part=6800 XT").info();
        CHECK_EQ(usual.wgps, 40);
        CHECK_EQ(smaller.wgps, 36);
        CHECK_EQ(smaller.name, "AMD Radeon RX 6800 XT (sim)");
    }
}

TEST_CASE("a device replays its launches under draws of the constants, if it is told to") {
    const hip::Device plain = hip::Device::own("sim:gfx1151?timing=on&stats=on"),
                      drawn = hip::Device::own("sim:gfx1151?timing=on&stats=on&uncertainty=3");
    CHECK_EQ(increment(plain, 4), increment(drawn, 4));
    CHECK(!contains(plain.take_stats().at(0), "draws_us"));
    const std::string line = drawn.take_stats().at(0);
    for (const char *key : {R"("time_low_us":)", R"("time_high_us":)", R"("draws_us":[)"})
        CHECK(contains(line, key));
}

TEST_CASE("with cold=weights and warm=code the first launch takes as long as the next") {
    const hip::Device usual = hip::Device::own("sim:gfx1151?timing=on"),
                      fair = hip::Device::own("sim:gfx1151?timing=on&cold=weights&warm=code");
    const f32 fair_first = increment(fair, 2), usual_first = increment(usual, 2);
    CHECK_EQ(increment(fair, 2), fair_first);
    CHECK_LT(fair_first, usual_first);
}

TEST_CASE("defaults hold where the spec has no such setting") {
    CHECK_GT(increment(hip::Device("sim:gfx1151", "timing=on"), 1), 0.0f);
    CHECK_EQ(increment(hip::Device("sim:gfx1151?timing=off", "timing=on"), 1), 0.0f);
}

TEST_CASE("the same words are the same device, a device of one's own is none of them") {
    const hip::Device a("sim:gfx1151?threads=1"), b("sim:gfx1151?threads=1");
    const hip::Device own = hip::Device::own("sim:gfx1151?threads=1");
    hip::Buffer memory = a.allocate(4);
    memory.fill(0);
    const hip::Module of_b = b.load(code_path(b)), of_own = own.load(code_path(own));
    const void *const argument = memory.data();
    const auto add = [&](const hip::Device &device, const hip::Module &module) {
        device.launch(module.function("increment"), 1, 1, 0,
                      std::as_bytes(std::span(&argument, 1)));
        device.synchronize();
    };
    add(b, of_b);
    CHECK(contains(error_of([&] { add(own, of_own); }), "hipErrorIllegalAddress"));
}

TEST_CASE("each of one's own begins with cold caches, on as many threads as there are") {
    constexpr u32 count = 6;
    f32 ms[count] = {};
    {
        std::vector<std::jthread> threads;
        for (f32 &own : ms)
            threads.emplace_back(
                [&own] { own = increment(hip::Device::own("sim:gfx1151?timing=on"), 1); });
    }
    CHECK_GT(ms[0], 0.0f);
    for (f32 other : ms)
        CHECK_EQ(other, ms[0]);
}

TEST_CASE("hipsimPartConstants gives a part's constants as JSON, and names those that there are") {
    const std::string json = hip::part_constants("8060S");
    CHECK(contains(json, "\"part\":"));
    CHECK(contains(json, "\"dram_gb_per_s\""));
    CHECK(contains(error_of([] { hip::part_constants("9999X"); }), "9999X"));
}

TEST_CASE("settings that mean nothing are refused with what there is") {
    const auto refused = [](const std::string &spec, const std::string &part) {
        const std::string text = error_of([&] { hip::Device device(spec); });
        CHECK_MESSAGE(contains(text, part), text);
        CHECK_MESSAGE(contains(text, spec), text);
    };
    refused("sim:gfx1151?speed=high", "speed=high: no setting of a device");
    refused("sim:gfx1151?timing", "timing: no setting of a device; they are name=value");
    refused("sim:gfx1151?timing=on&timing=off", "timing is set twice");
    refused("sim:gfx1151?timing=maybe", "timing=maybe: neither on, exact nor off");
    refused("sim:gfx1151?check=foo",
            "foo is not one of off, mem, mem:strict, init, init:local, wait, race, all");
    refused("sim:gfx1151?math=quick", "neither exact nor fast");
    refused("sim:gfx1151?threads=many", "threads=many: not a number from 0 (all cores) to 1024");
    refused("sim:gfx1151?choices=sr_carry=no", "sr_carry=carry, wrap");
    refused("sim:gfx1151?stats=yes", "neither on nor off");
    refused("sim:gfx1151?uncertainty=65", "uncertainty=65: not a number from 0 (no draws) to 64");
    refused("sim:gfx1151?cold=code", "cold=code: neither weights nor off");
    refused("sim:gfx1151?warm=on", "warm=on: neither code nor off");
    refused("sim:gfx1151?part=9999X", "9999X is not one of 7900 XTX");
    refused("sim:gfx1151?timing=on&part=7900 XTX", "it is gfx1100, the device gfx1151");
    refused("sim:gfx1151?timing=on&profile=/no/such/profile", "/no/such/profile");
    refused("sim:gfx90a?timing=on", "the simulated targets are");
    CHECK(contains(error_of([] { hip::Device::own("hip:0"); }), "only a simulated one"));
}
