// SPDX-License-Identifier: MIT
// Kernel arguments on a command line: buf:BYTES[:FILL], u32:V, f16:V, null, ...
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "sim/func/machine.h"

namespace nw::cli {

// Their `--help` text.
extern const char *const arguments_help;

// The arguments of a kernel: "x: 8 bytes, global_buffer; n: 4 bytes, by_value".
std::string expected_arguments(const sim::KernelInfo &);

// The kernel's argument block, with buffers allocated in `memory` in the order of the words and
// filled from `seed`. Throws nw::Error for a word that doesn't fit its argument.
std::vector<std::byte> make_kernarg(const sim::Dispatch &, std::span<const std::string> words,
                                    sim::Memory &memory, u64 seed);

} // namespace nw::cli
