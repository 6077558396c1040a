// SPDX-License-Identifier: MIT
#include "sim/check/hazard.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <utility>

#include "sim/func/choices.h"
#include "sim/func/launch/launch.h"
#include "sim/func/launch/report.h"

namespace nw::sim {

namespace {

bool uses_sgprs(const HazardRole &r) {
    return std::any_of(r.uses.begin(), r.uses.end(), is_tracked_sgpr);
}

RegisterUse use_of(unsigned sgpr) { return {RegisterUse::sgpr, false, static_cast<u16>(sgpr)}; }

} // namespace

HazardFacts::HazardFacts(const Code &code, std::string_view gfx) {
    for (size_t h = 0; h < static_cast<size_t>(Hazard::count); ++h)
        on[h] = applies(static_cast<Hazard>(h), gfx, code.wave_size);
    ds_nops = code.wave_size == 64 ? ds_nops_wave64 : ds_nops_wave32;
    entries.reserve(code.instructions.size());
    bool nop = false; // immediately before
    for (const Instruction &inst : code.instructions) {
        Entry e;
        e.role = hazard_role(inst);
        e.reads = tracked_sgprs(e.role.uses, false);
        e.writes = tracked_sgprs(e.role.uses, true);
        e.masks = tracked_sgprs(e.role.masks, false);
        if (has(Hazard::mad_overlap) && e.role.mad_overlap)
            e.clash = Hazard::mad_overlap;
        if (has(Hazard::clause_length) && e.role.long_clause)
            e.clash = Hazard::clause_length;
        if (has(Hazard::dealloc_nop) && e.role.dealloc_vgprs) {
            e.clash = Hazard::dealloc_nop;
            if (nop)
                entries.back().resolves_next = entries.back().watched = true;
        }
        if (has(Hazard::denorm_mode))
            old.push_back(gfx10_role(inst, e.role));
        e.watched = e.clash || starts_something(e.role) ||
                    (has(Hazard::denorm_mode) && starts_old(e.role, old.back()));
        nop = inst.x.mnemonic == "s_nop";
        entries.push_back(std::move(e));
    }
    if (has(Hazard::vopd_parity))
        watch_results();
    if (has(Hazard::expert_mode))
        watch_expert(code);
}

void HazardFacts::watch_expert(const Code &code) {
    for (size_t n = 0; n < entries.size(); ++n)
        expert.push_back(expert_role(code.instructions[n], entries[n].role));
    if (std::ranges::none_of(expert, &ExpertRole::sets_mode))
        return expert.clear();
    for (size_t n = 0; n < entries.size(); ++n)
        entries[n].watched |= expert[n].matters();
}

// H-026 concerns all that writes VGPRs, in a program with a pair that can read too early.
void HazardFacts::watch_results() {
    on[static_cast<size_t>(Hazard::vopd_parity)] =
        std::ranges::any_of(entries, [](const Entry &e) { return !e.role.parity.empty(); });
    if (!has(Hazard::vopd_parity))
        return;
    for (Entry &e : entries)
        e.watched |=
            e.role.va_vdst || e.role.unit == HazardRole::valu || e.role.unit == HazardRole::memory;
}

bool HazardFacts::starts_something(const HazardRole &r) const {
    if (r.trans && has(Hazard::trans_use))
        return true;
    if (r.matrix || r.cmpx)
        return true;
    bool computes = r.unit == HazardRole::valu || r.unit == HazardRole::salu;
    bool waits = r.va_vdst || r.va_sdst || r.va_vcc || r.sa_sdst;
    if (has(Hazard::forwarding) && (computes || waits || r.unit == HazardRole::memory))
        return true;
    return has(Hazard::read_sgpr) && (r.unit == HazardRole::salu || waits || r.resolves_sgprs ||
                                      r.ds_nop || (r.unit == HazardRole::valu && uses_sgprs(r)));
}

// Instructions that Gfx10Hazards must see, even if none of its windows that vector instructions end
// is open.
bool HazardFacts::starts_old(const HazardRole &r, const Gfx10Role &old) const {
    if (!has(Hazard::exec_war)) // gfx10.3
        return old.fp_atomic;
    return r.unit != HazardRole::valu || r.cmpx ||
           std::ranges::any_of(r.uses, [](const RegisterUse &use) {
               return use.write && use.bank == RegisterUse::sgpr;
           });
}

void HazardCheck::step(const Wave &w, const Inst &i) {
    const Entry &e = facts_->entries[i.index];
    const bool resolved = std::exchange(resolved_, e.resolves_next);
    if (e.clash && !resolved)
        report(w, i, *e.clash, {e.role.uses.empty() ? RegisterUse{} : e.role.uses[0], i.index});
    if (recent_)
        step_gfx10(w, i);
    if (expert_)
        step_expert(w, i);
    const auto run = [&](Hazard h, Result (HazardCheck::*find)(u32, const Entry &)) {
        if (facts_->has(h))
            if (Result found = (this->*find)(i.index, e))
                report(w, i, h, *found);
    };
    run(Hazard::trans_use, &HazardCheck::find_trans_use);
    run(Hazard::forwarding, &HazardCheck::find_forwarding);
    run(Hazard::mask_write, &HazardCheck::find_mask_write);
    run(Hazard::read_sgpr, &HazardCheck::find_read_sgpr);
    run(Hazard::vopd_parity, &HazardCheck::find_parity);
    if (neighbour_)
        for (Hazard h : {Hazard::matrix_input, Hazard::cmpx_permute})
            if (facts_->has(h))
                if (Result found = find_neighbour(i.index, e.role, h))
                    report(w, i, h, *found);
    const bool dropped = e.role.dropped && facts_->has(Hazard::exec_war); // on gfx10.1
    if (e.role.unit == HazardRole::valu && !dropped)
        neighbour_ = e.role.matrix || e.role.cmpx ? std::optional(i.index) : std::nullopt;
    following_ = trans_count_ || neighbour_ || (recent_ && recent_->ages());
    if (e.role.jump)
        cross_call(e);
}

void HazardCheck::step_gfx10(const Wave &w, const Inst &i) {
    const auto found = [&](Hazard h, u32 earlier, unsigned sgpr, std::string_view subject) {
        report(w, i, h, {use_of(sgpr), earlier == Gfx10Recent::none ? i.index : earlier}, subject);
    };
    const Gfx10Hazards hazards(facts_->has(Hazard::exec_war));
    hazards.step(*recent_, i.index, facts_->entries[i.index].role, facts_->old[i.index],
                 std::cref(found)); // by reference: no memory for each step
}

void HazardCheck::step_expert(const Wave &w, const Inst &i) {
    const ExpertHazards hazards([&](u32 n) {
        return std::pair<const HazardRole &, const ExpertRole &>(facts_->entries[n].role,
                                                                 facts_->expert[n]);
    });
    std::optional<u8> mode;
    if (facts_->expert[i.index].sets_mode && i.src[0].kind == Source::sgpr)
        mode = static_cast<u8>(w.s[i.src[0].at] & expert_bits);
    hazards.step(*expert_, i.index, mode, [&](const RegisterUse &use, u32 earlier) {
        report(w, i, Hazard::expert_mode, {use, earlier});
    });
}

// Forgets what LLVM tracks within a function only, since it resolves nothing across calls. Scalar
// writes in flight are kept, except of the return address, which callees read without a wait.
void HazardCheck::cross_call(const Entry &e) {
    trans_count_ = event_count_ = 0;
    neighbour_.reset();
    following_ = false;
    by_salu_ &= ~e.writes;
    if (!facts_->has(Hazard::read_sgpr)) // H-005; H-002 counts reads of the whole execution
        read_ = 0;
}

// The destination of instruction `index` that overlaps `use`, or null.
const RegisterUse *HazardCheck::written_by(u32 index, const RegisterUse &use) const {
    for (const RegisterUse &w : facts_->entries[index].role.uses)
        if (w.write && overlap(w, use))
            return &w;
    return nullptr;
}

// H-003
HazardCheck::Result HazardCheck::find_trans_use(u32 index, const Entry &entry) {
    const HazardRole &r = entry.role;
    if (r.unit == HazardRole::memory || r.va_vdst)
        trans_count_ = 0;
    if (r.unit != HazardRole::valu)
        return {};
    Trans *end = trans_.data() + trans_count_;
    for (Trans *t = trans_.data(); t != end; ++t)
        for (const RegisterUse &use : r.uses)
            for (unsigned n = 0; use.bank == RegisterUse::vgpr && n < use.count; ++n) {
                if (!use.write && t->written.has(use, n))
                    return Finding{{use.bank, false, static_cast<u16>(use.first + n)}, t->index};
            }
    // Registers overwritten by another instruction no longer hold a transcendental's result.
    for (Trans *t = trans_.data(); t != end; ++t) {
        for (const RegisterUse &use : r.uses)
            if (use.write)
                t->written.remove(use);
        ++t->valu;
        t->trans += r.trans;
    }
    end = std::remove_if(trans_.data(), end, [](const Trans &t) {
        return t.valu > trans_window_valu || t.trans > trans_window_trans;
    });
    if (r.trans) {
        Trans t{index, 0, 0, {}};
        for (const RegisterUse &use : r.uses)
            if (use.write)
                t.written.add(use);
        *end++ = t;
    }
    trans_count_ = static_cast<unsigned>(end - trans_.data());
    return {};
}

// H-004. Searches backwards from a vector instruction with two or more VGPR operands: one written
// after the last scalar write of EXEC, another before it, all within a short window.
HazardCheck::Result HazardCheck::find_forwarding(u32 index, const Entry &entry) {
    const HazardRole &r = entry.role;
    if (r.unit == HazardRole::memory || r.va_vdst)
        event_count_ = 0;
    if (r.unit != HazardRole::valu && !r.writes_exec)
        return {};
    std::vector<RegisterUse> sources;
    for (const RegisterUse &use : r.uses)
        if (!use.write && use.bank == RegisterUse::vgpr &&
            std::none_of(sources.begin(), sources.end(), [&](const RegisterUse &s) {
                return s.first == use.first && s.count == use.count && s.low == use.low &&
                       s.high == use.high;
            }))
            sources.push_back(use);
    Result found;
    if (r.unit == HazardRole::valu && sources.size() >= 2) {
        unsigned valu = 0; // vector instructions in between
        std::optional<unsigned> exec, after;
        for (unsigned n = 0; n < event_count_ && !found; ++n) {
            const Event &e = events_[n];
            if (e.exec) {
                if (after && !exec)
                    exec = valu;
                continue;
            }
            // Only the last write of each source matters.
            std::erase_if(sources, [&](const RegisterUse &s) {
                if (!written_by(e.index, s))
                    return false;
                if (!exec)
                    after = after.value_or(valu);
                else if (*after <= forwarding_window_use &&
                         (*exec - *after - 1) + (valu - *exec) <= forwarding_window_exec)
                    found = Finding{s, e.index};
                return true;
            });
            ++valu;
        }
    }
    std::copy_backward(events_.begin(), events_.end() - 1, events_.end());
    events_[0] = {index, r.unit != HazardRole::valu};
    event_count_ = std::min<unsigned>(event_count_ + 1, events_.size());
    return found;
}

// Records that the instruction overwrites `watched` registers.
void HazardCheck::note_writes(u32 index, const Entry &e, Sgprs watched) {
    by_salu_ &= ~e.writes, by_valu_ &= ~e.writes;
    const Sgprs struck = e.writes & watched;
    if (!struck)
        return;
    (e.role.unit == HazardRole::salu ? by_salu_ : by_valu_) |= struck;
    for_each(struck, [&](unsigned reg) {
        writer_[reg] = index;
        written_at_[reg] = scalars_;
    });
}

// H-005
HazardCheck::Result HazardCheck::find_mask_write(u32 index, const Entry &e) {
    const HazardRole &r = e.role;
    const bool valu = r.unit == HazardRole::valu, salu = r.unit == HazardRole::salu;
    if (r.sa_sdst)
        by_salu_ = 0;
    if (r.sa_sdst) // masks have been read at that point
        read_ = 0;
    read_ &= ~waited_for(r);
    by_valu_ &= ~waited_for(r);
    if (!valu && !salu)
        return {};
    if (const Sgprs early = e.reads & (valu ? by_salu_ | by_valu_ : by_salu_))
        return Finding{use_of(lowest(early)), writer_[lowest(early)]};
    note_writes(index, e, read_);
    if (valu && (r.literal || e.reads)) // any other scalar operand ends the window
        read_ = 0;
    read_ |= e.masks;
    return {};
}

// A scalar read of an SGPR or VCC waits for the vector instructions that write one; LLVM relies on
// this where it tracks the register.
void HazardCheck::resolve_by_scalar_read(Sgprs reads) {
    by_valu_ &=
        (reads & vcc_pair ? ~vcc_pair : ~Sgprs{0}) & (reads & ~vcc_pair ? vcc_pair : ~Sgprs{0});
}

// H-002
HazardCheck::Result HazardCheck::find_read_sgpr(u32 index, const Entry &e) {
    const HazardRole &r = e.role;
    const bool valu = r.unit == HazardRole::valu, salu = r.unit == HazardRole::salu;
    ds_nops_ = r.ds_nop ? ds_nops_ + 1 : 0;
    if (ds_nops_ >= facts_->ds_nops)
        read_ = 0;
    if (r.resolves_sgprs || r.sa_sdst)
        by_salu_ = 0;
    by_valu_ &= r.resolves_sgprs ? 0 : ~waited_for(r);
    if (!valu && !salu)
        return {};
    Result found;
    for_each(e.reads & (valu ? by_salu_ | by_valu_ : by_salu_), [&](unsigned reg) {
        const bool recent =
            by_salu_ >> reg & 1 && scalars_ - written_at_[reg] <= scalar_write_window;
        if (!found && (recent || (valu && by_valu_ >> reg & 1)))
            found = Finding{use_of(reg), writer_[reg]};
    });
    if (found)
        return found;
    if (valu)
        read_ |= e.reads | (e.reads & even_sgprs) << 1 | (e.reads >> 1 & even_sgprs);
    else
        resolve_by_scalar_read(e.reads);
    scalars_ += salu;
    note_writes(index, e, read_);
    return {};
}

// H-026
HazardCheck::Result HazardCheck::find_parity(u32 index, const Entry &e) {
    const HazardRole &r = e.role;
    if (r.unit == HazardRole::memory || r.va_vdst)
        result_count_ = 0;
    if (choices().vopd_interlock == choice::vopd_interlock::lost)
        for (const RegisterUse &source : r.parity)
            for (unsigned n = 0; n < result_count_; ++n)
                if (written_by(results_[n], source))
                    return Finding{source, results_[n]};
    if (writes_vgprs(r)) {
        std::copy_backward(results_.begin(), results_.end() - 1, results_.end());
        results_[0] = index;
        result_count_ = std::min<unsigned>(result_count_ + 1, results_.size());
    }
    return {};
}

// H-006, H-007: only the immediately preceding vector instruction matters.
HazardCheck::Result HazardCheck::find_neighbour(u32, const HazardRole &r, Hazard h) {
    const HazardRole &before = facts_->entries[*neighbour_].role;
    if (h == Hazard::cmpx_permute && before.cmpx && r.permlane)
        return Finding{{RegisterUse::sgpr, false, sreg::exec}, *neighbour_};
    if (h == Hazard::matrix_input && before.matrix && r.matrix)
        for (const RegisterUse &use : r.inputs)
            if (written_by(*neighbour_, use))
                return Finding{use, *neighbour_};
    return {};
}

void HazardCheck::report(const Wave &w, const Inst &i, Hazard h, const Finding &f,
                         std::string_view subject) const {
    const HazardInfo &hazard = info(h);
    const Executable &code = w.context->code;
    const Instruction &earlier = code.code->instructions[f.earlier];
    const u64 pc = code.code->base + earlier.offset;
    const std::string line = code.program->source_line(pc);
    std::string name = f.use.bank == RegisterUse::vgpr ? fmt::format("v{}", f.use.first)
                       : f.use.first == sreg::exec     ? "EXEC"
                       : f.use.first == sreg::vcc      ? "VCC"
                                                       : fmt::format("s{}", f.use.first);
    if (h == Hazard::dealloc_nop || h == Hazard::clause_length)
        name = h == Hazard::dealloc_nop ? "the VGPRs" : "the clause";
    if (!subject.empty())
        name = subject;
    std::string before =
        f.earlier == i.index
            ? ""
            : fmt::format(", by {} (kernel + 0x{:x}{}{})", earlier.text,
                          pc - w.context->dispatch.kernel->entry, line.empty() ? "" : ", ", line);
    finding(w, i,
            fmt::format("wait: {} {}{} ({}); {}", name, hazard.what, before, hazard.note,
                        hazard.remedy));
}

} // namespace nw::sim
