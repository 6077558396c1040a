// SPDX-License-Identifier: MIT
// micro_chase: latency of a dependent load by the size of the memory walked through.
#include <fmt/format.h>
#include <numeric>

#include "base/rng.h"
#include "measure/micro/chase.h"
#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/plan.h"

namespace nw::micro {

// A single cycle over all lines (Sattolo's shuffle): no walk falls into a smaller one.
std::vector<u32> next_lines(u32 lines, u64 seed) {
    std::vector<u32> next(lines);
    std::iota(next.begin(), next.end(), 0);
    Rng rng(seed);
    for (u32 i = lines - 1; i > 0; --i)
        std::swap(next[i], next[rng.below(i)]);
    return next;
}

namespace {

std::vector<u32> chain(u32 lines, u64 seed) {
    constexpr u32 dwords = line_bytes / 4;
    const std::vector<u32> next = next_lines(lines, seed);
    std::vector<u32> out(u64{lines} * dwords);
    for (u32 line = 0; line < lines; ++line)
        out[u64{line} * dwords] = next[line] * line_bytes;
    return out;
}

std::vector<Row> run(Modules &modules, const Kernel &kernel, const std::string &name, u64 bytes,
                     const Settings &settings) {
    const u32 lines = static_cast<u32>(bytes / line_bytes);
    const std::vector<u32> content = chain(lines, settings.seed);
    hip::Buffer walk = modules.device().allocate(bytes), end = modules.device().allocate(4);
    walk.upload(content.data(), bytes);
    const hip::Buffer out = modules.device().allocate(clock_bytes(kernel, 1));
    Op op{};
    op.out = address(out.data());
    op.end = address(end.data());
    op.chain = address(walk.data());
    op.passes = settings.passes;
    op.lines = lines;
    launch(modules, kernel, op);
    modules.device().synchronize();
    return {derive(name, clocks_of(out, kernel, 1, settings.passes).front())};
}

} // namespace

std::string chase_name(std::string_view path, u64 bytes) {
    return bytes < 1 << 20 ? fmt::format("chase {}, {} KiB", path, bytes >> 10)
                           : fmt::format("chase {}, {} MiB", path, bytes >> 20);
}

void add_chases(std::vector<Group> &groups, const hip::DeviceInfo &device,
                const Settings &settings) {
    for (const Kernel &kernel : kernels(device.gfx)) {
        if (kernel.family != "micro_chase")
            continue;
        for (u64 bytes = smallest_chase; bytes <= largest_chase; bytes *= 2) {
            const std::string name = chase_name(kernel.param("path"), bytes);
            groups.push_back({std::string(kernel.symbol),
                              {name},
                              [&kernel, name, bytes, settings](Modules &modules) {
                                  return run(modules, kernel, name, bytes, settings);
                              }});
        }
    }
}

} // namespace nw::micro
