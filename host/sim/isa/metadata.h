// SPDX-License-Identifier: MIT
// The msgpack note of a code object: `amdhsa.kernels`.
#pragma once
#include <span>
#include <vector>

#include "sim/isa/program.h"

namespace nw::sim {

// Kernels listed by the metadata, with all fields except the descriptor's. Throws BadImage.
std::vector<KernelInfo> read_metadata(std::span<const std::byte> msgpack);

} // namespace nw::sim
