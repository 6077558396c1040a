// SPDX-License-Identifier: MIT
// nw constants: the constants of a part in the timing model, and the origin of each value.
#include <fmt/format.h>
#include <memory>

#include "base/error.h"
#include "nw/commands.h"
#include "nw/part.h"
#include "sim/timing/constants/constants_json.h"

namespace nw::cli {

namespace {

using sim::timing::Constant;
using sim::timing::ListedConstant;
using sim::timing::Part;

struct Options {
    std::string part = "8060S", origin, profile; // origin "": all
    bool json = false;
};

// A part by its name, or the default part of a gfx.
Part part_of(const Options &o) {
    if (const Part *part = sim::timing::default_part(o.part))
        return *part;
    return part_of_name(o.part);
}

std::vector<ListedConstant> rows_of(const Options &o, Part part) {
    sim::timing::Costs costs = sim::timing::costs_for(part.gfx);
    if (!o.profile.empty())
        apply_profile(o.profile, part, costs);
    std::vector<ListedConstant> rows = sim::timing::list_constants(part, costs);
    std::erase_if(rows, [&](const ListedConstant &row) {
        return !o.origin.empty() && o.origin != sim::timing::name(row.constant.origin);
    });
    return rows;
}

void print(const std::vector<ListedConstant> &rows) {
    for (const ListedConstant &row : rows) {
        const Constant &c = row.constant;
        const bool known = c.likely.low == c.likely.high;
        const std::string likely =
            known ? "" : fmt::format("{:g} to {:g}", c.likely.low, c.likely.high);
        fmt::print("{:<20} {:>12} {:<8} {:<6} {:<14} {:<6} {}\n", c.name, c.value, c.unit,
                   sim::timing::name(c.origin), likely, c.note, c.what);
    }
}

void run(const Options &o) {
    const Part part = part_of(o);
    const std::vector<ListedConstant> rows = rows_of(o, part);
    if (o.json) {
        fmt::print("{}\n", sim::timing::constants_json(part, rows));
        return;
    }
    fmt::print("{} ({}): fact = published, fit = fitted to published times, guess = neither; both "
               "with their likely range; notes: isa_notes\n",
               part.name, part.gfx);
    print(rows);
}

} // namespace

void add_constants(Command &app) {
    auto options = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "constants", "List the timing model's constants for a part, and their origin");
    command.add("--part", &options->part, "The GPU, or a gfx for its default part",
                {.show_default = true});
    command.add("--origin", &options->origin, "List only constants with this origin",
                {.one_of = {"fact", "fit", "guess"}});
    command.add("--profile", &options->profile, "File of measured constants, as HIPSIM_PROFILE");
    command.add("--json", &options->json,
                "Print JSON, with the likely range and the range that a profile may set");
    command.footer = "\n  nw constants --part \"7900 XTX\"\n"
                     "  nw constants --part gfx1201 --origin guess";
    command.run = [options] { run(*options); };
}

} // namespace nw::cli
