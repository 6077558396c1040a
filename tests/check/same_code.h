// SPDX-License-Identifier: MIT
// Targets on which a kernel is the same code. It is checked in full on one of them; on the others
// one launch shows that the code object loads and that registers and descriptor are as they must
// be.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/targets.h"
#include "runtime/kernel.h"

namespace nw::check {

// All that the GPU reads of a code object: machine code, kernel descriptor and constants, each with
// its address. Metadata and symbols, which name the target, are left out. Throws Error where the
// file is no code object.
std::string loaded_sections(const std::filesystem::path &hsaco);

// True if the targets differ only in facts that no result and no checker depends on: occupancy and
// hosts' layout of rows. Targets of two series have different hazards.
bool same_behaviour(const Target &, const Target &);

// True if the same instructions have the same results on both: they may differ in hazards and in
// costs, too.
bool same_results(const Target &, const Target &);

// True for one target of each series: families run all of their shapes on it, on other targets one
// shape of each path.
bool thorough(std::string_view gfx);

// The kernels given, one symbol on several targets, in groups of equal sections and behaviour. The
// first of a group is on a thorough target if any is. A code object that can't be read is alone.
std::vector<std::vector<const Kernel *>> same_code(std::span<const Kernel *const> kernels);

// First kernels of groups whose code equals another group's of the same symbol apart from waits:
// their results are checked there. Whether their waits suffice is checked under the checkers, where
// each runs for itself.
std::vector<const Kernel *> repeated(std::span<const std::vector<const Kernel *>> groups);

} // namespace nw::check
