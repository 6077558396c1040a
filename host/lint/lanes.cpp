// SPDX-License-Identifier: MIT
#include "lint/lanes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "lint/solve.h"
#include "lint/spread.h"
#include "sim/isa/device.h"

namespace nw::lint {

namespace {

using namespace sim;

// EXEC, and where it can be restored from. After it is narrowed, `rest` refers to its previous
// value: a nested if or loop is assumed to restore the lanes that it turned off.
struct Lanes {
    bool full = true, zero = false;
    std::set<Place> saved; // hold all lanes
    std::set<Place> rest;  // hold at least the lanes that are off
    // How lanes differ in what turned some off; followed with `values`.
    Spread narrowed = Spread::uniform;
    u32 since = 0; // 1 + the instruction that did; also while all are on to spill a register
    Spreads values;

    bool join(const Lanes &o) {
        const bool was_full = full, was_zero = zero;
        const auto off = [](const Lanes &l, const Place &place) {
            return l.full || l.rest.contains(place) || l.saved.contains(place);
        };
        bool news = std::erase_if(saved, [&](const Place &p) { return !o.saved.contains(p); }) > 0;
        if (full && !o.full) {
            rest = o.rest, rest.insert(o.saved.begin(), o.saved.end());
            narrowed = o.narrowed;
        } else {
            news |= std::erase_if(rest, [&](const Place &place) { return !off(o, place); }) > 0;
            news |= !o.full && o.narrowed > narrowed;
            narrowed = o.full ? narrowed : std::max(narrowed, o.narrowed);
        }
        full &= o.full, zero &= o.zero;
        return values.join(o.values) || news || full != was_full || zero != was_zero;
    }
    void forget() { values.forget(); }

    void copy(const Place &to, const Place &from, const Lanes &was) {
        saved.erase(to), rest.erase(to);
        if (was.saved.contains(from))
            saved.insert(to);
        if (was.rest.contains(from))
            rest.insert(to);
    }
    // Moves the state of all lanes of a register or slot.
    void move(u64 to, u64 from, const Lanes &was) {
        forget(to);
        for (const auto &[places, old] : {std::pair{&saved, &was.saved}, {&rest, &was.rest}})
            for (auto at = old->lower_bound({from, 0}); at != old->end() && at->first == from; ++at)
                places->insert({to, at->second});
    }
    void forget(u64 container) {
        for (std::set<Place> *places : {&saved, &rest})
            places->erase(places->lower_bound({container, -1}),
                          places->lower_bound({container + 1, -1}));
    }
};

constexpr Place nowhere{~u64{0}, 0};

bool is_sgpr(const Operand &o) { return o.kind == Operand::Kind::sgpr && !is_exec(o); }

class LaneSteps {
public:
    // With `values`, a comparison that comes out the same in all lanes counts as narrowing nothing:
    // where it turns off all of them, compilers branch.
    LaneSteps(const Flow &flow, const Facts &facts, bool values)
        : code_(flow.code()), facts_(facts), values_(values) {}

    void operator()(Lanes &l, u32 i) const {
        const Instruction &inst = code_.instructions[i];
        const Operation &op = inst.x;
        const Fact &fact = facts_[i];
        Lanes was{l.full, l.zero, l.saved, l.rest, l.narrowed, l.since, {}};
        if (const auto slot = l.values.slot(op, facts_.target())) {
            for (unsigned n = 0; n < slot->count; ++n) {
                const u64 vgpr = RegisterSet::of_vgpr(slot->vgpr + n), memory = slot->place(n);
                slot->store ? l.move(memory, vgpr, was) : l.move(vgpr, memory, was);
            }
        } else {
            for (const RegisterUse &use : fact.role.uses)
                for (unsigned n = 0; use.write && n < use.count; ++n)
                    if (op.mnemonic != "v_writelane_b32")
                        l.forget(use.place(n));
        }
        if (fact.role.cmpx) {
            narrow(l, was, mask_kind([&] { return l.values.sources(fact); }));
        } else if (op.mnemonic == "v_writelane_b32" || op.mnemonic == "v_readlane_b32") {
            spill(l, was, op.operands);
        } else if (fact.role.unit == HazardRole::salu && op.operands.size() >= 2) {
            if (is_exec(op.operands[0]) || op.mnemonic.find("_saveexec_") != op.mnemonic.npos)
                write_exec(l, was, op);
            else if (is_sgpr(op.operands[0]))
                write_mask(l, was, op);
        }
        const bool for_a_spill = l.full && !was.full &&
                                 op.mnemonic.starts_with("s_or_saveexec_b") &&
                                 op.operands.back().kind == Operand::Kind::integer;
        if (l.full && !(for_a_spill || (was.full && was.since)))
            l.since = 0;
        else if (!l.full && was.full && !was.since)
            l.since = i + 1;
        if (values_)
            l.values.step(inst, i, fact, facts_.target(),
                          was.full ? Spread::uniform : was.narrowed);
    }

private:
    template <class F> Spread mask_kind(F f) const { return values_ ? f() : Spread::varying; }
    Spread mask_kind(const Lanes &l, const Operand &o) const {
        return mask_kind([&] { return l.values.mask(o); });
    }

