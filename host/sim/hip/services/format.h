// SPDX-License-Identifier: MIT
// printf's text, from a format and the arguments that a kernel has sent.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/types.h"

namespace nw::hipsim {

// The arguments of one printf, one after the other. Nothing: there are no more.
class FormatArguments {
public:
    virtual ~FormatArguments() = default;
    // A number, or the elements of OpenCL's vector: little-endian, all of the same size.
    virtual std::optional<std::vector<std::byte>> number() = 0;
    virtual std::optional<std::string> text() = 0;
};

// As in C, and OpenCL's vectors. Ends where an argument is missing. %n writes nothing.
std::string format_text(std::string_view format, FormatArguments &arguments);

} // namespace nw::hipsim
