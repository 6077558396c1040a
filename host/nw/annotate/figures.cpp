// SPDX-License-Identifier: MIT
#include "nw/annotate/figures.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <vector>

#include "base/targets.h"
#include "lint/occupancy.h"
#include "lint/work.h"
#include "nw/annotate/glossary.h"
#include "nw/html.h"
#include "sim/isa/code.h"
#include "sim/timing/limiter.h"

namespace nw::cli {

using lint::Occupancy, sim::timing::Result;

const char *const figures_style = R"(
table.units td, table.units th { border: 0; position: static; }
table.units td.track { width: min(16rem, 40vw); }
table.units td.track i { display: block; height: .7em; margin-top: .4em; background: var(--loop);
  min-width: 1px; }
tr.limit td { font-weight: bold; }
svg.roof { width: 100%; max-width: 34rem; height: auto; display: block; }
svg.roof text { font: 11px system-ui, sans-serif; fill: var(--faint); }
svg.roof text.here { fill: var(--ink); font-weight: bold; }
svg.roof .axis { stroke: var(--rule); }
svg.roof .line { stroke: var(--loop); fill: none; stroke-width: 1.5; }
svg.roof .wmma { stroke-dasharray: 4 3; }
svg.roof circle { fill: rgb(var(--hot)); }
)";

std::string units_html(const Launch &launch, const Result &r) {
    const auto u = utilization(r, launch.part());
    // The timed workgroups' busy cycles, of all; DRAM has all of them already.
    const std::pair<std::string_view, f64> rows[] = {
        {"VALU", u.valu * r.scale}, {"WMMA", u.wmma * r.scale}, {"TRANS", u.trans * r.scale},
        {"SALU", u.salu * r.scale}, {"LDS", u.lds * r.scale},   {"DRAM", u.dram}};
    std::string text = "<h2>Units, busy of the time (sim)</h2>\n<table class=\"units\">\n";
    for (const auto &[unit, share] : rows) {
        const f64 percent = 100 * std::min(share, 1.0);
        text += fmt::format(
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"track\">{}</td></tr>"
            "\n",
            explained(unit), percent < 0.5 ? "" : fmt::format("{:.0f} %", percent),
            percent < 0.5 ? "" : fmt::format("<i style=\"width:{:.1f}%\"></i>", percent));
    }
    return text + "</table>\n<p>WMMA is part of VALU. DRAM: of the theoretical bandwidth.</p>\n";
}

std::string occupancy_html(const Launch &launch, const Result &r) {
    const sim::Dispatch &d = launch.dispatch();
    const u32 workgroup = d.block.x * d.block.y * d.block.z;
    const Occupancy o =
        lint::occupancy(launch.device(), *d.kernel, workgroup, d.kernel->lds_bytes + d.dynamic_lds);
    const auto row = [&](std::string_view what, std::string_view uses, f64 waves, bool limits,
                         const std::string &more) {
        return fmt::format("<tr{}><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{:g}</td>"
                           "<td class=\"why\">{}</td></tr>\n",
                           limits ? " class=\"limit\"" : "", what, uses, waves, more);
    };
    const auto step = [](const std::optional<Occupancy::Step> &s, std::string_view what) {
        return s ? fmt::format("{} {} would allow {:g}", s->at_most, what, s->waves) : "";
    };
    using L = Occupancy::Limiter;
    std::string text =
        fmt::format("<h2>Limits of {} (sim)</h2>\n<table class=\"units\"><tr><th></th><th "
                    "class=\"n\">uses</th><th class=\"n\">waves per SIMD</th>"
                    "<th></th></tr>\n",
                    explained("occupancy"));
    text += row(explained("VGPR"), fmt::format("{}", o.vgprs), o.by_vgprs, o.limiter == L::vgprs,
                step(o.fewer_vgprs, "VGPRs"));
    text += row(explained("LDS"), fmt::format("{} B", o.lds_bytes), o.by_lds, o.limiter == L::lds,
                step(o.less_lds, "bytes"));
    text += row("wave slots", "", launch.device().target->max_waves, o.limiter == L::most, "");
    text += row("whole workgroups", fmt::format("{} of {}", o.groups, workgroup), o.waves,
                o.limiter == L::workgroup, "workgroups on a WGP, and work-items of each");
    return text + fmt::format("</table>\n<p>On average {:.1f} waves per SIMD were there.</p>\n",
                              r.occupancy);
}

namespace {

// Operations of all workgroups, by the executions of each instruction.
f64 operations(const sim::Dispatch &d, const Result &r) {
    const sim::Code &code = d.program->code(d.kernel->wave_size);
    f64 all = 0;
    for (size_t n = 0; n < std::min(r.lines.size(), code.instructions.size()); ++n)
        if (r.lines[n].issued)
            all += static_cast<f64>(r.lines[n].issued) *
                   static_cast<f64>(lint::work_of(code.instructions[n], d.kernel->wave_size).flops);
    return all * r.scale;
}

// A plot with two logarithmic axes: x from 2^-4 to 2^12 operations per byte, y four decades below
// the highest roof.
struct Plot {
    static constexpr f64 left = 64, right = 470, top = 16, bottom = 220;
    static constexpr f64 first = -4, last = 12; // powers of two
    f64 high;                                   // operations per second

