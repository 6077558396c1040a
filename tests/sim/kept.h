// SPDX-License-Identifier: MIT
// Code objects that earlier test programs assembled, kept in the build directory by the whole text
// that they were made of: hundreds of small kernels are the same in every run, and in the tests of
// the simulator and the lint. Running the assembler takes longer than the tests.
#pragma once
#include <optional>
#include <string>

namespace nw::sim::test {

// The bytes kept for this key.
std::optional<std::string> find_kept(const std::string &key);

// Keeps bytes; long keys are not kept, because random tests make new ones in every run. A failure
// to write is none of the test's.
void keep(const std::string &key, const std::string &bytes);

} // namespace nw::sim::test
