// SPDX-License-Identifier: MIT
// base/hipsim.h: devices that HIP doesn't enumerate.
#include "base/hipsim.h"

#include "hip/common.h"

using namespace hip_test;

static std::string last_message() { return hipsimLastMessage(); }

TEST_CASE("an opened device is for every call that takes one, and isn't counted") {
    int before = 0, after = 0, ordinal = 0, again = 0;
    OK(hipGetDeviceCount(&before));
    CHECK_EQ(hipsimOpenDevice("gfx1100?timing=on", nullptr, 0, &ordinal), hipSuccess);
    CHECK_EQ(hipsimOpenDevice("gfx1100?timing=on", nullptr, 0, &again), hipSuccess);
    CHECK_EQ(ordinal, again);
    OK(hipGetDeviceCount(&after));
    CHECK_EQ(before, after);
    CHECK_GE(ordinal, after);

    int *shared = nullptr; // host memory from before is everybody's
    OK(hipHostMalloc(reinterpret_cast<void **>(&shared), 128, hipHostMallocDefault));
    OK(hipSetDevice(ordinal));
    {
        Code code;
        Ints own(32, 5);
        OK(launch(code["increment"], 32, nullptr, own.data));
        OK(launch(code["increment"], 32, nullptr, shared));
        CHECK_EQ(own.get(), std::vector<int>(32, 6));
    }
    OK(hipSetDevice(0));
    OK(hipHostFree(shared));
    CHECK_EQ(hipsimCloseDevice(ordinal), hipErrorInvalidDevice); // it is anybody's
}

TEST_CASE("one of its own goes when it is closed") {
    int first = 0, second = 0;
    CHECK_EQ(hipsimOpenDevice("gfx1100", "stats=on", 1, &first), hipSuccess);
    CHECK_EQ(hipsimOpenDevice("gfx1100", "stats=on", 1, &second), hipSuccess);
    CHECK_NE(first, second);
    OK(hipSetDevice(first));
    {
        Code code;
        Ints own(32, 5);
        OK(launch(code["increment"], 32, nullptr, own.data));
    }
    std::vector<std::string> lines;
    const auto add = [](const char *line, void *to) {
        static_cast<std::vector<std::string> *>(to)->emplace_back(line);
    };
    CHECK_EQ(hipsimTakeStats(first, add, &lines), hipSuccess);
    CHECK_EQ(hipsimTakeStats(second, add, &lines), hipSuccess);
    REQUIRE_EQ(lines.size(), 1);
    CHECK_EQ(lines[0].find(R"({"kernel":"increment","gfx":"gfx1100")"), 0);

    CHECK_EQ(hipsimCloseDevice(first), hipSuccess);
    CHECK_EQ(hipsimCloseDevice(first), hipErrorInvalidDevice);
    CHECK_EQ(hipsimTakeStats(first, add, &lines), hipErrorInvalidDevice);
    void *memory = nullptr;
    FAILS(hipMalloc(&memory, 4), hipErrorInvalidDevice); // the thread's device is gone
    FAILS(hipSetDevice(first), hipErrorInvalidDevice);
    OK(hipSetDevice(0));
    CHECK_EQ(hipsimCloseDevice(second), hipSuccess);
}

TEST_CASE("what an opened device can't have is told") {
    int ordinal = 0;
    CHECK_EQ(hipsimOpenDevice("gfx9", nullptr, 0, &ordinal), hipErrorInvalidValue);
    CHECK_NE(last_message().find("the simulated targets are gfx"), std::string::npos);
    CHECK_EQ(hipsimOpenDevice("gfx1100?math=no", nullptr, 0, &ordinal), hipErrorInvalidValue);
    CHECK_EQ(last_message(), "math=no: neither exact nor fast");
    CHECK_EQ(hipsimOpenDevice("gfx1100", nullptr, 0, nullptr), hipErrorInvalidValue);
    CHECK_EQ(hipsimCloseDevice(0), hipErrorInvalidDevice);
}
