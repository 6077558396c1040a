// SPDX-License-Identifier: MIT
// host/hip where HIP does what cards are reported to do wrong, and the list of such versions.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>

#include "hip/hip.h"
#include "hip/known_faults.h"
#include "hip/library.h"

using namespace nw;

namespace {

constexpr u64 piece = u64{2} << 20; // of host/hip/staging.h

std::vector<u8> numbers(u64 bytes) {
    std::vector<u8> out(bytes);
    for (u64 i = 0; i < bytes; ++i)
        out[i] = static_cast<u8>(1 + i % 251);
    return out;
}

// Uploads of these sizes, one after the other, arrive.
void check_uploads(const hip::Device &device, std::initializer_list<u64> sizes) {
    for (const u64 bytes : sizes) {
        CAPTURE(bytes);
        const std::vector<u8> here = numbers(bytes);
        std::vector<u8> back(bytes);
        hip::Buffer there = device.allocate(bytes);
        there.upload(here.data(), bytes);
        there.download(back.data(), bytes);
        CHECK(here == back);
    }
}

// The same of copies that a stream has queued, whose source changes at once.
void check_queued(const hip::Device &device, u64 bytes, u64 copies) {
    CAPTURE(bytes);
    hip::Staging<hip::EntryPoints> staging(device.library()->call());
    const hip::Stream stream = device.stream();
    hip::Buffer there = device.allocate(bytes * copies);
    std::vector<u8> source = numbers(bytes), back(bytes * copies);
    for (u64 i = 0; i < copies; ++i) {
        source[0] = static_cast<u8>(i);
        CHECK_EQ(staging.queue(static_cast<u8 *>(there.data()) + i * bytes, source.data(), bytes,
                               static_cast<hipStream_t>(stream.handle())),
                 hipSuccess);
        std::ranges::fill(source, u8{0xee});
        source = numbers(bytes);
    }
    stream.synchronize();
    there.download(back.data(), back.size());
    u64 wrong = 0;
    for (u64 i = 0; i < copies; ++i) {
        source[0] = static_cast<u8>(i);
        wrong += std::memcmp(&back[i * bytes], source.data(), bytes) != 0;
    }
    CHECK_EQ(wrong, 0);
    staging.release();
}

// As `increment` of tests/hip/kernels/basic.s.
hip::Module module_of(const hip::Device &device) {
    return device.load(NW_BUILD_DIR "/tests/hip/code/basic_" + device.info().gfx + ".hsaco");
}

std::string rows_of(const hip::Platform &platform) {
    std::string out;
    for (const hip::KnownFault &fault : hip::known_faults(platform))
        out += std::string(out.empty() ? "" : " ") + fault.row;
    return out;
}

} // namespace

TEST_CASE("an upload arrives where HIP's staging loses copies") {
    const hip::Device device("sim:gfx1100?choices=staged_copies=lost");
    check_uploads(device,
                  {1, 4, 64, 32, 4, 65, 192, 4096, 100, piece, piece + 1, 3 * piece + 5, 8});
    check_queued(device, 32, 100);
    check_queued(device, 100'000, 50); // through both pieces, several times
    check_queued(device, 2 * piece + 3, 3);
}

TEST_CASE("a graph has what was copied before it") {
    const hip::Device device("sim:gfx1100?choices=graph_copies=after");
    const hip::Module module = module_of(device);
    const hip::Function increment = module.function("increment");
    const hip::Stream stream = device.stream();
    hip::Buffer word = device.allocate(4);
    const hip::HostBuffer input = device.allocate_host(4);
    const void *const argument = word.data();
    const hip::Graph graph = device.capture(stream, [&] {
        device.launch(increment, 1, 1, 0, std::as_bytes(std::span(&argument, 1)), stream);
    });
    for (i32 value : {7, 20, 41}) {
        std::memcpy(input.data(), &value, 4);
        device.copy(word, input, 4, stream);
        device.launch(graph, stream);
        stream.synchronize();
        i32 got = 0;
        word.download(&got, 4);
        CHECK_EQ(got, value + 1);
    }
}

TEST_CASE("versions that are known to be wrong, by row of A-030") {
    using hip::Platform;
    CHECK_EQ(rows_of({}), "");
    CHECK_EQ(rows_of({.gfx = "gfx1151", .hip = 70'226'015, .system = "6.18.2", .mes = 0x80}),
             "1 3 4");
    CHECK_EQ(rows_of({.gfx = "gfx1151", .hip = 70'226'015, .system = "6.17.4-200.fc43"}),
             "1 3 4 18");
    CHECK_EQ(rows_of({.gfx = "gfx1151", .system = "6.17.0-1004-oem"}), "");
    CHECK_EQ(rows_of({.gfx = "gfx1151", .system = "6.14.0-1004-oem"}), "18");
    CHECK_EQ(rows_of({.gfx = "gfx1151", .system = "7.1.0", .mes = 0x83}), "18");
    CHECK_EQ(rows_of({.gfx = "gfx1201", .hip = 70'226'015, .system = "6.8.0"}), "4 5 8");
    CHECK_EQ(rows_of({.gfx = "gfx1201", .hip = 71'600'000}), "5");
    CHECK_EQ(rows_of({.gfx = "gfx1030", .hip = 70'200'000}), "1 4 9");
    CHECK_EQ(rows_of({.gfx = "gfx1100", .hip = 60'300'000, .system = "7.0.0-28-generic"}),
             "1 3 11");
    CHECK_EQ(rows_of({.gfx = "gfx1012", .hip = 100'000'000}), "1 17");
    CHECK_EQ(hip::hip_version_text(70'226'015), "7.2.26015");
    const auto faults = hip::known_faults({.gfx = "gfx1151", .system = "6.17.4"});
    CHECK_EQ(faults.at(0).text,
             "Linux 6.17.4 saves too few registers of gfx1151 when it preempts a "
             "kernel: hangs, wrong results; take Linux 6.18, or an OEM kernel "
             "6.17");
}
