// SPDX-License-Identifier: MIT
// Every lane kernel on every host level: the levels agree bit for bit, in every rounding mode, and
// EXEC only decides which lanes change.
#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "sim/func/alu/frames.h"
#include "sim/func/alu/salu.h"

using namespace nw;
using namespace nw::sim;

namespace {

u32 hard(std::mt19937 &random) {
    static const u32 values[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff,
        0x7f800000, 0xff800000, 0x7fc12345, 0x7f812345, 0xffc54321, 0x3f800000, 0xbf800000,
        0x3f000000, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x33800000, 0x387fe000,
        0x387fdfff, 0x477fefff, 0x477ff000, 0x3c003c00, 0x7c00fc00, 0x7e017c01, 0x04000400,
        0x03ff8001, 0x7bfffbff, 0xffffffff, 0x7fffffff};
    switch (random() % 3) {
    case 0:
        return values[random() % std::size(values)];
    case 1:
        return static_cast<u32>(random());
    default:
        return (random() & 1u) << 31 | (127u + random() % 32 - 16) << 23 | (random() & 0x7fffff);
    }
}

struct Rows {
    Row row[2];
};

Rows random_rows(std::mt19937 &random) {
    Rows r;
    for (Row &row : r.row)
        for (u32 &x : row.lane)
            x = hard(random);
    return r;
}

std::vector<const Frames *> levels() {
    std::vector<const Frames *> all;
    for (HostLevel level : host_levels())
        all.push_back(&frames(level));
    return all;
}

Mode mode(u32 round, u32 denorm, bool gfx12) {
    Mode m;
    m.gfx12 = gfx12;
    m.bits = round | round << 2 | denorm << 4 | denorm << 6 | 3 << 8;
    m.update();
    return m;
}

bool follows_f64_fields(const OpInfo &r) { return r.a == Type::f64 || r.d == Type::f64; }

// Kernels that do their own rounding run with the host at nearest, as the frames set it.
bool rounds_itself(const OpInfo &r) {
    return r.d == Type::f16 || r.d == Type::bf16 || r.d == Type::pkf16 || r.a == Type::pkf16 ||
           r.a == Type::pkbf16;
}

Rows call(LaneKernel k, const OpInfo &row, const Rows &d, const Rows *src, u32 exec,
          const Mode &m) {
    Rows out = d;
    u32 host = follows_f64_fields(row) ? m.mxcsr64 : m.mxcsr32;
    MxcsrScope scope(rounds_itself(row) ? host & ~(3u << 13) : host);
    k(out.row[0].lane, src[0].row[0].lane, src[1].row[0].lane,
      row.shape == Shape::acc ? d.row[0].lane : src[2].row[0].lane, exec, m);
    return out;
}

void check_row(Op op, const Mode &m, int rounds) {
    const OpInfo &row = info(op);
    const auto all = levels();
    std::mt19937 random(static_cast<unsigned>(op) * 7919u + m.bits);
    for (int round = 0; round < rounds; ++round) {
        Rows src[3] = {random_rows(random), random_rows(random), random_rows(random)};
        Rows old = random_rows(random);
        u32 exec = static_cast<u32>(random());
        Rows want = call(all[0]->lane[static_cast<size_t>(op)], row, old, src, ~0u, m);
        for (size_t n = 0; n < all.size(); ++n) {
            LaneKernel kernel = all[n]->lane[static_cast<size_t>(op)];
            Rows full = call(kernel, row, old, src, ~0u, m),
                 some = call(kernel, row, old, src, exec, m);
            for (unsigned r = 0; r < rows_of(row.d); ++r)
                for (unsigned l = 0; l < row_lanes; ++l) {
                    INFO(std::hex, row.name, " level ", n, " lane ", l, " mode ", m.bits, " a ",
                         src[0].row[r].lane[l], " b ", src[1].row[r].lane[l], " c ",
                         src[2].row[r].lane[l], " old ", old.row[r].lane[l]);
                    REQUIRE(full.row[r].lane[l] == want.row[r].lane[l]);
                    u32 masked = exec >> l & 1 ? want.row[r].lane[l] : old.row[r].lane[l];
                    REQUIRE(some.row[r].lane[l] == masked);
                }
        }
    }
}

} // namespace

TEST_CASE("host levels agree and EXEC selects, every row") {
    for (size_t n = 1; n < op_count; ++n)
        if (frames(host_levels().front()).lane[n])
            for (bool gfx12 : {false, true})
                check_row(static_cast<Op>(n), mode(0, 3, gfx12), 40);
}

TEST_CASE("host levels agree under every rounding and flush mode") {
    for (size_t n = 1; n < op_count; ++n)
        if (frames(host_levels().front()).lane[n])
            for (u32 round = 0; round < 4; ++round)
                for (u32 denorm : {0u, 1u, 2u})
                    check_row(static_cast<Op>(n), mode(round, denorm, false), 6);
}

TEST_CASE("compares agree on every host level") {
    std::mt19937 random(17);
    for (size_t n = 1; n < op_count; ++n) {
        if (!frames(host_levels().front()).mask[n])
            continue;
        for (u32 denorm : {0u, 3u}) {
            Mode m = mode(0, denorm, false);
            MxcsrScope scope(m.mxcsr32);
            for (int round = 0; round < 30; ++round) {
                Rows a = random_rows(random), b = random_rows(random);
                u32 want = frames(host_levels().front()).mask[n](a.row[0].lane, b.row[0].lane, m);
                for (const Frames *f : levels()) {
                    INFO(info(static_cast<Op>(n)).name);
                    REQUIRE(f->mask[n](a.row[0].lane, b.row[0].lane, m) == want);
                }
            }
        }
    }
}

TEST_CASE("every row has its handler, on every host level") {
    for (const Frames *f : levels())
        for (size_t n = 1; n < op_count; ++n) {
            Op op = static_cast<Op>(n);
            INFO(info(op).name);
            bool lane = info(op).shape <= Shape::acc, mask = info(op).shape == Shape::mask;
            bool scalar = salu_handler(op) || control_handler(op);
            bool there = lane   ? f->lane[n] != nullptr
                         : mask ? f->mask[n] != nullptr
                                : scalar || f->special[n] != nullptr;
            CHECK(there);
        }
}
