// SPDX-License-Identifier: MIT
#include "runtime/tile.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "runtime/force.h"
#include "runtime/rules.h"

namespace nw {

namespace {

constexpr std::string_view mid_family = "mid_w4a16";
constexpr Rules rules(tile_family);

using Key = std::tuple<std::string_view, Dtype, u32, Zeros>; // gfx, dtype, group

Key key_of(const Kernel &k) { return {k.gfx, dtype_of(k), group_of(k), zeros_of(k)}; }
bool of_these(const Kernel &k) { return k.family == tile_family || is_mid(k); }

using Tiles = std::vector<const Kernel *>;
using TunedByRows = std::map<u32, TunedShapes>; // by m

// What there is for one kind of product: a launch has no time to search the catalogue.
struct Kind {
    Tiles tiles;
    TunedByRows tuned;
};
using Kinds = std::map<Key, Kind>;

auto tile_of(const Kernel &k) { return std::tuple{k.family, k.number("bm"), k.number("bn")}; }

// The rows of one kind for another one, which may lack a tile.
TunedByRows same_tiles(const TunedByRows &rows, const Tiles &tiles) {
    TunedByRows out;
    for (const auto &[m, shapes] : rows)
        for (Tuned shape : shapes.all()) {
            const auto same = std::ranges::find_if(
                tiles, [&](const Kernel *k) { return tile_of(*k) == tile_of(*shape.kernel); });
            if (same == tiles.end())
                continue;
            shape.kernel = *same;
            out[m].add(shape);
        }
    return out;
}

// Those of the first kind, in the order of likeness, that has some of these tiles.
TunedByRows borrowed(const Kinds &own, const Key &key, const Tiles &tiles) {
    const auto [gfx, type, group, zeros] = key;
    for (Dtype dtype : {type, type == Dtype::bf16 ? Dtype::f16 : Dtype::bf16})
        for (Zeros form : {zeros, Zeros::packed, Zeros::eight})
            if (const auto like = own.find({gfx, dtype, 128, form}); like != own.end())
                if (TunedByRows rows = same_tiles(like->second.tuned, tiles); !rows.empty())
                    return rows;
    return {};
}

Kinds all_kinds() {
    Kinds out;
    std::map<std::pair<std::string_view, std::string_view>, const Kernel *> by_symbol;
    for (const Kernel &k : kernels())
        if (of_these(k) && !k.reference) {
            by_symbol.emplace(std::pair{k.gfx, k.symbol}, &k);
            out[key_of(k)].tiles.push_back(&k);
        }
    for (const TunedRow &row : tuned_rows()) {
        if (row.family != tile_family)
            continue;
        Tuned shape = row.shape;
        shape.kernel = by_symbol.at({row.gfx, row.kernel});
        out.at(key_of(*shape.kernel)).tuned[row.m].add(shape);
    }
    const Kinds own = out;
    for (auto &[key, kind] : out)
        if (kind.tuned.empty())
            kind.tuned = borrowed(own, key, kind.tiles);
    return out;
}

const Kinds &kinds() {
    static const Kinds all = all_kinds();
    return all;
}

const Kind &find_kind(std::string_view gfx, Dtype dtype, u32 group, Zeros zeros) {
    if (const auto found = kinds().find({gfx, dtype, group, zeros}); found != kinds().end())
        return found->second;
    std::set<std::string_view> known;
    for (const auto &[key, kind] : kinds())
        known.insert(std::get<0>(key));
    rules.need(known.contains(gfx), "gfx = {}: no kernels for it; there are kernels for {}", gfx,
               fmt::join(known, ", "));
    throw Error(fmt::format("{}: no kernel for {} on {}; there are bf16 and f16, groups of 32, 64, "
                            "128, symmetric, with packed zero points and with the carrier",
                            tile_family, tile_label(dtype, group, zeros), gfx));
}

} // namespace

bool is_mid(const Kernel &k) { return k.family == mid_family; }

bool fits(const Kernel &kernel, std::string_view gfx, Dtype dtype, u32 group, Zeros zeros) {
    return of_these(kernel) && key_of(kernel) == Key{gfx, dtype, group, zeros};
}

std::string tile_label(Dtype dtype, u32 group, Zeros zeros) {
    return fmt::format("{} g{}{}{}", name(dtype), group_name(group),
                       zeros == Zeros::eight ? "" : " ", zeros_name(zeros));
}

// Up to mid_rows the family that goes at memory's speed, where it has the form, with the fewest
// rows outside of C. Then what takes the least time of the SIMDs: a tile's weights, which are
// unpacked whatever its rows, keep the VALU about as long as 16 rows keep WMMA (T-054); of as much,
// the largest, which reads the least.
const Kernel &best_tile(std::span<const Kernel *const> tiles, u32 m, u32 n) {
    constexpr u32 unpacking = 16;
    const auto rank = [&](const Kernel *k) {
        const u64 bm = k->number("bm"), bn = k->number("bn"), rows = ceil_div<u64>(m, bm);
        const bool other = is_mid(*k) != (m <= mid_rows);
        const u64 cost =
            is_mid(*k) ? rows * bm : rows * (bm + unpacking) * ceil_div<u64>(n, bn) * bn;
        return std::tuple{other, cost, -static_cast<i64>(bm * bn)};
    };
    return **std::ranges::min_element(tiles, {}, rank);
}

Choice explain_prefill(std::string_view gfx, Dtype dtype, u32 group, Zeros zeros, u32 m, u32 n,
                       u32 k) {
    for (std::string_view of : {tile_family, mid_family})
        if (const Kernel *kernel = forced(of, gfx)) {
            if (fits(*kernel, gfx, dtype, group, zeros))
                return {kernel, Choice::Why::forced};
            throw Error(fmt::format("NIBBLEWAVE_FORCE={}: it is not for {}: unset it, or name a "
                                    "kernel for such products",
                                    kernel->symbol, tile_label(dtype, group, zeros)));
        }
    const Kind &kind = find_kind(gfx, dtype, group, zeros);
    if (const auto rows = kind.tuned.lower_bound(m);
        rows != kind.tuned.end() && rows->first < u64{2} * m)
        if (const auto [shape, distance] = rows->second.nearest(n, k); shape) {
            const bool same = shape->n == n && shape->k == k && rows->first == m;
            return {shape->kernel, same ? Choice::Why::tuned : Choice::Why::near, shape, distance};
        }
    return {&best_tile(kind.tiles, m, n), Choice::Why::untuned};
}

const Kernel &choose_prefill(std::string_view gfx, Dtype dtype, u32 group, Zeros zeros, u32 m,
                             u32 n, u32 k) {
    return *explain_prefill(gfx, dtype, group, zeros, m, n, k).kernel;
}

const Kernel &default_tile(std::string_view gfx, Dtype dtype, u32 group, Zeros zeros, u32 m,
                           u32 n) {
    return best_tile(find_kind(gfx, dtype, group, zeros).tiles, m, n);
}

} // namespace nw
