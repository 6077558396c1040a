// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <iterator>

#include "nw/annotate/annotate.h"
#include "nw/annotate/figures.h"
#include "nw/annotate/glossary.h"
#include "nw/html.h"

namespace nw::cli {

namespace {

using sim::timing::AnnotatedLine, sim::timing::Annotation, sim::timing::Loop, sim::timing::Stall;

constexpr const char *style = R"(
p, dl { color: var(--faint); margin: .3rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dd { margin: 0; color: var(--ink); }
table { border-collapse: collapse; font: 12px/1.5 ui-monospace, monospace; }
th { color: var(--faint); font-weight: normal; text-align: left; position: sticky; top: 0;
  background: var(--paper); border-bottom: 1px solid var(--rule); }
td, th { padding: 0 .6rem 0 0; white-space: pre; vertical-align: top; }
td.n, th.n { text-align: right; }
td.share { padding-left: .4rem; }
td.code { white-space: pre-wrap; overflow-wrap: anywhere; min-width: 12rem; tab-size: 4; }
td.line { color: var(--faint); text-align: right; }
td.line a { color: inherit; }
tr[style] td.share { background: rgb(var(--hot) / var(--heat)); }
tr.off td { color: var(--faint); }
tr:target td, tr:hover td { background: rgb(var(--hot) / .12); }
abbr { text-decoration: none; cursor: help; }
dl.glossary { margin-bottom: 2rem; }
.bar { display: inline-flex; width: min(12rem, 14vw); height: .8em; vertical-align: -.05em; }
.bar i { height: 100%; }
td.loop { padding: 0; }
td.loop b { display: inline-block; width: .5rem; height: 1.5em; vertical-align: top;
  border-left: 2px solid transparent; }
td.loop b.in { border-color: var(--loop); }
td.loop b.first { border-top: 2px solid var(--loop); border-radius: 4px 0 0 0; }
td.loop b.last { border-bottom: 2px solid var(--loop); border-radius: 0 0 0 4px; }
ol.next { margin: .3rem 0; padding-left: 1.5rem; }
.key span { display: inline-block; margin-right: 1rem; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
@media (max-width: 640px) { body { margin: .6rem; } .bar { width: 3rem; } td, th { padding-right: .3rem; }
  table.lines td:nth-child(2), table.lines th:nth-child(2) { display: none; }
  td.code { min-width: 8rem; } dl { grid-template-columns: 1fr; } dt { margin-top: .3rem; } }
)";

// Distinct colours in both schemes: hues advance by the golden angle.
std::string colour(Stall s) {
    return fmt::format("hsl({} 65% 55%)", static_cast<u32>(s) * 137 % 360);
}

class Page {
public:
    Page(const Launch &launch, const sim::timing::Result &r, const Annotation &a,
         const Advised &advised)
        : launch_(launch), r_(r), a_(a), advised_(advised), worst_(a.worst(10)) {
        most_ = worst_.empty() ? 1 : static_cast<f64>(a.lines[worst_.front()].cycles());
        for (const Loop &loop : a.loops)
            depths_ = std::max(depths_, loop.depth + 1);
    }

    std::string make() {
        const std::string kernel = escape(launch_.dispatch().kernel->name);
        add("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<title>{} on {} (sim)</title><style>{}{}{}</style></head><body>\n",
            kernel, escape(r_.part), page_style, style, figures_style);
        add("<h1>{}</h1><p>Modelled for the {} ({}), not measured.</p>\n", kernel, escape(r_.part),
            launch_.device().gfx);
        summary();
        key();
        advice();
        add("{}{}{}", units_html(launch_, r_), occupancy_html(launch_, r_),
            roofline_html(launch_, r_));
        add("<h2>Lines with the most cycles</h2>\n");
        begin_table();
        for (size_t n : worst_)
            row(n, false);
        add("</table>\n");
        for (size_t n = 0; n < a_.lines.size(); ++n) {
            if (!a_.lines[n].file.empty()) {
                add("{}<h2>{}</h2>\n", n ? "</table>\n" : "", escape(a_.lines[n].file));
                begin_table();
            }
            row(n, true);
        }
        add("{}{}</body></html>\n", a_.lines.empty() ? "" : "</table>\n", glossary_html());
        return std::move(text_);
    }

private:
    template <class... A> void add(fmt::format_string<A...> format, A &&...args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<A>(args)...);
    }

    void summary() {
        const sim::Dispatch &d = launch_.dispatch();
        add("<dl><dt>time</dt><dd>{:.2f} µs, {} cycles at {:.0f} "
            "MHz</dd><dt>{}</dt><dd>{}</dd><dt>launch</dt><dd>grid {} × {} × {}, block {} × "
            "{} × {}, {:.1f} waves per {}</dd><dt>timed</dt><dd>{} of {} workgroups, {} waves, "
            "{} instructions</dd><dt>wave cycles</dt><dd>{}, {} of them stalled</dd></dl>\n",
            r_.time_us, r_.cycles, r_.mhz, explained("limiter"), escape(r_.limiter), d.grid.x,
            d.grid.y, d.grid.z, d.block.x, d.block.y, d.block.z, r_.occupancy, explained("SIMD"),
            r_.groups_timed, r_.groups, r_.waves, a_.total.issued, a_.total.cycles(),
            a_.total.lost);
    }

    void key() {
        add("<p class=\"key\">");
        for (const auto &[why, cycles] : a_.total.reasons())
            add("<span><i style=\"background:{}\"></i>{} {:.1f} %</span>", colour(why),
                explained(name(why)), 100 * share(cycles, a_.total.cycles()));
        add("</p>\n");
    }

    void advice() {
        add("<h2>What to change next (sim)</h2>\n");
        if (advised_.list.empty())
            add("<p>{}</p>\n", escape(advised_.otherwise));
        else
            add("<ol class=\"next\">");
        for (const Advice &advice : advised_.list) {
            add("<li>{}", escape(advice.text()));
            for (const Evidence &e : advice.where)
                add("{}<a href=\"#l{}\">{}</a> {:.0f} %", &e == advice.where.data() ? "<br>" : ", ",
                    line_with(e.index), escape(e.place), 100 * e.share);
            add("</li>");
        }
        add("{}", advised_.list.empty() ? "" : "</ol>\n");
    }

    // The line of an instruction.
    size_t line_with(u32 index) const {
        const auto has = [&](const AnnotatedLine &line) {
            return std::ranges::find(line.instructions, index) != line.instructions.end();
        };
        return static_cast<size_t>(std::ranges::find_if(a_.lines, has) - a_.lines.begin());
    }

    void begin_table() {
        add("<table class=\"lines\"><tr><th class=\"n\">{}</th><th class=\"n\">{}</th>"
            "<th class=\"n\">{}</th><th>{}</th><th></th><th class=\"n\">line</th>"
            "<th></th></tr>\n",
            explained("times"), explained("cycles lost"), explained("share"),
            explained("waiting for"));
    }

    void row(size_t n, bool in_place) {
        const AnnotatedLine &line = a_.lines[n];
        const std::string id = fmt::format("l{}", n);
        const bool ran = line.issued != 0;
        add("<tr{}{}", in_place ? fmt::format(" id=\"{}\"", id) : "", ran ? "" : " class=\"off\"");
        if (ran)
            add(" style=\"--heat:{:.2f}\" title=\"{}\"",
                0.8 * static_cast<f64>(line.cycles()) / most_, hover(line));
        add("><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n "
            "share\">{}</td><td>{}</td>",
            ran                         ? std::to_string(line.issued)
            : line.instructions.empty() ? ""
                                        : "0",
            ran ? std::to_string(line.lost) : "", percent(a_.share(line)), ran ? bar(line) : "");
        add("<td class=\"loop\">{}</td><td class=\"line\">{}</td><td class=\"code\">{}</td></tr>\n",
            loops(n),
            in_place ? escape(line.place)
                     : fmt::format("<a href=\"#{}\">{}</a>", id, escape(line.place)),
            escape(line.text));
    }

    // Blank where it would read 0.0 %.
    static std::string percent(f64 share) {
        return share < 0.0005 ? "" : fmt::format("{:.1f} %", 100 * share);
    }

    static f64 share(u64 part, u64 all) {
        return all ? static_cast<f64>(part) / static_cast<f64>(all) : 0;
    }

    std::string hover(const AnnotatedLine &line) const {
        std::string text = fmt::format("{} times, {} cycles lost", line.issued, line.lost);
        for (const auto &[why, cycles] : line.reasons())
            text += fmt::format("\n{}: {} cycles, {:.1f} %, {:.1f} each time", name(why), cycles,
                                100 * share(cycles, line.lost), share(cycles, line.issued));
        return escape(text);
    }

    // Bar length is the line's cost, colours are its stall reasons.
    std::string bar(const AnnotatedLine &line) const {
        std::string parts;
        for (const auto &[why, cycles] : line.reasons())
            if (const f64 width = 100 * static_cast<f64>(cycles) / most_; width >= 0.5)
                parts += fmt::format("<i style=\"width:{:.1f}%;background:{}\"></i>", width,
                                     colour(why));
        return parts.empty() ? "" : "<span class=\"bar\">" + parts + "</span>";
    }

    std::string loops(size_t n) const {
        std::vector<std::string> marks(depths_, "<b></b>");
        for (const Loop &loop : a_.loops)
            if (n >= loop.first && n <= loop.last)
                marks[loop.depth] =
                    fmt::format("<b class=\"in{}{}\"></b>", n == loop.first ? " first" : "",
                                n == loop.last ? " last" : "");
        std::string text;
        for (const std::string &mark : marks)
            text += mark;
        return text;
    }

    const Launch &launch_;
    const sim::timing::Result &r_;
    const Annotation &a_;
    const Advised &advised_;
    const std::vector<size_t> worst_;
    f64 most_ = 1; // cycles of the worst line
    u32 depths_ = 0;
    std::string text_;
};

} // namespace

std::string html_page(const Launch &launch, const sim::timing::Result &r, const Annotation &a,
                      const Advised &advised) {
    return Page(launch, r, a, advised).make();
}

} // namespace nw::cli
