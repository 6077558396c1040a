// SPDX-License-Identifier: MIT
// What the launches of W4A16 check alike, whatever the family.
#pragma once
#include "base/types.h"
#include "runtime/decode.h"
#include "runtime/rules.h"

namespace nw {

// What a kernel's 32-bit offsets reach: rows are to be closer than `below` bytes, because `why`.
struct Reach {
    u64 below;
    const char *why;
};

// `group`, and that k has whole ones. `lengths` are those the message names.
void check_groups(const Rules &, u32 k, u32 group, const char *lengths);
// Pointers, and strides of w, s and z.
void check_operands(const Rules &, const W4A16 &, const Reach &);
// c overlaps no input.
void check_overlap(const Rules &, const W4A16 &);

} // namespace nw
