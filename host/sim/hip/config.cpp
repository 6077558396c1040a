// SPDX-License-Identifier: MIT
#include "sim/hip/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "sim/check/checks.h"
#include "sim/func/choices.h"
#include "sim/hip/error.h"
#include "sim/timing/profile.h"

namespace nw::hipsim {

static std::string_view variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

static std::vector<std::string_view> split(std::string_view list) {
    std::vector<std::string_view> words;
    while (!list.empty()) {
        const auto end = std::min(list.find(','), list.size());
        if (end > 0)
            words.push_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return words;
}

static std::vector<const sim::Device *> read_devices() {
    const std::string_view list = variable("HIPSIM_ARCH");
    std::vector<const sim::Device *> found;
    for (std::string_view gfx : split(list.empty() ? "gfx1151" : list)) {
        found.push_back(sim::find_device(gfx));
        if (found.back())
            continue;
        std::vector<std::string_view> known;
        for (const sim::Device &device : sim::devices())
            known.push_back(device.gfx);
        say(fmt::format("HIPSIM_ARCH={}: {} is not one of {}: no device", list, gfx,
                        fmt::join(known, ", ")));
        return {};
    }
    return found;
}

static const sim::Checker *read_checks() {
    constexpr std::string_view names[] = {"off", "mem", "init", "wait", "race", "all"};
    const std::string_view list = variable("HIPSIM_CHECK");
    sim::CheckKinds kinds;
    for (std::string_view check : split(list)) {
        if (std::ranges::count(names, check) == 0)
            say(fmt::format("HIPSIM_CHECK={}: {} is not one of {}: ignored", list, check,
                            fmt::join(names, ", ")));
        // `mem` needs nothing: every access is always checked against the live allocations.
        kinds.init |= check == "all" || check == "init";
        kinds.wait |= check == "all" || check == "wait";
        kinds.race |= check == "all" || check == "race";
    }
    return sim::checker(kinds);
}

// The variable's number, 0 when it is unset or isn't one up to `most`.
static u64 read_number(const char *name, u64 most, const char *zero_means) {
    const std::string_view text = variable(name);
    u64 number = 0;
    if (text.empty())
        return 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && number <= most)
        return number;
    say(fmt::format("{}={}: not a number from 0 ({}) to {}: ignored", name, text, zero_means,
                    most));
    return 0;
}

static void read_math(sim::RunConfig &run) {
    const std::string_view text = variable("HIPSIM_MATH");
    run.fast_math = text == "fast";
    if (!text.empty() && text != "exact" && text != "fast")
        say(fmt::format("HIPSIM_MATH={}: neither exact nor fast: ignored", text));
}

// Who asks for what only timed launches have, and says nothing else, gets these.
static TimingMode read_timing(bool needed) {
    const std::string_view text = variable("HIPSIM_TIMING");
    if (text == "on" || (text.empty() && needed))
        return TimingMode::sampled;
    if (text == "exact")
        return TimingMode::exact;
    if (!text.empty() && text != "off")
        say(fmt::format("HIPSIM_TIMING={}: neither on, exact nor off: ignored", text));
    return TimingMode::off;
}

// The part that a device is: the one of HIPSIM_PART's list that has its gfx, or the default.
static sim::timing::Part part_of(std::string_view gfx) {
    const std::string_view list = variable("HIPSIM_PART");
    for (std::string_view name : split(list)) {
        const sim::timing::Part *part = sim::timing::find_part(name);
        if (!part) {
            std::vector<std::string_view> known;
            for (const sim::timing::Part &p : sim::timing::parts())
                known.push_back(p.name);
            throw Error(fmt::format("HIPSIM_PART={}: {} is not one of {}", list, name,
                                    fmt::join(known, ", ")));
        }
        if (part->gfx == gfx)
            return *part;
    }
    return *sim::timing::default_part(gfx);
}

// A model that isn't the one that was asked for would give wrong times: then there is no device.
static void read_parts(Config &config) {
    try {
        for (const sim::Device *device : config.devices)
            config.parts.push_back({part_of(device->gfx), sim::timing::costs_for(device->gfx)});
        const std::string path(variable("HIPSIM_PROFILE"));
        if (path.empty())
            return;
        const auto profile = sim::timing::read_profile(path);
        bool used = false;
        for (TimedPart &timed : config.parts)
            used |= sim::timing::apply(profile, timed.part, timed.costs);
        if (!used)
            throw Error(fmt::format("HIPSIM_PROFILE={}: it is of the part {}, no device is: choose "
                                    "it with HIPSIM_ARCH or HIPSIM_PART",
                                    path, profile.part));
    } catch (const Error &error) {
        say(fmt::format("{}: no device", error.what()));
        config.devices.clear();
        config.parts.clear();
    }
}

Config read_config() {
    Config config;
    config.devices = read_devices();
    config.run.checker = read_checks();
    config.run.threads = static_cast<unsigned>(read_number("HIPSIM_THREADS", 1024, "all cores"));
    config.run.max_wave_insts = read_number("HIPSIM_MAX_INSTS", u64{1} << 62, "2^40");
    config.run.dump = read_number("HIPSIM_DUMP", 1, "no listing") == 1;
    read_math(config.run);
    config.trace_path = variable("HIPSIM_TRACE");
    config.issue_log_path = variable("HIPSIM_ISSUE_LOG");
    config.timing = read_timing(!config.trace_path.empty() || !config.issue_log_path.empty());
    if (config.timing != TimingMode::off)
        read_parts(config);
    sim::choices(); // a bad HIPSIM_CHOICES is told now, not when an instruction asks
    config.stats_path = variable("HIPSIM_STATS");
    config.report_path = variable("HIPSIM_REPORT");
    const std::string_view blocking = variable("HIP_LAUNCH_BLOCKING");
    config.launch_blocking = !blocking.empty() && blocking != "0";
    return config;
}

} // namespace nw::hipsim
