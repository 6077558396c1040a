// SPDX-License-Identifier: MIT
// Data flow that keeps ways apart by what they know of the kernel's conditions.
#pragma once
#include <algorithm>
#include <vector>

#include "lint/conditions.h"
#include "lint/solve.h"

namespace nw::lint {

template <class State> class Ways {
public:
    struct Way {
        Known known;
        State state;
    };
    // Where there are more, conditions are no longer asked for, first those that matter least.
    static constexpr size_t most = 24;

    Ways() = default;
    explicit Ways(State entry) { ways_.push_back({{}, std::move(entry)}); }

    template <class Step> void step(const Conditions::Effect &effect, const Step &step) {
        for (Way &way : ways_) {
            step(way.state);
            way.known.step(effect);
        }
    }
    // Those on which SCC may be that.
    Ways where(bool scc_is_one) const {
        Ways out;
        for (Way way : ways_)
            if (way.known.assume(scc_is_one))
                out.ways_.push_back(std::move(way));
        return out;
    }
    // For another place, where all other conditions are of no interest.
    Ways keeping(u64 wanted, bool scc) const {
        Ways out;
        out.dropped_ = ~wanted;
        for (Way way : ways_) {
            if (!scc)
                way.known.scc = {};
            out.add(std::move(way));
        }
        out.dropped_ = 0;
        return out;
    }
    bool join(const Ways &o) {
        bool news = false;
        for (const Way &way : o.ways_)
            news |= add(way);
        while (ways_.size() > most && drop_one())
            news = true;
        return news;
    }
    void forget() {
        for (Way &way : ways_)
            way.state.forget();
    }
    bool empty() const { return ways_.empty(); }
    const std::vector<Way> &all() const { return ways_; }

private:
    bool add(Way way) {
        way.known.known &= ~dropped_;
        for (Way &mine : ways_) {
            if (mine.known == way.known)
                return mine.state.join(way.state);
            // One that knows less and has all of the state stands for it.
            if (State both = mine.state; way.known.includes(mine.known) && !both.join(way.state))
                return false;
        }
        ways_.push_back(std::move(way));
        return true;
    }

    // The condition without which the fewest ways of unequal states become one, and of these the
    // one without which there are the fewest.
    bool drop_one() {
        u64 all = 0;
        for (const Way &way : ways_)
            all |= way.known.known;
        u64 best = 0;
        std::pair<size_t, size_t> least{~size_t{0}, 0};
        for (; all; all &= all - 1)
            if (const auto cost = cost_of(all & -all); cost.second < ways_.size() && cost < least)
                best = all & -all, least = cost;
        if (best == 0)
            return false;
        dropped_ |= best;
        const std::vector<Way> before = std::move(ways_);
        ways_.clear();
        for (const Way &way : before)
            add(way);
        return true;
    }
    // How many unequal states meet, and how many ways are left.
    std::pair<size_t, size_t> cost_of(u64 condition) const {
        std::vector<const Way *> left;
        size_t unequal = 0;
        for (const Way &way : ways_) {
            const auto same = std::ranges::find_if(left, [&](const Way *other) {
                Known a = way.known, b = other->known;
                a.known &= ~condition, b.known &= ~condition;
                return a == b;
            });
            if (same == left.end())
                left.push_back(&way);
            else
                unequal += !((*same)->state == way.state);
        }
        return {unequal, left.size()};
    }

    std::vector<Way> ways_;
    u64 dropped_ = 0; // at this place
};

} // namespace nw::lint
