// SPDX-License-Identifier: MIT
// Buffer loads, stores and atomics against addresses and bounds worked out here byte by byte.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <random>

#include "sim/assemble.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

// The kernel's memory: index and offset of each lane, results, the buffer itself.
constexpr u32 index_at = 0, offset_at = 256, result_at = 512, data_at = 2048, data_bytes = 65536;
constexpr u32 untouched = 0x55555555;

struct Descriptor {
    u32 stride = 0, records = 256, swizzle = 0, index_stride = 0, bounds = 3, format = 20;
    u32 select = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    bool add_tid = false;

    u32 high(const std::string &gfx) const {
        const bool one_bit = target_of(gfx).generation == Generation::gfx10;
        return stride << 16 | (one_bit ? u32{swizzle != 0} << 31 : swizzle << 30);
    }
    u32 flags() const {
        return select | format << 12 | index_stride << 21 | u32{add_tid} << 23 | bounds << 28;
    }
};

struct Case {
    std::string gfx = "gfx1151";
    u32 wave = 32;
    Descriptor d;
    std::string instruction = "buffer_load_b32 v[4], {}, s[8:11], {}"; // address, soffset
    u32 inst_offset = 0, soffset = 0;
    bool idxen = false, offen = false;
    std::string modifiers;
};

std::string wait_for_loads(const std::string &gfx) {
    return is_gfx12(gfx) ? "s_wait_loadcnt 0" : "s_waitcnt vmcnt(0)";
}

// s[8:11] becomes the descriptor; v2, v3 each lane's index and offset.
std::string prologue(const Descriptor &d, const std::string &gfx, u32 soffset) {
    std::string text = fmt::format(R"(
  v_lshlrev_b32 v1, 2, v0
  global_load_b32 v2, v1, s[2:3] offset:{}
  global_load_b32 v3, v1, s[2:3] offset:{}
  s_add_u32 s8, s2, {}
  s_addc_u32 s9, s3, 0
  s_and_b32 s9, s9, 0xffff
  s_or_b32 s9, s9, 0x{:x}
  s_mov_b32 s10, 0x{:x}
  s_mov_b32 s11, 0x{:x}
  s_mov_b32 s12, 0x{:x}
  {}
)",
                                   index_at, offset_at, data_at, d.high(gfx), d.records, d.flags(),
                                   soffset, wait_for_loads(gfx));
    for (u32 r = 4; r < 10; ++r)
        text += fmt::format("  v_mov_b32 v{}, 0x{:x}\n", r, untouched);
    return text;
}

std::string access_text(const Case &c) {
    const char *address = c.idxen && c.offen ? "v[2:3]" : c.idxen ? "v2" : c.offen ? "v3" : "off";
    return "  " + fmt::format(fmt::runtime(c.instruction), address, "s12") +
           (c.idxen ? " idxen" : "") + (c.offen ? " offen" : "") +
           fmt::format(" offset:{}{}\n", c.inst_offset, c.modifiers);
}

// Results of v[4:7], four rows of `wave` lanes.
std::string epilogue(const std::string &gfx) {
    std::string text = "  " + wait_for_loads(gfx) + "\n";
    for (u32 r = 0; r < 5; ++r)
        text += fmt::format("  global_store_b32 v1, v{}, s[2:3] offset:{}\n", 4 + r,
                            result_at + 256 * r);
    return text;
}

struct Memory64 {
    std::vector<u32> words = std::vector<u32>((data_at + data_bytes) / 4);
    u32 index(u32 lane) const { return words[index_at / 4 + lane]; }
    u32 offset(u32 lane) const { return words[offset_at / 4 + lane]; }
    u32 result(u32 r, u32 lane) const { return words[(result_at + 256 * r) / 4 + lane]; }
    u8 byte(u64 at) const {
        u8 b;
        std::memcpy(&b, reinterpret_cast<const u8 *>(words.data()) + data_at + at, 1);
        return b;
    }
};

Memory64 filled(u32 max_index, u32 max_offset, u32 unit, u32 seed) {
    Memory64 m;
    std::mt19937 random(seed);
    for (u32 l = 0; l < 64; ++l) {
        m.words[index_at / 4 + l] = random() % max_index;
        m.words[offset_at / 4 + l] = random() % max_offset / unit * unit;
    }
    for (u32 n = 0; n < data_bytes / 4; ++n)
        m.words[data_at / 4 + n] = 0x9e3779b9 * (n + 1);
    return m;
}

