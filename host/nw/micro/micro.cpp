// SPDX-License-Identifier: MIT
// nw micro: measures single instructions, memory and streams, on a card or the simulated GPU.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/pattern.h"
#include "base/progress.h"
#include "base/writable.h"
#include "measure/micro/plan.h"
#include "measure/micro/report.h"
#include "nw/commands.h"
#include "nw/micro/all.h"
#include "nw/micro/fit.h"
#include "nw/micro/model.h"
#include "nw/micro/own.h"
#include "nw/part.h"
#include "sim/timing/constants/constants_json.h"

namespace nw::cli {

namespace {

using micro::Group, micro::Row;

struct Options {
    std::string device, only, json;
    std::string fit, profile, part; // of --fit: the card's rows, the output, the part
    std::string html;
    bool list = false, constants = false, all = false;
    OwnOptions own;
    std::optional<u32> passes, repeats;
    std::optional<u64> mib;
};

bool any(const Group &group, const Pattern &only) {
    for (const std::string &name : group.names)
        if (only.found_in(name))
            return true;
    return false;
}

micro::Settings settings(const Options &o, const hip::DeviceInfo &device) {
    micro::Settings s = micro::settings_for(device);
    s.passes = o.passes.value_or(s.passes);
    s.repeats = o.repeats.value_or(s.repeats);
    if (o.mib)
        s.bytes = *o.mib << 20;
    return s;
}

void print_row(const Row &row, std::size_t width) {
    const std::string spread = fmt::format("{:.2f} .. {:.2f}", row.low, row.high);
    fmt::print("{:<{}} {:>10.2f} {:<6} {:>22}  {}\n", row.name, width, row.value, row.unit, spread,
               row.from);
}

std::vector<Row> measure(const std::vector<Group> &groups, const Pattern &only, Modules &modules) {
    std::vector<Row> rows;
    std::size_t width = 0;
    for (const Group &group : groups)
        for (const std::string &name : group.names)
            width = std::max(width, name.size());
    fmt::print("{:<{}} {:>10} {:<6} {:>22}  {}\n", "measurement", width, "median", "",
               "lowest .. highest", "from");
    Progress progress(groups.size());
    for (const Group &group : groups) {
        progress.show(group.title);
        const std::vector<Row> measured = group.run(modules);
        progress.advance(1);
        progress.clear();
        for (const Row &row : measured)
            if (only.found_in(row.name)) {
                print_row(row, width);
                rows.push_back(row);
            }
        std::fflush(stdout);
    }
    return rows;
}

void run(const Options &o) {
    const hip::Device device(o.device, "timing=on");
    const Pattern only("--only", o.only);
    std::vector<Group> groups = micro::plan(device.info(), settings(o, device.info()));
    std::erase_if(groups, [&](const Group &group) { return !any(group, only); });
    if (groups.empty())
        throw Error(fmt::format("--only {}: no measurement's name matches on {}; --list shows them",
                                o.only, device.info().gfx));
    if (o.list) {
        for (const Group &group : groups)
            for (const std::string &name : group.names)
                if (only.found_in(name))
                    fmt::print("{}\n", name);
        return;
    }
    if (!device.info().note.empty())
        fmt::print("{}\n", device.info().note);
    fmt::print("nw micro on {}\n", device.info().label);
    Modules modules(device);
    const u64 bytes = settings(o, device.info()).bytes;
    micro::Report report{
        device.info().label, device.info().gfx, device.info().simulated, bytes, {}};
    report.rows = measure(groups, only, modules);
    if (!o.json.empty())
        micro::write_report(o.json, report);
}

// Each constant with the row that determines it, or why none does.
void print_constants(const Options &o) {
    const sim::timing::Part &part = part_of_name(o.part.empty() ? "8060S" : o.part);
    const sim::timing::Costs costs = sim::timing::costs_for(part.gfx);
    std::map<std::string_view, std::string> rows;
    const std::vector<Told> all = told(part);
    for (const Told &t : all)
        rows[t.constant] = t.row;
    fmt::print("Constants of {} ({}), and the row of nw micro that determines each\n", part.name,
               part.gfx);
    for (const sim::timing::ListedConstant &listed : sim::timing::list_constants(part, costs)) {
        const sim::timing::Constant &c = listed.constant;
        const std::string likely = c.likely.low == c.likely.high
                                       ? ""
                                       : fmt::format("{:g} to {:g}", c.likely.low, c.likely.high);
        const auto row = rows.find(c.name);
        fmt::print("{:<22} {:>11g} {:<8} {:<5} {:<16} {}\n", c.name, c.value, c.unit,
                   sim::timing::name(c.origin), likely,
                   row != rows.end() ? "<- " + row->second
                                     : fmt::format("-- {}", why_untold(c.name)));
    }
}

// The part that the card's label names, else the default part of its gfx.
const sim::timing::Part &part_of(const Options &o, const micro::Report &card) {
    if (!o.part.empty())
        return part_of_name(o.part);
    const sim::timing::Part *part = sim::timing::default_part(card.gfx);
    if (!part)
        throw Error(fmt::format("{}: no part has its gfx {}", o.fit, card.gfx));
    for (const sim::timing::Part &named : sim::timing::parts())
        if (named.gfx == card.gfx && card.device.find(named.name) != std::string::npos)
            part = &named;
    return *part;
}

std::vector<std::string> all_names(const std::string &gfx) {
    hip::DeviceInfo device;
    device.gfx = gfx;
    device.wgps = 1; // doesn't affect the names
    std::vector<std::string> names;
    for (const Group &group : micro::plan(device, {}))
        names.insert(names.end(), group.names.begin(), group.names.end());
    return names;
}

void print_fit(const Fit &fit) {
    fmt::print("{:<18} {:>10} {:>10}  {:<42} {:>10} {:>10}\n", "constant", "before", "after", "row",
               "card", "model");
    for (const Fitted &f : fit.constants)
        fmt::print("{:<18} {:>10.5g} {:>10.5g}  {:<42} {:>10.5g} {:>10.5g}{}{}\n", f.told.constant,
                   f.before, f.after, f.told.row, f.card, f.model,
                   f.why.empty() ? "" : "  kept: ", f.why);
    fmt::print("\nkept, as no measurement determines them: {}\n", fmt::join(fit.untold, ", "));
    if (!fit.unknown.empty())
        fmt::print("unknown rows: {}\n", fmt::join(fit.unknown, "; "));
}

void run_fit(const Options &o) {
    const micro::Report card = micro::read_report(o.fit);
    const sim::timing::Part &part = part_of(o, card);
    const std::string path =
        o.profile.empty() ? std::filesystem::path(o.fit).replace_extension(".profile.json").string()
                          : o.profile;
    need_writable(path);
    fmt::print("nw micro --fit: the model of {} ({}) to the rows of {}\n", part.name, part.gfx,
               card.device);
    Progress progress(most_rounds);
    const Measure model = on_model(part, card.bytes);
    const Measure shown = [&](const sim::timing::Profile &profile,
                              const std::vector<std::string> &names) {
        progress.show(fmt::format("{} rows on the model", names.size()));
        progress.advance(1);
        return model(profile, names);
    };
    const Fit done = fit(card, part, shown, all_names(card.gfx));
    progress.clear();
    print_fit(done);
    sim::timing::write_profile(path, done.profile);
    fmt::print("written to {}: HIPSIM_PROFILE={} loads it\n", path, path);
}

constexpr const char *footer = R"(
A measurement runs code between two reads of the shader clock: once empty, once with few repetitions of an
instruction, once with many. The value is the slope between few and many, in cycles, which excludes the
fixed cost; JSON has that as `offset`, and the raw clocks. The host times streams, in GB/s.

