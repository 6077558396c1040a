// SPDX-License-Identifier: MIT
#include "sim/func/checks.h"

namespace nw::sim {

CheckFacts::CheckFacts(const RunConfig &config, const Code &code, bool gfx12) {
    if (config.check_wait)
        wait = std::make_unique<WaitFacts>(code, gfx12);
    if (config.check_init)
        init = std::make_unique<InitFacts>(code);
}

Checks::Checks(const CheckFacts &facts, size_t waves) {
    for (size_t n = 0; n < waves; ++n) {
        if (facts.wait)
            wait_.emplace_back(*facts.wait);
        if (facts.init)
            init_.emplace_back(*facts.init, shared_);
    }
}

void Checks::start_group(size_t lds_bytes) { shared_.lds.assign(lds_bytes, 0xff); }

void Checks::start_wave(const Wave &w) {
    if (!wait_.empty())
        wait_[w.number].reset();
    if (!init_.empty())
        init_[w.number].reset(w);
}

u64 Checks::run(Wave &w, u64 budget) {
    WaitCheck *wait = wait_.empty() ? nullptr : &wait_[w.number];
    InitCheck *init = init_.empty() ? nullptr : &init_[w.number];
    while (budget && w.state == State::running) {
        const Inst &i = *w.pc++;
        --budget;
        ++w.counts[static_cast<size_t>(i.cls)];
        if (wait)
            wait->step(w, i);
        if (init)
            init->step(w, i);
        i.run(w, i);
    }
    return budget;
}

} // namespace nw::sim