Memory64 run_case(const Case &c, const Memory64 &in) {
    KernelText k;
    k.gfx = c.gfx;
    k.wave = c.wave;
    k.body = prologue(c.d, c.gfx, c.soffset) + access_text(c) + epilogue(c.gfx);
    Memory64 out;
    out.words = run(k, Launch{.block = {c.wave, 1, 1},
                              .initial = in.words,
                              .words = static_cast<u32>(in.words.size())});
    return out;
}

// Where byte `at` of lane `l`'s access is, relative to the descriptor's base.
u64 reference_place(const Case &c, const Memory64 &m, u32 l, u32 at) {
    u64 index = (c.idxen ? m.index(l) : 0) + (c.d.add_tid ? l : 0);
    u64 offset = u64{static_cast<u32>((c.offen ? m.offset(l) : 0) + c.inst_offset)} + at;
    if (c.d.swizzle == 0)
        return c.soffset + index * c.d.stride + offset;
    u64 group = u64{8} << c.d.index_stride, element = c.d.swizzle == 1 ? 4 : 16;
    // Whole groups of records, then the element's row in the group, then this record's place in it.
    u64 record_group = index / group, record = index % group;
    return c.soffset + record_group * c.d.stride * group + offset / element * element * group +
           record * element + offset % element;
}

bool reference_in_bounds(const Case &c, const Memory64 &m, u32 l, u32 at, u32 bytes) {
    u64 index = (c.idxen ? m.index(l) : 0) + (c.d.add_tid ? l : 0);
    u64 last = u64{static_cast<u32>((c.offen ? m.offset(l) : 0) + c.inst_offset)} + at + bytes - 1;
    bool record = index < c.d.records, inside = last < c.d.stride;
    if (c.d.bounds == 0 || (c.d.bounds == 3 && c.d.swizzle && c.d.stride))
        return record && inside;
    return c.d.bounds == 1   ? record
           : c.d.bounds == 2 ? c.d.records > 0
                             : last + c.soffset < c.d.records;
}

void check_loads(const Case &c, u32 dwords, u32 max_index, u32 max_offset) {
    CAPTURE(c.gfx);
    CAPTURE(c.wave);
    CAPTURE(c.d.bounds);
    CAPTURE(c.d.swizzle);
    CAPTURE(access_text(c));
    Memory64 in = filled(max_index, max_offset, 4, 7);
    Memory64 out = run_case(c, in);
    u32 outside = 0, loaded = 0;
    for (u32 l = 0; l < c.wave; ++l)
        for (u32 n = 0; n < dwords; ++n) {
            u32 want = 0;
            if (reference_in_bounds(c, in, l, 4 * n, 4)) {
                ++loaded;
                for (u32 b = 0; b < 4; ++b)
                    want |= u32{in.byte(reference_place(c, in, l, 4 * n + b))} << 8 * b;
            } else {
                ++outside;
            }
            CAPTURE(l);
            CAPTURE(n);
            REQUIRE(out.result(n, l) == want);
        }
    for (u32 l = 0; l < c.wave; ++l)
        REQUIRE(out.result(dwords, l) == untouched);
    CAPTURE(loaded);
    CAPTURE(outside);
    CHECK(loaded > 0);
}

constexpr const char *loads[] = {
    "buffer_load_b32 v4, {}, s[8:11], {}", "buffer_load_b64 v[4:5], {}, s[8:11], {}",
    "buffer_load_b96 v[4:6], {}, s[8:11], {}", "buffer_load_b128 v[4:7], {}, s[8:11], {}"};

} // namespace

TEST_CASE("buffer loads: every bounds mode, addressing form and width") {
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1151", "gfx1201"})
        for (u32 bounds = 0; bounds < 4; ++bounds)
            for (u32 form = 0; form < 4; ++form)
                for (u32 dwords = 1; dwords <= 4; ++dwords) {
                    Case c;
                    c.gfx = gfx;
                    c.wave = form == 3 ? 64 : 32;
                    c.instruction = loads[dwords - 1];
                    c.idxen = form & 1;
                    c.offen = form & 2;
                    c.inst_offset = 8;
                    c.soffset = 16;
                    c.d.bounds = bounds;
                    c.d.stride = 32;
                    c.d.records = bounds == 3 ? 44 : 50;
                    check_loads(c, dwords, bounds == 2 ? 60 : 64, 40);
                }
}

