// SPDX-License-Identifier: MIT
#include "isa/random/dot_operands.h"

#include <cmath>

namespace nw::oracle {

namespace {

u64 mantissa_of(const Format &f, Random &random) {
    const u64 mask = f.smallest_normal() - 1, any = random();
    switch (random() % 4) {
    case 0: // a power of two: products and sums are ties
        return 0;
    case 1: // few bits, at the top or at the bottom
        return (u64{1} << any % f.mantissa) | (any >> 32 & 1);
    case 2: // a run of ones
        return mask - ((u64{1} << any % f.mantissa) - 1);
    default:
        return any & mask;
    }
}

// `about` is the bias-free exponent, `spread` how far others lie from it.
u64 number(const Format &f, int about, unsigned spread, Random &random) {
    int field =
        about + f.bias() + static_cast<int>(random() % (spread + 1)) - static_cast<int>(spread) / 2;
    const int largest = static_cast<int>(f.infinity() >> f.mantissa) - 1;
    field = std::clamp(field, 0, largest);
    return (random() & 1 ? f.sign() : 0) | static_cast<u64>(field) << f.mantissa |
           mantissa_of(f, random);
}

enum class Kind : u8 { near, few, wide, tiny, huge, opposite, nearly_opposite, any, count };

double value(const Factor &f) {
    double v = std::ldexp(static_cast<double>(f.magnitude), f.exponent);
    return f.negative ? -v : v;
}

u64 bits_of(const Format &f, double v) {
    Real x;
    mpfr_set_d(x, v, MPFR_RNDN);
    return rounded(f, Rounding(nearest, true),
                   [&](mpfr_ptr d, mpfr_rnd_t r) { return mpfr_set(d, x, r); });
}

} // namespace

void meeting_factors(const FactorFormat &fa, const FactorFormat &fb, std::span<u64> a,
                     std::span<u64> b, Random &random) {
    const Kind kind = static_cast<Kind>(random() % static_cast<u64>(Kind::count));
    const int range = fa.format.bias();
    const int about = static_cast<int>(random() % 9) - 4;
    auto one = [&](const Format &f) {
        switch (kind) {
        case Kind::wide:
            return number(f, 0, static_cast<unsigned>(2 * range), random);
        case Kind::tiny: // products about the smallest results, some of the factors subnormal
            return number(f, random() % 2 ? -range : -range / 2, 6, random);
        case Kind::huge:
            return number(f, random() % 2 ? range : range / 2, 4, random);
        case Kind::any:
            return random() & (2 * f.sign() - 1);
        case Kind::few:
            return random() % 2 ? random() & f.sign() : number(f, about, 24, random);
        default:
            return number(f, about, 4, random);
        }
    };
    for (size_t n = 0; n < a.size(); ++n)
        a[n] = one(fa.format), b[n] = one(fb.format);
    if (kind == Kind::opposite || kind == Kind::nearly_opposite)
        for (size_t n = 0; n + 1 < a.size(); n += 2) {
            const size_t other = random() % 2 ? n + 1 : (n + 2) % a.size();
            a[other] = a[n] ^ fa.format.sign(), b[other] = b[n];
            if (kind == Kind::nearly_opposite) // differs by one unit in the last place
                a[other] ^= random() & 1, b[other] ^= random() & 1;
        }
    if (random() % 16 == 0) { // no number
        const u64 odd[] = {fa.format.infinity(), fa.format.infinity() | 1, fa.format.default_nan(),
                           0, fa.format.sign()};
        a[random() % a.size()] = odd[random() % 5] | (random() & fa.format.sign());
        if (random() % 2)
            b[random() % b.size()] = random() % 2 ? 0 : fb.format.infinity();
    }
}

u64 tame_factor(const Format &f, Random &random) {
    return random() % 8 ? number(f, 0, random() % 3 ? 4 : 10, random) : random() & f.sign();
}

u64 meeting_addend(const FactorFormat &fa, const FactorFormat &fb, std::span<const u64> a,
                   std::span<const u64> b, const Format &out, Random &random, bool tame) {
    double sum = 0;
    for (size_t n = 0; n < a.size(); ++n)
        sum += value(fa.factor(a[n])) * value(fb.factor(b[n]));
    const u64 near_zero[] = {0, out.sign(), 1, out.smallest_normal() - 1, out.smallest_normal()};
    if (tame && out == f16 && (std::abs(sum) > 32768 || std::abs(sum) < 0x1p-14))
        return tame_factor(out, random);
    switch (random() % (tame ? 3 : 8)) {
    case 0:
    case 1: // cancels, all but some units in the last place
        return bits_of(out, -sum) + random() % 5 - 2;
    case 2: // the same size
        return bits_of(out, sum) ^ (random() & out.sign());
    case 3:
    case 4: // above or below it, about where bits begin to be cut off
        return bits_of(out, std::ldexp(sum, static_cast<int>(random() % 61) - 30)) ^
               (random() & (out.sign() | 7));
    case 5:
        return near_zero[random() % 5] | (random() & out.sign());
    case 6: {
        const auto hard = hard_values(out == f16 ? T::h16 : out == bf16 ? T::pkbf16 : T::s32);
        return hard[random() % hard.size()] & (2 * out.sign() - 1);
    }
    default:
        return number(out, 0, 40, random);
    }
}

} // namespace nw::oracle
