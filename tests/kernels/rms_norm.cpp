// SPDX-License-Identifier: MIT
// rms_norm: within what its contract states of the f64 reference, in place and not, and nothing but
// the rows' own.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "base/half.h"
#include "check/check.h"
#include "ref/gguf_product.h"
#include "ref/rms_norm.h"
#include "runtime/launch.h"
#include "runtime/typed_ops.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

struct Rows {
    u32 m, k;
    std::vector<f32> x, w; // [M, K]; [K], empty: null
    f32 eps = 1e-6f;
    u32 pad = 0; // elements between rows
    bool in_place = false;
};

Rows random(Rng &rng, u32 m, u32 k, f32 size = 1) {
    Rows out{m, k, std::vector<f32>(u64{m} * k), std::vector<f32>(k)};
    for (f32 &x : out.x)
        x = static_cast<f32>(rng.normal()) * size;
    for (f32 &w : out.w)
        w = static_cast<f32>(1 + 0.25 * rng.normal());
    return out;
}

// Relative error of r, then of two products in f32.
f64 relative_error(const Kernel &kernel, u32 k) {
    return 0x1p-22 + (k / (4.0 * kernel.number("lanes")) + 11) * 0x1p-25 + 0x1p-23;
}

// As `values` with the row's padding of a poison that no result is.
template <class T>
std::vector<T> apart(std::span<const T> values, u32 m, u32 k, u32 pad, T poison) {
    std::vector<T> out(m * (u64{k} + pad), poison);
    for (u64 row = 0; row < m; ++row)
        std::copy_n(&values[row * k], k, &out[row * (k + pad)]);
    return out;
}

void check_values(Test &t, const Kernel &kernel, const Rows &p, const std::vector<f32> &got,
                  std::source_location where) {
    const std::vector<f64> want = ref::rms_norm(p.x, p.w, p.m, p.k, p.eps);
    const bool halves = kernel.param("y_type") == "f16";
    const f64 relative = relative_error(kernel, p.k);
    for (u64 i = 0; i < want.size(); ++i) {
        const f64 y = got[i / p.k * (p.k + p.pad) + i % p.k], most = std::fabs(want[i]) * relative;
        const auto rounded = [&](f64 v) {
            return halves ? f64{f16_to_f32(f32_to_f16(f32(v)))} : v;
        };
        const f64 tiny = halves ? 0 : 0x1p-149;
        if (y >= rounded(want[i] - most) - tiny && y <= rounded(want[i] + most) + tiny)
            continue;
        if (std::isnan(y) && std::isnan(want[i]))
            continue;
        return t.fail(
            fmt::format("y[{},{}] is {}, not {} within {}", i / p.k, i % p.k, y, want[i], most),
            where);
    }
}

std::vector<f32> values_of(const Region &y, bool halves) {
    if (!halves)
        return y.read_as<f32>();
    std::vector<f32> out;
    for (u16 word : y.read_as<u16>())
        out.push_back(f16_to_f32(word));
    return out;
}

void check_rows(Test &t, const Kernel &kernel, const Rows &p, const char *what,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} pad={} {}", p.m, p.k, p.pad, what));
    const bool halves = kernel.param("y_type") == "f16";
    const u64 row = p.k + p.pad, size = halves ? 2 : 4;
    const Region x = t.region<f32>(apart<f32>(p.x, p.m, p.k, p.pad, NAN)), w = t.region<f32>(p.w),
                 y = t.region<u8>(std::vector<u8>(p.m * row * size, 0x5e));
    const bool in_place = p.in_place && !halves;
    launch(t.modules, kernel,
           ops::RmsNorm{.y_type = halves ? "f16" : "f32",
                        .m = p.m,
                        .k = p.k,
                        .eps = p.eps,
                        .x = static_cast<const f32 *>(x.data()),
                        .w = p.w.empty() ? nullptr : static_cast<const f32 *>(w.data()),
                        .y = in_place ? x.data() : y.data(),
                        .x_stride = 4 * row,
                        .y_stride = size * row});
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("w", w, where);
    if (!in_place)
        t.unchanged("x", x, where);
    const Region &result = in_place ? x : y;
    t.guards_clean("y", result, where);
    check_values(t, kernel, p, values_of(result, halves), where);
    const std::vector<u8> bytes = result.read_as<u8>();
    for (u64 i = 0; i < p.m && !in_place; ++i)
        for (u64 at = (i * row + p.k) * size; at < (i + 1) * row * size; ++at)
            if (bytes[at] != 0x5e)
                return t.fail(fmt::format("byte {} of y, between its rows, is written", at), where);
}