TEST_CASE("swizzled buffers") {
    for (const auto &[gfx, swizzle] : {std::pair("gfx1030", 1u), {"gfx1151", 1u}, {"gfx1151", 3u}})
        for (u32 index_stride = 0; index_stride < 4; ++index_stride)
            for (u32 bounds : {0u, 1u, 3u}) {
                Case c;
                c.gfx = gfx;
                c.idxen = c.offen = true;
                c.instruction = loads[3];
                c.inst_offset = 4;
                c.soffset = 64;
                c.d.swizzle = swizzle;
                c.d.index_stride = index_stride;
                c.d.stride = 48;
                c.d.records = 200;
                c.d.bounds = bounds;
                check_loads(c, 4, 210, 40);
            }
}

TEST_CASE("the lane is added to the index") {
    for (u32 wave : {32u, 64u})
        for (u32 swizzle : {0u, 1u}) {
            Case c;
            c.wave = wave;
            c.d.add_tid = true;
            c.d.stride = 16;
            c.d.swizzle = swizzle;
            c.d.index_stride = 2;
            c.d.bounds = 0;
            c.d.records = 40;
            c.instruction = loads[2];
            c.inst_offset = 4;
            check_loads(c, 3, 8, 8);
            c.idxen = true;
            check_loads(c, 3, 8, 8);
        }
}

TEST_CASE("offsets wrap at 32 bits before they are checked") {
    Case c;
    c.offen = true;
    c.inst_offset = 16;
    c.instruction = loads[0];
    Memory64 in = filled(1, 4, 4, 1);
    in.words[offset_at / 4] = static_cast<u32>(-12);
    in.words[offset_at / 4 + 1] = static_cast<u32>(-20);
    Memory64 out = run_case(c, in);
    CHECK(out.result(0, 0) == in.words[data_at / 4 + 1]);
    CHECK(out.result(0, 1) == 0); // 0xfffffffc is far outside
}

TEST_CASE("a buffer without records, or without a format, is unbound") {
    for (u32 bounds = 0; bounds < 4; ++bounds) {
        Case c;
        c.d.bounds = bounds;
        c.d.stride = 16;
        c.d.records = 0;
        c.instruction = loads[1];
        Memory64 out = run_case(c, filled(1, 4, 4, 1));
        CHECK(out.result(0, 0) == 0);
        CHECK(out.result(1, 0) == 0);
        c.d.records = 64;
        c.d.format = 0;
        CHECK(run_case(c, filled(1, 4, 4, 1)).result(0, 3) == 0);
    }
}

TEST_CASE("small loads and stores") {
    struct Row {
        const char *instruction;
        u32 want; // of memory 0x89abcdef, into a register of 0x55555555
    };
    for (Row r : {Row{"buffer_load_u8 v4, {}, s[8:11], {}", 0xef},
                  Row{"buffer_load_i8 v4, {}, s[8:11], {}", 0xffffffef},
                  Row{"buffer_load_u16 v4, {}, s[8:11], {}", 0xcdef},
                  Row{"buffer_load_i16 v4, {}, s[8:11], {}", 0xffffcdef},
                  Row{"buffer_load_d16_u8 v4, {}, s[8:11], {}", 0x555500ef},
                  Row{"buffer_load_d16_hi_i8 v4, {}, s[8:11], {}", 0xffef5555},
                  Row{"buffer_load_d16_b16 v4, {}, s[8:11], {}", 0x5555cdef},
                  Row{"buffer_load_d16_hi_b16 v4, {}, s[8:11], {}", 0xcdef5555}}) {
        CAPTURE(r.instruction);
        Case c;
        c.instruction = r.instruction;
        c.d.records = 2;
        Memory64 in = filled(1, 1, 1, 1);
        in.words[data_at / 4] = 0x89abcdef;
        CHECK(run_case(c, in).result(0, 5) == r.want);
        c.d.records = 0; // reads 0, and a half that isn't loaded stays
        u32 kept = r.instruction[12] != 'd' ? 0 : r.instruction[16] == 'h' ? 0x5555 : 0x55550000;
        CHECK(run_case(c, in).result(0, 5) == kept);
    }
    for (Row r : {Row{"buffer_store_b8 v0, {}, s[8:11], {}", 0x89abcd00},
                  Row{"buffer_store_b16 v0, {}, s[8:11], {}", 0x89ab0000},
                  Row{"buffer_store_b32 v0, {}, s[8:11], {}", 0},
                  Row{"buffer_store_d16_hi_b8 v4, {}, s[8:11], {}", 0x89abcd55},
                  Row{"buffer_store_d16_hi_b16 v4, {}, s[8:11], {}", 0x89ab5555}}) {
        CAPTURE(r.instruction);
        Case c;
        c.instruction = r.instruction;
        c.instruction.insert(0, "s_mov_b32 exec_lo, 1\n ");
        c.modifiers = "\n s_mov_b32 exec_lo, -1";
        Memory64 in = filled(1, 1, 1, 1);
        in.words[data_at / 4] = 0x89abcdef;
        CHECK(run_case(c, in).words[data_at / 4] == r.want);
        c.d.records = 0;
        CHECK(run_case(c, in).words[data_at / 4] == 0x89abcdef);
    }
}

