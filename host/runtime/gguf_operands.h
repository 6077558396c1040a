// SPDX-License-Identifier: MIT
// What launches with GGUF weights check alike, whatever the family.
#pragma once
#include "runtime/gguf.h"
#include "runtime/rules.h"

namespace nw {

// A type's blocks, where there is none refused in the family's name; and that k has whole ones.
const GgufBlocks &gguf_blocks(const Rules &, std::string_view type);
void check_gguf_blocks(const Rules &, const GgufBlocks &, u32 k);

// Of a product: GgufDecode, GgufMid or GgufPrefill.
template <class Product> void check_gguf_pointers(const Rules &rules, const Product &p) {
    rules.pointer("a", p.a, 16);
    rules.pointer("w", p.w, 16);
    rules.pointer("c", p.c, 4);
}

// c overlaps no input.
template <class Product>
void check_gguf_overlap(const Rules &rules, const Product &p, u64 a_bytes) {
    const u64 row = gguf_row_bytes(p.type, p.k);
    const auto c = Rules::rows("c", p.c, 1, 0, u64{4} * p.m * p.n);
    rules.apart(c, Rules::rows("a", p.a, 1, 0, a_bytes));
    rules.apart(c, Rules::rows("w", p.w, p.n, row, row));
}

} // namespace nw
