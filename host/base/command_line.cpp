// SPDX-License-Identifier: MIT
#include "base/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "base/writable.h"

namespace nw {

namespace {

CLI::Option *make_option(CLI::App &app, const Option &o) {
    return std::visit(
        [&](auto *to) {
            if constexpr (std::is_same_v<decltype(to), bool *>)
                return app.add_flag(o.names, *to, o.help);
            else
                return app.add_option(o.names, *to, o.help);
        },
        o.target);
}

// CLI11 would read -1 as 2^64 - 1.
std::string negative(const std::string &text) {
    const bool is = text.size() > 1 && text[0] == '-';
    return is ? text + " is negative; the least value is 0" : "";
}

bool is_unsigned(const OptionTarget &target) {
    return std::visit(
        [](auto *to) {
            using T = std::remove_pointer_t<decltype(to)>;
            return std::is_same_v<T, u32> || std::is_same_v<T, u64> ||
                   std::is_same_v<T, std::optional<u32>> || std::is_same_v<T, std::optional<u64>> ||
                   std::is_same_v<T, std::vector<u32>>;
        },
        target);
}

void set_rules(CLI::Option &option, const OptionRules &rules) {
    if (rules.comma_separated)
        option.delimiter(',');
    if (!rules.one_of.empty())
        option.check(CLI::IsMember(rules.one_of));
    if (!rules.one_number_of.empty())
        option.check(CLI::IsMember(rules.one_number_of));
    if (rules.range.low <= rules.range.high)
        option.check(CLI::Range(rules.range.low, rules.range.high));
    if (rules.existing_file)
        option.check(CLI::ExistingFile);
    if (rules.writable_file)
        option.check([](const std::string &path) { return unwritable(path); }, "FILE");
    if (rules.show_default)
        option.capture_default_str();
}

} // namespace

struct Command::Parser {
    CLI::App &app;
    Command &command;
    std::vector<CLI::Option *> options = {}; // of command.options_, in their order

    void declare() {
        if (command.footer)
            app.footer(*command.footer);
        for (const Option &o : command.options_) {
            options.push_back(make_option(app, o));
            options.back()->required(o.rules.required && command.subcommands_.empty());
            if (is_unsigned(o.target))
                options.back()->check(negative);
            set_rules(*options.back(), o.rules);
        }
        link();
        app.callback([parser = *this] { parser.end(); });
        if (!command.subcommands_.empty() && !command.run)
            app.require_subcommand(1);
        for (Command &sub : command.subcommands_)
            Parser{*app.add_subcommand(sub.name_, sub.help_), sub}.declare();
    }

    void link() const {
        auto option = options.begin();
        for (const Option &o : command.options_) {
            for (const std::string &other : o.rules.needs)
                (*option)->needs(other);
            for (const std::string &other : o.rules.excludes)
                (*option)->excludes(other);
            ++option;
        }
    }

    // An option before a subcommand would set what the subcommand doesn't read.
    static void refuse_options_before(const CLI::App &sub) {
        for (const CLI::App *before = sub.get_parent(); before; before = before->get_parent())
            for (const CLI::Option *option : before->get_options())
                if (option->count())
                    throw Error(option->get_name() + ": stands before " + sub.get_name() +
                                ", which doesn't read it there: give options of " + sub.get_name() +
                                " after its name");
    }

    // All has been parsed.
    void end() const {
        const bool innermost = app.get_subcommands().empty();
        if (innermost)
            refuse_options_before(app);
        auto parsed = options.begin();
        for (Option &o : command.options_) {
            const CLI::Option &option = **parsed++;
            o.given = option.count() > 0;
            if (o.rules.required && innermost && !o.given)
                throw CLI::RequiredError(option.get_name());
        }
        if (command.run && innermost)
            command.run();
    }
};

bool Command::has_subcommand(std::string_view name) const {
    return std::ranges::find(subcommands_, name, &Command::name_) != subcommands_.end();
}

bool Command::given(std::string_view option) const {
    const auto at = std::ranges::find(options_, option, &Option::names);
    if (at == options_.end())
        throw std::logic_error(std::string(option) + ": no option of " + name_);
    return at->given;
}

// Returns how many words are left to be parsed.
int Command::take_verbatim(int argc, char **argv) {
    const auto named = [&](const Command &c) { return c.verbatim && c.name_ == argv[1]; };
    const auto sub = argc > 1 ? std::ranges::find_if(subcommands_, named) : subcommands_.end();
    if (sub == subcommands_.end())
        return argc;
    char **const end = argv + argc;
    char **const dashes = std::find(argv + 1, end, std::string_view("--"));
    if (dashes != end)
        sub->verbatim->assign(dashes + 1, end);
    return static_cast<int>(dashes - argv);
}

std::optional<int> Command::parse(int argc, char **argv) {
    CLI::App app(help_);
    Parser{app, *this}.declare();
    try {
        app.parse(take_verbatim(argc, argv), argv);
    } catch (const CLI::ParseError &error) { // prints; --help is one
        return app.exit(error);
    }
    return {};
}

int run_command(const char *name, Command &app, int argc, char **argv,
                const std::function<void()> &before,
                const std::function<bool(const Error &)> &is_failure) {
    const auto say = [&](const char *text) { std::fprintf(stderr, "%s: %s\n", name, text); };
    int code = exit_failure;
    try {
        before();
        code = app.parse(argc, argv).value_or(0) ? exit_misuse : exit_success;
    } catch (const Findings &findings) { // has printed them
        code = findings.code;
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
