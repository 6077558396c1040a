// SPDX-License-Identifier: MIT
// Arithmetic that the host build of kernels asks for and x86 or the compiler's library doesn't
// have.
#include "base/half.h"

#include <bit>

namespace {

// The product of two halves has 22 bits and exponents from 2^-48 to 2^32: with a half added it fits
// the 113 bits of binary128 exactly, so the one conversion is the one rounding.
_Float16 fma16(_Float16 x, _Float16 y, _Float16 z) {
    return static_cast<_Float16>(static_cast<__float128>(x) * static_cast<__float128>(y) +
                                 static_cast<__float128>(z));
}

} // namespace

extern "C" {

nw::u16 host_fma16(nw::u16 x, nw::u16 y, nw::u16 z) {
    return std::bit_cast<nw::u16>(
        fma16(std::bit_cast<_Float16>(x), std::bit_cast<_Float16>(y), std::bit_cast<_Float16>(z)));
}

// float to bfloat16 and double to bfloat16, in a vector register's low half as the ABI has them.
// libgcc has them from version 13 on.
__attribute__((weak)) _Float16 __truncsfbf2(float x) {
    return std::bit_cast<_Float16>(nw::f32_to_bf16(x));
}
__attribute__((weak)) _Float16 __truncdfbf2(double x) {
    return std::bit_cast<_Float16>(nw::Bf16::narrow(x));
}
}
