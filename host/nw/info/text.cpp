// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "nw/info/parts.h"
#include "sim/isa/code.h"

namespace nw::cli {

using lint::Block, lint::Flow, lint::Loop, lint::Occupancy, lint::Pairs, lint::VopdRule;

std::string mix_text(const lint::Work &w) {
    std::vector<std::string> parts;
    for (size_t n = 0; n < w.by_class.size(); ++n)
        if (w.by_class[n])
            parts.push_back(fmt::format("{} {}", name(static_cast<sim::Class>(n)), w.by_class[n]));
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string size_text(f64 bytes) {
    for (const char *unit : {"B", "KiB", "MiB"}) {
        if (bytes < 1024)
            return fmt::format("{:.4g} {}", bytes, unit);
        bytes /= 1024;
    }
    return fmt::format("{:.4g} GiB", bytes);
}

std::string bytes_text(const lint::Work &w) {
    const auto both = [](const char *where, u64 read, u64 written) {
        std::string text;
        if (read)
            text = fmt::format("{} {} read", where, size_text(static_cast<f64>(read)));
        if (written)
            text += fmt::format("{} {} written", read ? "," : where,
                                size_text(static_cast<f64>(written)));
        return text;
    };
    std::vector<std::string> parts;
    for (std::string part :
         {both("global", w.global_load, w.global_store), both("LDS", w.lds_read, w.lds_write),
          both("scalar", w.scalar_load, 0)})
        if (!part.empty())
            parts.push_back(std::move(part));
    return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, "; "));
}

std::string occupancy_text(const Info &info) {
    const Occupancy &o = info.occupancy;
    std::string text = fmt::format("{:g} waves per SIMD in {} workgroups of {} per WGP, ", o.waves,
                                   o.groups, o.workgroup);
    switch (o.limiter) {
    case Occupancy::Limiter::vgprs:
        text += fmt::format("limited by {} VGPRs", o.vgprs);
        break;
    case Occupancy::Limiter::lds:
        text += fmt::format("limited by {} bytes of LDS", o.lds_bytes);
        break;
    case Occupancy::Limiter::workgroup:
        text += fmt::format("limited by whole workgroups: {} VGPRs would allow {}", o.vgprs,
                            o.by_vgprs);
        break;
    case Occupancy::Limiter::most:
        text += "the most there are";
    }
    return text;
}

