// SPDX-License-Identifier: MIT
#include "isa/random/covered.h"

#include <fmt/format.h>
#include <string_view>

#include "isa/random/oracle.h"
#include "sim/isa/tables/ops.h"

namespace nw::oracle {

namespace {

struct Excuse {
    std::string_view prefix, reason;
};
constexpr Excuse excuses[] = {
#define EXCUSED(prefix, reason) {prefix, reason},
#include "isa/random/excused.inc"
#undef EXCUSED
};

// Branches, waits, messages: nothing to compute.
constexpr std::string_view control[] = {
#define SPECIAL(mn, ...) #mn,
#include "sim/isa/tables/control.inc"
#undef SPECIAL
};

bool excused(std::string_view name) {
    for (std::string_view c : control)
        if (name == c)
            return true;
    for (const Excuse &e : excuses)
        if (name.starts_with(e.prefix))
            return true;
    return false;
}

} // namespace

u64 uncovered_rows() {
    u64 count = 0;
    for (size_t n = 1; n < static_cast<size_t>(sim::Op::count); ++n) {
        std::string name(sim::info(static_cast<sim::Op>(n)).name);
        if (rows().contains(name) || excused(name))
            continue;
        fmt::print("{}: has neither a reference in tests/isa/random nor a reason in excused.inc\n",
                   name);
        ++count;
    }
    return count;
}

} // namespace nw::oracle
