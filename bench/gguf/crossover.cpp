// SPDX-License-Identifier: MIT
#include "bench/gguf/crossover.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/processes.h"
#include "bench/decode_times.h"
#include "measure/cold_gguf.h"
#include "runtime/gguf.h"
#include "runtime/gguf_linear.h"

namespace nw::bench {

namespace {

// Without --only: a square layer, and the widest of a model of 27 billion weights.
constexpr std::array<std::string_view, 2> usual = {"q4_K 4096x4096", "q4_K 17408x5120"};
// A draft's tree, verified: 1 + 8 to 1 + 22 rows.
constexpr u32 tree_from = 9, tree_to = 23;

struct Way {
    std::string column;
    const Kernel *kernel;
};

struct Timed {
    Way way;
    GgufShape shape;
    f64 us = 0;
};

std::string name(const GgufShape &p) { return fmt::format("{} {}x{}", p.type, p.n, p.k); }

// "mid_b16" of gguf_mid_q4_K_b16.
std::string short_name(const Kernel &k) {
    std::string out(k.symbol);
    const std::string type = fmt::format("_{}", k.param("type"));
    if (const auto at = out.find(type); at != std::string::npos)
        out.erase(at, type.size());
    return out.substr(std::string_view("gguf_").size());
}

// Scalar products up to 8 rows at a time are one way, whose kernel differs with m; others that
// there are, references too, are one each.
std::vector<Way> ways_of(const std::string &gfx, const GgufShape &p) {
    std::vector<Way> out{
        {"scalar", &choose_gguf_decode(gfx, p.type, std::min(p.m, gguf_decode_rows))}};
    for (const Kernel *k : gguf_route_kernels(gfx, p.type, p.m, p.n, p.k, References::with))
        if (k->family != "gguf_decode" || k->reference)
            out.push_back({short_name(*k), k});
    return out;
}

std::vector<GgufShape> shapes_of(const Options &o, const std::vector<LinearShape> &layers) {
    const std::regex only = only_pattern(o);
    std::vector<GgufShape> out;
    for (const LinearShape &layer : layers)
        for (const GgufBlocks &blocks : gguf_types()) {
            const GgufShape p{blocks.type, 1, layer.n, layer.k};
            const std::string text = name(p);
            const bool wanted = o.only.empty() ? std::ranges::find(usual, text) != usual.end()
                                               : std::regex_search(text, only);
            const bool again =
                std::ranges::any_of(out, [&](const GgufShape &q) { return name(q) == text; });
            if (wanted && !again && !layer.moe && layer.k % blocks.elements == 0)
                out.push_back(p);
        }
    if (out.empty())
        throw Usage(
            fmt::format("--only {}: no shape has such a name; {} is one", o.only, usual[0]));
    return out;
}

std::vector<Timed> jobs_of(const Options &o, const std::string &gfx,
                           const std::vector<GgufShape> &shapes) {
    std::vector<Timed> out;
    for (GgufShape p : shapes)
        for (u32 m : o.m) {
            p.m = m;
            for (const Way &way : ways_of(gfx, p))
                out.push_back({way, p});
        }
    return out;
}

// Each on a device as new.
void time_all(std::vector<Timed> &jobs, const std::string &gfx) {
    setenv("HIPSIM_TIMING", "on", 0); // read when the simulated library is opened
    std::vector<u64> work;
    for (const Timed &t : jobs)
        work.push_back(t.shape.weight_bytes() * (2 + t.shape.m));
    const std::vector<f64> us = in_processes<f64>(work, [&](u64 i) {
        const hip::Device device("sim:" + gfx);
        ColdGguf product(device, std::span(&jobs[i].shape, 1), 1);
        return product.us(*jobs[i].way.kernel, jobs[i].shape);
    });
    for (u64 i = 0; i < jobs.size(); ++i)
        jobs[i].us = us[i];
}

// All ways of one shape and m.
struct Line {
    std::span<const Timed> ways;
    const Timed *fastest, *chosen; // chosen: null where the library takes none of these