TEST_CASE("stores: dwords inside the bounds are written, others not") {
    for (u32 records : {24u, 28u, 35u}) { // bytes; each lane stores 12 of them
        Case c;
        c.instruction = "v_mov_b32 v4, 1\n v_mov_b32 v5, 2\n v_mov_b32 v6, 3\n"
                        " buffer_store_b96 v[4:6], {}, s[8:11], {}";
        c.offen = true;
        c.d.records = records;
        Memory64 in = filled(1, 1, 1, 3);
        for (u32 l = 0; l < 32; ++l)
            in.words[offset_at / 4 + l] = 12 * l;
        Memory64 out = run_case(c, in);
        for (u32 n = 0; n < 100; ++n) {
            bool written = 4 * n + 4 <= records;
            CHECK(out.words[data_at / 4 + n] == (written ? n % 3 + 1 : in.words[data_at / 4 + n]));
        }
    }
}

TEST_CASE("atomics return the old value, and change nothing out of bounds") {
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1100", "gfx1200"}) {
        bool gfx12 = is_gfx12(gfx);
        Case c;
        c.gfx = gfx;
        c.instruction = "v_mov_b32 v4, 5\n buffer_atomic_add_u32 v4, {}, s[8:11], {}";
        c.modifiers = gfx12 ? " th:TH_ATOMIC_RETURN" : " glc";
        c.offen = true;
        c.d.records = 32;
        Memory64 in = filled(1, 1, 1, 3);
        for (u32 l = 0; l < 32; ++l)
            in.words[offset_at / 4 + l] = l / 2 * 4;
        Memory64 out = run_case(c, in);
        for (u32 l = 0; l < 32; ++l) {
            u32 old = in.words[data_at / 4 + l / 2];
            CHECK(out.result(0, l) == (l < 16 ? old + 5 * (l % 2) : 0));
            CHECK(out.words[data_at / 4 + l / 2] == (l < 16 ? old + 10 : old));
        }
        c.instruction = "v_mov_b32 v4, 5\n v_mov_b32 v5, 0\n v_mov_b32 v6, 7\n v_mov_b32 v7, 0\n"
                        " buffer_atomic_cmpswap_b64 v[4:7], {}, s[8:11], {}";
        for (u32 l = 0; l < 32; ++l) {
            in.words[offset_at / 4 + l] = 8 * l;
            in.words[data_at / 4 + 2 * l] = l % 2 ? 7 : 6;
            in.words[data_at / 4 + 2 * l + 1] = 0;
        }
        c.d.records = 100; // the last one is inside by half
        out = run_case(c, in);
        for (u32 l = 0; l < 32; ++l) {
            bool inside = 8 * l + 8 <= 100;
            CHECK(out.result(0, l) == (inside ? 6 + l % 2 : 0));
            CHECK(out.words[data_at / 4 + 2 * l] == (inside && l % 2 ? 5 : 6 + l % 2));
        }
    }
}

TEST_CASE("soffset is an SGPR, M0, null or, before gfx12, a constant") {
    for (const char *gfx : {"gfx1010", "gfx1151", "gfx1201"})
        for (std::string soffset : {"s12", "m0", "null", "4"}) {
            if (soffset == "4" && is_gfx12(gfx))
                continue;
            Case c;
            c.gfx = gfx;
            c.soffset = 4;
            c.instruction =
                "s_mov_b32 m0, 4\n buffer_load_b32 v4, {}, s[8:11], " + soffset + " /*{}*/";
            Memory64 in = filled(1, 1, 1, 1);
            u32 at = soffset == "null" ? 0 : 1;
            CHECK(run_case(c, in).result(0, 9) == in.words[data_at / 4 + at]);
        }
}

