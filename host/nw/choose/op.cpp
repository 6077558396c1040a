// SPDX-License-Identifier: MIT
#include "nw/choose/op.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>

#include "base/terminal.h"
#include "measure/on_cores.h"
#include "measure/op_clock.h"
#include "measure/op_text.h"
#include "nw/choose/launches.h"
#include "nw/choose/row.h"

namespace nw::cli {

namespace {

struct Options {
    std::string gfx = "gfx1151", kind;
    std::vector<std::string> values;
    bool json = false, verbose = false;
};

std::vector<const Kernel *> launches_of(const Plan &plan) {
    std::vector<const Kernel *> out;
    plan.each_kernel([&](const Kernel &k) { out.push_back(&k); });
    return out;
}

void print(const Options &o, const OpTime &time) {
    const std::vector<const Kernel *> launches = launches_of(time.plan);
    fmt::print(heading_style(), "{}", time.plan.kernel->symbol);
    fmt::print("\n");
    row("for", fmt::format("{} {}, on {}", o.kind, fmt::join(o.values, " "), o.gfx));
    if (launches.size() > 1) {
        std::vector<std::string_view> names;
        for (const Kernel *kernel : launches)
            names.push_back(kernel == time.plan.kernel ? "this kernel" : kernel->symbol);
        row("launches", fmt::format("{}", fmt::join(names, ", then ")));
    }
    row("time", fmt::format("{:.2f} us (sim), {:.1f} GB/s", time.us,
                            static_cast<f64>(time.bytes) / time.us / 1e3));
    if (time.plan.workspace_bytes)
        row("workspace", fmt::format("{} bytes", time.plan.workspace_bytes));
    if (o.verbose)
        print_resources(launches);
}

nlohmann::json to_json(const Options &o, const OpTime &time) {
    return {{"kernel", time.plan.kernel->symbol},
            {"gfx", o.gfx},
            {"op", o.kind},
            {"time_us", time.us},
            {"bytes", time.bytes},
            {"workspace_bytes", time.plan.workspace_bytes},
            {"launches", launches_json(launches_of(time.plan))}};
}

void run(const Options &o) {
    const OpTime time = time_op(model_device("sim:" + o.gfx, 1), parse_op(o.kind, o.values));
    if (o.json)
        fmt::print("{}\n", to_json(o, time).dump(1));
    else
        print(o, time);
}

} // namespace

void add_choose_op(Command &choose) {
    auto o = std::make_shared<Options>();
    Command &command = choose.add_subcommand(
        "op", "Show the kernels for an op and its time, with operands in the caches where the "
              "previous launch left them: nw choose op rms_norm y_type=f32 m=1 k=4096 eps=1e-6");
    command.add("KIND", &o->kind, "One of " + kind_names(), {.required = true});
    command.add("NAME=VALUE", &o->values, "Sizes and values, named as in the contracts");
    command.add("--gfx", &o->gfx, "The target", {.show_default = true});
    command.add("--json", &o->json, "Print JSON");
    command.add("-v,--verbose", &o->verbose, "Also print registers, LDS and occupancy");
    command.footer = ""; // not that of products
    command.run = [o] { run(*o); };
}

} // namespace nw::cli
