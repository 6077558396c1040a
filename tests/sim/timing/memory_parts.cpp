// SPDX-License-Identifier: MIT
// Modelled bandwidth of each part's memory, level by level, against the published figures.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include "memory.h"

using namespace nw;
using namespace nw::sim::timing;
using Policy = VectorRequest::Policy;

namespace {

constexpr u32 waves_per_cu = 32; // each with 512 bytes in flight

// GB/s of b128 loads by all CUs, one after another over `bytes`, of the last of `passes`; counts
// are of that pass.
f64 stream(const Part &part, const Costs &costs, u64 bytes, u32 passes, Policy policy,
           MemoryCounts *counts = nullptr) {
    MemorySystem memory(part, costs);
    u32 waves = part.cus() * waves_per_cu;
    u32 loads = std::max<u64>(16, bytes / 512 / waves);
    u64 cycles = 0;
    while (passes--) {
        memory.start_kernel();
        cycles = run_waves(memory, part.cus(), waves, loads, {.lane_bytes = 16, .policy = policy},
                           [&](u32 wave, u32 n) {
                               u64 at = (u64{n} * waves + wave) * 512;
                               return memory_start + at % bytes;
                           });
    }
    if (counts)
        *counts = memory.counts();
    return 512.0 * waves * loads / cycles * part.shader_mhz / 1000;
}

// GB/s of L0 hits: every CU reads its own 16 KiB again and again.
f64 from_l0(const Part &part, const Costs &costs) {
    MemorySystem memory(part, costs);
    memory.start_kernel();
    u32 waves = part.cus() * waves_per_cu, loads = 1000;
    u64 cycles = run_waves(memory, part.cus(), waves, loads, {.lane_bytes = 16}, [&](u32 w, u32 n) {
        return memory_start + u64{w % part.cus()} * 16384 + (w / part.cus() + n) % 32 * 512;
    });
    return 512.0 * waves * loads / cycles * part.shader_mhz / 1000;
}

} // namespace

TEST_CASE("each part's streams, level by level") {
    fmt::print("{:10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7}   GB/s in the model\n", "part", "L0",
               "L2", "MALL", "DRAM", "stated", "of it");
    for (const Part &known : parts()) {
        INFO(known.name);
        auto [part, costs] = Translated(known);
        f64 l0 = from_l0(part, costs);
        f64 l2 = stream(part, costs, part.l2_size / 2, 2, Policy::device);
        f64 mall = 0;
        if (part.mall_size) { // what L2 kept of it (T-030) isn't MALL's
            MemoryCounts counts;
            mall = stream(part, costs, part.mall_size / 2, 2, Policy::device, &counts);
            mall *= 1.0 * counts.l2.misses / (counts.l2.hits + counts.l2.misses);
        }
        f64 dram = stream(part, costs, 32 << 20, 1, Policy::stream);
        fmt::print("{:10} {:8.0f} {:8.0f} {:8.0f} {:8.1f} {:8.0f} {:6.1f}%\n", part.name, l0, l2,
                   mall, dram, part.dram_gb_per_s, 100 * dram / part.dram_gb_per_s);

        f64 l0_peak = 1.0 * part.cus() * costs.l0_bytes * part.shader_mhz / 1000;
        f64 l2_peak = 1.0 * part.l2_channels * costs.l2_bytes * part.shader_mhz / 1000;
        f64 fill_peak = 1.0 * part.cus() * costs.fill_bytes * part.shader_mhz / 1000;
        CHECK(l0 <= l0_peak);
        CHECK(l0 >= 0.9 * l0_peak);
        CHECK(l2 <= std::min(l2_peak, fill_peak));
        CHECK(l2 >= 0.8 * std::min(l2_peak, fill_peak));
        if (part.mall_size) {
            CHECK(mall <= part.mall_gb_per_s);
            CHECK(mall >= 0.9 * part.mall_gb_per_s);
            CHECK(l2 > mall);
            CHECK(mall > dram);
        }
        CHECK(dram <= part.dram_gb_per_s * part.dram_efficiency);
        CHECK(dram >= 0.98 * part.dram_gb_per_s * part.dram_efficiency);
    }
}
