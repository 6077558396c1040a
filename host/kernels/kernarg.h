// SPDX-License-Identifier: MIT
// A kernel's argument block, filled by the offsets that the registry states.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "kernels/registry.h"

namespace nw {

class Kernarg {
public:
    explicit Kernarg(const Kernel &kernel) : kernel_(kernel), bytes_(kernel.kernarg_bytes) {}

    // Throws Error where the kernel has no argument of this name and size.
    template <class T> void put(std::string_view argument, const T &value) {
        std::memcpy(at(argument, sizeof value), &value, sizeof value);
    }
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::byte *at(std::string_view argument, u64 size);

    const Kernel &kernel_;
    std::vector<std::byte> bytes_;
};

} // namespace nw
