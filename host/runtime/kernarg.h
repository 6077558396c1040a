// SPDX-License-Identifier: MIT
// A kernel's argument block, filled by the offsets that the registry states.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/types.h"
#include "runtime/registry.h"

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

// By which a kernel divides by `d` (asm/lib/scalar.j2).
inline u32 inverse(u32 d) {
    return static_cast<u32>(std::min((u64{1} << 32) / d, (u64{1} << 32) - 1));
}

// The arguments that products with 4-bit weights have in common (W4A16, MoeW4A16).
template <class Product> void put_operands(Kernarg &out, const Product &p) {
    out.put("a", p.a);
    out.put("w", p.w);
    out.put("s", p.s);
    out.put("bias", p.bias);
    out.put("c", p.c);
    out.put("n", p.n);
    out.put("k", p.k);
    out.put("w_stride", static_cast<u32>(p.w_stride));
    out.put("s_stride", static_cast<u32>(p.s_stride));
    out.put("z", p.z);
    out.put("z_stride", static_cast<u32>(p.z_stride));
}

} // namespace nw
