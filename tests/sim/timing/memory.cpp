// SPDX-License-Identifier: MIT
// The memory model, one request at a time: each level's latency, cache contents and sharing.
#include <doctest/doctest.h>

#include <cmath>

#include "memory.h"

using namespace nw;
using namespace nw::sim::timing;
using Kind = VectorRequest::Kind;
using Policy = VectorRequest::Policy;

namespace {

struct Machine {
    Part part;
    Costs costs;
    MemorySystem memory;
    explicit Machine(std::string_view name)
        : part(Translated(name).part), costs(Translated(name).costs), memory(part, costs) {
        memory.start_kernel();
    }
};

u64 cycles(const Part &part, f64 ns) { return static_cast<u64>(std::ceil(part.cycles_of_ns(ns))); }

// The longest latency of a second pass over `bytes`, line by line: of the level that holds them. A
// smaller one holds some of them, too (T-030).
u64 second_pass(MemorySystem &memory, u64 bytes) {
    u64 now = 0, longest = 0;
    for (u64 at = 0; at < bytes; at += 128)
        chase(memory, now, memory_start + at);
    for (u64 at = 0; at < bytes; at += 128)
        longest = std::max(longest, chase(memory, now, memory_start + at));
    return longest;
}

} // namespace

TEST_CASE("a pointer chase sees each level's latency at the footprint that fits it") {
    for (const Part &part : parts()) {
        INFO(part.name);
        Machine m(part.name);
        const Costs &c = m.costs;
        CHECK(second_pass(m.memory, part.l0_size / 2) == c.l0_latency);
        if (part.gl1_size) {
            m.memory.forget();
            CHECK(second_pass(m.memory, part.gl1_size / 2) == c.gl1_latency);
        }
        m.memory.forget();
        CHECK(second_pass(m.memory, (part.gl1_size + part.l2_size) / 2) == c.l2_latency);
        m.memory.forget();
        f64 beyond = part.mall_size ? part.mall_latency : part.dram_latency;
        CHECK(second_pass(m.memory, part.l2_size * 2) == cycles(part, beyond));
        if (part.mall_size) {
            m.memory.forget();
            CHECK(second_pass(m.memory, part.mall_size * 2ull) == cycles(part, part.dram_latency));
        }
    }
}

// The published chase of an RX 6900 XT, whose L2 has 4096 KiB: ns at 5770, 8453 and 12381 KiB,
// between 86 in L2 and 152 beyond it.
TEST_CASE("a footprint beyond L2 keeps the share of hits that hardware keeps") {
    Machine m("8060S");
    const auto hits_of = [&](f64 footprint) { // in sizes of L2
        m.memory.forget();
        const u64 lines = static_cast<u64>(m.part.l2_size * footprint / 128);
        u64 now = 0, before = 0;
        for (u32 pass = 0; pass < 12; ++pass) {
            before = m.memory.counts().l2.hits;
            for (u64 line = 0; line < lines; ++line)
                chase(m.memory, now, memory_start + line * 128);
        }
        return static_cast<f64>(m.memory.counts().l2.hits - before) / static_cast<f64>(lines);
    };
    for (auto [kib, ns] : {std::pair{5770.0, 123.4}, {8453.0, 136.7}, {12381.0, 146.5}}) {
        INFO(kib);
        const f64 published = (152 - ns) / (152 - 86);
        CHECK(std::fabs(hits_of(kib / 4096) - published) < 0.06);
    }
}

TEST_CASE("wide loads keep the data path longer") {
    Machine m("8060S");
    u64 l0 = m.costs.l0_latency;
    for (u32 bytes : {4u, 8u, 16u}) {
        u64 first = send(m.memory, 0, {.lane_bytes = bytes}).done;
        Answer hit = send(m.memory, first, {.lane_bytes = bytes});
        CHECK(hit.done - first == l0 + bytes / 4 - 1);
        CHECK(hit.free - first == bytes / 4);
        m.memory.start_kernel();
    }
}

TEST_CASE("lanes on many lines are looked up one line after another") {
    Machine m("8060S");
    std::vector<SectorRun> runs;
    for (u64 lane = 0; lane < 32; ++lane)
        runs.push_back({memory_start / 64 + lane * 2, 1});
    VectorRequest request{.runs = runs};
    u64 now = m.memory.vector(0, request).done;
    Answer hit = m.memory.vector(now, request);
    CHECK(hit.free - now == 32);
    CHECK(hit.done - now == m.costs.l0_latency + 31);
}

