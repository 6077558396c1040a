// SPDX-License-Identifier: MIT
// Command lines as data, and the frame of a command: errors as text on stderr, and one rule for
// exit codes. The parser is CLI11: a large header, which command_line.cpp alone includes.
#pragma once
#include <exception>
#include <filesystem>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/types.h"

namespace nw {

enum ExitCode : int { exit_success = 0, exit_failure = 1, exit_misuse = 2 };

inline constexpr const char *exit_codes_help =
    "Exit codes: 0: done, nothing found. 1: a finding or a failure: a lint finding, a wrong "
    "result,\n"
    "a figure that got worse, a kernel that faults, a device that fails. 2: misuse: an unknown\n"
    "option, a value that is not allowed, a device that is not there, or a file that is missing,\n"
    "unreadable, unwritable or not of its kind.";

// A command that did its work and has findings.
struct Findings : std::exception {
    explicit Findings(int code = exit_failure) : code(code) {}
    int code;
};

// The variable that an option sets: a bool makes it a flag, a vector takes several values.
using OptionTarget = std::variant<bool *, u32 *, u64 *, std::string *, std::optional<u32> *,
                                  std::optional<u64> *, std::vector<u32> *,
                                  std::vector<std::string> *, std::vector<std::filesystem::path> *>;

struct OptionRules {
    struct Range {
        int low = 0, high = -1; // high < low: any value
    };

    bool required = false; // of a command with subcommands: unless one of them is given
    bool comma_separated = false;
    std::vector<std::string> one_of;
    std::vector<int> one_number_of;
    Range range = {};
    bool existing_file = false;
    bool writable_file = false;               // refused before the work, not after it
    bool show_default = false;                // in --help
    std::vector<std::string> needs, excludes; // other options of the command
};

struct Option {
    std::string names; // "-v,--verbose"; "!--no-config" clears a flag; "file" is positional
    OptionTarget target;
    std::string help;
    OptionRules rules;
    bool given = false; // on the command line that was parsed
};

class Command {
public:
    explicit Command(std::string help, std::string name = "")
        : name_(std::move(name)), help_(std::move(help)) {}

    Command &add_subcommand(std::string name, std::string help) {
        return subcommands_.emplace_back(std::move(help), std::move(name));
    }
    void add(std::string names, OptionTarget target, std::string help, OptionRules rules = {}) {
        options_.push_back({std::move(names), target, std::move(help), std::move(rules)});
    }

    std::optional<std::string> footer; // of --help; default: that of the command it belongs to
    // For a subcommand: receives the words after "--" unchanged. CLI11 would split "[a,b]".
    std::vector<std::string> *verbatim = nullptr;
    std::function<void()> run; // unless a subcommand is given

    bool has_subcommand(std::string_view name) const;
    bool given(std::string_view option) const;

    // Sets what options point to, and runs the command. Returns the exit code if that is the end:
    // after --help, or a mistake, which is on stderr.
    std::optional<int> parse(int argc, char **argv);

private:
    struct Parser;
    int take_verbatim(int argc, char **argv);

    std::string name_, help_;
    std::list<Option> options_;
    std::list<Command> subcommands_;
};

// Calls before(), parses, and returns the exit code of main. An nw::Error of either is misuse
// unless is_failure(error).
int run_command(const char *name, Command &, int argc, char **argv,
                const std::function<void()> &before,
                const std::function<bool(const Error &)> &is_failure);

} // namespace nw
