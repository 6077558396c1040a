// SPDX-License-Identifier: MIT
// Rows of the atlas: facts of kernels from their code objects, and time bounds of products on a
// part.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "nw/atlas/plan.h"
#include "sim/timing/constants/costs.h"
#include "sim/timing/constants/part.h"

namespace nw::cli {

inline constexpr std::string_view atlas_schema = "nibblewave.atlas.v1";

// "decode", "verify" (of a draft's tokens), "prefill".
std::string_view atlas_phase(u32 m);

// Commit of the sources of this program; null without a git checkout.
nlohmann::ordered_json atlas_commit();

// The code objects of one gfx, in a directory that has <gfx>/<symbol>.hsaco.
class CodeFacts {
public:
    CodeFacts(std::filesystem::path directory, const sim::timing::Part &);

    // Null if there is none. Throws Error if it can't be used.
    nlohmann::ordered_json of(const std::string &symbol, u32 workgroup, u32 dynamic_lds);

private:
    nlohmann::ordered_json read(const std::filesystem::path &file, const std::string &symbol,
                                u32 workgroup, u32 dynamic_lds) const;

    const std::filesystem::path directory_;
    const std::string gfx_, part_;
    std::map<std::pair<std::string, u32>, nlohmann::ordered_json> known_;
};

// A part with its constants of the timing model, HIPSIM_PROFILE applied.
struct AtlasPart {
    // The part whose name `name` contains, or the default part of the gfx.
    AtlasPart(std::string_view gfx, std::string_view name);

    sim::timing::Part part;
    sim::timing::Costs costs;
    bool assumed = false; // the name matches no part

    // Microseconds in which DRAM moves that number of bytes, at its sustained bandwidth.
    f64 dram_us(u64 bytes) const {
        return static_cast<f64>(bytes) / 1e3 / (part.dram_gb_per_s * part.dram_efficiency);
    }
};

// Lower bounds of a launch in microseconds, by the part's timing model.
struct AtlasBound {
    f64 launch = 0;        // before the first wave and after the last one
    f64 memory = 0;        // the weights from DRAM, once
    f64 arithmetic = 0;    // on the unit of the kernel's family
    std::string_view unit; // of the arithmetic: "dot4", "wmma"; empty: not counted

    f64 us() const;
    std::string_view name() const; // "memory", the unit, or "launch" if both are 0
};

// Bytes and operations of a product.
struct AtlasWork {
    u32 matrices; // for experts top_k, the experts of a token; else 1
    u64 bytes;    // of their weights
    f64 macs;
    f64 tiles; // of 16 rows, by 16 columns and 16 k each: WMMA fills rows up
    bool wmma; // else dot4
};
AtlasWork atlas_work(const AtlasJob &);
AtlasBound product_bound(const AtlasPart &, const AtlasWork &);

// Its metrics, for a launch that takes that number of microseconds.
nlohmann::ordered_json atlas_bounds(const AtlasBound &, f64 us);

// Prints its caveats on stderr.
hip::DeviceInfo find_atlas_device(const std::string &spec);

// A launch's line of statistics, as in HIPSIM_STATS; all but the first take "" too, as of a card.
std::string last_atlas_stats(const std::vector<std::string> &lines, const Kernel &);
void add_atlas_draws(nlohmann::ordered_json &metrics, const std::string &stats); // error bars
void add_atlas_launch(nlohmann::ordered_json &row, const std::string &stats);

} // namespace nw::cli
