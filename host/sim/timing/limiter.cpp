// SPDX-License-Identifier: MIT
#include "sim/timing/limiter.h"

#include <algorithm>
#include <numeric>

namespace nw::sim::timing {

namespace {

constexpr f64 busy_enough = 0.6;

} // namespace

Utilization utilization(const Result &r, const Part &part) {
    if (r.cycles == 0)
        return {};
    const f64 cycles = static_cast<f64>(r.cycles), simds = static_cast<f64>(r.simds);
    const auto share = [&](u64 busy, f64 units) { return static_cast<f64>(busy) / cycles / units; };
    Utilization u;
    u.valu = share(r.busy.valu + r.busy.wmma, simds);
    u.wmma = share(r.busy.wmma, simds);
    u.trans = share(r.busy.trans, simds);
    u.salu = share(r.busy.salu, simds);
    u.lds = share(r.busy.lds, simds / 2);
    const f64 bytes_per_cycle = part.dram_gb_per_s * 1000 / part.shader_mhz;
    u.dram = (r.dram_read + r.dram_write) / cycles / bytes_per_cycle;
    return u;
}

std::string limiter(const Result &r, const Part &part) {
    const Utilization u = utilization(r, part);
    const std::pair<f64, const char *> shares[] = {{u.dram, "dram"}, {u.wmma, "wmma"},
                                                   {u.valu, "valu"}, {u.trans, "trans"},
                                                   {u.lds, "lds"},   {u.salu, "salu"}};
    const auto most = *std::max_element(std::begin(shares), std::end(shares),
                                        [](auto a, auto b) { return a.first < b.first; });
    if (most.first >= busy_enough)
        return most.second;
    const auto stalled = [&](Stall s) { return r.stalls[static_cast<size_t>(s)]; };
    const u64 barrier = stalled(Stall::barrier),
              valu = stalled(Stall::valu) + stalled(Stall::valu_queue),
              memory = stalled(Stall::wait_load) + stalled(Stall::wait_scalar) +
                       stalled(Stall::wait_store) + stalled(Stall::counter);
    if (barrier > std::max(valu, memory))
        return "barrier";
    return valu > memory ? "valu latency" : "memory latency";
}

f64 fetch_share(const Result &r) {
    const u64 stalled = std::accumulate(r.stalls.begin(), r.stalls.end(), u64{0});
    return stalled ? static_cast<f64>(r.stalls[static_cast<size_t>(Stall::fetch)]) /
                         static_cast<f64>(stalled + r.insts)
                   : 0;
}

} // namespace nw::sim::timing
