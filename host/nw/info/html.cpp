// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>

#include "nw/html.h"
#include "nw/info/graph.h"
#include "nw/info/parts.h"
#include "sim/isa/code.h"

namespace nw::cli {

namespace {

using lint::Block, lint::Flow, lint::Loop, lint::Pairs, lint::VopdRule;

constexpr const char *style = R"(
h3 { font-size: .9rem; margin: .8rem 0 .2rem; font-weight: 600; }
p, dl { color: var(--faint); margin: .3rem 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dd { margin: 0; color: var(--ink); }
a { color: inherit; }
.graph { overflow: auto; max-height: 80vh; border: 1px solid var(--rule); }
.graph text { font: 11px ui-monospace, monospace; fill: var(--ink); }
.node rect.box { fill: var(--paper); stroke: var(--faint); }
.node:hover rect.box { stroke: var(--loop); stroke-width: 2; }
.edge { fill: none; stroke: var(--faint); }
.edge.back { stroke: var(--loop); stroke-width: 1.5; }
.loop { fill: var(--loop); fill-opacity: .09; stroke: var(--loop); stroke-opacity: .35; }
.block { display: flex; overflow-x: auto; font: 12px/18px ui-monospace, monospace; margin-bottom: .6rem; }
.block svg { flex: none; }
.block:target { outline: 2px solid var(--loop); outline-offset: 2px; }
.live { fill: var(--loop); fill-opacity: .3; stroke: var(--loop); }
.full { stroke: var(--rule); }
.code { border-collapse: collapse; }
.code td { padding: 0 .6rem 0 0; white-space: pre; height: 18px; }
.code td.n { text-align: right; color: var(--faint); }
.code tr:target td, .code tr:hover td { background: rgb(var(--hot) / .12); }
.code i { display: inline-block; width: .5rem; height: 12px; }
table.loops { border-collapse: collapse; font: 12px/1.5 ui-monospace, monospace; }
table.loops td, table.loops th { padding: 0 .8rem 0 0; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); min-width: 2.5rem; }
table.loops td.units { white-space: nowrap; }
table.loops td.mix { min-width: 10rem; }
table.loops th { color: var(--faint); font-weight: normal; }
.key span { display: inline-block; margin-right: 1rem; }
.key i { display: inline-block; width: .8em; height: .8em; margin-right: .3em; }
)";

constexpr f64 curve_width = 90, line_height = 18;
// Metrics of the graph's labels: 11 px monospace; characters of the widest common fonts have
// 0.61 em.
constexpr f64 label_advance = 6.8, label_margin = 5;

// Distinct colours in both schemes: hues advance by the golden angle.
std::string colour(sim::Class c) {
    return fmt::format("hsl({} 65% 55%)", static_cast<u32>(c) * 137 % 360);
}

class Page {
public:
    explicit Page(const std::vector<std::unique_ptr<Info>> &kernels) : kernels_(kernels) {}

    std::string make() {
        const InfoFile &file = kernels_.front()->file;
        add("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width\">"
            "<title>{} for {} (sim)</title><style>{}{}</style></head><body>\n",
            escape(kernels_.size() == 1 ? kernels_.front()->kernel().name : file.path), file.gfx,
            page_style, style);
        for (kernel_ = 0; kernel_ < kernels_.size(); ++kernel_)
            section(*kernels_[kernel_]);
        add("</body></html>\n");
        return std::move(text_);
    }

private:
    template <class... A> void add(fmt::format_string<A...> format, A &&...args) {
        fmt::format_to(std::back_inserter(text_), format, std::forward<A>(args)...);
    }
    std::string block_id(u32 block) const { return fmt::format("k{}b{}", kernel_, block); }
    std::string line_id(u32 i) const { return fmt::format("k{}i{}", kernel_, i); }

    void section(const Info &info) {
        add("<h1>{}</h1><p>{}, {}: a static count, not measured, without latency and caches.</p>\n",
            escape(info.kernel().name), info.file.gfx, escape(info.file.part->name));
        summary(info);
        key(info);
        add("<h2>Control</h2>\n");
        graph(info);
        loops(info);
        missed(info);
        add("<h2>Code, with live VGPRs</h2>\n");
        std::vector<u32> order(info.survey.blocks.size());
        for (u32 n = 0; n < order.size(); ++n)
            order[n] = n;
        std::ranges::sort(order, {}, [&](u32 n) { return info.survey.flow.blocks()[n].first; });
        for (u32 n : order)
            block(info, n);
    }

