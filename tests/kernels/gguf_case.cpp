// SPDX-License-Identifier: MIT
#include "gguf_case.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "base/half.h"
#include "ref/gguf_product.h"

namespace nw::check {

namespace {

f32 uniform(Rng &rng, f32 from, f32 to) { return from + (to - from) * rng.unit(); }

} // namespace

std::vector<f32> gguf_activations(Rng &rng, u64 count) {
    std::vector<f32> x(round_up<u64>(count, 32));
    for (u64 at = 0; at < count; at += 32) {
        const f32 most = std::ldexp(1.0f + rng.unit(), static_cast<int>(rng.below(12)) - 6);
        const f32 d = most / 127.0f;
        const u32 kind = rng.below(8);
        for (u32 i = 0; i < 32; ++i) {
            f32 &v = x[at + i];
            v = uniform(rng, -most, most);
            if (kind == 0)
                v = 0;
            else if (kind == 1) // halfway, and the numbers next to that
                v = std::nextafter(d * (static_cast<f32>(rng.below(126)) + 0.5f),
                                   rng.below(2) ? 0.0f : most);
            else if (kind == 2)
                v = d * (static_cast<f32>(rng.below(126)) + 0.5f) * (rng.below(2) ? 1.0f : -1.0f);
        }
        if (kind != 0)
            x[at + rng.below(32)] = most;
    }
    x.resize(count);
    return x;
}

std::vector<HardRow> hard_activations(u32 k) {
    std::vector<HardRow> rows;
    const auto add = [&](const char *what, auto value) {
        rows.push_back({what, std::vector<f32>(k)});
        for (u32 i = 0; i < k; ++i)
            rows.back().x[i] = static_cast<f32>(value(i));
    };
    const auto sign = [](u32 i) { return i % 2 ? -1.0 : 1.0; };
    add("a sum of 32 above f16's numbers", [](u32) { return 5000.0; });
    add("one above f16's numbers", [](u32 i) { return i == 37 ? 3e5 : 1.0; });
    add("one far above all others", [](u32 i) { return i % 64 == 5 ? 0x1p60 : 0.5; });
    add("a sum of 32 above f32's numbers", [](u32) { return 2e37; });
    add("alternating, large", [&](u32 i) { return sign(i) * 2e37; });
    add("all equal, and subnormal in f16", [](u32) { return 0x1.8p-20; });
    add("small", [&](u32 i) { return sign(i / 3) * (i % 7) * 0x1p-88; });
    add("below steps of 2^-96", [](u32 i) { return (i % 5) * 0x1p-110; });
    add("subnormal", [](u32 i) { return (i % 9) * 0x1p-149; });
    add("of all sizes",
        [&](u32 i) { return sign(i) * std::ldexp(1.0, static_cast<int>(i % 240) - 140); });
    return rows;
}

std::vector<f32> hard_rows(u32 m, u32 k) {
    const std::vector<HardRow> rows = hard_activations(k);
    std::vector<f32> x;
    for (u32 i = 0; i < m; ++i)
        x.insert(x.end(), rows[i % rows.size()].x.begin(), rows[i % rows.size()].x.end());
    return x;
}

GgufType gguf_type(const Kernel &kernel) { return gguf_type(kernel.param("type")); }

GgufType gguf_type(std::string_view name) {
    const GgmlTypeInfo *info = find_ggml_type(name);
    GgufType out{*info, {}};
    for (u32 i = 0; i < info->halves; ++i)
        out.scales.push_back(info->halves_at + 2 * i);
    return out;
}

std::vector<std::byte> gguf_random_blocks(Rng &rng, const GgufType &type, u64 count) {
    std::vector<std::byte> w(count * type.info.bytes);
    for (std::byte &b : w)
        b = static_cast<std::byte>(rng.below(256));
    for (u64 block = 0; block < count; ++block) {
        // Scales as models have them, now and then subnormal or negative.
        const f32 unit = rng.below(16) ? 0x1p-9f : 0x1p-22f;
        for (u32 at : type.scales) {
            const u16 d = f32_to_f16(unit * uniform(rng, -0.25f, 1));
            std::memcpy(&w[block * type.info.bytes + at], &d, 2);
        }
        if (type.info.id == GgmlType::mxfp4)
            w[block * type.info.bytes] =
                static_cast<std::byte>((rng.below(16) ? 118 : 100) + rng.below(4));
    }
    return w;
}

std::vector<std::byte> gguf_small_blocks(Rng &rng, const GgufType &type, u64 count) {
    std::vector<std::byte> w = gguf_random_blocks(rng, type, count);
    for (u64 block = 0; block < count; ++block) {
        std::byte *const at = &w[block * type.info.bytes];
        for (u32 scale : type.scales) {
            const u16 d = f32_to_f16(0x1p-20f * uniform(rng, -1, 1));
            std::memcpy(at + scale, &d, 2);
        }
        if (type.info.id == GgmlType::mxfp4)
            *at = static_cast<std::byte>(100 + rng.below(4));
        for (u32 i = 0; i < (type.info.id == GgmlType::nvfp4 ? 4 : 0); ++i)
            at[i] = static_cast<std::byte>(rng.below(4));
    }
    return w;
}

i32 any_expert(Rng &rng, u32 experts) {
    const i32 none[] = {-1, static_cast<i32>(experts), std::numeric_limits<i32>::min()};
    return rng.below(8) ? static_cast<i32>(rng.below(experts)) : none[rng.below(3)];
}

std::vector<i32> shuffled_slots(Rng &rng, u32 slots, u32 places) {
    std::vector<i32> out(places);
    for (u32 i = 0; i < places; ++i)
        out[i] = static_cast<i32>(i < slots ? i : slots + rng.below(3));
    for (u32 i = places; i > 1; --i)
        std::swap(out[i - 1], out[rng.below(i)]);
    if (places > 3)
        out[rng.below(places)] = -1;
    return out;
}

void same_bits(Test &t, const char *name, const Region &region, std::span<const f32> want,
               std::source_location where) {
    t.guards_clean(name, region, where);
    const std::vector<f32> got = region.read_as<f32>();
    for (u64 i = 0; i < got.size(); ++i)
        if (std::bit_cast<u32>(got[i]) != std::bit_cast<u32>(want[i]) &&
            !(std::isnan(got[i]) && std::isnan(want[i]))) {
            t.fail(fmt::format("{}[{}] is {:a}, not {:a}", name, i, got[i], want[i]), where);
            return;
        }
}

void near_exact(Test &t, std::span<const f32> want, std::span<const f64> exact,
                std::span<const f64> tolerance, std::source_location where) {
    for (u64 i = 0; i < want.size(); ++i)
        if (!(std::fabs(want[i] - exact[i]) <= tolerance[i] * 1.0001 + 1e-5)) {
            t.fail(fmt::format("c[{}] is {}, off {} by more than {}", i, want[i], exact[i],
                               tolerance[i]),
                   where);
            return;
        }
}

std::vector<f64> product_sizes(const GgufType &type, u32 m, u32 n, u32 k, std::span<const f32> x,
                               std::span<const std::byte> w) {
    const std::vector<std::byte> tiles = ref::quantize_q8(x, m, k);
    return ref::gguf_exact(x, {type.info.id, m, n, k, tiles, w}).size;
}

void in_range(Test &t, std::span<const f32> got, std::span<const f64> exact,
              std::span<const f64> tolerance, std::span<const f64> size,
              std::source_location where) {
    constexpr f64 roundings = 0x1p-16; // of a few hundred in f32; 2^-126: what may be 0
    for (u64 i = 0; i < got.size(); ++i)
        if (!(std::fabs(got[i] - exact[i]) <=
              tolerance[i] * 1.0001 + size[i] * roundings + 0x1p-126)) {
            t.fail(fmt::format("c[{}] is {}, off {} by more than {}", i, got[i], exact[i],
                               tolerance[i]),
                   where);
            return;
        }
}

GgufOperands::GgufOperands(Test &t, const Kernel &kernel, const GgufShape &s)
    : s_(s), x_(gguf_activations(t.rng, u64{s.m} * s.k)), type_(gguf_type(kernel)),
      w_(gguf_random_blocks(t.rng, type_, u64{s.n} * (s.k / type_.info.elements))) {}

void GgufOperands::make_hard(Test &t) {
    x_ = hard_rows(s_.m, s_.k);
    w_ = gguf_small_blocks(t.rng, type_, u64{s_.n} * (s_.k / type_.info.elements));
}

void GgufOperands::set_scale(u32 row, u32 block, u32 which, u16 bits) {
    const u64 at = u64{row} * (s_.k / type_.info.elements) + block;
    std::memcpy(&w_[at * type_.info.bytes + type_.scales.at(which)], &bits, 2);
}

} // namespace nw::check
