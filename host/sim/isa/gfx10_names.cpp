// SPDX-License-Identifier: MIT
#include "sim/isa/gfx10_names.h"

#include <unordered_map>

namespace nw::sim {

namespace {

using Names = std::unordered_map<std::string_view, std::string_view>;

std::string_view look_up(const Names &names, std::string_view name) {
    const auto at = names.find(name);
    return at == names.end() ? name : at->second;
}

} // namespace

std::string_view name_since_gfx11(std::string_view mnemonic) {
#define OLD_NAME(old, now) {old, now},
#define SECOND_NAME OLD_NAME
    static const Names &names = *new Names{
#include "old_names.inc"
    };
#undef OLD_NAME
#undef SECOND_NAME
    return look_up(names, mnemonic);
}

std::string_view name_before_gfx11(std::string_view mnemonic) {
#define OLD_NAME(old, now) {now, old}, // the first one counts
#define SECOND_NAME(second, first)
    static const Names &names = *new Names{
#include "old_names.inc"
    };
#undef OLD_NAME
#undef SECOND_NAME
    return look_up(names, mnemonic);
}

} // namespace nw::sim
