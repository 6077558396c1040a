// SPDX-License-Identifier: MIT
// The memory model under load: bandwidth, requests in flight, queues, and its building blocks.
#include <doctest/doctest.h>

#include <cmath>

#include "memory.h"
#include "sim/timing/core/port.h"
#include "sim/timing/memory/cache.h"

using namespace nw;
using namespace nw::sim::timing;
using Kind = VectorRequest::Kind;
using Policy = VectorRequest::Policy;

namespace {

// GB/s of b128 loads of consecutive 512 bytes by waves_per_cu waves, one load each at a time.
f64 stream(const Part &part, const Costs &costs, u32 waves_per_cu, u32 loads,
           Request shape = {.lane_bytes = 16, .policy = Policy::stream}) {
    MemorySystem memory(part, costs);
    memory.start_kernel();
    u32 waves = part.cus() * waves_per_cu;
    u64 cycles = run_waves(memory, part.cus(), waves, loads, shape, [&](u32 wave, u32 n) {
        return memory_start + (u64{n} * waves + wave) * 512;
    });
    return 512.0 * waves * loads / cycles * part.shader_mhz / 1000;
}

} // namespace

TEST_CASE("a stream reaches the stated DRAM bandwidth when enough is in flight") {
    for (const Part &known : parts()) {
        INFO(known.name);
        auto [part, costs] = Translated(known);
        f64 bound = part.dram_gb_per_s * part.dram_efficiency;
        f64 reached = stream(part, costs, 32, std::max(20u, 40000 / part.cus() / 32));
        CHECK(reached <= bound);
        CHECK(reached >= 0.99 * bound);
    }
}

TEST_CASE("a stream obeys Little's law when little is in flight") {
    for (std::string_view name : {"8060S", "7900 XTX", "890M"}) {
        auto [part, costs] = Translated(name);
        INFO(part.name);
        part.dram_gb_per_s = part.mall_gb_per_s = 1e5; // bandwidth is none
        for (u32 waves : {1u, 2u}) {
            // Both sectors of the last line have come, and the loads' own three cycles on top.
            f64 latency = part.dram_latency + 4 * 1000.0 / part.shader_mhz;
            f64 little = 512.0 * part.cus() * waves / latency;
            f64 reached = stream(part, costs, waves, 200);
            CHECK(reached <= little * 1.02);
            CHECK(reached >= little * 0.97);
        }
    }
}

TEST_CASE("the queue of an L0 caps what its CU can have in flight") {
    auto [part, costs] = Translated("8060S");
    costs.l0_misses = 16; // 1 KiB
    f64 little = 1024.0 * part.cus() / part.dram_latency;
    f64 reached = stream(part, costs, 16, 100);
    CHECK(reached <= little);
    CHECK(reached >= 0.95 * little);
    costs.l0_misses = 8;
    CHECK(stream(part, costs, 16, 100) / reached == doctest::Approx(0.5).epsilon(0.05));
}

TEST_CASE("the queues of L2 cap what the part can have in flight") {
    auto [part, costs] = Translated("8060S");
    costs.l2_misses = 32;
    // A request enters when it has come to L2 and leaves when its data is in the registers.
    f64 way = part.dram_latency - costs.l2_latency * 500.0 / part.shader_mhz;
    f64 little = 64.0 * 32 * part.l2_channels / way;
    f64 reached = stream(part, costs, 16, 100);
    CHECK(reached <= little * 1.01);
    CHECK(reached >= 0.9 * little);
}

TEST_CASE("a full queue holds up the address unit") {
    auto [part, costs] = Translated("8060S");
    costs.l0_misses = 8;
    MemorySystem memory(part, costs);
    memory.start_kernel();
    Answer first = send(memory, 0, {.lane_bytes = 16});
    CHECK(first.free == 4);
    Answer second = send(memory, 4, {.address = memory_start + 512, .lane_bytes = 16});
    CHECK(second.free >= first.done - 20);
    CHECK(send(memory, 4, {.cu = 1, .address = memory_start + 1024}).free < 10);
}

TEST_CASE("streams of writes, once the caches are full, go at DRAM's pace") {
    for (std::string_view name : {"890M", "8060S"}) {
        auto [part, costs] = Translated(name);
        part.mall_size >>= 3; // so that it's full sooner
        INFO(part.name);
        u32 loads = (64u << 20) / 512 / part.cus() / 16;
        f64 reads = stream(part, costs, 16, loads);
        f64 writes = stream(part, costs, 16, loads, {.lane_bytes = 16, .kind = Kind::store});
        f64 kept = 1.0 * (part.l2_size + part.mall_size) / (64 << 20); // written at L2's pace
        CHECK(writes >= reads);
        CHECK(writes <= reads / (1 - kept) * 1.01);
    }
}

