// SPDX-License-Identifier: MIT
#include "runtime/choice.h"

#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/half.h"
#include "runtime/force.h"

namespace nw {

namespace {

constexpr std::string_view family = "decode_w4a16";

// build/tuning.inc (gen/tuning.py)
// clang-format off
#define NW_TUNED(gfx, family, dtype, group, zeros, m, n, k, kernel, us, next, next_us, default_us, by) \
    TunedRow{#gfx, #family, #kernel, m, {n, k, nullptr, us, #next, next_us, default_us, by}},
constexpr TunedRow table[] = {{}, // an array has something
#include "tuning.inc"
};
#undef NW_TUNED
// clang-format on

// What there is for one kind of product: a launch has no time to search the catalogue.
struct Kind {
    const Kernel *standard = nullptr;
    TunedShapes shapes;
};
using Kinds = std::map<std::tuple<std::string_view, Dtype, u32, u32, Zeros>, Kind>;

std::tuple<std::string_view, Dtype, u32, u32, Zeros> kind_of(const Kernel &k) {
    return {k.gfx, dtype_of(k), group_of(k), k.number("m"), zeros_of(k)};
}

Kinds all_kinds() {
    Kinds out;
    std::map<std::pair<std::string_view, std::string_view>, const Kernel *> by_symbol;
    for (const Kernel &k : kernels()) {
        if (k.family != family || k.reference)
            continue;
        by_symbol.emplace(std::pair{k.gfx, k.symbol}, &k);
        if (!k.candidate)
            out[kind_of(k)].standard = &k;
    }
    for (const TunedRow &row : tuned_rows()) {
        if (row.family != family)
            continue;
        const Kernel &kernel = *by_symbol.at({row.gfx, row.kernel});
        Kind &kind = out.at(kind_of(kernel));
        Tuned shape = row.shape;
        shape.kernel = &kernel;
        kind.shapes.add(shape);
    }
    return out;
}

// "bf16 g32 m 1 2 3 4; bf16 g32 zp m 1 2": what a gfx has; empty when it has nothing.
std::string available(std::string_view gfx) {
    using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
    std::map<Key, std::set<u32>> have;
    for (const Kernel &k : kernels())
        if (k.family == family && k.gfx == gfx && !k.reference)
            have[{k.param("dtype"), k.param("group"), k.param("zeros")}].insert(k.number("m"));
    std::string out;
    for (const auto &[key, m] : have) {
        const auto [dtype, group, zeros] = key;
        out += fmt::format("{}{} g{}{}{} m {}", out.empty() ? "" : "; ", dtype, group,
                           zeros.empty() ? "" : " ", zeros, fmt::join(m, " "));
    }
    return out;
}

std::string known_gfx() {
    std::set<std::string_view> have;
    for (const Kernel &k : kernels())
        if (k.family == family)
            have.insert(k.gfx);
    return fmt::format("{}", fmt::join(have, ", "));
}

const Kind &find_kind(std::string_view gfx, Dtype dtype, u32 group, u32 m, Zeros zeros) {
    static const Kinds kinds = all_kinds();
    if (const auto found = kinds.find({gfx, dtype, group, m, zeros}); found != kinds.end())
        return found->second;
    const std::string have = available(gfx);
    if (have.empty())
        throw Error(fmt::format("decode_w4a16: gfx = {}: no kernels for it; there are kernels for "
                                "{}",
                                gfx, known_gfx()));
    throw Error(fmt::format("decode_w4a16: no kernel for {} on {}; there is {}",
                            kind_label(dtype, group, m, zeros), gfx, have));
}

} // namespace

std::span<const TunedRow> tuned_rows() { return std::span(table).subspan(1); }

void TunedShapes::add(const Tuned &shape) {
    shapes_.push_back(shape);
    at_.emplace_back(std::log2(shape.n), std::log2(shape.k));
}

TunedShapes::Nearest TunedShapes::nearest(u32 n, u32 k) const {
    const f64 x = std::log2(n), y = std::log2(k);
    f64 least = farthest * farthest;
    const Tuned *found = nullptr;
    for (u64 i = 0; i < at_.size(); ++i) {
        const f64 dx = at_[i].first - x, dy = at_[i].second - y, d = dx * dx + dy * dy;
        if (d <= least && (!found || d < least)) {
            least = d;
            found = &shapes_[i];
        }
    }
    return {found, found ? std::sqrt(least) : 0};
}

std::string_view zeros_name(Zeros zeros) {
    switch (zeros) {
    case Zeros::packed:
        return "zp";
    case Zeros::typed:
        return "zt";
    case Zeros::carrier:
        return "carrier";
    case Zeros::eight:
        break;
    }
    return "";
}

std::string group_name(u32 group) { return group == per_row ? "k" : fmt::format("{}", group); }

Dtype dtype_of(const Kernel &k) {
    return k.param("dtype") == name(Dtype::bf16) ? Dtype::bf16 : Dtype::f16;
}

u32 group_of(const Kernel &k) {
    return k.param("group") == group_name(per_row) ? per_row : k.number("group");
}

Zeros zeros_of(const Kernel &k) {
    const std::string_view zeros = k.param("zeros");
    for (Zeros of : {Zeros::packed, Zeros::typed, Zeros::carrier})
        if (zeros == zeros_name(of))
            return of;
    return Zeros::eight;
}

std::string kind_label(Dtype dtype, u32 group, u32 m, Zeros zeros) {
    return fmt::format("{} g{}{}{} m{}", name(dtype), group_name(group),
                       zeros == Zeros::eight ? "" : " ", zeros_name(zeros), m);
}

bool matches(const Kernel &k, Dtype dtype, u32 group, u32 m, Zeros zeros) {
    return k.family == family && dtype_of(k) == dtype && group_of(k) == group &&
           k.number("m") == m && zeros_of(k) == zeros;
}

Choice explain(std::string_view gfx, Dtype dtype, u32 group, u32 m, Zeros zeros, u32 n, u32 k) {
    if (const Kernel *kernel = forced(family, gfx)) {
        if (matches(*kernel, dtype, group, m, zeros))
            return {kernel, Choice::Why::forced};
        const auto [of_gfx, of_dtype, of_group, of_m, of_zeros] = kind_of(*kernel);
        throw Error(
            fmt::format("NIBBLEWAVE_FORCE={}: it is for {}, the product is {}: unset it, or "
                        "name a kernel for such products",
                        kernel->symbol, kind_label(of_dtype, of_group, of_m, of_zeros),
                        kind_label(dtype, group, m, zeros)));
    }
    const Kind &kind = find_kind(gfx, dtype, group, m, zeros);
    const auto [shape, distance] = kind.shapes.nearest(n, k);
    if (!shape)
        return {kind.standard, Choice::Why::untuned};
    const bool same = shape->n == n && shape->k == k;
    return {shape->kernel, same ? Choice::Why::tuned : Choice::Why::near, shape, distance};
}

const Kernel &choose(std::string_view gfx, Dtype dtype, u32 group, u32 m, Zeros zeros, u32 n,
                     u32 k) {
    return *explain(gfx, dtype, group, m, zeros, n, k).kernel;
}

const Kernel &choose(std::string_view gfx, Dtype dtype, u32 group, u32 m, Zeros zeros) {
    return *find_kind(gfx, dtype, group, m, zeros).standard;
}

} // namespace nw
