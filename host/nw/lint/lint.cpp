// SPDX-License-Identifier: MIT
// nw lint: static detection of bugs in kernels.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "base/parallel.h"
#include "lint/lint.h"
#include "nw/code_object.h"
#include "nw/commands.h"
#include "nw/gfx.h"
#include "nw/inspect/text.h"
#include "nw/lint/report.h"
#include "nw/sources.h"
#include "nw/watch.h"
#include "sim/isa/code.h"

namespace nw::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Options {
    std::vector<std::string> files;
    std::string gfx, kernel, source, baseline, write_baseline;
    bool json = false, sarif = false, notes = false, rules = false, watch = false;
};

// Rules suppressed by a source line: `// nw lint: W-003 the other wave waits`.
class Suppressions {
public:
    explicit Suppressions(const std::string &text) {
        static const std::regex mark(
            R"((?://|;|#)\s*nw lint:\s*([A-Z]-\d{3}(?:\s*,\s*[A-Z]-\d{3})*)\s+(\S.*))");
        std::istringstream in(text);
        std::string line;
        for (u32 n = 1; std::getline(in, line); ++n) {
            std::smatch found;
            if (line.find("nw lint:") == line.npos || !std::regex_search(line, found, mark))
                continue;
            const std::string rules = found[1];
            const bool alone =
                line.find_first_not_of(" \t") == static_cast<size_t>(found.position(0));
            for (size_t at = 0; at < rules.size();
                 at = rules.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ", at + 1))
                meant_.emplace(alone ? n + 1 : n, rules.substr(at, 5));
        }
    }
    bool covers(u32 line, std::string_view rule) const {
        return meant_.contains({line, std::string(rule)});
    }

private:
    std::set<std::pair<u32, std::string>> meant_;
};

// Lints one file.
class File {
public:
    File(const Options &o, const std::string &path)
        : options_(o), path_(path), gfx_(o.gfx.empty() ? gfx_of(path) : o.gfx),
          program_(load_code(path, gfx_)), sources_(path, o.source, gfx_) {}

    LintFile run() {
        LintFile out{path_, gfx_, {}, 0, 0};
        for (const sim::KernelInfo &kernel : program_->kernels()) {
            if (!options_.kernel.empty() && kernel.name != options_.kernel)
                continue;
            ++out.kernels;
            for (const lint::Finding &f : lint::lint(*program_, kernel, options_.notes)) {
                LintRow row = row_of(kernel, f);
                if (is_meant(row))
                    ++out.suppressed;
                else
                    out.rows.push_back(std::move(row));
            }
        }
        if (out.kernels == 0)
            throw Error(options_.kernel.empty()
                            ? fmt::format("{}: has no kernel", path_)
                            : fmt::format("--kernel {}: not in {}", options_.kernel, path_));
        return out;
    }

private:
    static std::string gfx_of(const std::string &path) {
        const std::string gfx = gfx_of_file(path);
        if (gfx.empty())
            throw Error(names_no_target(path) + ": give --gfx");
        return one_gfx(gfx);
    }

    LintRow row_of(const sim::KernelInfo &kernel, const lint::Finding &f) {
        const sim::Code &code = program_->code(kernel.wave_size);
        const u32 entry = code.find(kernel.entry);
        const bool whole = f.instruction == lint::Finding::nothing;
        LintRow row{f.rule, kernel.name, f.text, f.remedy, {}, false, {}};
        row.place = place_of(kernel, code, whole ? entry : f.instruction);
        if (whole)
            row.place.instruction = "the kernel";
        if (f.other != lint::Finding::nothing) {
            row.has_other = true;
            row.other = place_of(kernel, code, f.other);
        }
        return row;
    }

