// SPDX-License-Identifier: MIT
#include "ref/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ref/need_size.h"

namespace nw::ref {

namespace {

// The pair, as a real number, that makes so many turns in the original context.
f64 pair_of_turns(const RopeModel &m, f64 turns) {
    const f64 wavelength = m.original_context / (2 * std::numbers::pi * turns);
    return m.pairs * std::log(wavelength) / std::log(m.base);
}

// 1 where a pair keeps its frequency, 0 where it is scaled, a ramp between.
f64 kept(const RopeModel &m, u32 pair) {
    const f64 low = std::max(0.0, std::floor(pair_of_turns(m, m.beta_fast)));
    const f64 high = std::min(2.0 * m.pairs - 1, std::ceil(pair_of_turns(m, m.beta_slow)));
    const f64 ramp = (pair - low) / std::max(0.001, high - low);
    return m.extension * (1 - std::clamp(ramp, 0.0, 1.0));
}

} // namespace

std::vector<f64> rope_frequencies(const RopeModel &m) {
    if (!m.factors.empty())
        need_size("factors", m.factors.size(), m.pairs);
    std::vector<f64> out;
    for (u32 j = 0; j < m.pairs; ++j) {
        const f64 plain =
            std::pow(m.base, -f64(j) / m.pairs) / (m.factors.empty() ? 1.0 : f64{m.factors[j]});
        const f64 keep = kept(m, j);
        out.push_back(plain * (m.frequency_scale * (1 - keep) + keep));
    }
    return out;
}

std::vector<u64> rope_turns(std::span<const f64> frequencies, std::span<const u32> streams) {
    std::vector<u64> out;
    for (u64 j = 0; j < frequencies.size(); ++j) {
        const long double turns = frequencies[j] / (2 * std::numbers::pi_v<long double>);
        const u64 fraction = static_cast<u64>((turns - std::floor(turns)) * 0x1p64L);
        out.push_back(streams.empty() ? fraction : (fraction & ~u64{3}) | streams[j]);
    }
    return out;
}

std::vector<f64> rope_row(std::span<const f32> x, std::span<const f64> frequencies,
                          std::span<const i32> position, bool neox, f64 scale, u32 first) {
    const u64 pairs = frequencies.size();
    std::vector<f64> y(x.begin(), x.end());
    for (u64 j = 0; j < pairs; ++j) {
        const u64 a = first + (neox ? j : 2 * j), b = neox ? a + pairs : a + 1;
        const long double t = static_cast<long double>(frequencies[j]) * position[j];
        const f64 c = static_cast<f64>(std::cos(t)), s = static_cast<f64>(std::sin(t));
        y[a] = scale * (x[a] * c - x[b] * s);
        y[b] = scale * (x[a] * s + x[b] * c);
    }
    return y;
}

} // namespace nw::ref
