// SPDX-License-Identifier: MIT
#include "sim/timing/trace.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <unistd.h>

#include "sim/func/alu/frames.h"
#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

namespace {

// Emulated addresses of memory outside allocations: scratch, and code that isn't adopted.
constexpr u64 scratch_region = u64{1} << 44, other_region = u64{1} << 45;
constexpr u64 scratch_slots = 4096; // waves with distinct scratch before slots are reused

u64 word(auto value) { return std::bit_cast<u64>(value); }

// Collects what lanes touch as runs of sectors.
class Runs {
public:
    explicit Runs(std::vector<u64> &payload) : payload_(payload), header_(payload.size()) {
        payload.push_back(0);
    }
    void add(u64 address, u32 bytes) {
        const u64 first = address / sector_bytes, last = (address + bytes - 1) / sector_bytes;
        for (u64 s = first; s <= last; ++s)
            add_sector(s);
    }
    void finish(u32 lanes, u32 lane_bytes, u32 lds_phases) {
        payload_[header_] = word(VectorHeader{payload_.size() - header_ - 1, std::min(lanes, 255u),
                                              lane_bytes, lds_phases});
    }

private:
    void add_sector(u64 sector) {
        for (size_t r = header_ + 1; r < payload_.size(); ++r) {
            auto run = std::bit_cast<SectorRun>(payload_[r]);
            if (sector - run.first < run.count)
                return;
        }
        if (payload_.size() > header_ + 1) {
            auto last = std::bit_cast<SectorRun>(payload_.back());
            if (last.first + last.count == sector && last.count < 0xffff) {
                ++last.count;
                payload_.back() = word(last);
                return;
            }
        }
        payload_.push_back(word(SectorRun{sector, 1}));
    }
    std::vector<u64> &payload_;
    size_t header_;
};

} // namespace

u64 default_record_limit() {
    return static_cast<u64>(sysconf(_SC_PHYS_PAGES)) * static_cast<u64>(sysconf(_SC_PAGESIZE)) / 2;
}

Recorder::Recorder(const std::vector<Payload> &payloads, bool gfx12, u64 groups,
                   u32 waves_per_group, u64 limit)
    : payloads_(payloads), gfx12_(gfx12), groups_(groups), waves_(waves_per_group), limit_(limit),
      of_group_(groups), live_(groups, waves_per_group) {}

void *Recorder::start(u64 group, u32 wave) {
    if (wave == 0 && ahead_ != ~u64{0} && needs(group))
        wait_for_reader(group);
    if (wave == 0 && needs(group)) {
        of_group_[group] = std::make_unique<Recording[]>(waves_);
        for (u32 n = 0; n < waves_; ++n)
            of_group_[group][n].number = group * waves_ + n;
    }
    return group < of_group_.size() && of_group_[group] ? &of_group_[group][wave] : nullptr;
}

// ---- a reader on another thread ---------------------------------------------------------------

void Recorder::read_beside(u64 ahead) { ahead_ = ahead; }

// The awaited workgroup and its predecessors are recorded in any case.
void Recorder::wait_for_reader(u64 group) {
    constexpr std::chrono::milliseconds look_up{50}; // how often to poll for the end of the process
    std::unique_lock lock(mutex_);
    while (reads_ && claimed_ > ahead_ && group > wanted_ && needs(group)) {
        check_abandoned();
        changed_.wait_for(lock, look_up);
    }
}

void Recorder::ended(u64 group) {
    {
        const std::lock_guard lock(mutex_);
        if (needs(group))
            recorded_.insert(group);
        else // since it began
            drop(group);
    }
    changed_.notify_all();
}

void Recorder::await(u64 group) {
    std::unique_lock lock(mutex_);
    if (group > wanted_) {
        wanted_ = group;
        changed_.notify_all();
    }
    changed_.wait(lock, [&] { return finished_ || recorded_.contains(group); });
    if (!recorded_.contains(group))
        throw Ended{};
}

void Recorder::drop(u64 group) {
    for (u32 wave = 0; wave < waves_; ++wave)
        claimed_ -= of_group_[group][wave].claimed;
    of_group_[group].reset();
}

void Recorder::forget(u64 group) {
    drop(group);
    changed_.notify_all();
}

bool Recorder::needs(u64 group) const {
    const GroupRange *const end = left_out_ + ranges_.load(std::memory_order_acquire);
    return group < groups_ &&
           std::none_of(left_out_, end, [&](const GroupRange &r) { return r.holds(group); });
}

void Recorder::leave_out(GroupRange range) {
    {
        const std::lock_guard lock(mutex_);
        left_out_[ranges_] = range;
        ranges_.fetch_add(1, std::memory_order_release);
        const auto first = recorded_.lower_bound(range.begin),
                   end = recorded_.lower_bound(range.end);
        std::for_each(first, end, [&](u64 group) { drop(group); });
        recorded_.erase(first, end);
    }
    changed_.notify_all();
}

