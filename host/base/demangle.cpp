// SPDX-License-Identifier: MIT
#include "base/demangle.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace nw {

std::string demangled(const std::string &symbol) {
    const std::unique_ptr<char, void (*)(void *)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, nullptr), std::free);
    return text ? text.get() : symbol;
}

} // namespace nw
