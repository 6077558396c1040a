// SPDX-License-Identifier: MIT
// Results of atomic operations (5.18 to 5.21). The host must round to nearest here.
#include <bit>
#include <limits>

#include "sim/func/alu/fp.h"
#include "sim/func/choices.h"
#include "sim/func/memory/access.h"

namespace nw::sim {

namespace {

namespace fp = base::fp;

template <class S, class U> u64 pick(U old, U data, bool minimum) {
    bool less = static_cast<S>(old) < static_cast<S>(data);
    return less == minimum ? old : data;
}

f32 flush(f32 x, bool on) {
    u32 u = fp::bits(x);
    return on && !(u & 0x7f800000) ? fp::f32_of(u & 0x80000000) : x;
}

// 5.19: LDS follows MODE; for memory the sources disagree (S-050).
bool flushes_inputs(const Mode &m, bool lds, bool adds) {
    if (lds)
        return !m.keeps32();
    switch (choices().atomic_subnormals) {
    case choice::atomic_subnormals::kept:
        return false;
    case choice::atomic_subnormals::flushed:
        return true;
    case choice::atomic_subnormals::mode:
        return !m.keeps32();
    default:
        return adds ? !m.gfx12 : !m.keeps32();
    }
}

u32 add_f32(u32 old, u32 data, const Mode &m, bool lds) {
    bool flush_in = flushes_inputs(m, lds, true);
    f32 a = flush(fp::f32_of(old), flush_in), b = flush(fp::f32_of(data), flush_in);
    f32 r = a + b;
    if (fp::is_nan(r)) // memory's NaN takes precedence (5.20)
        r = fp::nan_of(m, a, b);
    return fp::bits(lds && !(m.bits >> 5 & 1) ? flush(r, true) : r);
}

template <class F, class U> F flushed(U bits, bool on) {
    const U sign = U{1} << (8 * sizeof(U) - 1),
            infinity = fp::bits(std::numeric_limits<F>::infinity());
    return std::bit_cast<F>(on && !(bits & infinity) ? bits & sign : bits);
}

// F: f32 or f64, U: its bits. Inputs are compared flushed; gfx11 stores the winner unflushed, gfx12
// flushed (5.19, 5.20).
template <class F, class U>
U min_max_float(U old, U data, bool minimum, const Mode &m, bool flush_in) {
    F a = flushed<F>(old, flush_in), b = flushed<F>(data, flush_in);
    if (fp::is_nan(a) || fp::is_nan(b))
        return fp::bits(fp::min_max(a, b, minimum, m));
    bool first = fp::less(a, b) == minimum;
    return m.gfx12 ? fp::bits(first ? a : b) : first ? old : data;
}

u32 min_max_f32(u32 old, u32 data, bool minimum, const Mode &m, bool lds) {
    return min_max_float<f32>(old, data, minimum, m, flushes_inputs(m, lds, false));
}
u64 min_max_f64(u64 old, u64 data, bool minimum, const Mode &m, bool lds) {
    return min_max_float<f64>(old, data, minimum, m, lds && m.keep16 != 0xffff);
}

// 5.20: compares as numbers: NaN equals nothing, +0 equals -0.
template <class F, class U> U exchange_if_equal(U old, U data, U compare) {
    return std::bit_cast<F>(old) == std::bit_cast<F>(compare) ? data : old;
}

// 5.10: stores each dword whose bit 31 is set, with that bit cleared.
u64 exchange_marked(u64 old, u64 data) {
    constexpr u64 low = 0xffffffff, high = low << 32;
    if (data >> 31 & 1)
        old = (old & high) | (data & 0x7fffffff);
    if (data >> 63)
        old = (old & low) | (data & high & ~(u64{1} << 63));
    return old;
}

// S-034: {count, id}: adds the high half once the low half matches the count.
u64 ordered_add(u64 old, u64 data) {
    if (static_cast<u32>(old) != static_cast<u32>(data))
        return old;
    return static_cast<u32>(old + 1) | ((old >> 32) + (data >> 32)) << 32;
}

u32 add_packed(u32 old, u32 data, bool bf16, const Mode &m) {
    u32 r = 0;
    for (unsigned shift : {0u, 16u}) {
        u32 x = old >> shift & 0xffff, y = data >> shift & 0xffff, sum;
        if (bf16) {
            f64 exact = f64{fp::f32_of(x << 16)} + f64{fp::f32_of(y << 16)};
            u32 u = fp::bits(static_cast<f32>(exact)); // 24 >= 2 * 8 + 2: double rounding is exact
            bool nan = (u & 0x7fffffff) > 0x7f800000;
            sum = nan ? (u >> 16 | 0x40) : (u + 0x7fff + (u >> 16 & 1)) >> 16;
        } else {
            Mode nearest;
            sum = fp::narrow16(f64{fp::widen16(x)} + f64{fp::widen16(y)}, nearest);
        }
        r |= (sum & 0xffff) << shift;
    }
    (void)m;
    return r;
}

template <class U> u64 result(Atomic op, U old, U data, U compare, const Mode &m, bool lds) {
    using S = std::make_signed_t<U>;
    switch (op) {
    case Atomic::exchange:
        return data;
    case Atomic::compare_exchange:
        return old == compare ? data : old;
    case Atomic::compare_exchange_f32:
        return exchange_if_equal<f32>(static_cast<u32>(old), static_cast<u32>(data),
                                      static_cast<u32>(compare));
    case Atomic::compare_exchange_f64:
        return exchange_if_equal<f64>(u64{old}, u64{data}, u64{compare});
    case Atomic::exchange_marked:
        return exchange_marked(old, data);
    case Atomic::ordered_add:
        return ordered_add(old, data);
    case Atomic::wrap:
        return static_cast<U>(old >= data ? old - data : old + compare);
    case Atomic::add:
        return static_cast<U>(old + data);
    case Atomic::sub:
        return static_cast<U>(old - data);
    case Atomic::subtract_from:
        return static_cast<U>(data - old);
    case Atomic::subtract_clamp:
        return old > data ? old - data : 0;
    case Atomic::subtract_if:
        return old >= data ? old - data : old;
    case Atomic::min_signed:
        return pick<S>(old, data, true);
    case Atomic::min_unsigned:
        return pick<U>(old, data, true);
    case Atomic::max_signed:
        return pick<S>(old, data, false);
    case Atomic::max_unsigned:
        return pick<U>(old, data, false);
    case Atomic::and_:
        return old & data;
    case Atomic::or_:
        return old | data;
    case Atomic::xor_:
        return old ^ data;
    case Atomic::mask_or:
        return (old & ~data) | compare;
    case Atomic::increment:
        return old >= data ? 0 : old + 1;
    case Atomic::decrement:
        return old == 0 || old > data ? data : old - 1;
    case Atomic::add_f32:
        return add_f32(static_cast<u32>(old), static_cast<u32>(data), m, lds);
    case Atomic::min_f32:
        return min_max_f32(static_cast<u32>(old), static_cast<u32>(data), true, m, lds);
    case Atomic::max_f32:
        return min_max_f32(static_cast<u32>(old), static_cast<u32>(data), false, m, lds);
    case Atomic::min_f64:
        return min_max_f64(old, data, true, m, lds);
    case Atomic::max_f64:
        return min_max_f64(old, data, false, m, lds);
    case Atomic::add_packed_f16:
        return add_packed(static_cast<u32>(old), static_cast<u32>(data), false, m);
    case Atomic::add_packed_bf16:
        return add_packed(static_cast<u32>(old), static_cast<u32>(data), true, m);
    case Atomic::none:
        break;
    }
    return old;
}

} // namespace

u64 atomic_result(Atomic op, unsigned bytes, u64 old, u64 data, u64 compare, const Mode &m,
                  bool lds) {
    if (bytes == 8)
        return result<u64>(op, old, data, compare, m, lds);
    return result<u32>(op, static_cast<u32>(old), static_cast<u32>(data), static_cast<u32>(compare),
                       m, lds);
}

} // namespace nw::sim
