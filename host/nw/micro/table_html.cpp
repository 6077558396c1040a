// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <iterator>
#include <map>

#include "nw/html.h"
#include "nw/micro/table.h"

namespace nw::cli {

namespace {

using sim::timing::Constant;

constexpr const char *style = R"(
p { color: var(--faint); margin: .3rem 0; max-width: 50rem; }
table { border-collapse: collapse; font: 12px/1.5 ui-monospace, monospace; }
th { color: var(--faint); font-weight: normal; text-align: left; border-bottom: 1px solid var(--rule);
  vertical-align: bottom; }
td, th { padding: 0 .8rem 0 0; white-space: nowrap; vertical-align: top; }
td.n, th.n { text-align: right; }
td.collides { background: rgb(var(--hot) / .18); }
td.guess { color: rgb(var(--hot)); }
td.wrap { white-space: normal; min-width: 12rem; }
tr:target td, tr:hover td { background: rgb(var(--hot) / .12); }
a { color: inherit; }
input { font: inherit; width: min(20rem, 90vw); background: var(--paper); color: var(--ink);
  border: 1px solid var(--rule); padding: .2rem .4rem; }
)";

// Rows whose mnemonic contains what is typed.
constexpr const char *script = R"(<script>
const rows = document.querySelectorAll("#instructions tr[id]");
document.querySelector("input").addEventListener("input", event => {
  for (const row of rows)
    row.hidden = !row.id.includes(event.target.value.trim());
});
</script>
)";

class Page {
public:
    explicit Page(const InstructionTable &table) : table_(table) {}

    std::string make() {
        const std::string device = escape(table_.device);
        add("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<title>Instructions of {}</title><style>{}{}</style></head><body>\n",
            device, page_style, style);
        add("<h1>Instructions of {}</h1><p>Cycles of a wave alone{}.</p>\n", device,
            table_.simulated ? ", modelled (sim), not measured on a card" : ", measured");
        explain();
        add("<p><input type=\"search\" placeholder=\"part of a name\" "
            "aria-label=\"part of a name\"></p>\n");
        measured();
        constants();
        left_out();
        add("{}</body></html>\n", script);
        return std::move(text_);
    }

private:
    template <class... A> void add(fmt::format_string<A...> format, A &&...args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<A>(args)...);
    }

    void explain() {
        add("<p>Latency: a chain of copies in which each reads the result of the one before. "
            "Throughput: independent copies, from issue to issue. In turn with: the instruction "
            "and one of another unit, alternating; where the cell is coloured, the pair takes as "
            "long as one after the other. A wave needs two cycles to issue two, so two of one "
            "cycle "
            "can't be told apart. Hover over a number for the code and for what it comes "
            "from.</p>\n");
    }

    void measured() {
        add("<div class=\"wide\"><table id=\"instructions\"><tr><th>instruction</th><th>unit</th>"
            "<th class=\"n\">latency</th><th class=\"n\">throughput</th>");
        for (const Companion &c : table_.beside)
            add("<th class=\"n\" title=\"{}, alone {:.2f} cycles\">in turn<br>with {}</th>",
                escape(c.line), c.alone, c.unit);
        add("<th>evidence: latency</th><th>throughput</th><th>remark</th></tr>\n");
        for (const InstructionRow &row : table_.rows)
            if (row.why_not.empty())
                add_row(row);
        add("</table></div>\n");
    }

    void add_row(const InstructionRow &row) {
        add("<tr id=\"{}\"><td>{}</td><td>{}</td>", escape(row.mnemonic), escape(row.mnemonic),
            row.unit);
        if (row.latency)
            add("<td class=\"n\" title=\"{}\">{:.2f}</td>", escape(row.chain), row.latency->cycles);
        else
            add("<td></td>");
        add("<td class=\"n\" title=\"{}\">{:.2f}</td>",
            escape(fmt::format("{}\n{} independent copies", row.line, row.copies)),
            row.throughput.cycles);
        for (size_t n = 0; n < companions; ++n)
            add("<td class=\"n{}\">{:.2f}</td>", table_.collides(row, n) ? " collides" : "",
                row.pairs[n]);
        evidence(row, row.latency ? &*row.latency : nullptr);
        evidence(row, &row.throughput);
        add("<td>{}</td></tr>\n", escape(row.remark));
    }

    // A link to each constant.
    void evidence(const InstructionRow &row, const MeasuredCycles *m) {
        if (!m) {
            add("<td></td>");
            return;
        }
        const std::string text = table_.evidence(row, *m);
        add("<td{}>{}", text.ends_with("guess") ? " class=\"guess\"" : "", text);
        for (const std::string &name : m->constants)
            add(" <a href=\"#c-{0}\">{0}</a>", name);
        add("</td>");
    }

    void constants() {
        if (table_.constants.empty())
            return;
        add("<h2>Constants that the numbers come from</h2><p>fact: published; fit: fitted to "
            "published times; guess: neither. The notes are in isa_notes.</p>\n"
            "<div class=\"wide\"><table><tr><th>constant</th><th class=\"n\">cycles</th>"
            "<th>origin</th><th>likely</th><th>note</th><th></th></tr>\n");
        for (const Constant &c : table_.constants)
            add("<tr id=\"c-{0}\"><td>{0}</td><td class=\"n\">{1:g}</td><td>{2}</td><td>{3}</td>"
                "<td>{4}</td><td class=\"wrap\">{5}</td></tr>\n",
                c.name, c.value, sim::timing::name(c.origin),
                c.likely.low == c.likely.high
                    ? ""
                    : fmt::format("{:g} to {:g}", c.likely.low, c.likely.high),
                c.note, escape(c.what));
        add("</table></div>\n");
    }

    void left_out() {
        std::map<std::string_view, std::string> names;
        for (const InstructionRow &row : table_.rows)
            if (!row.why_not.empty()) {
                std::string &list = names[row.why_not];
                list += (list.empty() ? "" : ", ") + row.mnemonic;
            }
        if (names.empty())
            return;
        add("<h2>Not measured</h2><div class=\"wide\"><table>\n");
        for (const auto &[why, list] : names)
            add("<tr><td class=\"wrap\">{}</td><td class=\"wrap\">{}</td></tr>\n", escape(why),
                escape(list));
        add("</table></div>\n");
    }

    const InstructionTable &table_;
    std::string text_;
};

} // namespace

std::string table_html(const InstructionTable &table) { return Page(table).make(); }

} // namespace nw::cli
