// SPDX-License-Identifier: MIT
#include "runtime/catalogue.h"

#include <map>

namespace nw {

namespace {

// build/kernels.inc (gen/emit_catalogue.py), by gfx and family.
// clang-format off
const Kernel table[] = {
#include "kernels.inc"
};
// clang-format on

#define NW_TUNED(gfx, family, m, n, k, kernel, us, next, next_us, default_us, by)                  \
    TunedRow{#gfx, #family, #kernel, m, {n, k, nullptr, us, #next, next_us, default_us, by}},
constexpr TunedRow tuned[] = {{}, // an array has something
#include "tuning.inc"
};
#undef NW_TUNED

} // namespace

std::span<const Kernel> kernels() { return table; }

const Kernel *find_kernel(std::string_view gfx, std::string_view symbol) {
    static const auto by_name = [] {
        std::map<std::pair<std::string_view, std::string_view>, const Kernel *> out;
        for (const Kernel &k : table)
            out.emplace(std::pair{k.gfx, k.symbol}, &k);
        return out;
    }();
    const auto found = by_name.find({gfx, symbol});
    return found == by_name.end() ? nullptr : found->second;
}

std::span<const TunedRow> tuned_rows() { return std::span(tuned).subspan(1); }

} // namespace nw
