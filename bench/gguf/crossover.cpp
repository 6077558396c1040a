// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <functional>
#include <optional>
#include <span>

#include "bench/gguf/tables.h"
#include "runtime/plan.h"

namespace nw::bench {

namespace {

// Without --only: a square layer, and the widest of a model of 27 billion weights.
constexpr std::array<std::string_view, 2> usual = {"q4_K 4096x4096", "q4_K 17408x5120"};
// A draft's tree, verified: 1 + 8 to 1 + 22 rows.
constexpr u32 tree_from = 9, tree_to = 23;

std::string name(const GgufShape &p) { return fmt::format("{} {}", p.type, by(p.n, p.k)); }

struct Candidate {
    std::string column;
    const Kernel *kernel;
    f64 us = 0;
    DrawnTime drawn = {};
};

// The candidates for one shape and m.
struct RowCount {
    GgufShape shape;
    std::vector<Candidate> candidates;

    const Candidate &fastest() const {
        return *std::ranges::min_element(candidates, {}, &Candidate::us);
    }
    // Draws in which the fastest stays ahead of the second, as "4/5"; "" without draws.
    std::string lead() const {
        const Candidate &first = fastest(), *second = nullptr;
        for (const Candidate &other : candidates)
            if (&other != &first && (!second || other.us < second->us))
                second = &other;
        return second ? agreement(first.drawn, second->drawn) : "";
    }
    // Null where the library takes none of these.
    const Candidate *chosen() const {
        const Kernel *kernel = &choose(candidates.front().kernel->gfx, shape.op());
        const auto found = std::ranges::find(candidates, kernel, &Candidate::kernel);
        return found == candidates.end() ? nullptr : &*found;
    }
    const Candidate *by(std::string_view column) const {
        const auto found = std::ranges::find(candidates, column, &Candidate::column);
        return found == candidates.end() ? nullptr : &*found;
    }
};

// "mid_b16" of gguf_mid_q4_K_b16.
std::string short_name(const Kernel &k) {
    std::string out(k.symbol);
    const std::string type = fmt::format("_{}", k.param("type"));
    if (const auto at = out.find(type); at != std::string::npos)
        out.erase(at, type.size());
    return out.substr(std::string_view("gguf_").size());
}

// gguf_decode, 8 rows at a time, is one candidate, whose kernel depends on m; every other kernel,
// baselines too, is one.
std::vector<Candidate> candidates_of(const std::string &gfx, const GgufShape &p) {
    const auto all = kernels_for(gfx, p.op(), References::with);
    const Kernel *scalar = *std::ranges::find_if(all, [](const Kernel *k) { return !k->p.bm; });
    std::vector<Candidate> out{{"scalar", cheapest_of_family(*scalar, p.op())}};
    for (const Kernel *k : all)
        if (k->p.bm || k->reference)
            out.push_back({short_name(*k), k});
    return out;
}

std::vector<GgufShape> shapes_of(const Options &o, const Shapes &layers) {
    const Pattern only("--only", o.only);
    std::vector<GgufShape> out;
    for (const LinearShape &layer : layers)
        for (const std::string_view type : gguf_types) {
            const GgufShape p{type, 1, layer.n, layer.k};
            const std::string text = name(p);
            const bool wanted = o.only.empty() ? std::ranges::find(usual, text) != usual.end()
                                               : only.found_in(text);
            const bool again =
                std::ranges::any_of(out, [&](const GgufShape &q) { return name(q) == text; });
            if (wanted && !again && !layer.moe && layer.k % find_ggml_type(type)->elements == 0)
                out.push_back(p);
        }
    if (out.empty())
        throw Usage(
            fmt::format("--only {}: no shape has such a name; {} is one", o.only, usual[0]));
    return out;
}

// Calls done(i) for each line in order, as soon as its candidates are timed.
void time_all(std::vector<RowCount> &lines, const std::function<void(u64)> &done) {
    std::vector<GgufJob> jobs;
    for (const RowCount &line : lines)
        for (const Candidate &candidate : line.candidates)
            jobs.push_back({line.shape, candidate.kernel});
    u64 line = 0, candidate = 0;
    time_gguf_plans(jobs, [&](u64, const Timed &time) {
        std::vector<Candidate> &of = lines[line].candidates;
        of[candidate].us = time.us, of[candidate].drawn = time.drawn;
        if (++candidate < of.size())
            return;
        done(line++);
        candidate = 0;
    });
}

// ---- the table of a shape

std::string columns_of(std::span<const RowCount> lines, bool all) {
    std::vector<std::string> candidates;
    for (const RowCount &line : lines)
        for (const Candidate &candidate : line.candidates)
            if (std::ranges::find(candidates, candidate.column) == candidates.end())
                candidates.push_back(candidate.column);
    const bool drawn = !lines.front().candidates.front().drawn.draws.empty();
    std::string out = std::string("m {m:>4}; time us {_us:>9.2f}; fastest {fastest:<14}; ") +
                      (drawn ? "sign {_sign:>4}; " : "") +
                      "/m1 {of_m1:>6}; "
                      "scalar us {scalar:>9.2f}; chosen, if another {chosen:<24}";
    for (const std::string &candidate : candidates)
        if (all && candidate != "scalar")
            out +=
                fmt::format("; {0} {{{0}:>{1}.2f}}", candidate, std::max<u64>(candidate.size(), 8));
    return out;
}

Json row_of(const RowCount &line, f64 one) {
    const Candidate &fastest = line.fastest(), *chosen = line.chosen();
    Json row = {{"m", line.shape.m},
                {"fastest", fastest.column},
                {"_us", fastest.us},
                {"_sign", line.lead()},
                {"chosen", !chosen              ? "another"
                           : chosen == &fastest ? ""
                                                : fmt::format("{}, {:.3f}x", chosen->column,
                                                              chosen->us / fastest.us)},
                {"of_m1", one > 0 ? fmt::format("{:.3f}", fastest.us / one) : "-"}};
    for (const Candidate &candidate : line.candidates)
        row[candidate.column] = candidate.us;
    return row;
}

// "from 9 rows on mid_b16 (18.45 us; scalar 24.13)"
void print_crossings(std::span<const RowCount> lines) {
    std::string before = lines.front().fastest().column;
    for (const RowCount &line : lines) {
        const Candidate &fastest = line.fastest();
        if (before != fastest.column) {
            const Candidate *old = line.by(before);
            fmt::print("{} rows: {} is the fastest, {:.2f} us{}\n", line.shape.m, fastest.column,
                       fastest.us, old ? fmt::format("; {} {:.2f}", old->column, old->us) : "");
        }
        before = fastest.column;
    }
}

void print_trees(std::span<const RowCount> lines) {
    std::string text;
    for (const RowCount &line : lines)
        if (const Candidate *scalar = line.by("scalar");
            scalar && line.shape.m >= tree_from && line.shape.m <= tree_to)
            text += fmt::format("{} m{} {:.2f}x", text.empty() ? "" : ",", line.shape.m,
                                scalar->us / line.fastest().us);
    if (!text.empty())
        fmt::print("Trees of {} to {} rows, time of scalar by that of the fastest:{}\n", tree_from,
                   tree_to, text);
}

// A table for each shape, with `of_shape` lines, one for each number of rows.
void time_and_print(std::vector<RowCount> &lines, u64 of_shape, bool verbose) {
    std::optional<Table> table;
    time_all(lines, [&](u64 i) {
        const auto shape =
            std::span<const RowCount>(lines).subspan(i / of_shape * of_shape, of_shape);
        if (&lines[i] == &shape.front()) {
            fmt::print("\n{}\n", name(shape.front().shape));
            table.emplace(columns_of(shape, verbose));
        }
        table->print(row_of(lines[i], shape.front().shape.m == 1 ? shape.front().fastest().us : 0));
        if (&lines[i] != &shape.back())
            return;
        print_crossings(shape);
        print_trees(shape);
    });
}

Json to_json(const RowCount &line, const Candidate &candidate) {
    Json row = {{"table", "crossover"},
                {"kernel", candidate.kernel->symbol},
                {"gfx", candidate.kernel->gfx},
                {"candidate", candidate.column},
                {"type", line.shape.type},
                {"m", line.shape.m},
                {"n", line.shape.n},
                {"k", line.shape.k},
                {"time_us", candidate.us},
                {"reference", candidate.kernel->reference},
                {"fastest", &candidate == &line.fastest()},
                {"chosen", &candidate == line.chosen()}};
    add_bounds(row, candidate.drawn);
    return row;
}

} // namespace

Json gguf_crossover(const Options &o, const Shapes &shapes) {
    const std::string gfx = simulated_gfx(o);
    std::vector<RowCount> lines; // for each shape one per value of o.m
    for (GgufShape p : shapes_of(o, shapes))
        for (u32 m : o.m) {
            p.m = m;
            lines.push_back({p, candidates_of(gfx, p)});
        }
    fmt::print("\nCandidates for a product with GGUF weights on sim {}: modelled times of all "
               "launches of one,\nconversions of activations among them; weights cold. m: rows of "
               "activations; time: of the fastest;\n/m1: that by the time of one row; scalar: "
               "gguf_decode, 8 rows at a time; chosen: by the library{}\n",
               gfx, o.verbose ? ";\nthen the time of each other candidate in us" : "");
    time_and_print(lines, o.m.size(), o.verbose);
    Json json = Json::array();
    for (const RowCount &line : lines)
        for (const Candidate &candidate : line.candidates)
            json.push_back(to_json(line, candidate));
    return json;
}

} // namespace nw::bench
