// SPDX-License-Identifier: MIT
// Data flow over a kernel's blocks, to a fixed point.
#pragma once
#include <optional>
#include <set>
#include <vector>

#include "lint/flow.h"

namespace nw::lint {

// What is known where each block begins, if `entry` is where the kernel does. `step(state, i)` is
// instruction i; `on(state, block, next)` is what goes from a block to the next one, nothing where
// no way leads there; `state.join(other)` adds what another way there knows and says whether that
// was news; `state.forget()` is a call of something unknown. Empty where a block is never reached.
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

// visit(state, i) for each instruction that is reached, with what is known before it; it takes the
// step itself.
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
