// SPDX-License-Identifier: MIT
#include "lint/conditions.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>

namespace nw::lint {

namespace {

using namespace sim;

// A comparison in normal form: "lt_u32 s3, s5" also for s_cmp_ge_u32, its negation.
struct Form {
    std::string text; // "" if it is not a comparison
    bool negated = false;
    i32 counter = -1; // of "eq_u32 s3, 7": 3,
    u32 equal = 0;    // and 7
    RegisterSet registers;
};

bool is_sgpr(const Operand &o) { return o.kind == Operand::Kind::sgpr && o.count == 1; }
bool is_constant(const Operand &o) { return o.kind == Operand::Kind::integer; }

// d = s + by
struct Sum {
    u16 d, s;
    u32 by;
};
std::optional<Sum> sum_of(const Instruction &inst) {
    const auto &o = inst.x.operands;
    const std::string_view n = inst.x.mnemonic;
    if (o.size() != 3 || !is_sgpr(o[0]) || !is_sgpr(o[1]) || !is_constant(o[2]))
        return {};
    const auto by = static_cast<u32>(o[2].integer);
    for (std::string_view add : {"s_add_u32", "s_add_i32", "s_add_co_u32", "s_add_co_i32"})
        if (n == add)
            return Sum{o[0].reg, o[1].reg, by};
    for (std::string_view sub : {"s_sub_u32", "s_sub_i32", "s_sub_co_u32", "s_sub_co_i32"})
        if (n == sub)
            return Sum{o[0].reg, o[1].reg, 0 - by};
    return {};
}

// Comparisons of straight-line code, in terms of the values a register was computed from.
class Forms {
public:
    Form next(const Instruction &inst, const Fact &fact) {
        const Form form = form_of(inst, fact);
        if (const auto sum = sum_of(inst)) {
            Sum fresh = *sum;
            if (const auto of = sums_.find(fresh.s); of != sums_.end())
                fresh = {fresh.d, of->second.s, fresh.by + of->second.by};
            forget(fact);
            if (fresh.d != fresh.s)
                sums_[fresh.d] = fresh;
        } else {
            forget(fact);
        }
        return form;
    }

private:
    void forget(const Fact &fact) {
        std::erase_if(sums_, [&](const auto &entry) {
            return fact.writes.has(RegisterSet::of_sgpr(entry.first)) ||
                   fact.writes.has(RegisterSet::of_sgpr(entry.second.s));
        });
    }

    Form form_of(const Instruction &inst, const Fact &fact) const {
        std::string_view n = inst.x.mnemonic;
        const bool bit = n.starts_with("s_bitcmp");
        const auto &o = inst.x.operands;
        if ((!n.starts_with("s_cmp_") && !bit) || o.size() != 2)
            return {};
        const std::string operands = fmt::format(" {}, {}", o[0].text, o[1].text);
        if (bit) // s_bitcmp0_b32, s_bitcmp1_b32
            return {fmt::format("bit{}{}", n.substr(9), operands), n[8] == '0', -1, 0, fact.reads};
        n.remove_prefix(6);
        if ((n == "eq_u32" || n == "lg_u32" || n == "eq_i32" || n == "lg_i32") && is_sgpr(o[0]) &&
            is_constant(o[1]))
            return equality(o[0].reg, static_cast<u32>(o[1].integer), n.starts_with("lg"));
        constexpr std::array<std::pair<std::string_view, std::string_view>, 3> opposites{
            {{"lg", "eq"}, {"ge", "lt"}, {"gt", "le"}}};
        for (const auto &[name, opposite] : opposites)
            if (n.starts_with(name))
                return {fmt::format("{}{}{}", opposite, n.substr(2), operands), true, -1, 0,
                        fact.reads};
        return {std::string(n) + operands, false, -1, 0, fact.reads};
    }

    Form equality(u16 reg, u32 value, bool negated) const {
        if (const auto of = sums_.find(reg); of != sums_.end())
            reg = of->second.s, value -= of->second.by;
        Form form{fmt::format("eq_u32 s{}, {}", reg, value), negated, reg, value, {}};
        form.registers.add(RegisterSet::of_sgpr(reg));
        return form;
    }

