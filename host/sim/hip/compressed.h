// SPDX-License-Identifier: MIT
// Compressed offload bundles, magic "CCOB".
#pragma once
#include "sim/hip/image.h"

namespace nw::hipsim {

inline constexpr char compressed_magic[] = "CCOB";

// The bundle inside. Fails with hipErrorInvalidImage.
std::vector<std::byte> decompress_bundle(const Source &image);

} // namespace nw::hipsim
