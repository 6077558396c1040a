// SPDX-License-Identifier: MIT
#include "check/extents.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <string>

#include "base/error.h"
#include "base/targets.h"
#include "check/same_code.h"

namespace nw::check {

namespace {

// Symbols of a family's kernels on a target that walk all paths of its templates.
std::set<std::string> read_cover(const Kernel &of) {
    const std::string path = fmt::format("{}/asm/{}/{}.cover", NW_BUILD_DIR, of.gfx, of.family);
    std::ifstream in(path);
    std::set<std::string> out;
    for (std::string line; std::getline(in, line);)
        out.insert(line);
    if (out.empty())
        throw Error(fmt::format("{}: no kernel is named there: build the target kernels", path));
    return out;
}

class Covers {
public:
    bool contains(const Kernel &k) {
        auto [found, is_new] = of_.try_emplace({k.gfx, k.family});
        if (is_new)
            found->second = read_cover(k);
        return found->second.contains(std::string(k.symbol));
    }

private:
    std::map<std::pair<std::string_view, std::string_view>, std::set<std::string>> of_;
};

// Whether another group has the symbol on the thorough target of the kernel's series.
bool is_thorough_elsewhere(const Kernel &k, std::span<const std::vector<const Kernel *>> groups) {
    return std::ranges::any_of(groups, [&](const auto &group) {
        const Kernel &other = *group.front();
        return other.symbol == k.symbol && thorough(other.gfx) &&
               target_of(other.gfx).series == target_of(k.gfx).series;
    });
}

} // namespace

Extents extents_of(std::span<const std::vector<const Kernel *>> groups, bool checkers) {
    Extents out;
    for (const auto &group : groups)
        for (const Kernel *kernel : group)
            out[kernel] = kernel == group.front() ? Extent::full : Extent::entry;
    if (!checkers)
        for (const Kernel *kernel : repeated(groups))
            out[kernel] = Extent::entry;
    return out;
}

Extents extents_of_cover(std::span<const std::vector<const Kernel *>> groups, bool checkers) {
    Extents out = extents_of(groups, checkers);
    Covers covers;
    for (const auto &group : groups) {
        const Kernel &first = *group.front();
        for (const Kernel *kernel : group)
            if (kernel != &first || kernel->reference)
                out[kernel] = Extent::none;
        if (first.reference)
            continue;
        const bool is_other_code = !thorough(first.gfx) && is_thorough_elsewhere(first, groups);
        if (is_other_code || !covers.contains(first))
            out[&first] = Extent::entry;
    }
    return out;
}

} // namespace nw::check
