// SPDX-License-Identifier: MIT
// GGUF files: valid ones, every inconsistency, and damage that must not crash the reader.
#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <random>

#include "base/error.h"
#include "formats/gguf/gguf.h"
#include "formats/gguf_file.h"

using namespace nw;
using test::GgufBytes;
using test::GgufWriter;

namespace {

constexpr u32 q4_K = 12, q8_0 = 8, f32_id = 0;

// A little of everything.
GgufWriter small_file() {
    GgufWriter w;
    w.text("general.architecture", "llama");
    w.number<u32>("llama.block_count", GgufType::u32, 2);
    w.array("tokenizer.ggml.tokens", GgufType::string, 3,
            [](GgufBytes &b) { b.string("<s>").string("").string("\xff\xfe"); });
    w.array("tokenizer.ggml.scores", GgufType::f32, 2,
            [](GgufBytes &b) { b.number(-1.5f).number(2.0f); });
    w.tensor("blk.0.ffn_up.weight", {256, 3}, q4_K, 3 * 144);
    w.tensor("blk.0.norm.weight", {5}, f32_id, 20, 7);
    w.tensor("blk.0.experts.weight", {32, 2, 2}, q8_0, 4 * 34, 9);
    return w;
}

std::string refusal(const std::vector<std::byte> &file) {
    try {
        read_gguf(file, "x.gguf");
    } catch (const Error &e) {
        return e.what();
    }
    return "was read";
}

void refused(const std::vector<std::byte> &file, std::initializer_list<std::string_view> words) {
    const std::string said = refusal(file);
    CAPTURE(said);
    CHECK(said.starts_with("x.gguf: "));
    for (std::string_view word : words)
        CHECK_MESSAGE(said.find(word) != said.npos, word);
    for (char c : said) // fit for a terminal
        CHECK((c >= 0x20 && c < 0x7f));
}

void refused(const GgufWriter &w, std::initializer_list<std::string_view> words) {
    refused(w.file(), words);
}

// Every byte that is said to be there. A span past the file would be seen by the sanitizers; here
// the sum keeps the reads.
u64 read_all(const std::vector<std::byte> &file, const Gguf &g) {
    u64 sum = 0;
    const auto add = [&](std::span<const std::byte> part) {
        if (!part.empty())
            REQUIRE((part.data() >= file.data() &&
                     part.data() + part.size() <= file.data() + file.size()));
        for (std::byte b : part)
            sum += static_cast<u64>(b);
    };
    for (const GgufEntry &e : g.metadata) {
        add(std::as_bytes(std::span(e.key)));
        add(e.value.bytes);
        if (e.value.type == GgufType::array)
            for (const GgufValue &v : elements(e.value, 100))
                add(v.bytes);
    }
    for (const GgufTensor &t : g.tensors)
        if (t.known()) {
            add(t.bytes());
            REQUIRE(t.bytes().size() == t.row_bytes * t.rows());
        }
    return sum;
}

} // namespace

TEST_CASE("a small file says what was written") {
    const auto file = small_file().file();
    const Gguf g = read_gguf(file, "x.gguf");
    CHECK(g.version == 3);
    CHECK(g.alignment == 32);
    CHECK(text(*g.find("general.architecture")) == "llama");
    CHECK(g.find("general.nothing") == nullptr);
    const GgufValue &tokens = *g.find("tokenizer.ggml.tokens");
    CHECK(tokens.count == 3);
    const auto few = elements(tokens, 2);
    REQUIRE(few.size() == 2);
    CHECK(text(few[0]) == "<s>");
    CHECK(text(few[1]) == "");
    CHECK(real(elements(*g.find("tokenizer.ggml.scores"), 9)[1]) == 2.0);

    REQUIRE(g.tensors.size() == 3);
    const GgufTensor &up = g.tensors[0], &norm = g.tensors[1], &experts = g.tensors[2];
    CHECK(up.name == "blk.0.ffn_up.weight");
    CHECK(up.type == GgmlType::q4_K);
    CHECK(up.row_bytes == 144);
    CHECK(up.rows() == 3);
    CHECK(up.bytes().size() == 432);
    CHECK(up.offset % 32 == 0);
    CHECK(up.bytes().data() == file.data() + up.offset);
    CHECK(norm.dimensions == 1);
    CHECK(norm.rows() == 1);
    CHECK(norm.bytes()[0] == std::byte{7});
    CHECK(norm.offset == up.offset + 448); // 432 rounded up
    CHECK(experts.rows() == 4);
    CHECK(experts.bytes().size() == 136);
    CHECK(experts.bytes()[135] == std::byte{9 + 135});
}

