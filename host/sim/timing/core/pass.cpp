// SPDX-License-Identifier: MIT
#include "sim/timing/core/pass.h"

#include <bit>

#include "sim/timing/core/simd.h"

namespace nw::sim::timing {

namespace {

template <class Visit>
void each_request(const ProgramFacts &facts, const WaveTrace &trace, u32 simd, Visit visit) {
    const u64 *payload = trace.payload.data();
    for (const WaveTrace::Run &run : trace.runs)
        for (u32 n = run.first; n < run.first + run.count; ++n)
            switch (facts.payloads[n]) {
            case Payload::none:
            case Payload::end:
                break;
            case Payload::lds:
            case Payload::scalar:
                ++payload;
                break;
            case Payload::vector: {
                const VectorRequest request = vector_request(simd, facts.ops[n], payload);
                visit(request);
                payload += 1 + request.runs.size();
            }
            }
}

} // namespace

// Consecutive workgroups go to different WGPs, as they do when they are played.
void pass_over(const Machine &m, Recorder &recorder, u64 group, u32 waves) {
    const auto wgp = static_cast<u32>(group % m.part.wgps);
    for (u32 n = 0; n < waves; ++n)
        each_request(m.facts, recorder.trace(group, n), wgp * simds_per_wgp + n % simds_per_wgp,
                     [&](const VectorRequest &r) { m.memory.touch(r); });
}

GroupWork work_of(Recorder &recorder, u64 group, u32 waves, const ProgramFacts &facts) {
    GroupWork work{group, recorder.instructions(group)};
    for (u32 n = 0; n < waves; ++n)
        each_request(facts, recorder.trace(group, n), 0, [&](const VectorRequest &r) {
            for (const SectorRun &run : r.runs) {
                work.sectors += run.count;
                work.written += r.kind == VectorRequest::Kind::load ? 0 : run.count;
            }
        });
    return work;
}

} // namespace nw::sim::timing
