// SPDX-License-Identifier: MIT
#include "measure/micro/patterns.h"

#include <fmt/format.h>

namespace nw::micro {

namespace {

std::array<u32, 32> addresses(u32 (*of)(u32 lane)) {
    std::array<u32, 32> at{};
    for (u32 lane = 0; lane < 32; ++lane)
        at[lane] = of(lane);
    return at;
}

} // namespace

std::vector<Pattern> patterns(u32 width) {
    const u32 dwords = width / 32;
    std::vector<Pattern> out;
    for (u32 stride = dwords; stride <= 64; stride += dwords) {
        Pattern p{fmt::format("stride {}", stride), {}};
        for (u32 lane = 0; lane < 32; ++lane)
            p.at[lane] = 4 * stride * lane;
        out.push_back(p);
    }
    out.push_back({"one address", {}});
    if (width == 128) {
        // Lanes whose 16 bytes lie in the same eighth of 128 bytes access the same banks. Both
        // patterns have every eighth four times; they differ in the lanes that share one.
        out.push_back({"eighths by 8 lanes", addresses([](u32 lane) { // 0-7 all differ
                           return lane / 8 * 128 + (lane + (lane < 16 ? 0 : 4)) % 8 * 16;
                       })});
        out.push_back({"eighths by 4 + 4 lanes", addresses([](u32 lane) { // 0-3, 20-23 all differ
                           return lane / 4 * 128 + (lane % 4 + (lane < 16 ? 0 : 4)) * 16;
                       })});
    }
    return out;
}

Pattern packed(u32 width) { return patterns(width).front(); }

} // namespace nw::micro
