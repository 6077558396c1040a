// SPDX-License-Identifier: MIT
// host/hip: which device a spec means, and the owning handles, on simulated devices.
#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/targets.h"
#include "hip/hip.h"

using namespace nw;

namespace {

std::string code_path(std::string_view gfx) {
    return NW_BUILD_DIR "/tests/hip/code/basic_" + std::string(gfx) + ".hsaco";
}

struct IotaArgs {
    void *out;
    i32 first;
    u32 n;
};

template <class T> std::span<const std::byte> bytes_of(const T &value) {
    return std::as_bytes(std::span(&value, 1));
}

std::vector<i32> iota(const hip::Device &device, i32 first, u32 n, const hip::Module &module,
                      const hip::Stream &stream = {}) {
    hip::Buffer out = device.allocate(n * sizeof(i32));
    const IotaArgs args{out.data(), first, n};
    device.launch(module.function("iota"), 1, 256, 0, bytes_of(args), stream);
    std::vector<i32> got(n);
    out.download(got.data(), out.size());
    return got;
}

// The text of the hip::Error that `body` throws.
template <class Body> std::string error_of(Body &&body) {
    try {
        body();
    } catch (const hip::Error &error) {
        return error.what();
    }
    return "no error";
}

bool contains(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("auto takes a supported GPU, else the simulated gfx1151, and says so in one line") {
    unsetenv("NIBBLEWAVE_DEVICE");
    const hip::Device device;
    const hip::DeviceInfo &info = device.info();
    REQUIRE_FALSE(info.note.empty());
    CHECK_EQ(info.note.find('\n'), std::string::npos);
    if (info.simulated) {
        CHECK_EQ(info.spec, "sim:gfx1151");
        CHECK_EQ(info.label, "sim gfx1151");
        CHECK(contains(info.note, ": using the simulated gfx1151"));
        CHECK(
            (contains(info.note, "no libamdhip64") || contains(info.note, "no supported AMD GPU")));
    } else {
        CHECK(contains(info.spec, "hip:"));
    }
    CHECK_GT(info.wgps, 0);
    CHECK_GT(info.memory_bytes, 0);
}

TEST_CASE("all targets, one after the other, in one process") {
    i32 first = 1;
    for (const Target &target : targets()) {
        const std::string_view gfx = target.name;
        CAPTURE(gfx);
        const hip::Device device("sim:" + std::string(gfx));
        CHECK_EQ(device.info().gfx, gfx);
        CHECK_EQ(device.info().spec, "sim:" + std::string(gfx));
        CHECK(device.info().simulated);
        CHECK(device.info().note.empty());
        const hip::Module module = device.load(code_path(gfx));
        CHECK_EQ(iota(device, first, 3, module), std::vector<i32>{first, first + 1, first + 2});
        ++first;
    }
    CHECK_EQ(targets().size(), static_cast<std::size_t>(first - 1));
    CHECK_FALSE(targets().empty());
}

TEST_CASE("two devices side by side keep their own memory and code") {
    const hip::Device a("sim:gfx1100"), b("sim:gfx1201");
    const hip::Module code_a = a.load(code_path("gfx1100")), code_b = b.load(code_path("gfx1201"));
    CHECK_EQ(iota(a, 10, 2, code_a), std::vector<i32>{10, 11});
    CHECK_EQ(iota(b, 20, 2, code_b), std::vector<i32>{20, 21});
    CHECK_EQ(iota(a, 30, 2, code_a), std::vector<i32>{30, 31});
    CHECK(contains(error_of([&] { a.load(code_path("gfx1201")); }), "hipErrorNoBinaryForGpu"));
}

TEST_CASE("the environment is as before once a simulated device is open") {
    setenv("HIPSIM_ARCH", "gfx1102", 1);
    const hip::Device device("sim:gfx1103");
    CHECK_EQ(std::string(getenv("HIPSIM_ARCH")), "gfx1102");
    unsetenv("HIPSIM_ARCH");
}

TEST_CASE("NIBBLEWAVE_DEVICE is the default") {
    setenv("NIBBLEWAVE_DEVICE", "sim:gfx1200", 1);
    CHECK_EQ(hip::Device().info().spec, "sim:gfx1200");
    CHECK_EQ(hip::Device("sim:gfx1150").info().spec, "sim:gfx1150"); // the request takes precedence
    unsetenv("NIBBLEWAVE_DEVICE");
}

TEST_CASE("specs that name no device") {
    const auto refused = [](const char *spec, const char *part) {
        const std::string text = error_of([&] { hip::Device device(spec); });
        CHECK_MESSAGE(contains(text, part), text);
        CHECK_MESSAGE(contains(text, spec), text);
    };
    refused("gpu", "auto, hip:N and sim:gfxNNNN");
    refused("sim:gfx90a", "gfx1100, gfx1101");
    refused("sim:", "gfx1201");
    refused("hip:", "hip:0");
    refused("hip:x", "hip:0");
    refused("hip:-1", "hip:0");
    refused("hip:1000", "");
}

TEST_CASE("an error carries HIP's name, its number and the call") {
    const hip::Device device("sim:gfx1151");
    try {
        device.load(std::string("no/such/file.hsaco"));
        FAIL("loaded a file that does not exist");
    } catch (const hip::Error &error) {
        CHECK_EQ(error.code, 301);
        CHECK_EQ(error.name, "hipErrorFileNotFound");
        CHECK_EQ(error.call, "hipModuleLoad");
        CHECK_EQ(std::string(error.what()),
                 "hipModuleLoad(no/such/file.hsaco): hipErrorFileNotFound (301)");
    }
    const hip::Module module = device.load(code_path("gfx1151"));
    CHECK(contains(error_of([&] { module.function("nothing"); }),
                   "hipModuleGetFunction(nothing): hipErrorNotFound (500)"));
    CHECK(contains(error_of([&] { device.launch(hip::Function{}, 1, 32, 0, {}); }),
                   "hipErrorInvalidHandle"));
    CHECK(contains(error_of([&] { device.allocate(u64{1} << 60); }), "hipErrorOutOfMemory"));
}

TEST_CASE("images from memory") {
    const hip::Device device("sim:gfx1151");
    std::ifstream file(code_path("gfx1151"), std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(file), {}};
    const hip::Module module = device.load(std::as_bytes(std::span(image)));
    CHECK_EQ(iota(device, 5, 1, module), std::vector<i32>{5});
}

TEST_CASE("images from memory that end too early are never handed on") {
    const hip::Device device("sim:gfx1151");
    std::ifstream file(code_path("gfx1151"), std::ios::binary);
    const std::string elf{std::istreambuf_iterator<char>(file), {}};
    const auto text = [](auto... words) {
        std::string all;
        (all.append(reinterpret_cast<const char *>(&words), sizeof words), ...);
        return all;
    };
    const std::string name = "hipv4-amdgcn-amd-amdhsa--gfx1151";
    const u64 start = 4096;
    std::string bundle =
        "__CLANG_OFFLOAD_BUNDLE__" + text(u64{1}, start, u64{elf.size()}, u64{name.size()}) + name;
    bundle.resize(start);
    bundle += elf;
    const std::string compressed = "CCOB" + text(u16{2}, u16{1}, u32{100}, u32{200}, u64{0});
    const auto refused = [&](std::string_view image) {
        const std::vector<char> exact(image.begin(), image.end()); // nothing behind its end
        CHECK(contains(error_of([&] { device.load(std::as_bytes(std::span(exact))); }),
                       "its headers declare"));
    };
    for (const std::string &whole : {elf, bundle})
        for (u64 bytes = 0; bytes < whole.size(); bytes += bytes < 100 ? 1 : whole.size() / 61)
            refused(std::string_view(whole).substr(0, bytes));
    refused(std::string_view(elf).substr(0, elf.size() - 1));
    refused(compressed);
    const hip::Module module = device.load(std::as_bytes(std::span(bundle)));
    CHECK_EQ(iota(device, 5, 1, module), std::vector<i32>{5});
    const std::string nonsense(100, 'x');
    CHECK(contains(error_of([&] { device.load(std::as_bytes(std::span(nonsense))); }),
                   "hipErrorInvalidImage"));
}

TEST_CASE("buffers: bounds, fill, offsets, moves") {
    const hip::Device device("sim:gfx1151");
    hip::Buffer buffer = device.allocate(8);
    buffer.fill(0x11);
    const u16 two = 0x2222;
    buffer.upload(&two, sizeof two, 6);
    u64 all = 0;
    buffer.download(&all, sizeof all);
    CHECK_EQ(all, 0x2222111111111111);
    CHECK(contains(error_of([&] { buffer.upload(&all, 8, 1); }),
                   "8 bytes at offset 1 of a buffer of 8"));
    CHECK(contains(error_of([&] { buffer.download(&all, 1, 9); }), "offset 9"));
    CHECK(contains(error_of([&] { buffer.download(&all, ~u64{0}, 1); }), "offset 1"));

    hip::Buffer moved = std::move(buffer);
    moved.download(&all, sizeof all);
    CHECK_EQ(all, 0x2222111111111111);
    moved = device.allocate(4);
    CHECK_EQ(moved.size(), 4);
    hip::Buffer empty = device.allocate(0);
    empty.fill(1);
    CHECK_EQ(empty.data(), nullptr);
}

TEST_CASE("streams and events") {
    const hip::Device device("sim:gfx1151");
    const hip::Module module = device.load(code_path("gfx1151"));
    const hip::Stream stream = device.stream();
    const hip::Event start = device.event(), stop = device.event();
    device.record(start, stream);
    CHECK_EQ(iota(device, 1, 2, module, stream), std::vector<i32>{1, 2});
    device.record(stop, stream);
    CHECK_EQ(device.elapsed_ms(start, stop), 0.0f); // the simulator has no modelled time yet
    stream.synchronize();
    device.synchronize();
    hip::Stream other = device.stream();
    other = device.stream();
    hip::Stream taken = std::move(other);
    taken.synchronize();
}

TEST_CASE("a kernel's fault is the next wait's error, and the device lives on") {
    const hip::Device device("sim:gfx1151");
    const hip::Module module = device.load(code_path("gfx1151"));
    const IotaArgs args{nullptr, 0, 1};
    device.launch(module.function("iota"), 1, 32, 0, bytes_of(args));
    CHECK(contains(error_of([&] { device.synchronize(); }), "hipErrorIllegalAddress (700)"));
    CHECK_EQ(iota(device, 8, 1, module), std::vector<i32>{8});
}