void Recorder::finish() {
    {
        const std::lock_guard lock(mutex_);
        finished_ = true;
    }
    changed_.notify_all();
}

void Recorder::stop_reading() {
    {
        const std::lock_guard lock(mutex_);
        reads_ = false;
    }
    changed_.notify_all();
}

u64 Recorder::instructions(u64 group) const {
    u64 all = 0;
    for (u32 wave = 0; wave < waves_; ++wave)
        for (const WaveTrace::Run &run : of_group_[group][wave].trace.runs)
            all += run.count;
    return all;
}

// ---- what a wave does
// -----------------------------------------------------------------

WaveTrace &Recorder::trace_of(const Wave &w) { return static_cast<Recording *>(w.observed)->trace; }

void Recorder::before(Wave &w, const Inst &i) {
    auto &r = *static_cast<Recording *>(w.observed);
    r.trace.add(i.index);
    if (r.trace.bytes() > r.claimed)
        claim(r, w, i);
    switch (payloads_[i.index]) {
    case Payload::none:
        break;
    case Payload::scalar:
        scalar(r, w, i);
        break;
    case Payload::end:
        if (const u64 group = r.number / waves_; --live_[group] == 0)
            ended(group);
        break;
    case Payload::vector:
    case Payload::lds:
        vector(r, w, i);
        break;
    }
}

void Recorder::claim(Recording &r, Wave &w, const Inst &i) {
    const u64 more = std::max<u64>(1024, r.claimed / 2); // seldom, and not much too much
    r.claimed += more;
    if (claimed_.fetch_add(more) + more > limit_)
        fault(w, i, Fault::Kind::out_of_memory,
              fmt::format("recording its waves takes more than {} MiB: unless it is endless, "
                          "launch fewer workgroups, or turn modelled time off (HIPSIM_TIMING=off)",
                          limit_ >> 20));
}

u64 Recorder::device_address(Recording &r, const Wave &w, u64 address) {
    for (const Allocation &a : r.known)
        if (a.holds(address))
            return a.device + (address - a.begin);
    const u64 scratch = u64{w.scratch_bytes} * row_lanes * w.halves;
    if (address - reinterpret_cast<u64>(w.scratch) < scratch)
        return scratch_region + r.number % scratch_slots * scratch +
               (address - reinterpret_cast<u64>(w.scratch));
    const Allocation a = w.context->memory.find(address);
    if (!a.holds(address))
        return other_region + (address - w.context->code.code->base);
    r.known[r.oldest++ % std::size(r.known)] = a;
    return a.device + (address - a.begin);
}

// A pair of addresses (ds_load_2addr) and the dwords of a buffer are parts, found one by one.
void Recorder::vector(Recording &r, Wave &w, const Inst &i) {
    const bool on_lds = payloads_[i.index] == Payload::lds;
    std::vector<u64> &payload = r.trace.payload;
    const size_t at = payload.size();
    Runs runs(payload);
    u32 lanes = 0, lane_bytes = 0;
    LdsPhases phases;
    const u64 lds = reinterpret_cast<u64>(w.group->lds.data());
    Places p;
    for (unsigned half = 0; i.access && half < w.halves; ++half) {
        if (i.access->exchanges_lanes) {
            phases.all += w.exec(half) != 0;
            continue;
        }
        for (unsigned part = 0; part < i.access->parts; ++part) {
            p.lds = p.outside = p.active = 0;
            frames().places(w, i, half, part, p);
            lanes += part == 0 ? static_cast<u32>(std::popcount(p.active)) : 0;
            lane_bytes += half == 0 ? p.bytes : 0;
            if (const u32 shared = p.active & p.lds) {
                for_lanes(shared, [&](unsigned l) { p.at[l] -= lds; });
                phases += memo_.phases(p.at, shared, p.bytes, gfx12_, i.access->op.updates());
            }
            const u32 global = p.active & ~p.lds;
            if (global == ~0u && in_a_row(p.at, p.bytes))
                runs.add(device_address(r, w, p.at[0]), p.bytes * row_lanes);
            else
                for_lanes(global,
                          [&](unsigned l) { runs.add(device_address(r, w, p.at[l]), p.bytes); });
        }
    }
    if (on_lds) {
        payload.resize(at);
        payload.push_back(phases.all | u64{phases.conflicts} << lds_conflicts_at);
    } else {
        runs.finish(lanes, lane_bytes, phases.all);
    }
}

void Recorder::scalar(Recording &r, Wave &w, const Inst &i) {
    ScalarPayload p{};
    const ScalarPlace place = scalar_load_place(w, i);
    if (place.bytes)
        p = {device_address(r, w, place.address), place.bytes};
    r.trace.payload.push_back(word(p));
}

} // namespace nw::sim::timing
