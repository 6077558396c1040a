// SPDX-License-Identifier: MIT
// Device services (kernels/services.hip): printf, the heap, grid sync, queues.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/hipsim.h"
#include "hip/common.h"

using namespace hip_test;

// Newer than the oldest headers that we build with.
extern "C" hipError_t launch_cooperative(hipFunction_t, unsigned, unsigned, unsigned, unsigned,
                                         unsigned, unsigned, unsigned, hipStream_t,
                                         void **) asm("hipModuleLaunchCooperativeKernel");

namespace {

// Captures the program's output while it lives.
class CapturedStdout {
public:
    CapturedStdout() {
        std::fflush(stdout);
        char name[] = "/tmp/hip_test_XXXXXX";
        file_ = mkstemp(name);
        unlink(name);
        saved_ = dup(1);
        dup2(file_, 1);
    }
    ~CapturedStdout() {
        std::fflush(stdout);
        dup2(saved_, 1);
        close(saved_);
        close(file_);
    }
    std::string text() { // of launches that have ended: no flush here
        std::string all(1 << 20, '\0');
        const ssize_t bytes = pread(file_, all.data(), all.size(), 0);
        all.resize(bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
        return all;
    }

private:
    int saved_, file_;
};

// test_rocm_services.py has other builds of the kernels.
std::string code_folder() {
    const char *const other = std::getenv("NW_SERVICE_CODE");
    return other ? other : NW_BUILD_DIR "/tests/hip/code";
}

struct ServiceCode {
    explicit ServiceCode(const std::string &gfx = "gfx1151", const std::string &name = "services") {
        const std::string path = code_folder() + "/" + name + "_" + gfx + ".hsaco";
        OK(hipModuleLoad(&module, path.c_str()));
    }
    ~ServiceCode() { static_cast<void>(hipModuleUnload(module)); }
    hipFunction_t operator[](const char *name) const {
        hipFunction_t function = nullptr;
        OK(hipModuleGetFunction(&function, module, name));
        return function;
    }
    hipModule_t module = nullptr;
};

template <class... Args>
hipError_t run(hipFunction_t function, unsigned grid, unsigned block, hipStream_t stream,
               Args... args) {
    void *params[] = {&args..., nullptr};
    const hipError_t error =
        hipModuleLaunchKernel(function, grid, 1, 1, block, 1, 1, 0, stream, params, nullptr);
    return error ? error : hipStreamSynchronize(stream);
}
template <class... Args>
hipError_t cooperate(hipFunction_t function, unsigned grid, unsigned block, Args... args) {
    void *params[] = {&args..., nullptr};
    const hipError_t error =
        launch_cooperative(function, grid, 1, 1, block, 1, 1, 0, nullptr, params);
    return error ? error : hipDeviceSynchronize();
}

std::vector<std::string> lines_of(const std::string &text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

// Not all libraries compile for all targets (test_rocm_services.py).
bool is_built(const std::string &spec) {
    const std::string gfx = spec.substr(0, spec.find('?'));
    return std::filesystem::exists(code_folder() + "/services_" + gfx + ".hsaco");
}

// Text that kernels may read.
struct DeviceText {
    explicit DeviceText(const std::string &text) {
        OK(hipMalloc(reinterpret_cast<void **>(&data), text.size() + 1));
        OK(hipMemcpy(data, text.c_str(), text.size() + 1, hipMemcpyHostToDevice));
    }
    ~DeviceText() { static_cast<void>(hipFree(data)); }
    char *data = nullptr;
};

bool has(const std::string &text, const std::string &part) {
    const bool found = text.find(part) != std::string::npos;
    if (!found)
        MESSAGE(text);
    return found;
}

} // namespace

// Kernels call it. Any function of this process will do.
void count_up(unsigned long long *out, const unsigned long long *in) {
    out[0] = in[0] + in[6];
    out[1] = in[1] * in[2];
}

TEST_CASE("printf has all formats, as in C") {
    char expected[2048];
    const char *const text =
        "a text that is longer than the 56 bytes of a packet, so it comes in parts";
    std::snprintf(expected, sizeof expected,
                  "%d|%5d|%-5d|%05d|%+d|%u|%x|%#X|%o\n"
                  "%lld %llu %lx %d %d %zu\n"
                  "%f %.2f %10.3e %g %a %G\n"
                  "ok %s [%10s] [%-6.2s] %%\n"
                  "[%*d] [%-*d] [%.*f] [%*.*f]\n"
                  "|0x1234|no arguments\n"
                  "plain\n",
                  -7, 42, 42, 42, 42, 4000000000u, 255u, 255u, 8u, -5000000000ll,
                  18000000000000000000ull, 1ul << 40, 4464, 44, std::size_t{9}, 1.5, 2.345,
                  12345.678, 1e-7, 1.0, 1e20, text, "right", "left", 6, 42, 6, 42, 3, 3.14159, 8, 2,
                  2.71828);
    for (const char *spec :
         {"gfx1151", "gfx1100?check=all", "gfx1201?check=all", "gfx1151?timing=on"}) {
        CAPTURE(spec);
        if (!is_built(spec))
            continue;
        const OwnDevice device(spec);
        const ServiceCode code(device.gfx);
        const DeviceText sent(text);
        const Ints written(1);
        CapturedStdout printed;
        OK(run(code["formats"], 1, 1, nullptr, sent.data, written.data));
        CHECK_EQ(printed.text(), expected);
        CHECK_EQ(written.get()[0], static_cast<int>(std::string(expected).find('\n') + 1));
    }
}

TEST_CASE("printf of all lanes: every message whole, workgroups in order") {
    const ServiceCode code;
    constexpr unsigned groups = 40, lanes = 96;
    CapturedStdout printed;
    OK(run(code["every_lane"], groups, lanes, nullptr));
    const auto lines = lines_of(printed.text());
    REQUIRE_EQ(lines.size(), groups * lanes);
    for (unsigned n = 0; n < lines.size(); ++n)
        REQUIRE_EQ(lines[n], std::to_string(n / lanes) + "." + std::to_string(n % lanes));
}

TEST_CASE("lanes may print different numbers of messages") {
    const ServiceCode code;
    CapturedStdout printed;
    OK(run(code["some_lanes"], 1, 64, nullptr, 2));
    auto lines = lines_of(printed.text());
    CHECK_EQ(lines.size(), 16 * (0 + 1 + 2 + 2));
    std::ranges::sort(lines);
    CHECK(std::ranges::unique(lines).empty());
}

TEST_CASE("output of a stream's launches is in their order") {
    const ServiceCode code;
    const OwnStream stream(hipStreamNonBlocking);
    CapturedStdout printed;
    std::string expected;
    for (int n = 0; n < 5; ++n) {
        OK(launch(code["every_lane"], 3, stream));
        OK(launch(code["every_lane"], 2, stream));
        expected += "0.0\n0.1\n0.2\n0.0\n0.1\n";
    }
    OK(hipStreamSynchronize(stream));
    CHECK_EQ(printed.text(), expected);
}

TEST_CASE("messages for stderr; strings of any length") {
    const ServiceCode code;
    for (const std::size_t length : {0, 1, 55, 56, 57, 112, 5000}) {
        const std::string text(length, 'x');
        const DeviceText sent(text);
        CapturedStderr said;
        OK(run(code["to_stderr"], 1, 32, nullptr, sent.data,
               static_cast<unsigned long long>(length + 1)));
        CHECK_EQ(said.text(), text);
    }
}

TEST_CASE("a failed check prints its message, then the launch is aborted") {
    const ServiceCode code;
    const OwnStream stream(hipStreamNonBlocking), other(hipStreamNonBlocking);
    CapturedStdout printed;
    CapturedStderr said;
    OK(run(code["checked"], 2, 32, stream, 64));
    CHECK_EQ(printed.text(), "");
    FAILS(run(code["checked"], 2, 32, stream, 63), hipErrorLaunchFailure);
    CHECK_EQ(printed.text(), "item 63 is not below 63\n");
    CHECK(has(said.text(), "the kernel aborted itself with s_trap 2"));
    OK(run(code["every_lane"], 1, 1, other)); // a new buffer, after the damaged one
    CHECK_EQ(printed.text(), "item 63 is not below 63\n0.0\n");
}

TEST_CASE("malloc and free in kernels") {
    // Not race: ROCm's heap hands memory from wave to wave by relaxed atomics.
    for (const char *spec : {"gfx1151?check=mem,init,wait", "gfx1100", "gfx1100?timing=on"}) {
        CAPTURE(spec);
        if (!is_built(spec))
            continue;
        const OwnDevice device(spec);
        const ServiceCode code(device.gfx);
        constexpr int groups = 6, lanes = 64, words = 50;
        const Ints sums(groups * lanes);
        OK(run(code["fill_and_free"], groups, lanes, nullptr, sums.data, words));
        const auto got = sums.get();
        for (int n = 0; n < groups * lanes; ++n)
            REQUIRE_EQ(got[n], words * n * 1000 + words * (words - 1) / 2);
    }
}

TEST_CASE("an exhausted heap gives null") {
    const ServiceCode code;
    const Ints got(1);
    std::size_t free_before = 0, free_after = 0, total = 0;
    OK(hipMemGetInfo(&free_before, &total));
    constexpr unsigned long long piece = 1ull << 30;
    const int most = static_cast<int>(total / piece);
    OK(run(code["exhaust"], 1, 1, nullptr, piece, most + 10, got.data));
    CHECK_LE(got.get()[0], most);
    OK(run(code["exhaust"], 1, 1, nullptr, 1ull << 60, 10, got.data));
    CHECK_EQ(got.get()[0], 0);
    OK(run(code["exhaust"], 1, 1, nullptr, 2ull << 20, 10, got.data)); // slabs
    CHECK_EQ(got.get()[0], 10);
    OK(hipMemGetInfo(&free_after, &total));
    CHECK_LE(free_before - free_after, std::size_t{64} << 20); // all of them are free again
}

TEST_CASE("errors of kernels with their heap are named") {
    const ServiceCode code;
    CapturedStderr said;
    FAILS(run(code["past_the_end"], 1, 1, nullptr, 4096), hipErrorIllegalAddress);
    CHECK(has(said.text(), "malloc in a kernel, 4096 bytes"));
    FAILS(run(code["free_twice"], 1, 1, nullptr), hipErrorLaunchFailure);
    CHECK(has(said.text(), "hidden_hostcall_buffer: free(0x"));
    OK(run(code["past_the_end"], 1, 1, nullptr, 4095));
}

TEST_CASE("a kernel calls a function of the host") {
    const ServiceCode code;
    const Ints out(2 * 2 * 40);
    const auto function = reinterpret_cast<unsigned long long>(&count_up);
    OK(run(code["call_host"], 1, 40, nullptr, function, out.data));
    const auto got = out.get();
    for (int n = 0; n < 40; ++n) {
        REQUIRE_EQ(got[4 * n], n + 7);
        REQUIRE_EQ(got[4 * n + 2], 2 * 3);
    }
    CapturedStderr said;
    FAILS(run(code["call_host"], 1, 1, nullptr, 0x1234ull, out.data), hipErrorLaunchFailure);
    CHECK(
        has(said.text(), "hidden_hostcall_buffer: the kernel calls the host's function at 0x1234"));
}

TEST_CASE("grid sync: reductions over many workgroups") {
    for (const char *spec : {"gfx1151", "gfx1100?check=all", "gfx1201", "gfx1151?timing=on"}) {
        CAPTURE(spec);
        if (!is_built(spec))
            continue;
        const OwnDevice device(spec);
        const ServiceCode code(device.gfx);
        const Ints data(5000, 3), sum(1);
        for (const unsigned groups : {1u, 2u, 7u, 20u}) {
            OK(hipMemsetD32(data.data, 3, data.count));
            OK(cooperate(code["reduce"], groups, 64, data.data, static_cast<int>(data.count),
                         sum.data));
            CHECK_EQ(sum.get()[0], 15000);
        }
    }
}

TEST_CASE("an endless grid sync is a named fault") {
    const ServiceCode code;
    for (const int rounds : {0, 3}) {
        CapturedStderr said;
        FAILS(cooperate(code["sync_unless_first"], 5, 64, rounds), hipErrorLaunchTimeOut);
        CHECK(has(said.text(),
                  "endless grid sync: 4 of 5 workgroups wait for the whole grid, 1 have ended"));
    }
    const Ints data(64, 1), sum(1);
    OK(cooperate(code["reduce"], 4, 32, data.data, 64, sum.data));
    CHECK_EQ(sum.get()[0], 64);
}

TEST_CASE("grid sync outside of a cooperative launch: the missing service is named") {
    const ServiceCode code;
    const Ints out(1);
    CapturedStderr said;
    OK(run(code["valid"], 1, 1, nullptr, out.data));
    CHECK_EQ(out.get()[0], 0);
    OK(cooperate(code["valid"], 1, 1, out.data));
    CHECK_EQ(out.get()[0], 1);
    FAILS(run(code["sync_unless_first"], 2, 32, nullptr, 1), hipErrorIllegalAddress);
    CHECK(has(said.text(), "hidden_multigrid_sync_arg (not a cooperative launch)"));
}

TEST_CASE("dispatch packet and queue; a queue of the device that isn't there") {
    const ServiceCode code;
    const Ints out(3);
    OK(run(code["packet"], 3, 64, nullptr, out.data));
    CHECK_EQ(out.get(), std::vector<int>{64, 3 * 64, 0x10000});
    CapturedStderr said;
    FAILS(run(code["default_queue"], 1, 1, nullptr, out.data), hipErrorIllegalAddress);
    CHECK(has(said.text(), "hidden_default_queue (device-side enqueue is not simulated)"));
    FAILS(run(code["completion_action"], 1, 1, nullptr, out.data), hipErrorIllegalAddress);
    CHECK(has(said.text(), "hidden_completion_action"));
}

TEST_CASE("buffered printf of HIP and of OpenCL") {
    for (const char *spec : {"gfx1151", "gfx1100?check=all", "gfx1201?timing=on"}) {
        CAPTURE(spec);
        if (!is_built(spec))
            continue;
        const OwnDevice device(spec);
        const ServiceCode hip(device.gfx, "buffered"), opencl(device.gfx, "opencl");
        const DeviceText text("some text"), format("format %u of the device\n");
        CapturedStdout printed;
        OK(run(hip["buffered"], 2, 2, nullptr, text.data, format.data));
        std::string expected;
        for (const char *item : {"0", "1", "2", "3"})
            expected += std::string(item) + ": some text, x 0.500 -5000000000 100%\n";
        auto lines = lines_of(printed.text());
        std::ranges::sort(lines);
        CHECK_EQ(lines.back(), "format 7 of the device");
        lines.pop_back();
        CHECK_EQ(lines, lines_of(expected));

        float *vector = nullptr;
        OK(hipMalloc(reinterpret_cast<void **>(&vector), 16));
        const float values[] = {1, -2.5f, 3, 1e3f};
        OK(hipMemcpy(vector, values, sizeof values, hipMemcpyHostToDevice));
        CapturedStdout again;
        OK(run(opencl["opencl"], 1, 1, nullptr, vector, static_cast<unsigned short>(0x05fb)));
        CHECK_EQ(again.text(), "1.0,-2.5,3.0,1000.0 a:42\n-5,5 texts \"1099511627776\"\n");
        OK(hipFree(vector));
    }
}

TEST_CASE("buffered printf, full: what is in it is printed, in order, and the loss is said") {
    const OwnDevice device("gfx1151");
    const ServiceCode hip("gfx1151", "buffered");
    std::string printed, said;
    hipError_t error;
    {
        CapturedStdout out;
        CapturedStderr complaints;
        error = run(hip["overflow"], 1, 32, nullptr, 100u); // messages have 12 bytes or more
        printed = out.text(), said = complaints.text();
    }
    CAPTURE(said);
    OK(error);
    const auto lines = lines_of(printed);
    REQUIRE_GT(lines.size(), 1);
    CHECK_LE(lines.size(), 1 + 100 / 12);
    CHECK_EQ(lines.front(), "first");
    for (std::size_t n = 1; n < lines.size(); ++n)
        CHECK_EQ(lines[n], std::to_string(n - 1));
    CHECK(has(said, "the printf buffer has 1073741816 bytes and is full: what came later is lost"));
}