enum class Sums { apart, in_x, in_b, y_in_b };

// x + b to z, each with a padding of its own, and y of these sums.
void check_sums(Test &t, const Kernel &kernel, Rows p, Sums where_z,
                std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} sums {}", p.m, p.k, static_cast<int>(where_z)));
    const u32 of_b = p.pad + 4, row = p.k + p.pad;
    const std::vector<f32> b = random(t.rng, p.m, p.k).x;
    std::vector<f32> sums(p.x.size());
    for (u64 i = 0; i < sums.size(); ++i)
        sums[i] = p.x[i] + b[i];
    const bool halves = kernel.param("y_type") == "f16";
    const Region x = t.region<f32>(apart<f32>(p.x, p.m, p.k, p.pad, NAN)), w = t.region<f32>(p.w),
                 added = t.region<f32>(apart<f32>(b, p.m, p.k, of_b, NAN)),
                 y = t.region<f32>(std::vector<f32>(u64{p.m} * row, -777.0f)),
                 own = t.region<f32>(std::vector<f32>(u64{p.m} * row, -777.0f));
    const bool y_in_b = where_z == Sums::y_in_b && !halves;
    const Region &sum = where_z == Sums::in_x ? x : where_z == Sums::in_b ? added : own;
    const u64 stride = 4 * (where_z == Sums::in_b ? u64{p.k} + of_b : row);
    launch(t.modules, kernel,
           ops::RmsNorm{.y_type = halves ? "f16" : "f32",
                        .m = p.m,
                        .k = p.k,
                        .eps = p.eps,
                        .x = static_cast<const f32 *>(x.data()),
                        .w = static_cast<const f32 *>(w.data()),
                        .y = y_in_b ? added.data() : y.data(),
                        .b = static_cast<const f32 *>(added.data()),
                        .z = static_cast<f32 *>(sum.data()),
                        .x_stride = 4 * u64{row},
                        .y_stride = y_in_b ? 4 * (u64{p.k} + of_b) : (halves ? 2 : 4) * u64{row},
                        .b_stride = 4 * (u64{p.k} + of_b),
                        .z_stride = stride});
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("z", sum, where);
    t.guards_clean("y", y_in_b ? added : y, where);
    const std::vector<f32> got = sum.read_as<f32>();
    for (u64 i = 0; i < sums.size(); ++i)
        if (got[i / p.k * (stride / 4) + i % p.k] != sums[i])
            return t.fail(fmt::format("z[{},{}] is {}, not {}", i / p.k, i % p.k,
                                      got[i / p.k * (stride / 4) + i % p.k], sums[i]),
                          where);
    p.x = sums, p.pad = y_in_b ? of_b : p.pad;
    check_values(t, kernel, p, values_of(y_in_b ? added : y, halves), where);
}

// y, and the tiles that quantize_q8 makes of it.
void check_tiles(Test &t, const Kernel &kernel, Rows p, const char *what,
                 std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} tiles {}", p.m, p.k, what));
    const Region x = t.region<f32>(p.x), w = t.region<f32>(p.w),
                 y = t.region<f32>(std::vector<f32>(p.x.size(), -777.0f)),
                 a = t.region<u8>(std::vector<u8>(u64{p.m} * ceil_div(p.k, 1024u) * 1152, 0x5e));
    launch(t.modules, kernel,
           ops::RmsNorm{.y_type = "f32",
                        .m = p.m,
                        .k = p.k,
                        .eps = p.eps,
                        .x = static_cast<const f32 *>(x.data()),
                        .w = p.w.empty() ? nullptr : static_cast<const f32 *>(w.data()),
                        .y = y.data(),
                        .a = a.data(),
                        .x_stride = 4 * p.k,
                        .y_stride = 4 * p.k});
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("y", y, where);
    const std::vector<std::byte> want = ref::quantize_q8(y.read_as<f32>(), p.m, p.k);
    const auto *const bytes = reinterpret_cast<const u8 *>(want.data());
    t.guards_clean("a", a, where);
    const auto same = [](std::span<const u8> got, std::span<const u8> expected) {
        f32 x, y; // a NaN may be any
        std::memcpy(&x, got.data(), 4), std::memcpy(&y, expected.data(), 4);
        return std::ranges::equal(got, expected) || (std::isnan(x) && std::isnan(y));
    };
    const std::vector<u8> got = a.read_as<u8>(), expected(bytes, bytes + want.size());
    for (u64 i = 0; i < want.size(); i += 4)
        if (!same(std::span(got).subspan(i, 4), std::span(expected).subspan(i, 4)))
            return t.fail(fmt::format("bytes {}.. of a are {}, not {}", i, got[i], expected[i]),
                          where);
    if (what[0] != 'n') // not finite
        check_values(t, kernel, p, y.read_as<f32>(), where);
}

