// SPDX-License-Identifier: MIT
#include <nlohmann/json.hpp>

#include "nw/info/parts.h"
#include "sim/isa/code.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;
using lint::Block, lint::Flow, lint::Loop, lint::Occupancy, lint::Pairs, lint::VopdRule;

Json mix_json(const lint::Work &w) {
    Json out = Json::object();
    for (size_t n = 0; n < w.by_class.size(); ++n)
        out[std::string(name(static_cast<sim::Class>(n)))] = w.by_class[n];
    out["total"] = w.instructions();
    return out;
}

Json occupancy_json(const Occupancy &o) {
    const auto step = [](const std::optional<Occupancy::Step> &s, const char *what) {
        return s ? Json{{what, s->at_most}, {"waves", s->waves}} : Json();
    };
    return {{"waves", o.waves},
            {"limiter", name(o.limiter)},
            {"workgroup", o.workgroup},
            {"lds_bytes", o.lds_bytes},
            {"workgroups_per_wgp", o.groups},
            {"waves_by_vgprs", o.by_vgprs},
            {"waves_by_lds", o.by_lds},
            {"waves_per_simd", o.waves_per_simd},
            {"next_by_vgprs", step(o.fewer_vgprs, "vgprs")},
            {"next_by_lds", step(o.less_lds, "lds_bytes")}};
}

Json cycles_json(const UnitCycles &cycles, f64 waves) {
    Json units = Json::object();
    for (size_t n = 0; n < cycles.of.size(); ++n) {
        const auto u = static_cast<BoundUnit>(n);
        units[std::string(name(u))] = {{"cycles", cycles[u]},
                                       {"simds", simds_of(u)},
                                       {"all_waves", shared_cycles(cycles, u, waves)}};
    }
    const BoundUnit most = bound(cycles, waves);
    return {{"model", "sim"},
            {"waves", waves},
            {"units", units},
            {"bound", name(most)},
            {"bound_cycles", shared_cycles(cycles, most, waves)}};
}

namespace {

void add_work(Json &out, const lint::Work &w) {
    out["mix"] = mix_json(w);
    out["bytes"] = {{"global_load", w.global_load},
                    {"global_store", w.global_store},
                    {"lds_read", w.lds_read},
                    {"lds_write", w.lds_write},
                    {"scalar_load", w.scalar_load}};
    out["flops"] = w.flops;
    out["intensity"] = w.global_load + w.global_store ? Json(w.intensity()) : Json();
    out["wmma_bank_clashes"] = w.wmma_clashes;
}

Json pairs_json(const Pairs::Counts &c) {
    Json missed = Json::object();
    for (size_t n = 0; n < c.missed.size(); ++n)
        missed[std::string(name(static_cast<VopdRule>(n)))] = c.missed[n];
    return {{"taken", c.taken},
            {"missed", missed},
            {"without_dual_form", c.without_form},
            {"alone", c.alone}};
}

Json number_or_null(u32 n) { return n == Flow::none ? Json() : Json(n); }

Json place_json(const Info &info, u32 i) {
    return {{"line", info.line(i)},
            {"place", info.place(i)},
            {"offset", info.offset(i)},
            {"instruction", info.text(i)}};
}

Json block_json(const Info &info, u32 n) {
    const Block &b = info.survey.flow.blocks()[n];
    Json out = {{"block", n},
                {"first", place_json(info, b.first)},
                {"next", b.next},
                {"loop", number_or_null(info.survey.loops.of_block(n))},
                {"live_vgprs", info.peak_of(n)}};
    add_work(out, info.survey.blocks[n]);
    out["pairs"] = pairs_json(info.survey.pairs.counts(n));
    return out;
}

Json loop_json(const Info &info, u32 n) {
    const Loop &loop = info.survey.loops.all()[n];
    const auto [first, last] = info.extent(loop);
    const lint::Work trip = info.survey.trip(loop);
    Json out = {{"loop", n},
                {"head", loop.head},
                {"blocks", loop.blocks},
                {"latches", loop.latches},
                {"parent", number_or_null(loop.parent)},
                {"depth", loop.depth},
                {"irreducible", loop.irreducible},
                {"trips", loop.trips ? Json(*loop.trips) : Json()},
                {"first", place_json(info, first)},
                {"last", place_json(info, last)}};
    add_work(out, trip);
    out["pairs"] = pairs_json(info.survey.pairs_of(loop.blocks));
    out["cycles"] = cycles_json(info.units.of_trip(loop), info.waves());
    out["cycles"]["dram_all_waves"] = dram_cycles(trip, *info.file.part, info.waves());
    return out;
}

Json code_json(const Info &info) {
    Json code = Json::array();
    for (u32 i = 0; i < info.survey.code.instructions.size(); ++i)
        if (const u32 block = info.survey.flow.block_of(i); block != Flow::none) {
            Json row = place_json(info, i);
            row["block"] = block;
            row["class"] = name(class_of(info.at(i)));
            row["live_vgprs"] = info.survey.live.vgprs(i);
            row["live_sgprs"] = info.survey.live.sgprs(i);
            code.push_back(std::move(row));
        }
    return code;
}

Json missed_json(const Info &info) {
    Json out = Json::array();
    for (const lint::MissedPair &m : info.survey.pairs.missed())
        out.push_back({{"rule", name(m.rule)},
                       {"text", text(m.rule)},
                       {"first", place_json(info, m.first)},
                       {"second", place_json(info, m.second)}});
    return out;
}

} // namespace

Json summary_json(const Info &info) {
    const lint::Survey &s = info.survey;
    const sim::KernelInfo &k = info.kernel();
    Json out = {{"kernel", k.name},
                {"wave_size", k.wave_size},
                {"instructions", s.instructions},
                {"code_bytes", s.bytes},
                {"registers",
                 {{"vgprs_allocated", info.occupancy.vgprs},
                  {"vgprs_used", s.vgprs_used},
                  {"sgprs_declared", k.has_metadata ? Json(k.sgprs) : Json()},
                  {"sgprs_used", s.sgprs_used}}},
                {"lds_bytes", k.lds_bytes},
                {"scratch_bytes", k.scratch_bytes},
                {"max_workgroup", k.max_workgroup},
                {"has_metadata", k.has_metadata}};
    out["live"] = {{"peak_vgprs", s.live.vgprs(s.live.peak())},
                   {"peak_sgprs", info.peak_sgprs()},
                   {"at", place_json(info, s.live.peak())}};
    out["occupancy"] = occupancy_json(info.occupancy);
    add_work(out, s.total);
    return out;
}

Json info_json(const Info &info) {
    const lint::Survey &s = info.survey;
    Json out = summary_json(info);
    Pairs::Counts counts;
    Json blocks = Json::array(), loops = Json::array(), clashes = Json::array();
    for (u32 n = 0; n < s.blocks.size(); ++n) {
        counts += s.pairs.counts(n);
        blocks.push_back(block_json(info, n));
    }
    for (u32 n = 0; n < s.loops.all().size(); ++n)
        loops.push_back(loop_json(info, n));
    for (u32 i : info.wmma_clashes())
        clashes.push_back(place_json(info, i));
    out["pairs"] = pairs_json(counts);
    out["blocks"] = std::move(blocks);
    out["loops"] = std::move(loops);
    out["missed_pairs"] = missed_json(info);
    out["wmma_clashes"] = std::move(clashes);
    out["code"] = code_json(info);
    return out;
}

} // namespace nw::cli
