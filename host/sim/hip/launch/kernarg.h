// SPDX-License-Identifier: MIT
// The kernel's argument block, laid out as the code object's metadata says.
#pragma once
#include <cstddef>
#include <vector>

#include "sim/func/machine.h"
#include "sim/hip/module/module.h"

namespace nw::hipsim {

// Explicit arguments come from `params` (a pointer per argument) or from `extra` (one packed
// block); hidden ones (.value_kind hidden_*) from the launch. As on real ROCm, bytes are copied per
// entry of .args. A kernel without .args gets none (reported once per kernel), and the size in
// `extra` only limits the read.
std::vector<std::byte> pack_kernarg(Function &function, const sim::Dispatch &dispatch,
                                    void **params, void **extra);

} // namespace nw::hipsim