TEST_CASE("every type of value") {
    GgufWriter w;
    w.number<u8>("a.u8", GgufType::u8, 255).number<i8>("a.i8", GgufType::i8, -128);
    w.number<u16>("a.u16", GgufType::u16, 65535).number<i16>("a.i16", GgufType::i16, -32768);
    w.number<u32>("a.u32", GgufType::u32, ~u32{0}).number<i32>("a.i32", GgufType::i32, -7);
    w.number("a.f32", GgufType::f32, 0.1f).number("a.f64", GgufType::f64, 0.1);
    w.number<u64>("a.u64", GgufType::u64, ~u64{0});
    w.number("a.i64", GgufType::i64, std::numeric_limits<i64>::min());
    w.number<u8>("a.yes", GgufType::boolean, 1).number<u8>("a.no", GgufType::boolean, 0);
    w.text("a.text", std::string_view("\0\n\xff", 3));
    w.array("a.bools", GgufType::boolean, 2, [](GgufBytes &b) { b.number<u8>(0).number<u8>(1); });
    w.array("a.empty", GgufType::string, 0, [](GgufBytes &) {});
    w.array("a.nested", GgufType::array, 2, [](GgufBytes &b) {
        b.array(GgufType::u16, 1).number<u16>(9);
        b.array(GgufType::string, 2).string("x").string("yz");
    });
    const auto file = w.file();
    const Gguf g = read_gguf(file, "x.gguf");
    const auto u = [&](const char *key) { return unsigned_number(*g.find(key)); };
    const auto i = [&](const char *key) { return signed_number(*g.find(key)); };
    CHECK(u("a.u8") == 255);
    CHECK(i("a.i8") == -128);
    CHECK(u("a.i8") == std::nullopt);
    CHECK(u("a.u16") == 65535);
    CHECK(i("a.i16") == -32768);
    CHECK(u("a.u32") == ~u32{0});
    CHECK(i("a.u32") == ~u32{0});
    CHECK(i("a.i32") == -7);
    CHECK(u("a.u64") == ~u64{0});
    CHECK(i("a.u64") == std::nullopt);
    CHECK(i("a.i64") == std::numeric_limits<i64>::min());
    CHECK(u("a.text") == std::nullopt);
    CHECK(u("a.f32") == std::nullopt);
    CHECK(real(*g.find("a.f32")) == static_cast<f64>(0.1f));
    CHECK(real(*g.find("a.f64")) == 0.1);
    CHECK(truth(*g.find("a.yes")));
    CHECK_FALSE(truth(*g.find("a.no")));
    CHECK(text(*g.find("a.text")).size() == 3);
    CHECK(truth(elements(*g.find("a.bools"), 2)[1]));
    CHECK(elements(*g.find("a.empty"), 2).empty());
    const auto nested = elements(*g.find("a.nested"), 2);
    REQUIRE(nested.size() == 2);
    CHECK(unsigned_number(elements(nested[0], 1)[0]) == 9);
    CHECK(text(elements(nested[1], 2)[1]) == "yz");
    CHECK(name(GgufType::f64) == "f64");
    CHECK(name(GgufType::boolean) == "bool");
}

TEST_CASE("every type of tensor has the bytes of its blocks") {
    for (const GgmlTypeInfo &type : ggml_types()) {
        CAPTURE(type.name);
        const u32 id = static_cast<u32>(type.id);
        GgufWriter w;
        w.tensor("first", {u64{2} * type.elements, 3}, id, u64{6} * type.bytes);
        w.tensor("last", {type.elements}, id, type.bytes, 5);
        const auto file = w.file();
        const Gguf g = read_gguf(file, "x.gguf");
        CHECK(g.tensors[0].row_bytes == 2 * type.bytes);
        CHECK(g.tensors[0].bytes().size() == 6 * type.bytes);
        CHECK(g.tensors[1].bytes()[0] == std::byte{5});
        CHECK(type_name(g.tensors[1].type) == type.name);
        if (type.elements > 1)
            refused(GgufWriter().tensor("a", {type.elements - 1u}, id, type.bytes),
                    {"tensor \"a\"", "rows of", type.name, "whole number of blocks"});
    }
}

