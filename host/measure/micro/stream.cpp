// SPDX-License-Identifier: MIT
// micro_stream: how fast all the waves together read, by the host's clock.
#include <algorithm>
#include <fmt/format.h>

#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/plan.h"

namespace nw::micro {

namespace {

struct Shape {
    std::string name;
    u32 groups, row_bytes, stride, times;
};

u64 span(const Kernel &kernel, const Shape &s) {
    return u64{s.groups} * kernel.rows_per_workgroup * s.stride;
}

u64 moved(const Kernel &kernel, const Shape &s) {
    return u64{s.groups} * kernel.rows_per_workgroup * s.row_bytes * s.times;
}

// Milliseconds of each launch but the first, which loads code and pages.
std::vector<f64> times(Modules &modules, const Kernel &kernel, const Shape &s, u32 repeats) {
    const hip::Device &device = modules.device();
    hip::Buffer data = device.allocate(span(kernel, s));
    data.fill(0);
    const hip::Buffer out = device.allocate(4ull * s.groups * kernel.block);
    Op op{};
    op.data = address(data.data());
    op.out = address(out.data());
    op.row_bytes = s.row_bytes;
    op.stride = s.stride;
    op.times = s.times;
    op.workgroups = s.groups;
    const hip::Stream stream = device.stream();
    const hip::Event start = device.event(), stop = device.event();
    std::vector<f64> all;
    for (u32 i = 0; i <= repeats; ++i) {
        device.record(start, stream);
        launch(modules, kernel, op, stream);
        device.record(stop, stream);
        all.push_back(device.elapsed_ms(start, stop));
    }
    return {all.begin() + 1, all.end()};
}

Row row_of(const Shape &s, const char *unit, const std::vector<f64> &values, std::string from) {
    Row row;
    row.name = s.name;
    row.unit = unit;
    row.value = median(values);
    row.low = *std::min_element(values.begin(), values.end());
    row.high = *std::max_element(values.begin(), values.end());
    row.from = std::move(from);
    return row;
}

std::vector<Row> speed(Modules &modules, const Kernel &kernel, const Shape &s, u32 repeats) {
    std::vector<f64> values = times(modules, kernel, s, repeats);
    for (f64 &v : values)
        v = v > 0 ? moved(kernel, s) / v / 1e6 : 0; // 0: the device has no time (HIPSIM_TIMING=off)
    return {row_of(s, "GB/s", values,
                   fmt::format("{:.1f} MB, {} launches", moved(kernel, s) / 1e6, repeats))};
}

std::vector<Row> launch_time(Modules &modules, const Kernel &kernel, const Shape &s, u32 repeats) {
    std::vector<f64> values = times(modules, kernel, s, repeats);
    for (f64 &v : values)
        v *= 1e3;
    return {row_of(s, "us", values, fmt::format("{} launches", repeats))};
}

constexpr u64 unit = 4096; // bytes of a row: a multiple of what any kernel takes at a time

u32 row_bytes(u64 bytes, u64 rows) {
    return static_cast<u32>(std::max(unit, bytes / rows / unit * unit));
}

// One long row per wave: the variables are the number of waves and the bytes in flight of each.
std::vector<Shape> streams(const Kernel &kernel, u32 wgps, u64 bytes) {
    std::vector<Shape> out;
    for (u32 waves : {1, 2, 4, 8}) { // to a SIMD
        const u32 groups = std::max(1u, wgps * 4 * waves / kernel.number("waves"));
        const u32 row = row_bytes(bytes, u64{groups} * kernel.rows_per_workgroup);
        out.push_back({fmt::format("stream {} B in flight, {} wave{} a SIMD",
                                   512 * kernel.number("depth"), waves, waves > 1 ? "s" : ""),
                       groups, row, row, 1});
    }
    return out;
}

// The same bytes repeatedly, from the level that holds them.
std::vector<Shape> again(const Kernel &kernel, u32 wgps) {
    constexpr u32 times = 16;
    std::vector<Shape> out;
    const u32 groups = wgps * 4 * 8 / kernel.number("waves"); // full SIMDs
    for (const u64 size : {8ull << 20, 16ull << 20}) {
        const u64 rows = u64{groups} * kernel.rows_per_workgroup;
        const u32 row = row_bytes(size, rows);
        out.push_back({fmt::format("stream again, {} MiB", size >> 20), groups, row, row, times});
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
                           std::max(groups, 1u), row, row + pad, 1});
        }
    return out;
}

// The same bytes repeatedly from L2: streaming loads bypass the caches before it.
Shape from_l2(const Kernel &kernel, u32 wgps) {
    constexpr u64 size = 1 << 20; // fits any part's L2
    const u32 groups = wgps * 4 * 8 / kernel.number("waves");
    const u32 least = 512 * kernel.number("depth"), rows = groups * kernel.rows_per_workgroup;
    const u32 row = std::max(least, static_cast<u32>(size / rows / least * least));
    return {"stream from L2, 1 MiB", groups, row, row, 256};
}

// Larger than the L0s, smaller than any L2: limited by a shader array's GL1. A WGP has five
// workgroups of eight waves.
Shape from_gl1(u32 wgps) { return {"stream from GL1, 80 KiB a WGP", 5 * wgps, 2048, 2048, 64}; }

// One piece of memory per `stride` bytes: if the stride is a multiple of the channel interleave,
// few DRAM channels hold all pieces.
std::vector<Shape> scan(const Kernel &kernel, u64 bytes) {
    std::vector<Shape> out;
    for (u32 stride = 1024; stride <= 16384; stride *= 2)
        for (u32 pad : {0, 128}) {
            const u64 groups = bytes / stride / kernel.rows_per_workgroup;
            out.push_back({fmt::format("512 B in {}{}", stride, pad ? " + 128" : ""),
                           static_cast<u32>(std::max<u64>(groups, 1)), 512, stride + pad, 1});
        }
    return out;
}

} // namespace

void add_streams(std::vector<Group> &groups, const hip::DeviceInfo &device,
                 const Settings &settings) {
    for (const Kernel &kernel : kernels(device.gfx)) {
        const bool wide = kernel.family == "micro_stream_wide";
        if (kernel.family != "micro_stream" && !wide)
            continue;
        const auto add = [&](const Shape &shape, auto measure) {
            groups.push_back(
                {std::string(kernel.symbol),
                 {shape.name},
                 [&kernel, shape, measure, repeats = settings.repeats](Modules &modules) {
                     return measure(modules, kernel, shape, repeats);
                 }});
        };
        if (wide && kernel.param("policy") == "keep") {
            add(from_gl1(device.wgps), speed);
            continue;
        }
        if (wide) {
            // in flight: the most that the L0s of a WGP allow
            add({"stream of one workgroup, 32 waves", 1, 1 << 18, 1 << 18, 1}, speed);
            continue;
        }
        if (kernel.number("depth") == 1)
            for (const Shape &s : scan(kernel, settings.bytes))
                add(s, speed);
        if (kernel.number("depth") == 4)
            add(from_l2(kernel, device.wgps), speed);
        if (kernel.param("policy") == "keep") {
            for (const Shape &s : again(kernel, device.wgps))
                add(s, speed);
            add({"launch of one workgroup", 1, unit, unit, 1}, launch_time);
            continue;
        }
        for (const Shape &s : kernel.number("rows") == 1
                                  ? streams(kernel, device.wgps, settings.bytes)
                                  : rows(kernel, settings.bytes))
            add(s, speed);
    }
}

} // namespace nw::micro
