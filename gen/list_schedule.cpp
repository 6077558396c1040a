// SPDX-License-Identifier: MIT
// List scheduling of straight-line blocks for gen/dual.py, which describes them: operations with
// their dependencies, and which of them may share an issue slot. The result has few VALU slots and,
// among such orders, the fewest stall cycles.
//
// A line of stdin is a block, in numbers:
//   SPREAD PAIRING COUNT KINDS, then KINDS x KINDS flags: whether an operation of one kind may
//   share a slot with one of the other; then COUNT operations: ORDERED CYCLES DUALABLE Y_ONLY KIND
//   BEFORE, then BEFORE times: INDEX GAP.
// The line of stdout for it: its cycles, then its slots in order of issue, each A, or A:B for a
// pair.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

struct Edge {
    int to;
    int gap; // cycles to leave between
};

struct Op {
    bool ordered; // memory and waits: they keep their order among themselves
    int cycles;   // of the VALU
    bool dualable;
    bool y_only; // fits only the second half of a pair
    int kind;
    int before = 0; // how many it depends on
    std::vector<Edge> after;
};

struct Block {
    std::vector<Op> ops;
    int kinds = 0;
    std::vector<char> together; // kinds x kinds

    bool may_pair(int a, int b) const { return together[ops[a].kind * kinds + ops[b].kind] != 0; }
};

struct Slot {
    int op;
    int partner; // -1: none
    bool operator==(const Slot &) const = default;
};

struct Plan {
    int window;   // how many lines ahead of the first unissued one may issue
    bool eager;   // look for a pair further on before issuing a lone half
    bool y_first; // the halves that fit only Y choose their partner first
    int patience; // cycles of a result's latency that are left to other instructions to fill
};

struct Spread {
    int window;   // how many slots ahead of the first unissued one may issue
    bool longest; // the longest chain first, not the first slot
};

// No plan wins everywhere; these found the fewest slots of all combinations on at least one kernel.
constexpr Plan plans[] = {
    {80, true, true, 1},  {48, true, true, 1},  {32, true, true, 1},  {20, true, true, 1},
    {12, false, true, 1}, {80, true, false, 1}, {80, true, false, 3}, {12, false, true, 5},
};
// As plans, of the orders in which slots issue.
constexpr Spread spreads[] = {
    {8, false}, {8, true},   {16, false}, {16, true},   {32, false},
    {32, true}, {64, false}, {64, true},  {200, false}, {200, true},
};
constexpr double few_more =
    1.06; // schedules with up to this factor of the fewest slots compete by stalls

// Where there is no VOPD, one is as good as all of them, but for 0.6 % of the cycles of the worst
// of nine blocks.
constexpr Plan lone_plan = {200, true, true, 5};
constexpr Spread lone_spread = {200, true};

using When = std::pair<int, int>; // (cycle or urgency, slot index): a priority-queue entry
using Soonest = std::priority_queue<When, std::vector<When>, std::greater<>>;

// Chooses the op that issues next.
Slot choose(const Block &block, const Plan &plan, const std::vector<int> &current,
            std::vector<int> &halves) {
    const int first = current.front();
    if (block.ops[first].ordered)
        return {first, -1};
    halves.clear();
    for (const int i : current)
        if (block.ops[i].dualable)
            halves.push_back(i);
    if (plan.y_first)
        std::stable_partition(halves.begin(), halves.end(),
                              [&](int i) { return block.ops[i].y_only; });
    for (const int one : halves) {
        if (!plan.eager && one != first)
            continue;
        for (const int other : halves)
            if (other != one && block.may_pair(one, other))
                return {one, other};
    }
    for (const int i : current)
        if (!block.ops[i].dualable && !block.ops[i].ordered)
            return {i, -1};
    return {first, -1};
}

struct Schedule {
    int slots = 0; // of the VALU
    std::vector<Slot> order;
    bool operator==(const Schedule &) const = default;
};

