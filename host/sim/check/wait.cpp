// SPDX-License-Identifier: MIT
#include "sim/check/wait.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "sim/func/launch/launch.h"
#include "sim/func/launch/report.h"

namespace nw::sim {

namespace {

std::string remedy(Counter c, size_t younger, bool gfx12) {
    switch (c) {
    case Counter::load:
        return gfx12 ? fmt::format("s_wait_loadcnt {}", younger)
                     : fmt::format("s_waitcnt vmcnt({})", younger);
    case Counter::lds:
        return gfx12 ? fmt::format("s_wait_dscnt {}", younger)
                     : fmt::format("s_waitcnt lgkmcnt({})", younger);
    case Counter::sample: // gfx12 alone
        return fmt::format("s_wait_samplecnt {}", younger);
    default:
        return gfx12 ? "s_wait_kmcnt 0" : "s_waitcnt lgkmcnt(0)";
    }
}

} // namespace

WaitFacts::WaitFacts(const Code &code, const Target &of) : target(&of) {
    const Generation generation = of.generation;
    const bool gfx12 = generation == Generation::gfx12;
    entries.reserve(code.instructions.size());
    for (const Instruction &inst : code.instructions) {
        Entry e;
        if (!inst.text.empty()) {
            e.uses = register_uses(inst);
            e.issues = sim::issues(inst, generation);
            e.limits = wait_limits(inst, generation);
            e.waits = inst.x.mnemonic.starts_with("s_wait");
            e.is_first = is_first(inst.x);
            const Modifier *scope = inst.x.modifier("scope");
            e.system_store = gfx12 && scope && scope->text == "SCOPE_SYS" &&
                             inst.x.mnemonic.find("_store_") != std::string_view::npos;
            e.to_scratch = inst.x.mnemonic.starts_with("scratch_store_");
            e.dealloc = hazard_role(inst).dealloc_vgprs;
            const MemoryOp scalar = find_scalar_write(inst.x.mnemonic);
            e.writes_scalar = scalar.access != Access::none && scalar.stores();
            e.writes_back = inst.x.mnemonic == "s_dcache_wb";
            e.ends = inst.x.mnemonic.starts_with("s_endpgm");
        }
        entries.push_back(std::move(e));
    }
}

void WaitCheck::reset() {
    flights_.clear();
    base_ = 1;
    for (auto &o : outstanding_)
        o.clear();
    in_flight_.clear();
    dirty_ = nothing;
    std::memset(owner_, 0, sizeof owner_);
}

void WaitCheck::step(const Wave &w, const Inst &i) {
    const WaitFacts::Entry &e = facts_->entries[i.index];
    if (e.waits)
        return wait(e.limits);
    if (e.is_first.awaited)
        land_is_first(*e.is_first.awaited);
    check(w, i, e);
    if (e.system_store)
        check_system_store(w, i);
    if (e.dealloc)
        check_dealloc(w, i);
    if (e.ends)
        check_end(w, i);
    if (e.writes_scalar || e.writes_back)
        dirty_ = e.writes_back ? nothing : i.index;
    if (e.issues.any())
        launch(i, e, i.cls == Class::smem || w.exec_mask() != 0);
}

void WaitCheck::land(Counter c, size_t keep) {
    std::deque<u32> &o = outstanding_[static_cast<int>(c)];
    for (; o.size() > keep; o.pop_front()) {
        Flight &f = flights_[o.front() - base_];
        if (c == Counter::lds) // a flat load is now one from memory (H-010)
            f.issues.on[static_cast<int>(c)] = false;
        if (--f.pending == 0)
            arrive(o.front());
    }
    for (; !flights_.empty() && flights_.front().pending == 0; ++base_)
        flights_.pop_front();
}

void WaitCheck::arrive(u32 number) {
    for (const RegisterUse &use : facts_->entries[flights_[number - base_].inst].uses)
        for (unsigned n = 0; use.write && n < use.count; ++n) {
            const unsigned place = use.place(n);
            for (u32(&owner)[RegisterSet::vgprs + RegisterSet::sgprs] : owner_)
                if (owner[place] == number)
                    owner[place] = 0;
            if (!owner_[0][place] && !owner_[1][place])
                in_flight_.remove(place);
        }
}

void WaitCheck::wait(const WaitLimits &limits) {
    for (unsigned c = 0; c < counters; ++c) {
        u32 n = limits.limit[c];
        if (static_cast<Counter>(c) == Counter::smem && n != 0)
            continue;
        if (n < outstanding_[c].size())
            land(static_cast<Counter>(c), n);
    }
}

// A wait for the barrier brings SCC of s_barrier_signal_isfirst.
void WaitCheck::land_is_first(i64 barrier) {
    std::deque<u32> &o = outstanding_[static_cast<int>(Counter::smem)];
    std::erase_if(o, [&](u32 number) {
        Flight &f = flights_[number - base_];
        if (facts_->entries[f.inst].is_first.signalled != barrier)
            return false;
        if (--f.pending == 0)
            arrive(number);
        return true;
    });
}

void WaitCheck::check(const Wave &w, const Inst &i, const WaitFacts::Entry &e) {
    for (const RegisterUse &use : e.uses)
        for (unsigned n = 0; n < use.count; ++n) {
            const unsigned place = use.place(n);
            if (!in_flight_.has(place))
                continue;
            for (const bool high : {false, true})
                if (const u32 number = owner_[high][place]) {
                    RegisterUse loaded{use.bank, true, static_cast<u16>(use.first + n)};
                    loaded.low = !high, loaded.high = high;
                    if (use.bank == RegisterUse::sgpr || owner_[!high][place] == number)
                        loaded.low = loaded.high = true;
                    if (clashes(loaded, flights_[number - base_].issues, use, e.issues,
                                *facts_->target)) {
                        report(w, i, use, use.first + n, number);
                        arrive(number); // told once: at the first use
                    }
                }
        }
}

void WaitCheck::check_system_store(const Wave &w, const Inst &i) const {
    for (Counter c : {Counter::load, Counter::smem, Counter::store})
        if (const std::deque<u32> &o = outstanding_[static_cast<int>(c)]; !o.empty())
            report(w, i, Hazard::system_store, "the value", flights_[o.back() - base_].inst);
}

void WaitCheck::check_dealloc(const Wave &w, const Inst &i) const {
    for (u32 number : outstanding_[static_cast<int>(Counter::store)]) {
        const u32 inst = flights_[number - base_].inst;
        if (facts_->entries[inst].to_scratch)
            report(w, i, Hazard::dealloc_scratch, "the scratch memory", inst);
    }
}

void WaitCheck::check_end(const Wave &w, const Inst &i) const {
    if (dirty_ == nothing)
        return;
    finding(
        w, i,
        fmt::format("wait: what {} wrote is still in the scalar cache when the wave ends (S-077); "
                    "put s_dcache_wb before",
                    w.context->code.code->instructions[dirty_].text));
}

// Without an active lane no register is written, but the instruction still counts.
void WaitCheck::launch(const Inst &i, const WaitFacts::Entry &e, bool returns) {
    Flight f{i.index, 0, e.issues};
    u32 number = base_ + static_cast<u32>(flights_.size());
    for (unsigned c = 0; c < counters; ++c)
        if (e.issues.on[c]) {
            outstanding_[c].push_back(number);
            ++f.pending;
        }
    flights_.push_back(f);
    if (!returns)
        return;
    for (const RegisterUse &use : e.uses)
        for (unsigned n = 0; use.write && n < use.count; ++n) {
            const unsigned place = use.place(n);
            if (use.low)
                owner_[0][place] = number;
            if (use.high)
                owner_[1][place] = number;
            in_flight_.add(place);
        }
}

void WaitCheck::report(const Wave &w, const Inst &i, Hazard h, const char *subject,
                       u32 earlier) const {
    const HazardInfo &hazard = info(h);
    finding(w, i,
            fmt::format("wait: {} {} ({}): {}; {}", subject, hazard.what, hazard.note,
                        w.context->code.code->instructions[earlier].text, hazard.remedy));
}

void WaitCheck::report(const Wave &w, const Inst &i, const RegisterUse &use, unsigned reg,
                       u32 number) const {
    const Flight &f = flights_[number - base_];
    const Executable &code = w.context->code;
    const Instruction &load = code.code->instructions[f.inst];
    u64 pc = code.code->base + load.offset;
    std::string line = code.program->source_line(pc);
    std::string waits;
    for (unsigned c = 0; c < counters; ++c) {
        const std::deque<u32> &o = outstanding_[c];
        auto at = std::find(o.begin(), o.end(), number);
        if (at == o.end())
            continue;
        waits +=
            (waits.empty() ? "" : " and ") +
            remedy(static_cast<Counter>(c), static_cast<size_t>(o.end() - at) - 1, w.mode.gfx12);
    }
    const int loads = static_cast<int>(Counter::load);
    const Issues &now = facts_->entries[i.index].issues;
    const std::string name =
        use.bank == RegisterUse::sgpr && reg == sreg::scc
            ? "scc"
            : fmt::format("{}{}", use.bank == RegisterUse::vgpr ? "v" : "s", reg);
    const bool two_loads = use.write && f.issues.on[loads] && now.on[loads];
    finding(w, i,
            fmt::format("wait: {} is {} while it is in flight: {} (kernel + 0x{:x}{}{}) has not "
                        "returned{}; put {} before",
                        name, use.write ? "overwritten" : "read", load.text,
                        pc - w.context->dispatch.kernel->entry, line.empty() ? "" : ", ", line,
                        two_loads ? ", and loads land in any order (H-010)" : "", waits));
}

} // namespace nw::sim
