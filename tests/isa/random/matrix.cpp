// SPDX-License-Identifier: MIT
#include "isa/random/matrix.h"

#include <algorithm>
#include <fmt/format.h>

namespace nw::oracle {

namespace {

const FactorFormat &factor_format(Element e, bool flush) {
    static const FactorFormat halves{f16, [](u64 x) { return factor(f16, x); }},
        kept{bf16, [](u64 x) { return factor(bf16, x); }},
        flushed_bf16{bf16, [](u64 x) { return factor(bf16, x, true); }},
        e4m3{{8, 3, 4}, [](u64 x) { return factor_fp8(static_cast<u32>(x)); }},
        e5m2{{8, 2, 5}, [](u64 x) { return factor_bf8(static_cast<u32>(x)); }};
    return e == Element::f16   ? halves
           : e == Element::fp8 ? e4m3
           : e == Element::bf8 ? e5m2
           : flush             ? flushed_bf16
                               : kept;
}

const Format &format_of(Element e) {
    return e == Element::f16 ? f16 : e == Element::bf16 ? bf16 : f32;
}

// ---- where elements lie -----------------------------------------------------------------------

unsigned words(Element e, unsigned k) { return k * bits_of(e) / 32; }

unsigned factor_registers(const MatrixCase &m, Element e, unsigned k) {
    if (!m.gfx12)
        return words(e, k);
    return std::max(1u, words(e, k) / (m.wave / 16));
}

// S-003: a wave64 has the upper half of a wave32's registers, or of an index, in lanes 32-63.
ElementPlace folded(const MatrixCase &m, ElementPlace p, unsigned registers) {
    if (m.wave == 64 && registers > 1 && p.reg >= registers / 2)
        return {p.lane + 32, p.reg - registers / 2, p.shift};
    return p;
}

// Element k of `count` of row or column 0; the others follow in the next lanes.
ElementPlace place_of_factor(const MatrixCase &m, Element e, unsigned count, unsigned k) {
    const unsigned bits = bits_of(e), per_word = 32 / bits;
    if (!m.gfx12)
        return {0, k / per_word, k % per_word * bits};
    // Chunks go to the two groups of 16 lanes in turn.
    const unsigned chunk = bits == 16 ? count / 4 : count / 2;
    const unsigned in_lane = k / (2 * chunk) * chunk + k % chunk;
    return folded(m, {k / chunk % 2 * side, in_lane / per_word, in_lane % per_word * bits},
                  words(e, count) / 2);
}

// Bits of the index that a stored pair's four has; of row 0.
ElementPlace place_of_index(const MatrixCase &m, unsigned pair) {
    const unsigned stored = m.stored_k(), chunk = bits_of(m.a) == 16 ? stored / 4 : stored / 2;
    const unsigned s = 2 * pair, in_lane = s / (2 * chunk) * chunk + s % chunk;
    ElementPlace p{s / chunk % 2 * side, 0, 2 * in_lane};
    unsigned bits = stored; // of a lane: two for each of its stored elements
    const bool one_register = words(m.a, stored) == 2;
    if (m.wave == 64 && !one_register) {
        bits /= 2;
        if (p.shift >= bits)
            p.lane += 32, p.shift -= bits;
    }
    p.shift += bits * m.key;
    return p;
}

unsigned index_bits(const MatrixCase &m) {
    const unsigned stored = m.stored_k();
    return m.wave == 64 && words(m.a, stored) > 2 ? stored / 2 : stored;
}

std::string range(unsigned first, unsigned count) {
    return count == 1 ? fmt::format("v{}", first)
                      : fmt::format("v[{}:{}]", first, first + count - 1);
}

unsigned result_registers(const MatrixCase &m) {
    return 256 / m.wave / (m.gfx12 && bits_of(m.c) == 16 ? 2 : 1);
}

constexpr unsigned at_a = 4, at_b = 12, at_c = 20, at_d = 28, at_index = 36;

bool c_is_d(const MatrixCase &m) { return m.sparse || m.in_place; }

} // namespace

unsigned bits_of(Element e) {
    return e >= Element::f32 ? 32 : e <= Element::bf16 ? 16 : e == Element::iu4 ? 4 : 8;
}

std::string MatrixCase::text() const {
    std::string c_text = range(c_is_d(*this) ? at_d : at_c, result_registers(*this));
    if (sparse)
        c_text = fmt::format("v{}", at_index);
    std::string s = fmt::format("{} {}, {}, {}, {}", mnemonic, range(at_d, result_registers(*this)),
                                range(at_a, factor_registers(*this, a, stored_k())),
                                range(at_b, factor_registers(*this, b, k)),
                                constant_c.empty() ? c_text : constant_c);
    auto list = [&](const char *name, u32 bits) {
        if (bits)
            s += fmt::format(" {}:[{},{},{}]", name, bits & 1, bits >> 1 & 1, bits >> 2 & 1);
    };
    list("op_sel", high ? 4 : 0);
    if (key)
        s += fmt::format(" index_key:{}", key);
    list("neg_lo", neg_lo);
    list("neg_hi", neg_hi);
    return s + (clamp ? " clamp" : "");
}

ElementPlace place_of_result(const MatrixCase &m, unsigned row, unsigned column) {
    if (!m.gfx12) {
        const unsigned groups = m.wave / side;
        return {row % groups * side + column, row / groups, m.high ? 16u : 0};
    }
    const unsigned in_lane = row % 8, lane = row / 8 * side + column;
    if (bits_of(m.c) == 16)
        return folded(m, {lane, in_lane / 2, in_lane % 2 * 16}, 4);
    return folded(m, {lane, in_lane, 0}, 8);
}

LaneRegisters pack(const MatrixCase &m, const Matrices &x, Random &random) {
    LaneRegisters all(m.wave * matrix_registers);
    for (u32 &word : all)
        word = static_cast<u32>(random());
    auto put = [&](unsigned lane, unsigned reg, unsigned shift, unsigned bits, u64 value) {
        u32 &word = all[lane * matrix_registers + reg - first_register];
        const u32 field = static_cast<u32>((u64{1} << bits) - 1) << shift;
        word = (word & ~field) | (static_cast<u32>(value) << shift & field);
    };
    auto factor_at = [&](Element e, unsigned first, unsigned count, unsigned row, unsigned k,
                         u64 v) {
        const ElementPlace p = place_of_factor(m, e, count, k);
        const unsigned copies = m.gfx12 ? 1 : m.wave / side; // 2.55
        for (unsigned n = 0; n < copies; ++n)
            put(p.lane + row + n * side, first + p.reg, p.shift, bits_of(e), v);
    };
    const unsigned stored = m.stored_k();
    for (unsigned row = 0; row < side; ++row) {
        for (unsigned s = 0; s < stored; ++s)
            factor_at(m.a, at_a, stored, row, s, x.a[row * stored + s]);
        for (unsigned k = 0; k < m.k; ++k)
            factor_at(m.b, at_b, m.k, row, k, x.b[row * m.k + k]);
        for (unsigned s = 0; m.sparse && s < stored; ++s) {
            const ElementPlace p = place_of_index(m, s / 2);
            put(p.lane + row, at_index, p.shift + s % 2 * 2, 2, x.k_of[row * stored + s]);
        }
        for (unsigned column = 0; column < side; ++column) {
            const ElementPlace p = place_of_result(m, row, column);
            put(p.lane, (c_is_d(m) ? at_d : at_c) + p.reg, p.shift, bits_of(m.c), x.c[row][column]);
        }
    }
    return all;
}

// ---- what they are worth ----------------------------------------------------------------------

namespace {

std::vector<u64> met_by(const MatrixCase &m, const Matrices &x, unsigned row, unsigned column) {
    std::vector<u64> b;
    const unsigned stored = m.stored_k();
    for (unsigned s = 0; s < stored; ++s) {
        const unsigned k = m.sparse ? s / 2 * 4 + x.k_of[row * stored + s] : s;
        b.push_back(x.b[column * m.k + k]);
    }
    return b;
}

std::span<const u64> row_of(const MatrixCase &m, const Matrices &x, unsigned row) {
    return std::span(x.a).subspan(row * m.stored_k(), m.stored_k());
}

u64 addend(const MatrixCase &m, const Matrices &x, unsigned row, unsigned column) {
    u64 c = m.constant_c.empty() ? x.c[row][column] : m.constant_bits;
    if (is_integer(m.c) || m.sparse)
        return c;
    const u64 sign = format_of(m.c).sign();
    c &= m.neg_hi & 4 ? ~sign : ~u64{0}; // ABS, then NEG (2.57)
    return m.neg_lo & 4 ? c ^ sign : c;
}

u64 chain(const MatrixCase &m, std::span<const u64> a, std::span<const u64> b, u64 c,
          bool saturate) {
    const bool bytes = bits_of(m.a) == 8, flush = !m.gfx12;
    const unsigned length = bytes ? 8 : m.gfx12 ? 4 : 2; // S-022
    StepRules rules{m.gfx12, format_of(m.c), factor_nan(format_of(m.c)), saturate};
    if (bytes)
        rules.factor_nan = f32.default_nan(); // S-022
    std::vector<Factor> x, y;
    for (unsigned n = 0; n < a.size(); ++n) {
        x.push_back(factor_format(m.a, flush).factor(a[n]));
        y.push_back(factor_format(m.b, flush).factor(b[n]));
        const u32 neg = n % 2 ? m.neg_hi : m.neg_lo; // 2.57
        x[n].negative ^= neg & 1;
        y[n].negative ^= neg >> 1 & 1;
    }
    for (unsigned n = 0; n < a.size(); n += length)
        c = step(std::span(x).subspan(n, length), std::span(y).subspan(n, length), c, rules);
    return c;
}

i64 saturated(i64 v) { return std::clamp<i64>(v, INT32_MIN, INT32_MAX); }

// 2.56, S-027: gfx12 saturates after the products of every other eight, then after the others.
u64 integer_sum(const MatrixCase &m, std::span<const u64> a, std::span<const u64> b, u64 c) {
    auto value = [&](Element e, u64 code, u32 is_signed) {
        return is_signed ? sign_extended(bits_of(e), code) : static_cast<i64>(code);
    };
    i64 sum = sign_extended(32, c);
    for (unsigned part = 0; part < 2; ++part) {
        for (unsigned n = 0; n < a.size(); ++n)
            if (n / 8 % 2 == part)
                sum += value(m.a, a[n], m.neg_lo & 1) * value(m.b, b[n], m.neg_lo & 2);
        if (m.clamp && (m.gfx12 || part == 1))
            sum = saturated(sum);
    }
    return low(32, static_cast<u64>(sum));
}

} // namespace

u64 matrix_element(const MatrixCase &m, const Matrices &x, unsigned row, unsigned column) {
    const std::span<const u64> a = row_of(m, x, row);
    const std::vector<u64> b = met_by(m, x, row, column);
    const u64 c = addend(m, x, row, column);
    return is_integer(m.c) ? integer_sum(m, a, b, c) : chain(m, a, b, c, x.saturate_f16);
}

Matrices random_matrices(const MatrixCase &m, Random &random) {
    const unsigned stored = m.stored_k();
    Matrices x;
    x.a.resize(side * stored), x.b.resize(side * m.k), x.k_of.resize(side * stored);
    x.saturate_f16 = m.c == Element::f16 && random() % 4 == 0;
    const bool tame = random() % 2;
    for (unsigned s = 0; s < side * stored; s += 2) { // SWMMAC: any order, the same one twice
        x.k_of[s] = random() & 3;
        x.k_of[s + 1] = random() & 3;
    }
    if (is_integer(m.c)) {
        auto code = [&](Element e) {
            const u64 ends[] = {0, 1, (1u << (bits_of(e) - 1)) - 1, 1u << (bits_of(e) - 1), ~0u};
            return low(bits_of(e), tame && random() % 4 ? ends[2 + random() % 3] : random());
        };
        for (u64 &v : x.a)
            v = code(m.a);
        for (u64 &v : x.b)
            v = code(m.b);
        const u32 ends[] = {0x7fffffff, 0x80000000, 0x7fffff00, 0x80000100, 0, ~0u};
        for (auto &row : x.c)
            for (u64 &v : row)
                v = random() % 2 ? ends[random() % 6] : low(32, random());
        return x;
    }
    const FactorFormat &fa = factor_format(m.a, !m.gfx12), &fb = factor_format(m.b, !m.gfx12);
    for (unsigned row = 0; row < side; ++row) {
        std::span<u64> a = std::span(x.a).subspan(row * stored, stored),
                       b = std::span(x.b).subspan(row * m.k, m.k);
        for (u64 &v : a)
            v = tame_factor(fa.format, random);
        for (u64 &v : b)
            v = tame_factor(fb.format, random);
        if (!tame) // dense rows and columns meet on the diagonal
            meeting_factors(fa, fb, a, b.first(stored), random);
    }
    for (unsigned row = 0; row < side; ++row)
        for (unsigned column = 0; column < side; ++column)
            x.c[row][column] = meeting_addend(fa, fb, row_of(m, x, row), met_by(m, x, row, column),
                                              format_of(m.c), random, tame);
    return x;
}

// ---- cases ------------------------------------------------------------------------------------

namespace {

struct Shape {
    const char *mnemonic;
    Element a, b, c;
    unsigned k;
    bool sparse, only_gfx12;
};
// clang-format off
constexpr Shape shapes[] = {
    {"v_wmma_f32_16x16x16_f16",       Element::f16,  Element::f16,  Element::f32,  16, false, false},
    {"v_wmma_f32_16x16x16_bf16",      Element::bf16, Element::bf16, Element::f32,  16, false, false},
    {"v_wmma_f16_16x16x16_f16",       Element::f16,  Element::f16,  Element::f16,  16, false, false},
    {"v_wmma_bf16_16x16x16_bf16",     Element::bf16, Element::bf16, Element::bf16, 16, false, false},
    {"v_wmma_i32_16x16x16_iu8",       Element::iu8,  Element::iu8,  Element::i32,  16, false, false},
    {"v_wmma_i32_16x16x16_iu4",       Element::iu4,  Element::iu4,  Element::i32,  16, false, false},
    {"v_wmma_i32_16x16x32_iu4",       Element::iu4,  Element::iu4,  Element::i32,  32, false, true},
    {"v_wmma_f32_16x16x16_fp8_fp8",   Element::fp8,  Element::fp8,  Element::f32,  16, false, true},
    {"v_wmma_f32_16x16x16_fp8_bf8",   Element::fp8,  Element::bf8,  Element::f32,  16, false, true},
    {"v_wmma_f32_16x16x16_bf8_fp8",   Element::bf8,  Element::fp8,  Element::f32,  16, false, true},
    {"v_wmma_f32_16x16x16_bf8_bf8",   Element::bf8,  Element::bf8,  Element::f32,  16, false, true},
    {"v_swmmac_f32_16x16x32_f16",     Element::f16,  Element::f16,  Element::f32,  32, true,  true},
    {"v_swmmac_f32_16x16x32_bf16",    Element::bf16, Element::bf16, Element::f32,  32, true,  true},
    {"v_swmmac_f16_16x16x32_f16",     Element::f16,  Element::f16,  Element::f16,  32, true,  true},
    {"v_swmmac_bf16_16x16x32_bf16",   Element::bf16, Element::bf16, Element::bf16, 32, true,  true},
    {"v_swmmac_f32_16x16x32_fp8_fp8", Element::fp8,  Element::fp8,  Element::f32,  32, true,  true},
    {"v_swmmac_f32_16x16x32_fp8_bf8", Element::fp8,  Element::bf8,  Element::f32,  32, true,  true},
    {"v_swmmac_f32_16x16x32_bf8_fp8", Element::bf8,  Element::fp8,  Element::f32,  32, true,  true},
    {"v_swmmac_f32_16x16x32_bf8_bf8", Element::bf8,  Element::bf8,  Element::f32,  32, true,  true},
    {"v_swmmac_i32_16x16x32_iu8",     Element::iu8,  Element::iu8,  Element::i32,  32, true,  true},
    {"v_swmmac_i32_16x16x32_iu4",     Element::iu4,  Element::iu4,  Element::i32,  32, true,  true},
    {"v_swmmac_i32_16x16x64_iu4",     Element::iu4,  Element::iu4,  Element::i32,  64, true,  true}};
// clang-format on

void add_variants(std::vector<MatrixCase> &all, MatrixCase m) {
    auto add = [&](auto change) {
        MatrixCase v = m;
        change(v);
        all.push_back(v);
    };
    add([](MatrixCase &) {});
    if (!m.sparse)
        add([](MatrixCase &v) { v.in_place = true; });
    if (m.sparse)
        for (unsigned key = 1; key * index_bits(m) < 32; ++key)
            add([&](MatrixCase &v) { v.key = key; });
    if (is_integer(m.c)) {
        for (u32 is_signed : {1u, 2u, 3u})
            add([&](MatrixCase &v) { v.neg_lo = is_signed, v.clamp = is_signed & 2; });
        add([](MatrixCase &v) { v.clamp = true; });
    } else if (bits_of(m.a) == 16 && !m.sparse) {
        add([](MatrixCase &v) { v.neg_lo = 5, v.neg_hi = 2; });
        add([](MatrixCase &v) { v.neg_lo = 2, v.neg_hi = 5; });
        add([](MatrixCase &v) { v.neg_lo = 7, v.neg_hi = 7; });
    } else if (bits_of(m.a) == 16) { // which of B's are even isn't published: both alike
        add([](MatrixCase &v) { v.neg_lo = 1; });
        add([](MatrixCase &v) { v.neg_lo = 2, v.neg_hi = 3; });
    }
    if (!m.sparse && bits_of(m.a) == 16) {
        const u32 minus_two = m.c == Element::f16    ? 0xc000
                              : m.c == Element::bf16 ? 0xc000
                                                     : 0xc0000000;
        add([&](MatrixCase &v) { v.constant_c = "-2.0", v.constant_bits = minus_two; });
        add([&](MatrixCase &v) { v.constant_c = "0", v.constant_bits = 0; });
    }
    if (!m.gfx12 && bits_of(m.c) == 16)
        add([](MatrixCase &v) { v.high = true; });
}

} // namespace

std::vector<MatrixCase> matrix_cases(bool gfx12, unsigned wave) {
    std::vector<MatrixCase> all;
    for (const Shape &s : shapes) {
        if (s.only_gfx12 && !gfx12)
            continue;
        MatrixCase m{s.mnemonic, s.a, s.b, s.c, s.k};
        m.sparse = s.sparse, m.gfx12 = gfx12, m.wave = wave;
        add_variants(all, m);
    }
    return all;
}

} // namespace nw::oracle
