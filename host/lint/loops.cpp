// SPDX-License-Identifier: MIT
#include "lint/loops.h"

#include <algorithm>

#include "lint/trips.h"

namespace nw::lint {

// Loops are strongly connected components. Removing the header of one leaves the components that
// are its inner loops. If every loop is entered by its header only, these are the natural loops.
class LoopFinder {
public:
    LoopFinder(const Flow &flow, Loops &out)
        : flow_(flow), blocks_(flow.blocks()), out_(out), part_(blocks_.size()),
          index_(blocks_.size()), low_(blocks_.size()), on_stack_(blocks_.size()) {}

    void run() {
        std::vector<u32> all(blocks_.size());
        for (u32 n = 0; n < all.size(); ++n)
            all[n] = n;
        std::vector<Region> todo{{std::move(all), Flow::none}};
        while (!todo.empty()) { // no recursion: kernels may nest deeply
            const Region region = std::move(todo.back());
            todo.pop_back();
            for (std::vector<u32> &part : connected(region.blocks))
                todo.push_back({{part.begin() + 1, part.end()}, add(part, region.parent)});
        }
    }

private:
    struct Region {
        std::vector<u32> blocks; // ascending
        u32 parent;
    };

    u32 add(const std::vector<u32> &part, u32 parent) {
        Loop loop;
        loop.head = part.front();
        loop.blocks = part;
        loop.parent = parent;
        loop.depth = parent == Flow::none ? 0 : out_.loops_[parent].depth + 1;
        const auto in = [&](u32 n) { return std::ranges::binary_search(part, n); };
        for (u32 n : part)
            for (u32 from : flow_.blocks_before(n)) {
                if (n == loop.head && in(from))
                    loop.latches.push_back(from);
                loop.irreducible |= n != loop.head && !in(from);
            }
        const auto number = static_cast<u32>(out_.loops_.size());
        for (u32 n : part)
            out_.innermost_[n] = number; // inner components come later
        out_.loops_.push_back(std::move(loop));
        return number;
    }

    // Tarjan's algorithm over these blocks. Returns the non-trivial strongly connected components,
    // each ascending.
    std::vector<std::vector<u32>> connected(const std::vector<u32> &region) {
        ++region_;
        for (u32 n : region)
            part_[n] = region_, index_[n] = 0;
        std::vector<std::vector<u32>> out;
        count_ = 0;
        for (u32 n : region)
            if (index_[n] == 0)
                visit(n, out);
        std::ranges::sort(out);
        return out;
    }

    void visit(u32 root, std::vector<std::vector<u32>> &out) {
        struct Step {
            u32 block;
            size_t child;
        };
        std::vector<Step> path{{root, 0}};
        open(root);
        while (!path.empty()) {
            auto &[n, child] = path.back();
            if (child < blocks_[n].next.size()) {
                const u32 next = blocks_[n].next[child++];
                if (part_[next] != region_)
                    continue;
                if (index_[next] == 0) {
                    open(next);
                    path.push_back({next, 0});
                } else if (on_stack_[next]) {
                    low_[n] = std::min(low_[n], index_[next]);
                }
                continue;
            }
            const u32 done = n;
            path.pop_back();
            if (!path.empty())
                low_[path.back().block] = std::min(low_[path.back().block], low_[done]);
            if (low_[done] == index_[done])
                close(done, out);
        }
    }

    void open(u32 n) {
        index_[n] = low_[n] = ++count_;
        on_stack_[n] = true;
        stack_.push_back(n);
    }

    void close(u32 n, std::vector<std::vector<u32>> &out) {
        std::vector<u32> part;
        u32 last;
        do {
            last = stack_.back();
            stack_.pop_back();
            on_stack_[last] = false;
            part.push_back(last);
        } while (last != n);
        std::ranges::sort(part);
        if (part.size() > 1 || std::ranges::count(blocks_[n].next, n))
            out.push_back(std::move(part));
    }

    const Flow &flow_;
    const std::vector<Block> &blocks_;
    Loops &out_;
    std::vector<u32> part_, index_, low_, stack_; // by block
    std::vector<bool> on_stack_;
    u32 region_ = 0, count_ = 0;
};

Loops::Loops(const Flow &flow) : innermost_(flow.blocks().size(), Flow::none) {
    LoopFinder(flow, *this).run();
    std::vector<u32> order(loops_.size()), place(loops_.size());
    for (u32 n = 0; n < order.size(); ++n)
        order[n] = n;
    std::ranges::sort(order, {}, [&](u32 n) { return loops_[n].head; });
    std::vector<Loop> sorted;
    for (u32 n = 0; n < order.size(); ++n)
        place[order[n]] = n;
    for (u32 n : order) {
        Loop &loop = sorted.emplace_back(std::move(loops_[n]));
        if (loop.parent != Flow::none)
            loop.parent = place[loop.parent];
    }
    loops_ = std::move(sorted);
    for (u32 &n : innermost_)
        if (n != Flow::none)
            n = place[n];
    if (loops_.empty())
        return;
    const TripCounter counter(flow, *this);
    for (Loop &loop : loops_)
        loop.trips = counter.trips(loop);
}

std::vector<u32> dominators(const Flow &flow) {
    std::vector<u32> out(flow.blocks().size(), Flow::none);
    if (out.empty())
        return out;
    out[0] = 0;
    const auto meet = [&](u32 a, u32 b) {
        while (a != b) // in reverse postorder a dominator has the lower number
            (a > b ? a : b) = out[std::max(a, b)];
        return a;
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (u32 n = 1; n < out.size(); ++n) {
            u32 found = Flow::none;
            for (u32 from : flow.blocks_before(n))
                if (out[from] != Flow::none)
                    found = found == Flow::none ? from : meet(found, from);
            changed |= found != out[n];
            out[n] = found;
        }
    }
    return out;
}

bool dominates(const std::vector<u32> &dominators, u32 a, u32 b) {
    while (b > a)
        b = dominators[b];
    return a == b;
}

} // namespace nw::lint