    void summary(const Info &info) {
        const lint::Survey &s = info.survey;
        const u32 peak = s.live.peak();
        add("<dl><dt>registers</dt><dd>{} VGPRs allocated, {} used; {} SGPRs used</dd>"
            "<dt>live</dt><dd>{} VGPRs at most, at <a href=\"#{}\">{}</a></dd>"
            "<dt>occupancy</dt><dd>{}{}{}</dd>",
            info.occupancy.vgprs, s.vgprs_used, s.sgprs_used, s.live.vgprs(peak), line_id(peak),
            escape(info.place(peak)), escape(occupancy_text(info)),
            step(info.occupancy.fewer_vgprs, "VGPRs"),
            step(info.occupancy.less_lds, "bytes of LDS"));
        add("<dt>memory</dt><dd>{} bytes of LDS, {} of scratch per lane</dd><dt>code</dt><dd>{} "
            "instructions, {}, wave{}, {} blocks, {} loops</dd><dt>mix</dt><dd>{}</dd></dl>\n",
            info.kernel().lds_bytes, info.kernel().scratch_bytes, s.instructions,
            size_text(s.bytes), info.kernel().wave_size, s.blocks.size(), s.loops.all().size(),
            mix_text(s.total));
    }

    static std::string step(const std::optional<lint::Occupancy::Step> &s, const char *what) {
        return s ? fmt::format("; {} {} give {:g}", s->at_most, what, s->waves) : "";
    }

    void key(const Info &info) {
        add("<p class=\"key\">");
        for (size_t n = 0; n < info.survey.total.by_class.size(); ++n)
            if (const auto cls = static_cast<sim::Class>(n); info.survey.total[cls])
                add("<span><i style=\"background:{}\"></i>{}</span>", colour(cls), name(cls));
        add("</p>\n");
    }

    // ---- the graph
    // ------------------------------------------------------------------------------------------

    static std::string label(const Info &info, u32 n) {
        return fmt::format("{}: {} insts, {} live", n, info.survey.flow.blocks()[n].size(),
                           info.peak_of(n));
    }

    void graph(const Info &info) {
        u64 longest = 0;
        for (u32 n = 0; n < info.survey.blocks.size(); ++n)
            longest = std::max(longest, label(info, n).size());
        const Layout layout(info.survey.flow,
                            2 * label_margin + label_advance * static_cast<f64>(longest));
        add("<div class=\"graph\"><svg width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
            "{1:.0f}\" role=\"img\" aria-label=\"control flow\">\n",
            layout.width, layout.height);
        for (u32 n = 0; n < info.survey.loops.all().size(); ++n)
            shade(info, layout, n);
        for (const Layout::Edge &e : layout.edges)
            edge(layout, e);
        for (u32 n = 0; n < layout.nodes.size(); ++n)
            node(info, layout, n);
        add("</svg></div>\n");
    }

    void shade(const Info &info, const Layout &layout, u32 n) {
        const Loop &loop = info.survey.loops.all()[n];
        f64 left = layout.width, top = layout.height, right = 0, bottom = 0;
        for (u32 b : loop.blocks) {
            left = std::min(left, layout.nodes[b].x), top = std::min(top, layout.nodes[b].y);
            right = std::max(right, layout.nodes[b].x + layout.node_width);
            bottom = std::max(bottom, layout.nodes[b].y + Layout::node_height);
        }
        const f64 pad = std::max(3.0, 9.0 - loop.depth); // of one around others, more
        add("<rect class=\"loop\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
            "rx=\"6\"><title>loop {}</title></rect>\n",
            left - pad, top - pad, right - left + 2 * pad, bottom - top + 2 * pad, n);
    }