TEST_CASE("who asks for a line on its way shares its arrival") {
    Machine m("8060S");
    u64 first = send(m.memory, 0, {}).done;
    const Part &part = m.part;
    f64 channel = part.dram_gb_per_s * part.dram_efficiency / part.dram_channels;
    CHECK(first == cycles(part, part.dram_latency + 64 / channel)); // two sectors
    CHECK(send(m.memory, 10, {}).done == first);                    // in L0
    CHECK(send(m.memory, 10, {.cu = 1}).done >= first);             // in GL1
    CHECK(send(m.memory, 10, {.cu = 1}).done <= first + 4);
    CHECK(send(m.memory, 10, {.cu = 39}).done <= first + 4); // in L2
    CHECK(m.memory.counts().dram_read == 128);
    CHECK(m.memory.counts().l0.hits == 4);
    CHECK(m.memory.counts().l0.misses == 6);
}

TEST_CASE("gfx11 returns a CU's loads in order, gfx12 as they come") {
    for (std::string_view name : {"7900 XTX", "8060S", "9070 XT"}) {
        INFO(name);
        Machine m(name);
        u64 now = send(m.memory, 0, {}).done;
        u64 sent = now;
        send(m.memory, sent, {.cu = 1}); // the same line, into another L0
        sent += 2000;
        u64 miss = send(m.memory, sent, {.address = memory_start + (1 << 20)}).done;
        u64 hit = send(m.memory, sent + 4, {}).done,
            other = send(m.memory, sent + 4, {.cu = 1}).done;
        u64 store = send(m.memory, sent + 4, {.kind = Kind::store}).done;
        CHECK(hit == (name == "9070 XT" ? sent + 4 + m.costs.l0_latency : miss));
        CHECK(other == sent + 4 + m.costs.l0_latency);
        CHECK(store < miss);
    }
}

TEST_CASE("streamed data is not kept in L0, GL1 and MALL, and leaves L2 first") {
    Machine m("8060S");
    Request stream{.policy = Policy::stream};
    u64 now = send(m.memory, 0, stream).done;
    CHECK(send(m.memory, 10, stream).done == now); // merged while in flight
    now += 100;
    CHECK(send(m.memory, now, stream).done - now == m.costs.l2_latency);
    m.memory.forget();

    // Twice L2's size streamed by; then 16 times as much read normally.
    u64 kept = m.part.l2_size / 4, past = memory_start + (u64{1} << 30);
    auto sweep = [&](u64 from, u64 bytes, Policy policy, u32 cu = 0) {
        u64 before = m.memory.counts().dram_read;
        for (u64 at = 0; at < bytes; at += 128)
            now = send(m.memory, now, {.cu = cu, .address = from + at, .policy = policy}).done;
        return m.memory.counts().dram_read - before;
    };
    now = 0;
    CHECK(sweep(memory_start, kept, Policy::normal) == kept);
    CHECK(sweep(past, m.part.l2_size * 2, Policy::stream) == m.part.l2_size * 2);
    u64 hits = m.memory.counts().l2.hits;
    sweep(memory_start, kept, Policy::stream, 1);
    CHECK(m.memory.counts().l2.hits - hits == kept / 64);
    m.memory.forget();
    now = 0;
    sweep(memory_start, kept, Policy::normal);
    sweep(past, m.part.l2_size * 16ull, Policy::normal);
    hits = m.memory.counts().l2.hits;
    sweep(memory_start, kept, Policy::stream, 1);
    CHECK(m.memory.counts().l2.hits == hits);
}

TEST_CASE("loads of device scope go to L2") {
    Machine m("8060S");
    for (Policy policy : {Policy::device, Policy::system}) {
        u64 now = send(m.memory, 0, {}).done;
        CHECK(send(m.memory, now, {.policy = policy}).done - now == m.costs.l2_latency);
        m.memory.start_kernel();
    }
}

