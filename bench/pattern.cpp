// SPDX-License-Identifier: MIT
#include "bench/pattern.h"

#include <fmt/format.h>

namespace nw::bench {

namespace {

std::regex pattern(std::string_view option, const std::string &value) {
    try {
        return std::regex(value);
    } catch (const std::regex_error &e) {
        throw Usage(fmt::format("{} {}: {}", option, value, e.what()));
    }
}

} // namespace

std::regex only_pattern(const Options &o) { return pattern("--only", o.only); }
std::regex constants_pattern(const Options &o) { return pattern("--constants", o.constants); }

} // namespace nw::bench