    static void narrow(Lanes &l, const Lanes &was, Spread by) {
        l.full = was.full && by == Spread::uniform;
        l.narrowed = was.full ? by : was.narrowed;
    }

    static void spill(Lanes &l, const Lanes &was, const std::vector<Operand> &o) {
        if (o.size() != 3 || o[2].kind != Operand::Kind::integer)
            return;
        const auto lane = [&](const Operand &vgpr) {
            return Place{place_of(vgpr).first, static_cast<i32>(o[2].integer)};
        };
        if (o[0].kind == Operand::Kind::vgpr)
            l.copy(lane(o[0]), is_sgpr(o[1]) ? place_of(o[1]) : nowhere, was);
        else if (o[1].kind == Operand::Kind::vgpr && is_sgpr(o[0]))
            l.copy(place_of(o[0]), lane(o[1]), was);
    }

    void write_exec(Lanes &l, const Lanes &was, const Operation &op) const {
        const std::string_view n = op.mnemonic;
        const bool saves = n.find("_saveexec_") != n.npos;
        const Operand &d = op.operands[0], &last = op.operands.back();
        if (saves && was.full && is_sgpr(d))
            l.saved.insert(place_of(d));
        l.zero = false;
        l.full = false;
        const Spread by = by_masks(l, op);
        // From what is not known, anything may come back.
        l.narrowed = was.full || by == Spread::unknown ? by : was.narrowed;
        if (n.starts_with("s_mov_b")) {
            l.full = all(was, last) || (was.full && by == Spread::uniform);
            l.zero = last.kind == Operand::Kind::integer && last.integer == 0;
            if (l.zero)
                narrow(l, {}, Spread::varying);
        } else if (n.starts_with("s_or_")) {
            bool exec = saves, rest = false;
            for (size_t o = 1; o < op.operands.size(); ++o) {
                exec |= is_exec(op.operands[o]);
                rest |= off(was, op.operands[o]);
                l.full |= all(was, op.operands[o]);
            }
            l.full |= exec && (rest || was.full);
        } else if (saves && n.starts_with("s_and_not1_") && off(was, last)) {
            l.rest.insert(place_of(d)); // those that were on, of all of them
        } else if (was.full && by == Spread::uniform) {
            l.full = true;
        } else if (was.full && is_sgpr(last) && (n.starts_with("s_xor_b") || is_and_not(n))) {
            for (const Place &place : l.values.copies_of(place_of(last)))
                l.rest.insert(place);
        }
    }

    // How lanes differ in the masks among the sources.
    Spread by_masks(const Lanes &l, const Operation &op) const {
        Spread by = Spread::uniform;
        for (size_t o = 1; o < op.operands.size(); ++o)
            if (!is_exec(op.operands[o]))
                by = std::max(by, mask_kind(l, op.operands[o]));
        return by;
    }

    // Places that EXEC may be restored from.
    static void write_mask(Lanes &l, const Lanes &was, const Operation &op) {
        const std::string_view n = op.mnemonic;
        const auto &o = op.operands;
        const Place d = place_of(o[0]);
        if (n.starts_with("s_mov_b") && is_sgpr(o[1]))
            l.copy(d, place_of(o[1]), was);
        else if (n.starts_with("s_mov_b") && is_exec(o[1]) && was.full)
            l.saved.insert(d);
        if (o.size() != 3)
            return;
        const bool exec = is_exec(o[1]) || is_exec(o[2]),
                   two_masks = is_sgpr(o[1]) && is_sgpr(o[2]);
        const bool difference =
            (n.starts_with("s_xor_b") &&
             ((exec || (was.full && two_masks)) && (all(was, o[1]) || all(was, o[2])))) ||
            (is_and_not(n) && off(was, o[1]) && is_exec(o[2]));
        const bool more = n.starts_with("s_or_b") && (was.full || off(was, o[1]) || off(was, o[2]));
        if (difference || more)
            l.rest.insert(d);
    }

    static bool is_and_not(std::string_view n) {
        return n.starts_with("s_and_not1_b") || n.starts_with("s_andn2_b");
    }
    // Whether it holds all lanes; whether it includes all lanes that are off.
    static bool all(const Lanes &l, const Operand &o) {
        return is_exec(o)   ? l.full
               : is_sgpr(o) ? l.saved.contains(place_of(o))
                            : o.kind == Operand::Kind::integer && o.integer == -1;
    }
    static bool off(const Lanes &l, const Operand &o) {
        return is_sgpr(o) && (l.rest.contains(place_of(o)) || l.saved.contains(place_of(o)));
    }