TEST_CASE("hits are as fast as L0 and L2 are wide") {
    auto [part, costs] = Translated("8060S");
    MemorySystem memory(part, costs);
    memory.start_kernel();
    u64 now = 0, loads = 1000;
    for (u64 at = 0; at < 16 << 10; at += 512)
        now = send(memory, now, {.address = memory_start + at, .lane_bytes = 16}).done;
    u64 begin = now;
    for (u64 n = 0; n < loads; ++n)
        now = send(memory, now, {.address = memory_start + n * 512 % 16384, .lane_bytes = 16}).free;
    CHECK(now - begin == loads * 512 / costs.l0_bytes);

    // From L2: 1 MiB that no GL1 holds, by all CUs.
    memory.forget();
    auto pass = [&] {
        return run_waves(
            memory, part.cus(), part.cus() * 16, 32, {.lane_bytes = 16, .policy = Policy::device},
            [](u32 wave, u32 n) { return memory_start + (n * 640 + wave) % 2048 * 512; });
    };
    pass();
    memory.start_kernel();
    f64 bytes_per_cycle = 640.0 * 32 * 512 / pass();
    CHECK(bytes_per_cycle <= 1.0 * part.l2_channels * costs.l2_bytes);
    CHECK(bytes_per_cycle >= 0.9 * part.l2_channels * costs.l2_bytes);
    CHECK(memory.counts().l2.misses == 0);
}

TEST_CASE("a port that is idle delays nobody, whatever the order of asking") {
    Port port;
    CHECK(port.reserve(1000000, 640) == 0);
    CHECK(port.reserve(0, 640) == 0); // before
    CHECK(port.reserve(2000000, 640) == 0);
    CHECK(port.reserve(500000, 640) == 0);
}

TEST_CASE("a port gives out its time once") {
    for (u32 work : {100u, 1000u, 10000u}) {
        Port port;
        u64 end = 0;
        for (u32 n = 0; n < 1000; ++n)
            end = std::max(end, work + port.reserve(0, work));
        CHECK(end == 1000 * work);
        CHECK(port.reserve(end + Port::slot_ticks, work) == 0);
    }
    // Half the time is taken: work of the other half waits no longer than a slot or two.
    Port port;
    for (u32 n = 0; n < 1000; ++n)
        port.reserve(n * Port::slot_ticks, Port::slot_ticks / 2);
    for (u32 n = 0; n < 1000; ++n)
        CHECK(port.reserve(n * Port::slot_ticks, Port::slot_ticks / 2) <= Port::slot_ticks / 2);
    CHECK(port.reserve(0, 1) == 1000 * Port::slot_ticks);
}

TEST_CASE("a queue lets in as many as it has entries") {
    Queue queue(3);
    for (u64 until : {100, 50, 70}) {
        CHECK(queue.enter(5, 1) == 5);
        queue.leave(until, 1);
    }
    CHECK(queue.enter(5, 1) == 100);
    CHECK(queue.enter(200, 1) == 200);
    queue.leave(300, 1);
    CHECK(queue.enter(5, 2) == 70);
    CHECK(queue.enter(5, 3) == 300);
}

TEST_CASE("a cache evicts what was used longest ago, and says what was dirty") {
    Cache cache(4 * line_bytes, 4); // one set
    for (u64 line : {10, 11, 12, 13}) {
        CHECK(cache.use(line) == 0);
        CHECK(cache.fill(line, 3, line == 11 ? 2 : 0).dirty == 0);
    }
    CHECK(cache.use(10) == 3);
    cache.use(20);
    Cache::Evicted evicted = cache.fill(20, 1);
    CHECK(evicted.line == 11);
    CHECK(evicted.dirty == 2);
    CHECK(cache.use(20) == 1);
    cache.fill(20, 2); // the other half
    CHECK(cache.use(20) == 3);
    CHECK(cache.use(11) == 0);
    cache.drop(10);
    CHECK(cache.use(10) == 0);
    CHECK(cache.fill(30, 1).dirty == 0); // into the place of 10
    CHECK(cache.use(12) == 3);
    cache.clear();
    CHECK(cache.use(12) == 0);
    CHECK(!Cache(0, 16).exists());
    CHECK(Cache(0, 16).fill(5, 3, 3).dirty == 3); // nothing to hold it
}

TEST_CASE("the middle's age goes before what was there") {
    Cache cache(4 * line_bytes, 4);
    for (u64 line : {10, 11}) {
        cache.use(line);
        cache.fill(line, 3);
    }
    for (u64 line = 100; line < 200; ++line) {
        cache.use(line);
        cache.fill(line, 3, 0, Cache::Age::middle);
    }
    CHECK(cache.use(10) == 3);
    CHECK(cache.use(11) == 3);
}
