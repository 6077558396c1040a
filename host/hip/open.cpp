// SPDX-License-Identifier: MIT
// Resolves "auto", "hip:0" or "sim:gfx1151?timing=on" to a device.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/targets.h"
#include "hip/library.h"

namespace nw::hip {

constexpr std::string_view simulated_default = "gfx1151";

static bool supported(std::string_view gfx) {
    const Target *target = find_target(gfx);
    return target && target->supported;
}

[[noreturn]] static void refuse(std::string text) {
    throw Error(-1, {}, "Device", std::move(text));
}

static Opened take(std::shared_ptr<const Loaded> loaded, int ordinal) {
    DeviceInfo info = loaded->describe(ordinal);
    return {std::make_shared<Library>(std::move(loaded), ordinal), std::move(info)};
}

// "gfx1030?timing=on", or "6800 XT?timing=on", which is "gfx1030?part=6800 XT&timing=on".
static Opened open_simulated(const std::string &spec, std::string_view defaults, bool own) {
    const auto loaded = simulated_library();
    int ordinal = 0;
    if (loaded->sim.hipsimOpenDevice(spec.c_str(), std::string(defaults).c_str(), own, &ordinal))
        refuse(fmt::format("device sim:{}: {}", spec, loaded->sim.hipsimLastMessage()));
    Opened opened{std::make_shared<Library>(loaded, ordinal, own), loaded->describe(ordinal)};
    const auto end = std::min(spec.find('?'), spec.size());
    const std::string_view name = std::string_view(spec).substr(0, end);
    const std::string_view settings = std::string_view(spec).substr(std::min(end + 1, spec.size()));
    opened.info.spec = supported(name) ? fmt::format("sim:{}", spec)
                                       : fmt::format("sim:{}?part={}{}{}", opened.info.gfx, name,
                                                     settings.empty() ? "" : "&", settings);
    return opened;
}

static Opened open_real(std::string_view number) {
    int ordinal = -1;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), ordinal);
    if (error != std::errc{} || end != number.data() + number.size() || ordinal < 0)
        refuse(fmt::format("device hip:{}: must be a number, as in hip:0", number));
    std::string why;
    const auto loaded = real_library(why);
    if (!loaded)
        refuse(fmt::format("device hip:{}: no libamdhip64 of a real GPU ({}); install ROCm's HIP "
                           "runtime, or take a simulated GPU, sim:{}",
                           ordinal, why, simulated_default));
    int count = 0;
    try {
        count = loaded->device_count();
    } catch (const Error &error) {
        throw Error(error.code, error.name, error.call,
                    fmt::format("device hip:{}: {}", ordinal, error.what()));
    }
    if (ordinal >= count)
        refuse(fmt::format("device hip:{}: {} has {} device(s)", ordinal, loaded->path, count));
    Opened opened = take(loaded, ordinal);
    if (!supported(opened.info.gfx))
        refuse(fmt::format("device hip:{}: is {}, supported are {}", ordinal, opened.info.gfx,
                           target_names()));
    return opened;
}

// The first supported GPU; otherwise none, with the reason. No error of a broken installation may
// stop `auto`.
static std::optional<Opened> first_real(std::string &why) {
    std::string reason;
    const auto loaded = real_library(reason);
    if (!loaded) {
        why = fmt::format("no libamdhip64 of a real GPU ({})", reason);
        return {};
    }
    try {
        std::string seen;
        const int count = loaded->device_count();
        for (int ordinal = 0; ordinal < count; ++ordinal) {
            const std::string gfx = loaded->gfx(ordinal);
            if (supported(gfx))
                return take(loaded, ordinal);
            seen += fmt::format("{}hip:{} is {}", seen.empty() ? "" : ", ", ordinal, gfx);
        }
        why = fmt::format("no supported AMD GPU ({})", seen.empty() ? "no device" : seen);
    } catch (const Error &error) {
        why = fmt::format("no supported AMD GPU ({}: {})", error.call, error.name);
    }
    return {};
}

static Opened open_auto(std::string_view defaults) {
    std::string why;
    if (auto opened = first_real(why)) {
        opened->info.note =
            fmt::format("{} ({}) is the first supported GPU", opened->info.spec, opened->info.gfx);
        return std::move(*opened);
    }
    Opened opened = open_simulated(std::string(simulated_default), defaults, false);
    opened.info.note = fmt::format("{}: using the simulated {}", why, simulated_default);
    return opened;
}

Opened open_device(std::string_view spec, std::string_view defaults) {
    if (const char *variable = std::getenv("NIBBLEWAVE_DEVICE"); spec.empty() && variable)
        spec = variable;
    if (spec.empty() || spec == "auto")
        return open_auto(defaults);
    if (spec.starts_with("sim:"))
        return open_simulated(std::string(spec.substr(4)), defaults, false);
    if (spec.starts_with("hip:"))
        return open_real(spec.substr(4));
    refuse(fmt::format("device '{}': the forms are auto, hip:N and sim:gfxNNNN with one of {}, or "
                       "sim: and the name of a part, as in sim:8060S",
                       spec, target_names()));
}

Opened open_own(std::string_view spec, std::string_view defaults) {
    if (!spec.starts_with("sim:"))
        refuse(fmt::format("device '{}': only a simulated one, sim:gfxNNNN, can be had for oneself",
                           spec));
    return open_simulated(std::string(spec.substr(4)), defaults, true);
}

std::string without_gpu() {
    return fmt::format(
        "it takes one of {}, with ROCm's HIP runtime; or the simulated GPU of this project: put "
        "the folder hipsim, which has its libamdhip64.so, into LD_LIBRARY_PATH, or call "
        "nibblewave.simulate(\"{}\") in Python",
        target_names(), simulated_default);
}

Opened open_current() {
    auto loaded = process_library();
    int ordinal = 0;
    if (const hipError_t error = loaded->call.hipGetDevice(&ordinal); error != hipSuccess) {
        const std::string name = loaded->call.hipGetErrorName(error);
        throw Error(
            error, name, "hipGetDevice",
            fmt::format("hipGetDevice: {} ({}): {} has no GPU: {}", name, int{error}, loaded->path,
                        loaded->simulated ? loaded->sim.hipsimLastMessage() : without_gpu()));
    }
    return take(std::move(loaded), ordinal);
}

std::string part_constants(std::string_view part) {
    const auto loaded = simulated_library();
    std::string out;
    const auto keep = [](const char *text, void *to) { *static_cast<std::string *>(to) = text; };
    if (loaded->sim.hipsimPartConstants(std::string(part).c_str(), keep, &out))
        throw Error(-1, {}, "hipsimPartConstants", loaded->sim.hipsimLastMessage());
    return out;
}

} // namespace nw::hip
