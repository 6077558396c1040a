// SPDX-License-Identifier: MIT
// nw: the command.
#include <cstdio>
#include <exception>

#include "nw/commands.h"

int main(int argc, char **argv) {
    CLI::App app("nibblewave's command line");
    app.require_subcommand(1);
    nw::cli::add_annotate(app);
    nw::cli::add_atlas(app);
    nw::cli::add_choose(app);
    nw::cli::add_constants(app);
    nw::cli::add_diff(app);
    nw::cli::add_info(app);
    nw::cli::add_inspect(app);
    nw::cli::add_isa(app);
    nw::cli::add_lint(app);
    nw::cli::add_micro(app);
    nw::cli::add_pack(app);
    nw::cli::add_time(app);
    nw::cli::add_tune(app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "nw: %s\n", error.what());
        return 1;
    }
    return 0;
}
