// SPDX-License-Identifier: MIT
// The subcommands of nw: each function adds one to the application.
#pragma once
#include <CLI/CLI.hpp>

#include "base/command.h"

namespace nw::cli {

void add_annotate(CLI::App &);
void add_atlas(CLI::App &);
void add_bench_model(CLI::App &);
void add_choose(CLI::App &);
void add_constants(CLI::App &);
void add_diff(CLI::App &);
void add_doctor(CLI::App &);
void add_info(CLI::App &);
void add_inspect(CLI::App &);
void add_isa(CLI::App &);
void add_lint(CLI::App &);
void add_micro(CLI::App &);
void add_pack(CLI::App &);
void add_quantize(CLI::App &);
void add_time(CLI::App &);
void add_tune(CLI::App &);

} // namespace nw::cli
