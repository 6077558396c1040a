// SPDX-License-Identifier: MIT
// Formats of typed buffers: the table against LLVM's names, conversions by hand.
#include <doctest/doctest.h>

#include <array>
#include <string>

#include "sim/func/memory/formats.h"
#include "sim/isa/code.h"

using namespace nw;
using namespace nw::sim;

namespace {

const BufferFormat &format_of(unsigned code) {
    return *find_buffer_format(code, Generation::gfx11);
}

void same_as_llvm(const std::string &gfx, u32 formats) {
    constexpr u32 tbuffer_load_x = 0xe8000000, soffset_zero = 0x80000000;
    const Generation generation = target_of(gfx).generation;
    std::vector<std::array<u32, 5>> encodings;
    for (u32 code = 0; code <= formats; ++code)
        encodings.push_back({tbuffer_load_x | code << 19, soffset_zero, 0, 0, 0});
    auto decoded = disassemble_each(encodings, gfx, 32);
    CHECK(find_buffer_format(0, generation) == nullptr);
    CHECK(find_buffer_format(formats + 1, generation) == nullptr);
    CHECK(find_buffer_format(1, generation)->name == "8_UNORM"); // LLVM leaves it out
    for (u32 code = 2; code <= formats; ++code) {
        const BufferFormat *f = find_buffer_format(code, generation);
        CAPTURE(gfx);
        CAPTURE(decoded[code].text);
        REQUIRE(f);
        CHECK(decoded[code].text.find("[BUF_FMT_" + std::string(f->name) + "]") !=
              std::string::npos);
        // Sizes in the name, highest component first.
        std::string bits;
        for (unsigned c = f->components(); c-- > 0;)
            bits += std::to_string(f->bits[c]) + "_";
        CHECK(f->name.starts_with(bits));
    }
}

} // namespace

TEST_CASE("codes and names are LLVM's") {
    same_as_llvm("gfx1151", 63);
    same_as_llvm("gfx1010", 77);
    same_as_llvm("gfx1030", 77);
}

TEST_CASE("conversions") {
    const BufferFormat &unorm8 = format_of(1), &snorm8 = format_of(2), &uscaled16 = format_of(9),
                       &sint8 = format_of(6), &float11 = format_of(30), &float32 = format_of(22),
                       &float16 = format_of(13);
    CHECK(load_component(unorm8, 0, 255) == 0x3f800000);
    CHECK(load_component(unorm8, 0, 1) == 0x3b808081); // 1 / 255
    CHECK(load_component(snorm8, 0, 0x80) == 0xbf800000);
    CHECK(load_component(snorm8, 0, 0x81) == 0xbf800000);
    CHECK(load_component(uscaled16, 0, 3) == 0x40400000);
    CHECK(load_component(sint8, 0, 0xfe) == 0xfffffffe);
    CHECK(load_component(float11, 0, 15 << 6) == 0x3f800000);
    CHECK(load_component(float11, 2, 15 << 5 | 1) == 0x3f840000);
    CHECK(load_component16(float32, 0, 0x3f803fff) == 0x3c01); // truncated
    CHECK(load_component16(unorm8, 0, 128) == 0x3804);         // 0.50196, to nearest
    CHECK(store_component(unorm8, 0, 0x3f000000) == 128);      // 127.5, to even
    CHECK(store_component(unorm8, 0, 0xbf800000) == 0);
    CHECK(store_component(unorm8, 0, 0x7fc00000) == 0);
    CHECK(store_component(snorm8, 0, 0xc0000000) == 0x81);
    CHECK(store_component(sint8, 0, 300) == 127);
    CHECK(store_component(sint8, 0, static_cast<u32>(-300)) == 0x80);
    CHECK(store_component(float16, 0, 0x3f803fff) == 0x3c01);
    CHECK(store_component(float11, 0, 0x3f800000) == 15 << 6);
    CHECK(store_component(float11, 0, 0xbf800000) == 0);
}
