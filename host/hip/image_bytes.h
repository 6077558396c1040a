// SPDX-License-Identifier: MIT
// hipModuleLoadData takes a bare pointer and reads as far as the image's own headers declare.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace nw::hip {

// Empty if everything that the headers declare is inside `image`; else the defect. An unknown image
// format passes: the runtime decides.
std::string what_is_missing(std::span<const std::byte> image);

} // namespace nw::hip
