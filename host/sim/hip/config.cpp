// SPDX-License-Identifier: MIT
#include "sim/hip/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <map>

#include "base/environment.h"
#include "base/error.h"
#include "base/targets.h"
#include "sim/check/checks.h"
#include "sim/func/alu/frames.h"
#include "sim/hip/error.h"
#include "sim/timing/constants/draws.h"
#include "sim/timing/constants/profile.h"

namespace nw::hipsim {

namespace {

std::string_view variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

std::vector<std::string_view> split(std::string_view list, char separator = ',') {
    std::vector<std::string_view> words;
    while (!list.empty()) {
        const auto end = std::min(list.find(separator), list.size());
        if (end > 0)
            words.push_back(list.substr(0, end));
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return words;
}

// A setting's value and its source.
struct Value {
    std::string label; // "HIPSIM_MATH", or "math" where it came with a device's name
    std::string_view text;
    bool of_environment = false;

    Error error(std::string_view why) const {
        return Error(fmt::format("{}={}: {}", label, text, why));
    }
};

constexpr std::string_view setting_names[] = {
    "timing",    "check", "math",        "choices", "part", "profile", "stats", "threads",
    "max_insts", "dump",  "uncertainty", "cold",    "warm", "clock",   "power"};

class Settings {
public:
    Settings() = default; // from the environment only
    Settings(std::string_view asked, std::string_view defaults)
        : asked_(parse(asked)), defaults_(parse(defaults)) {}

    // An empty variable counts as unset.
    Value operator()(std::string_view name, const char *of_environment) const {
        const std::string_view text = variable(of_environment);
        if (const auto at = asked_.find(name); at != asked_.end())
            return {std::string(name), at->second};
        if (text.empty())
            if (const auto at = defaults_.find(name); at != defaults_.end())
                return {std::string(name), at->second};
        return {of_environment, text, true};
    }

private:
    using Texts = std::map<std::string_view, std::string_view>;
    static Texts parse(std::string_view list) {
        Texts texts;
        for (const std::string_view setting : split(list, '&')) {
            const auto end = std::min(setting.find('='), setting.size());
            const std::string_view name = setting.substr(0, end);
            if (std::ranges::count(setting_names, name) == 0 || end == setting.size())
                throw Error(fmt::format("{}: no setting of a device; they are name=value, with & "
                                        "between them, and a name of {}",
                                        setting, fmt::join(setting_names, ", ")));
            if (!texts.emplace(name, setting.substr(end + 1)).second)
                throw Error(fmt::format("{}: {} is set twice", setting, name));
        }
        return texts;
    }
    Texts asked_, defaults_;
};

std::string unknown_gfx(std::string_view gfx) {
    std::vector<std::string_view> known;
    for (const sim::Device &device : sim::devices())
        known.push_back(device.gfx);
    return fmt::format("{} is not one of {}", gfx, fmt::join(known, ", "));
}

const sim::Checker *read_checks(const Value &list) {
    constexpr std::string_view names[] = {"off",        "mem",  "mem:strict", "init",
                                          "init:local", "wait", "race",       "all"};
    sim::CheckKinds kinds;
    for (std::string_view check : split(list.text)) {
        if (std::ranges::count(names, check) == 0)
            throw list.error(fmt::format("{} is not one of {}", check, fmt::join(names, ", ")));
        // `mem` needs nothing: every access is always checked against the live allocations.
        kinds.strict_scalar |= check == "mem:strict";
        kinds.init |= check == "all" || check == "init" || check == "init:local";
        kinds.memory |= check == "all" || check == "init";
        kinds.wait |= check == "all" || check == "wait";
        kinds.race |= check == "all" || check == "race";
    }
    return sim::checker(kinds);
}

// The number, or 0 if it is absent.
u64 read_number(const Value &value, u64 most, std::string_view zero_means) {
    const std::string_view text = value.text;
    u64 number = 0;
    if (text.empty())
        return 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error == std::errc{} && end == text.data() + text.size() && number <= most)
        return number;
    throw value.error(fmt::format("not a number from 0 ({}) to {}", zero_means, most));
}

bool read_math(const Value &value) {
    if (!value.text.empty() && value.text != "exact" && value.text != "fast")
        throw value.error("neither exact nor fast");
    return value.text == "fast";
}

// Default when only a file of timed launches is requested.
TimingMode read_timing(const Value &value) {
    const bool needed = !variable("HIPSIM_TRACE").empty() || !variable("HIPSIM_ISSUE_LOG").empty();
    if (value.text == "on" || (value.text.empty() && needed))
        return TimingMode::sampled;
    if (value.text == "exact")
        return TimingMode::exact;
    if (!value.text.empty() && value.text != "off")
        throw value.error("neither on, exact nor off");
    return TimingMode::off;
}

// True if the setting has its only word.
bool read_word(const Value &value, std::string_view word) {
    if (!value.text.empty() && value.text != word && value.text != "off")
        throw value.error(fmt::format("neither {} nor off", word));
    return value.text == word;
}

sim::timing::TimingOptions read_timing_options(const Settings &settings) {
    return {.draws = static_cast<u32>(read_number(settings("uncertainty", "HIPSIM_UNCERTAINTY"),
                                                  sim::timing::most_draws, "no draws")),
            .cold_data = read_word(settings("cold", "HIPSIM_COLD"), "weights"),
            .warm_code = read_word(settings("warm", "HIPSIM_WARM"), "code")};
}

bool read_stats(const Settings &settings) {
    const Value value = settings("stats", "");
    if (!value.text.empty() && value.text != "on" && value.text != "off")
        throw value.error("neither on nor off");
    return value.text == "on";
}

std::vector<const sim::timing::Part *> read_parts(const Value &list) {
    std::vector<const sim::timing::Part *> out;
    for (std::string_view name : split(list.text)) {
        out.push_back(sim::timing::find_part(name));
        if (out.back())
            continue;
        std::vector<std::string_view> known;
        for (const sim::timing::Part &part : sim::timing::parts())
            known.push_back(part.name);
        throw list.error(fmt::format("{} is not one of {}", name, fmt::join(known, ", ")));
    }
    return out;
}

// The device's part: the first of the list with its gfx, or the default.
sim::timing::Part part_of(const Value &list, std::string_view gfx) {
    for (const sim::timing::Part *part : read_parts(list)) {
        if (part->gfx == gfx)
            return *part;
        if (!list.of_environment)
            throw list.error(fmt::format("it is {}, the device {}", part->gfx, gfx));
    }
    return *sim::timing::default_part(gfx);
}

void set_clock(sim::timing::Part &part, const Settings &settings) {
    const Value clock = settings("clock", "HIPSIM_CLOCK"),
                power = settings("power", "HIPSIM_POWER");
    const auto from = [](const Value &value, auto set) {
        try {
            set(value.text);
        } catch (const Error &error) {
            throw value.error(error.what());
        }
    };
    from(power, [&](auto text) { sim::timing::set_power(part, text); });
    from(clock, [&](auto text) { sim::timing::set_clock(part, text, !power.text.empty()); });
}

// False when the profile is for another part.
bool add_profile(TimedPart &timed, const Value &path) {
    if (path.text.empty())
        return true;
    const auto profile = sim::timing::read_profile(std::string(path.text));
    const bool used = sim::timing::apply(profile, timed.part, timed.costs);
    if (!used && !path.of_environment)
        throw path.error(fmt::format("it is of the part {}, the device is the part {}",
                                     profile.part, timed.part.name));
    return used;
}

// Facts of the part, and its timing model where launches are timed. False when the profile is for
// another part.
bool add_part(DeviceConfig &device, const Settings &settings) {
    const std::string_view gfx = device.facts->gfx;
    const sim::timing::Part part = part_of(settings("part", "HIPSIM_PART"), gfx);
    device.facts = &sim::device_of_part(part.name);
    if (device.timing == TimingMode::off)
        return true;
    device.timed = TimedPart{part, sim::timing::costs_for(gfx)};
    const bool used = add_profile(*device.timed, settings("profile", "HIPSIM_PROFILE"));
    set_clock(device.timed->part, settings);
    return used;
}

// Reads all settings except the part and the timing model's.
DeviceConfig read_device(const sim::Device &facts, const Settings &settings) {
    DeviceConfig device;
    device.facts = &facts;
    device.run.checker = read_checks(settings("check", "HIPSIM_CHECK"));
    device.run.threads = static_cast<unsigned>(
        read_number(settings("threads", "HIPSIM_THREADS"), 1024, "all cores"));
    device.run.max_wave_insts =
        read_number(settings("max_insts", "HIPSIM_MAX_INSTS"), u64{1} << 62, "2^40");
    device.run.dump = read_number(settings("dump", "HIPSIM_DUMP"), 1, "no listing") == 1;
    device.run.fast_math = read_math(settings("math", "HIPSIM_MATH"));
    device.timing = read_timing(settings("timing", "HIPSIM_TIMING"));
    device.timed_options = read_timing_options(settings);
    device.keeps_stats = read_stats(settings);
    if (const Value list = settings("choices", "HIPSIM_CHOICES"); !list.of_environment)
        device.choices = sim::parse_choices(list.text);
    return device;
}

} // namespace

std::vector<DeviceConfig> read_devices() {
    const std::string_view list = variable("HIPSIM_ARCH");
    const Settings environment;
    std::vector<DeviceConfig> devices;
    for (std::string_view gfx : split(list.empty() ? "gfx1151" : list)) {
        const sim::Device *found = sim::find_device(gfx);
        if (!found)
            throw Error(fmt::format("HIPSIM_ARCH={}: {}", list, unknown_gfx(gfx)));
        devices.push_back(read_device(*found, environment));
        devices.back().estimates = true;
    }
    if (devices.empty())
        throw Error(fmt::format("HIPSIM_ARCH={}: names no device; {}", list, unknown_gfx(list)));
    // A different part or model than requested would give wrong times: so no device.
    const Value named = environment("part", "HIPSIM_PART");
    const auto parts = read_parts(named);
    const auto has_part = [&](const DeviceConfig &device) {
        return std::ranges::any_of(parts,
                                   [&](auto part) { return part->gfx == device.facts->gfx; });
    };
    if (!parts.empty() && std::ranges::none_of(devices, has_part))
        throw named.error(
            fmt::format("it is {}, and no device of HIPSIM_ARCH is: set that, too", parts[0]->gfx));
    bool used = false;
    for (DeviceConfig &device : devices)
        used |= add_part(device, environment);
    if (!used)
        throw Error(fmt::format("HIPSIM_PROFILE={}: no device is the part that it is of: "
                                "choose it with HIPSIM_ARCH or HIPSIM_PART",
                                variable("HIPSIM_PROFILE")));
    return devices;
}

// "gfx1030?timing=on", or "6800 XT?timing=on", which is "gfx1030?part=6800 XT&timing=on".
DeviceConfig parse_device(std::string_view spec, std::string_view defaults) {
    const auto end = std::min(spec.find('?'), spec.size());
    std::string_view gfx = spec.substr(0, end);
    std::string asked(spec.substr(std::min(end + 1, spec.size())));
    if (const sim::timing::Part *part = sim::timing::find_part(gfx)) {
        asked = fmt::format("part={}{}{}", part->name, asked.empty() ? "" : "&", asked);
        gfx = part->gfx;
    } else if (!sim::find_device(gfx)) {
        throw Error(fmt::format("the simulated targets are {}; or a part of them, as in sim:{}",
                                target_names(), sim::timing::parts().back().name));
    }
    const Settings settings(asked, defaults);
    DeviceConfig device = read_device(*sim::find_device(gfx), settings);
    add_part(device, settings);
    return device;
}

sim::timing::Part part_of_gfx(std::string_view gfx) {
    return part_of({"HIPSIM_PART", variable("HIPSIM_PART"), true}, gfx);
}

sim::timing::Part at_clock(sim::timing::Part part) {
    set_clock(part, Settings());
    return part;
}

Config read_config() {
    check_variables(hipsim_variables);
    const Settings environment;
    Config config;
    config.trace_path = variable("HIPSIM_TRACE");
    config.issue_log_path = variable("HIPSIM_ISSUE_LOG");
    config.timing = read_timing(environment("timing", "HIPSIM_TIMING"));
    // Invalid settings that only some devices or launches read are also refused now.
    sim::choices();
    sim::host_level();
    read_parts(environment("part", "HIPSIM_PART"));
    if (const Value path = environment("profile", "HIPSIM_PROFILE"); !path.text.empty())
        try {
            sim::timing::read_profile(std::string(path.text));
        } catch (const Error &error) {
            throw Error(fmt::format("HIPSIM_PROFILE={}", error.what())); // it begins with the path
        }
    config.stats_path = variable("HIPSIM_STATS");
    config.report_path = variable("HIPSIM_REPORT");
    config.findings_path = variable("HIPSIM_FINDINGS");
    const std::string_view blocking = variable("HIP_LAUNCH_BLOCKING");
    config.launch_blocking = !blocking.empty() && blocking != "0";
    return config;
}

} // namespace nw::hipsim
