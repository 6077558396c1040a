// SPDX-License-Identifier: MIT
// nw isa: every mnemonic that LLVM knows for a gfx, and its state in the simulator.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

#include "base/targets.h"
#include "nw/commands.h"
#include "nw/gfx.h"
#include "sim/func/launch/coverage.h"
#include "sim/isa/gfx10_names.h"

namespace nw::cli {

namespace {

using sim::Coverage;

constexpr std::array states{Coverage::State::exact, Coverage::State::approximate,
                            Coverage::State::open, Coverage::State::missing,
                            Coverage::State::out_of_scope};

struct Options {
    std::string gfx = "gfx1151";
    std::string state; // only these; "" for all
    bool counts = false;
};

std::vector<std::string> state_names() {
    std::vector<std::string> names;
    for (Coverage::State s : states)
        names.emplace_back(sim::name_of(s));
    return names;
}

// As LLVM has it for the gfx.
std::string_view name(const Options &o, const Coverage &c) {
    return target_of(o.gfx).old_names ? sim::name_before_gfx11(c.mnemonic) : c.mnemonic;
}

void list(const Options &o, const std::vector<Coverage> &all) {
    for (const Coverage &c : all)
        if (o.state.empty() || o.state == sim::name_of(c.state))
            fmt::print("{:<36}{}{}{}\n", name(o, c), sim::name_of(c.state),
                       c.remark.empty() ? "" : ": ", c.remark);
}

void summarize(const Options &o, const std::vector<Coverage> &all) {
    fmt::print("{}: {} mnemonics", o.gfx, all.size());
    for (Coverage::State s : states)
        fmt::print(
            ", {} {}",
            std::count_if(all.begin(), all.end(), [&](const Coverage &c) { return c.state == s; }),
            sim::name_of(s));
    fmt::print("\n");
}

void run(const Options &o) {
    check_gfx(o.gfx);
    std::vector<Coverage> all = sim::coverage(o.gfx);
    if (!o.counts)
        list(o, all);
    summarize(o, all);
}

} // namespace

void add_isa(Command &app) {
    auto options = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "isa", "List the instructions of a gfx and how the simulator handles them");
    command.add("--gfx", &options->gfx, "The target", {.show_default = true});
    command.add("--state", &options->state, "List only instructions in this state",
                {.one_of = state_names()});
    command.add("--counts", &options->counts, "Print only the counts, the last line");
    command.footer = "\n  nw isa --gfx gfx1201 --counts\n"
                     "  nw isa --gfx gfx1151 --state open";
    command.run = [options] { run(*options); };
}

} // namespace nw::cli