    LintPlace place_of(const sim::KernelInfo &kernel, const sim::Code &code, u32 i) {
        if (i == sim::Code::none)
            return {};
        const u64 pc = code.base + code.instructions[i].offset;
        LintPlace place{"", 0, code.instructions[i].text, pc - kernel.entry};
        if (place.instruction.empty())
            place.instruction = fmt::format(".long 0x{:08x}", code.instructions[i].word0);
        if (const sim::SourcePlace source = program_->source_place(pc); !source.file.empty()) {
            place.file = sources_.path(source.file).value_or(source.file);
            place.line = source.line;
        }
        return place;
    }

    bool is_meant(const LintRow &row) {
        if (row.place.line == 0)
            return false;
        auto at = meant_.find(row.place.file);
        if (at == meant_.end()) {
            std::error_code ignored;
            const bool there = std::filesystem::is_regular_file(row.place.file, ignored);
            at = meant_.emplace(row.place.file, there ? read_text(row.place.file) : "").first;
        }
        return at->second.covers(row.place.line, lint::info(row.rule).id);
    }

    const Options &options_;
    const std::string path_, gfx_;
    const std::shared_ptr<const sim::Program> program_;
    Sources sources_;
    std::map<std::string, Suppressions> meant_; // by source file
};

// Findings of a baseline file: by kernel, rule and instruction, so that lines may move.
class Baseline {
public:
    explicit Baseline(const std::string &path) {
        try {
            const Json all = Json::parse(read_text(path));
            for (const Json &row : all.at("known"))
                ++known_[key(row.at("gfx"), row.at("kernel"), row.at("rule"),
                             row.at("instruction"))];
        } catch (const Json::exception &error) {
            throw Error(fmt::format("--baseline {}: {}: write it with --write-baseline", path,
                                    error.what()));
        }
    }
    // Removes known findings.
    void apply(LintFile &file) {
        const size_t before = file.rows.size();
        std::erase_if(file.rows, [&](const LintRow &row) {
            const auto at = known_.find(key(
                file.gfx, row.kernel, std::string(lint::info(row.rule).id), row.place.instruction));
            return at != known_.end() && at->second > 0 && at->second--;
        });
        file.suppressed += static_cast<u32>(before - file.rows.size());
    }
    static void write(const std::string &path, const std::vector<LintFile> &files) {
        Json known = Json::array();
        for (const LintFile &file : files)
            for (const LintRow &row : file.rows)
                known.push_back({{"gfx", file.gfx},
                                 {"kernel", row.kernel},
                                 {"rule", lint::info(row.rule).id},
                                 {"instruction", row.place.instruction}});
        write_text("--write-baseline", path, Json{{"known", known}}.dump(1) + "\n");
    }

private:
    using Key = std::array<std::string, 4>;
    static Key key(std::string gfx, std::string kernel, std::string rule, std::string instruction) {
        return {std::move(gfx), std::move(kernel), std::move(rule), std::move(instruction)};
    }
    std::map<Key, u32> known_;
};

void print(const Options &o, const std::vector<LintFile> &files) {
    if (o.json || o.sarif) {
        fmt::print("{}\n", (o.json ? lint_json(files) : lint_sarif(files)).dump(1));
        return;
    }
    u64 kernels = 0, suppressed = 0;
    std::map<lint::Severity, u64> counts;
    for (const LintFile &file : files) {
        fmt::print("{}", lint_text(file));
        kernels += file.kernels, suppressed += file.suppressed;
        for (const LintRow &row : file.rows)
            ++counts[lint::info(row.rule).severity];
    }
    fmt::print("{} kernels: {} errors, {} warnings", kernels, counts[lint::Severity::error],
               counts[lint::Severity::warning]);
    if (o.notes)
        fmt::print(", {} notes", counts[lint::Severity::note]);
    if (suppressed)
        fmt::print(", {} suppressed", suppressed);
    fmt::print("\n");
}

void lint_all(const Options &o) {
    if (!o.gfx.empty())
        check_readable_gfx(o.gfx);
    std::vector<LintFile> files(o.files.size());
    parallel_each(o.files.size(),
                  [&] { return [&](u64 n) { files[n] = File(o, o.files[n]).run(); }; });
    if (!o.write_baseline.empty())
        Baseline::write(o.write_baseline, files);
    if (!o.baseline.empty()) {
        Baseline baseline(o.baseline);
        for (LintFile &file : files)
            baseline.apply(file);
    }
    print(o, files);
    for (const LintFile &file : files)
        for (const LintRow &row : file.rows)
            if (lint::info(row.rule).severity != lint::Severity::note)
                throw Findings();
}

// Subject of an H rule's title; findings put the register or instruction in front of it.
std::string_view subject(std::string_view rule) {
    constexpr std::pair<std::string_view, std::string_view> others[] = {
        {"H-009", "VGPRs"},      {"H-011", "A value"},         {"H-012", "Scratch memory"},
        {"H-016", "EXEC"},       {"H-017", "LDS or memory"},   {"H-020", "A buffer's offset"},
        {"H-021", "A branch"},   {"H-022", "s_inst_prefetch"}, {"H-023", "The denormal mode"},
        {"H-024", "The offset"}, {"H-031", "A clause"}};
    const auto at =
        std::ranges::find(others, rule, &std::pair<std::string_view, std::string_view>::first);
    return at == std::end(others) ? "A register" : at->second;
}

std::string sentence(const lint::RuleInfo &rule) {
    if (rule.id.starts_with("H-"))
        return fmt::format("{} {}.", subject(rule.id), rule.title);
    std::string text = fmt::format("{}.", rule.title);
    if (text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

void print_rules() {
    std::vector<lint::RuleInfo> rules(lint::all_rules().begin(), lint::all_rules().end());
    std::ranges::sort(rules, {}, &lint::RuleInfo::id);
    for (const lint::RuleInfo &rule : rules)
        for (std::string begin = fmt::format("{}  {:<8} ", rule.id, name(rule.severity));
             const std::string &line : wrapped(sentence(rule), 100 - begin.size())) {
            fmt::print("{}{}\n", begin, line);
            begin.assign(begin.size(), ' ');
        }
}

void run(const Options &o) {
    if (o.rules)
        return print_rules();
    if (o.files.empty())
        throw Error("lint: name at least one file; see --help");
    lint_all(o);
}

constexpr const char *footer = R"(
A finding is an error or a warning; exit codes: nw --help.

  nw lint kernel.s --gfx gfx1151
  nw lint build/hsaco/*/*.hsaco --notes
  nw lint kernel.s --write-baseline known.json; nw lint kernel.s --baseline known.json    new findings only

To suppress a finding, name the rule and the reason on its source line or the one above:
  s_barrier                // nw lint: W-003 the other waves read what was written before)";

} // namespace

void add_lint(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand("lint", "Check kernels for bugs without running them");
    command.footer = footer;
    command.add("file", &o->files,
                "Code objects (linked or not), offload bundles, host programs with "
                "embedded code objects, .s, .hip or .cl files");
    command.add("--gfx", &o->gfx,
                "Target, from gfx1010 on; default: the file's, if it has only one");
    command.add("--kernel", &o->kernel, "Check only this kernel");
    command.add("--source", &o->source,
                "The .s file of the code object; default: next to it, or in build/asm");
    command.add("--json", &o->json, "Print JSON");
    command.add("--sarif", &o->sarif, "Print SARIF 2.1.0", {.excludes = {"--json"}});
    command.add("--notes", &o->notes, "Also report code that costs time but is no bug");
    command.add("--rules", &o->rules, "List the rules; notes of H rules are in isa_notes");
    command.add("--baseline", &o->baseline, "Leave out findings listed in this file",
                {.existing_file = true});
    command.add("--write-baseline", &o->write_baseline,
                "Write the findings to this file, for --baseline", {.writable_file = true});
    add_watch_option(command, o->watch);
    command.run = [o] { run_watched(o->watch && !o->rules, o->files, [&] { run(*o); }); };
}

} // namespace nw::cli
