// SPDX-License-Identifier: MIT
#include "base/environment.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/error.h"
#include "base/nearest.h"

namespace nw {

namespace {

// All that programs, libraries, scripts and tests of this tree read: tests/rules compares.
constexpr std::string_view variables[] = {
    "HIPSIM_ARCH",
    "HIPSIM_CHECK",
    "HIPSIM_CHOICES",
    "HIPSIM_CLANG",
    "HIPSIM_CLOCK",
    "HIPSIM_COLD",
    "HIPSIM_DUMP",
    "HIPSIM_FINDINGS",
    "HIPSIM_ISSUE_LOG",
    "HIPSIM_LEVEL",
    "HIPSIM_MATH",
    "HIPSIM_MAX_INSTS",
    "HIPSIM_PART",
    "HIPSIM_POWER",
    "HIPSIM_PROFILE",
    "HIPSIM_REPORT",
    "HIPSIM_STATS",
    "HIPSIM_THREADS",
    "HIPSIM_TIMING",
    "HIPSIM_TRACE",
    "HIPSIM_UNCERTAINTY",
    "HIPSIM_WARM",
    "NIBBLEWAVE_DEVICE",
    "NIBBLEWAVE_FORCE",
    "NIBBLEWAVE_GGML_MEMORY",
    "NIBBLEWAVE_GGML_TYPE",
    "NIBBLEWAVE_GGML_UNFUSED",
    "NIBBLEWAVE_HIPSIM",
    "NIBBLEWAVE_HSACO",
    // of the wheel's build and of tests
    "NIBBLEWAVE_BUILD",
    "NIBBLEWAVE_CLIENTS",
    "NIBBLEWAVE_ENGINES",
    "NIBBLEWAVE_LLAMA_VERSION",
    "NIBBLEWAVE_WHEEL_GFX",
};

} // namespace

void check_variables(std::string_view prefix) {
    std::vector<std::string_view> known;
    std::ranges::copy_if(variables, std::back_inserter(known),
                         [&](std::string_view name) { return name.starts_with(prefix); });
    for (char **entry = environ; entry && *entry; ++entry) {
        const std::string_view text = *entry;
        const std::string_view name = text.substr(0, text.find('='));
        const bool empty = name.size() + 1 >= text.size(); // as good as unset
        if (empty || !name.starts_with(prefix) || std::ranges::count(known, name))
            continue;
        throw Error(fmt::format("{}: there is no such variable; the nearest is {}, there are {}",
                                text, nearest(name, known, 1)[0], fmt::join(known, ", ")));
    }
}

} // namespace nw
