// SPDX-License-Identifier: MIT
// carrier_w4a16: every word of every scale and zero point, and nothing but the rows' own.
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "base/half.h"
#include "check/check.h"
#include "check/ops.h"
#include "ref/carrier.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

struct Scales {
    Dtype dtype;
    u32 n, groups;
    std::vector<u16> s; // [N, groups]
    std::vector<u32> z; // [ceil(N/8), groups]; those of rows past n are no row's
    u64 pad = 0;        // bytes between rows of s; of z and carriers, twice and four times as many

    u32 row(u64 n, u64 g) const { return z[n / 8 * groups + g] >> 4 * (n % 8) & 15; }
};

// Rows of `width` words with a stride of `stride` bytes, a pattern in the gaps.
template <class T> std::vector<u8> spread(const std::vector<T> &words, u64 width, u64 stride) {
    const u64 rows = words.size() / width;
    std::vector<u8> out(rows * stride, 0xa5);
    for (u64 row = 0; row < rows; ++row)
        std::memcpy(&out[row * stride], &words[row * width], width * sizeof(T));
    return out;
}

Scales random(Rng &rng, const Kernel &kernel, u32 n, u32 groups) {
    Scales out{dtype_of(kernel), n, groups, std::vector<u16>(u64{n} * groups),
               std::vector<u32>(ceil_div<u64>(n, 8) * groups)};
    for (u16 &s : out.s)
        s = static_cast<u16>(rng.below(1 << 16));
    for (u32 &z : out.z)
        z = static_cast<u32>(rng.next());
    return out;
}

// All scales that there are, a row for each zero point.
Scales all(const Kernel &kernel) {
    Scales out{dtype_of(kernel), 16, 1 << 16, {}, {}};
    for (u32 i = 0; i < 16u << 16; ++i)
        out.s.push_back(static_cast<u16>(i));
    for (const u32 zeros : {0x76543210u, 0xfedcba98u})
        out.z.insert(out.z.end(), 1 << 16, zeros);
    return out;
}

// Equal, or both NaN where the upper half is a product.
bool alike(Dtype dtype, u32 got, u32 want) {
    const auto nan = [&](u32 word) {
        return dtype == Dtype::f16 && std::isnan(f16_to_f32(static_cast<u16>(word >> 16)));
    };
    return got == want ||
           (nan(got) && nan(want) && static_cast<u16>(got) == static_cast<u16>(want));
}

void check_carriers(Test &t, const Kernel &kernel, const Scales &p,
                    std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("n={} groups={} pad={}", p.n, p.groups, p.pad));
    const u64 s_stride = 2 * u64{p.groups} + p.pad, z_stride = 4 * u64{p.groups} + 2 * p.pad,
              stride = 4 * u64{p.groups} + 4 * p.pad;
    const std::vector<u8> blank(p.n * stride, 0xa5);
    const Region s = t.region<u8>(spread(p.s, p.groups, s_stride)),
                 z = t.region<u8>(spread(p.z, p.groups, z_stride)), out = t.region<u8>(blank);
    launch(t.modules, kernel,
           CarrierW4A16{p.dtype, p.n, 32 * p.groups, 32, s.data(), z.data(), out.data(), s_stride,
                        z_stride, stride});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("s", s, where);
    t.unchanged("z", z, where);
    t.guards_clean("carrier", out, where);
    std::vector<u8> got = out.read_as<u8>();
    for (u64 n = 0; n < p.n; ++n)
        for (u64 g = 0; g < p.groups; ++g) {
            u32 word;
            u8 *const at = &got[n * stride + 4 * g];
            std::memcpy(&word, at, sizeof word);
            const u16 scale = p.s[n * p.groups + g];
            const u32 zero = p.row(n, g), want = ref::carrier(p.dtype, scale, zero);
            if (!alike(p.dtype, word, want))
                return t.fail(fmt::format("carrier[{},{}] of s {:04x}, z {} is {:08x}, not {:08x}",
                                          n, g, scale, zero, word, want),
                              where);
            std::memset(at, 0xa5, sizeof word); // gaps between rows
        }
    if (got != blank)
        t.fail("something was written between rows", where);
}

} // namespace

CHECK_FAMILY(carrier_w4a16) {
    if (t.entry)
        return check_carriers(t, kernel, random(t.rng, kernel, kernel.rows_per_workgroup + 1, 1));
    Scales padded = random(t.rng, kernel, 17, 33);
    padded.pad = 6;
    check_carriers(t, kernel, padded);
    if (t.checkers)
        return;
    check_carriers(t, kernel, all(kernel));
    for (const auto &shape : check::edge_shapes(kernel))
        for (u32 groups : {1u, 31u, shape.k / 128, 65u, 148u})
            for (u32 pad : {0u, 2u, 128u}) {
                Scales p = random(t.rng, kernel, shape.n, groups);
                p.pad = pad;
                check_carriers(t, kernel, p);
            }
}
