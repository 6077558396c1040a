// SPDX-License-Identifier: MIT
#include "nw/advice/candidates.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <set>

#include "lint/occupancy.h"
#include "lint/survey.h"
#include "sim/isa/code.h"
#include "sim/timing/core/dispatcher.h"

namespace nw::cli {

namespace {

using sim::timing::Dispatcher, sim::timing::Footprint, sim::timing::Result, sim::timing::Stall,
    sim::timing::WhatIf;

constexpr size_t most_evidence = 3;
constexpr f64 few = 0.02;    // of the cycles or instructions: nothing to gain
constexpr f64 uneven = 1.05; // sectors, of the fewest: an access that isn't aligned has one more

class Finder {
public:
    Finder(const Launch &launch, const Result &r)
        : launch_(launch), r_(r), d_(launch.dispatch()),
          code_(d_.program->code(d_.kernel->wave_size)),
          footprints_(launch.timing().footprints(d_)),
          life_(static_cast<f64>(std::accumulate(r.stalls.begin(), r.stalls.end(), r.insts))) {}

    std::vector<Candidate> find() {
        bank_conflicts();
        loads();
        occupancy();
        pairs();
        coalesced();
        tail();
        return std::move(found_);
    }

private:
    // The instructions with the most of it, and their shares.
    template <class Amount> std::vector<Evidence> evidence(Amount amount) const {
        std::vector<std::pair<f64, u32>> by_amount;
        f64 sum = 0;
        for (u32 n = 0; n < code_.instructions.size(); ++n)
            if (const f64 one = static_cast<f64>(amount(n)); one > 0) {
                by_amount.emplace_back(one, n);
                sum += one;
            }
        std::ranges::stable_sort(by_amount, std::ranges::greater(),
                                 [](auto &x) { return x.first; });
        std::vector<Evidence> out;
        for (const auto &[one, n] : by_amount)
            if (out.size() < most_evidence)
                out.push_back({n, place(n), code_.instructions[n].text, one / sum});
        return out;
    }

    std::string place(u32 n) const {
        const u64 pc = code_.base + code_.instructions[n].offset;
        const std::string line = d_.program->source_line(pc);
        return line.empty() ? fmt::format("{:+#x}", static_cast<i64>(pc - d_.kernel->entry)) : line;
    }

    f64 stalled(Stall s) const {
        return static_cast<f64>(r_.stalls[static_cast<size_t>(s)]) / life_;
    }

    void bank_conflicts() {
        const f64 busy = static_cast<f64>(r_.busy.lds_conflicts) * r_.scale /
                         (static_cast<f64>(r_.cycles) * r_.simds / 2);
        const f64 waits =
            stalled(Stall::wait_lds) + stalled(Stall::lds_busy) + stalled(Stall::barrier);
        if (!r_.busy.lds_conflicts || std::max(busy, waits) < few)
            return;
        auto where = evidence([&](u32 n) { return footprints_[n].conflicts; });
        if (where.empty())
            return;
        const Footprint &f = footprints_[where.front().index];
        found_.push_back(
            {{"bank_conflicts", "avoid LDS bank conflicts: pad rows or permute columns",
              fmt::format("{:.3g} times the cycles without them at ",
                          static_cast<f64>(f.phases) / static_cast<f64>(f.phases - f.conflicts)),
              "T-052", std::move(where)},
             {.no_bank_conflicts = true},
             {}});
    }

    void loads() {
        if (stalled(Stall::wait_load) < few)
            return;
        const auto waits = [&](u32 n) {
            return r_.lines[n].stalls[static_cast<size_t>(Stall::wait_load)];
        };
        auto where = evidence(waits);
        const f64 share = static_cast<f64>(waits(where.front().index)) / life_;
        found_.push_back(
            {{"loads_earlier", "issue loads earlier, in a loop by an iteration",
              fmt::format("waves wait for them {:.0f} % of their cycles at ", 100 * share), "T-012",
              std::move(where)},
             {.loads_earlier = true},
             {}});
    }

    void occupancy() {
        const u32 lds = d_.kernel->lds_bytes + d_.dynamic_lds;
        const auto o = lint::occupancy(launch_.device(), *d_.kernel,
                                       d_.block.x * d_.block.y * d_.block.z, lds);
        if (r_.slots < 1)
            return;
        const auto step = [&](std::string_view what, const lint::Occupancy::Step &s, u32 now,
                              std::string_view unit, std::string_view note, WhatIf change) {
            found_.push_back(
                {{"occupancy",
                  fmt::format("use less of {}, for {:.3g} waves per SIMD instead of {:.3g}", what,
                              s.waves, o.waves),
                  fmt::format("at most {} {} of {}, {} fewer", s.at_most, unit, now,
                              now - s.at_most),
                  note},
                 std::move(change),
                 {}});
        };
        if (o.fewer_vgprs)
            step("VGPRs", *o.fewer_vgprs, o.vgprs, "allocated VGPRs", "T-002",
                 {.vgprs = o.fewer_vgprs->at_most});
        if (o.less_lds)
            step("LDS", *o.less_lds, lds, "bytes of a workgroup", "T-003",
                 {.lds_bytes = o.less_lds->at_most});
    }

