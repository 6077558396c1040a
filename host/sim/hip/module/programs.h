// SPDX-License-Identifier: MIT
// Code objects by content: hosts load the same one again and again, and decoding it takes longer
// than most kernels run.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "sim/isa/image/program.h"

namespace nw::hipsim {

class Device;

// The program of a code object. One without variables is shared by all modules that load it, unless
// launches are timed: then the address of the code counts.
std::shared_ptr<const sim::Program> load_program(const Device &device,
                                                 std::vector<std::byte> code_object);

// Its image in the device's memory, for as long as one of the results lives.
std::shared_ptr<void> adopt_image(Device &device, std::shared_ptr<const sim::Program> program);

} // namespace nw::hipsim
