// SPDX-License-Identifier: MIT
#include "runtime/kernarg.h"

#include <fmt/format.h>

#include "base/error.h"

namespace nw {

std::byte *Kernarg::at(std::string_view argument, u64 size) {
    for (const KernelArg &a : kernel_.args)
        if (a.name == argument && a.size == size && a.offset + a.size <= bytes_.size())
            return bytes_.data() + a.offset;
    throw Error(fmt::format("{}: has no argument '{}' of {} bytes; the kernels and this library "
                            "are from different versions",
                            kernel_.symbol, argument, size));
}

} // namespace nw