// One list schedule; none if that takes more than `most` slots.
std::optional<Schedule> attempt(const Block &block, const Plan &plan, double most = unlimited) {
    const int count = static_cast<int>(block.ops.size());
    std::vector<int> missing(count), ready_at(count, 0), current, halves;
    for (int i = 0; i < count; ++i)
        missing[i] = block.ops[i].before;
    int end = std::min(plan.window, count); // of the window: each op that issues lets one more in
    std::set<When> later; // ops of the window whose sources have issued, by when they are there
    for (int i = 0; i < end; ++i)
        if (missing[i] == 0)
            later.insert({0, i});
    std::vector<int> there; // those whose results are there now, in their order
    Schedule out;
    int now = 0;
    while (!there.empty() || !later.empty()) {
        while (!later.empty() && later.begin()->first <= now) {
            const int i = later.begin()->second;
            there.insert(std::upper_bound(there.begin(), there.end(), i), i);
            later.erase(later.begin());
        }
        int soonest = now;
        const bool waits = there.empty();
        if (waits) {
            soonest = later.begin()->first;
            current.clear();
            for (auto one = later.begin(); one != later.end() && one->first <= soonest; ++one)
                current.push_back(one->second); // in order: they are of one cycle
        }
        const Slot chosen = choose(block, plan, waits ? current : there, halves);
        out.order.push_back(chosen);
        const int both[] = {chosen.op, chosen.partner};
        const int issued = chosen.partner < 0 ? 1 : 2;
        for (int k = 0; k < issued; ++k) {
            if (waits)
                later.erase({soonest, both[k]});
            else
                there.erase(std::lower_bound(there.begin(), there.end(), both[k]));
        }
        const bool slot = !block.ops[chosen.op].ordered;
        if (slot) {
            now = soonest;
            if (++out.slots > most)
                return std::nullopt;
        }
        for (int k = 0; k < issued; ++k)
            for (const Edge &edge : block.ops[both[k]].after) {
                ready_at[edge.to] =
                    std::max(ready_at[edge.to], now + std::min(edge.gap, plan.patience));
                if (--missing[edge.to] == 0 && edge.to < end)
                    later.insert({ready_at[edge.to], edge.to});
            }
        const int further = std::min(end + issued, count);
        for (; end < further; ++end)
            if (missing[end] == 0)
                later.insert({ready_at[end], end});
        now += slot;
    }
    return out;
}

// The slots of a schedule, to be put into another order: a list of their numbers.
class Slots {
public:
    Slots(const Block &block, std::vector<Slot> schedule)
        : order(std::move(schedule)), takes_(order.size()), ordered_(order.size()),
          missing_(order.size(), 0), left_(order.size(), 0), after_(order.size()) {
        std::vector<int> of(block.ops.size());
        for (std::size_t slot = 0; slot < order.size(); ++slot)
            for (const int op : {order[slot].op, order[slot].partner})
                if (op >= 0)
                    of[op] = static_cast<int>(slot);
        std::vector<int> place(order.size(), -1); // of another slot in after_[slot]
        for (std::size_t slot = 0; slot < order.size(); ++slot) {
            ordered_[slot] = block.ops[order[slot].op].ordered;
            auto &following = after_[slot];
            for (const int op : {order[slot].op, order[slot].partner}) {
                if (op < 0)
                    continue;
                takes_[slot] = std::max(takes_[slot], block.ops[op].cycles);
                for (const Edge &edge : block.ops[op].after) {
                    const int other = of[edge.to];
                    if (other == static_cast<int>(slot))
                        continue;
                    if (place[other] < 0) {
                        place[other] = static_cast<int>(following.size());
                        following.push_back({other, edge.gap});
                        ++missing_[other];
                    } else {
                        int &gap = following[place[other]].gap;
                        gap = std::max(gap, edge.gap);
                    }
                }
            }
            for (const Edge &edge : following)
                place[edge.to] = -1;
            total_ += takes_[slot];
        }
        for (std::size_t slot = order.size(); slot-- > 0;)
            for (const Edge &edge : after_[slot])
                left_[slot] = std::max(left_[slot], edge.gap + left_[edge.to]);
    }

    std::vector<int> as_paired() const {
        std::vector<int> out(order.size());
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = static_cast<int>(i);
        return out;
    }

    // VALU cycles of one wave alone: those of its slots, and stalls until results are ready.
    // Returns `most` if they aren't fewer.
    double cycles(const std::vector<int> &numbers, double most = unlimited) const {
        std::vector<int> ready_at(order.size(), 0);
        double spare = most - total_;
        int now = 0;
        for (const int slot : numbers) {
            if (ready_at[slot] > now) {
                spare -= ready_at[slot] - now;
                if (spare <= 0)
                    return most;
                now = ready_at[slot];
            }
            for (const Edge &edge : after_[slot])
                ready_at[edge.to] = std::max(ready_at[edge.to], now + edge.gap);
            now += takes_[slot];
        }
        return now;
    }

