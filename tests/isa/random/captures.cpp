// SPDX-License-Identifier: MIT
#include "isa/random/captures.h"

#include <fmt/format.h>

#include "isa/random/steps.h"

namespace nw::oracle {

namespace {

// clang-format off
constexpr Capture of_f16[] = {
    {0x48004200, 0x44004800, 0xbf800000, 0x425c0001, 0x425c0000},
    {0xc800c200, 0x44004800, 0x3f800000, 0xc25c0001, 0xc25c0000},
    {0x3c00bc00, 0x3c003c00, 0x3f800000, 0x3f7fffff, 0x3f800000},
    {0x3c003c00, 0x3c003c00, 0xc0000000, 0x34000000, 0x00000000},
    {0x3c004000, 0x3c003c00, 0xc0000000, 0x3f800002, 0x3f800000},
    {0x4800c800, 0x48004800, 0x3f800000, 0x3f7fffc0, 0x3f800000},
    {0x3c00bc00, 0x3c000000, 0x00000000, 0x3f7fffff, 0x3f800000},
    {0x3c003c00, 0x3c000000, 0x80000000, 0x3f800001, 0x3f800000},
    {0x80008000, 0x3c003c00, 0x00800000, 0x00800000, 0x00800000},
    {0x00000001, 0x3c008001, 0x00000000, 0xa7880000, 0xa7800000},
    {0x058ef3f3, 0x2b241c4a, 0xb8eed486, 0xc2886106, 0xc2886106},
    {0xcd6c4d6c, 0x78af78af, 0x00000000, 0xbd000000, 0x00000000},
    {0xb09d309d, 0x0fe50fe5, 0x00000000, 0xac000000, 0x00000000},
    {0x84950495, 0x3d283d28, 0x80000000, 0x2c800000, 0x00000000},
    {0x3644b644, 0xc365c365, 0x80000000, 0x33000000, 0x00000000},
    {0x3c003c00, 0x3c003c00, 0x7f812345, 0x7fc12345, 0x7fc12345},
    {0x3c007c01, 0x3c003c00, 0x00000000, 0xffc00a3d, 0xffc00a3d},
    {0x3c007c00, 0x3c000000, 0x7fc12345, 0xffc00000, 0xffc00000},
    {0x7c000401, 0x80000401, 0xff9a5ce2, 0xffc00000, 0xffc00000},
    {0x8000fc00, 0x04013c00, 0x00800000, 0xff800000, 0xff800000},
    {0x3c003c00, 0x7bff7e5a, 0xffa6c1fe, 0xffc00a3d, 0xffc00a3d}};
constexpr Capture of_bf16[] = {
    {0x41004040, 0x40804100, 0xbf800000, 0x425c0001, 0x425c0000},
    {0x3f803f80, 0x3f803f80, 0xc0000000, 0x34000000, 0x00000000},
    {0x00800000, 0x3f808000, 0x00000000, 0x00000000, 0x00800000},
    {0x00800000, 0x3f808000, 0x00000001, 0x00000000, 0x00800001},
    {0x00000001, 0x3f804980, 0x00000000, 0x00000000, 0x07000000},
    {0x00800080, 0x3f003f00, 0x00000000, 0x00800000, 0x00800000},
    {0xff7f7f7f, 0x7f7f7f7f, 0x00000000, 0xff800000, 0x00000000},
    {0xf9e2d6b1, 0xe2adf60c, 0xeddb846f, 0x7f800000, 0x7f800000},
    {0xc395629b, 0xd9633359, 0xdc60025c, 0x5d504185, 0x5d504184},
    {0xce354e35, 0x7bfd7bfd, 0x00000000, 0xfe000000, 0x00000000},
    {0xafb72fb7, 0x0d170d17, 0x00000000, 0x00000000, 0x00000000},
    {0x811e011e, 0x3cfd3cfd, 0x80000000, 0x00000000, 0x00000000},
    {0xa3202320, 0xde25de25, 0x80000000, 0x35800000, 0x00000000},
    {0x7f800081, 0x80000081, 0xff9a5ce2, 0xffc00000, 0xffc00000},
    {0x0001ffea, 0x00807fd8, 0xff800000, 0xffc00a3d, 0xffc00a3d}};
// clang-format on

u64 modelled(const Format &f, const Capture &x, bool gfx12) {
    const bool flush = !gfx12 && f == bf16;
    const Factor a[] = {factor(f, x.a & 0xffff, flush), factor(f, x.a >> 16, flush)},
                 b[] = {factor(f, x.b & 0xffff, flush), factor(f, x.b >> 16, flush)};
    return step(a, b, x.c, {gfx12, f32, factor_nan(f32)});
}

} // namespace

std::span<const Capture> captures(const Format &factors) {
    return factors == f16 ? std::span<const Capture>(of_f16) : of_bf16;
}

u64 wrong_captures() {
    u64 wrong = 0;
    for (const Format &f : {f16, bf16})
        for (const Capture &x : captures(f))
            for (bool gfx12 : {false, true}) {
                const u64 want = gfx12 ? x.gfx1201 : x.gfx1100, got = modelled(f, x, gfx12);
                if (got == want)
                    continue;
                fmt::print("steps.h, {}: a {:#x} b {:#x} c {:#x}: got {:#x}, captured {:#x}\n",
                           gfx12 ? "gfx1201" : "gfx1100", x.a, x.b, x.c, got, want);
                ++wrong;
            }
    return wrong;
}

} // namespace nw::oracle
