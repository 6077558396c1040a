// SPDX-License-Identifier: MIT
// hipModuleLoadData takes a bare pointer and reads as far as the image's own headers say.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace nw::hip {

// Empty when all that the headers announce is inside `image`; else what is wrong. An image of a
// form that is not known passes: the runtime judges it.
std::string what_is_missing(std::span<const std::byte> image);

} // namespace nw::hip