    const Code &code_;
    const Facts &facts_;
    const bool values_;
};

// States by what turned lanes off, and by calls: a loop's body is seen with all lanes, and with
// those that are left; a function by each of its callers.
struct LaneContexts {
    static constexpr size_t deepest = 4; // calls that are kept apart
    struct Key {
        u32 since = 0;
        std::vector<u32> calls; // where they return to, the innermost last
        auto operator<=>(const Key &) const = default;
    };
    std::map<Key, Lanes> of;

    bool join(const LaneContexts &o) {
        bool news = false;
        for (const auto &[key, lanes] : o.of)
            news |= add(key, lanes);
        return news;
    }
    bool add(const Key &key, const Lanes &lanes) {
        const auto [at, fresh] = of.try_emplace(key, lanes);
        return fresh || at->second.join(lanes);
    }
    void forget() {
        for (auto &[key, lanes] : of)
            lanes.forget();
    }
    void step(const LaneSteps &step, u32 i) {
        bool moved = false;
        for (auto &[key, lanes] : of) {
            step(lanes, i);
            moved |= lanes.since != key.since;
        }
        if (!moved)
            return;
        const std::map<Key, Lanes> before = std::move(of);
        of.clear();
        for (const auto &[key, lanes] : before)
            add({lanes.since, key.calls}, lanes);
    }
    std::optional<LaneContexts> along(const Flow &flow, const Block &block, u32 next) const {
        const std::string_view last = flow.code().instructions[block.end - 1].x.mnemonic;
        const u32 first = flow.blocks()[next].first;
        const bool calls = (last == "s_swappc_b64" || last == "s_call_b64") && first != block.end;
        if (!calls && last != "s_setpc_b64")
            return *this;
        const auto returns_to = [&](u32 at) {
            return std::ranges::any_of(block.next,
                                       [&](u32 n) { return flow.blocks()[n].first == at; });
        };
        LaneContexts out;
        for (const auto &[key, lanes] : of) {
            Key there = key;
            if (calls) {
                there.calls.push_back(block.end);
                if (there.calls.size() > deepest)
                    there.calls.erase(there.calls.begin());
            } else if (!there.calls.empty() && returns_to(there.calls.back())) {
                if (there.calls.back() != first)
                    continue;
                there.calls.pop_back();
            }
            out.add(there, lanes);
        }
        return out.of.empty() ? std::nullopt : std::optional(std::move(out));
    }
};

} // namespace

std::vector<bool> all_lanes(const Flow &flow, const Facts &facts) {
    const LaneSteps step(flow, facts, false);
    const auto at = solve(flow, Lanes{}, step);
    std::vector<bool> out(flow.code().instructions.size());
    each_state(flow, at, [&](Lanes &l, u32 i) {
        out[i] = l.full;
        step(l, i);
    });
    return out;
}

Findings find_lanes_off(const Flow &flow, const Facts &facts, const KernelInfo &kernel) {
    Findings found;
    const LaneSteps step(flow, facts, false);
    bool barriers = false;
    each_state(flow, solve(flow, Lanes{}, step), [&](Lanes &l, u32 i) {
        const Fact &fact = facts[i];
        const bool stores = fact.to_lds || fact.issues.on[static_cast<size_t>(Counter::store)];
        barriers |= fact.barrier && !l.full;
        if (stores && l.zero)
            found.push_back({Rule::exec_zero, i, Finding::nothing,
                             "EXEC is 0 on every path to here: nothing is stored",
                             "restore EXEC before"});
        step(l, i);
    });
    if (!barriers)
        return found;
    const LaneSteps exact(flow, facts, true);
    LaneContexts entry;
    entry.of[{}].values = Spreads(item_id_vgprs(kernel, facts.target()));
    const auto steps = [&](LaneContexts &contexts, u32 i) { contexts.step(exact, i); };
    const auto narrowed = [](const auto &context) {
        return !context.second.full && context.second.narrowed == Spread::varying;
    };
    const auto on = [&](const LaneContexts &contexts, const Block &block, u32 next) {
        return contexts.along(flow, block, next);
    };
    each_state(flow, solve(flow, entry, steps, on), [&](LaneContexts &contexts, u32 i) {
        if (facts[i].barrier && std::ranges::any_of(contexts.of, narrowed))
            found.push_back({Rule::exec_at_barrier, i, Finding::nothing,
                             "lanes of the wave may be off in EXEC",
                             "restore EXEC before, or suppress this with a reason"});
        steps(contexts, i);
    });
    return found;
}

} // namespace nw::lint
