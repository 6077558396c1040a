// SPDX-License-Identifier: MIT
// Which way a product with GGUF weights gets.
#include <map>
#include <set>
#include <tuple>

#include <fmt/ranges.h>

#include "runtime/force.h"
#include "runtime/gguf.h"
#include "runtime/gguf_linear.h"
#include "runtime/gguf_ways.h"
#include "runtime/rules.h"

namespace nw {

namespace {

constexpr Rules rules("gguf_linear");

using Key = std::pair<std::string_view, std::string_view>; // gfx, type

// Of the largest part of a gfx (note T-015): which tile suits depends on it, its results do not.
u32 usual_wgps(std::string_view gfx) {
    constexpr std::pair<std::string_view, u32> parts[] = {
        {"gfx1100", 48}, {"gfx1101", 30}, {"gfx1102", 16}, {"gfx1103", 6}, {"gfx1150", 8},
        {"gfx1151", 20}, {"gfx1152", 4},  {"gfx1153", 2},  {"gfx1200", 16}};
    for (const auto &[name, wgps] : parts)
        if (name == gfx)
            return wgps;
    return 32;
}

// What there is for one type: a launch has no time to search the catalogue.
struct Kind {
    std::vector<const Kernel *> kernels; // that multiply
    std::map<u32, TunedShapes> tuned;    // by m
};
struct Catalogue {
    std::map<Key, Kind> kinds;
    std::map<Key, const Kernel *> converters; // by gfx and family
};

Catalogue catalogue() {
    Catalogue out;
    std::map<Key, const Kernel *> by_symbol;
    for (const Kernel &k : kernels()) {
        if (k.family == GgufDecodeWay::convert_family || k.family == GgufMidWay::convert_family)
            out.converters.emplace(Key{k.gfx, k.family}, &k);
        if (!has_gguf_way(k))
            continue;
        by_symbol.emplace(Key{k.gfx, k.symbol}, &k);
        out.kinds[{k.gfx, k.param("type")}].kernels.push_back(&k);
    }
    for (const TunedRow &row : tuned_rows()) {
        if (row.family != gguf_family)
            continue;
        Tuned shape = row.shape;
        shape.kernel = by_symbol.at({row.gfx, row.kernel});
        out.kinds.at({row.gfx, shape.kernel->param("type")}).tuned[row.m].add(shape);
    }
    return out;
}

const Catalogue &all() {
    static const Catalogue found = catalogue();
    return found;
}

const Kind &find_kind(std::string_view gfx, std::string_view type) {
    static_cast<void>(gguf_blocks(type)); // says what types there are
    const auto &kinds = all().kinds;
    if (const auto found = kinds.find({gfx, type}); found != kinds.end())
        return found->second;
    std::set<std::string_view> known;
    for (const auto &[key, kind] : kinds)
        known.insert(key.first);
    throw Error(
        fmt::format("gguf_linear: gfx = {}, type = {}: no kernels for it; there are kernels "
                    "for {}",
                    gfx, type, fmt::join(known, ", ")));
}

bool fits(const Kernel &kernel, u32 m, u32 n, u32 k) {
    return gguf_way(
        kernel, [&](auto way) { return way.fewest_rows(kernel) <= m && way.takes(kernel, n, k); });
}

u32 fewest_rows(const Kernel &kernel) {
    return gguf_way(kernel, [&](auto way) { return way.fewest_rows(kernel); });
}

// Of a family the default for so many rows: that for the most which are no more. Null where there
// is none.
const Kernel *of_family(const Kind &kind, std::string_view family, u32 m, u32 n, u32 k) {
    const Kernel *best = nullptr;
    for (const Kernel *kernel : kind.kernels)
        if (kernel->family == family && !kernel->reference && !kernel->candidate &&
            fits(*kernel, m, n, k) && (!best || fewest_rows(*kernel) > fewest_rows(*best)))
            best = kernel;
    return best;
}

// The tile of gguf_mid that is done first. Its weights, which are unpacked whatever its rows, take
// as long as WMMA takes for eight (T-054).
const Kernel *mid_tile(const Kind &kind, u32 m, u32 n, u32 k) {
    constexpr u32 unpacking = 8;
    const Kernel *best = nullptr;
    u64 least = 0;
    for (const Kernel *kernel : kind.kernels) {
        if (kernel->family != GgufMidWay::family || kernel->reference || kernel->candidate ||
            !fits(*kernel, m, n, k))
            continue;
        const u32 bm = kernel->number("bm");
        const u64 cost = ceil_div<u64>(m, bm) * (bm + unpacking);
        if (!best || cost < least)
            best = kernel, least = cost;
    }
    return best;
}

const Kernel &by_rule(const Kind &kind, u32 m, u32 n, u32 k) {
    const Kernel *const mid = m > gguf_decode_rows ? mid_tile(kind, m, n, k) : nullptr;
    if (m >= gguf_prefill_rows) { // prefill's tiles take any n and k
        const u32 wgps = usual_wgps(kind.kernels.front()->gfx);
        const Kernel *const prefill = best_gguf_prefill(kind.kernels, m, n, wgps);
        if (prefill && (!mid || m > gguf_most_mid_rows ||
                        2 * gguf_prefill_tiles(*prefill, m, n) >= 3 * u64{wgps}))
            return *prefill;
    }
    // Decode is there for every type from one row on.
    return mid ? *mid : *of_family(kind, GgufDecodeWay::family, m, n, k);
}

// What was tuned for more rows may be for more than there are.
const Kernel *for_fewer(const Kind &kind, const Kernel &kernel, u32 m, u32 n, u32 k) {
    return fits(kernel, m, n, k) ? &kernel : of_family(kind, kernel.family, m, n, k);
}

const Kernel *forced_way(std::string_view gfx, std::string_view type, u32 m, u32 n, u32 k) {
    for (std::string_view family :
         {GgufDecodeWay::family, GgufMidWay::family, GgufPrefillWay::family})
        if (const Kernel *kernel = forced(family, gfx)) {
            if (kernel->param("type") != type)
                throw Error(fmt::format("NIBBLEWAVE_FORCE={}: it is for {}, the product is {}: "
                                        "unset it, or name a kernel for such products",
                                        kernel->symbol, kernel->param("type"), type));
            if (!fits(*kernel, m, n, k))
                throw Error(
                    fmt::format("NIBBLEWAVE_FORCE={}: it is for m >= {}, the product is m = "
                                "{}, n = {}, k = {}: unset it, or name a kernel for such "
                                "products",
                                kernel->symbol, fewest_rows(*kernel), m, n, k));
            return kernel;
        }
    return nullptr;
}

} // namespace

GgufRoute gguf_route(const Kernel &kernel, std::string_view type, u32 m, u32 n, u32 k) {
    rules.need(has_gguf_way(kernel) && kernel.param("type") == type && fits(kernel, m, n, k),
               "{} is not for {}, m = {}, n = {}, k = {}", kernel.symbol, type, m, n, k);
    return gguf_way(kernel, [&](auto way) {
        const u32 rows = std::min(m, way.most_rows(kernel, n)), rest = m % rows;
        const Kernel *const last =
            rest == 0 || way.fewest_left(kernel) <= rest
                ? &kernel
                : of_family(find_kind(kernel.gfx, type), way.family, rest, n, k);
        return GgufRoute{&kernel, last, all().converters.at({kernel.gfx, way.convert_family}),
                         rows};
    });
}

std::vector<const Kernel *> gguf_route_kernels(std::string_view gfx, std::string_view type, u32 m,
                                               u32 n, u32 k, References references) {
    std::vector<const Kernel *> out;
    for (const Kernel *kernel : find_kind(gfx, type).kernels)
        if ((references == References::with || !kernel->reference) && fits(*kernel, m, n, k))
            out.push_back(kernel);
    return out;
}

Choice explain_gguf(std::string_view gfx, std::string_view type, u32 m, u32 n, u32 k) {
    if (const Kernel *kernel = forced_way(gfx, type, m, n, k))
        return {kernel, Choice::Why::forced};
    const Kind &kind = find_kind(gfx, type);
    if (const auto rows = kind.tuned.lower_bound(m);
        rows != kind.tuned.end() && rows->first < u64{2} * m)
        if (const auto [shape, distance] = rows->second.nearest(n, k); shape)
            if (const Kernel *kernel = for_fewer(kind, *shape->kernel, m, n, k)) {
                const bool same = shape->n == n && shape->k == k && rows->first == m;
                return {kernel, same ? Choice::Why::tuned : Choice::Why::near, shape, distance};
            }
    return {&by_rule(kind, m, n, k), Choice::Why::untuned};
}

const Kernel &default_gguf(std::string_view gfx, std::string_view type, u32 m, u32 n, u32 k) {
    return by_rule(find_kind(gfx, type), m, n, k);
}

} // namespace nw
