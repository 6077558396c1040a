// SPDX-License-Identifier: MIT
#include "nw/tune/decide.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <vector>

namespace nw::cli {

TunedShape decide(std::span<const Kernel *const> kernels, std::span<const f64> us,
                  const std::string &by, f64 least_gain) {
    std::vector<u64> order(us.size());
    for (u64 i = 0; i < order.size(); ++i)
        order[i] = i;
    std::ranges::stable_sort(order, {}, [&](u64 i) { return us[i]; });
    if (us[order[0]] > us[0] / (1 + least_gain)) // prefer the default
        std::rotate(order.begin(), std::ranges::find(order, u64{0}),
                    std::ranges::find(order, u64{0}) + 1);
    const u64 best = order[0], next = order[1];
    return {std::string(kernels[best]->symbol),
            std::string(kernels[next]->symbol),
            us[best],
            us[next],
            us[0],
            by};
}

void Gain::add(const TunedShape &row, std::string_view default_kernel, const std::string &what) {
    const f64 gain = row.default_us / row.us;
    ++shapes_;
    changed_ += row.kernel != default_kernel;
    logs_ += std::log(gain);
    if (gain > most_) {
        most_ = gain;
        where_ = what;
    }
}

std::string Gain::text() const {
    return fmt::format("{:>3} shapes, {:>3} change, {:.3f}x over the default, at most {:.3f}x{}",
                       shapes_, changed_, std::exp(logs_ / static_cast<f64>(shapes_)), most_,
                       where_.empty() ? "" : ", " + where_);
}

} // namespace nw::cli
