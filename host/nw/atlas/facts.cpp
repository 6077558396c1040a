// SPDX-License-Identifier: MIT
#include "nw/atlas/facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <llvm/Support/MD5.h>
#include <memory>

#include "base/error.h"
#include "base/targets.h"
#include "measure/routes.h"
#include "nw/code_object.h"
#include "nw/info/parts.h"
#include "sim/timing/constants/profile.h"

namespace nw::cli {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

std::string md5_of(const fs::path &file) {
    llvm::MD5 sum;
    sum.update(llvm::StringRef(read_text(file.string())));
    llvm::MD5::MD5Result result;
    sum.final(result);
    std::string out;
    for (const u8 byte : result)
        out += fmt::format("{:02x}", byte);
    return out;
}

// The longest innermost loop.
const lint::Loop *main_loop(const Info &info) {
    const auto &loops = info.survey.loops.all();
    const lint::Loop *best = nullptr;
    u64 most = 0;
    for (u32 n = 0; n < loops.size(); ++n) {
        const bool innermost =
            std::ranges::none_of(loops, [&](const lint::Loop &l) { return l.parent == n; });
        const u64 instructions = info.survey.trip(loops[n]).instructions();
        if (innermost && instructions > most)
            most = instructions, best = &loops[n];
    }
    return best;
}

// The unit that a loop iteration occupies longest if all its bytes come from DRAM: a static count.
Json loop_json(const Info &info) {
    const lint::Loop *const loop = main_loop(info);
    if (!loop)
        return nullptr;
    const UnitCycles cycles = info.units.of_trip(*loop);
    const BoundUnit unit = bound(cycles, info.waves());
    const f64 busy = shared_cycles(cycles, unit, info.waves());
    const f64 dram = dram_cycles(info.survey.trip(*loop), *info.file.part, info.waves());
    return {{"bound", dram > busy ? "dram" : name(unit)},
            {"instructions", info.survey.trip(*loop).instructions()},
            {"unit_cycles", busy},
            {"dram_cycles", dram}};
}

} // namespace

std::string_view atlas_phase(u32 m) {
    constexpr u32 widest_draft = 32;
    return m == 1 ? "decode" : m <= widest_draft ? "verify" : "prefill";
}

Json atlas_commit() {
    const std::unique_ptr<FILE, int (*)(FILE *)> git(
        popen("git -C '" NW_SOURCE_DIR
              "' describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null",
              "r"),
        pclose);
    std::array<char, 64> line{};
    if (!git || !std::fgets(line.data(), line.size(), git.get()))
        return nullptr;
    const std::string text = line.data();
    return text.substr(0, text.find('\n'));
}

CodeFacts::CodeFacts(fs::path directory, const sim::timing::Part &part)
    : directory_(std::move(directory)), gfx_(part.gfx), part_(part.name) {}

Json CodeFacts::of(const std::string &symbol, u32 workgroup, u32 dynamic_lds) {
    const fs::path file = directory_ / gfx_ / (symbol + ".hsaco");
    std::error_code ignored;
    if (!fs::is_regular_file(file, ignored))
        return nullptr;
    const auto key = std::pair(symbol, dynamic_lds);
    if (const auto found = known_.find(key); found != known_.end())
        return found->second;
    return known_[key] = read(file, symbol, workgroup, dynamic_lds);
}

Json CodeFacts::read(const fs::path &path, const std::string &symbol, u32 workgroup,
                     u32 dynamic_lds) const {
    const InfoOptions options{gfx_, part_, symbol, workgroup, dynamic_lds};
    InfoFile file(path.string(), options);
    const Info info(file, *file.kernels(symbol).front(), options);
    const Json loop = loop_json(info);
    return {{"kernel", symbol},
            {"file", gfx_ + "/" + symbol + ".hsaco"},
            {"md5", md5_of(path)},
            {"wave_size", info.kernel().wave_size},
            {"workgroup", info.occupancy.workgroup},
            {"vgprs", info.occupancy.vgprs},
            {"sgprs", info.kernel().sgprs},
            {"lds_bytes", info.kernel().lds_bytes},
            {"dynamic_lds_bytes", dynamic_lds},
            {"scratch_bytes", info.kernel().scratch_bytes},
            {"code_bytes", info.survey.bytes},
            {"waves_per_simd", info.occupancy.waves_per_simd},
            {"occupancy_limiter", name(info.occupancy.limiter)},
            {"limiter", loop.is_null() ? Json() : loop["bound"]},
            {"limiter_of", loop.is_null() ? Json() : Json("main loop (static count)")},
            {"main_loop", loop},
            {"mix", mix_json(info.survey.total)}};
}

