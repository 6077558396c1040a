// SPDX-License-Identifier: MIT
// quantize_q8 and gguf_decode: every bit, and how near to the product without int8.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "check/check.h"
#include "check/ops.h"
#include "formats/quantize/q4_k.h"
#include "gguf_case.h"
#include "ref/gguf_product.h"

using namespace nw;
using check::Region;
using check::Test;

namespace {

// How the kernel may be launched: 0 as the library would.
struct Launch {
    u32 workgroups = 0, stage = 0;
};

std::vector<f32> product(Test &t, const Kernel &kernel, const ref::GgufProduct &p, Launch how,
                         std::source_location where) {
    t.shape(fmt::format("m={} n={} k={} workgroups={} stage={}", p.m, p.n, p.k, how.workgroups,
                        how.stage));
    const std::vector<f32> before(u64{p.m} * p.n, -777.0f);
    const Region a = t.region<std::byte>(p.tiles), w = t.region<std::byte>(p.w),
                 c = t.region<f32>(before);
    Op op = GgufLaunch{kernel.param("type"), p.m, p.n, p.k, a.data(), w.data(), c.data()};
    if (how.workgroups)
        op.groups = how.workgroups;
    if (how.stage)
        op.stage = how.stage;
    launch(t.modules, kernel, op);
    t.modules.device().synchronize();
    ++t.launches;
    t.unchanged("a", a, where);
    t.unchanged("w", w, where);
    check::same_bits(t, "c", c, ref::gguf_decode(p), where);
    return c.read_as<f32>();
}

void check_product(Test &t, const Kernel &kernel, u32 n, u32 k, Launch how = {},
                   std::source_location where = std::source_location::current()) {
    const u32 m = kernel.number("m");
    const check::GgufType type = check::gguf_type(kernel);
    const std::vector<f32> x = check::gguf_activations(t.rng, u64{m} * k);
    const std::vector<std::byte> tiles = ref::quantize_q8(x, m, k),
                                 w = check::gguf_random_blocks(t.rng, type,
                                                               u64{n} * (k / type.info.elements));
    const ref::GgufProduct p{type.info.id, m, n, k, tiles, w};
    const std::vector<f32> got = product(t, kernel, p, how, where);
    const ref::GgufExact exact = ref::gguf_exact(x, p);
    check::near_exact(t, got, exact.c, exact.tolerance, where);
}

// Any finite activations give finite results; each launch takes the kernel's number of hard rows.
void check_range(Test &t, const Kernel &kernel, u32 n, u32 k,
                 std::source_location where = std::source_location::current()) {
    const u32 m = kernel.number("m");
    const check::GgufType type = check::gguf_type(kernel);
    const std::vector<std::byte> w =
        check::gguf_small_blocks(t.rng, type, u64{n} * (k / type.info.elements));
    const std::vector<check::HardRow> rows = check::hard_activations(k);
    for (u64 first = 0; first < rows.size(); first += m) {
        std::vector<f32> x;
        for (u64 i = first; i < first + m; ++i)
            std::ranges::copy(rows[i % rows.size()].x, std::back_inserter(x));
        const std::vector<std::byte> tiles = ref::quantize_q8(x, m, k);
        const ref::GgufProduct p{type.info.id, m, n, k, tiles, w};
        const std::vector<f32> got = product(t, kernel, p, {}, where);
        const ref::GgufExact exact = ref::gguf_exact(x, p);
        check::in_range(t, got, exact.c, exact.tolerance, exact.size, where);
    }
}

// NaN in each f16 scale of a row's last block makes that row NaN, and no other.
void check_nan(Test &t, const Kernel &kernel, u32 n, u32 k,
               std::source_location where = std::source_location::current()) {
    const u32 m = kernel.number("m"), sick = n / 2;
    const check::GgufType type = check::gguf_type(kernel);
    const u64 blocks = k / type.info.elements;
    const std::vector<std::byte> tiles =
        ref::quantize_q8(check::gguf_activations(t.rng, u64{m} * k), m, k);
    const u16 nan = 0x7e01;
    for (u32 at : type.scales) {
        std::vector<std::byte> w = check::gguf_random_blocks(t.rng, type, n * blocks);
        std::memcpy(&w[((sick + 1) * blocks - 1) * type.info.bytes + at], &nan, 2);
        const std::vector<f32> got =
            product(t, kernel, {type.info.id, m, n, k, tiles, w}, {}, where);
        for (u64 i = 0; i < got.size(); ++i)
            if (std::isnan(got[i]) != (i % n == sick))
                t.fail(fmt::format("c[{}] is {} beside a row {} of NaN", i, got[i], sick), where);
    }
}

// Normal weights and activations: the error is that of rounding activations to int8, (max / 127)^2
// / 12 per value, about 2.3e-5 of the result. Weights of q4_K are as large without their minima as
// with them, so both must use the same int8 sums.
void check_noise(Test &t, const Kernel &kernel, u32 n, u32 k,
                 std::source_location where = std::source_location::current()) {
    constexpr f64 most_nmse = 5e-5;
    if (check::gguf_type(kernel).info.id != GgmlType::q4_K)
        return;
    const u32 m = kernel.number("m");
    const auto normal = [&](u64 count) {
        std::vector<f32> out(count);
        for (f32 &v : out)
            v = static_cast<f32>(t.rng.normal());
        return out;
    };
    const std::vector<f32> x = normal(u64{m} * k), weights = normal(u64{n} * k);
    std::vector<std::byte> w;
    std::vector<f64> stored(256); // of a block
    for (u64 at = 0; at < weights.size(); at += stored.size()) {
        const BlockQ4_K block =
            quantize_q4_K(std::span(weights).subspan(at, stored.size()), Clip::mse, stored);
        const auto bytes = std::as_bytes(std::span(&block, 1));
        w.insert(w.end(), bytes.begin(), bytes.end());
    }
    const std::vector<std::byte> tiles = ref::quantize_q8(x, m, k);
    const ref::GgufProduct p{GgmlType::q4_K, m, n, k, tiles, w};
    const std::vector<f32> got = product(t, kernel, p, {}, where);
    const std::vector<f64> want = ref::gguf_exact(x, p).c;
    f64 off = 0, all = 0;
    for (u64 i = 0; i < got.size(); ++i) {
        off += (got[i] - want[i]) * (got[i] - want[i]);
        all += want[i] * want[i];
    }
    if (off > most_nmse * all)
        t.fail(fmt::format("NMSE {:.2e} beside f64, and {:.2e} at most", off / all, most_nmse),
               where);
}

// Scales of mxfp4 at both ends of e8m0's range, where products are subnormal or infinite.
void check_e8m0(Test &t, const Kernel &kernel, u32 n, u32 k,
                std::source_location where = std::source_location::current()) {
    const check::GgufType type = check::gguf_type(kernel);
    if (type.info.id != GgmlType::mxfp4)
        return;
    const u32 m = kernel.number("m");
    const std::vector<std::byte> tiles =
        ref::quantize_q8(check::gguf_activations(t.rng, u64{m} * k), m, k);
    constexpr u8 ends[] = {0, 1, 2, 24, 253, 254, 255};
    std::vector<std::byte> w = check::gguf_random_blocks(t.rng, type, u64{n} * (k / 32));
    for (u64 at = 0; at < w.size(); at += type.info.bytes)
        w[at] = std::byte{ends[at / type.info.bytes % std::size(ends)]};
    product(t, kernel, {type.info.id, m, n, k, tiles, w}, {}, where);
}

// Every byte as a scale of nvfp4: subnormal, with a sign, NaN.
void check_ue4m3(Test &t, const Kernel &kernel, u32 n, u32 k,
                 std::source_location where = std::source_location::current()) {
    const check::GgufType type = check::gguf_type(kernel);
    if (type.info.id != GgmlType::nvfp4)
        return;
    const u32 m = kernel.number("m");
    const std::vector<std::byte> tiles =
        ref::quantize_q8(check::gguf_activations(t.rng, u64{m} * k), m, k);
    std::vector<std::byte> w =
        check::gguf_random_blocks(t.rng, type, u64{n} * (k / type.info.elements));
    u32 scale = 0;
    for (u64 at = 0; at < w.size(); at += type.info.bytes)
        for (u64 i = 0; i < 4; ++i)
            w[at + i] = static_cast<std::byte>(scale++ % 256);
    if (scale < 256)
        throw Error("too few scales for every byte");
    product(t, kernel, {type.info.id, m, n, k, tiles, w}, {}, where);
}

// In the order of steps, or of rows.
std::vector<std::byte> tiles_of(std::span<const f32> x, u32 m, u32 k, bool by_row) {
    if (!by_row)
        return ref::quantize_q8(x, m, k);
    std::vector<std::byte> out;
    for (u32 row = 0; row < m; ++row) {
        const std::vector<std::byte> one = ref::quantize_q8(x.subspan(u64{row} * k, k), 1, k);
        out.insert(out.end(), one.begin(), one.end());
    }
    return out;
}

void check_tiles(Test &t, const Kernel &kernel, std::span<const f32> x, u32 m, u32 k,
                 const char *what, bool by_row = false,
                 std::source_location where = std::source_location::current()) {
    t.shape(fmt::format("m={} k={} {}{}", m, k, what, by_row ? ", by row" : ""));
    const std::vector<std::byte> before(q8_bytes(m, k), std::byte{0x5e});
    const u32 padding = 8; // floats between rows
    std::vector<f32> apart(u64{m} * (k + padding), std::numeric_limits<f32>::quiet_NaN());
    for (u32 row = 0; row < m; ++row)
        std::ranges::copy(x.subspan(u64{row} * k, k), &apart[u64{row} * (k + padding)]);
    const Region from = t.region<f32>(apart), y = t.region<std::byte>(before);
    launch(t.modules, kernel,
           QuantizeQ8{{m, k, from.data(), u64{4} * (k + padding), y.data(), by_row}});
    t.modules.device().synchronize();
    ++t.launches;
    t.guards_clean("y", y, where);
    const std::vector<std::byte> got = y.read(), want = tiles_of(x, m, k, by_row);
    for (u64 i = 0; i < got.size(); ++i) {
        const bool d = i % q8_tile_bytes >= q8_tile_k;
        const u64 at = i & ~u64{3};
        const auto nan = [&](const std::vector<std::byte> &v) { // of d any will do
            f32 value;
            std::memcpy(&value, &v[at], 4);
            return d && std::isnan(value);
        };
        if (got[i] != want[i] && !(nan(got) && nan(want))) {
            t.fail(fmt::format("y[{}] is {}, not {}", i, std::to_integer<int>(got[i]),
                               std::to_integer<int>(want[i])),
                   where);
            return;
        }
    }
}

} // namespace

