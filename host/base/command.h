// SPDX-License-Identifier: MIT
// The frame of a command: errors as text on stderr, and one rule for exit codes.
#pragma once
#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/writable.h"

namespace nw {

enum ExitCode : int { exit_success = 0, exit_failure = 1, exit_misuse = 2 };

inline constexpr const char *exit_codes_help =
    "Exit codes: 0: done, nothing found. 1: a finding or a failure: a lint finding, a wrong "
    "result,\n"
    "a figure that got worse, a kernel that faults, a device that fails. 2: misuse: an unknown\n"
    "option, a value that is not allowed, a device that is not there, or a file that is missing,\n"
    "unreadable, unwritable or not of its kind.";

// For options that name a file to write: refused before the work, not after it.
inline CLI::Validator writable_file() {
    return {[](std::string &path) { return unwritable(path); }, "FILE"};
}

// A command that did its work and has findings.
struct Findings : CLI::RuntimeError {
    Findings() : CLI::RuntimeError(exit_failure) {}
};

// Runs work() and returns the exit code of main: the one that work returns, or that of its
// exception. An nw::Error is misuse unless is_failure(error).
template <class Work, class IsFailure>
int run_command(const char *name, const CLI::App &app, const Work &work,
                const IsFailure &is_failure) {
    const auto say = [&](const char *text) { std::fprintf(stderr, "%s: %s\n", name, text); };
    int code = exit_failure;
    try {
        code = work();
    } catch (const CLI::RuntimeError &error) {
        code = error.get_exit_code();
    } catch (const CLI::ParseError &error) { // prints; --help is one
        code = app.exit(error) ? exit_misuse : exit_success;
    } catch (const Error &error) {
        say(error.what());
        code = is_failure(error) ? exit_failure : exit_misuse;
    } catch (const std::filesystem::filesystem_error &error) {
        say(error.what());
        code = exit_misuse;
    } catch (const std::exception &error) {
        say(error.what());
    }
    if (code == exit_success && (std::fflush(stdout) || std::ferror(stdout))) {
        say((std::string("stdout: ") + std::strerror(errno)).c_str()); // a full disk
        code = exit_failure;
    }
    return code;
}

} // namespace nw
