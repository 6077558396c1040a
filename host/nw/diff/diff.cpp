// SPDX-License-Identifier: MIT
// nw diff: two versions of a kernel side by side.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "nw/commands.h"
#include "nw/diff/align.h"
#include "nw/info/parts.h"
#include "nw/launch.h"
#include "sim/isa/code.h"

namespace nw::cli {

namespace {

using Json = nlohmann::ordered_json;
using lint::Flow, lint::Loop;

struct Options {
    std::string a, b, kernel_b;
    LaunchOptions launch;
    bool json = false, timed = false;
};

struct Timed {
    f64 us = 0;
    u64 cycles = 0;
    std::string limiter;
};

// One of the two versions.
struct Side {
    Side(const Options &o, const std::string &path, const std::string &kernel)
        : options{o.launch.gfx, o.launch.part, kernel, 0, o.launch.dynamic_lds},
          file(path, options), info(file, only(path, kernel), options) {
        if (!o.timed)
            return;
        LaunchOptions launch = o.launch;
        launch.file = path;
        launch.kernel = info.kernel().name;
        launch.gfx = file.gfx;
        Launch run(launch);
        sim::timing::Result result;
        for (u32 n = 0; n < launch.repeat; ++n)
            result = run.run().result;
        timed = {result.time_us, result.cycles, result.limiter};
    }

    const sim::KernelInfo &only(const std::string &path, const std::string &kernel) const {
        const auto kernels = file.kernels(kernel);
        if (kernels.size() == 1)
            return *kernels.front();
        std::vector<std::string_view> names;
        for (const sim::KernelInfo *k : kernels)
            names.push_back(k->name);
        throw Error(
            fmt::format("{}: has {} kernels: choose one with --kernel, B's with --kernel-b: {}",
                        path, names.size(), fmt::join(names, ", ")));
    }

    InfoOptions options;
    InfoFile file;
    Info info;
    Timed timed;
};

// A loop of A and the loop of B with the matching header.
struct AlignedLoop {
    std::optional<u32> a, b;
};

class Comparison {
public:
    Comparison(const Options &o)
        : options(o), a(o, o.a, o.launch.kernel),
          b(o, o.b, o.kernel_b.empty() ? o.launch.kernel : o.kernel_b),
          blocks(align(a.info.survey, b.info.survey)) {
        std::vector<bool> seen(b.info.survey.loops.all().size());
        for (u32 n = 0; n < a.info.survey.loops.all().size(); ++n) {
            AlignedLoop pair{n, {}};
            for (u32 k = 0; k < seen.size(); ++k)
                if (!seen[k] && !pair.b && same_head(n, k))
                    pair.b = k, seen[k] = true;
            loops.push_back(pair);
        }
        for (u32 k = 0; k < seen.size(); ++k)
            if (!seen[k])
                loops.push_back({{}, k});
    }

    // Differences of matched blocks; empty if nothing changed.
    std::vector<DiffLine> changes(const AlignedBlock &pair) const {
        const auto lines = diff(lines_of(a.info.survey, *pair.a), lines_of(b.info.survey, *pair.b));
        const bool same =
            std::ranges::all_of(lines, [](const DiffLine &l) { return l.mark == ' '; });
        return same ? std::vector<DiffLine>{} : lines;
    }

