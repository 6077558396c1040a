// SPDX-License-Identifier: MIT
#include "runtime/registry.h"

#include <charconv>
#include <fmt/format.h>

#include "base/error.h"

// build/kernels.inc is read twice: once for each kernel's arrays, once for the table.

namespace nw {

namespace {

// clang-format off
#define NW_ARG(name, kind, offset, size) KernelArg{name, kind, offset, size}
#define NW_PARAM(key, value)             KernelParam{key, value}
#define NW_ARGS(...)                     __VA_ARGS__
#define NW_PARAMS(...)                   __VA_ARGS__

#define NW_KERNEL(symbol, gfx, family, block, rows, lds, vgprs, sgprs, waves, kernarg, reference, candidate, args, params) \
    constexpr KernelArg gfx##_##symbol##_args[] = {args};                                                       \
    constexpr KernelParam gfx##_##symbol##_params[] = {params};
#include "kernels.inc"
#undef NW_KERNEL

#define NW_KERNEL(symbol, gfx, family, block, rows, lds, vgprs, sgprs, waves, kernarg, reference, candidate, args, params) \
    Kernel{#symbol, #gfx, #family, gfx##_##symbol##_params, gfx##_##symbol##_args,                              \
           kernarg, block, rows, lds, vgprs, sgprs, waves, (reference) != 0, (candidate) != 0},
constexpr Kernel table[] = {
#include "kernels.inc"
};
#undef NW_KERNEL
// clang-format on

} // namespace

std::string_view Kernel::param(std::string_view key) const {
    for (const KernelParam &p : params)
        if (p.key == key)
            return p.value;
    return {};
}

u32 Kernel::number(std::string_view key) const {
    const std::string_view text = param(key);
    u32 value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size())
        throw Error(
            fmt::format("kernel {}: parameter '{}' is '{}', not a number", symbol, key, text));
    return value;
}

std::span<const Kernel> kernels() { return table; }

} // namespace nw
