// SPDX-License-Identifier: MIT
// Kernel arguments on a command line: x=buf:BYTES[:FILL], npy:FILE, u32:V, f16:V, null, ...
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "sim/func/machine.h"

namespace nw::cli {

struct ElementType; // elements.h

// Their `--help` text.
extern const char *const arguments_help;

// The arguments of a kernel: "x: 8 bytes, global_buffer; n: 4 bytes, by_value".
std::string expected_arguments(const sim::KernelInfo &);

// Makes the buffers of a launch.
class ArgumentMemory {
public:
    using Fill = std::function<void(std::span<std::byte>)>;
    virtual ~ArgumentMemory() = default;
    // The device's address of `bytes` with what fill() writes; 0: there is not enough memory.
    // `what` names them in reports of faults.
    virtual u64 make(u64 bytes, const std::string &what, const Fill &fill) = 0;
};

struct BufferArgument {
    size_t index = 0; // of the argument
    std::string name; // "" if the metadata has none
    u64 bytes = 0;
    const ElementType *type = nullptr; // of its fill or file; null: none is said
    std::vector<u64> shape;            // of its file
};

struct Kernarg {
    std::vector<std::byte> block; // explicit and hidden arguments, as the metadata says
    std::vector<BufferArgument> buffers;
};

// The kernel's argument block, with buffers made in the order of the arguments and filled from
// `seed`. `words` are in that order, or all begin with NAME=. Throws nw::Error for a word that
// doesn't fit its argument.
Kernarg make_kernarg(const sim::Dispatch &, std::span<const std::string> words, ArgumentMemory &,
                     u64 seed);

} // namespace nw::cli
