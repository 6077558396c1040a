// SPDX-License-Identifier: MIT
// The msgpack note of a code object: `amdhsa.kernels`.
#pragma once
#include <span>
#include <vector>

#include "sim/isa/image/program.h"

namespace nw::sim {

// Kernels listed by the metadata, with all fields except the descriptor's. Throws BadImage.
std::vector<KernelInfo> read_metadata(std::span<const std::byte> msgpack);

// `amdhsa.printf`: the formats of kernels that print into a buffer.
std::vector<std::string> read_printf_formats(std::span<const std::byte> msgpack);

} // namespace nw::sim
