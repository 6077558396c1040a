// SPDX-License-Identifier: MIT
// The suite sensitivity: modelled times of the suite validate with each unpublished constant of the
// model at the ends of its likely range.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

#include "base/pattern.h"
#include "bench/fit.h"
#include "bench/part.h"
#include "bench/result.h"
#include "bench/temporary_folder.h"
#include "bench/validate/tables.h"
#include "measure/on_cores.h"

namespace nw::bench {

namespace {

namespace fs = std::filesystem;

constexpr const char *part = "8060S";
// Rows of few bytes, and the cliff's steepest.
constexpr const char *small_rows =
    "^decode (2048x2048|2560x2560|4096x2048|8192x512) g128 (f16 sym|bf16 zp) m[124] us$"
    "|^cliff gfx1151 (4096x2048|8192x512) ";

// A run of validate with one constant changed, or none.
struct Variant {
    const Constant *constant = nullptr;
    f64 to = 0;
    bool small = false;        // for a derivative, not for the table
    std::vector<f64> modelled; // by row, once it ran
};

// A small step of the constant: legal, whole where it counts something.
f64 stepped(const Constant &c, f64 factor) {
    const bool whole =
        c.unit != "ns" && c.unit != "us" && c.unit != "ratio" && c.unit != "gb_per_s";
    const f64 to = c.value * factor;
    return std::clamp(whole ? std::round(to) : to, c.lowest, c.highest);
}

std::vector<Variant> plan(const std::vector<Constant> &constants) {
    std::vector<Variant> out{{}};
    const auto add = [&](const Constant &c, f64 to, bool small) {
        if (to == c.value)
            return false;
        out.push_back({&c, to, small, {}});
        return true;
    };
    for (const Constant &c : constants) {
        add(c, c.likely_low, false);
        add(c, c.likely_high, false);
        // A derivative for the fit: by a small step, or the smallest possible one.
        if (c.origin == "fit")
            static_cast<void>(add(c, stepped(c, 1.05), true) || add(c, stepped(c, 1.5), true));
    }
    return out;
}

// A profile with the constant of the variant.
std::string write_profile(const fs::path &folder, u64 number, const Variant &v) {
    Json json = {{"schema", "nibblewave.profile.v1"}, {"part", part}};
    if (v.constant)
        json[v.constant->section][v.constant->name] = v.to;
    const fs::path path = folder / fmt::format("{}.profile", number);
    std::ofstream(path) << json.dump();
    return path.string();
}

// Differences of a group's rows from `from`, or from published figures, in percent.
std::vector<f64> moves(const Json &rows, std::string_view group, const Variant &v,
                       const Variant *from = nullptr) {
    std::vector<f64> out;
    for (u64 i = 0; i < rows.size(); ++i)
        if (rows[i].at("group") == group)
            out.push_back(error_pct(v.modelled[i],
                                    from ? from->modelled[i] : rows[i].at("published").get<f64>()));
    return out;
}

f64 mape(const Json &rows, std::string_view group, const Variant &v) {
    return summarize(moves(rows, group, v)).mape;
}

// Runs all variants, one per processor at a time, and prints a line as each ends. Returns the
// published rows.
Json run_all(const Pattern &only, std::vector<Variant> &variants) {
    const TemporaryFolder folder;
    Json rows;
    on_cores<Json>(
        std::vector<u64>(variants.size(), 1),
        [&](u64 i) {
            ModelRun run{only, write_profile(folder.path(), i, variants[i]), variants.size()};
            return measure_facts(run);
        },
        [&](u64 i, const Json &run) {
            Variant &v = variants[i];
            for (const Json &row : run)
                v.modelled.push_back(row.at("modelled"));
            if (i == 0)
                rows = run;
            fmt::print("{:>3} of {}  {:<40} MAPE decode {:>6.2f} %, cliff {:>6.2f} %\n", i + 1,
                       variants.size(),
                       v.constant ? fmt::format("{} = {:g}", v.constant->name, v.to) : "as it is",
                       mape(rows, "decode", v), mape(rows, "cliff", v));
            std::fflush(stdout);
        });
    return rows;
}

// A row of the table.
Json row_of(const Json &rows, const Variant &base, const Variant &v) {
    const Constant &c = *v.constant;
    const f64 to = v.to;
    Json out = {{"constant", c.name}, {"origin", c.origin},
                {"from", c.value},    {"to", to},
                {"_note", c.note},    {"_change", fmt::format("{:g} -> {:g}", c.value, to)}};
    f64 most = 0;
    for (const std::string group : {"decode", "cliff"}) {
        const Errors100 move = summarize(moves(rows, group, v, &base));
        out[group + "_mean_pct"] = move.mean;
        out[group + "_most_pct"] = move.worst;
        out["_" + group + "_mape"] = mape(rows, group, v);
        most = std::max(most, std::fabs(move.worst));
    }
    out["_most"] = most;
    return out;
}

// A list in lines of at most 100 columns.
std::string wrapped(const std::vector<std::string> &items) {
    constexpr u64 columns = 100;
    std::string out = " ";
    u64 at = 1;
    for (u64 i = 0; i < items.size(); ++i) {
        const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
        if (at + 1 + item.size() > columns) {
            out += "\n ";
            at = 1;
        }
        out += " " + item;
        at += 1 + item.size();
    }
    return out + "\n";
}

Json print_moves(const Json &rows, const std::vector<Variant> &variants, bool verbose) {
    const Variant &base = variants.front();
    std::vector<Json> all;
    for (const Variant &v : variants)
        if (v.constant && !v.small)
            all.push_back(row_of(rows, base, v));
    std::ranges::stable_sort(all, std::greater<>(),
                             [](const Json &row) { return row["_most"].get<f64>(); });
    Json moving = Json::array();
    std::vector<std::string> still;
    for (const Json &row : all)
        if (row["_most"] < 0.05)
            still.push_back(
                fmt::format("{} {}", row["constant"].get<std::string>(), row["to"].get<f64>()));
        else
            moving.push_back(row);
    fmt::print(
        "\nEach constant of the {} (sim) that isn't published, at the ends of its likely range: by "
        "how\nmany per cent modelled times (decode) and ratios (cliff) move, on the mean and "
        "the one that\nmoves most, and the mean absolute error (MAPE, %) then\n\n",
        part);
    print_table(
        std::string("constant {constant:<18}; origin {origin:<6}; changed {_change:>16}; |; "
                    "decode {decode_mean_pct:>+7.1f}; most {decode_most_pct:>+7.1f}; "
                    "MAPE {_decode_mape:>6.2f}; |; cliff {cliff_mean_pct:>+7.1f}; "
                    "most {cliff_most_pct:>+7.1f}; MAPE {_cliff_mape:>6.2f}") +
            (verbose ? "; note {_note}" : ""),
        moving);
    fmt::print("\nNothing moves by 0.05 % with:\n{}", wrapped(still));
    fmt::print("As it is: decode MAPE {:.2f} %, cliff {:.2f} %\n", mape(rows, "decode", base),
               mape(rows, "cliff", base));
    return all;
}

// Influence of each row on the fitted constants: its error if they were fitted to all other rows.
void print_left_out(const Json &rows, const std::vector<Variant> &variants) {
    const std::vector<f64> errors = moves(rows, "decode", variants.front());
    if (errors.empty())
        return;
    std::vector<std::vector<f64>> derivatives;
    for (const Variant &v : variants)
        if (v.small) {
            std::vector<f64> &column = derivatives.emplace_back(moves(rows, "decode", v));
            for (u64 i = 0; i < column.size(); ++i)
                column[i] -= errors[i];
        }
    const Errors100 all = summarize(errors), without = summarize(left_out(errors, derivatives));
    fmt::print(
        "decode, {} rows, {} fitted constants: MAPE {:.2f} %, worst {:+.2f} %; each row left out "
        "of the fit\n(to first order): MAPE {:.2f} %, worst {:+.2f} %\n",
        errors.size(), derivatives.size(), all.mape, all.worst, without.mape, without.worst);
}

} // namespace

Result run_suite(const Options &o, const Shapes &) {
    const Pattern only = o.only.empty() ? Pattern("--only", small_rows) : Pattern("--only", o.only);
    const Pattern wanted("--constants", o.constants);
    std::vector<Constant> constants = part_constants(part);
    std::erase_if(constants, [&](const Constant &c) {
        return c.origin == "fact" || !wanted.found_in(c.name);
    });
    if (constants.empty())
        throw Usage(
            fmt::format("--constants {}: matches no fitted or guessed constant; nw constants "
                        "lists them",
                        o.constants));
    std::vector<Variant> variants = plan(constants);
    const Json rows = run_all(only, variants);
    if (rows.empty())
        no_row(o, "the facts");
    Result out{print_moves(rows, variants, o.verbose)};
    print_left_out(rows, variants);
    return out;
}

} // namespace nw::bench
