// SPDX-License-Identifier: MIT
// Human-readable ranking of the atlas: text, and an HTML page.
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nw/atlas/report.h"
#include "nw/html.h"
#include "nw/text_table.h"

namespace nw::cli {

namespace {

std::string us(f64 value) { return fmt::format("{:.2f}", value); }
std::string percent(f64 part, f64 of) {
    return of > 0 ? fmt::format("{:.1f} %", 100 * part / of) : "-";
}
std::string number(const std::optional<u64> &value) {
    return value ? fmt::format("{}", *value) : "-";
}
// No gain is shown where the bound is unknown.
Cells bound_cells(const AtlasRow &r, f64 total) {
    if (!r.bound_us)
        return {"-", "-", "-"};
    return {percent(*r.bound_us, r.us), us(r.gain_us()), percent(r.gain_us(), total)};
}

TextTable suite_table(const AtlasGroup &g) {
    const f64 total = g.total_us();
    const bool joined =
        std::ranges::any_of(g.rows, [](const AtlasRow &r) { return r.other_us.has_value(); });
    TextTable t{g.title,
                fmt::format("{} us in total; {} us at the bounds, {} less", us(total),
                            us(total - g.gain_us()), percent(g.gain_us(), total)),
                {"layer", "kernel", "bound", "limiter", "N x K", "times", "us", "total us", "share",
                 "of bound", "gain us", "gain", "VGPRs", "waves"},
                4,
                {}};
    const bool drawn =
        std::ranges::any_of(g.rows, [](const AtlasRow &r) { return r.low_us.has_value(); });
    if (joined)
        t.head.push_back(g.front().simulated ? "card us" : "sim us");
    if (drawn)
        t.head.push_back("low us"), t.head.push_back("high us");
    for (const AtlasRow &r : g.rows) {
        Cells row = {printable(r.layer),
                     printable(r.kernel),
                     printable(r.bound),
                     printable(r.limiter),
                     r.n ? fmt::format("{}x{}", r.n, r.k) : fmt::format("{}", r.k),
                     fmt::format("{}", r.count),
                     us(r.us),
                     us(r.total_us()),
                     percent(r.total_us(), total)};
        for (std::string &cell : bound_cells(r, total))
            row.push_back(std::move(cell));
        row.push_back(number(r.vgprs)), row.push_back(number(r.waves));
        if (joined)
            row.push_back(r.other_us ? us(*r.other_us) : "-");
        if (drawn)
            for (const std::optional<f64> &end : {r.low_us, r.high_us})
                row.push_back(end ? us(*end) : "-");
        t.rows.push_back(std::move(row));
    }
    return t;
}

// The same kernel's ratio to its bound on the model, for any shape.
std::string modelled(const AtlasRow &row, std::span<const AtlasGroup> groups) {
    f64 least = 0, most = 0;
    for (const AtlasGroup &g : groups)
        for (const AtlasRow &r : g.rows)
            if (r.suite && r.simulated && r.bound_us && r.kernel == row.kernel &&
                r.gfx == row.gfx && r.us > 0) {
                const f64 share = 100 * *r.bound_us / r.us;
                least = most > 0 ? std::min(least, share) : share;
                most = std::max(most, share);
            }
    return most > 0 ? fmt::format("{:.0f}-{:.0f} %", least, most) : "-";
}

TextTable trace_table(const AtlasGroup &g, std::span<const AtlasGroup> groups) {
    const f64 total = g.total_us();
    f64 ours = 0;
    TextTable t{g.title,
                "",
                {"kernel", "limiter", "facts", "calls", "mean us", "min us", "max us", "total us",
                 "share", "VGPRs", "waves", "scratch", "of bound (sim)"},
                3,
                {}};
    for (const AtlasRow &r : g.rows) {
        ours += r.note.empty() ? r.total_us() : 0;
        t.rows.push_back({printable(r.kernel), printable(r.limiter),
                          r.note.empty() ? "yes" : r.note, fmt::format("{}", r.count), us(r.us),
                          us(r.min_us), us(r.max_us), us(r.total_us()),
                          percent(r.total_us(), total), number(r.vgprs), number(r.waves),
                          number(r.scratch), modelled(r, groups)});
    }
    t.below = fmt::format("{} us in all dispatches, {} of it in kernels of this build; a trace has "
                          "no shapes, so bounds are unknown; limiter: of the main loop, a static "
                          "count; of bound: of the same kernel on the model, if a file has it",
                          us(total), percent(ours, total));
    return t;
}

TextTable overview(std::span<const AtlasGroup> groups) {
    TextTable t{
        "Where the time goes",
        "",
        {"model", "type", "phase", "device", "most in", "m", "us", "at bounds", "gain", "share"},
        5,
        {}};
    for (const AtlasGroup &g : groups) {
        const AtlasRow &r = g.front();
        const f64 total = g.total_us();
        const bool bounds = r.bound_us.has_value();
        t.rows.push_back(
            {printable(r.model), printable(r.type), r.suite ? r.phase : "trace",
             fmt::format("{} {}", r.simulated ? "sim" : "card", r.gfx),
             printable(r.suite ? r.layer : r.kernel), r.suite ? fmt::format("{}", r.m) : "-",
             us(total), bounds ? us(total - g.gain_us()) : "-",
             bounds ? percent(g.gain_us(), total) : "-", percent(r.total_us(), total)});
    }
    return t;
}

std::vector<TextTable> tables(std::span<const AtlasGroup> groups) {
    std::vector<TextTable> out;
    if (groups.size() > 1)
        out.push_back(overview(groups));
    for (const AtlasGroup &g : groups)
        out.push_back(g.front().suite ? suite_table(g) : trace_table(g, groups));
    return out;
}

constexpr const char *style = R"(
table { border-collapse: collapse; font: 12px/1.5 ui-monospace, monospace; }
td, th { padding: 0 .8rem 0 0; text-align: right; border-bottom: 1px solid var(--rule); }
th { color: var(--faint); font-weight: normal; }
td, th { white-space: nowrap; }
td.w, th.w { text-align: left; }
td.w { white-space: normal; overflow-wrap: anywhere; min-width: 6rem; }
p { color: var(--faint); }
)";

std::string html(const Cells &cells, const char *tag, u64 words) {
    std::string out = "<tr>";
    for (u64 i = 0; i < cells.size(); ++i)
        out += fmt::format("<{0}{1}>{2}</{0}>", tag, i < words ? " class=\"w\"" : "",
                           escape(cells[i]));
    return out + "</tr>\n";
}

} // namespace

std::string atlas_text(std::span<const AtlasGroup> groups) {
    std::string out;
    for (const TextTable &t : tables(groups)) {
        if (!out.empty())
            out += '\n';
        out += text(t);
    }
    return out;
}

std::string atlas_html(std::span<const AtlasGroup> groups) {
    const bool sim =
        std::ranges::any_of(groups, [](const AtlasGroup &g) { return g.front().simulated; });
    std::string out =
        fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                    "<meta name=\"viewport\" content=\"width=device-width\"><title>Atlas{}</title>"
                    "<style>{}{}</style></head><body>\n<h1>Atlas{}</h1>\n",
                    sim ? " (sim)" : "", page_style, style, sim ? " (sim)" : "");
    for (const TextTable &t : tables(groups)) {
        out += fmt::format("<h2>{}</h2>\n<div class=\"wide\"><table>\n", escape(t.title));
        out += html(t.head, "th", t.words);
        for (const Cells &row : t.rows)
            out += html(row, "td", t.words);
        out += fmt::format("</table></div>\n<p>{}</p>\n", escape(t.below));
    }
    return out + "</body></html>\n";
}

} // namespace nw::cli
