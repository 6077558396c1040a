// SPDX-License-Identifier: MIT
// micro_walk: dependent loads of distant lines, warm or cold: the cost of address translation and
// of DRAM's open rows.
#include <algorithm>
#include <fmt/format.h>

#include "measure/micro/chase.h"
#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/plan.h"

namespace nw::micro {

namespace {

struct Walk {
    std::string name;
    u32 lines;
    u64 stride;  // bytes from line to line; a line's place in its `stride` varies
    bool before; // all lines are read before the first pass
    bool shuffled;
    bool exact = false; // all at the start of their `stride`: in few sets of a cache
};

u64 span(const Walk &w) { return w.lines * w.stride; }

// Lines of any stride are spread over the sets of a cache, unless `exact`.
u32 place(const Walk &w, u32 line) {
    if (w.exact)
        return static_cast<u32>(line * w.stride);
    return static_cast<u32>(line * w.stride + line / 4 * line_bytes % w.stride);
}

std::vector<u32> order_of(const Walk &w, u64 seed) {
    if (w.shuffled)
        return next_lines(w.lines, seed);
    std::vector<u32> next(w.lines);
    for (u32 i = 0; i < w.lines; ++i)
        next[i] = (i + 1) % w.lines;
    return next;
}

// Evicts the lines from the caches.
void evict(Modules &modules, const hip::Buffer &other) {
    for (const Kernel &kernel : kernels(modules.device().info().gfx))
        if (kernel.family == "micro_stream" && kernel.param("policy") == "keep") {
            constexpr u32 row_bytes = 32768;
            Op op{};
            op.workgroups = static_cast<u32>(other.size() / row_bytes / kernel.rows_per_workgroup);
            const hip::Buffer out = modules.device().allocate(4ull * op.workgroups * kernel.block);
            op.data = address(other.data());
            op.out = address(out.data());
            op.row_bytes = row_bytes;
            op.stride = row_bytes;
            op.times = 1;
            launch(modules, kernel, op);
            modules.device().synchronize();
            return;
        }
}

std::vector<Row> run(Modules &modules, const Kernel &kernel, const Walk &walk,
                     const Settings &settings) {
    const hip::Device &device = modules.device();
    hip::Buffer chain = device.allocate(span(walk)), end = device.allocate(4);
    const std::vector<u32> next = order_of(walk, settings.seed);
    for (u32 line = 0; line < walk.lines; ++line) {
        const u32 to = place(walk, next[line]);
        chain.upload(&to, sizeof to, place(walk, line));
    }
    if (!walk.before) {
        hip::Buffer other = device.allocate(settings.bytes);
        other.fill(0);
        evict(modules, other);
    }
    const hip::Buffer out = device.allocate(clock_bytes(kernel, 1));
    Op op{};
    op.out = address(out.data());
    op.end = address(end.data());
    op.chain = address(chain.data());
    op.chain_bytes = span(walk);
    op.passes = settings.passes;
    op.before = walk.before ? walk.lines : 0;
    launch(modules, kernel, op);
    device.synchronize();
    return {derive(walk.name, clocks_of(out, kernel, 1, settings.passes).front())};
}

std::string size_name(u64 bytes) {
    return bytes >= 1 << 20   ? fmt::format("{} MiB", bytes >> 20)
           : bytes >= 1 << 10 ? fmt::format("{} KiB", bytes >> 10)
                              : fmt::format("{} B", bytes);
}

// Few lines fit L0 at any addresses: their extra time over adjacent lines is translation. Cold
// lines come from DRAM: adjacent ones share rows and pages.
std::vector<Walk> walks() {
    constexpr u64 most = 512ull << 20;
    constexpr u32 cold_lines = 2048; // more than all passes read: none is read twice
    std::vector<Walk> out;
    for (const u64 stride : {128ull, 4096ull, 65536ull, 2048ull << 10})
        for (const u32 lines : {16u, 64u, 256u, 1024u})
            if (lines * stride <= most)
                out.push_back({fmt::format("walk {} lines, {} apart", lines, size_name(stride)),
                               lines, stride, true, true});
    // one set of an L0 of 32 ways
    for (const u32 lines : {12u, 24u, 48u, 96u})
        out.push_back(
            {fmt::format("walk {} lines, just 1 KiB apart", lines), lines, 1024, true, true, true});
    for (const u64 stride : {128ull, 1024ull, 4096ull, 65536ull})
        out.push_back({fmt::format("walk cold, in turn, {} apart", size_name(stride)), cold_lines,
                       stride, false, false});
    for (const u64 stride : {128ull, 4096ull, 65536ull})
        out.push_back({fmt::format("walk cold, {} apart", size_name(stride)), cold_lines, stride,
                       false, true});
    return out;
}

} // namespace

void add_walks(std::vector<Group> &groups, const hip::DeviceInfo &device,
               const Settings &settings) {
    for (const Kernel &kernel : kernels(device.gfx)) {
        if (kernel.family != "micro_walk")
            continue;
        for (const Walk &walk : walks())
            groups.push_back({std::string(kernel.symbol),
                              {walk.name},
                              [&kernel, walk, settings](Modules &modules) {
                                  return run(modules, kernel, walk, settings);
                              }});
    }
}

} // namespace nw::micro
