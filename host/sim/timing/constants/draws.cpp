// SPDX-License-Identifier: MIT
#include "sim/timing/constants/draws.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/rng.h"

namespace nw::sim::timing {

namespace {

constexpr u64 seed = 29;

u64 hash(std::string_view text) {
    u64 h = 0;
    for (const char c : text)
        h = mix(h + static_cast<unsigned char>(c) + 1);
    return h;
}

// Which part of the constant's range draw `number` takes.
u32 stratum(std::string_view name, u32 number, u32 count) {
    std::vector<u32> order(count);
    std::iota(order.begin(), order.end(), 0u);
    Rng rng = Rng(seed).fork(hash(name));
    for (u32 i = count; i > 1; --i)
        std::swap(order[i - 1], order[rng.below(i)]);
    return order[number];
}

template <class Owner>
void set(Owner &owner, std::span<const Field<Owner>> fields, const std::vector<Constant> &constants,
         u32 number, u32 count) {
    for (u64 i = 0; i < fields.size(); ++i) {
        const Constant &c = constants[i];
        if (c.likely.low < c.likely.high)
            fields[i].set(owner, within(c, (stratum(c.name, number, count) + 0.5) / count));
    }
}

} // namespace

f64 within(const Constant &c, f64 at) {
    const auto [low, high] = c.likely;
    const f64 value =
        at < 0.5 ? low + (c.value - low) * 2 * at : c.value + (high - c.value) * (2 * at - 1);
    if (c.unit == "line") { // the nearest power of two in the range
        const f64 power = std::exp2(std::round(std::log2(value)));
        return std::clamp(power, low, high);
    }
    return c.whole ? std::round(value) : value;
}

Range bounds(f64 time, std::span<const f64> draws) {
    Range out{time, time};
    for (const f64 one : draws)
        out = {std::min(out.low, one), std::max(out.high, one)};
    return out;
}

Constants draw(const Part &part, const Costs &costs, u32 number, u32 count) {
    Constants out{part, costs};
    set(out.part, part_fields(), constants(part), number, count);
    set(out.costs, cost_fields(), constants(costs, part.gfx), number, count);
    return out;
}

} // namespace nw::sim::timing
