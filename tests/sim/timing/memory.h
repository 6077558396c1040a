// SPDX-License-Identifier: MIT
// Requests and streams for the tests of the timing model's memory system.
#pragma once
#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/timing/memory/memory_system.h"

namespace nw::sim::timing {

constexpr u64 memory_start = u64{1} << 40; // addresses of the tests begin here

// Address translation takes no time: for tests of what comes after it.
inline void translate_at_once(Costs &costs) {
    costs.utcl1_latency = costs.utcl2_latency = 0;
    costs.page_walk = 0;
}

struct Translated {
    Part part;
    Costs costs;
    explicit Translated(const Part &p) : part(p), costs(costs_for(p.gfx)) {
        translate_at_once(costs);
    }
    explicit Translated(std::string_view name) : Translated(*find_part(name)) {}
};

// A request of 32 lanes that move `lane_bytes` each, one after another from `address` on.
struct Request {
    u32 cu = 0;
    u64 address = memory_start;
    u32 lane_bytes = 4;
    VectorRequest::Kind kind = VectorRequest::Kind::load;
    VectorRequest::Policy policy = VectorRequest::Policy::normal;
    u32 lanes = 32;
};

inline Answer send(MemorySystem &memory, u64 now, const Request &r) {
    u64 first = r.address / 64, last = (r.address + r.lanes * r.lane_bytes - 1) / 64;
    SectorRun run{first, last - first + 1};
    return memory.vector(now, {r.kind, r.policy, r.cu, r.lanes, r.lane_bytes, {&run, 1}});
}

// One lane's b32, as a pointer chase has it: how long it takes.
inline u64 chase(MemorySystem &memory, u64 &now, u64 address) {
    u64 done = send(memory, now, {.address = address, .lanes = 1}).done;
    return done - std::exchange(now, done);
}

// Waves that load, wait, and load again: wave w's n-th load is at where(w, n). Returns the cycles
// until the last of `loads` per wave has come.
template <class Where>
u64 run_waves(MemorySystem &memory, u32 cus, u32 waves, u32 loads, Request shape, Where where) {
    struct Wave {
        u64 at;
        u32 wave, n;
        bool operator>(const Wave &o) const { return std::tie(at, wave) > std::tie(o.at, o.wave); }
    };
    std::priority_queue<Wave, std::vector<Wave>, std::greater<>> ready;
    for (u32 w = 0; w < waves; ++w)
        ready.push({w / cus, w, 0});
    u64 end = 0;
    while (!ready.empty()) {
        Wave wave = ready.top();
        ready.pop();
        shape.cu = wave.wave % cus;
        shape.address = where(wave.wave, wave.n);
        Answer answer = send(memory, wave.at, shape);
        end = std::max(end, answer.done);
        if (++wave.n < loads)
            ready.push({answer.done, wave.wave, wave.n});
    }
    return end;
}

} // namespace nw::sim::timing
