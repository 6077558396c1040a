// SPDX-License-Identifier: MIT
// Address translation: who waits for a page, and how long (T-031).
#include <doctest/doctest.h>

#include <cmath>

#include "memory.h"

using namespace nw;
using namespace nw::sim::timing;

namespace {

constexpr u64 page = u64{2} << 20;

struct Machine {
    Part part = *find_part("7900 XTX");
    Costs costs = costs_for(part.gfx);
    MemorySystem memory{part, costs};
    u64 now = 0;

    Machine() { memory.start_kernel(); }
    // How long a load takes by this CU of a line that no cache has, of a page beyond what it takes
    // translated.
    u64 extra(u32 cu, u64 address) {
        const u64 done = send(memory, now, {.cu = cu, .address = address, .lanes = 1}).done;
        const u64 took = done - std::exchange(now, done + 10000);
        return took - cycles(part.dram_latency);
    }
    u64 cycles(f64 ns) const { return static_cast<u64>(std::ceil(part.cycles_of_ns(ns))); }
    u64 walk() const { return static_cast<u64>(part.cycles_of_ns(costs.page_walk) + 0.5); }
};

} // namespace

TEST_CASE("the first use of a page pays for the walk, the first of an array and of a CU less") {
    Machine m;
    u64 at = memory_start;
    const auto next = [&] { return at += 128; };
    CHECK(m.extra(0, next()) == m.costs.utcl2_latency + m.walk());
    CHECK(m.extra(0, next()) == 0);
    CHECK(m.extra(1, next()) == m.costs.utcl1_latency);
    CHECK(m.extra(1, next()) == 0);
    CHECK(m.extra(m.part.cus() - 1, next()) == m.costs.utcl2_latency);
    CHECK(m.extra(0, at + page) == m.costs.utcl2_latency + m.walk());
}

TEST_CASE("CUs that use a new page at the same time share its walk") {
    Machine m;
    const u64 first = send(m.memory, 0, {.lanes = 1}).done,
              other = send(m.memory, 5, {.cu = 1, .address = memory_start + 4096, .lanes = 1}).done,
              far = send(m.memory, 5, {.cu = 95, .address = memory_start + 8192, .lanes = 1}).done;
    CHECK(other == first);
    CHECK(far == first);
}

TEST_CASE("a chase over more pages than UTCL0 has pays UTCL1's latency, over fewer nothing") {
    Machine m;
    const auto longest = [&](u32 pages) {
        m.memory.forget();
        m.now = 0;
        u64 found = 0;
        for (u32 pass = 0; pass < 2; ++pass)
            for (u32 n = 0; n < pages; ++n) {
                const u64 extra = m.extra(0, memory_start + n * page + pass * 4096);
                found = pass ? std::max(found, extra) : 0;
            }
        return found;
    };
    CHECK(longest(m.costs.utcl0_entries) == 0);
    CHECK(longest(m.costs.utcl0_entries + 1) == m.costs.utcl1_latency);
    CHECK(longest(m.costs.utcl1_entries + 1) == m.costs.utcl2_latency);
}

// Published chases of MALL on a 7900 XTX take 150.3 ns as vector and 128.4 ns as scalar loads.
// Their footprint, beyond L2, has more pages than UTCL0.
TEST_CASE("7900 XTX: a chase over MALL pays its published latencies") {
    Machine m;
    for (u64 at = 0; at < 40 * page; at += 64)
        m.now = send(m.memory, m.now, {.address = memory_start + at, .lanes = 1}).done;
    m.memory.start_kernel();
    m.now = 0;
    for (u64 n = 0; n < 12; ++n) { // L2 has none of these any more
        const u64 at = memory_start + n * page;
        CHECK(chase(m.memory, m.now, at) == 376);
        const u64 sent = std::exchange(m.now, m.memory.scalar(m.now, 0, at + 4096, 4));
        CHECK(m.now - sent == 321);
    }
}

TEST_CASE("translations outlive a kernel; after others' data only UTCL2 has them") {
    Machine m;
    m.extra(0, memory_start);
    m.memory.start_kernel();
    m.now = 0;
    CHECK(m.extra(0, memory_start + 128) == 0);
    m.memory.forget_data();
    m.now = 0;
    CHECK(m.extra(0, memory_start + 256) == m.costs.utcl2_latency);
    CHECK(m.extra(0, memory_start + 5 * page) == m.costs.utcl2_latency);
    m.memory.forget();
    m.now = 0;
    CHECK(m.extra(0, memory_start + 384) == m.costs.utcl2_latency + m.walk());
}

TEST_CASE("scalar loads and instructions share a UTCL0 of their own; warm code is translated") {
    Machine m;
    const u64 cold = m.memory.scalar(0, 0, memory_start, 4);
    const u64 sooner = m.costs.l0_latency - m.costs.scalar_latency;
    CHECK(cold == m.cycles(m.part.dram_latency) - sooner + m.costs.utcl2_latency + m.walk());
    m.now = 20000;
    CHECK(m.extra(0, memory_start + 4096) == m.costs.utcl1_latency);
    const u64 fetched = m.memory.instructions(50000, 0, memory_start + 8192) - 50000;
    CHECK(fetched < m.cycles(m.part.dram_latency));
    m.memory.warm_code(memory_start + 9 * page, 64);
    CHECK(m.memory.instructions(60000, 0, memory_start + 9 * page) == 60000);
    m.now = 70000;
    CHECK(m.memory.scalar(m.now, 0, memory_start + 9 * page + 4096, 4) - m.now ==
          m.cycles(m.part.dram_latency) - sooner);
}
