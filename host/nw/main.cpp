// SPDX-License-Identifier: MIT
// nw: the command.
#include "base/command_line.h"
#include "base/environment.h"
#include "hip/failure.h"
#include "nw/commands.h"
#include "sim/func/alu/frames.h"
#include "sim/func/choices.h"
#include "sim/func/machine.h"

int main(int argc, char **argv) {
    nw::Command app("nibblewave's command line");
    app.footer = nw::exit_codes_help;
    nw::cli::add_annotate(app);
    nw::cli::add_atlas(app);
    nw::cli::add_bench_model(app);
    nw::cli::add_check(app);
    nw::cli::add_choose(app);
    nw::cli::add_constants(app);
    nw::cli::add_diff(app);
    nw::cli::add_doctor(app);
    nw::cli::add_info(app);
    nw::cli::add_inspect(app);
    nw::cli::add_isa(app);
    nw::cli::add_lint(app);
    nw::cli::add_micro(app);
    nw::cli::add_new(app);
    nw::cli::add_pack(app);
    nw::cli::add_quantize(app);
    nw::cli::add_run(app);
    nw::cli::add_time(app);
    nw::cli::add_tune(app);
    const auto before = [&] {
        nw::check_variables(nw::hipsim_variables);
        nw::check_variables(nw::nibblewave_variables);
        nw::sim::choices(); // throw for what HIPSIM_CHOICES and HIPSIM_LEVEL can't be
        nw::sim::host_level();
        // CLI11 would show the general help for the wrong name before --help.
        if (argc > 1 && *argv[1] != '-' && !app.has_subcommand(argv[1]))
            throw nw::Error(std::string(argv[1]) + ": no such subcommand; nw --help lists them");
    };
    const auto is_failure = [](const nw::Error &error) {
        return nw::hip::is_failure(error) || dynamic_cast<const nw::sim::Fault *>(&error);
    };
    return nw::run_command("nw", app, argc, argv, before, is_failure);
}
