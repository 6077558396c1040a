// SPDX-License-Identifier: MIT
// micro_lanes: LDS and the cache beside the lanes, under patterns of addresses.
#include <fmt/format.h>

#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/patterns.h"
#include "measure/micro/plan.h"

namespace nw::micro {

namespace {

constexpr const char *busy_pattern = "stride 32"; // each lane takes its own cycle
constexpr u32 data_bytes = 16384; // holds every address of a pattern, and 16 bytes more

// "load" and "store" are timed under every pattern, what waits for each access only packed.
bool under_patterns(const std::string &op) { return op == "load" || op == "store"; }

std::string full_name(const Kernel &kernel, std::string op) {
    const std::string memory = kernel.param("space") == "lds" ? "ds" : "global";
    const u32 width = kernel.number("width");
    for (const char *access : {"load", "store"})
        if (const auto at = op.find(access); at != std::string::npos)
            op.replace(at, std::strlen(access), fmt::format("{}_{}_b{}", memory, access, width));
    if (op.starts_with("atomic"))
        op.replace(0, 6, "global_atomic_add_u32");
    for (const auto &[from, to] : {std::pair{"_wait", ">wait"}, {"_issued", " issued"}})
        if (const auto at = op.find(from); at != std::string::npos)
            op.replace(at, std::strlen(from), to);
    return op;
}

struct Wanted {
    std::string name;
    u32 section;
};

std::vector<Wanted> wanted(const Kernel &kernel, const Pattern &pattern, bool first) {
    std::vector<Wanted> out;
    u32 section = 0;
    for (const std::string &op : words(kernel.param("ops"))) {
        if (under_patterns(op))
            out.push_back({full_name(kernel, op) + ", " + pattern.name, section});
        else if (first)
            out.push_back({full_name(kernel, op), section});
        ++section;
    }
    return out;
}

std::vector<Row> run(Modules &modules, const Kernel &kernel, const Pattern &pattern,
                     const std::vector<Wanted> &rows_wanted, u32 passes) {
    const u32 sections = static_cast<u32>(words(kernel.param("ops")).size());
    hip::Buffer at = modules.device().allocate(sizeof pattern.at);
    at.upload(pattern.at.data(), sizeof pattern.at);
    hip::Buffer data = modules.device().allocate(data_bytes);
    data.fill(0);
    const hip::Buffer out = modules.device().allocate(clock_bytes(kernel, sections));
    Op op{};
    op.out = address(out.data());
    op.at = address(at.data());
    op.data = address(data.data());
    op.passes = passes;
    op.sections = sections;
    op.data_bytes = data_bytes;
    launch(modules, kernel, op);
    modules.device().synchronize();
    const std::vector<Clocks> all = clocks_of(out, kernel, sections, passes);
    std::vector<Row> rows;
    for (const Wanted &w : rows_wanted)
        rows.push_back(derive(w.name, all[w.section]));
    return rows;
}

} // namespace

void add_lanes(std::vector<Group> &groups, const hip::DeviceInfo &device,
               const Settings &settings) {
    for (const Kernel &kernel : kernels(device.gfx)) {
        const bool queues = kernel.family == "micro_queues";
        if (kernel.family != "micro_lanes" && !queues)
            continue;
        bool first = true;
        for (const Pattern &pattern : patterns(kernel.number("width"))) {
            if (queues && pattern.name != busy_pattern)
                continue;
            const std::vector<Wanted> rows = wanted(kernel, pattern, first);
            first = false;
            Group group{fmt::format("{}, {}", kernel.symbol, pattern.name), {}, {}};
            for (const Wanted &w : rows)
                group.names.push_back(w.name);
            group.run = [&kernel, pattern, rows, passes = settings.passes](Modules &modules) {
                return run(modules, kernel, pattern, rows, passes);
            };
            groups.push_back(std::move(group));
        }
    }
}

} // namespace nw::micro
