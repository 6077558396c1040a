// SPDX-License-Identifier: MIT
#include "base/nearest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nw {

namespace {

// Letters to change, add or take away to make one name of the other.
u64 letters_apart(std::string_view a, std::string_view b) {
    std::vector<u64> row(b.size() + 1);
    std::iota(row.begin(), row.end(), u64{0});
    for (u64 i = 0; i < a.size(); ++i) {
        u64 diagonal = std::exchange(row[0], i + 1);
        for (u64 j = 0; j < b.size(); ++j) {
            const u64 changed = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = std::min({changed, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

} // namespace

std::vector<std::string_view> nearest(std::string_view name, std::vector<std::string_view> names,
                                      u64 count) {
    std::ranges::sort(names, {}, [&](std::string_view other) {
        return std::pair(letters_apart(name, other), other);
    });
    names.resize(std::min<u64>(count, names.size()));
    return names;
}

} // namespace nw