    f64 x(f64 intensity) const {
        return left + (std::clamp(std::log2(intensity), first, last) - first) / (last - first) *
                          (right - left);
    }
    f64 y(f64 rate) const {
        return top + std::clamp(std::log10(high / rate), 0.0, 4.0) / 4 * (bottom - top);
    }
};

std::string rate_text(f64 rate) {
    return rate >= 1e12 ? fmt::format("{:.3g} T/s", rate / 1e12)
                        : fmt::format("{:.3g} G/s", rate / 1e9);
}

struct Roof {
    std::string_view name, style;
    f64 rate; // operations per second
};

std::string axes(const Plot &plot) {
    std::string text =
        "<svg class=\"roof\" viewBox=\"0 0 480 256\" role=\"img\" aria-label=\"roofline\">\n";
    for (int power = -4; power <= 12; power += 4)
        text += fmt::format("<line class=\"axis\" x1=\"{0:.0f}\" x2=\"{0:.0f}\" y1=\"{1}\" "
                            "y2=\"{2}\"/><text x=\"{0:.0f}\" y=\"{3}\" text-anchor=\"middle\">{4:g}"
                            "</text>\n",
                            plot.x(std::exp2(power)), Plot::top, Plot::bottom, Plot::bottom + 14,
                            std::exp2(power));
    for (int decade = 0; decade <= 4; ++decade) {
        const f64 at = plot.high / std::pow(10.0, decade);
        text += fmt::format("<line class=\"axis\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.0f}\" "
                            "y2=\"{2:.0f}\"/><text x=\"{3}\" y=\"{4:.0f}\" text-anchor=\"end\">{5}"
                            "</text>\n",
                            Plot::left, Plot::right, plot.y(at), Plot::left - 6, plot.y(at) + 4,
                            rate_text(at));
    }
    text += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">operations per byte of "
                        "DRAM</text>\n",
                        (Plot::left + Plot::right) / 2, Plot::bottom + 30);
    return text;
}

} // namespace

std::string roofline_html(const Launch &launch, const Result &r) {
    std::string text = "<h2>The " + explained("roofline") + " (sim)</h2>\n";
    const f64 done = operations(launch.dispatch(), r), bytes = r.dram_read + r.dram_write;
    if (done <= 0 || bytes <= 0 || r.time_us <= 0)
        return text + fmt::format("<p>None: the launch has no {}.</p>\n",
                                  done <= 0 ? "operations on floats and no dot products"
                                            : "traffic of DRAM");
    const sim::timing::Part &part = launch.part();
    const Target &target = *launch.device().target;
    const f64 hz = 1e6 * part.shader_mhz, simds = f64{1} * part.wgps * target.simds_per_wgp;
    const f64 fma = simds * 32 * 2 * hz;
    std::vector<Roof> roofs = {target.vopd ? Roof{"VALU, f32 in pairs", "", 2 * fma}
                                           : Roof{"VALU, f32", "", fma}};
    if (target.wmma_macs)
        roofs.push_back({"WMMA, 16 bit", " wmma", f64{2} * target.wmma_macs * part.wgps * hz});
    else if (target.dot2)
        roofs.push_back({"dot2", " wmma", 2 * fma});
    const f64 bandwidth = 1e9 * part.dram_gb_per_s * part.dram_efficiency;
    const Plot plot{roofs.back().rate};
    const f64 rate = done / r.time_us * 1e6, intensity = done / bytes;

    text += axes(plot);
    const f64 start = std::max(std::exp2(Plot::first), plot.high / 1e4 / bandwidth);
    for (const Roof &roof : roofs)
        text += fmt::format("<path class=\"line{}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{}\"/>\n",
                            roof.style, plot.x(start), plot.y(start * bandwidth),
                            plot.x(roof.rate / bandwidth), plot.y(roof.rate), Plot::right);
    const f64 x = plot.x(intensity), y = plot.y(rate);
    text += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"/>\n</svg>\n", x, y);
    const f64 allowed = std::min(bandwidth * intensity, roofs.back().rate);
    text += fmt::format("<p>The launch does {}, {:.3g} operations per byte: {:.0f} % of the {} "
                        "that DRAM or the highest roof allows there. Roofs:",
                        rate_text(rate), intensity, 100 * rate / allowed, rate_text(allowed));
    for (const Roof &roof : roofs)
        text += fmt::format(" {}{} {},", roof.style.empty() ? "" : "dashed ", roof.name,
                            rate_text(roof.rate));
    return text + fmt::format(" slope {:.0f} GB/s, which a stream of reads sustains.</p>\n",
                              bandwidth / 1e9);
}

} // namespace nw::cli
