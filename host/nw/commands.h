// SPDX-License-Identifier: MIT
// The subcommands of nw: each function adds one to the application.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/error.h"

namespace nw::cli {

// For commands that exit with 1 on findings: exits with 2 if an input can't be used.
template <class Work> void or_exit_2(const Work &work) {
    try {
        work();
    } catch (const Error &error) {
        std::fprintf(stderr, "nw: %s\n", error.what());
        throw CLI::RuntimeError(2);
    }
}

void add_annotate(CLI::App &);
void add_atlas(CLI::App &);
void add_choose(CLI::App &);
void add_constants(CLI::App &);
void add_diff(CLI::App &);
void add_info(CLI::App &);
void add_inspect(CLI::App &);
void add_isa(CLI::App &);
void add_lint(CLI::App &);
void add_micro(CLI::App &);
void add_pack(CLI::App &);
void add_time(CLI::App &);
void add_tune(CLI::App &);

} // namespace nw::cli
