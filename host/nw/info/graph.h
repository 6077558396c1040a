// SPDX-License-Identifier: MIT
// Layered layout of a kernel's control flow graph, top to bottom.
#pragma once
#include <vector>

#include "lint/flow.h"

namespace nw::cli {

struct Layout {
    struct Node {
        u32 layer = 0, place = 0; // from the top, from the left
        f64 x = 0, y = 0;         // of its upper left corner, pixels
    };
    struct Edge {
        u32 from, to; // blocks
        bool back;    // to a block above or itself: drawn at the left
        u32 lane = 0; // of those at the left, or past other blocks at their right: 0 next to them
    };
    static constexpr u32 right_lanes = 5; // between two columns of blocks
    static constexpr f64 node_height = 34, gap_x = 26, gap_y = 30, lane_width = 7;

    Layout(const lint::Flow &, f64 node_width);

    const f64 node_width;
    std::vector<Node> nodes; // by block
    std::vector<Edge> edges;
    f64 width = 0, height = 0, left = 0; // left: of the first node, behind the lanes

private:
    void layers(const lint::Flow &);
    void order();
    void lanes();
    std::vector<std::vector<u32>> rows_; // blocks by layer
};

} // namespace nw::cli
