// SPDX-License-Identifier: MIT
#include "base/targets.h"

#include <algorithm>

#include "base/error.h"
#include "base/parts.h"

namespace nw {

namespace {

constexpr Target target_table[] = {
#define NW_TARGET(...) {__VA_ARGS__},
#define NW_PART(...)
#include "targets.inc"
#undef NW_PART
#undef NW_TARGET
};

constexpr Part part_table[] = {
#define NW_TARGET(...)
#define NW_PART(...) {__VA_ARGS__},
#include "targets.inc"
#undef NW_PART
#undef NW_TARGET
};

// Supported ones come first.
constexpr size_t supported_count = std::ranges::count_if(target_table, &Target::supported);

} // namespace

std::span<const Target> targets() { return std::span(target_table).first(supported_count); }

std::span<const Target> known_targets() { return target_table; }

const Target *find_target(std::string_view gfx) {
    gfx = gfx.substr(0, gfx.find(':'));
    const auto it = std::ranges::find(target_table, gfx, &Target::name);
    return it == std::end(target_table) ? nullptr : it;
}

bool is_generic(std::string_view gfx) {
    const Target *target = find_target(gfx);
    return target && target->generic;
}

const Target &target_of(std::string_view gfx) {
    if (const Target *target = find_target(gfx))
        return *target;
    throw Error(std::string(gfx) + ": is not a target that is known: use one of " + target_names());
}

std::string target_names() {
    std::string names;
    for (const Target &target : targets())
        names.append(names.empty() ? "" : ", ").append(target.name);
    return names;
}

std::span<const Part> parts() { return part_table; }

const Part *default_part(std::string_view gfx) {
    gfx = gfx.substr(0, gfx.find(':'));
    const auto it = std::ranges::find(part_table, gfx, &Part::gfx);
    return it == std::end(part_table) ? nullptr : it;
}

} // namespace nw
