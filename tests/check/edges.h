// SPDX-License-Identifier: MIT
// The shapes at which a kernel's tails begin and end, from its family's contract ([edges] of
// asm/<family>/family.toml): shapes of a family test, in addition to the paths that only it knows.
#pragma once
#include <vector>

#include "base/types.h"
#include "runtime/kernel.h"

namespace nw::check {

// Sizes in elements; 0 where the family has no such size.
struct EdgeShape {
    u32 m, n, k, slots, experts;
};

// The sizes of [example] with one of them changed: the least; for each length e of [edges] e - 1, e
// and e + 1; and twice the last e, plus 5. A value that the contract refuses is raised until it
// does not. Each shape once, the kernel's parameters in place of the op's values that must equal
// them.
std::vector<EdgeShape> edge_shapes(const Kernel &);

} // namespace nw::check
