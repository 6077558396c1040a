// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/types.h"

namespace nw {

struct TensorSpec {
    std::string name, dtype;
    std::vector<u64> shape; // [N, K]: rows first
};

// Sorts tensors by required alignment, so that each starts aligned in a file without padding.
class TensorOrder {
public:
    // `index` is set by placed().
    void add(size_t &index, u32 alignment, TensorSpec spec) {
        rows_.push_back({alignment, &index, std::move(spec)});
    }
    std::vector<TensorSpec> placed() {
        std::ranges::stable_sort(rows_, std::greater{}, &Row::alignment);
        std::vector<TensorSpec> out;
        for (Row &row : rows_) {
            *row.index = out.size();
            out.push_back(std::move(row.spec));
        }
        return out;
    }

private:
    struct Row {
        u32 alignment;
        size_t *index;
        TensorSpec spec;
    };
    std::vector<Row> rows_;
};

} // namespace nw
