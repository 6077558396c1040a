// SPDX-License-Identifier: MIT
// Transcendentals: words and digests published from captures, then error bounds against libm.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <random>

#include "sim/alu/lane_op.h"
#include "sim/func/alu/fp.h"
#include "sim/func/alu/frames.h"
#include "sim/func/choices.h"

using namespace nw;
using namespace nw::sim;
using namespace nw::sim::test;

namespace {

struct Word {
    u32 input, result;
};

void check_words(const char *name, std::initializer_list<Word> words) {
    for (Word w : words) {
        INFO(std::hex, std::string(name), " of ", w.input);
        CHECK(lane_op(name, w.input) == w.result);
    }
}

// FNV-1a over whole words, as the published digests are.
u64 digest(const char *name, u32 count, const std::function<u32(u32)> &input) {
    u64 d = 14695981039346656037ull;
    Row x, r;
    for (u32 base = 0; base < count; base += row_lanes) {
        for (u32 l = 0; l < row_lanes; ++l)
            x.lane[l] = input(base + l);
        lane_op(name, r, x);
        for (u32 l = 0; l < row_lanes; ++l)
            d = (d ^ r.lane[l]) * 1099511628211ull;
    }
    return d;
}

f32 value(u32 bits) { return std::bit_cast<f32>(bits); }

// |result - exact| in units of the result's last place.
double ulps(u32 result, double exact) {
    double r = value(result);
    int e = std::max(std::ilogb(exact), -126);
    return std::fabs(r - exact) / std::ldexp(1.0, e - 23);
}

void check_bound(const char *name, double (*exact)(double), double bound) {
    std::mt19937 random(7);
    for (int i = 0; i < 200000; ++i) {
        u32 x = static_cast<u32>(random()) & 0x7fffffff;
        if (x < 0x00800000 || x >= 0x7f800000)
            continue;
        double want = exact(value(x));
        if (!(std::fabs(want) >= 0x1p-126 && std::fabs(want) < 0x1p128))
            continue;
        INFO(std::hex, std::string(name), " of ", x);
        REQUIRE(ulps(lane_op(name, x), want) <= bound);
    }
}

double exact_rcp(double x) { return 1 / x; }
double exact_rsq(double x) { return 1 / std::sqrt(x); }
double exact_sqrt(double x) { return std::sqrt(x); }
double exact_exp(double x) { return std::exp2(x); }
double exact_log(double x) { return std::log2(x); }

} // namespace

TEST_CASE("rcp, rsq, sqrt: published words") {
    check_words("v_rcp_f32", {{0x3f800000, 0x3f800000},
                              {0x3f800001, 0x3f7ffffe},
                              {0x3f81ffff, 0x3f7c0fc3},
                              {0x3f820000, 0x3f7c0fc1},
                              {0x3fc00000, 0x3f2aaaaa},
                              {0x3fffffff, 0x3f000001},
                              {0x3f802922, 0x3f7fadd6},
                              {0x3f932edd, 0x3f5ea262},
                              {0x3fb0333c, 0x3f39f868},
                              {0x3ffff486, 0x3f0005be},
                              {0x00800000, 0x7e800000},
                              {0x7e800000, 0x00800000},
                              {0x7e800001, 0x00000000},
                              {0xff000000, 0x80000000},
                              {0x80000001, 0xff800000},
                              {0xff800000, 0x80000000},
                              {0x7fa12345, 0x7fe12345}});
    check_words("v_rcp_iflag_f32", {{0x3fc00000, 0x3f2aaaaa}, {0, 0x7f800000}});
    check_words("v_rsq_f32", {{0x3f800001, 0x3f7fffff},
                              {0x3f83ffff, 0x3f7c1765},
                              {0x3f8040c4, 0x3f7fbf55},
                              {0x3fbfffff, 0x3f5105ec},
                              {0x40000000, 0x3f3504f3},
                              {0x40000001, 0x3f3504f2},
                              {0x407fffff, 0x3f000000},
                              {0x80000000, 0xff800000},
                              {0x00000001, 0x7f800000},
                              {0xbf800000, 0xffc00000},
                              {0x7f800000, 0x00000000},
                              {0xffa12345, 0xffe12345}});
    check_words("v_sqrt_f32", {{0x3f7a2707, 0x3f7d0f30},
                               {0x3f800001, 0x3f800000},
                               {0x3f80005f, 0x3f800030},
                               {0x4005a8f7, 0x3fb8fa71},
                               {0x4006e699, 0x3fb9d5ba},
                               {0x00800001, 0x20000000},
                               {0x00ffffff, 0x203504f3},
                               {0x407fffff, 0x3fffffff},
                               {0x7f7fffff, 0x5f7fffff},
                               {0x80000001, 0x80000000},
                               {0xbf800000, 0xffc00000},
                               {0x7f800000, 0x7f800000}});
}

