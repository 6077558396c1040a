// SPDX-License-Identifier: MIT
#include "bench/sensitivity/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/parallel.h"
#include "base/progress.h"
#include "bench/line_fit.h"
#include "bench/part_constants.h"
#include "bench/sensitivity/least_squares.h"
#include "bench/temporary_folder.h"

namespace nw::bench {

namespace {

namespace fs = std::filesystem;

constexpr const char *part = "8060S";
// Rows of few bytes, and the cliff's steepest.
constexpr const char *small_rows =
    "^decode (2048x2048|2560x2560|4096x2048|8192x512) g128 (f16 sym|bf16 zp) m[124] us$"
    "|^cliff gfx1151 (4096x2048|8192x512) ";

// A run of validate with one constant changed; factor 1: as it is.
struct Variant {
    const Constant *constant = nullptr;
    f64 factor = 1;
    bool small = false;        // for a derivative, not for the table
    std::vector<f64> modelled; // by row, once it ran
};

std::vector<Constant> uncertain_constants(const std::regex &wanted) {
    std::vector<Constant> out = part_constants(part);
    std::erase_if(out, [&](const Constant &c) {
        return c.origin == "fact" || !std::regex_search(c.name, wanted);
    });
    return out;
}

// What the constant becomes: within its range, whole where it counts something; a kind is the other
// one, whatever the factor.
f64 changed(const Constant &c, f64 factor) {
    if (c.unit == "kind")
        return 1 - c.value;
    const bool whole =
        c.unit != "ns" && c.unit != "us" && c.unit != "ratio" && c.unit != "gb_per_s";
    const f64 to = c.value * factor;
    return std::clamp(whole ? std::round(to) : to, c.lowest, c.highest);
}

std::vector<Variant> plan(const std::vector<Constant> &constants) {
    std::vector<Variant> out{{}};
    const auto add = [&](const Constant &c, f64 factor, bool small) {
        const f64 to = changed(c, factor);
        if (to == c.value || (c.unit == "kind" && factor < 1))
            return false;
        out.push_back({&c, factor, small, {}});
        return true;
    };
    for (const Constant &c : constants) {
        add(c, 0.5, false);
        add(c, 2, false);
        // How the fit could follow a row: by a small step, or the smallest that there is.
        if (c.origin == "fit")
            static_cast<void>(add(c, 1.05, true) || add(c, 1.5, true));
    }
    return out;
}

nlohmann::json validate(const fs::path &scratch, const std::string &only, u64 number,
                        const Variant &v) {
    const fs::path profile = scratch / fmt::format("{}.profile", number),
                   out = scratch / fmt::format("{}.json", number);
    nlohmann::json json = {{"schema", "nibblewave.profile.v1"}, {"part", part}};
    if (v.constant)
        json[v.constant->section][v.constant->name] = changed(*v.constant, v.factor);
    std::ofstream(profile) << json.dump();
    return run_json(
               fmt::format("HIPSIM_PROFILE={} {} --suite validate --only {} --json {} > /dev/null",
                           quoted(profile), quoted(programs() / "nw_bench"), quoted(only),
                           quoted(out)),
               out)
        .at("rows");
}

// Runs them all, as many at once as there are processors. Returns the rows as published.
nlohmann::json run_all(const fs::path &scratch, const std::string &only,
                       std::vector<Variant> &variants) {
    nlohmann::json rows;
    Progress progress(variants.size());
    std::mutex mutex; // of the two above
    parallel_each(variants.size(), [&] {
        return [&](u64 n) {
            // An --only that matches nothing ends in an error here; validate has said which.
            const nlohmann::json got = validate(scratch, only, n, variants[n]);
            for (const auto &row : got)
                variants[n].modelled.push_back(row.at("modelled"));
            const std::scoped_lock held(mutex);
            if (!variants[n].constant)
                rows = got;
            progress.advance(1);
            progress.show(fmt::format("{} of {}", n + 1, variants.size()));
        };
    });
    return rows;
}

// By how much the rows of a group move, in percent.
struct Move {
    f64 mean = 0, most = 0; // both with their sign
};

Move move_of(const nlohmann::json &rows, std::string_view group, const Variant &base,
             const Variant &v) {
    Move out;
    u64 count = 0;
    for (u64 i = 0; i < rows.size(); ++i) {
        if (rows[i].at("group") != group)
            continue;
        const f64 pct = error_pct(v.modelled[i], base.modelled[i]);
        out.mean += pct;
        if (std::fabs(pct) > std::fabs(out.most))
            out.most = pct;
        ++count;
    }
    if (count)
        out.mean /= static_cast<f64>(count);
    return out;
}

f64 mape(const nlohmann::json &rows, std::string_view group, const Variant &v) {
    std::vector<f64> errors;
    for (u64 i = 0; i < rows.size(); ++i)
        if (rows[i].at("group") == group)
            errors.push_back(error_pct(v.modelled[i], rows[i].at("published")));
    return errors.empty() ? 0 : summarize(errors).mape;
}

nlohmann::json print_moves(const nlohmann::json &rows, const Variant &base,
                           const std::vector<Variant> &variants) {
    fmt::print(
        "\nEach constant of the {} that isn't published, halved and doubled: by how much the "
        "rows move, in percent\n(mean, and the one that moves most), and the MAPE then\n\n"
        "{:<18} {:<6} {:<6} {:>22} | {:>16} {:>7} | {:>16} {:>7}\n",
        part, "constant", "origin", "note", "", "decode", "MAPE", "cliff", "MAPE");
    std::vector<const Variant *> sorted;
    for (const Variant &v : variants)
        if (v.constant && !v.small)
            sorted.push_back(&v);
    const auto size = [&](const Variant *v) {
        return std::max(std::fabs(move_of(rows, "decode", base, *v).most),
                        std::fabs(move_of(rows, "cliff", base, *v).most));
    };
    std::ranges::stable_sort(sorted, std::greater<>(), size);
    nlohmann::json json = nlohmann::json::array();
    std::vector<std::string> still;
    for (const Variant *v : sorted) {
        const Constant &c = *v->constant;
        const Move decode = move_of(rows, "decode", base, *v),
                   cliff = move_of(rows, "cliff", base, *v);
        json.push_back({{"constant", c.name},
                        {"origin", c.origin},
                        {"from", c.value},
                        {"to", changed(c, v->factor)},
                        {"decode_mean_pct", decode.mean},
                        {"decode_most_pct", decode.most},
                        {"cliff_mean_pct", cliff.mean},
                        {"cliff_most_pct", cliff.most}});
        if (size(v) < 0.05) {
            still.push_back(fmt::format("{} {}", c.name, changed(c, v->factor)));
            continue;
        }
        fmt::print("{:<18} {:<6} {:<6} {:>22} | {:>+7.1f} {:>+8.1f} {:>7.2f} | {:>+7.1f} {:>+8.1f} "
                   "{:>7.2f}\n",
                   c.name, c.origin, c.note,
                   fmt::format("{:g} -> {:g}", c.value, changed(c, v->factor)), decode.mean,
                   decode.most, mape(rows, "decode", *v), cliff.mean, cliff.most,
                   mape(rows, "cliff", *v));
    }
    fmt::print("\nNothing moves by 0.05 % with: {}\n", fmt::join(still, ", "));
    fmt::print("As it is: decode MAPE {:.2f} %, cliff {:.2f} %\n", mape(rows, "decode", base),
               mape(rows, "cliff", base));
    return json;
}

// What the fitted constants owe to each row: its error had they been fitted to all the others.
void print_left_out(const nlohmann::json &rows, const Variant &base,
                    const std::vector<Variant> &variants) {
    std::vector<u64> of_decode;
    for (u64 i = 0; i < rows.size(); ++i)
        if (rows[i].at("group") == "decode")
            of_decode.push_back(i);
    if (of_decode.empty())
        return;
    const auto errors_of = [&](const Variant &v) {
        std::vector<f64> errors;
        for (u64 i : of_decode)
            errors.push_back(error_pct(v.modelled[i], rows[i].at("published")));
        return errors;
    };
    const std::vector<f64> errors = errors_of(base);
    std::vector<std::vector<f64>> derivatives;
    for (const Variant &v : variants)
        if (v.small) {
            std::vector<f64> &column = derivatives.emplace_back(errors_of(v));
            for (u64 i = 0; i < column.size(); ++i)
                column[i] -= errors[i];
        }
    const Errors100 all = summarize(errors), without = summarize(left_out(errors, derivatives));
    fmt::print(
        "decode, {} rows, {} fitted constants: MAPE {:.2f} %, worst {:+.2f} %; each row left out "
        "of the fit (to first order): MAPE {:.2f} %, worst {:+.2f} %\n",
        errors.size(), derivatives.size(), all.mape, all.worst, without.mape, without.worst);
}

} // namespace

nlohmann::json run_sensitivity(const Options &o) {
    static_cast<void>(only_pattern(o)); // said before anything runs
    const std::string only = o.only.empty() ? small_rows : o.only;
    const TemporaryFolder folder;
    const std::vector<Constant> constants = uncertain_constants(constants_pattern(o));
    if (constants.empty())
        throw Usage(
            fmt::format("--constants {}: matches no fitted or guessed constant; nw constants "
                        "lists them",
                        o.constants));
    std::vector<Variant> variants = plan(constants);
    const nlohmann::json rows = run_all(folder.path(), only, variants);
    const nlohmann::json json = print_moves(rows, variants.front(), variants);
    print_left_out(rows, variants.front(), variants);
    return json;
}

} // namespace nw::bench
