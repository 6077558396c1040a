// SPDX-License-Identifier: MIT
// micro_start, by events: the rate at which workgroups start, and the gaps between kernels, nodes
// of a graph and copies. Each is the slope between few and many, which excludes the host's time.
#include <algorithm>
#include <fmt/format.h>
#include <functional>

#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/plan.h"

namespace nw::micro {

namespace {

using Work = std::function<void(const hip::Stream &)>;

// Microseconds between two events around the work, of each repeat but the first.
std::vector<f64> times(const hip::Device &device, u32 repeats, const Work &work) {
    const hip::Stream stream = device.stream();
    const hip::Event start = device.event(), stop = device.event();
    std::vector<f64> all;
    for (u32 i = 0; i <= repeats; ++i) {
        device.record(start, stream);
        work(stream);
        device.record(stop, stream);
        all.push_back(1e3 * device.elapsed_ms(start, stop));
    }
    return {all.begin() + 1, all.end()};
}

Row row_of(const std::string &name, const char *unit, std::vector<f64> values, std::string from) {
    Row row;
    row.name = name;
    row.unit = unit;
    row.value = median(values);
    row.low = *std::ranges::min_element(values);
    row.high = *std::ranges::max_element(values);
    row.from = std::move(from);
    return row;
}

// (many - few) / steps of each repeat.
std::vector<f64> slope(const std::vector<f64> &few, const std::vector<f64> &many, f64 steps) {
    std::vector<f64> out;
    for (u64 i = 0; i < few.size(); ++i)
        out.push_back((many[i] - few[i]) / steps);
    return out;
}

// ---- workgroups

void start(Modules &modules, const Kernel &kernel, u32 workgroups, const hip::Buffer &out,
           const hip::Stream &stream) {
    Op op{};
    op.out = address(out.data());
    op.workgroups = workgroups;
    launch(modules, kernel, op, stream);
}

std::string start_name(const Kernel &kernel) {
    if (kernel.number("lds"))
        return "start after an end, of one place";
    const u32 waves = kernel.number("waves");
    return fmt::format("start of a workgroup, {} wave{}", waves, waves > 1 ? "s" : "");
}

// Nanoseconds per workgroup; with LDS for four workgroups on a WGP, per workgroup slot.
std::vector<Row> start_rate(Modules &modules, const Kernel &kernel, const Settings &settings) {
    const hip::Device &device = modules.device();
    const u32 places = kernel.number("lds") ? 4 * device.info().wgps : 1;
    const u32 unit = kernel.number("lds") ? places : 512, few = 8 * unit, many = 64 * unit;
    const hip::Buffer out = device.allocate(4);
    const auto timed = [&](u32 workgroups) {
        return times(device, settings.repeats, [&](const hip::Stream &stream) {
            start(modules, kernel, workgroups, out, stream);
        });
    };
    const std::vector<f64> least = timed(few), most = timed(many);
    return {row_of(start_name(kernel), "ns", slope(least, most, (many - few) / 1e3 / places),
                   fmt::format("({} workgroups - {})", many, few))};
}

// ---- kernels and nodes of graphs

constexpr u32 few_kernels = 4, many_kernels = 36;

struct Kernels {
    Modules &modules;
    const Kernel &kernel; // one wave
    const Settings &settings;
    hip::Buffer out;