TEST_CASE("blocks are as large as their fields") {
    constexpr u32 half = 2, k = 256;
    struct Block {
        std::string_view name;
        u32 elements, fields;
    };
    const Block blocks[] = {
        {"f32", 1, 4},
        {"f16", 1, 2},
        {"bf16", 1, 2},
        {"f64", 1, 8},
        {"i8", 1, 1},
        {"i16", 1, 2},
        {"i32", 1, 4},
        {"i64", 1, 8},
        {"q4_0", 32, half + 32 / 2},
        {"q4_1", 32, 2 * half + 32 / 2},
        {"q5_0", 32, half + 32 / 8 + 32 / 2},
        {"q5_1", 32, 2 * half + 32 / 8 + 32 / 2},
        {"q8_0", 32, half + 32},
        {"q8_1", 32, 2 * half + 32},
        {"q2_K", k, 2 * half + k / 16 + k / 4},       // scales, 2 bits
        {"q3_K", k, half + 12 + k / 8 + k / 4},       // scales, the high bit, 2 bits
        {"q4_K", k, 2 * half + 12 + k / 2},           // scales, 4 bits
        {"q5_K", k, 2 * half + 12 + k / 8 + k / 2},   // scales, the high bit, 4 bits
        {"q6_K", k, half + k / 16 + k / 2 + k / 4},   // scales, 4 bits, 2 bits
        {"q8_K", k, 4 + k + k / 16 * 2},              // f32, 8 bits, sums
        {"iq2_xxs", k, half + k / 8 * 2},             // codes
        {"iq2_xs", k, half + k / 8 * 2 + k / 32},     // codes, scales
        {"iq2_s", k, half + k / 4 + k / 32 + k / 32}, // codes, high bits, scales
        {"iq3_xxs", k, half + 3 * k / 8},             // codes with scales
        {"iq3_s", k, half + 13 * k / 32 + k / 64},    // codes, high bits and signs; scales
        {"iq1_s", k, half + k / 8 + k / 32 * 2},      // codes, high bits with scales
        {"iq1_m", k, k / 8 + k / 16 + k / 32},        // codes, high bits, scales
        {"iq4_nl", 32, half + 32 / 2},
        {"iq4_xs", k, half + 2 + k / 64 + k / 2},           // scales' high and low bits
        {"tq1_0", k, half + (k - 4 * k / 64) / 5 + k / 64}, // five or four to a byte
        {"tq2_0", k, half + k / 4},
        {"mxfp4", 32, 1 + 32 / 2},       // an exponent
        {"nvfp4", 64, 64 / 16 + 64 / 2}, // scales of 8 bits
        {"q1_0", 128, half + 128 / 8},
        {"q2_0", 64, half + 64 / 4},
    };
    CHECK(std::size(blocks) == ggml_types().size());
    for (const Block &b : blocks) {
        CAPTURE(b.name);
        const auto type = std::ranges::find(ggml_types(), b.name, &GgmlTypeInfo::name);
        REQUIRE(type != ggml_types().end());
        CHECK(type->elements == b.elements);
        CHECK(type->bytes == b.fields);
    }
}

TEST_CASE("a type that nobody knows has a place and no bytes") {
    for (u32 id : {4u, 31u, 1000u, ~u32{0}}) {
        GgufWriter w;
        w.tensor("a", {256}, 0, 1024).tensor("b", {100, 3}, id, 50).tensor("c", {8}, 0, 32);
        const auto file = w.file();
        const Gguf g = read_gguf(file, "x.gguf");
        CHECK_FALSE(g.tensors[1].known());
        CHECK(g.tensors[1].offset == g.tensors[0].offset + 1024);
        CHECK(g.tensors[1].rows() == 3);
        CHECK(g.tensors[1].data.empty());
        CHECK(type_name(g.tensors[1].type) == "type " + std::to_string(id));
        CHECK_THROWS_WITH_AS(
            g.tensors[1].bytes(),
            doctest::Contains(("\"b\": has the unknown ggml type " + std::to_string(id)).c_str()),
            Error);
        CHECK(g.tensors[2].bytes().size() == 32);
    }
    refused(GgufWriter().info("a", {8}, 1000, 0), {"tensor \"a\"", "truncated"});
    GgufWriter inside;
    inside.tensor("a", {256}, 0, 1024).info("b", {8}, 1000, 512);
    refused(inside, {"\"b\" begins at byte", "inside \"a\""});
}

