// SPDX-License-Identifier: MIT
// When a memory instruction may issue, and what it asks of LDS and the caches.
#include "sim/timing/core/simd.h"

#include <bit>

#include "sim/timing/memory/memory_units.h"

namespace nw::sim::timing {

void Core::prepare_memory(TimedWave &w, const OpFacts &f) {
    settle(w);
    if (w.last_execution)
        need(w, w.last_execution + c_.valu_to_memory, Stall::valu);
    for (const auto &r : f.sgpr_reads)
        for (u32 n = 0; n < r.count; ++n)
            need(w, std::max(w.sgpr[r.first + n], w.sgpr_for_valu[r.first + n]), Stall::scalar);
    if (w.earlier && f.unit == Unit::vmem && f.returns)
        need(w, w.earlier->arrival(f), Stall::wait_load);
    const u32 limits[] = {c_.load_counter, c_.store_counter, c_.lds_counter, c_.scalar_counter};
    for (size_t n = 0; n < std::size(limits); ++n)
        if (f.issues.on[n])
            need(w, w.flights[n].at_most(limits[n] - 1), Stall::counter);
}

u64 Core::scalar_load(const Simd &simd, TimedWave &w, u64 now) {
    const auto p = std::bit_cast<ScalarPayload>(*w.reader.payload());
    w.reader.skip_payload(1);
    const u32 bytes = static_cast<u32>(p.bytes);
    last_answer.bytes = bytes;
    const u64 done = bytes ? m_.memory.scalar(now, simd.number / simds_per_wgp, p.address, bytes)
                           : now + c_.scalar_latency;
    InFlight &flights = w.flights[static_cast<int>(Counter::smem)];
    flights.retire(now);
    flights.push(std::max(done, flights.last()));
    return done;
}

VectorRequest vector_request(u32 simd, const OpFacts &f, const u64 *payload) {
    const auto header = std::bit_cast<VectorHeader>(*payload);
    VectorRequest request;
    request.kind =
        f.atomic  ? (f.returns ? VectorRequest::Kind::atomic_return : VectorRequest::Kind::atomic)
        : f.store ? VectorRequest::Kind::store
                  : VectorRequest::Kind::load;
    request.policy = f.policy;
    request.cu = simd / 2;
    request.lanes = static_cast<u32>(header.lanes);
    request.lane_bytes = static_cast<u32>(header.lane_bytes);
    static_assert(sizeof(SectorRun) == sizeof(u64));
    request.runs = {reinterpret_cast<const SectorRun *>(payload + 1), header.runs};
    return request;
}

u64 Core::memory(Simd &simd, TimedWave &w, const OpFacts &f, u64 now) {
    const auto header = std::bit_cast<VectorHeader>(*w.reader.payload());
    const VectorRequest request = vector_request(simd.number, f, w.reader.payload());
    ComputeUnit &cu = cus_[simd.number / 2];
    const u64 sent = std::max(now + c_.vmem_execution, cu.address_sent);
    cu.address_sent = sent + c_.vmem_address + !f.saddr + f.data_dwords;
    for (const auto &r : f.vgpr_reads)
        for (u32 n = 0; n < r.count; ++n)
            w.vgpr_read[r.first + n] = cu.address_sent + c_.vmem_read;
    if (f.data_dwords)
        w.data_sent = cu.address_sent;
    u64 done = now + 1;
    if (header.runs) {
        const Answer answer = m_.memory.vector(sent - c_.vmem_execution, request);
        cu.address_free = answer.free;
        done = answer.done;
        ++result.busy.vmem;
        for (const SectorRun &run : m_.watcher ? request.runs : std::span<const SectorRun>())
            last_answer.bytes += static_cast<u32>(run.count) * sector_bytes;
    }
    if (header.lds_phases) { // of flat addresses
        cu.lds_free = std::max(cu.lds_free, now) + header.lds_phases;
        done = std::max(done, cu.lds_free + c_.lds_latency - 1);
    }
    w.reader.skip_payload(1 + header.runs);
    for (size_t n = 0; n < static_cast<size_t>(Counter::count); ++n)
        if (f.issues.on[n]) {
            w.flights[n].retire(now);
            w.flights[n].push(std::max(done, w.flights[n].last()));
        }
    return done;
}

u64 Core::lds(Simd &simd, TimedWave &w, const OpFacts &f, u64 now) {
    const u64 payload = *w.reader.payload();
    const u64 conflicts = m_.changes.no_bank_conflicts ? 0 : payload >> lds_conflicts_at;
    const u64 phases = static_cast<u32>(payload) - (payload >> lds_conflicts_at) + conflicts;
    w.reader.skip_payload(1);
    ComputeUnit &cu = cus_[simd.number / 2];
    cu.lds_free = std::max(cu.lds_free, now) + phases;
    result.busy.lds += phases;
    result.busy.lds_conflicts += conflicts;
    const u32 latency = f.store ? c_.lds_store_latency : c_.lds_latency;
    InFlight &flights = w.flights[static_cast<int>(Counter::lds)];
    flights.retire(now);
    const u64 done = std::max(std::max(cu.lds_free, now + 1) - 1 + latency, flights.last());
    flights.push(done);
    return done;
}

} // namespace nw::sim::timing
