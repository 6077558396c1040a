// SPDX-License-Identifier: MIT
// Float WMMA, bit by bit: every element of D is a chain of the slow model's steps, on hard values.
#include <doctest/doctest.h>

#include "sim/alu/slow_dot.h"
#include "sim/func/alu/matrix.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

constexpr unsigned side = 16, first_a = 8, first_b = 16, first_c = 24;

struct Case {
    MatrixOp op;
    bool gfx12;
    unsigned halves; // of the wave: 1 for wave32
    Format in() const { return op.a == Element::f16 ? f16 : bf16; }
    Format out() const { return op.c == Element::f32 ? f32_format : in(); }
    unsigned elements() const { return 8 / halves; }
};

struct Problem {
    u32 a[side][side], b[side][side], c[side][side]; // b by column
};

struct TestWave {
    Row registers[2 * vgpr_count];
    Wave w;
    explicit TestWave(const Case &c) {
        w.v = registers;
        w.halves = c.halves;
        w.mode.gfx12 = c.gfx12;
        w.mode.bits = 0xf0 | 3 << 8;
        w.mode.update();
    }
};

// Where 2.53 and 2.55 put element k of a row of A or a column of B; `copy` counts gfx11's.
u32 &dword(TestWave &t, unsigned reg, unsigned lane) {
    return t.w.row(reg, lane / row_lanes)[lane % row_lanes];
}
void put_factor(TestWave &t, const Case &c, unsigned reg, unsigned row, unsigned k, u32 value) {
    auto put = [&](unsigned r, unsigned lane) { dword(t, reg + r, lane) |= value << 16 * (k % 2); };
    if (!c.gfx12) {
        for (unsigned lane = row; lane < row_lanes * c.halves; lane += side)
            put(k / 2, lane);
        return;
    }
    // In the order of registers; a wave32's order of k exchanges bits 2 and 3.
    unsigned at = c.halves == 2 ? k : (k & 3) | (k >> 3 & 1) << 2 | (k >> 2 & 1) << 3;
    unsigned per_lane = 8 / c.halves;
    put(at % per_lane / 2, row + side * (at / per_lane));
}

unsigned row_of(const Case &c, unsigned e, unsigned lane) {
    return c.gfx12 ? e + 8 * (lane / side % 2) + 4 * (lane / row_lanes)
                   : 2 * c.halves * e + lane / side;
}

u32 get(TestWave &t, const Case &c, unsigned e, unsigned lane) {
    if (c.op.c == Element::f32 || !c.gfx12)
        return dword(t, first_c + e, lane) & (c.op.c == Element::f32 ? ~0u : 0xffff);
    return dword(t, first_c + e / 2, lane) >> 16 * (e % 2) & 0xffff;
}
void put(TestWave &t, const Case &c, unsigned e, unsigned lane, u32 value) {
    if (c.op.c == Element::f32 || !c.gfx12)
        dword(t, first_c + e, lane) = value;
    else
        dword(t, first_c + e / 2, lane) |= value << 16 * (e % 2);
}

void fill(TestWave &t, const Case &c, const Problem &p) {
    std::memset(static_cast<void *>(t.registers), 0, sizeof t.registers);
    for (unsigned i = 0; i < side; ++i)
        for (unsigned k = 0; k < side; ++k) {
            put_factor(t, c, first_a, i, k, p.a[i][k]);
            put_factor(t, c, first_b, i, k, p.b[i][k]);
        }
    for (unsigned e = 0; e < c.elements(); ++e)
        for (unsigned lane = 0; lane < row_lanes * c.halves; ++lane)
            put(t, c, e, lane, p.c[row_of(c, e, lane)][lane % side]);
}

u32 chain(const Case &c, const Problem &p, unsigned i, unsigned j) {
    u32 r = p.c[i][j];
    unsigned step = c.gfx12 ? 4 : 2;
    for (unsigned k = 0; k < side; k += step) {
        u32 a[2] = {}, b[2] = {};
        for (unsigned n = 0; n < step; ++n) {
            a[n / 2] |= p.a[i][k + n] << 16 * (n % 2);
            b[n / 2] |= p.b[j][k + n] << 16 * (n % 2);
        }
        r = slow_dot(a, b, static_cast<int>(step / 2), r, c.in(), c.out(), c.gfx12);
    }
    return r;
}

