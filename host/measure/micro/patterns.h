// SPDX-License-Identifier: MIT
// Addresses of the lanes of a wave.
#pragma once
#include <array>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw::micro {

struct Pattern {
    std::string name;       // "stride 4"
    std::array<u32, 32> at; // byte address of each lane
};

// For accesses of `width` bits: every stride up to 64 dwords that keeps them aligned, all lanes at
// one address, and for 128 bits two that tell apart which lanes LDS serves together.
std::vector<Pattern> patterns(u32 width);

// Contiguous lanes: the first stride.
Pattern packed(u32 width);

} // namespace nw::micro