TEST_CASE("shapes without rows or dimensions") {
    GgufWriter w;
    w.tensor("one", {}, 0, 4).tensor("none", {32, 0}, q8_0, 0).tensor("nothing", {0}, 0, 0);
    w.tensor("after", {1}, 0, 4, 3);
    const auto file = w.file();
    const Gguf g = read_gguf(file, "x.gguf");
    CHECK(g.tensors[0].bytes().size() == 4);
    CHECK(g.tensors[0].shape().empty());
    CHECK(g.tensors[1].bytes().empty());
    CHECK(g.tensors[2].bytes().empty());
    CHECK(g.tensors[3].bytes()[0] == std::byte{3});
    CHECK(read_gguf(GgufWriter().file(), "x.gguf").tensors.empty()); // nothing at all
}

TEST_CASE("versions and marks") {
    GgufWriter w = small_file();
    w.version = 2;
    CHECK(read_gguf(w.file(), "x.gguf").version == 2);
    w.version = 1;
    refused(w, {"the header", "version 1", "convert", "convert_hf_to_gguf.py"});
    w.version = 4;
    refused(w, {"version 4", "2 and 3"});
    w.version = 0;
    refused(w, {"version 0", "2 and 3"});
    w.version = 0x03000000;
    refused(w, {"version 3 with swapped bytes", "big-endian", "little-endian file"});
    w.magic = "FUGG";
    refused(w, {"big-endian"});
    w.magic = "tjgg";
    refused(w, {"older than GGUF", "convert"});
    w.magic = "PK\3\4";
    refused(w, {"begins with \"PK\\u0003\\u0004\"", "\"GGUF\""});
    refused(std::vector<std::byte>{}, {"has 0 bytes", "\"GGUF\""});
    CHECK(is_gguf(small_file().file()));
    CHECK_FALSE(is_gguf(w.file()));
    CHECK_FALSE(is_gguf({}));
}

TEST_CASE("alignment") {
    const auto aligned = [](u32 alignment) {
        GgufWriter w;
        w.alignment = alignment;
        w.number("general.alignment", GgufType::u32, alignment);
        return w.tensor("a", {1}, 0, 4).tensor("b", {2}, 0, 8, 1);
    };
    for (u32 alignment : {8u, 16u, 32u, 64u, 4096u}) {
        const auto file = aligned(alignment).file();
        const Gguf g = read_gguf(file, "x.gguf");
        CHECK(g.alignment == alignment);
        CHECK(g.tensors[1].offset % alignment == 0);
        CHECK(g.tensors[1].bytes()[0] == std::byte{1});
    }
    for (u32 alignment : {1u, 4u, 24u, 33u})
        refused(aligned(alignment),
                {"general.alignment is " + std::to_string(alignment), "power of two, at least 8"});
    const auto said = [](GgufType type, auto value) {
        return GgufWriter().number("general.alignment", type, value);
    };
    refused(said(GgufType::u32, u32{0}), {"general.alignment is 0"});
    refused(said(GgufType::i32, i32{-32}), {"of type i32", "positive integer"});
    refused(said(GgufType::f32, 32.0f), {"of type f32"});
    refused(said(GgufType::u64, u64{1} << 40), {"1099511627776", "below 2^32"});
    refused(GgufWriter().text("general.alignment", "32"), {"of type string"});
    // The largest, of a file without tensors: nothing is read there.
    CHECK(read_gguf(said(GgufType::u32, u32{1} << 31).file(), "x").alignment == u32{1} << 31);
    refused(said(GgufType::u32, u32{1} << 31).info("a", {1}, 0, 0), {"takes bytes 2147483648"});

    GgufWriter odd;
    odd.tensor("a", {1}, 0, 4).info("b", {1}, 0, 8);
    odd.data.pad(64);
    refused(odd, {"tensor \"b\": lies at 8 of the data", "multiple of 32"});
}