// S-035: nothing here fails to be resident.
TEST_CASE("the status register of tfe is only written when a page is missing") {
    Case c;
    c.instruction = "buffer_load_b32 v[4:5], {}, s[8:11], {}";
    c.modifiers = " tfe";
    Memory64 in = filled(1, 1, 1, 1), out = run_case(c, in);
    CHECK(out.result(0, 0) == in.words[data_at / 4]);
    CHECK(out.result(1, 0) == untouched);
}

TEST_CASE("bad descriptors, and buffers over memory that isn't there, are faults") {
    auto text = [](const std::string &body) {
        KernelText k;
        k.body = body;
        return fault_of(k, Launch{.words = 1024});
    };
    auto has = [](const std::string &text, const std::string &part) {
        CHECK_MESSAGE(text.find(part) != text.npos, "no '" << part << "' in: " << text);
    };
    Descriptor d;
    std::string load = "  buffer_load_b32 v4, off, s[8:11], 0\n";
    has(text(prologue(d, "gfx1151", 0) + "  s_bitset1_b32 s11, 31\n" + load),
        "bad buffer descriptor");
    has(text(prologue(d, "gfx1151", 0) + "  s_bitset1_b32 s9, 31\n" + load), "swizzle mode 2");
    has(text(prologue(d, "gfx1151", 0) + "  s_mov_b32 s10, -1\n  s_add_u32 s8, s8, 0x100000\n" +
             load),
        "illegal address: lane 0 reads 4 bytes");
    d.format = 70;
    has(text(prologue(d, "gfx1151", 0) + "  buffer_load_format_x v4, off, s[8:11], 0\n"),
        "format 70 is reserved");
}

TEST_CASE("scalar buffer loads: dwords out of bounds are 0") {
    for (const char *gfx : {"gfx1010", "gfx1030", "gfx1100", "gfx1201"})
        for (u32 stride : {0u, 12u})
            for (u32 soffset : {0u, 20u, 30u}) {
                KernelText k;
                k.gfx = gfx;
                Descriptor d;
                d.stride = stride;
                d.records = stride ? 4 : 48; // 48 bytes in either case
                std::string wait = is_gfx12(gfx) ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)";
                k.body = prologue(d, gfx, soffset) +
                         "  s_buffer_load_b256 s[16:23], s[8:11], s12 offset:0x8\n  " + wait + "\n";
                for (u32 n = 0; n < 8; ++n)
                    k.body += fmt::format("  v_mov_b32 v4, s{}\n  v_mov_b32 v5, {}\n"
                                          "  global_store_b32 v5, v4, s[2:3]\n",
                                          16 + n, 4 * n);
                Memory64 in = filled(1, 1, 1, 5);
                auto out =
                    run(k, Launch{.initial = in.words, .words = static_cast<u32>(in.words.size())});
                for (u32 n = 0; n < 8; ++n) {
                    u32 at = 8 + soffset / 4 * 4 + 4 * n;
                    CHECK(out[n] == (at + 4 <= 48 ? in.words[(data_at + at) / 4] : 0));
                }
            }
}

TEST_CASE("gfx12's small scalar buffer loads") {
    KernelText k;
    k.gfx = "gfx1201";
    Descriptor d;
    d.records = 3;
    k.body = prologue(d, k.gfx, 0) + R"(
  s_buffer_load_u8 s16, s[8:11], 0x1
  s_buffer_load_i8 s17, s[8:11], 0x1
  s_buffer_load_u16 s18, s[8:11], 0x0
  s_buffer_load_i16 s19, s[8:11], 0x2
  s_wait_kmcnt 0
  v_mov_b32 v4, s16
  v_mov_b32 v5, s17
  v_mov_b32 v6, s18
  v_mov_b32 v7, s19
  v_mov_b32 v1, 0
  global_store_b128 v1, v[4:7], s[2:3])";
    Memory64 in = filled(1, 1, 1, 5);
    in.words[data_at / 4] = 0x89abcdef;
    auto out = run(k, Launch{.initial = in.words, .words = static_cast<u32>(in.words.size())});
    CHECK(out[0] == 0xcd);
    CHECK(out[1] == 0xffffffcd);
    CHECK(out[2] == 0xcdef);
    CHECK(out[3] == 0); // its second byte is out of bounds
}
