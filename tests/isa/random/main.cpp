// SPDX-License-Identifier: MIT
// Random instruction tests: hard operands first, under every MODE, against MPFR and exact integers.
//   test_isa_random [--long] [--only PART_OF_MNEMONIC] [--gfx GFX] [--seed N]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>

#include "isa/random/check.h"
#include "isa/random/covered.h"

int main(int argc, char **argv) {
    using namespace nw::oracle;
    Options options;
    std::vector<std::string> targets{"gfx1100", "gfx1151", "gfx1201"};
    bool thorough = false;
    CLI::App app("random instruction tests");
    app.add_flag("--long", thorough, "sixteen times the operands");
    app.add_option("--only", options.only, "instructions with this in their name");
    app.add_option("--gfx", targets, "targets");
    app.add_option("--seed", options.seed);
    app.add_option("--show", options.failures_shown, "failures to show of each variant");
    CLI11_PARSE(app, argc, argv);
    if (thorough)
        options.waves *= 16;
    nw::u64 failed = uncovered_rows(), passed = 0;
    fmt::print("{:8} {:>12} {:>9} {:>9} {:>11} {:>7}\n", "gfx", "instructions", "variants",
               "x MODEs", "lanes", "failed");
    for (const std::string &gfx : targets) {
        Totals t = check(gfx, options);
        fmt::print("{:8} {:>12} {:>9} {:>9} {:>11} {:>7}\n", gfx, t.instructions.size(), t.variants,
                   t.modes, t.lanes, t.failed_rows);
        Totals lanes = check_lanes(gfx, options);
        fmt::print("{:8} {:>12} {:>9} {:>9} {:>11} {:>7}   between lanes, under EXEC\n", gfx,
                   lanes.instructions.size(), lanes.variants, lanes.modes, lanes.lanes,
                   lanes.failed_rows);
        failed += t.failed_rows + lanes.failed_rows;
        passed +=
            t.instructions.size() + lanes.instructions.size() - t.failed_rows - lanes.failed_rows;
    }
    fmt::print("{} passed, {} failed\n", passed, failed);
    return failed != 0;
}
