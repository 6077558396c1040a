// SPDX-License-Identifier: MIT
// Device memory that nothing has written is uninitialised for HIPSIM_CHECK=init: as it is after an
// allocation, as copies and fills make it, and again when it is freed and allocated.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "hip/hip.h"

using namespace nw;

namespace {

constexpr u64 bytes = 128; // of the words of `increment`, which a wave reads and writes

struct Checked {
    explicit Checked(const char *checks = "init")
        : device(hip::Device::own(std::string("sim:gfx1151?check=") + checks)),
          module(device.load(NW_BUILD_DIR "/tests/hip/code/basic_gfx1151.hsaco")) {}

    // Whether the kernel may read them all.
    bool reads(const hip::Buffer &words) const {
        const void *const argument = words.data();
        try {
            device.launch(module.function("increment"), 1, 32, 0,
                          std::as_bytes(std::span(&argument, 1)));
            device.synchronize();
        } catch (const hip::Error &) {
            return false;
        }
        return true;
    }

    hip::Device device;
    hip::Module module;
};

} // namespace

TEST_CASE("memory is uninitialised until something writes it") {
    {
        const Checked c;
        CHECK(!c.reads(c.device.allocate(bytes)));
    }
    {
        const Checked c;
        hip::Buffer words = c.device.allocate(bytes);
        words.fill(0);
        CHECK(c.reads(words));
        CHECK(c.reads(words)); // what the kernel wrote
    }
    {
        const Checked c("init:local");
        CHECK(c.reads(c.device.allocate(bytes)));
    }
}

TEST_CASE("a copy writes its bytes, and no others") {
    const std::vector<u32> zeros(bytes / 4);
    {
        const Checked c;
        hip::Buffer words = c.device.allocate(bytes);
        words.upload(zeros.data(), bytes);
        CHECK(c.reads(words));
    }
    {
        const Checked c;
        hip::Buffer words = c.device.allocate(bytes);
        words.upload(zeros.data(), bytes - 8);
        words.upload(zeros.data(), 7, bytes - 8);
        CHECK(!c.reads(words));
    }
}

TEST_CASE("a copy within the device takes over what is there") {
    for (const bool whole : {false, true}) {
        const Checked c;
        hip::Buffer from = c.device.allocate(bytes), to = c.device.allocate(bytes);
        const std::vector<u32> zeros(bytes / 4);
        from.upload(zeros.data(), whole ? bytes : bytes / 2);
        c.device.copy(to, from, bytes, c.device.stream());
        c.device.synchronize();
        CHECK_EQ(c.reads(to), whole);
    }
}

TEST_CASE("memory that is freed and allocated again is new") {
    const Checked c;
    const void *first = nullptr;
    {
        hip::Buffer words = c.device.allocate(bytes);
        words.fill(0);
        first = words.data();
    }
    CHECK(first != nullptr);
    CHECK(!c.reads(c.device.allocate(bytes)));
}