    const GgufShape &shape() const { return ways.front().shape; }
    const Timed *by(std::string_view column) const {
        const auto found =
            std::ranges::find(ways, column, [](const Timed &t) { return t.way.column; });
        return found == ways.end() ? nullptr : &*found;
    }
};

std::vector<Line> lines_of(const std::vector<Timed> &timed, const std::string &gfx) {
    std::vector<Line> out;
    for (u64 from = 0, to; from < timed.size(); from = to) {
        const GgufShape &p = timed[from].shape;
        for (to = from;
             to < timed.size() && timed[to].shape.m == p.m && name(timed[to].shape) == name(p);)
            ++to;
        const std::span<const Timed> ways(&timed[from], to - from);
        const Timed *fastest = &ways.front(), *chosen = nullptr;
        const Kernel *choice = explain_gguf(gfx, p.type, p.m, p.n, p.k).kernel;
        for (const Timed &t : ways) {
            if (t.us < fastest->us)
                fastest = &t;
            if (t.way.kernel == choice)
                chosen = &t;
        }
        out.push_back({ways, fastest, chosen});
    }
    return out;
}

std::vector<std::string> columns_of(std::span<const Line> lines) {
    std::vector<std::string> out;
    for (const Line &line : lines)
        for (const Timed &t : line.ways)
            if (std::ranges::find(out, t.way.column) == out.end())
                out.push_back(t.way.column);
    return out;
}

u64 width(const std::string &column) { return std::max<u64>(column.size(), 8); }

void print_line(const Line &line, const std::vector<std::string> &columns, f64 one) {
    fmt::print("{:>4}", line.shape().m);
    for (const std::string &column : columns) {
        const Timed *t = line.by(column);
        fmt::print(" {:>{}}", t ? fmt::format("{:.2f}", t->us) : "-", width(column));
    }
    fmt::print("  {:<14}", line.fastest->way.column);
    const std::string chosen = !line.chosen || line.chosen == line.fastest
                                   ? ""
                                   : fmt::format("{}, {:.3f}x", line.chosen->way.column,
                                                 line.chosen->us / line.fastest->us);
    fmt::print(" {:<22}", line.chosen ? chosen : "another");
    fmt::print(" {}\n", one > 0 ? fmt::format("{:.3f}", line.fastest->us / one) : "-");
}

// "from 9 rows on mid_b16 (18.45 us; scalar 24.13)"
void print_crossings(std::span<const Line> lines) {
    const Timed *before = nullptr;
    for (const Line &line : lines) {
        if (before && before->way.column != line.fastest->way.column) {
            const Timed *old = line.by(before->way.column);
            fmt::print("{} rows: {} is the fastest, {:.2f} us{}\n", line.shape().m,
                       line.fastest->way.column, line.fastest->us,
                       old ? fmt::format("; {} {:.2f}", old->way.column, old->us) : "");
        }
        before = line.fastest;
    }
}

void print_trees(std::span<const Line> lines) {
    std::string text;
    for (const Line &line : lines)
        if (const Timed *scalar = line.by("scalar");
            scalar && line.shape().m >= tree_from && line.shape().m <= tree_to)
            text += fmt::format("{} m{} {:.2f}x", text.empty() ? "" : ",", line.shape().m,
                                scalar->us / line.fastest->us);
    if (!text.empty())
        fmt::print("Trees of {} to {} rows, the scalar way by the fastest:{}\n", tree_from, tree_to,
                   text);
}

void print_table(std::span<const Line> lines) {
    const std::vector<std::string> columns = columns_of(lines);
    fmt::print("\n{}\n{:>4}", name(lines.front().shape()), "m");
    for (const std::string &column : columns)
        fmt::print(" {:>{}}", column, width(column));
    fmt::print("  {:<14} {:<22} {}\n", "fastest", "chosen, if another", "/m1");
    const f64 one = lines.front().shape().m == 1 ? lines.front().fastest->us : 0;
    for (const Line &line : lines)
        print_line(line, columns, one);
    print_crossings(lines);
    print_trees(lines);
}

nlohmann::json to_json(const Line &line, const Timed &t) {
    return {{"table", "crossover"},
            {"kernel", t.way.kernel->symbol},
            {"gfx", t.way.kernel->gfx},
            {"way", t.way.column},
            {"type", t.shape.type},
            {"m", t.shape.m},
            {"n", t.shape.n},
            {"k", t.shape.k},
            {"time_us", t.us},
            {"reference", t.way.kernel->reference},
            {"fastest", &t == line.fastest},
            {"chosen", &t == line.chosen}};
}

} // namespace

std::vector<u32> crossover_rows() {
    return {1, 2, 4, 6, 8, 9, 10, 12, 14, 16, 17, 20, 23, 24, 25, 28, 32, 33, 40, 48, 56, 64};
}

nlohmann::json run_gguf_crossover(const Options &o, const std::vector<LinearShape> &shapes) {
    const std::string gfx = simulated_gfx(o);
    std::vector<Timed> timed = jobs_of(o, gfx, shapes_of(o, shapes));
    time_all(timed, gfx);
    const std::vector<Line> lines = lines_of(timed, gfx);
    fmt::print("\nWays to a product with GGUF weights on sim {}, us of all launches of a way, "
               "conversions of activations among them; weights\ncold. scalar: gguf_decode, 8 rows "
               "at a time; /m1: the fastest by that of one row\n",
               gfx);
    for (u64 from = 0, to; from < lines.size(); from = to) {
        for (to = from; to < lines.size() && name(lines[to].shape()) == name(lines[from].shape());)
            ++to;
        print_table(std::span(lines).subspan(from, to - from));
    }
    nlohmann::json json = nlohmann::json::array();
    for (const Line &line : lines)
        for (const Timed &t : line.ways)
            json.push_back(to_json(line, t));
    return json;
}

} // namespace nw::bench