CHECK_FAMILY(quantize_q8) {
    if (t.entry)
        return check_tiles(t, kernel, check::gguf_activations(t.rng, 2 * 256), 2, 256, "entry");
    for (const auto &[m, n, k, slots, experts] : check::edge_shapes(kernel))
        for (bool by_row : {false, true})
            check_tiles(t, kernel, check::gguf_activations(t.rng, u64{m} * k), m, k, "edge",
                        by_row);
    constexpr f32 infinity = std::numeric_limits<f32>::infinity();
    std::vector<f32> x = check::gguf_activations(t.rng, 1024);
    x[5] = infinity;
    x[40] = -infinity;
    x[77] = std::numeric_limits<f32>::quiet_NaN();
    for (u32 i = 96; i < 128; ++i)
        x[i] = i % 2 ? 3e38f : -2e38f; // f16 has no such d
    for (u32 i = 128; i < 160; ++i)
        x[i] = std::numeric_limits<f32>::max(); // nor f32 such a sum
    for (u32 i = 160; i < 192; ++i)
        x[i] = std::ldexp(1.0f, 71 - static_cast<int>(i)); // d is just below 2^-96
    for (u32 i = 192; i < 224; ++i)
        x[i] = std::ldexp(static_cast<f32>(i), -97); // or just above
    for (u32 i = 224; i < 256; ++i)
        x[i] = std::numeric_limits<f32>::denorm_min() * static_cast<f32>(i);
    for (u32 i = 256; i < 288; ++i)
        x[i] = i == 256 ? 0x1p120f : std::ldexp(1.0f, -static_cast<int>(i - 120));
    check_tiles(t, kernel, x, 1, 1024, "extremes");
    for (const check::HardRow &row : check::hard_activations(512))
        check_tiles(t, kernel, row.x, 1, 512, row.what);
}

CHECK_FAMILY(gguf_decode) {
    const u32 rows = kernel.rows_per_workgroup, block = gguf_block(kernel.param("type"));
    if (t.entry)
        return check_product(t, kernel, rows + 1, block);
    check_product(t, kernel, 1, block);
    check_product(t, kernel, rows + 1, 1024 + block);
    check_product(t, kernel, rows + 5, 3072, {2, 1});             // three stages
    check_product(t, kernel, 3 * rows - 1, 2048 + block, {2, 2}); // two rounds of two stages
    check_nan(t, kernel, 5, 512 + block);
    check_ue4m3(t, kernel, 17, 1024);
    check_e8m0(t, kernel, 9, 32);
    check_range(t, kernel, 5, 512);
    check_noise(t, kernel, 64, 512);
    if (t.checkers)
        return;
    for (const auto &shape : check::edge_shapes(kernel))
        check_product(t, kernel, shape.n, shape.k);
    check_product(t, kernel, 5 * rows, 4096, {2, 0});
    check_product(t, kernel, 2, 2048 - block);
    check_product(t, kernel, 7, 17408); // more than LDS holds from m = 4 on
}
