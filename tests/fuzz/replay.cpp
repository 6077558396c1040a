// SPDX-License-Identifier: MIT
// The corpus and damaged code objects, through the functions that libFuzzer drives.
#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "base/types.h"
#include "fuzz/targets.h"

using namespace nw;
namespace fs = std::filesystem;

namespace {

std::vector<std::byte> bytes_of(const fs::path &path) {
    std::ifstream in(path, std::ios::binary);
    REQUIRE_MESSAGE(in, path.string());
    const std::vector<char> chars(std::istreambuf_iterator<char>(in), {});
    std::vector<std::byte> bytes(chars.size());
    if (!chars.empty())
        std::memcpy(bytes.data(), chars.data(), chars.size());
    return bytes;
}

std::vector<std::byte> code_object(const char *gfx) {
    return bytes_of(std::string(NW_BUILD_DIR "/tests/hip/code/basic_") + gfx + ".hsaco");
}

// The file as it is, its beginnings, and copies with a few bits flipped: of those half in the
// headers, where they do most.
template <class Use> void damage(const std::vector<std::byte> &file, unsigned flips, Use &&use) {
    use(file);
    for (size_t size = 0; size < file.size(); size += size < 256 ? 1 : 97)
        use(std::vector(file.begin(), file.begin() + static_cast<long>(size)));
    std::mt19937 random(11);
    for (unsigned round = 0; round < flips; ++round) {
        auto broken = file;
        const size_t reach = round % 2 ? broken.size() : std::min<size_t>(1024, broken.size());
        for (unsigned n = 1 + random() % 4; n; --n)
            broken[random() % reach] ^= static_cast<std::byte>(1u << random() % 8);
        use(broken);
    }
}

} // namespace

TEST_CASE("what fuzzing found stays fixed") {
    for (const fuzz::Target &target : fuzz::targets) {
        size_t files = 0;
        for (const auto &entry :
             fs::directory_iterator(fs::path(NW_SOURCE_DIR "/tests/fuzz/corpus") / target.name)) {
            CAPTURE(entry.path().string());
            CHECK_NOTHROW(target.run(bytes_of(entry.path())));
            ++files;
        }
        CHECK_MESSAGE(files > 0, "corpus/" << target.name << " is empty");
    }
}

TEST_CASE("damaged code objects") {
    for (const char *gfx : {"gfx1100", "gfx1201"})
        damage(code_object(gfx), 150, [](const auto &file) {
            CHECK_NOTHROW(fuzz::code_object(file));
            CHECK_NOTHROW(fuzz::bundle(file));
        });
}

TEST_CASE("metadata nested a million deep") {
    for (const unsigned char opening : {0x91, 0x81}) { // an array of one, a map of one
        std::vector<std::byte> msgpack(1 << 20, std::byte{opening});
        if (opening == 0x81) // its key: an empty string
            for (size_t at = 1; at < msgpack.size(); at += 2)
                msgpack[at] = std::byte{0xa0};
        CHECK_NOTHROW(fuzz::metadata(msgpack));
    }
}