TEST_CASE("counts that can't be") {
    for (u64 count : {u64{40}, u64{1} << 32, u64{1} << 61, ~u64{0} - 3}) {
        GgufWriter w = small_file();
        w.more_tensors = count;
        refused(w, {"declares " + std::to_string(count + 3) + " tensors", "truncated"});
        w.more_tensors = 0;
        w.more_entries = count + 100;
        refused(w, {std::to_string(count + 104) + " metadata", "truncated"});
    }
    GgufWriter one_more = small_file();
    one_more.more_entries = 1; // the first tensor is taken for a key
    refused(one_more, {"tensor 0: its name has", "truncated"});
}

TEST_CASE("texts and arrays longer than the file") {
    for (u64 length : {u64{1000}, u64{1} << 40, ~u64{0}}) {
        const std::string said = std::to_string(length);
        GgufWriter key;
        key.metadata.number(length).raw("key");
        ++key.entries;
        key.data.pad(32);
        refused(key, {"metadata 0: its key has " + said + " bytes", "truncated"});
        const auto with = [&](u32 type, auto &&write) {
            GgufWriter w;
            w.entry("a.b", type, write);
            return w;
        };
        refused(with(8, [&](GgufBytes &b) { b.number(length).raw("abc"); }),
                {"metadata \"a.b\": its text has " + said + " bytes"});
        for (GgufType element : {GgufType::u8, GgufType::u64, GgufType::string, GgufType::array})
            refused(with(9, [&](GgufBytes &b) { b.array(element, length).number<u64>(0); }),
                    {"metadata \"a.b\": declares " + said + " elements"});
        GgufWriter name;
        name.infos.number(length).raw("weight").raw(std::string(64, 'x'));
        ++name.tensors;
        refused(name, {"tensor 0: its name has " + said + " bytes"});
    }
}

