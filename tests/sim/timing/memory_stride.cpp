// SPDX-License-Identifier: MIT
// Rows with a power-of-two stride: few DRAM channels on gfx1151, all of them elsewhere (T-018).
#include <doctest/doctest.h>

#include <set>

#include "memory.h"
#include "sim/timing/memory/channels.h"

using namespace nw;
using namespace nw::sim::timing;

namespace {

u32 channels_hit(const Part &part, u64 stride, u64 piece) {
    Channels channels(part.dram_channels, part.dram_interleave, part.dram_channel_hash());
    std::set<u32> hit;
    for (u64 row = 0; row < 4096; ++row)
        for (u64 at = 0; at < piece; at += 128)
            hit.insert(channels.of((memory_start + row * stride + at) / 128));
    return hit.size();
}

// GB/s of all waves of the part reading 256 bytes of a row each, all at the same column.
f64 lockstep(std::string_view name, u64 stride) {
    const auto [part, costs] = Translated(name);
    MemorySystem memory(part, costs);
    memory.start_kernel();
    u32 waves = part.cus() * 16, steps = stride / 256 * 8;
    Request shape{.lane_bytes = 8, .policy = VectorRequest::Policy::stream};
    u64 end = 0;
    for (u32 step = 0; step < steps; ++step) { // nobody begins a step before all ended the last
        u64 begin = end;
        for (u32 wave = 0; wave < waves; ++wave) {
            u64 row = u64{step / static_cast<u32>(stride / 256)} * waves + wave;
            shape.cu = wave % part.cus();
            shape.address = memory_start + row * stride + step % (stride / 256) * 256;
            end = std::max(end, send(memory, begin, shape).done);
        }
    }
    return 256.0 * waves * steps / end * part.shader_mhz / 1000;
}

} // namespace

TEST_CASE("consecutive blocks use every channel equally, on every part") {
    for (const Part &part : parts()) {
        INFO(part.name);
        Channels channels(part.dram_channels, part.dram_interleave, part.dram_channel_hash());
        std::vector<u32> hits(part.dram_channels);
        u64 lines = u64{part.dram_channels} * part.dram_interleave / 128; // a run of blocks
        for (u64 line = 0; line < 64 * lines; ++line)
            ++hits[channels.of(u64{1000} * lines + line)];
        CHECK(std::set(hits.begin(), hits.end()).size() == 1);
    }
}

TEST_CASE("rows 4096 bytes apart are in few channels of gfx1151, in all of gfx1150") {
    const Part &halo = *find_part("8060S"), &point = *find_part("890M");
    CHECK(channels_hit(halo, 4096, 256) == 1);
    CHECK(channels_hit(halo, 2048, 256) == 2);
    CHECK(channels_hit(halo, 8192, 1024) == 4);
    for (u64 stride : {1024u, 2048u, 4096u, 8192u}) {
        CHECK(channels_hit(halo, stride + 128, 256) == halo.dram_channels);
        CHECK(channels_hit(point, stride, 256) == point.dram_channels);
        CHECK(channels_hit(point, stride + 128, 256) == point.dram_channels);
    }
}

TEST_CASE(
    "waves in lockstep over such rows are slow on gfx1151, and 128 bytes of padding cure it") {
    for (u64 stride : {2048u, 4096u}) {
        INFO("stride ", stride);
        CHECK(lockstep("8060S", stride + 128) / lockstep("8060S", stride) > 2);
        CHECK(lockstep("890M", stride + 128) / lockstep("890M", stride) < 1.1); // nothing to cure
    }
    // Rows of 1792 bytes are no multiple of 2048.
    CHECK(lockstep("8060S", 1792 + 128) / lockstep("8060S", 1792) ==
          doctest::Approx(1).epsilon(0.1));
}
