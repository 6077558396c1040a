// SPDX-License-Identifier: MIT
// DOT2 against the slow model.
#include <doctest/doctest.h>

#include "sim/alu/slow_dot.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

u32 one(Op op, u32 a, u32 b, u32 c, bool gfx12) {
    Row ra, rb, rc, rd{};
    for (unsigned l = 0; l < row_lanes; ++l)
        ra.lane[l] = a, rb.lane[l] = b, rc.lane[l] = c;
    Mode m;
    m.gfx12 = gfx12;
    m.bits = 0xf0 | 3 << 8;
    m.update();
    frames().lane[static_cast<size_t>(op)](rd.lane, ra.lane, rb.lane, rc.lane, ~0u, m);
    return rd.lane[7];
}

// A whole row selects the host's fast path, so all lanes of a row must be similar.
enum class Kind { hard, tame, one_hard_lane, near_random_exponents };

void fill(std::mt19937 &random, Format f, Kind kind, Row &a, Row &b, Row &c) {
    const unsigned exponents = 2 * f.bias + 2, odd = random() % row_lanes;
    const u32 near_a = random() % exponents, near_b = random() % exponents, near_c = random() % 256;
    auto near = [&](u32 exponent, u32 limit, unsigned mantissa) {
        u32 e = std::min(exponent + static_cast<u32>(random() % 4), limit);
        u32 fraction = static_cast<u32>(random()) & ((1u << mantissa) - 1);
        bool zero = random() % 16 == 0;
        return zero ? 0 : e << mantissa | (random() % 2 ? fraction : 0);
    };
    auto sign = [&](unsigned bit) { return static_cast<u32>(random() & 1) << bit; };
    for (unsigned l = 0; l < row_lanes; ++l) {
        auto half = [&](u32 exponent) {
            if (kind == Kind::near_random_exponents)
                return near(exponent, exponents - 2, f.mantissa) | sign(15);
            bool hard = kind == Kind::hard || (kind == Kind::one_hard_lane && l == odd);
            return hard ? hard16(random, f) : tame16(random, f);
        };
        a.lane[l] = half(near_a) | half(near_a) << 16;
        b.lane[l] = half(near_b) | half(near_b) << 16;
        bool hard = kind == Kind::hard || (kind == Kind::one_hard_lane && l == odd);
        c.lane[l] = kind == Kind::near_random_exponents ? near(near_c, 254, 23) | sign(31)
                    : hard                              ? hard32(random)
                                                        : tame32(random);
    }
}

void compare(Op op, Format f, bool gfx12, int rounds) {
    std::mt19937 random(20240611);
    Mode m;
    m.gfx12 = gfx12;
    m.bits = 0xf0 | 3 << 8;
    m.update();
    int wrong = 0;
    for (int round = 0; round < rounds && wrong < 5; ++round) {
        Row a, b, c;
        fill(random, f, static_cast<Kind>(round % 4), a, b, c);
        // Lanes that aren't active don't decide, and keep what they had.
        const u32 exec = round % 3 ? ~0u : static_cast<u32>(random());
        constexpr u32 before = 0x7fbadbad;
        for (int n = 0; n < levels(); ++n) {
            Row d;
            std::fill_n(d.lane, row_lanes, before);
            level(n).lane[static_cast<size_t>(op)](d.lane, a.lane, b.lane, c.lane, exec, m);
            for (unsigned l = 0; l < row_lanes && wrong < 5; ++l) {
                u32 want = before;
                if (exec >> l & 1)
                    want = slow_dot(&a.lane[l], &b.lane[l], 1, c.lane[l], f, f32_format, gfx12);
                if (d.lane[l] == want)
                    continue;
                ++wrong;
                CAPTURE(n);
                CAPTURE(l);
                INFO(std::hex, "a ", a.lane[l], " b ", b.lane[l], " c ", c.lane[l], " got ",
                     d.lane[l], " want ", want);
                CHECK(d.lane[l] == want);
            }
        }
    }
    CHECK(wrong == 0);
}

constexpr u32 two(u32 low, u32 high) { return low | high << 16; }

} // namespace

TEST_CASE("DOT2's published vectors, gfx11 f16") {
    constexpr u32 zero = 0, one_h = 0x3c00, three = 0x4200, eight = 0x4800, four = 0x4400;
    CHECK(one(Op::v_dot2_f32_f16, two(one_h, one_h), two(one_h, one_h), 0xc0000000, false) ==
          0x34000000);
    CHECK(one(Op::v_dot2_f32_f16, two(three, eight), two(eight, four), 0xbf800000, false) ==
          0x425c0001);
    CHECK(one(Op::v_dot2_f32_f16, two(one_h, one_h), two(zero, one_h), 0x80000000, false) ==
          0x3f800001);
    CHECK(one(Op::v_dot2_f32_f16, two(one_h, one_h), two(zero, one_h), 0, false) == 0x3f800000);
}

TEST_CASE("DOT2 f32 from f16, gfx11") { compare(Op::v_dot2_f32_f16, f16, false, 20000); }
TEST_CASE("DOT2 f32 from bf16, gfx11") { compare(Op::v_dot2_f32_bf16, bf16, false, 20000); }
TEST_CASE("DOT2 f32 from f16, gfx12") { compare(Op::v_dot2_f32_f16, f16, true, 20000); }
TEST_CASE("DOT2 f32 from bf16, gfx12") { compare(Op::v_dot2_f32_bf16, bf16, true, 20000); }

namespace {

// 16-bit C and results, in the low half; the other half stays.
void compare16(Op op, Format f, bool gfx12, int rounds) {
    std::mt19937 random(7);
    Mode m;
    m.gfx12 = gfx12;
    m.bits = 0xf0 | 3 << 8;
    m.update();
    int wrong = 0;
    for (int round = 0; round < rounds && wrong < 5; ++round) {
        auto pick = round % 2 ? tame16 : hard16;
        Row a, b, c;
        for (unsigned l = 0; l < row_lanes; ++l) {
            a.lane[l] = pick(random, f) | pick(random, f) << 16;
            b.lane[l] = pick(random, f) | pick(random, f) << 16;
            c.lane[l] = pick(random, f) | 0x1234u << 16;
        }
        for (int n = 0; n < levels(); ++n) {
            Row d;
            std::fill_n(d.lane, row_lanes, 0xabcd0000);
            level(n).lane[static_cast<size_t>(op)](d.lane, a.lane, b.lane, c.lane, ~1u, m);
            CHECK(d.lane[0] == 0xabcd0000);
            for (unsigned l = 1; l < row_lanes && wrong < 5; ++l) {
                u32 want = 0xabcd0000 |
                           slow_dot(&a.lane[l], &b.lane[l], 1, c.lane[l] & 0xffff, f, f, gfx12);
                if (d.lane[l] == want)
                    continue;
                ++wrong;
                INFO(std::hex, "a ", a.lane[l], " b ", b.lane[l], " c ", c.lane[l], " got ",
                     d.lane[l], " want ", want, " level ", n);
                CHECK(d.lane[l] == want);
            }
        }
    }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("DOT2 f16 from f16, gfx11") { compare16(Op::v_dot2_f16_f16, f16, false, 10000); }
TEST_CASE("DOT2 f16 from f16, gfx12") { compare16(Op::v_dot2_f16_f16, f16, true, 10000); }
TEST_CASE("DOT2 bf16 from bf16, gfx11") { compare16(Op::v_dot2_bf16_bf16, bf16, false, 10000); }
TEST_CASE("DOT2 bf16 from bf16, gfx12") { compare16(Op::v_dot2_bf16_bf16, bf16, true, 10000); }
