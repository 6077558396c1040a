// SPDX-License-Identifier: MIT
// quantize_rows and quantize_fp8: every bit, of values of all sizes, and nothing but the rows' own.
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "base/half.h"
#include "check/check.h"
#include "ref/quantize_rows.h"
#include "runtime/launch.h"
#include "runtime/w4a16.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

struct Rows {
    Dtype dtype;
    u32 m, k;
    std::vector<u16> x; // [M, K]
    u32 pad = 0;        // elements between rows
};

Rows random(Rng &rng, const Kernel &kernel, u32 m, u32 k) {
    Rows out{dtype_of(kernel), m, k, std::vector<u16>(u64{m} * k)};
    for (u16 &x : out.x)
        x = round_to(out.dtype, rng.normal());
    return out;
}

bool same_f32(f32 got, f32 want) {
    return std::memcmp(&got, &want, sizeof got) == 0 || (std::isnan(got) && std::isnan(want));
}

bool is_fp8(const Kernel &kernel) { return kernel.family == "quantize_fp8"; }

// Bytes as the kernel puts them, and scales.
ref::Fp8Rows wanted_rows(const Kernel &kernel, const Rows &p) {
    if (is_fp8(kernel))
        return ref::quantize_fp8(p.dtype, p.x, p.m, p.k);
    const ref::QuantizedRows rows = ref::quantize_rows(p.dtype, p.x, p.m, p.k);
    const std::vector<i8> q = ref::in_dword_order(rows.q);
    return {{q.begin(), q.end()}, rows.scale};
}

// NaN in e4m3 may have either sign.
bool same_byte(const Kernel &kernel, u8 got, u8 want) {
    return got == want || (is_fp8(kernel) && (got & 0x7f) == 0x7f && (want & 0x7f) == 0x7f);
}

void check_rows(Test &t, const Kernel &kernel, const Rows &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} pad={} {}", p.m, p.k, p.pad, what));
    const u64 stride = p.k + p.pad;
    std::vector<u16> apart(p.m * stride, nan_poison);
    for (u64 row = 0; row < p.m; ++row)
        std::memcpy(&apart[row * stride], &p.x[row * p.k], 2 * u64{p.k});
    const Region x = t.region<u16>(apart), y = t.region<u8>(std::vector<u8>(u64{p.m} * p.k, 0x5e)),
                 y_scale = t.region<f32>(std::vector<f32>(p.m, -777.0f));
    Op op{.kind = is_fp8(kernel) ? OpKind::quantize_fp8 : OpKind::quantize_rows};
    op.dtype = word_of(p.dtype), op.m = p.m, op.k = p.k, op.x_stride = 2 * stride;
    op.x = address(x.data()), op.y = address(y.data()), op.y_scale = address(y_scale.data());
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("x", x, where);
    t.guards_clean("y", y, where);
    t.guards_clean("y_scale", y_scale, where);
    const ref::Fp8Rows want = wanted_rows(kernel, p);
    const std::vector<f32> scale = y_scale.read_as<f32>();
    const std::vector<u8> q = y.read_as<u8>();
    for (u64 row = 0; row < p.m; ++row)
        if (!same_f32(scale[row], want.scale[row]))
            return t.fail(
                fmt::format("y_scale[{}] is {}, not {}", row, scale[row], want.scale[row]), where);
    for (u64 i = 0; i < q.size(); ++i)
        if (!same_byte(kernel, q[i], want.y[i]))
            return t.fail(
                fmt::format("y[{},{}] is {:#x}, not {:#x}", i / p.k, i % p.k, q[i], want.y[i]),
                where);
}

// A row for each significand that the largest value, 2 to 4, may have; beside it smaller ones.
void significands(Test &t, const Kernel &kernel) {
    const Dtype dtype = dtype_of(kernel);
    const u32 bits = dtype == Dtype::f16 ? 10 : 7, rows = 1u << bits, k = 512;
    const u32 two = 0x4000; // in either type
    Rows p{dtype, rows, k, {}};
    for (u32 row = 0; row < rows; ++row)
        for (u32 i = 0; i < k; ++i) {
            const u32 smaller = two - 1 - (i * rows + row) * 7 % (7u << bits);
            p.x.push_back(static_cast<u16>((i == row % k ? two + row : smaller) | i % 2 << 15));
        }
    check_rows(t, kernel, p, "every significand");
}

// Rows whose largest value is of each size, down to 0 and up to what has no finite scale.
void sizes(Test &t, const Kernel &kernel) {
    const Dtype dtype = dtype_of(kernel);
    const u32 k = 64, exponents = dtype == Dtype::f16 ? 31 : 255,
              bits = dtype == Dtype::f16 ? 10 : 7;
    Rows p{dtype, exponents + 1, k, {}};
    for (u32 row = 0; row < p.m; ++row)
        for (u32 i = 0; i < k; ++i) {
            const u32 significand = static_cast<u32>(t.rng.below(u64{1} << bits));
            const u32 word = row < exponents ? row << bits | significand : 0;
            p.x.push_back(static_cast<u16>(word | (i % 2 << 15)));
        }
    check_rows(t, kernel, p, "every size");
}

void not_finite(Test &t, const Kernel &kernel) {
    Rows p = random(t.rng, kernel, 7, 4096 + 8);
    const f64 values[] = {NAN, INFINITY, -INFINITY};
    for (u32 row = 1; row < 7; ++row)
        p.x[row * p.k + (row % 2 ? row * 8 + row : p.k - row)] = round_to(p.dtype, values[row % 3]);
    check_rows(t, kernel, p, "rows that are not finite");
}

void check_family(Test &t, const Kernel &kernel) {
    if (t.entry)
        return check_rows(t, kernel, random(t.rng, kernel, 2, 64), "entry");
    const u32 span = 32 * 8 * 8 * kernel.number("pieces"); // of k, that a workgroup does at a time
    Rows two = random(t.rng, kernel, 2, 2 * span + 264);
    two.pad = 8;
    check_rows(t, kernel, two, "three spans");
    not_finite(t, kernel);
    if (t.checkers)
        return;
    for (u32 k : {8u, 64u, 256u, 2048u - 8, 2048u, 2056u, span - 8, span, span + 8})
        check_rows(t, kernel, random(t.rng, kernel, 3, k), "edge");
    significands(t, kernel);
    sizes(t, kernel);
}

} // namespace

CHECK_FAMILY(quantize_rows) { check_family(t, kernel); }

CHECK_FAMILY(quantize_fp8) { check_family(t, kernel); }
