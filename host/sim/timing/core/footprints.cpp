// SPDX-License-Identifier: MIT
#include "sim/timing/core/footprints.h"

#include <bit>

#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

namespace {

// Calls visit(instruction, its payload) for all payloads of a wave, in order. visit returns the
// payload's words.
template <class Visit>
void each_payload(const WaveTrace &trace, const ProgramFacts &facts, Visit visit) {
    const u64 *payload = trace.payload.data();
    for (const WaveTrace::Run &run : trace.runs)
        for (u32 n = run.first; n < run.first + run.count; ++n)
            if (const Payload kind = facts.payloads[n];
                kind != Payload::none && kind != Payload::end)
                payload += visit(n, payload);
}

template <class Visit> void each_wave(Recorder &recorder, Visit visit) {
    for (u64 group = 0; group < recorder.groups(); ++group)
        for (u32 wave = 0; recorder.has(group) && wave < recorder.waves(); ++wave)
            visit(recorder.trace(group, wave), group * recorder.waves() + wave);
}

std::span<const SectorRun> runs_of(const u64 *payload) {
    static_assert(sizeof(SectorRun) == sizeof(u64));
    return {reinterpret_cast<const SectorRun *>(payload + 1),
            std::bit_cast<VectorHeader>(*payload).runs};
}

u64 sectors_of(const u64 *payload) {
    u64 sum = 0;
    for (const SectorRun &run : runs_of(payload))
        sum += run.count;
    return sum;
}

u64 least_sectors(const u64 *payload) {
    const auto header = std::bit_cast<VectorHeader>(*payload);
    return std::min(sectors_of(payload),
                    ceil_div<u64>(u64{header.lanes} * header.lane_bytes, sector_bytes));
}

// Appends `count` sectors of the access, from its `first` one on, again from the start after its
// last one.
void append(std::vector<u64> &out, const u64 *payload, u64 first, u64 count) {
    while (count)
        for (const SectorRun &run : runs_of(payload)) {
            const u64 skipped = std::min<u64>(first, run.count);
            const u64 taken = std::min(run.count - skipped, count);
            first -= skipped;
            count -= taken;
            if (taken)
                out.push_back(std::bit_cast<u64>(SectorRun{run.first + skipped, taken}));
        }
}

} // namespace

std::vector<Footprint> footprints(Recorder &recorder, const ProgramFacts &facts) {
    std::vector<Footprint> all(facts.ops.size());
    each_wave(recorder, [&](const WaveTrace &trace, u64) {
        each_payload(trace, facts, [&](u32 n, const u64 *payload) -> u64 {
            Footprint &f = all[n];
            if (facts.payloads[n] == Payload::lds) {
                f.phases += static_cast<u32>(*payload);
                f.conflicts += *payload >> lds_conflicts_at;
            } else if (facts.payloads[n] == Payload::vector) {
                f.sectors += sectors_of(payload);
                f.least_sectors += least_sectors(payload);
                return 1 + runs_of(payload).size();
            }
            return 1;
        });
    });
    return all;
}

void coalesce(Recorder &recorder, const ProgramFacts &facts) {
    each_wave(recorder, [&](WaveTrace &trace, u64 number) {
        std::vector<u64> out, times(facts.ops.size(), number);
        each_payload(trace, facts, [&](u32 n, const u64 *payload) -> u64 {
            if (facts.payloads[n] != Payload::vector) {
                out.push_back(*payload);
                return 1;
            }
            const u64 all = sectors_of(payload), least = least_sectors(payload);
            const size_t header = out.size();
            out.push_back(*payload);
            if (all)
                append(out, payload, times[n]++ * least % all, least);
            auto shorter = std::bit_cast<VectorHeader>(*payload);
            shorter.runs = out.size() - header - 1;
            out[header] = std::bit_cast<u64>(shorter);
            return 1 + runs_of(payload).size();
        });
        trace.payload = std::move(out);
    });
}

} // namespace nw::sim::timing