    std::map<u16, Sum> sums_; // by register
};

} // namespace

Conditions::Conditions(const Flow &flow, const Facts &facts) : first_(flow.first()) {
    std::map<u32, Form> tests; // by instruction
    std::map<std::string, u32> times;
    std::map<i32, u32> of_counter;
    for (const Block &b : flow.blocks()) {
        Forms forms;
        for (u32 i = b.first; i < b.end; ++i)
            if (Form form = forms.next(flow.code().instructions[i], facts[i]); !form.text.empty()) {
                ++times[form.text];
                of_counter[form.counter] += form.counter >= 0;
                tests[i] = std::move(form);
            }
    }
    std::vector<Form> all;
    std::map<std::string, u8> numbers;
    for (const auto &[i, form] : tests)
        if ((times[form.text] > 1 || of_counter[form.counter] > 1) && all.size() < most &&
            !numbers.contains(form.text)) {
            numbers[form.text] = static_cast<u8>(all.size());
            all.push_back(form);
        }
    effects_.resize(flow.end() - first_);
    for (const Block &b : flow.blocks())
        for (u32 i = b.first; i < b.end; ++i) {
            Effect &effect = effects_[i - first_];
            effect.writes_scc = facts[i].writes.has(RegisterSet::of_sgpr(sreg::scc));
            const auto sum = sum_of(flow.code().instructions[i]);
            for (u8 c = 0; c < all.size(); ++c) {
                if (!all[c].registers.intersects(facts[i].writes))
                    continue;
                effect.forgets |= u64{1} << c;
                if (!sum || sum->d != sum->s || all[c].counter != sum->d)
                    continue;
                const auto moved =
                    numbers.find(fmt::format("eq_u32 s{}, {}", sum->d, all[c].equal + sum->by));
                if (moved != numbers.end())
                    effect.moves.emplace_back(c, moved->second);
            }
            if (const auto test = tests.find(i); test != tests.end())
                if (const auto number = numbers.find(test->second.text); number != numbers.end())
                    effect.test = {number->second, test->second.negated};
        }
    find_wanted(flow, facts);
}

void Conditions::find_wanted(const Flow &flow, const Facts &facts) {
    const std::vector<Block> &blocks = flow.blocks();
    wanted_.resize(blocks.size());
    wants_scc_.resize(blocks.size(), true);
    const unsigned scc = RegisterSet::of_sgpr(sreg::scc);
    for (u32 n = 0; n < blocks.size(); ++n)
        for (u32 i = blocks[n].first; i < blocks[n].end; ++i)
            if (facts[i].reads.has(scc) || facts[i].writes.has(scc)) {
                wants_scc_[n] = facts[i].reads.has(scc);
                break;
            }
    for (bool news = true; news;) {
        news = false;
        for (u32 n = static_cast<u32>(blocks.size()); n-- > 0;) {
            u64 wanted = 0;
            for (u32 next : blocks[n].next)
                wanted |= wanted_[next];
            for (u32 i = blocks[n].end; i-- > blocks[n].first;) {
                const Effect &effect = (*this)[i];
                const u64 later = wanted;
                wanted &= ~effect.forgets;
                for (const auto &[from, to] : effect.moves)
                    wanted |= later >> to & 1 ? u64{1} << from : 0;
                if (effect.test.condition != none)
                    wanted |= u64{1} << effect.test.condition;
            }
            news |= wanted != wanted_[n];
            wanted_[n] = wanted;
        }
    }
}

void Known::step(const Conditions::Effect &effect) {
    const u64 before = known;
    known &= ~effect.forgets;
    const u64 truths = truth;
    for (const auto &[from, to] : effect.moves) {
        if (!(before >> from & 1))
            continue;
        known |= u64{1} << to;
        truth = truths >> from & 1 ? truth | u64{1} << to : truth & ~(u64{1} << to);
    }
    if (effect.writes_scc)
        scc = effect.test;
    else if (scc.condition != Conditions::none && effect.forgets >> scc.condition & 1)
        scc = {}; // SCC refers to overwritten values
}

bool Known::assume(bool scc_is_one) {
    if (scc.condition == Conditions::none)
        return true;
    const u64 bit = u64{1} << scc.condition;
    const bool holds = scc_is_one != scc.negated;
    if (known & bit && bool(truth & bit) != holds)
        return false;
    known |= bit;
    truth = holds ? truth | bit : truth & ~bit;
    return true;
}

bool Known::includes(const Known &o) const {
    const bool same_scc = o.scc.condition == Conditions::none ||
                          (scc.condition == o.scc.condition && scc.negated == o.scc.negated);
    return same_scc && (known & o.known) == o.known && ((truth ^ o.truth) & o.known) == 0;
}

bool Known::operator==(const Known &o) const {
    return known == o.known && (truth & known) == (o.truth & known) &&
           scc.condition == o.scc.condition && scc.negated == o.scc.negated;
}

} // namespace nw::lint