namespace {

constexpr size_t most_columns = 110;

// Wraps a long line after a comma or semicolon, with the same indentation.
std::string wrapped(const std::string &text, size_t indent) {
    std::string out;
    size_t column = indent, begin = 0;
    while (begin < text.size()) {
        const size_t mark = text.find_first_of(",;", begin);
        const size_t next = mark == text.npos ? text.size() : std::min(text.size(), mark + 2);
        if (column > indent && column + (next - begin) > most_columns) {
            out.erase(out.find_last_not_of(' ') + 1);
            out += "\n" + std::string(indent, ' ');
            column = indent;
        }
        out += text.substr(begin, next - begin);
        column += next - begin;
        begin = next;
    }
    return out;
}

void row(std::string &out, std::string_view name, const std::string &text) {
    out += fmt::format("{:<11} {}\n", name, wrapped(text, 12));
}

std::vector<std::string> next_steps(const Info &info) {
    std::vector<std::string> out;
    const Occupancy &o = info.occupancy;
    const u32 used = info.survey.vgprs_used;
    if (o.fewer_vgprs)
        out.push_back(fmt::format(
            "{} VGPRs {} {:g}", o.fewer_vgprs->at_most,
            used > o.fewer_vgprs->at_most
                ? fmt::format("({} fewer than used) allow", used - o.fewer_vgprs->at_most)
                : "(all that are used: declare so) allow",
            o.fewer_vgprs->waves));
    if (o.less_lds)
        out.push_back(fmt::format("{} bytes of LDS ({} fewer) allow {:g}", o.less_lds->at_most,
                                  o.lds_bytes - o.less_lds->at_most, o.less_lds->waves));
    return out;
}

// At most `cells` cells; each shows the majority of its instructions.
std::string curve(const Info &info, const Block &block, u32 peak, u32 cells) {
    constexpr const char *eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    cells = std::min(cells, block.size());
    std::string text;
    for (u32 cell = 0; cell < cells; ++cell) {
        u32 most = 0;
        const u32 first = block.first + static_cast<u32>(u64{block.size()} * cell / cells);
        const u32 end = block.first + static_cast<u32>(u64{block.size()} * (cell + 1) / cells);
        for (u32 i = first; i < end; ++i)
            most = std::max(most, info.survey.live.vgprs(i));
        text += eighths[peak ? std::min(7u, most * 8 / (peak + 1)) : 0];
    }
    return text;
}

std::string missed_text(const Pairs::Counts &c) {
    std::vector<std::string> parts;
    for (size_t n = 0; n < c.missed.size(); ++n)
        if (c.missed[n])
            parts.push_back(fmt::format("{} {}", c.missed[n], text(static_cast<VopdRule>(n))));
    return parts.empty() ? "" : fmt::format("; missed: {}", fmt::join(parts, "; "));
}

std::string pairs_text(const Pairs::Counts &c) {
    return fmt::format("{} pairs{}; {} single VALU without a dual form", c.taken, missed_text(c),
                       c.without_form);
}

std::string loop_name(const Info &info, u32 n) {
    const Loop &loop = info.survey.loops.all()[n];
    const auto [first, last] = info.extent(loop);
    return fmt::format("loop {}, {} to {}, {} blocks{}{}{}", n, info.place(first), info.place(last),
                       loop.blocks.size(),
                       loop.parent == Flow::none ? "" : fmt::format(", in loop {}", loop.parent),
                       loop.trips ? fmt::format(", {} trips", *loop.trips) : "",
                       loop.irreducible ? ", with several entries" : "");
}

void add_cycles(std::string &out, const UnitCycles &cycles, f64 waves) {
    const BoundUnit most = bound(cycles, waves);
    std::vector<std::string> parts;
    for (size_t n = 0; n < cycles.of.size(); ++n) {
        const auto u = static_cast<BoundUnit>(n);
        if (cycles[u] > 0)
            parts.push_back(simds_of(u)
                                ? fmt::format("{} {:g} x {:g} = {:g}", name(u), cycles[u],
                                              simds_of(u) * waves, shared_cycles(cycles, u, waves))
                                : fmt::format("{} {:g}", name(u), cycles[u]));
    }
    row(out, "  cycles", fmt::format("{}", fmt::join(parts, ", ")));
    row(out, "  bound",
        fmt::format("{}: {:g} cycles per iteration of all waves that share it [sim]", name(most),
                    shared_cycles(cycles, most, waves)));
}

void add_loops(std::string &out, const Info &info) {
    const auto &loops = info.survey.loops.all();
    if (loops.empty())
        return;
    out += fmt::format(
        "\nLoops; per iteration and wave, x waves that share the unit at {:g} waves per SIMD:\n",
        info.waves());
    for (u32 n = 0; n < loops.size(); ++n) {
        const lint::Work trip = info.survey.trip(loops[n]);
        out += fmt::format("{}{}\n", std::string(2 * std::min(loops[n].depth, 8u), ' '),
                           loop_name(info, n));
        row(out, "  mix", fmt::format("{} instructions: {}", trip.instructions(), mix_text(trip)));
        row(out, "  moves", bytes_text(trip));
        row(out, "  flops",
            trip.global_load + trip.global_store
                ? fmt::format("{}, {:.3g} per byte of global memory", trip.flops, trip.intensity())
                : fmt::format("{}", trip.flops));
        row(out, "  VOPD", pairs_text(info.survey.pairs_of(loops[n].blocks)));
        if (trip.wmma_clashes)
            row(out, "  WMMA",
                fmt::format("{} with A and B in the same VGPR bank (T-054)", trip.wmma_clashes));
        add_cycles(out, info.units.of_trip(loops[n]), info.waves());
        if (const f64 dram = dram_cycles(trip, *info.file.part, info.waves()); dram > 0)
            row(out, "  DRAM",
                fmt::format(
                    "{:.0f} cycles per iteration of all waves, if every access missed the caches",
                    dram));
    }
}

void add_blocks(std::string &out, const Info &info) {
    constexpr u32 cells = 24;
    constexpr size_t before_mix = 68;
    const u32 peak = info.survey.live.vgprs(info.survey.live.peak());
    out += fmt::format("\nBasic blocks, with live VGPRs as a curve of full height {}:\n", peak);
    out += fmt::format("{:>5} {:<18} {:>4} {:>5} {:>5}  {:<{}}  {}\n", "block", "from", "loop",
                       "insts", "live", "live VGPRs", cells, "mix");
    for (u32 n = 0; n < info.survey.blocks.size(); ++n) {
        const Block &b = info.survey.flow.blocks()[n];
        const u32 shown = std::min(cells, b.size());
        const u32 loop = info.survey.loops.of_block(n);
        std::string from = info.place(b.first);
        if (from.size() > 18)
            from = from.substr(from.rfind(':') == from.npos ? 0 : from.rfind(':'));
        out +=
            fmt::format("{:>5} {:<18} {:>4} {:>5} {:>5}  {}{}  {}\n", n, from,
                        loop == Flow::none ? "" : std::to_string(loop), b.size(), info.peak_of(n),
                        curve(info, b, peak, cells), std::string(cells - shown, ' '),
                        wrapped(mix_text(info.survey.blocks[n]), before_mix));
    }
}

} // namespace

std::string info_text(const Info &info) {
    const lint::Survey &s = info.survey;
    const sim::KernelInfo &k = info.kernel();
    std::string out = fmt::format("{} ({}, {}) [sim: static count, without latency and caches]\n",
                                  k.name, info.file.gfx, info.file.part->name);
    row(out, "registers",
        fmt::format("{} VGPRs allocated, {} used; {} SGPRs used{}", info.occupancy.vgprs,
                    s.vgprs_used, s.sgprs_used,
                    k.has_metadata ? fmt::format(", {} declared", k.sgprs) : ""));
    const u32 peak = s.live.peak();
    row(out, "live",
        fmt::format("at most {} VGPRs, at {}: {}", s.live.vgprs(peak), info.place(peak),
                    info.text(peak)));
    row(out, "memory",
        fmt::format("{} bytes of LDS, {} of scratch per lane; wave{}, workgroups of up to {}",
                    k.lds_bytes, k.scratch_bytes, k.wave_size, k.max_workgroup));
    row(out, "occupancy", occupancy_text(info));
    for (const std::string &step : next_steps(info))
        row(out, "", step);
    row(out, "code",
        fmt::format("{} instructions, {}, {} blocks, {} loops", s.instructions, size_text(s.bytes),
                    s.blocks.size(), s.loops.all().size()));
    row(out, "mix", mix_text(s.total));
    Pairs::Counts pairs;
    for (u32 n = 0; n < s.blocks.size(); ++n)
        pairs += s.pairs.counts(n);
    row(out, "VOPD", pairs_text(pairs));
    if (!s.flow.bad().empty())
        row(out, "beware",
            fmt::format("control flow is unknown at {} places: see nw lint", s.flow.bad().size()));
    add_loops(out, info);
    add_blocks(out, info);
    return out;
}

} // namespace nw::cli