void run(const Frames &f, TestWave &t, const MatrixOp &op) {
    Matrix m;
    m.op = op;
    m.a = first_a, m.b = first_b, m.d = first_c;
    m.c.kind = Source::vgpr;
    m.c.at = first_c;
    Inst i;
    i.matrix = &m;
    f.matrix(t.w, i);
}

// Tame values, hard ones, or tame ones with a hard one here and there.
Problem random_problem(const Case &c, std::mt19937 &random, int kind) {
    auto factor = [&] {
        bool hard = kind == 1 || (kind == 2 && random() % 64 == 0);
        return (hard ? hard16 : tame16)(random, c.in());
    };
    Problem p;
    for (unsigned i = 0; i < side; ++i)
        for (unsigned k = 0; k < side; ++k) {
            p.a[i][k] = factor(), p.b[i][k] = factor();
            p.c[i][k] = c.op.c != Element::f32 ? factor()
                        : kind == 1            ? hard32(random)
                                               : tame32(random);
        }
    return p;
}

void check(const Case &c, int rounds) {
    std::mt19937 random(c.halves * 2 + c.gfx12);
    auto t = std::make_unique<TestWave>(c);
    int wrong = 0;
    for (int round = 0; round < rounds; ++round) {
        Problem p = random_problem(c, random, round % 3);
        u32 want[side][side];
        for (unsigned i = 0; i < side; ++i)
            for (unsigned j = 0; j < side; ++j)
                want[i][j] = chain(c, p, i, j);
        for (int n = 0; n < levels(); ++n) {
            fill(*t, c, p);
            run(level(n), *t, c.op);
            for (unsigned e = 0; e < c.elements(); ++e)
                for (unsigned lane = 0; lane < row_lanes * c.halves && wrong < 5; ++lane) {
                    u32 got = get(*t, c, e, lane), i = row_of(c, e, lane), j = lane % side;
                    if (got == want[i][j])
                        continue;
                    ++wrong;
                    INFO(c.op.name, c.gfx12 ? " gfx12" : " gfx11", " wave", 32 * c.halves,
                         " level ", n, " row ", i, " column ", j, " kind ", round % 3);
                    INFO(std::hex, "c ", p.c[i][j], " got ", got, " want ", want[i][j]);
                    CHECK(got == want[i][j]);
                }
        }
    }
    CHECK(wrong == 0);
}

} // namespace

TEST_CASE("float WMMA is a chain of fixed-point steps") {
    for (const char *name : {"v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_bf16",
                             "v_wmma_f16_16x16x16_f16", "v_wmma_bf16_16x16x16_bf16"})
        for (bool gfx12 : {false, true})
            for (unsigned halves : {1u, 2u})
                check({*find_matrix_op(name), gfx12, halves}, 18);
}

TEST_CASE("HIPSIM_MATH=fast adds in f32, in ascending k") {
    for (bool gfx12 : {false, true})
        for (const char *name : {"v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_bf16"}) {
            Case c{*find_matrix_op(name), gfx12, 1};
            std::mt19937 random(3);
            Problem p = random_problem(c, random, 0);
            for (int n = 0; n < levels(); ++n) {
                auto t = std::make_unique<TestWave>(c);
                t->w.mode.fast = true;
                fill(*t, c, p);
                run(level(n), *t, c.op);
                for (unsigned e = 0; e < c.elements(); ++e)
                    for (unsigned lane = 0; lane < row_lanes; ++lane) {
                        unsigned i = row_of(c, e, lane), j = lane % side;
                        auto value = [&](u32 bits) {
                            Number x = decode(bits, c.in(), false);
                            float v = std::ldexp(static_cast<float>(static_cast<i32>(x.m)), x.e);
                            return x.negative ? -v : v;
                        };
                        float sum = std::bit_cast<float>(p.c[i][j]);
                        for (unsigned k = 0; k < side; ++k)
                            sum = std::fma(value(p.a[i][k]), value(p.b[j][k]), sum);
                        REQUIRE(get(*t, c, e, lane) == std::bit_cast<u32>(sum));
                    }
            }
        }
}
