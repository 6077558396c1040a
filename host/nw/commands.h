// SPDX-License-Identifier: MIT
// The subcommands of nw: each function adds one to the application.
#pragma once
#include "base/command_line.h"

namespace nw::cli {

void add_annotate(Command &);
void add_atlas(Command &);
void add_bench_model(Command &);
void add_check(Command &);
void add_choose(Command &);
void add_constants(Command &);
void add_diff(Command &);
void add_doctor(Command &);
void add_info(Command &);
void add_inspect(Command &);
void add_isa(Command &);
void add_lint(Command &);
void add_micro(Command &);
void add_new(Command &);
void add_pack(Command &);
void add_quantize(Command &);
void add_run(Command &);
void add_time(Command &);
void add_tune(Command &);

} // namespace nw::cli