    void one(const hip::Stream &stream) const { start(modules, kernel, 1, out, stream); }
    void chain(u32 count, const hip::Stream &stream) const {
        for (u32 i = 0; i < count; ++i)
            one(stream);
    }
    // Each on a stream of its own, which begins and ends with `stream`.
    void fork(u32 count, const hip::Stream &stream, const std::vector<hip::Stream> &side,
              const std::vector<hip::Event> &ends) const {
        const hip::Device &device = modules.device();
        device.record(ends[count], stream);
        for (u32 i = 0; i < count; ++i) {
            device.wait(side[i], ends[count]);
            one(side[i]);
            device.record(ends[i], side[i]);
            device.wait(stream, ends[i]);
        }
    }
};

std::vector<Row> gaps(const Kernels &k) {
    const hip::Device &device = k.modules.device();
    const u32 repeats = k.settings.repeats;
    constexpr f64 steps = many_kernels - few_kernels;
    const auto queued = [&](u32 count) {
        return times(device, repeats, [&](const hip::Stream &s) { k.chain(count, s); });
    };
    const auto as_graph = [&](const std::function<void(const hip::Stream &)> &queue) {
        const hip::Stream stream = device.stream();
        const hip::Graph graph = device.capture(stream, [&] { queue(stream); });
        return times(device, repeats, [&](const hip::Stream &s) { device.launch(graph, s); });
    };
    std::vector<hip::Stream> side;
    std::vector<hip::Event> ends;
    for (u32 i = 0; i <= many_kernels; ++i) {
        side.push_back(device.stream());
        ends.push_back(device.event());
    }
    const auto chained = [&](u32 count) {
        return as_graph([&](const hip::Stream &s) { k.chain(count, s); });
    };
    const auto forked = [&](u32 count) {
        return as_graph([&](const hip::Stream &s) { k.fork(count, s, side, ends); });
    };
    k.one({}); // loads the code
    device.synchronize();
    const std::string slopes = fmt::format("({} - {}) / {}", many_kernels, few_kernels, steps);
    const std::vector<f64> single = chained(1);
    return {
        row_of("kernel after kernel", "us", slope(queued(few_kernels), queued(many_kernels), steps),
               slopes),
        row_of("graph of one kernel", "us", single, fmt::format("{} launches", repeats)),
        row_of("node after node", "us", slope(chained(few_kernels), chained(many_kernels), steps),
               slopes),
        row_of("node beside node", "us", slope(forked(few_kernels), forked(many_kernels), steps),
               slopes),
    };
}

// ---- copies

constexpr u64 little = 4096, much = 16ull << 20;

std::vector<Row> copies(Modules &modules, const Settings &settings) {
    const hip::Device &device = modules.device();
    const hip::Buffer a = device.allocate(much), b = device.allocate(much);
    const hip::HostBuffer host = device.allocate_host(much), other = device.allocate_host(much);
    const hip::Stream side = device.stream();
    const auto timed = [&](const Work &work) { return times(device, settings.repeats, work); };
    const auto rate = [&](const char *name, f64 sides, const std::function<Work(u64)> &copy) {
        std::vector<f64> us = slope(timed(copy(much / 4)), timed(copy(much)), 0.75);
        for (f64 &v : us)
            v = v > 0 ? sides * much / v / 1e3 : 0;
        return row_of(name, "GB/s", us,
                      fmt::format("(16 MiB - 4 MiB), {} times", settings.repeats));
    };
    const auto in = [&](u64 bytes) -> Work {
        return [&, bytes](const hip::Stream &s) { device.copy(a, host, bytes, s); };
    };
    const auto out = [&](u64 bytes) -> Work {
        return [&, bytes](const hip::Stream &s) { device.copy(host, a, bytes, s); };
    };
    const auto within = [&](u64 bytes) -> Work {
        return [&, bytes](const hip::Stream &s) { device.copy(b, a, bytes, s); };
    };
    const auto both = [&](u64 bytes) -> Work {
        return [&, bytes](const hip::Stream &s) {
            const hip::Event begin = device.event(), end = device.event();
            device.record(begin, s);
            device.wait(side, begin);
            device.copy(a, host, bytes, s);
            device.copy(other, b, bytes, side);
            device.record(end, side);
            device.wait(s, end);
        };
    };
    return {row_of("copy in, 4 KiB", "us", timed(in(little)),
                   fmt::format("{} times", settings.repeats)),
            rate("copy in", 1, in), rate("copy out", 1, out), rate("copy in and out", 2, both),
            rate("copy within, read and written", 2, within)};
}

} // namespace

void add_launches(std::vector<Group> &groups, const hip::DeviceInfo &device,
                  const Settings &settings) {
    for (const Kernel &kernel : kernels(device.gfx)) {
        if (kernel.family != "micro_start")
            continue;
        groups.push_back(
            {std::string(kernel.symbol), {start_name(kernel)}, [&kernel, settings](Modules &m) {
                 return start_rate(m, kernel, settings);
             }});
        if (kernel.number("waves") == 1 && !kernel.number("lds"))
            groups.push_back({"kernels and graphs",
                              {"kernel after kernel", "graph of one kernel", "node after node",
                               "node beside node"},
                              [&kernel, settings](Modules &m) {
                                  return gaps({m, kernel, settings, m.device().allocate(4)});
                              }});
    }
    groups.push_back({"copies",
                      {"copy in, 4 KiB", "copy in", "copy out", "copy in and out",
                       "copy within, read and written"},
                      [settings](Modules &m) { return copies(m, settings); }});
}

} // namespace nw::micro