    void edge(const Layout &layout, const Layout::Edge &e) {
        const Layout::Node &a = layout.nodes[e.from], &b = layout.nodes[e.to];
        const f64 half = layout.node_width / 2;
        if (e.back) {
            // From and to the left side of a block; of one that others are left of, from below
            // and to above it, so that the edge runs between their rows.
            constexpr f64 apart = Layout::gap_y / 4, inset = 12;
            const f64 lane = layout.left - 6 - Layout::lane_width * e.lane;
            const std::string start =
                a.place == 0 ? fmt::format("M{:.0f} {:.0f}", a.x, a.y + Layout::node_height * 0.75)
                             : fmt::format("M{:.0f} {:.0f}v{:.0f}", a.x + inset,
                                           a.y + Layout::node_height, apart);
            const std::string end =
                b.place == 0
                    ? fmt::format("V{:.0f}H{:.0f}", b.y + Layout::node_height / 4, b.x)
                    : fmt::format("V{:.0f}H{:.0f}v{:.0f}", b.y - apart, b.x + inset, apart);
            add("<path class=\"edge back\" d=\"{}H{:.0f}{}\"><title>back from {} to "
                "{}</title></path>\n",
                start, lane, end, e.from, e.to);
            return;
        }
        const f64 y = a.y + Layout::node_height, bend = Layout::gap_y / 2;
        if (b.layer == a.layer + 1) {
            add("<path class=\"edge\" d=\"M{:.0f} {:.0f}C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} "
                "{:.0f}\"/>\n",
                a.x + half, y, a.x + half, y + bend, b.x + half, b.y - bend, b.x + half, b.y);
            return;
        }
        // Routes around the blocks of the layers between, on their right.
        const f64 side = std::max(a.x, b.x) + layout.node_width +
                         Layout::gap_x * (e.lane + 1) / (Layout::right_lanes + 1);
        add("<path class=\"edge\" d=\"M{0:.0f} {1:.0f}C{0:.0f} {2:.0f} {3:.0f} {1:.0f} {3:.0f} "
            "{2:.0f}V{4:.0f}C{3:.0f} {5:.0f} {6:.0f} {4:.0f} {6:.0f} {5:.0f}\"/>\n",
            a.x + half, y, y + bend, side, b.y - bend, b.y, b.x + half);
    }

    void node(const Info &info, const Layout &layout, u32 n) {
        const Layout::Node &node = layout.nodes[n];
        const Block &block = info.survey.flow.blocks()[n];
        const lint::Work &work = info.survey.blocks[n];
        add("<a href=\"#{}\"><g class=\"node\"><title>{}</title><rect class=\"box\" x=\"{:.0f}\" "
            "y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"4\"/>"
            "<svg x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\"><text x=\"{}\" "
            "y=\"15\">{}</text></svg>", // an inner <svg> clips, whatever the font
            block_id(n),
            escape(fmt::format("block {} from {}\n{}\n{}", n, info.place(block.first),
                               mix_text(work), bytes_text(work))),
            node.x, node.y, layout.node_width, Layout::node_height, node.x, node.y,
            layout.node_width, Layout::node_height, label_margin, label(info, n));
        f64 at = node.x + label_margin;
        const f64 scale = (layout.node_width - 2 * label_margin) / std::max(1u, block.size());
        for (size_t k = 0; k < work.by_class.size(); ++k)
            if (work.by_class[k]) {
                const f64 width = scale * static_cast<f64>(work.by_class[k]);
                add("<rect x=\"{:.1f}\" y=\"{:.0f}\" width=\"{:.1f}\" height=\"7\" "
                    "style=\"fill:{}\"/>",
                    at, node.y + 22, width, colour(static_cast<sim::Class>(k)));
                at += width;
            }
        add("</g></a>\n");
    }

    // ---- tables
    // ---------------------------------------------------------------------------------------------

    void loops(const Info &info) {
        const auto &all = info.survey.loops.all();
        if (all.empty())
            return;
        add("<h2>Loops, per iteration and wave</h2><div class=\"wide\"><table "
            "class=\"loops\"><tr><th>loop</th><th>from</th><th>trips</th><th>mix</th><th>moves</"
            "th><th>flops</th><th>cycles x waves that share</th><th>bound</th></tr>\n");
        for (u32 n = 0; n < all.size(); ++n) {
            const lint::Work trip = info.survey.trip(all[n]);
            const UnitCycles cycles = info.units.of_trip(all[n]);
            add("<tr><td>{}{}</td><td><a href=\"#{}\">{}</a></td><td>{}</td><td "
                "class=\"mix\">{}</td>"
                "<td class=\"mix\">{}</td><td>{}</td><td class=\"units\">{}</td><td>{}</td></tr>\n",
                std::string(std::min(all[n].depth, 8u), '>'), n, block_id(all[n].head),
                escape(info.place(info.extent(all[n]).first)),
                all[n].trips ? std::to_string(*all[n].trips) : "", mix_text(trip), bytes_text(trip),
                trip.flops, units(info, cycles), name(bound(cycles, info.waves())));
        }
        add("</table></div>\n");
    }

