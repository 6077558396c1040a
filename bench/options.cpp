// SPDX-License-Identifier: MIT
#include "options.h"

#include <fmt/format.h>

namespace nw::bench {

std::regex only_pattern(const Options &o) {
    try {
        return std::regex(o.only);
    } catch (const std::regex_error &e) {
        throw Usage(fmt::format("--only {}: {}", o.only, e.what()));
    }
}

} // namespace nw::bench
