// SPDX-License-Identifier: MIT
// nw annotate: the source of a kernel with, per line, how often it ran, what it cost, and why.
#include "nw/annotate/annotate.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>

#include "nw/code_object.h"
#include "nw/commands.h"
#include "nw/sources.h"
#include "nw/watch.h"

namespace nw::cli {

namespace {

using sim::timing::AnnotatedLine, sim::timing::Annotation, sim::timing::Loop;

struct Options {
    LaunchOptions launch;
    std::string html, source;
    bool advice = false, watch = false;
};

constexpr int heat_cells = 5;

// Bar width relative to the most expensive line.
std::string heat(f64 share, f64 worst) {
    constexpr const char *eighths[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int left = worst > 0 ? static_cast<int>(share / worst * 8 * heat_cells + 0.5) : 0;
    std::string bar;
    for (int cell = 0; cell < heat_cells; ++cell, left -= std::min(left, 8))
        bar += left >= 8 ? "█" : eighths[left];
    return bar;
}

std::string why(const AnnotatedLine &line, size_t most) {
    std::string text;
    for (const auto &[reason, cycles] : line.reasons()) {
        const u64 percent = (cycles * 100 + line.lost / 2) / line.lost;
        if (most-- == 0 || percent == 0)
            break;
        text += fmt::format("{}{} {} %", text.empty() ? "" : ", ", name(reason), percent);
    }
    return text;
}

// ╭ where a loop begins, ╰ where it ends, innermost right.
std::string loop_marks(const Annotation &a, size_t line, u32 depths) {
    std::vector<const char *> marks(depths, " ");
    for (const Loop &loop : a.loops)
        if (line >= loop.first && line <= loop.last)
            marks[loop.depth] = loop.first == loop.last ? "○"
                                : line == loop.first    ? "╭"
                                : line == loop.last     ? "╰"
                                                        : "│";
    std::string text;
    for (const char *mark : marks)
        text += mark;
    return text;
}

template <class... A> void print_row(const A &...cells) {
    std::string row = fmt::format("{:>10} {:>12} {:>6}  {}  {:<34} {} {:>6}  {}", cells...);
    row.erase(row.find_last_not_of(' ') + 1);
    fmt::print("{}\n", row);
}

void print_line(const Annotation &a, size_t n, f64 worst, u32 depths) {
    const AnnotatedLine &line = a.lines[n];
    const std::string marks = loop_marks(a, n, depths);
    if (line.issued == 0) {
        print_row(line.instructions.empty() ? "" : "0", "", "", std::string(heat_cells, ' '), "",
                  marks, line.place, line.text);
        return;
    }
    const f64 share = a.share(line);
    print_row(line.issued, line.lost, fmt::format("{:.1f} %", 100 * share), heat(share, worst),
              why(line, 2), marks, line.place, line.text);
}

void print_summary(const Launch &launch, const sim::timing::Result &r, const Annotation &a) {
    fmt::print("{} on {} ({}) [sim]: {:.2f} us, {} cycles, limiter {}\n",
               launch.dispatch().kernel->name, r.part, launch.device().gfx, r.time_us, r.cycles,
               r.limiter);
    fmt::print(
        "{} instructions of {} waves of {} workgroups{}: {} wave cycles, {} of them stalled: {}\n",
        a.total.issued, r.waves, r.groups_timed,
        r.groups_timed < r.groups ? fmt::format(" (a sample of {})", r.groups) : "",
        a.total.cycles(), a.total.lost, why(a.total, 6));
}

void print_advice(const Advised &advised) {
    fmt::print("\nWhat to change next (sim):\n");
    for (const std::string &line : advised.lines(98))
        fmt::print("  {}\n", line);
}

void print_text(const Launch &launch, const sim::timing::Result &r, const Annotation &a,
                const Advised &advised) {
    print_summary(launch, r, a);
    print_advice(advised);
    const auto worst = a.worst(10);
    const f64 most = worst.empty() ? 0 : a.share(a.lines[worst.front()]);
    u32 depths = 1;
    for (const Loop &loop : a.loops)
        depths = std::max(depths, loop.depth + 1);
    const auto header = [&] {
        print_row("times", "cycles lost", "share", "heat ", "waiting for", std::string(depths, ' '),
                  "line", "");
    };
    fmt::print("\nLines with the most cycles:\n");
    header();
    for (size_t n : worst)
        print_line(a, n, most, depths);
    for (size_t n = 0; n < a.lines.size(); ++n) {
        if (!a.lines[n].file.empty()) {
            fmt::print("\n{}:\n", a.lines[n].file);
            header();
        }
        print_line(a, n, most, depths);
    }
}

void run(const Options &o) {
    LaunchOptions kept = o.launch;
    keep_for_advice(kept, o.advice);
    Launch launch(kept);
    sim::timing::Result result;
    for (u32 n = 0; n < o.launch.repeat; ++n)
        result = launch.run().result;
    Sources sources(o.launch.file, o.source, launch.device().gfx);
    const Annotation a = annotate(launch.dispatch(), result,
                                  [&](const std::string &file) { return sources.find(file); });
    sources.check_used();
    const Advised advised = advise(launch, result);
    if (o.html.empty())
        return print_text(launch, result, a, advised);
    write_text("--html", o.html, html_page(launch, result, a, advised));
    print_summary(launch, result, a);
    print_advice(advised);
}

} // namespace

void add_annotate(Command &app) {
    auto options = std::make_shared<Options>();
    Command &command = app.add_subcommand(
        "annotate", "Show the modelled cost and stall reason of each source line");
    add_options(command, options->launch);
    command.add("--html", &options->html, "Write one HTML page to this file",
                {.writable_file = true});
    command.add("--source", &options->source,
                "The .s file of the code object; default: next to it, or in build/asm");
    add_advice_option(command, options->advice);
    command.footer = "\nWhat to change next: as nw time --help explains.\n\n"
                     "  nw annotate saxpy.s --grid 1024 --html saxpy.html --args buf:4M:f32 buf:4M "
                     "u32:1048576\n"
                     "  nw annotate saxpy.hip --gfx gfx1201 --grid 64 --args buf:64K buf:64K "
                     "u32:16384 --watch";
    add_watch_option(command, options->watch);
    command.run = [options] {
        run_watched(options->watch, {options->launch.file}, [&] { run(*options); });
    };
}

} // namespace nw::cli