TEST_CASE("exp, log: published words") {
    check_words("v_log_f32", {{0x3f000000, 0xbf800000},
                              {0x3f7bffff, 0xbcba1fa3},
                              {0x3f7c0000, 0xbcba1f74},
                              {0x3f7c0001, 0xbcba1f46},
                              {0x3f7dffff, 0xbc39643a},
                              {0x3f7ffffd, 0xb48a7fae},
                              {0x3f7fffff, 0xb3b8aa3c},
                              {0x3f800000, 0x00000000},
                              {0x3f800001, 0x3438aa3b},
                              {0x3f800043, 0x37415204},
                              {0x3f80ffff, 0x3c37f1ce},
                              {0x3f820001, 0x3cb73d0f},
                              {0x3f83ffff, 0x3d35d66f},
                              {0x3f840000, 0x3d35d69c},
                              {0x3f860001, 0x3d8759db},
                              {0x3fffffff, 0x3f7fffff},
                              {0x807fffff, 0xff800000},
                              {0xff800000, 0xffc00000},
                              {0x7fa12345, 0x7fe12345}});
    check_words("v_exp_f32", {{0x337fffff, 0x3f800000},
                              {0xb37fffff, 0x3f800000},
                              {0xb3800000, 0x3f7fffff},
                              {0x42ffffff, 0x7f7fffa7},
                              {0x43000000, 0x7f800000},
                              {0xc2fc0000, 0x00800000},
                              {0xc2fc0001, 0x00000000},
                              {0x3f0567ec, 0x3fb7b03d},
                              {0xc114ed44, 0x3acecc1e},
                              {0x3e000090, 0x3f8b95d0},
                              {0x3f600022, 0x3feac0dc},
                              {0xff800000, 0x00000000},
                              {0xffa12345, 0xffe12345}});
}

TEST_CASE("whole ranges: published digests") {
    auto from = [](u32 first) { return [first](u32 i) { return first + i; }; };
    CHECK(digest("v_rcp_f32", 1 << 23, from(0x3f800000)) == 0xd54ec24992572df9);
    CHECK(digest("v_rsq_f32", 1 << 24, from(0x3f800000)) == 0x010bc79eb6e48caf);
    CHECK(digest("v_sqrt_f32", 1 << 24, from(0x3f800000)) == 0x514d49d31f12176b);
    CHECK(digest("v_log_f32", 1 << 24, from(0x3f000000)) == 0xc33a54efbae098be);
    for (u32 sign : {0u, 1u}) {
        auto turn = [sign](u32 i) {
            return std::bit_cast<u32>(static_cast<f32>(i) * 0x1p-24f) | sign << 31;
        };
        CHECK(digest("v_exp_f32", 1 << 24, turn) ==
              (sign ? 0x88b75684494db8d3 : 0x68959bb684f42e5f));
    }
}

TEST_CASE("f32 results are within one ulp") {
    check_bound("v_rcp_f32", exact_rcp, 1);
    check_bound("v_rsq_f32", exact_rsq, 1);
    check_bound("v_sqrt_f32", exact_sqrt, 1);
    check_bound("v_exp_f32", exact_exp, 1);
    check_bound("v_log_f32", exact_log, 1);
}

TEST_CASE("MODE has no say in f32 transcendentals, IEEE = 0 lets a signalling NaN pass") {
    std::mt19937 random(3);
    for (const char *name : {"v_rcp_f32", "v_rsq_f32", "v_sqrt_f32", "v_exp_f32", "v_log_f32"})
        for (int i = 0; i < 3000; ++i) {
            u32 x = static_cast<u32>(random());
            u32 want = lane_op(name, x);
            for (u32 round = 0; round < 4; ++round)
                for (u32 denorm = 0; denorm < 4; ++denorm)
                    REQUIRE(lane_op(name, x, make_mode(round, denorm)) == want);
        }
    Mode m = make_mode(0, 3);
    m.bits &= ~(1u << 9);
    m.update();
    CHECK(lane_op("v_exp_f32", 0x7fa12345, m) == 0x7fa12345);
}

