// SPDX-License-Identifier: MIT
// Forward data flow over a kernel's basic blocks, to a fixed point.
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "lint/flow.h"

namespace nw::lint {

// Returns the state at the start of each block; `entry` is the state at the kernel's start.
// `step(state, i)` applies instruction i. `on(state, block, next)` is the state on an edge; empty
// if the edge is infeasible. `state.join(other)` merges a predecessor's state and returns true if
// it changed. `state.forget()` models a call of an unknown function. Empty for unreachable blocks.
template <class State, class Step, class On>
std::vector<std::optional<State>> solve(const Flow &flow, const State &entry, const Step &step,
                                        const On &on) {
    const std::vector<Block> &blocks = flow.blocks();
    std::vector<std::optional<State>> at(blocks.size());
    at[0] = entry;
    std::set<u32> todo{0};
    while (!todo.empty()) {
        const u32 n = *todo.begin();
        todo.erase(todo.begin());
        State state = *at[n];
        for (u32 i = blocks[n].first; i < blocks[n].end; ++i)
            step(state, i);
        if (blocks[n].unknown_call)
            state.forget();
        for (u32 next : blocks[n].next) {
            std::optional<State> there = on(state, blocks[n], next);
            if (!there)
                continue;
            if (!at[next]) {
                at[next] = std::move(there);
                todo.insert(next);
            } else if (at[next]->join(*there)) {
                todo.insert(next);
            }
        }
    }
    return at;
}

template <class State, class Step>
std::vector<std::optional<State>> solve(const Flow &flow, const State &entry, const Step &step) {
    return solve(flow, entry, step,
                 [](const State &state, const Block &, u32) { return std::optional(state); });
}

// Calls visit(state, i) for each reachable instruction with the state before it. visit applies the
// instruction itself.
template <class State, class Visit>
void each_state(const Flow &flow, const std::vector<std::optional<State>> &at, const Visit &visit) {
    for (u32 n = 0; n < at.size(); ++n) {
        if (!at[n])
            continue;
        State state = *at[n];
        for (u32 i = flow.blocks()[n].first; i < flow.blocks()[n].end; ++i)
            visit(state, i);
    }
}

} // namespace nw::lint
