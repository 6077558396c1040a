// SPDX-License-Identifier: MIT
// Floating point for the oracle: formats as bits, values as MPFR numbers, MODE as isa_semantics.md
// describes it. Nothing here is shared with the simulator.
#pragma once
#include <initializer_list>
#include <mpfr.h>
#include <optional>

#include "base/types.h"

namespace nw::oracle {

struct Format {
    unsigned bits, mantissa, exponent;

    constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
    constexpr u64 sign() const { return u64{1} << (bits - 1); }
    constexpr u64 infinity() const { return ((u64{1} << exponent) - 1) << mantissa; }
    constexpr u64 quiet() const { return u64{1} << (mantissa - 1); }
    constexpr u64 largest() const { return infinity() - 1; } // finite
    constexpr u64 smallest_normal() const { return u64{1} << mantissa; }
    constexpr u64 one() const { return static_cast<u64>(bias()) << mantissa; }
    constexpr u64 default_nan() const { return sign() | infinity() | quiet(); }
    constexpr u64 magnitude(u64 x) const { return x & (sign() - 1); }
    constexpr unsigned raw_exponent(u64 x) const {
        return static_cast<unsigned>(magnitude(x) >> mantissa);
    }
    constexpr bool negative(u64 x) const { return x & sign(); }
    constexpr bool nan(u64 x) const { return magnitude(x) > infinity(); }
    constexpr bool signalling(u64 x) const { return nan(x) && !(x & quiet()); }
    constexpr bool inf(u64 x) const { return magnitude(x) == infinity(); }
    constexpr bool zero(u64 x) const { return magnitude(x) == 0; }
    constexpr bool subnormal(u64 x) const { return !zero(x) && magnitude(x) < smallest_normal(); }
    constexpr bool operator==(const Format &) const = default;
};

inline constexpr Format f16{16, 10, 5}, bf16{16, 7, 8}, f32{32, 23, 8}, f64{64, 52, 11};

enum Round : u8 { nearest = 0, up = 1, down = 2, to_zero = 3 }; // MODE's numbers (1.4)

// MODE and the generation.
struct Env {
    u32 mode = 0; // as s_setreg writes it (4.11)
    bool gfx12 = false;

    Round round(const Format &f) const { return Round(mode >> (f == f32 ? 0 : 2) & 3); }
    bool allow_in(const Format &f) const { return mode >> (f == f32 ? 4 : 6) & 1; }
    bool allow_out(const Format &f) const { return mode >> (f == f32 ? 5 : 7) & 1; }
    bool dx10_clamp() const { return gfx12 || (mode >> 8 & 1); }
    bool ieee() const { return gfx12 || (mode >> 9 & 1); }
    bool fp16_ovfl() const { return mode >> 23 & 1; }
};

// An MPFR number. Wide enough for any product of two doubles; sums are rounded by MPFR itself.
class Real {
public:
    Real() { mpfr_init2(x_, 128); }
    Real(const Format &f, u64 bits) : Real() { set(f, bits); }
    ~Real() { mpfr_clear(x_); }
    Real(const Real &) = delete;
    Real &operator=(const Real &) = delete;
    void set(const Format &, u64 bits); // not a NaN
    operator mpfr_ptr() { return x_; }
    operator mpfr_srcptr() const { return x_; }

private:
    mpfr_t x_;
};

mpfr_rnd_t host_round(Round);

u64 flushed(const Format &, u64 x, const Env &);   // as an input (1.4)
u64 quieted(const Format &, u64 nan, const Env &); // 2.3
// 2.1: the first NaN of the operands, quieted.
std::optional<u64> first_nan(const Format &, std::initializer_list<u64>, const Env &);

// How a result leaves the unit; the default is MODE's.
struct Rounding {
    Round round;
    bool keep_subnormals;
    bool saturate; // FP16_OVFL
    Rounding(const Format &f, const Env &e)
        : round(e.round(f)), keep_subnormals(e.allow_out(f)), saturate(f == f16 && e.fp16_ovfl()) {}
    Rounding(Round r, bool keep, bool sat = false)
        : round(r), keep_subnormals(keep), saturate(sat) {}
};

// The bits of `x`, which was rounded to `f`'s precision with `ternary` left over and no bound on
// its exponent: flushes (2.4), denormalises, overflows. An MPFR NaN is the default NaN (2.2).
u64 finish(const Format &f, mpfr_ptr x, int ternary, const Rounding &);

// operation(result, mpfr rounding) -> ternary, in f's precision.
template <class Operation> u64 rounded(const Format &f, const Rounding &r, Operation operation) {
    static Real x;
    mpfr_set_prec(x, f.mantissa + 1);
    int ternary = operation(static_cast<mpfr_ptr>(x), host_round(r.round));
    return finish(f, x, ternary, r);
}

// The same value in another format; NaN: sign, quiet bit and the top payload bits.
u64 converted(const Format &to, const Format &from, u64 x, const Rounding &, bool quiet = true);

// 2.10, 2.11
u64 omod(const Format &, u64 x, int power, const Env &);
u64 clamped(const Format &, u64 x, const Env &);

} // namespace nw::oracle
