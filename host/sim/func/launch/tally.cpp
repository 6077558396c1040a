// SPDX-License-Identifier: MIT
#include "sim/func/launch/tally.h"

#include <algorithm>
#include <stdexcept>

namespace nw::sim {

namespace {

bool same(const FidelityNote &a, const FidelityNote &b) {
    return a.fidelity == b.fidelity && a.note == b.note;
}

} // namespace

Tallies::Tallies() {
    for (size_t c = 0; c < static_cast<size_t>(Class::count); ++c)
        entries_.push_back({static_cast<Class>(c), {}, {}});
}

u8 Tallies::entry(Class cls, const Instruction &inst, Generation generation) {
    const FidelityNote exact = fidelity_of(inst, generation),
                       fast = fidelity_of(inst, generation, true);
    auto it = std::find_if(entries_.begin(), entries_.end(), [&](const Entry &e) {
        return e.cls == cls && same(e.exact_math, exact) && same(e.fast_math, fast);
    });
    if (it == entries_.end()) {
        if (entries_.size() == tally_limit) // a few: classes x notes that occur
            throw std::length_error("tally_limit is too small for the notes of fidelity.inc");
        it = entries_.insert(it, {cls, exact, fast});
    }
    return static_cast<u8>(it - entries_.begin());
}

u64 Tallies::accesses(std::span<const u64> counts) const {
    u64 sum = 0;
    for (size_t i = 0; i < entries_.size(); ++i) {
        const Class cls = entries_[i].cls;
        if (cls == Class::vmem_load || cls == Class::vmem_store || cls == Class::lds)
            sum += counts[i];
    }
    return sum;
}

void Tallies::add_up(std::span<const u64> counts, bool fast_math, RunStats &sum) const {
    InstCounts &n = sum.insts;
    u64 *by_class[] = {&n.valu,      &n.vopd,       &n.trans, &n.wmma,   &n.salu, &n.smem,
                       &n.vmem_load, &n.vmem_store, &n.lds,   &n.branch, &n.wait, &n.other};
    static_assert(std::size(by_class) == static_cast<size_t>(Class::count));
    FidelityCounts more;
    u64 *by_fidelity[] = {&more.exact, &more.approximate, &more.open};
    for (size_t i = 0; i < entries_.size(); ++i) {
        const auto &[cls, exact, fast] = entries_[i];
        const FidelityNote &note = fast_math ? fast : exact;
        *by_class[static_cast<size_t>(cls)] += counts[i];
        *by_fidelity[static_cast<size_t>(note.fidelity)] += counts[i];
        if (counts[i] && !note.note.empty())
            more.notes.emplace_back(note.note);
    }
    sum.fidelity += more;
}

FidelityCounts &FidelityCounts::operator+=(const FidelityCounts &o) {
    exact += o.exact, approximate += o.approximate, open += o.open;
    notes.insert(notes.end(), o.notes.begin(), o.notes.end());
    std::sort(notes.begin(), notes.end());
    notes.erase(std::unique(notes.begin(), notes.end()), notes.end());
    return *this;
}

u64 InstCounts::total() const {
    return valu + vopd + trans + wmma + salu + smem + vmem_load + vmem_store + lds + branch + wait +
           other;
}

InstCounts &InstCounts::operator+=(const InstCounts &o) {
    valu += o.valu, vopd += o.vopd, trans += o.trans, wmma += o.wmma, salu += o.salu;
    smem += o.smem, vmem_load += o.vmem_load, vmem_store += o.vmem_store, lds += o.lds;
    branch += o.branch, wait += o.wait, other += o.other;
    return *this;
}

} // namespace nw::sim