TEST_CASE("a store is done when L2 has it, and is read back from there") {
    Machine m("8060S");
    Answer store = send(m.memory, 0, {.lane_bytes = 16, .kind = Kind::store});
    CHECK(store.free == 512 / m.costs.store_bytes);
    CHECK(store.done >= m.costs.store_latency);
    CHECK(store.done <= m.costs.store_latency + store.free);
    CHECK(m.memory.counts().dram_read == 0);
    u64 now = 1000;
    CHECK(chase(m.memory, now, memory_start) == m.costs.l2_latency);
    CHECK(m.memory.counts().dram_read == 0);
    CHECK(m.memory.counts().dram_write == 0); // L2 still has it
}

TEST_CASE("what is written reaches DRAM when L2 and MALL have no more room") {
    for (std::string_view name : {"890M", "8060S"}) {
        Machine m(name);
        u64 held = m.part.l2_size + m.part.mall_size, now = 0;
        for (u64 at = 0; at < 2 * held; at += 512)
            now = send(m.memory, now,
                       {.address = memory_start + at, .lane_bytes = 16, .kind = Kind::store})
                      .done;
        CHECK(m.memory.counts().dram_write == held);
        CHECK(m.memory.counts().dram_read == 0);
    }
}

TEST_CASE("a store invalidates GL1's copy; L0 keeps its own") {
    Machine m("8060S");
    u64 now = send(m.memory, 0, {}).done;
    now = send(m.memory, now, {.kind = Kind::store}).done;
    CHECK(chase(m.memory, now, memory_start) == m.costs.l0_latency);
    u64 sent = now;
    CHECK(send(m.memory, sent, {.cu = 1}).done - sent == m.costs.l2_latency);
}

TEST_CASE("atomics are done at L2, lane by lane") {
    Machine m("8060S");
    Request add{.kind = Kind::atomic_return};
    u64 now = send(m.memory, 0, add).done, lanes = 32 / m.costs.atomic_lanes;
    u64 took = send(m.memory, now, add).done - now;
    CHECK(took >= m.costs.l2_latency + m.costs.atomic_latency);
    CHECK(took <= m.costs.l2_latency + m.costs.atomic_latency + lanes + 2);
    CHECK(m.memory.counts().dram_read == 128);
    // A CU that had the line reads it again from L2.
    now += 1000;
    CHECK(chase(m.memory, now, memory_start) == m.costs.l2_latency);
}

TEST_CASE("many atomics on one channel of L2 wait for each other") {
    Machine m("8060S");
    Request add{.kind = Kind::atomic_return};
    u64 now = send(m.memory, 0, add).done, done = 0;
    for (u32 n = 0; n < 1000; ++n)
        done = std::max(done, send(m.memory, now, {.cu = n % 40, .kind = Kind::atomic}).done);
    CHECK(done - now >= 1000 * 32 / m.costs.atomic_lanes);
    CHECK(done - now <= 1000 * 32 / m.costs.atomic_lanes + 3000);
}

TEST_CASE("a kernel begins with empty L0, scalar and GL1 caches; L2 and instructions stay") {
    Machine m("8060S");
    u64 now = 0;
    chase(m.memory, now, memory_start);
    m.memory.scalar(now, 0, memory_start + 4096, 4);
    m.memory.instructions(now, 0, memory_start + 8192);
    m.memory.start_kernel();
    CHECK(m.memory.counts().requests == 0);
    now = 0;
    CHECK(chase(m.memory, now, memory_start) == m.costs.l2_latency);
    u64 scalar = m.memory.scalar(now, 0, memory_start + 4096, 4) - now;
    CHECK(scalar == m.costs.l2_latency - (m.costs.l0_latency - m.costs.scalar_latency));
    CHECK(m.memory.instructions(now, 0, memory_start + 8192) == now);
    CHECK(m.memory.instructions(now, 1, memory_start + 8192) - now == m.costs.instruction_miss);
    m.memory.forget();
    now = 0;
    CHECK(m.memory.instructions(now, 0, memory_start + 8192) > m.costs.instruction_miss);
    now = 10000; // when the channel has long given out the instructions
    CHECK(chase(m.memory, now, memory_start) == cycles(m.part, m.part.dram_latency));
}

TEST_CASE("scalar loads: hits, lines, and the WGP's two CUs share them") {
    Machine m("8060S");
    u64 now = m.memory.scalar(0, 3, memory_start, 64);
    CHECK(m.memory.scalar(now, 3, memory_start + 60, 4) - now == m.costs.scalar_latency);
    CHECK(m.memory.counts().scalar.hits == 1);
    CHECK(m.memory.counts().scalar.misses == 1);
    m.memory.scalar(now, 3, memory_start + 48, 64); // one line more
    CHECK(m.memory.counts().scalar.misses == 2);
    m.memory.scalar(now, 4, memory_start, 4); // another WGP
    CHECK(m.memory.counts().scalar.misses == 3);
}

