// SPDX-License-Identifier: MIT
// The msgpack note of a code object: `amdhsa.kernels`.
#pragma once
#include <span>
#include <vector>

#include "sim/isa/program.h"

namespace nw::sim {

// Kernels as the metadata lists them: everything but what is in the descriptor. Throws BadImage.
std::vector<KernelInfo> read_metadata(std::span<const std::byte> msgpack);

} // namespace nw::sim
