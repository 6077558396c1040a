// SPDX-License-Identifier: MIT
#pragma once
#include <cstddef>
#include <vector>

namespace nw::hipsim {

std::vector<std::byte> read_file(const char *path); // hipErrorFileNotFound

} // namespace nw::hipsim