  a>b    a, then b, which reads a's result          a+b  a, then b, independent
  dependent, independent   repetitions that read the previous result, and ones that don't
  v_add_f32x7 issued, done  seven dependent ones, until the last has issued or its result is ready
  chase  a pointer chase through that much memory
  walk   dependent loads at that distance: of lines read before (address translation), of cold lines (DRAM rows)
  rows   short rows as decode kernels read them, without and with padding
  start, kernel after kernel, node after node, copy   workgroups, launches, graphs and copies, by events

  nw micro                                    all, on the card, or on the model if there is none
  nw micro --device sim:gfx1201 --only wmma   some, on the model of another GPU
  nw micro --json card.json                   keeps all raw values
  nw micro 'v_dot2_f32_bf16 v0, v1, v2, v0' --with 'v_exp_f32 v3, v4'    your own instruction, beside
                                              another one
  nw micro --all --device sim:gfx1201 --html gfx1201.html    a table of all instructions, a minute
  nw micro --constants --part "7900 XTX"      the measurement that determines each constant of the model
  nw micro --fit card.json                    fits the model's constants to the card's rows and writes
                                              card.profile.json, for HIPSIM_PROFILE)";

} // namespace

void add_micro(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "micro", "Measure instructions, memory and streams with the shader clock");
    command.footer = footer;
    command.add(
        "instruction", &o->own.line,
        "An instruction of VALU or SALU to measure instead, with registers v0 to v63, s2 to "
        "s63, as in 'v_fma_f32 v0, v1, v2, v3'");
    command.add("--latency", &o->own.latency,
                "Only its latency: each reads what the one before wrote",
                {.needs = {"instruction"}});
    command.add("--throughput", &o->own.throughput, "Only its throughput: independent copies",
                {.needs = {"instruction"}});
    command.add("--with", &o->own.with,
                "Also in turn with these, each alone: what collides with it",
                {.needs = {"instruction"}});
    command.add(
        "--all", &o->all,
        "Every instruction of VALU and SALU that the target has: latency, throughput, unit, "
        "and what each number comes from",
        {.excludes = {"instruction", "--list", "--passes", "--repeats", "--mib", "--fit",
                      "--constants", "--part"}});
    command.add("--html", &o->html, "Write the table of --all to this page",
                {.writable_file = true, .needs = {"--all"}});
    command.add("--device", &o->device, "auto, hip:N, sim:gfx1151 (default: NIBBLEWAVE_DEVICE)");
    command.add("--only", &o->only,
                "Only measurements, or instructions, whose name matches this regular expression");
    command.add("--list", &o->list, "Print the names only");
    command.add("--json", &o->json,
                "Write the rows with raw clocks, or the table of --all, to this file",
                {.writable_file = true});
    command.add("--passes", &o->passes,
                "Repetitions of each code sequence, 1..32 (default: 16, simulated 6)");
    command.add("--repeats", &o->repeats, "Repetitions of each stream (default: 5, simulated 1)");
    command.add("--mib", &o->mib,
                "MiB that a stream reads; a pointer chase uses half (default: 512, simulated 64)",
                {.range = {1, 4096}});
    command.add("--fit", &o->fit, "Fit the model to the rows of this file, written with --json",
                {.excludes = {"--json", "--only", "--list", "--device"}});
    command.add("--profile", &o->profile, "Write the profile to this file",
                {.writable_file = true, .needs = {"--fit"}});
    command.add("--constants", &o->constants,
                "Print the model's constants and the measurement that determines each");
    command.add("--part", &o->part, "The part to fit or to print, as in 8060S");
    command.run = [o] {
        if (o->all)
            return measure_all({o->device, o->only, o->json, o->html});
        if (!o->own.line.empty())
            return measure_own(o->own, o->device);
        if (o->constants)
            return print_constants(*o);
        if (!o->part.empty() && o->fit.empty())
            throw Error("--part goes with --fit and --constants; --device sim:GFX?part=NAME "
                        "measures a modelled part");
        o->fit.empty() ? run(*o) : run_fit(*o);
    };
}

} // namespace nw::cli