    void pairs() {
        if (launch_.device().target->generation == Generation::gfx10 || d_.kernel->wave_size != 32)
            return;
        WhatIf change;
        u64 issued = 0;
        const lint::Survey survey(*d_.program, *d_.kernel);
        for (const lint::MissedPair &m : survey.pairs.missed())
            if (m.rule == lint::VopdRule::none && r_.lines[m.first].issued) {
                issued += r_.lines[m.first].issued;
                change.pairs.push_back({m.first, m.second});
                if (!m.at_first)
                    std::swap(change.pairs.back().kept, change.pairs.back().other);
            }
        if (static_cast<f64>(issued) < few * static_cast<f64>(r_.insts))
            return;
        std::set<u32> first;
        for (const WhatIf::Pair &p : change.pairs)
            first.insert(p.kept);
        found_.push_back(
            {{"dual_issue",
              fmt::format("join {} pairs of VALU instructions, which nw info names",
                          change.pairs.size()),
              fmt::format("{:.0f} % of the instructions, one half at ",
                          200 * static_cast<f64>(issued) / static_cast<f64>(r_.insts)),
              "H-001", evidence([&](u32 n) { return first.contains(n) ? r_.lines[n].issued : 0; })},
             std::move(change),
             {}});
    }

    void coalesced() {
        u64 all = 0, least = 0;
        for (const Footprint &f : footprints_)
            all += f.sectors, least += f.least_sectors;
        if (static_cast<f64>(all) <= uneven * static_cast<f64>(least))
            return;
        auto where =
            evidence([&](u32 n) { return footprints_[n].sectors - footprints_[n].least_sectors; });
        const Footprint &f = footprints_[where.front().index];
        found_.push_back(
            {{"coalescing", "let consecutive lanes access consecutive addresses",
              fmt::format("{:.3g} times the sectors that its bytes need at ",
                          static_cast<f64>(f.sectors) / static_cast<f64>(f.least_sectors)),
              "T-011", std::move(where)},
             {.coalesced = true},
             {}});
    }

    // The last workgroups, if they leave most of the part unused.
    void tail() {
        const u64 resident =
            Dispatcher(launch_.part(), launch_.device(), *d_.kernel, d_).resident();
        const u64 rest = r_.groups % resident, even = r_.groups - rest;
        if (!even || !rest || r_.groups_timed < r_.groups)
            return;
        const f64 more = static_cast<f64>(r_.groups) / static_cast<f64>(even),
                  overhead = launch_.part().launch_overhead;
        found_.push_back(
            {{"tail",
              fmt::format("launch a multiple of {} workgroups, which fill the part, or "
                          "smaller ones",
                          resident),
              fmt::format("the last {} of {} leave it partly unused", rest, r_.groups), "T-057"},
             {.whole_generations = true},
             [=](f64 us) { return overhead + (us - overhead) * more; }});
    }

    const Launch &launch_;
    const Result &r_;
    const sim::Dispatch &d_;
    const sim::Code &code_;
    const std::vector<Footprint> footprints_;
    const f64 life_; // cycles of all waves
    std::vector<Candidate> found_;
};

} // namespace

std::vector<Candidate> candidates(const Launch &launch, const Result &r) {
    return Finder(launch, r).find();
}

std::vector<Advice> spread_advice(const Launch &launch, const Result &r) {
    const sim::Dispatch &d = launch.dispatch();
    const sim::timing::Part &part = launch.part();
    Dispatcher dispatcher(part, launch.device(), *d.kernel, d);
    if (r.groups >= dispatcher.resident())
        return {};
    std::set<u32> used;
    for (u64 n = 0; n < r.groups; ++n)
        if (const auto place = dispatcher.place())
            used.insert(place->simds.begin(), place->simds.end());
    const f64 share = static_cast<f64>(used.size()) / r.simds,
              bound = std::max({share, r.use.dram / part.dram_efficiency, r.use.lds});
    const f64 time = part.launch_overhead + (r.time_us - part.launch_overhead) * bound,
              gain = 1 - time / r.time_us;
    if (gain < least_gain)
        return {};
    return {{.kind = "spread",
             .what = "split the work into more waves",
             .why = fmt::format("{} workgroups of {} waves are on {} of {} SIMDs", r.groups,
                                dispatcher.waves(), used.size(), r.simds),
             .note = "T-057",
             .time_us = time,
             .gain = gain}};
}

} // namespace nw::cli
