// SPDX-License-Identifier: MIT
// Code objects good and bad: whatever the bytes, BadImage or a program, never a crash.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "sim/assemble.h"
#include "sim/func/executable/executable.h"
#include "sim/isa/code.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

std::string error_of(std::span<const std::byte> image, const std::string &gfx) {
    try {
        Program::load(image, gfx);
    } catch (const BadImage &e) {
        return e.what();
    }
    return "";
}

bool has(const std::string &text, const std::string &part) {
    bool found = text.find(part) != text.npos;
    CHECK_MESSAGE(found, "no '" << part << "' in: " << text);
    return found;
}

std::string source(const std::string &gfx) {
    KernelText k;
    k.gfx = gfx;
    k.debug = true;
    k.kernarg = 24;
    k.lds = 512;
    k.body = "  v_add_f32 v1, v2, v3\n  v_mov_b32 v4, 0x12345678";
    return kernel_source(k) + R"(
.amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: test
    .symbol: test.kd
    .kernarg_segment_size: 24
    .group_segment_fixed_size: 512
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 32
    .sgpr_count: 22
    .vgpr_count: 64
    .max_flat_workgroup_size: 256
    .args:
      - { .name: x, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 4, .value_kind: by_value }
      - { .offset: 16, .size: 4, .value_kind: hidden_block_count_x }
...
.end_amdgpu_metadata
.data
.globl answer
.p2align 3
.type answer,@object
answer: .quad answer
.size answer, 8
)";
}

} // namespace

TEST_CASE("descriptor, metadata, globals and relocations") {
    for (const std::string &gfx : all_gfx) {
        CAPTURE(gfx);
        auto program = Program::load(assemble(gfx, source(gfx)), gfx);
        REQUIRE(program->kernels().size() == 1);
        const KernelInfo *k = program->find_kernel("test");
        REQUIRE(k);
        CHECK(k->kernarg_bytes == 24);
        CHECK(k->lds_bytes == 512);
        CHECK(k->max_workgroup == 256);
        CHECK(k->wave_size == 32);
        CHECK(k->vgprs == 64);
        CHECK(k->has_metadata);
        REQUIRE(k->args.size() == 3);
        CHECK(k->args[0].name == "x");
        CHECK(k->args[0].value_kind == "global_buffer");
        CHECK(k->args[2].offset == 16);
        CHECK(program->find_kernel("nothing") == nullptr);
        const Global *answer = program->find_global("answer");
        REQUIRE(answer);
        u64 value;
        std::memcpy(&value, reinterpret_cast<const void *>(answer->address), 8);
        CHECK(value == answer->address); // R_AMDGPU_RELATIVE64
        CHECK(program->source_line(k->entry).starts_with("test.s:"));
        const Code &code = program->code(32);
        u32 first = code.find(k->entry);
        REQUIRE(first != Code::none);
        CHECK(code.instructions[first].x.mnemonic == "s_load_b64");
    }
}

TEST_CASE("what is wrong is said") {
    auto image = assemble("gfx1100", source("gfx1100"));
    has(error_of(image, "gfx1151"), "is for gfx1100 (e_flags), the device is gfx1151");
    has(error_of({}, "gfx1151"), "not an ELF file");
    std::vector<std::byte> text(100, std::byte{'x'});
    has(error_of(text, "gfx1151"), "not an ELF file");
    has(error_of(std::span(image).first(60), "gfx1100"), "truncated at byte 60");
    auto other = image;
    other[18] = std::byte{62}; // x86-64
    has(error_of(other, "gfx1100"), "machine 62");
}

TEST_CASE("code of GCN and of other generations is refused, that of a target's generic runs") {
    const std::string end = ".text\n.globl f\n.type f,@function\nf:\n  s_endpgm\n";
    for (const char *device : {"gfx1010", "gfx1030", "gfx1100"})
        for (const char *gfx : {"gfx803", "gfx900", "gfx906", "gfx90a", "gfx942", "gfx1012",
                                "gfx1031", "gfx1101", "gfx1200", "gfx9-generic"})
            has(error_of(assemble(gfx, end), device),
                std::string("(e_flags), the device is ") + device);
    for (const auto &[gfx, device] : {std::pair("gfx10-1-generic", "gfx1010"),
                                      {"gfx10-1-generic", "gfx1012"},
                                      {"gfx10-3-generic", "gfx1030"},
                                      {"gfx10-3-generic", "gfx1036"}})
        CHECK(error_of(assemble(gfx, end), device) == "");
    has(error_of(assemble("gfx10-1-generic", end), "gfx1030"), "is for gfx10-1-generic");
    has(error_of(assemble("gfx10-3-generic", end), "gfx1010"), "is for gfx10-3-generic");
}

TEST_CASE("every truncation is a BadImage or a program") {
    auto image = assemble("gfx1151", source("gfx1151"));
    size_t refused = 0;
    for (size_t size = 0; size < image.size(); size += size < 512 ? 1 : 13)
        refused += !error_of(std::vector(image.begin(), image.begin() + static_cast<long>(size)),
                             "gfx1151")
                        .empty();
    CHECK(refused > 100);
}

TEST_CASE("flipped bits are a BadImage or a program that can be decoded") {
    auto image = assemble("gfx1151", source("gfx1151"));
    std::mt19937 random(7);
    size_t refused = 0, decoded = 0;
    for (int round = 0; round < 1500; ++round) {
        auto broken = image;
        for (unsigned n = 1 + random() % 4; n; --n)
            broken[random() % (round % 2 ? broken.size() : 1024)] ^=
                static_cast<std::byte>(1u << random() % 8);
        try {
            auto program = Program::load(broken, "gfx1151");
            for (const KernelInfo &k : program->kernels()) {
                program->source_line(k.entry);
                if (round % 8 == 0)
                    decoded += executable(*program, k.wave_size).insts.size() > 0;
            }
        } catch (const BadImage &) {
            ++refused;
        }
    }
    CHECK(refused > 50);
    CHECK(decoded > 20);
}