    const Options &options;
    const Side a, b;
    const std::vector<AlignedBlock> blocks;
    std::vector<AlignedLoop> loops;

private:
    bool same_head(u32 of_a, u32 of_b) const {
        const u32 head_a = a.info.survey.loops.all()[of_a].head;
        const u32 head_b = b.info.survey.loops.all()[of_b].head;
        return std::ranges::any_of(
            blocks, [&](const AlignedBlock &pair) { return pair.a == head_a && pair.b == head_b; });
    }
};

lint::Work work_of(const Side &side, const std::optional<u32> &block) {
    return block ? side.info.survey.blocks[*block] : lint::Work{};
}

UnitCycles cycles_of(const Side &side, u32 loop) {
    return side.info.units.of_trip(side.info.survey.loops.all()[loop]);
}

// ---- JSON
// ---------------------------------------------------------------------------------------------------

Json delta_json(const lint::Work &a, const lint::Work &b) {
    Json out = Json::object();
    for (size_t n = 0; n < a.by_class.size(); ++n)
        out[std::string(name(static_cast<sim::Class>(n)))] =
            static_cast<i64>(b.by_class[n]) - static_cast<i64>(a.by_class[n]);
    out["total"] = static_cast<i64>(b.instructions()) - static_cast<i64>(a.instructions());
    return out;
}

Json changes_json(const Comparison &c, const AlignedBlock &pair) {
    Json out = Json::array();
    const u32 first_a = c.a.info.survey.flow.blocks()[*pair.a].first;
    const u32 first_b = c.b.info.survey.flow.blocks()[*pair.b].first;
    for (const DiffLine &line : c.changes(pair)) {
        const bool of_b = line.mark == '+';
        const Info &info = of_b ? c.b.info : c.a.info;
        const u32 i = of_b ? first_b + line.b : first_a + line.a;
        if (line.mark != ' ')
            out.push_back({{"mark", std::string(1, line.mark)},
                           {"place", info.place(i)},
                           {"instruction", info.text(i)}});
    }
    return out;
}

Json block_json(const Comparison &c, const AlignedBlock &pair) {
    const lint::Work a = work_of(c.a, pair.a), b = work_of(c.b, pair.b);
    const auto live = [](const Side &side, const std::optional<u32> &n) {
        return n ? Json(side.info.peak_of(*n)) : Json();
    };
    Json changes = pair.a && pair.b ? changes_json(c, pair) : Json::array();
    const bool changed = !pair.a || !pair.b || !changes.empty();
    return {{"a", pair.a ? Json(*pair.a) : Json()},
            {"b", pair.b ? Json(*pair.b) : Json()},
            {"similarity", pair.similarity},
            {"changed", changed},
            {"live_vgprs_a", live(c.a, pair.a)},
            {"live_vgprs_b", live(c.b, pair.b)},
            {"mix_a", mix_json(a)},
            {"mix_b", mix_json(b)},
            {"delta", delta_json(a, b)},
            {"changes", std::move(changes)}};
}

Json loop_json(const Comparison &c, const AlignedLoop &pair) {
    const auto side = [](const Side &s, const std::optional<u32> &n) {
        if (!n)
            return Json();
        const Loop &loop = s.info.survey.loops.all()[*n];
        return Json{{"loop", *n},
                    {"head", loop.head},
                    {"mix", mix_json(s.info.survey.trip(loop))},
                    {"cycles", cycles_json(cycles_of(s, *n), s.info.waves())}};
    };
    return {{"a", side(c.a, pair.a)}, {"b", side(c.b, pair.b)}};
}

Json comparison_json(const Comparison &c) {
    const auto side = [&](const Side &s) {
        Json out = {{"path", s.file.path}, {"gfx", s.file.gfx}, {"part", s.file.part->name}};
        out.update(summary_json(s.info));
        out["timing"] = c.options.timed ? Json{{"model", "sim"},
                                               {"time_us", s.timed.us},
                                               {"cycles", s.timed.cycles},
                                               {"limiter", s.timed.limiter}}
                                        : Json();
        return out;
    };
    Json blocks = Json::array(), loops = Json::array();
    for (const AlignedBlock &pair : c.blocks)
        blocks.push_back(block_json(c, pair));
    for (const AlignedLoop &pair : c.loops)
        loops.push_back(loop_json(c, pair));
    return {{"model", "sim"},
            {"a", side(c.a)},
            {"b", side(c.b)},
            {"delta", delta_json(c.a.info.survey.total, c.b.info.survey.total)},
            {"loops", std::move(loops)},
            {"blocks", std::move(blocks)}};
}

// ---- text
// ---------------------------------------------------------------------------------------------------

template <class T> std::string number_row(std::string_view what, T a, T b) {
    const f64 by = static_cast<f64>(b) - static_cast<f64>(a);
    return fmt::format("{:<34} {:>12g} {:>12g} {:>12}\n", what, static_cast<f64>(a),
                       static_cast<f64>(b), by == 0 ? "" : fmt::format("{:+g}", by));
}

std::string mix_rows(std::string_view indent, const lint::Work &a, const lint::Work &b) {
    std::string out;
    for (size_t n = 0; n < a.by_class.size(); ++n)
        if (a.by_class[n] || b.by_class[n])
            out += number_row(fmt::format("{}{}", indent, name(static_cast<sim::Class>(n))),
                              a.by_class[n], b.by_class[n]);
    return out;
}

std::string summary_text(const Comparison &c) {
    const Info &a = c.a.info, &b = c.b.info;
    const auto peak = [](const Info &i) { return i.survey.live.vgprs(i.survey.live.peak()); };
    std::string out = fmt::format("A: {} of {}\nB: {} of {}\n{}, {} [sim: modelled cycles]\n\n",
                                  a.kernel().name, c.a.file.path, b.kernel().name, c.b.file.path,
                                  c.a.file.gfx, c.a.file.part->name);
    out += fmt::format("{:<34} {:>12} {:>12} {:>12}\n", "", "A", "B", "B - A");
    if (c.options.timed) {
        out += number_row("time, us", c.a.timed.us, c.b.timed.us);
        out += number_row("cycles", c.a.timed.cycles, c.b.timed.cycles);
        out +=
            fmt::format("{:<34} {:>12} {:>12}\n", "limiter", c.a.timed.limiter, c.b.timed.limiter);
    }
    out += number_row("VGPRs allocated", a.occupancy.vgprs, b.occupancy.vgprs);
    out += number_row("VGPRs used", a.survey.vgprs_used, b.survey.vgprs_used);
    out += number_row("VGPRs live at most", peak(a), peak(b));
    out += number_row("SGPRs used", a.survey.sgprs_used, b.survey.sgprs_used);
    out += number_row("LDS bytes", a.occupancy.lds_bytes, b.occupancy.lds_bytes);
    out += number_row("waves per SIMD", a.occupancy.waves, b.occupancy.waves);
    out += number_row("code bytes", a.survey.bytes, b.survey.bytes);
    out += number_row("instructions", a.survey.instructions, b.survey.instructions);
    return out + mix_rows("  ", a.survey.total, b.survey.total);
}

std::string loops_text(const Comparison &c) {
    std::string out;
    for (const AlignedLoop &pair : c.loops) {
        if (!pair.a || !pair.b) {
            const Side &side = pair.a ? c.a : c.b;
            out += fmt::format("\nloop {} of {} only\n", pair.a ? *pair.a : *pair.b,
                               pair.a ? "A" : "B");
            const u32 head = side.info.survey.loops.all()[pair.a ? *pair.a : *pair.b].head;
            out += fmt::format("  from {}\n",
                               side.info.place(side.info.survey.flow.blocks()[head].first));
            continue;
        }
        const UnitCycles a = cycles_of(c.a, *pair.a), b = cycles_of(c.b, *pair.b);
        const f64 waves_a = c.a.info.waves(), waves_b = c.b.info.waves();
        const BoundUnit bound_a = bound(a, waves_a), bound_b = bound(b, waves_b);
        out += fmt::format("\nloop {} and {}, cycles per iteration [sim]; bound: {} and {}\n",
                           *pair.a, *pair.b, name(bound_a), name(bound_b));
        for (size_t n = 0; n < a.of.size(); ++n)
            if (const auto u = static_cast<BoundUnit>(n); a[u] > 0 || b[u] > 0)
                out += number_row(fmt::format("  {} of one wave", name(u)), a[u], b[u]);
        out += number_row("  bound, of all waves", shared_cycles(a, bound_a, waves_a),
                          shared_cycles(b, bound_b, waves_b));
    }
    return out;
}

std::string block_text(const Comparison &c, const AlignedBlock &pair) {
    constexpr u32 around = 2; // lines that are shown with a change
    const auto lines = c.changes(pair);
    if (lines.empty())
        return "";
    std::string out = fmt::format("\nblock {} and {}\n", *pair.a, *pair.b);
    out += mix_rows("  ", work_of(c.a, pair.a), work_of(c.b, pair.b));
    const u32 first_a = c.a.info.survey.flow.blocks()[*pair.a].first;
    const u32 first_b = c.b.info.survey.flow.blocks()[*pair.b].first;
    std::vector<bool> shown(lines.size());
    for (size_t n = 0; n < lines.size(); ++n)
        if (lines[n].mark != ' ')
            for (size_t k = n - std::min<size_t>(n, around); k <= n + around && k < lines.size();
                 ++k)
                shown[k] = true;
    for (size_t n = 0; n < lines.size(); ++n) {
        if (!shown[n]) {
            if (n && shown[n - 1])
                out += "    ...\n";
            continue;
        }
        const bool of_b = lines[n].mark == '+';
        const Info &info = of_b ? c.b.info : c.a.info;
        const u32 i = of_b ? first_b + lines[n].b : first_a + lines[n].a;
        out += fmt::format("  {} {:<16} {}\n", lines[n].mark, info.place(i), info.text(i));
    }
    return out;
}

std::string blocks_text(const Comparison &c) {
    std::string out;
    u32 same = 0;
    for (const AlignedBlock &pair : c.blocks) {
        if (pair.a && pair.b) {
            const std::string text = block_text(c, pair);
            same += text.empty();
            out += text;
            continue;
        }
        const Side &side = pair.a ? c.a : c.b;
        const u32 n = pair.a ? *pair.a : *pair.b;
        const lint::Block &block = side.info.survey.flow.blocks()[n];
        out += fmt::format("\nblock {} of {} only, from {}: {}\n", n, pair.a ? "A" : "B",
                           side.info.place(block.first), mix_text(side.info.survey.blocks[n]));
    }
    return out + fmt::format("\n{} blocks are equal.\n", same);
}

void run(const Options &o) {
    const Comparison c(o);
    if (o.json)
        fmt::print("{}\n", comparison_json(c).dump(1, ' ', false, Json::error_handler_t::replace));
    else
        fmt::print("{}{}{}", summary_text(c), loops_text(c), blocks_text(c));
}

constexpr const char *footer = R"(
Basic blocks are matched in reverse postorder by mnemonics and loop nesting. Loop cycles are those of nw
info. With --grid, --block or --args both versions also run on the modelled GPU, as in nw time.

  nw diff old.s new.s --gfx gfx1151
  nw diff old.hsaco new.hsaco --grid 4096 --args buf:64M buf:64M u32:4096)";

} // namespace

void add_diff(Command &app) {
    auto o = std::make_shared<Options>();
    Command &command = app.add_subcommand("diff", "Compare two versions of a kernel");
    command.footer = footer;
    command.add("a", &o->a, "A code object or .s file", {.required = true});
    command.add("b", &o->b, "The other one", {.required = true});
    add_launch_options(command, o->launch);
    command.add("--kernel-b", &o->kernel_b, "Kernel of B; default: as --kernel");
    command.add("--json", &o->json, "Print JSON");
    command.run = [o, &command] {
        for (const char *option : {"--grid", "--block", "--args"})
            o->timed |= command.given(option);
        run(*o);
    };
}

} // namespace nw::cli