// Rows of very large and very small values, zeros, and what is not finite.
void sizes(Test &t, const Kernel &kernel) {
    for (const f32 size : {0x1p50f, 0x1p-50f, 0x1p-100f, 0.0f})
        check_rows(t, kernel, random(t.rng, 5, 264, size), "size");
    Rows p = random(t.rng, 4, 264);
    p.x[7] = NAN;               // the whole row
    p.x[p.k + 9] = INFINITY;    // r is 0: NaN there, 0 elsewhere
    p.x[2 * p.k + 9] = 0x1p80f; // the same, as its square is infinite in f32
    t.shape("not finite");
    const Region x = t.region<f32>(p.x), w = t.region<f32>(p.w),
                 y = t.region<f32>(std::vector<f32>(p.x.size(), -777.0f));
    if (kernel.param("y_type") != "f32")
        return;
    launch(t.modules, kernel,
           ops::RmsNorm{.y_type = "f32",
                        .m = p.m,
                        .k = p.k,
                        .eps = p.eps,
                        .x = static_cast<const f32 *>(x.data()),
                        .w = static_cast<const f32 *>(w.data()),
                        .y = y.data(),
                        .x_stride = 4 * p.k,
                        .y_stride = 4 * p.k});
    t.modules.device().synchronize();
    ++t.launches;
    const std::vector<f32> got = y.read_as<f32>();
    for (u64 i = 0; i < 3 * p.k; ++i) {
        const bool nan = i < p.k || i == p.k + 9;
        if (nan != std::isnan(got[i]) || (!nan && got[i] != 0))
            return t.fail(
                fmt::format("y[{},{}] is {}, not {}", i / p.k, i % p.k, got[i], nan ? "NaN" : "0"),
                std::source_location::current());
    }
}

} // namespace

CHECK_FAMILY(rms_norm) {
    if (t.entry)
        return check_rows(t, kernel, random(t.rng, 2, 64), "entry");
    const u32 span = 4 * kernel.number("lanes") * kernel.number("pieces"); // of k
    Rows padded = random(t.rng, 6, 2 * span + 260);
    padded.pad = 8;
    check_rows(t, kernel, padded, "three spans");
    Rows plain = random(t.rng, 5, span - 4);
    plain.w.clear();
    check_rows(t, kernel, plain, "no weights");
    Rows over = random(t.rng, 3, span + 64);
    over.in_place = true;
    check_rows(t, kernel, over, "in place");
    for (const Sums z : {Sums::apart, Sums::in_x, Sums::in_b, Sums::y_in_b}) {
        Rows summed = random(t.rng, 5, 2 * span + 68);
        summed.pad = 8;
        check_sums(t, kernel, summed, z);
        check_sums(t, kernel, random(t.rng, 3, 132), z);
    }
    sizes(t, kernel);
    if (kernel.number("lanes") > 32 && kernel.param("y_type") == "f32") {
        check_tiles(t, kernel, random(t.rng, 3, 1024 + 96), "a part of a step");
        check_tiles(t, kernel, random(t.rng, 2, 2 * span + 2048 + 32), "three spans");
        Rows sick = random(t.rng, 3, 2048);
        sick.x[2048 + 70] = INFINITY;
        sick.w[100] = NAN;
        check_tiles(t, kernel, sick, "not finite");
    }
    if (t.checkers)
        return;
    for (const check::EdgeShape &shape : check::edge_shapes(kernel))
        check_rows(t, kernel, random(t.rng, shape.m, shape.k), "edge");
    Rows large = random(t.rng, 2, 32768);
    large.eps = 0;
    check_rows(t, kernel, large, "eps 0");
}