    // Moves dependent slots apart: issues, among the first slots left, the first whose sources are
    // ready, or the one with the longest chain behind it. Memory instructions and waits issue when
    // they are the first left. None if that can't take fewer than `most` cycles.
    std::optional<std::vector<int>> spread(const Spread &how, double most = unlimited) const {
        const int count = static_cast<int>(order.size());
        std::vector<int> missing = missing_, ready_at(count, 0), out;
        std::vector<char> issued(count, 0);
        Soonest later; // slots of the window whose sources have issued, by when those are there
        Soonest there; // those whose sources are there, by urgency
        double spare = most - total_;
        int oldest = 0, end = 0, now = 0;
        out.reserve(count);
        for (int step = 0; step < count; ++step) {
            for (; end < count && end < how.window + step; ++end)
                if (missing[end] == 0 && !ordered_[end])
                    later.push({ready_at[end], end});
            while (issued[oldest])
                ++oldest;
            int chosen = oldest;
            if (!ordered_[oldest]) {
                for (; !later.empty() && later.top().first <= now; later.pop())
                    there.push({how.longest ? -left_[later.top().second] : 0, later.top().second});
                if (!there.empty()) {
                    chosen = there.top().second;
                    there.pop();
                } else {
                    chosen = later.top().second;
                    spare -= later.top().first - now;
                    now = later.top().first;
                    later.pop();
                }
                if (spare <= 0)
                    return std::nullopt;
            }
            out.push_back(chosen);
            issued[chosen] = 1;
            for (const Edge &edge : after_[chosen]) {
                ready_at[edge.to] = std::max(ready_at[edge.to], now + edge.gap);
                if (--missing[edge.to] == 0 && edge.to < end && !ordered_[edge.to])
                    later.push({ready_at[edge.to], edge.to});
            }
            now += takes_[chosen];
        }
        return out;
    }

    std::vector<Slot> order;

private:
    std::vector<int> takes_;
    std::vector<char> ordered_;
    std::vector<int> missing_;
    std::vector<int> left_; // cycles from a slot to the end of all that waits for it
    std::vector<std::vector<Edge>> after_;
    int total_ = 0;
};

// The schedules of `plans`, each once, that take at most `more` times the fewest slots; those with
// few slots first.
std::vector<Slots> paired(const Block &block, double more) {
    double fewest = unlimited;
    std::vector<Schedule> found;
    for (const Plan &plan : plans) {
        auto done = attempt(block, plan, fewest * more);
        if (done && std::find(found.begin(), found.end(), *done) == found.end()) {
            fewest = std::min<double>(fewest, done->slots);
            found.push_back(std::move(*done));
        }
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const Schedule &a, const Schedule &b) { return a.slots < b.slots; });
    std::vector<Slots> out;
    for (Schedule &one : found)
        if (one.slots <= fewest * more)
            out.emplace_back(block, std::move(one.order));
    return out;
}

struct Best {
    double cycles = unlimited;
    std::vector<Slot> order;

    void take(const Slots &slots, const std::vector<int> &numbers) {
        const double fewer = slots.cycles(numbers, cycles);
        if (!(fewer < cycles))
            return;
        cycles = fewer;
        order.clear();
        for (const int i : numbers)
            order.push_back(slots.order[i]);
    }
};

Best scheduled(const Block &block, bool spread, bool pairing) {
    Best best;
    if (!pairing) {
        const Slots slots(block, attempt(block, lone_plan)->order);
        best.take(slots, spread ? *slots.spread(lone_spread) : slots.as_paired());
        return best;
    }
    const std::vector<Slots> found = paired(block, spread ? few_more : 1);
    for (const Slots &slots : found)
        best.take(slots, slots.as_paired());
    if (spread)
        for (const Slots &slots : found)
            for (const Spread &how : spreads)
                if (const auto numbers = slots.spread(how, best.cycles))
                    best.take(slots, *numbers);
    return best;
}

std::string answer(const std::string &line) {
    std::istringstream in(line);
    bool spread = false, pairing = false;
    int count = 0;
    Block block;
    in >> spread >> pairing >> count >> block.kinds;
    for (int i = 0, flag = 0; i < block.kinds * block.kinds; ++i) {
        in >> flag;
        block.together.push_back(static_cast<char>(flag));
    }
    block.ops.resize(count);
    for (int i = 0; i < count; ++i) {
        Op &op = block.ops[i];
        in >> op.ordered >> op.cycles >> op.dualable >> op.y_only >> op.kind >> op.before;
        if (op.kind < 0 || op.kind >= block.kinds)
            in.setstate(std::ios::failbit);
        for (int k = 0; k < op.before && in; ++k) {
            Edge edge{i, 0};
            int source = 0;
            in >> source >> edge.gap;
            if (source < 0 || source >= i) {
                in.setstate(std::ios::failbit);
                break;
            }
            block.ops[source].after.push_back(edge);
        }
    }
    if (!in)
        return "not a block";
    const Best best = scheduled(block, spread, pairing);
    std::ostringstream out;
    out << best.cycles;
    for (const Slot &slot : best.order) {
        out << ' ' << slot.op;
        if (slot.partner >= 0)
            out << ':' << slot.partner;
    }
    return out.str();
}

} // namespace

int main() {
    std::ios::sync_with_stdio(false);
    for (std::string line; std::getline(std::cin, line);)
        std::cout << answer(line) << std::endl;
}