TEST_CASE("sine and cosine of turns") {
    check_words("v_sin_f32", {{0, 0},
                              {0x80000000, 0x80000000},
                              {0x3e800000, 0x3f800000},
                              {0x3f000000, 0},
                              {0x3f400000, 0xbf800000},
                              {0x4b000000, 0},
                              {0x7f800000, 0xffc00000},
                              {0x39bfffff, 0x3b16cbdf},
                              {0x7fa12345, 0x7fe12345}});
    check_words("v_cos_f32", {{0, 0x3f800000},
                              {0x3e800000, 0},
                              {0x3f000000, 0xbf800000},
                              {0x3f400000, 0},
                              {0x3f800000, 0x3f800000},
                              {0xff800000, 0xffc00000}});
    std::mt19937 random(5);
    for (int i = 0; i < 200000; ++i) {
        u32 exponent = 100 + static_cast<u32>(random()) % 45;
        u32 x = (static_cast<u32>(random()) & 0x807fffff) | exponent << 23;
        double turns = value(x) - std::floor(static_cast<double>(value(x)));
        INFO(std::hex, x);
        REQUIRE(std::fabs(value(lane_op("v_sin_f32", x)) - std::sin(turns * 2 * M_PI)) < 0x1p-22);
        REQUIRE(std::fabs(value(lane_op("v_cos_f32", x)) - std::cos(turns * 2 * M_PI)) < 0x1p-22);
    }
    Mode flush = make_mode(0, 0);
    CHECK(lane_op("v_sin_f32", 0x00400000) == 0x01490fd5);
    CHECK(lane_op("v_sin_f32", 0x80400000, flush) == 0x80000000);
}

TEST_CASE("f16: every source is correctly rounded") {
    struct {
        const char *name;
        double (*exact)(double);
    } ops[] = {{"v_rcp_f16", exact_rcp},
               {"v_rsq_f16", exact_rsq},
               {"v_sqrt_f16", exact_sqrt},
               {"v_exp_f16", exact_exp},
               {"v_log_f16", exact_log}};
    Mode nearest = make_mode(0, 3);
    for (auto &op : ops) {
        for (u32 h = 0; h < 0x10000; ++h) {
            u32 r = lane_op(op.name, h);
            if ((h & 0x7fff) > 0x7c00) {
                REQUIRE(r == (h | 0x200));
                continue;
            }
            double want = op.exact(base::fp::widen16(h));
            if (want != want) {
                REQUIRE(r == 0xfe00);
                continue;
            }
            if (h == 0x8000 && op.exact == exact_rsq)
                want = -INFINITY;
            u32 rounded = base::fp::narrow16(want, nearest);
            INFO(std::hex, std::string(op.name), " of ", h);
            REQUIRE(r == rounded);
        }
    }
}

TEST_CASE("f16 follows MODE's subnormals and FP16_OVFL, not its rounding") {
    Mode flush = make_mode(0, 0);
    CHECK(lane_op("v_rcp_f16", 0x0001, flush) == 0x7c00);
    CHECK(lane_op("v_sqrt_f16", 0x8001, flush) == 0x8000);
    CHECK(lane_op("v_rcp_f16", 0x7bff, flush) == 0);
    CHECK(lane_op("v_rcp_f16", 0x7bff) == 0x0100);
    Mode saturating = make_mode(0, 3);
    saturating.bits |= 1u << 23;
    saturating.update();
    CHECK(lane_op("v_rcp_f16", 0x8000, saturating) == 0xfbff);
    CHECK(lane_op("v_exp_f16", 0x4c00, saturating) == 0x7bff);
    CHECK(lane_op("v_exp_f16", 0x7c00, saturating) == 0x7c00);
    for (u32 round = 1; round < 4; ++round)
        for (u32 h = 0; h < 0x7c00; h += 7)
            REQUIRE(lane_op("v_exp_f16", h, make_mode(round, 3)) == lane_op("v_exp_f16", h));
}

TEST_CASE("f64: within 2^29 ulp, as documented; ends of the range") {
    struct {
        const char *name;
        double (*exact)(double);
    } ops[] = {{"v_rcp_f64", exact_rcp}, {"v_rsq_f64", exact_rsq}, {"v_sqrt_f64", exact_sqrt}};
    std::mt19937_64 random(9);
    for (auto &op : ops)
        for (int i = 0; i < 100000; ++i) {
            u64 bits = random() >> 1;
            double x = std::bit_cast<double>(bits), want = op.exact(x);
            if (!std::isfinite(x) || !std::isnormal(want))
                continue;
            double r = std::bit_cast<double>(lane_op64(op.name, bits));
            INFO(std::string(op.name), " of ", x);
            REQUIRE(std::fabs(r / want - 1) < 0x1p-24);
        }
    auto rcp = [](double x, const Mode &m = make_mode(0, 3)) {
        return std::bit_cast<double>(lane_op64("v_rcp_f64", std::bit_cast<u64>(x), m));
    };
    CHECK(rcp(4.0) == 0.25);
    CHECK(rcp(-0x1p-1074) == -INFINITY);
    CHECK(rcp(0x1p1023) == 0x1p-1023);
    CHECK(rcp(0x1p1023, make_mode(0, 0)) == 0);
    CHECK(rcp(0x1p-1073, make_mode(0, 0)) == INFINITY);
    CHECK(rcp(0x1.fffffffffffffp0) == 0x1.0000000000001p-1);
    CHECK(rcp(0x1.0000000000001p0) == 0x1.fffffffffffffp-1);
    CHECK(lane_op64("v_rsq_f64", u64{1} << 63) == u64{0xfff} << 52);
    CHECK(lane_op64("v_sqrt_f64", std::bit_cast<u64>(-1.0)) == u64{0xfff8} << 48);
    CHECK(lane_op64("v_sqrt_f64", u64{1} << 63) == u64{1} << 63);
}

