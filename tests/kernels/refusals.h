// SPDX-License-Identifier: MIT
// Shared by tests of refused launches.
#pragma once
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hip/hip.h"

namespace nw {

// The text of the Error that `action` throws; empty when it throws none.
inline std::string error_of(const std::function<void()> &action) {
    try {
        action();
    } catch (const Error &e) {
        return e.what();
    }
    return {};
}

inline bool contains(const std::string &text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

// The device of NIBBLEWAVE_DEVICE, or the simulated gfx1151.
inline const hip::Device &device() {
    const char *environment = std::getenv("NIBBLEWAVE_DEVICE");
    static const hip::Device one(environment && *environment ? environment : "sim:gfx1151");
    return one;
}

} // namespace nw
