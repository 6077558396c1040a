// SPDX-License-Identifier: MIT
// micro_stream: how fast all the waves together read, by the host's clock.
#include <algorithm>
#include <fmt/format.h>

#include "micro/derive.h"
#include "micro/launch.h"
#include "micro/plan.h"

namespace nw::micro {

namespace {

struct Shape {
    std::string name;
    u32 groups, row_bytes, stride;
};

u64 span(const Kernel &kernel, const Shape &s) {
    return u64{s.groups} * kernel.rows_per_workgroup * s.stride;
}

u64 moved(const Kernel &kernel, const Shape &s) {
    return u64{s.groups} * kernel.rows_per_workgroup * s.row_bytes;
}

std::vector<Row> run(Modules &modules, const Kernel &kernel, const Shape &s, u32 repeats) {
    const hip::Device &device = modules.device();
    hip::Buffer data = device.allocate(span(kernel, s));
    data.fill(0);
    const hip::Buffer out = device.allocate(4ull * s.groups * kernel.block);
    const Arguments arguments = Arguments(kernel)
                                    .set("data", data)
                                    .set("out", out)
                                    .set("row_bytes", s.row_bytes)
                                    .set("stride", s.stride);
    const hip::Stream stream = device.stream();
    const hip::Event start = device.event(), stop = device.event();
    std::vector<f64> speeds; // GB/s
    for (u32 i = 0; i <= repeats; ++i) {
        device.record(start, stream);
        device.launch(modules.function(kernel), s.groups, kernel.block, 0, arguments.bytes(),
                      stream);
        device.record(stop, stream);
        const f64 ms = device.elapsed_ms(start, stop);
        if (i > 0) // the first loads code and pages
            speeds.push_back(ms > 0 ? moved(kernel, s) / ms / 1e6 : 0);
    }
    Row row;
    row.name = s.name;
    row.unit = "GB/s";
    row.value = median(speeds);
    row.low = *std::min_element(speeds.begin(), speeds.end());
    row.high = *std::max_element(speeds.begin(), speeds.end());
    row.from = fmt::format("{:.1f} MB, {} launches", moved(kernel, s) / 1e6, repeats);
    return {row};
}

// One long row to a wave: what counts is how many waves there are and how much each has in flight.
std::vector<Shape> streams(const Kernel &kernel, u32 wgps, u64 bytes) {
    std::vector<Shape> out;
    for (u32 waves : {1, 2, 4, 8}) { // to a SIMD
        const u32 groups = wgps * 4 * waves / kernel.number("waves");
        if (groups == 0)
            continue;
        const u64 unit = 4096; // a multiple of what any kernel takes at a time
        const u32 row = static_cast<u32>(
            std::max(unit, bytes / (u64{groups} * kernel.rows_per_workgroup) / unit * unit));
        out.push_back({fmt::format("stream {} B in flight, {} wave{} a SIMD",
                                   512 * kernel.number("depth"), waves, waves > 1 ? "s" : ""),
                       groups, row, row});
    }
    return out;
}

// Rows as a matrix-vector product reads them: many short ones, at a stride that may be a power of
// two.
std::vector<Shape> rows(const Kernel &kernel, u64 bytes) {
    std::vector<Shape> out;
    for (u32 row : {1024, 2048, 3072, 4096, 6144, 8192})
        for (u32 pad : {0, 128}) {
            const u32 groups = static_cast<u32>(bytes / row / kernel.rows_per_workgroup);
            out.push_back({fmt::format("rows of {} B{}", row, pad ? " + 128" : ""),
                           std::max(groups, 1u), row, row + pad});
        }
    return out;
}

} // namespace

void add_streams(std::vector<Group> &groups, const hip::DeviceInfo &device,
                 const Settings &settings) {
    for (const Kernel &kernel : kernels()) {
        if (kernel.gfx != device.gfx || kernel.family != "micro_stream")
            continue;
        const bool one_row = kernel.number("rows") == 1;
        for (const Shape &shape : one_row ? streams(kernel, device.compute_units, settings.bytes)
                                          : rows(kernel, settings.bytes))
            groups.push_back({std::string(kernel.symbol),
                              {shape.name},
                              [&kernel, shape, repeats = settings.repeats](Modules &modules) {
                                  return run(modules, kernel, shape, repeats);
                              }});
    }
}

} // namespace nw::micro
