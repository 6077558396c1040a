// SPDX-License-Identifier: MIT
// Index lists, as weights of act-order have them.
#pragma once
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "base/types.h"

namespace nw {

// Each of 0..k-1 once.
inline std::vector<u32> permutation(u32 k, Rng &rng) {
    std::vector<u32> out(k);
    std::iota(out.begin(), out.end(), 0);
    for (u32 i = k; i > 1; --i)
        std::swap(out[i - 1], out[rng.below(i)]);
    return out;
}

// Rows of perm.size() values, in the list's order: out[k] = row[perm[k]].
inline std::vector<u16> permuted(std::span<const u16> rows, std::span<const u32> perm) {
    std::vector<u16> out(rows.size());
    for (u64 at = 0; at < rows.size(); at += perm.size())
        for (u64 k = 0; k < perm.size(); ++k)
            out[at + k] = rows[at + perm[k]];
    return out;
}

} // namespace nw
