// SPDX-License-Identifier: MIT
// micro_clock*: straight-line code, each step by itself.
#include <fmt/format.h>

#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/plan.h"

namespace nw::micro {

namespace {

std::vector<std::string> names_of(const Kernel &kernel) {
    const u32 waves = kernel.number("waves");
    std::vector<std::string> names;
    for (const std::string &op : words(kernel.param("ops")))
        for (const std::string &form : words(kernel.param("forms")))
            names.push_back(fmt::format("{}{}{}{}", kernel.param("set") == "vopd" ? "v_dual " : "",
                                        op, form == "each" ? "" : " " + form,
                                        waves > 1 ? fmt::format(", {} waves", waves) : ""));
    return names;
}

// All waves run the same code; the first one's record is read.
std::vector<Row> run(Modules &modules, const Kernel &kernel, const std::vector<std::string> &names,
                     u32 passes) {
    const u32 sections = static_cast<u32>(names.size());
    const hip::Buffer out =
        modules.device().allocate(clock_bytes(kernel, sections) * kernel.number("waves"));
    Op op{};
    op.out = address(out.data());
    op.passes = passes;
    op.sections = sections;
    launch(modules, kernel, op);
    modules.device().synchronize();
    std::vector<Row> rows;
    for (const Clocks &clocks : clocks_of(out, kernel, sections, passes))
        rows.push_back(derive(names[rows.size()], clocks));
    return rows;
}

} // namespace

void add_clocks(std::vector<Group> &groups, const hip::DeviceInfo &device,
                const Settings &settings) {
    for (const Kernel &kernel : kernels(device.gfx)) {
        if (kernel.family.substr(0, 11) != "micro_clock")
            continue;
        const std::vector<std::string> names = names_of(kernel);
        groups.push_back({std::string(kernel.symbol), names,
                          [&kernel, names, passes = settings.passes](Modules &modules) {
                              return run(modules, kernel, names, passes);
                          }});
    }
}

} // namespace nw::micro
