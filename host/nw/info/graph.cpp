// SPDX-License-Identifier: MIT
#include "nw/info/graph.h"

#include <algorithm>

namespace nw::cli {

using lint::Flow;

// A block's layer is below all its predecessors, except those later in reverse postorder.
void Layout::layers(const Flow &flow) {
    for (u32 n = 0; n < nodes.size(); ++n)
        for (u32 next : flow.blocks()[n].next) {
            edges.push_back({n, next, next <= n});
            if (next > n)
                nodes[next].layer = std::max(nodes[next].layer, nodes[n].layer + 1);
        }
    for (u32 n = 0; n < nodes.size(); ++n) {
        rows_.resize(std::max<size_t>(rows_.size(), nodes[n].layer + 1));
        rows_[nodes[n].layer].push_back(n);
    }
}

// Places each block near the mean position of its predecessors.
void Layout::order() {
    std::vector<f64> sum(nodes.size()), count(nodes.size());
    for (std::vector<u32> &row : rows_) {
        const auto middle = [&](u32 n) { return count[n] > 0 ? sum[n] / count[n] : 0; };
        std::ranges::stable_sort(row, {}, middle);
        for (u32 place = 0; place < row.size(); ++place) {
            nodes[row[place]].place = place;
            for (const Edge &e : edges)
                if (e.from == row[place] && !e.back)
                    sum[e.to] += place, count[e.to] += 1;
        }
    }
}

// Assigns lanes: among overlapping edges at one side the longer one is further out.
void Layout::lanes() {
    const auto top = [&](const Edge *e) {
        return std::min(nodes[e->to].layer, nodes[e->from].layer);
    };
    const auto bottom = [&](const Edge *e) {
        return std::max(nodes[e->to].layer, nodes[e->from].layer);
    };
    const auto column = [&](const Edge *e) {
        return std::max(nodes[e->to].place, nodes[e->from].place);
    };
    std::vector<Edge *> side;
    for (Edge &e : edges)
        if (e.back || nodes[e.to].layer > nodes[e.from].layer + 1)
            side.push_back(&e);
    std::ranges::stable_sort(side, {}, [&](const Edge *e) { return bottom(e) - top(e); });
    const auto meet = [&](const Edge *a, const Edge *b) {
        // An edge may begin where another ends, except at the left, where both have arms.
        const bool spans = a->back ? top(a) <= bottom(b) && top(b) <= bottom(a)
                                   : top(a) < bottom(b) && top(b) < bottom(a);
        return spans && a->back == b->back && (a->back || column(a) == column(b));
    };
    for (size_t n = 0; n < side.size(); ++n)
        for (size_t k = 0; k < n; ++k)
            if (meet(side[k], side[n])) {
                const u32 most =
                    side[n]->back ? 40 : right_lanes - 1; // further ones share the last
                side[n]->lane = std::min(most, std::max(side[n]->lane, side[k]->lane + 1));
            }
}

Layout::Layout(const Flow &flow, f64 node_width)
    : node_width(node_width), nodes(flow.blocks().size()) {
    layers(flow);
    order();
    lanes();
    u32 lanes = 0;
    for (const Edge &e : edges)
        lanes = std::max(lanes, e.back ? e.lane + 1 : 0);
    left = 14 + lanes * lane_width;
    for (Node &node : nodes) {
        node.x = left + 8 + node.place * (node_width + gap_x);
        node.y = 10 + node.layer * (node_height + gap_y);
        width = std::max(width, node.x + node_width + 40);
        height = std::max(height, node.y + node_height + 14);
    }
}

} // namespace nw::cli