TEST_CASE("instructions: a line that is there can be issued from at once") {
    Machine m("8060S");
    u64 there = m.memory.instructions(0, 0, memory_start);
    CHECK(there > 400);
    CHECK(m.memory.instructions(10, 0, memory_start + 32) == there); // in flight
    CHECK(m.memory.instructions(there, 0, memory_start + 60) == there);
    u64 size = m.part.instruction_size, now = there;
    for (u64 at = 0; at < size; at += 64)
        now = m.memory.instructions(now, 0, memory_start + at);
    u64 misses = m.memory.counts().instruction.misses;
    for (u64 at = 0; at < size; at += 64)
        CHECK(m.memory.instructions(now, 0, memory_start + at) == now);
    CHECK(m.memory.counts().instruction.misses == misses);
}

TEST_CASE("counts add up") {
    Machine m("8060S");
    u64 now = 0, sectors = 0;
    for (u32 n = 0; n < 5000; ++n) {
        u64 address = memory_start + n * 7919ull % (n % 3 ? 64 : 4096) * 320;
        Request r{.cu = n % 40, .address = address, .lane_bytes = 4u << n % 3};
        sectors += (address + 32 * r.lane_bytes - 1) / 64 - address / 64 + 1;
        now = std::max(now, send(m.memory, n, r).free);
    }
    const MemoryCounts &c = m.memory.counts();
    CHECK(c.requests == 5000);
    CHECK(c.sectors == sectors);
    CHECK(c.l0.hits + c.l0.misses == sectors);
    CHECK(c.gl1.hits + c.gl1.misses == c.l0.misses);
    CHECK(c.l2.hits + c.l2.misses == c.gl1.misses);
    CHECK(c.mall.hits + c.mall.misses == c.l2.misses);
    CHECK(c.dram_read == 64 * c.mall.misses);
    for (const MemoryCounts::Cache &cache : {c.l0, c.gl1, c.l2})
        CHECK(cache.hits > 0);
}

TEST_CASE("the watcher is told the furthest level that answered") {
    struct Watcher : MemoryWatcher {
        std::vector<Level> levels;
        u64 sent = 0, done = 0;
        void answered(u64 s, u64 d, u32, Level level) override {
            levels.push_back(level);
            sent = s;
            done = d;
        }
    } watcher;
    Machine m("8060S");
    m.memory.watch(&watcher);
    u64 now = send(m.memory, 5, {}).done;
    CHECK(watcher.sent == 5);
    CHECK(watcher.done == now);
    now = send(m.memory, now, {}).done;
    now = send(m.memory, now, {.cu = 1}).done;
    now = send(m.memory, now, {.cu = 39}).done;
    m.memory.scalar(now, 0, memory_start, 4);
    using Level = MemoryWatcher::Level;
    CHECK(watcher.levels == std::vector{Level::dram, Level::l0, Level::gl1, Level::l2, Level::gl1});
    m.memory.watch(nullptr);
    send(m.memory, now, {});
    CHECK(watcher.levels.size() == 5);
}

TEST_CASE("the same requests have the same answers, in a second kernel too") {
    auto run = [](MemorySystem &memory) {
        std::vector<u64> answers;
        u64 now = 0;
        for (u32 n = 0; n < 20000; ++n) {
            u64 address = memory_start + n * 2654435761ull % (1 << 26);
            Kind kind = n % 5 == 0 ? Kind::store : n % 11 == 0 ? Kind::atomic : Kind::load;
            Answer a = send(memory, now, {.cu = n % 40, .address = address, .kind = kind});
            answers.insert(answers.end(), {a.free, a.done});
            now += n % 3;
        }
        return answers;
    };
    Machine a("8060S"), b("8060S");
    std::vector<u64> first = run(a.memory);
    CHECK(first == run(b.memory));
    a.memory.forget();
    CHECK(first == run(a.memory));
    a.memory.start_kernel(); // L2 and MALL are warm
    CHECK(first != run(a.memory));
}
