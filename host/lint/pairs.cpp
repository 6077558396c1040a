// SPDX-License-Identifier: MIT
#include "lint/pairs.h"

#include <algorithm>

#include "sim/isa/classes.h"
#include "sim/isa/code.h"

namespace nw::lint {

using namespace sim;

namespace {

// One block's search.
class Search {
public:
    Search(const Flow &flow, const Facts &facts, const Block &block)
        : code_(flow.code()), facts_(facts), block_(block), halves_(block.size()),
          taken_(block.size()) {}

    void run(Pairs::Counts &counts, std::vector<MissedPair> &missed) {
        std::vector<u32> candidates;
        for (u32 n = 0; n < block_.size(); ++n) {
            const Instruction &inst = code_.instructions[block_.first + n];
            const Class cls = class_of(inst);
            counts.taken += cls == Class::vopd;
            halves_[n] = VopdHalf::of(inst, facts_.gfx12());
            if (halves_[n])
                candidates.push_back(n);
            else
                counts.without_form += cls == Class::valu;
        }
        const size_t before = missed.size();
        if (facts_.wave_size() == 64)
            match(candidates, missed, [](u32, u32) { return VopdRule::wave64; });
        else
            match_by_rules(candidates, missed);
        std::sort(missed.begin() + static_cast<long>(before), missed.end(),
                  [](const MissedPair &a, const MissedPair &b) { return a.first < b.first; });
        for (size_t n = before; n < missed.size(); ++n)
            ++counts.missed[static_cast<size_t>(missed[n].rule)];
        for (u32 n : candidates)
            counts.alone += !taken_[n];
    }

private:
    void match_by_rules(const std::vector<u32> &candidates, std::vector<MissedPair> &missed) {
        const auto rule_of = [&](u32 a, u32 b) {
            const VopdRule rule = broken(*halves_[a], *halves_[b]);
            return rule == VopdRule::dependency || !meeting_of(a, b).any() ? VopdRule::dependency
                                                                           : rule;
        };
        const auto only = [&](auto wanted) {
            return [&, wanted](u32 a, u32 b) {
                const VopdRule rule = rule_of(a, b);
                return wanted(rule) ? std::optional(rule) : std::nullopt;
            };
        };
        match(candidates, missed, only([](VopdRule r) { return r == VopdRule::none; }));
        match(candidates, missed, only([](VopdRule r) { return r != VopdRule::dependency; }));
        match(candidates, missed, only([](VopdRule) { return true; }));
    }

    template <class Judge>
    void match(const std::vector<u32> &candidates, std::vector<MissedPair> &missed,
               const Judge &judge) {
        for (size_t a = 0; a < candidates.size(); ++a) {
            const u32 first = candidates[a];
            for (size_t b = a + 1;
                 b < candidates.size() && !taken_[first] && candidates[b] - first <= Pairs::window;
                 ++b) {
                const u32 second = candidates[b];
                if (taken_[second])
                    continue;
                if (const std::optional<VopdRule> rule = judge(first, second)) {
                    missed.push_back({block_.first + first, block_.first + second, *rule,
                                      meeting_of(first, second).up});
                    taken_[first] = taken_[second] = true;
                }
            }
        }
    }

    struct Meeting {
        bool up, down; // the second can move up to the first, the first down to the second
        bool any() const { return up || down; }
    };
    Meeting meeting_of(u32 first, u32 second) const {
        bool up = true, down = true;
        const VopdHalf &a = *halves_[first], &b = *halves_[second];
        for (u32 n = first + 1; n < second && (up || down); ++n) {
            const Fact &between = facts_[block_.first + n];
            if (between.role.cmpx || between.role.writes_exec)
                return {false, false};
            up &= !between.waits && !between.barrier && independent(between, b);
            down &= independent(between, a);
        }
        return {up, down};
    }
    static bool independent(const Fact &fact, const VopdHalf &h) {
        return !fact.writes.intersects(h.reads()) && !fact.writes.intersects(h.writes()) &&
               !fact.reads.intersects(h.writes());
    }

    const Code &code_;
    const Facts &facts_;
    const Block &block_;
    std::vector<std::optional<VopdHalf>> halves_; // by instruction of the block
    std::vector<u8> taken_;
};

} // namespace

Pairs::Pairs(const Flow &flow, const Facts &facts) : counts_(flow.blocks().size()) {
    for (u32 n = 0; n < counts_.size(); ++n)
        Search(flow, facts, flow.blocks()[n]).run(counts_[n], missed_);
    std::ranges::sort(missed_, {}, &MissedPair::first);
}

Pairs::Counts &Pairs::Counts::operator+=(const Counts &o) {
    taken += o.taken, without_form += o.without_form, alone += o.alone;
    for (size_t n = 0; n < missed.size(); ++n)
        missed[n] += o.missed[n];
    return *this;
}

} // namespace nw::lint