namespace {

// How many f16 sources give another result under these choices.
unsigned halves_changed(const char *name, const char *choices) {
    unsigned changed = 0;
    for (u32 h = 0; h < 0x10000; ++h) {
        u32 usual = lane_op(name, h);
        ChoicesScope scope(choices);
        changed += lane_op(name, h) != usual;
    }
    return changed;
}

} // namespace

TEST_CASE("S-012: only f16's exp, sin and cos depend on how they are rounded") {
    CHECK(halves_changed("v_exp_f16", "exp_f16=twice") > 0);
    CHECK(halves_changed("v_sin_f16", "trig_bits=nearest") == 14);
    CHECK(halves_changed("v_cos_f16", "trig_bits=nearest") == 4);
    ChoicesScope scope("exp_f16=twice");
    for (u32 h : {0x0000u, 0x3c00u, 0x4000u, 0xc000u, 0x7c00u, 0xfc00u}) // exact either way
        CHECK(lane_op("v_exp_f16", h) ==
              base::fp::narrow16(std::exp2(base::fp::widen16(h)), make_mode(0, 3)));
}

TEST_CASE("S-013: sine and cosine to the nearest") {
    ChoicesScope scope("trig_bits=nearest");
    std::mt19937 random(11);
    for (int i = 0; i < 100000; ++i) {
        u32 exponent = 90 + static_cast<u32>(random()) % 59; // up to 2^22 turns
        u32 x = (static_cast<u32>(random()) & 0x807fffff) | exponent << 23;
        double turns = std::remainder(static_cast<double>(value(x)), 1.0);
        double sine = std::sin(turns * 2 * M_PI), cosine = std::cos(turns * 2 * M_PI);
        INFO(std::hex, x);
        constexpr double sure = 0x1p-24; // closer to zero, these two are not accurate themselves
        if (exponent < 125 || std::fabs(sine) > sure)
            REQUIRE(ulps(lane_op("v_sin_f32", x), sine) <= 0.5000001);
        if (std::fabs(cosine) > sure)
            REQUIRE(ulps(lane_op("v_cos_f32", x), cosine) <= 0.5000001);
    }
    check_words("v_sin_f32", {{0x3e800000, 0x3f800000},
                              {0x3f000000, 0},
                              {0xbf400000, 0x3f800000},
                              {0x4b000000, 0},
                              {0x7f800000, 0xffc00000}});
    check_words("v_cos_f32", {{0, 0x3f800000}, {0x3e800000, 0}, {0x3f000000, 0xbf800000}});
}

TEST_CASE("S-013: the model is not always the nearest value") {
    std::mt19937 random(12);
    unsigned differ = 0, count = 20000;
    for (unsigned i = 0; i < count; ++i) {
        u32 x = 0x3e000000 + static_cast<u32>(random()) % 0x02000000;
        u32 model = lane_op("v_sin_f32", x);
        ChoicesScope scope("trig_bits=nearest");
        u32 nearest = lane_op("v_sin_f32", x);
        differ += model != nearest;
        REQUIRE(std::fabs(value(model) - value(nearest)) < 0x1p-22);
    }
    CHECK(differ > count / 10);
}

TEST_CASE("S-013: arguments beyond 256 turns") {
    auto both = [](u32 x) { return std::pair(lane_op("v_sin_f32", x), lane_op("v_cos_f32", x)); };
    const u32 inside = 0xc3800000, beyond = 0x43808000, far = 0xc7800200; // 256, 257, 65540 turns
    const u32 odd = 0x43804000;                                           // 256.5
    auto usual = both(odd);
    CHECK(usual == std::pair(0u, 0xbf800000u));
    ChoicesScope scope("trig_range=turns256");
    CHECK(both(odd) == std::pair(0u, 0x3f800000u));
    CHECK(both(inside) == std::pair(0u, 0x3f800000u));
    for (u32 x : {beyond, far, far + 1, 0x437fc000u}) {
        auto limited = both(x);
        if (x != 0x437fc000) // 255.75
            CHECK(limited == std::pair(0u, 0x3f800000u));
        else
            CHECK(limited == std::pair(0xbf800000u, 0u));
    }
    CHECK(lane_op("v_sin_f32", 0x7f800000) == 0xffc00000);
}
