// SPDX-License-Identifier: MIT
// Random instruction tests: hard operands first, under every MODE, against MPFR and exact integers.
//   test_isa_random [--long] [--only PART_OF_MNEMONIC] [--gfx GFX] [--seed N]
#include <cstdio>
#include <fmt/format.h>

#include "base/command_line.h"
#include "base/targets.h"
#include "isa/random/captures.h"
#include "isa/random/check.h"
#include "isa/random/covered.h"

int main(int argc, char **argv) {
    using namespace nw::oracle;
    Options options;
    std::vector<std::string> targets{"gfx1010", "gfx1030", "gfx1100", "gfx1151", "gfx1201"};
    bool thorough = false;
    nw::Command app("random instruction tests");
    app.add("--long", &thorough, "sixteen times the operands");
    app.add("--only", &options.only, "instructions with this in their name");
    app.add("--gfx", &targets, "targets");
    app.add("--seed", &options.seed, "of the operands");
    app.add("--show", &options.failures_shown, "failures to show for each variant");
    app.add("--refused", &options.show_refused, "print the forms that LLVM doesn't have");
    if (const auto code = app.parse(argc, argv))
        return *code;
    if (thorough)
        options.waves *= 16;
    nw::u64 failed = uncovered_rows() + wrong_captures(), passed = 0;
    fmt::print("host levels:");
    for (nw::sim::HostLevel level : options.levels)
        fmt::print(" {}", nw::sim::name_of(level));
    fmt::print("\n{:8} {:>12} {:>7} {:>8} {:>9} {:>11} {:>7}\n", "gfx", "instructions", "forms",
               "refused", "x MODEs", "lanes", "failed");
    auto tell = [&](const std::string &gfx, const char *what, const Totals &t) {
        fmt::print("{:8} {:>12} {:>7} {:>8} {:>9} {:>11} {:>7}   {}\n", gfx, t.instructions.size(),
                   t.forms, t.refused, t.modes, t.lanes, t.failed.size(), what);
        std::fflush(stdout);
        if (options.only.empty() && t.refused * 4 > t.forms) {
            fmt::print("LLVM refuses more than a fifth of all the forms: is their text right?\n");
            ++failed;
        }
        failed += t.failed.size();
        passed += t.instructions.size() - t.failed.size();
    };
    for (const std::string &gfx : targets) {
        tell(gfx, "wave32", check(gfx, 32, options));
        tell(gfx, "wave64", check(gfx, 64, options));
        tell(gfx, "between lanes", check_lanes(gfx, options));
        if (nw::target_of(gfx).vopd)
            tell(gfx, "pairs of VOPD", check_dual(gfx, options));
        if (!nw::target_of(gfx).wmma.empty())
            tell(gfx, "matrices", check_matrix(gfx, options));
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed != 0;
}