AtlasPart::AtlasPart(std::string_view gfx, std::string_view name)
    : part(*sim::timing::default_part(gfx)), costs(sim::timing::costs_for(gfx)), assumed(true) {
    u64 longest = 0; // the longest match: "9070 XT" before "9070"
    for (const sim::timing::Part &p : sim::timing::parts())
        if (p.gfx == gfx && name.find(p.name) != name.npos && p.name.size() > longest)
            part = p, longest = p.name.size(), assumed = false;
    if (const char *profile = std::getenv("HIPSIM_PROFILE"); profile && *profile)
        apply(sim::timing::read_profile(profile), part, costs);
    const auto variable = [](const char *its) -> std::string_view {
        const char *value = std::getenv(its);
        return value ? value : "";
    };
    set_power(part, variable("HIPSIM_POWER"));
    set_clock(part, variable("HIPSIM_CLOCK"), !variable("HIPSIM_POWER").empty());
}

f64 AtlasBound::us() const { return launch + std::max(memory, arithmetic); }

std::string_view AtlasBound::name() const {
    return memory >= arithmetic ? memory > 0 ? "memory" : "launch" : unit;
}

AtlasWork atlas_work(const AtlasJob &job) {
    constexpr u32 tile = 16;
    const GgufShape &p = job.shape;
    const f64 weights = f64{1} * p.n * p.k;
    u32 matrices = 1, rows = p.m, filled = ceil_div(p.m, tile);
    bool wmma = job.kernel->p.bm; // tiles of rows, where the target has WMMA
    if (job.experts) {
        const auto &[shape, routes] = *job.experts;
        matrices = rows = filled = 0, wmma = lists_before(*job.kernel);
        for (u32 slots : slots_of_experts(routes, shape.experts))
            matrices += slots > 0, rows += slots, filled += ceil_div(slots, tile);
    }
    return {matrices, matrices * p.weight_bytes(), rows * weights, filled * weights / (tile * tile),
            wmma && !target_of(job.kernel->gfx).wmma.empty()};
}

// WMMA takes rows sixteen at a time; dot4 four products a lane.
AtlasBound product_bound(const AtlasPart &p, const AtlasWork &work) {
    constexpr f64 simds_of_wgp = 4, lanes = 32, products = 4;
    const f64 mhz = work.wmma ? p.part.mhz_under(1) : p.part.shader_mhz;
    const f64 per_us = p.part.wgps * simds_of_wgp * mhz; // cycles of SIMDs
    AtlasBound out;
    out.launch = p.part.launch_overhead;
    out.memory = p.dram_us(work.bytes);
    out.unit = work.wmma ? "wmma" : "dot4";
    out.arithmetic =
        (work.wmma ? work.tiles * p.costs.wmma_f16_interval : work.macs / (lanes * products)) /
        per_us;
    return out;
}

hip::DeviceInfo find_atlas_device(const std::string &spec) {
    hip::DeviceInfo info = hip::Device(spec).info();
    if (!info.note.empty())
        fmt::print(stderr, "nw: {}\n", info.note);
    return info;
}

Json atlas_bounds(const AtlasBound &bound, f64 us) {
    Json parts = {{"launch", bound.launch}};
    if (!bound.unit.empty())
        parts.update({{"memory", bound.memory}, {std::string(bound.unit), bound.arithmetic}});
    return {{"bound_us", bound.us()},
            {"bound", bound.name()},
            {"bounds_us", parts},
            {"share_of_bound", bound.us() / us}};
}

void add_atlas_draws(Json &metrics, const std::string &stats) {
    if (stats.empty())
        return;
    const Json line = Json::parse(stats);
    for (const char *key : {"time_low_us", "time_high_us", "draws_us"})
        if (line.contains(key))
            metrics[key] = line.at(key);
}

void add_atlas_launch(Json &row, const std::string &stats) {
    if (stats.empty())
        return;
    const Json line = Json::parse(stats);
    Json &facts = row["code_object"];
    facts["limiter"] = line.at("limiter");
    facts["limiter_of"] = "launch (sim)";
    Json launch = Json::object();
    for (const char *key : {"grid", "lds_bytes", "occupancy", "insts", "bytes", "stalls", "simds",
                            "cycles", "busy", "dram_read", "dram_write", "l2_hit_rate",
                            "mall_hit_rate", "groups_timed", "sampling_error"})
        launch[key] = line.at(key);
    row["launch"] = launch;
}

std::string last_atlas_stats(const std::vector<std::string> &lines, const Kernel &kernel) {
    const std::string begin = fmt::format("{{\"kernel\":\"{}\"", kernel.symbol);
    for (u64 i = lines.size(); i-- > 0;)
        if (lines[i].starts_with(begin))
            return lines[i];
    throw Error(fmt::format("{}: the model says nothing of its launch", kernel.symbol));
}

} // namespace nw::cli
