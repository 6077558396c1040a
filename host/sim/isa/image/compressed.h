// SPDX-License-Identifier: MIT
// Compressed offload bundles, magic "CCOB".
#pragma once
#include "sim/isa/image/byte_source.h"

namespace nw::sim {

inline constexpr std::string_view compressed_magic = "CCOB";

// The bundle inside. Throws BadImage.
std::vector<std::byte> decompress_bundle(const ByteSource &image);

} // namespace nw::sim
