// SPDX-License-Identifier: MIT
// nw micro: what single instructions, memory and streams take, on a card or on the simulated one.
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <regex>
#include <unistd.h>

#include "base/error.h"
#include "cli/commands.h"
#include "micro/plan.h"
#include "micro/report.h"

namespace nw::cli {

namespace {

using micro::Group, micro::Row;

struct Options {
    std::string device, only, json;
    bool list = false;
    std::optional<u32> passes;
    std::optional<u64> mib;
    u32 repeats = 5;
};

// A line on the terminal that the next one replaces; nothing where stderr is a file.
class Progress {
public:
    explicit Progress(u64 total) : total_(total), terminal_(isatty(STDERR_FILENO)) {}
    ~Progress() { clear(); }
    void show(const std::string &what) {
        ++done_;
        if (terminal_)
            fmt::print(stderr, "\r\033[K[{}/{}] {}", done_, total_, what);
    }
    void clear() const {
        if (terminal_)
            fmt::print(stderr, "\r\033[K");
    }

private:
    u64 total_, done_ = 0;
    bool terminal_;
};

std::regex pattern(const std::string &text) {
    try {
        return std::regex(text);
    } catch (const std::regex_error &error) {
        throw Error(fmt::format("--only {}: not a regular expression ({})", text, error.what()));
    }
}

bool any(const Group &group, const std::regex &only) {
    for (const std::string &name : group.names)
        if (std::regex_search(name, only))
            return true;
    return false;
}

micro::Settings settings(const Options &o, const hip::DeviceInfo &device) {
    micro::Settings s;
    s.passes = o.passes.value_or(device.simulated ? 6 : 16);
    s.repeats = o.repeats;
    if (device.simulated) { // its time does not vary, and ours is dear
        s.repeats = 1;
        s.bytes = 64ull << 20;
    }
    if (o.mib)
        s.bytes = *o.mib << 20;
    s.largest_chase = std::max(s.bytes / 2, u64{1} << 20);
    return s;
}

void print_row(const Row &row, std::size_t width) {
    const std::string spread = fmt::format("{:.2f} .. {:.2f}", row.low, row.high);
    fmt::print("{:<{}} {:>10.2f} {:<6} {:>22}  {}\n", row.name, width, row.value, row.unit, spread,
               row.from);
}

std::vector<Row> measure(const std::vector<Group> &groups, const std::regex &only,
                         Modules &modules) {
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
        progress.clear();
        for (const Row &row : measured)
            if (std::regex_search(row.name, only)) {
                print_row(row, width);
                rows.push_back(row);
            }
        std::fflush(stdout);
    }
    return rows;
}

void run(const Options &o) {
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    const hip::Device device(o.device);
    const std::regex only = pattern(o.only);
    std::vector<Group> groups = micro::plan(device.info(), settings(o, device.info()));
    std::erase_if(groups, [&](const Group &group) { return !any(group, only); });
    if (groups.empty())
        throw Error(fmt::format("--only {}: no measurement's name matches on {}; --list shows them",
                                o.only, device.info().gfx));
    if (o.list) {
        for (const Group &group : groups)
            for (const std::string &name : group.names)
                if (std::regex_search(name, only))
                    fmt::print("{}\n", name);
        return;
    }
    if (!device.info().note.empty())
        fmt::print("{}\n", device.info().note);
    fmt::print("nw micro on {}\n", device.info().label);
    Modules modules(device);
    micro::Report report{device.info().label, device.info().gfx, device.info().simulated, {}};
    report.rows = measure(groups, only, modules);
    if (!o.json.empty())
        micro::write_report(o.json, report);
}

constexpr const char *footer = R"(
A measurement is code between two reads of the shader's clock, in cycles of it: once with nothing, once
with a few steps in a row, once with many. The value is the slope between few and many, so what it
costs to begin and to end is no part of it; JSON has it as `offset`, and the raw clocks. Streams are
timed by the host, in GB/s.

  a>b    a, then b, which needs a's result          a+b  a, then b, which doesn't
  dependent, independent   steps that need one another's result, and steps that don't
  v_add_f32x7 issued, done  seven dependent ones, until the last has issued or has its result
  chase  a load whose address the load before brought, through that much memory
  rows   short rows as decoding reads them, without and with padding

  nw micro                                    all, on the card, or where there is none on the model
  nw micro --device sim:gfx1201 --only wmma   some, on the model of another
  nw micro --json card.json                   keeps everything that was read)";

} // namespace

void add_micro(CLI::App &app) {
    auto o = std::make_shared<Options>();
    CLI::App *command =
        app.add_subcommand("micro", "Measure instructions, memory and streams by the clock");
    command->footer(footer);
    command->add_option("--device", o->device,
                        "auto, hip:N, sim:gfx1151 (default: NIBBLEWAVE_DEVICE)");
    command->add_option("--only", o->only,
                        "Measurements whose name has a match of this expression");
    command->add_flag("--list", o->list, "Print the names and measure nothing");
    command->add_option("--json", o->json, "Write the rows there, with raw clocks");
    command->add_option("--passes", o->passes,
                        "Of each piece of code, 1..32 (default: 16, simulated 6)");
    command->add_option("--repeats", o->repeats, "Of each stream, on a card")
        ->capture_default_str();
    command
        ->add_option("--mib", o->mib,
                     "That a stream reads; a walk goes through half (default: 512, simulated 64)")
        ->check(CLI::Range(1, 4096));
    command->callback([o] { run(*o); });
}

} // namespace nw::cli