TEST_CASE("values that can't be") {
    const auto with = [](u32 type, auto &&write) { return GgufWriter().entry("a.b", type, write); };
    refused(with(13, [](GgufBytes &b) { b.number<u64>(0); }),
            {"metadata \"a.b\": its type is 13", "0 to 12"});
    refused(with(9, [](GgufBytes &b) { b.array(static_cast<GgufType>(99), 0); }),
            {"metadata \"a.b\": the type of its elements is 99"});
    refused(with(7, [](GgufBytes &b) { b.number<u8>(2); }), {"a bool of 2", "0 or 1"});
    refused(with(9, [](GgufBytes &b) { b.array(GgufType::boolean, 2).number<u16>(0x0301); }),
            {"a bool of 3"});
    const auto nested = [&](u32 levels) {
        return with(9, [&](GgufBytes &b) {
            for (u32 i = 1; i < levels; ++i)
                b.array(GgufType::array, 1);
            b.array(GgufType::u8, 1).number<u8>(1);
        });
    };
    CHECK(read_gguf(nested(gguf_deepest).file(), "x").metadata.size() == 1);
    refused(nested(gguf_deepest + 1), {"metadata \"a.b\"", "deeper than 8 levels"});
    refused(nested(100'000), {"deeper than 8 levels"});
}

TEST_CASE("names") {
    const std::string escape = "a\x1b[31m", zero("a\0b", 3);
    refused(GgufWriter().text(escape, ""), {"\\u001b", "control characters"});
    refused(GgufWriter().text(zero, ""), {"a\\u0000b", "control characters"});
    refused(GgufWriter().text("", ""), {"metadata 0: is called \"\""});
    refused(GgufWriter().tensor(escape, {1}, 0, 4), {"tensor 0", "\\u001b", "control"});
    refused(GgufWriter().tensor("", {1}, 0, 4), {"tensor 0: is called \"\""});
    refused(GgufWriter().text("a", "x").text("b", "").text("a", "y"), {"the key \"a\" twice"});
    refused(GgufWriter().tensor("w", {1}, 0, 4).tensor("w", {2}, 0, 8), {"the tensor \"w\" twice"});
    // Not UTF-8: read, and shown in a message with replacements.
    CHECK(read_gguf(GgufWriter().text("\xff", "").file(), "x").metadata[0].key == "\xff");
    refused(GgufWriter().tensor("\xff\xfe", {33}, q8_0, 4), {"\\ufffd"});
    refused(GgufWriter().tensor(std::string(5000, 'n'), {33}, q8_0, 4), {"nnn\"..."});
}

TEST_CASE("shapes that can't be") {
    constexpr u64 large = u64{1} << 32;
    refused(GgufWriter().info("a", {1, 1, 1, 1, 1}, 0, 0), {"5 dimensions", "allows 4"});
    GgufWriter dimensions;
    dimensions.infos.string("a").number(~u32{0}).number<u64>(1).number<u64>(1);
    ++dimensions.tensors;
    refused(dimensions, {"4294967295 dimensions"});
    refused(GgufWriter().info("a", {large, large}, 0, 0),
            {"tensor \"a\"", "[4294967296, 4294967296]", "more than 2^64"});
    refused(GgufWriter().info("a", {1, large, large}, 0, 0), {"more than 2^64"});
    refused(GgufWriter().info("a", {1, 2, large / 2, large}, 0, 0), {"more than 2^64"});
    refused(GgufWriter().info("a", {large, large}, 999, 0), {"more than 2^64"}); // unknown type
    refused(GgufWriter().info("a", {u64{1} << 63}, 0, 0), {"more than 2^64"});   // its bytes
    refused(GgufWriter().info("a", {large / 4, large}, 0, 0), {"more than 2^64"});
}

TEST_CASE("tensors that lie elsewhere") {
    GgufWriter far;
    far.tensor("a", {1}, 0, 4).info("b", {8}, 0, 32);
    refused(far, {"tensor \"b\": takes bytes", "truncated"});
    refused(GgufWriter().info("b", {8}, 0, u64{1} << 40), {"takes bytes 1099511627"});
    refused(GgufWriter().info("b", {8}, 0, ~u64{0} - 31), {"past 2^64"});
    refused(GgufWriter().info("b", {u64{1} << 61}, 24, u64{7} << 61), {"past 2^64"});
    GgufWriter twice;
    twice.tensor("a", {64}, 0, 256).info("b", {8}, 0, 32);
    refused(twice, {"tensor \"b\" begins at byte", "inside \"a\", which ends at"});
    GgufWriter same;
    same.tensor("a", {8}, 0, 32).info("b", {8}, 0, 0);
    refused(same, {"inside"});
    // Holes are harmless, and so is another order than the list's.
    GgufWriter hole;
    hole.info("b", {8}, 0, 96).info("a", {8}, 0, 0);
    hole.data.pad(1);
    for (u32 i = 0; i < 32; ++i)
        hole.data.number(i);
    const auto file = hole.file();
    CHECK(read_gguf(file, "x").tensors[0].bytes()[0] == std::byte{24});
}

TEST_CASE("no beginning of a file is a file") {
    const auto file = small_file().file();
    for (size_t size = 0; size < file.size(); ++size) {
        const std::vector<std::byte> part(file.begin(), file.begin() + static_cast<long>(size));
        CAPTURE(size);
        const std::string said = refusal(part);
        CHECK(said.starts_with("x.gguf: "));
        CHECK((size < 4 || said.find("truncated") != said.npos));
    }
}

TEST_CASE("flipped bits: an error, or a file all of which can be read") {
    const auto file = small_file().file();
    std::mt19937 random(20);
    u32 read = 0, refused = 0;
    u64 sum = 0;
    for (u32 round = 0; round < 60'000; ++round) {
        auto broken = file;
        // In the header every bit by itself first, then several anywhere.
        const size_t bits = 8 * std::min<size_t>(broken.size(), 420);
        if (round < bits)
            broken[round / 8] ^= static_cast<std::byte>(1u << round % 8);
        else
            for (u32 n = 1 + random() % 5; n; --n)
                broken[random() % 420] ^= static_cast<std::byte>(1u << random() % 8);
        try {
            sum += read_all(broken, read_gguf(broken, "x.gguf"));
            ++read;
        } catch (const Error &) {
            ++refused;
        }
    }
    CHECK(sum > 0);
    CHECK(read > 1000);
    CHECK(refused > 1000);
}