    static std::string units(const Info &info, const UnitCycles &cycles) {
        std::vector<std::string> parts;
        for (size_t n = 0; n < cycles.of.size(); ++n)
            if (const auto u = static_cast<BoundUnit>(n); cycles[u] > 0)
                parts.push_back(fmt::format(
                    "{} {:g}{}", name(u), cycles[u],
                    simds_of(u) ? fmt::format(" x {:g} = {:g}", simds_of(u) * info.waves(),
                                              shared_cycles(cycles, u, info.waves()))
                                : ""));
        return fmt::format("{}", fmt::join(parts, "<br>"));
    }

    // Grouped by rule; hovering over the code shows which.
    void missed(const Info &info) {
        partners_.clear();
        Pairs::Counts all;
        for (u32 n = 0; n < info.survey.blocks.size(); ++n)
            all += info.survey.pairs.counts(n);
        for (const lint::MissedPair &m : info.survey.pairs.missed()) {
            partners_[m.first] = {m.second, m.rule};
            partners_[m.second] = {m.first, m.rule};
        }
        add("<h2>VOPD</h2><p>{} pairs; missed:", all.taken);
        for (size_t n = 0; n < all.missed.size(); ++n)
            if (all.missed[n])
                add(" {} {};", all.missed[n], text(static_cast<VopdRule>(n)));
        add(" {} single VALU instructions without a dual form. Hover over the code for each.</p>\n",
            all.without_form);
    }

    // ---- code
    // -----------------------------------------------------------------------------------------------

    void block(const Info &info, u32 n) {
        const Block &b = info.survey.flow.blocks()[n];
        std::vector<std::string> next;
        for (u32 to : b.next)
            next.push_back(fmt::format("<a href=\"#{}\">{}</a>", block_id(to), to));
        const u32 loop = info.survey.loops.of_block(n);
        add("<h3>block {}{}{}</h3>\n<div class=\"block\" id=\"{}\">", n,
            loop == Flow::none ? "" : fmt::format(", loop {}", loop),
            next.empty() ? "" : fmt::format(", goes to {}", fmt::join(next, ", ")), block_id(n));
        curve(info, b);
        add("<table class=\"code\">\n");
        for (u32 i = b.first; i < b.end; ++i)
            line(info, i);
        add("</table></div>\n");
    }

    void curve(const Info &info, const Block &b) {
        const f64 height = line_height * b.size();
        const u32 peak = std::max(1u, info.survey.live.vgprs(info.survey.live.peak()));
        add("<svg width=\"{0:.0f}\" height=\"{1:.0f}\"><line class=\"full\" x1=\"0\" y1=\"0\" "
            "x2=\"0\" y2=\"{1:.0f}\"/><path class=\"live\" d=\"M{0:.0f} 0",
            curve_width, height);
        for (u32 i = b.first; i < b.end; ++i) {
            const f64 x = curve_width - (curve_width - 2) * info.survey.live.vgprs(i) / peak;
            add("L{0:.1f} {1:.0f}V{2:.0f}", x, line_height * (i - b.first),
                line_height * (i - b.first + 1));
        }
        add("L{:.0f} {:.0f}Z\"/></svg>", curve_width, height);
    }

    void line(const Info &info, u32 i) {
        const sim::Class cls = class_of(info.at(i));
        std::string hover =
            fmt::format("{}, {}\n{} VGPRs and {} SGPRs live", info.place(i), name(cls),
                        info.survey.live.vgprs(i), info.survey.live.sgprs(i));
        if (const auto partner = partners_.find(i); partner != partners_.end())
            hover += fmt::format("\nno pair with {}: {}", info.text(partner->second.first),
                                 text(partner->second.second));
        if (info.survey.wmma_may_clash && lint::wmma_banks_clash(info.at(i)))
            hover += "\nA and B in the same VGPR bank (T-054)";
        const u32 source = info.line(i);
        add("<tr id=\"{}\" title=\"{}\"><td class=\"n\">{}</td><td class=\"n\">{}</td>"
            "<td><i style=\"background:{}\"></i> {}</td></tr>\n",
            line_id(i), escape(hover), source ? std::to_string(source) : escape(info.place(i)),
            info.survey.live.vgprs(i), colour(cls), escape(info.text(i)));
    }

    const std::vector<std::unique_ptr<Info>> &kernels_;
    std::map<u32, std::pair<u32, VopdRule>> partners_; // of missed pairs
    size_t kernel_ = 0;
    std::string text_;
};

} // namespace

std::string info_html(const std::vector<std::unique_ptr<Info>> &kernels) {
    return Page(kernels).make();
}

} // namespace nw::cli
