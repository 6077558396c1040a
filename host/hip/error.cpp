// SPDX-License-Identifier: MIT
#include "hip/hip.h"

namespace nw::hip {

Error::Error(int code, std::string name, std::string call, std::string text)
    : nw::Error(std::move(text)), code(code), name(std::move(name)), call(std::move(call)) {}

} // namespace nw::hip
