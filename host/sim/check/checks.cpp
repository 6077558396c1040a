// SPDX-License-Identifier: MIT
#include "sim/check/checks.h"

#include "sim/func/launch/launch.h"

namespace nw::sim {

namespace {

class CheckedLaunch final : public LaunchChecker {
public:
    explicit CheckedLaunch(const CheckFacts &facts) : facts_(facts) {}
    std::unique_ptr<GroupChecker> group(size_t waves) const override {
        return std::make_unique<Checks>(facts_, *shared_, waves);
    }

private:
    const CheckFacts &facts_;
    const std::unique_ptr<RaceShared> shared_ = std::make_unique<RaceShared>();
};

// A number of its own for each combination.
u32 number_of(CheckKinds kinds) {
    return kinds.wait + 2u * kinds.init + 4u * kinds.race + 8u * kinds.strict_scalar +
           16u * kinds.memory;
}

class Combination final : public Checker {
public:
    explicit Combination(CheckKinds kinds) : kinds_(kinds) {}
    std::unique_ptr<LaunchChecker> launch(const Program &program, u32 wave_size) const override {
        if (!kinds_.wait && !kinds_.init && !kinds_.race)
            return nullptr;
        return std::make_unique<CheckedLaunch>(
            program.derived<CheckFacts>(number_of(kinds_) << 8 | wave_size, [&] {
                return std::make_shared<CheckFacts>(kinds_, program.code(wave_size), program.gfx());
            }));
    }
    bool strict_scalar_loads() const override { return kinds_.strict_scalar; }
    bool needs_order() const override { return kinds_.race; }
    bool shadows_lds() const override { return kinds_.init || kinds_.race; }
    bool watches_memory() const override { return kinds_.init && kinds_.memory; }

private:
    CheckKinds kinds_;
};

} // namespace

const Checker *checker(CheckKinds kinds) {
    constexpr unsigned count = 32;
    static const auto &all = *new auto([] {
        std::vector<Combination> made;
        for (unsigned n = 0; n < count; ++n)
            made.push_back(Combination({.wait = bool(n & 1),
                                        .init = bool(n & 2),
                                        .memory = bool(n & 16),
                                        .race = bool(n & 4),
                                        .strict_scalar = bool(n & 8)}));
        return made;
    }());
    const u32 n = number_of(kinds);
    return n ? &all[n] : nullptr;
}

CheckFacts::CheckFacts(CheckKinds kinds, const Code &code, std::string_view gfx) {
    const Target &target = target_of(gfx);
    if (kinds.wait) {
        wait = std::make_unique<WaitFacts>(code, target);
        hazards = std::make_unique<HazardFacts>(code, gfx);
    }
    if (kinds.init)
        init = std::make_unique<InitFacts>(code);
    if (kinds.race)
        race = std::make_unique<RaceFacts>(code, target);
    fill_rows(code);
}

// One extra empty row for the sentinel after the last instruction.
void CheckFacts::fill_rows(const Code &code) {
    rows.resize(code.instructions.size() + 1);
    for (size_t n = 0; n < code.instructions.size(); ++n) {
        Row &row = rows[n];
        if (wait || init)
            row.touches = registers(wait ? wait->entries[n].uses : init->entries[n].uses);
        row.waits = wait && wait->entries[n].counts();
        row.hazards = hazards && hazards->entries[n].watched;
        row.races = race && race->entries[n].kind != RaceFacts::Kind::none;
        row.init = init && init->entries[n].always;
        row.memory = init && init->entries[n].on_memory;
    }
}

Checks::Checks(const CheckFacts &facts, RaceShared &shared, size_t waves)
    : facts_(facts), group_waves_(static_cast<u32>(waves)) {
    if (facts.race)
        race_ = std::make_unique<RaceCheck>(*facts.race, shared);
    for (size_t n = 0; n < waves; ++n) {
        if (facts.wait)
            wait_.emplace_back(*facts.wait);
        if (facts.hazards)
            hazards_.emplace_back(*facts.hazards);
        if (facts.init)
            init_.emplace_back(*facts.init, shared_);
    }
}

void Checks::start_group(u64 group, size_t lds_bytes) {
    shared_.lds.assign(lds_bytes, 0xff);
    if (race_)
        race_->start_group(group, group_waves_, lds_bytes);
}

void Checks::start_wave(const Wave &w) {
    if (!wait_.empty())
        wait_[w.number].reset();
    if (!hazards_.empty())
        hazards_[w.number].reset();
    if (init_.empty())
        return;
    memory_ = w.context->memory.watches_writes() && w.context->config.checker->watches_memory();
    init_[w.number].reset(w);
}

u64 Checks::run(Wave &w, u64 budget) {
    Observer *observer = w.observed ? w.context->config.observer : nullptr;
    WaitCheck *wait = wait_.empty() ? nullptr : &wait_[w.number];
    HazardCheck *hazards = hazards_.empty() ? nullptr : &hazards_[w.number];
    InitCheck *init = init_.empty() ? nullptr : &init_[w.number];
    while (budget && w.state == State::running) {
        const Inst &i = *w.pc++;
        --budget;
        ++w.counts[i.tally];
        const CheckFacts::Row &row = facts_.rows[i.index];
        if (wait && (row.waits || row.touches.intersects(wait->in_flight())))
            wait->step(w, i);
        if (hazards && (row.hazards || hazards->following()))
            hazards->step(w, i);
        if (init &&
            (row.init || (row.memory && memory_) || row.touches.intersects(init->poisoned())))
            init->step(w, i);
        if (row.races)
            race_->step(w, i);
        if (observer)
            observer->before(w, i);
        i.run(w, i);
    }
    return budget;
}

} // namespace nw::sim
