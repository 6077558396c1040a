// SPDX-License-Identifier: MIT
// Handles as text.
#pragma once
#include <cstdio>
#include <cstring>
#include <string>

namespace hip_test {

template <class Handle> std::string hex(const Handle &handle) {
    const auto *bytes = reinterpret_cast<const unsigned char *>(&handle);
    std::string text;
    for (std::size_t i = 0; i < sizeof handle; ++i) {
        char two[3];
        std::snprintf(two, sizeof two, "%02x", bytes[i]);
        text += two;
    }
    return text;
}

template <class Handle> Handle unhex(const std::string &text) {
    Handle handle{};
    auto *bytes = reinterpret_cast<unsigned char *>(&handle);
    for (std::size_t i = 0; i < sizeof handle && 2 * i + 2 <= text.size(); ++i)
        bytes[i] = static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
    return handle;
}

} // namespace hip_test
