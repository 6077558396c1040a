// SPDX-License-Identifier: MIT
// Clang's offload bundles: one code object for each of several targets, plain or compressed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/isa/image/byte_source.h"

namespace nw::sim {

inline constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";

struct BundleEntry {
    u64 offset, size;
    std::string target; // "gfx1151"; empty for the host's entry
};
// Throws BadImage if the list is damaged. Doesn't check that the entries' bytes exist.
std::vector<BundleEntry> bundle_entries(const ByteSource &);
// "gfx1100, gfx1151"
std::string targets_of(const std::vector<BundleEntry> &);

// A generic target runs on all of its generation.
bool runs_on(std::string_view target, std::string_view gfx);
// The entry for `gfx`: exact match before generic; null if there is none.
const BundleEntry *find_entry(const std::vector<BundleEntry> &, std::string_view gfx);

} // namespace nw::sim
