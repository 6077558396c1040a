// SPDX-License-Identifier: MIT
// Path-sensitive data flow: one state for each set of known conditions.
#pragma once
#include <algorithm>
#include <vector>

#include "lint/conditions.h"
#include "lint/solve.h"

namespace nw::lint {

template <class State> class PathStates {
public:
    struct Path {
        Known known;
        State state;
    };
    // Limit of states at a point; beyond it conditions are dropped, the least useful first.
    static constexpr size_t most = 24;

    PathStates() = default;
    explicit PathStates(State entry) { paths_.push_back({{}, std::move(entry)}); }

    template <class Step> void step(const Conditions::Effect &effect, const Step &step) {
        for (Path &path : paths_) {
            step(path.state);
            path.known.step(effect);
        }
    }
    // The paths on which SCC may have this value.
    PathStates where(bool scc_is_one) const {
        PathStates out;
        for (Path path : paths_)
            if (path.known.assume(scc_is_one))
                out.paths_.push_back(std::move(path));
        return out;
    }
    // Keeps only the conditions that are live at the next point.
    PathStates keeping(u64 wanted, bool scc) const {
        PathStates out;
        out.dropped_ = ~wanted;
        for (Path path : paths_) {
            if (!scc)
                path.known.scc = {};
            out.add(std::move(path));
        }
        out.dropped_ = 0;
        return out;
    }
    bool join(const PathStates &o) {
        bool changed = false;
        for (const Path &path : o.paths_)
            changed |= add(path);
        while (paths_.size() > most && drop_one())
            changed = true;
        return changed;
    }
    void forget() {
        for (Path &path : paths_)
            path.state.forget();
    }
    bool empty() const { return paths_.empty(); }
    const std::vector<Path> &all() const { return paths_; }

private:
    bool add(Path path) {
        path.known.known &= ~dropped_;
        for (Path &mine : paths_) {
            if (mine.known == path.known)
                return mine.state.join(path.state);
            // Subsumed by a path with fewer known conditions and a state that contains this one.
            if (State both = mine.state; path.known.includes(mine.known) && !both.join(path.state))
                return false;
        }
        paths_.push_back(std::move(path));
        return true;
    }

    // Drops the condition that merges the fewest unequal states; of several, the one that leaves
    // the fewest paths.
    bool drop_one() {
        u64 all = 0;
        for (const Path &path : paths_)
            all |= path.known.known;
        u64 best = 0;
        std::pair<size_t, size_t> least{~size_t{0}, 0};
        for (; all; all &= all - 1)
            if (const auto cost = cost_of(all & -all); cost.second < paths_.size() && cost < least)
                best = all & -all, least = cost;
        if (best == 0)
            return false;
        dropped_ |= best;
        const std::vector<Path> before = std::move(paths_);
        paths_.clear();
        for (const Path &path : before)
            add(path);
        return true;
    }
    // Unequal states that would merge, and paths that would remain.
    std::pair<size_t, size_t> cost_of(u64 condition) const {
        std::vector<const Path *> left;
        size_t unequal = 0;
        for (const Path &path : paths_) {
            const auto same = std::ranges::find_if(left, [&](const Path *other) {
                Known a = path.known, b = other->known;
                a.known &= ~condition, b.known &= ~condition;
                return a == b;
            });
            if (same == left.end())
                left.push_back(&path);
            else
                unequal += !((*same)->state == path.state);
        }
        return {unequal, left.size()};
    }

    std::vector<Path> paths_;
    u64 dropped_ = 0; // conditions, at this point
};

} // namespace nw::lint
