// SPDX-License-Identifier: MIT
// What the simulated GPU says of each dispatch, a JSON line each.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"
#include "hip/hip.h"
#include "measure/draws.h"

namespace nw::bench {

// Wave instructions by class; a VOPD pair is one.
inline constexpr std::array<std::string_view, 12> instruction_classes = {
    "valu",      "vopd",       "trans", "wmma",   "salu", "smem",
    "vmem_load", "vmem_store", "lds",   "branch", "wait", "other"};

struct Instructions {
    std::array<u64, instruction_classes.size()> count{};
    u64 of(std::string_view instruction_class) const;
    u64 total() const;
    // Issue slots of the VALU: a VOPD pair is one.
    u64 valu_slots() const { return of("valu") + of("vopd") + of("trans") + of("wmma"); }
};

// How busy the part was, where time is modelled.
struct Busy {
    f64 wmma = 0, lds = 0;        // shares of the launch's cycles
    f64 trans = 0;                // the same of transcendentals
    u64 lds_conflicts = 0;        // cycles of LDS for a bank that is asked again
    f64 valu_and_wmma_cycles = 0; // of all SIMDs
};

// What the launch moved, where time is modelled.
struct Moved {
    u64 dram_read = 0, dram_write = 0;      // bytes
    f64 l2_hit_rate = 0, mall_hit_rate = 0; // of the requests that get there
    u64 asked() const { return loads + stores; }
    u64 loads = 0, stores = 0; // bytes that instructions ask for
};

struct LaunchStats {
    Instructions insts;
    Busy busy;
    Moved moved = {};
    DrawnTime time;        // with error bars, if the device draws
    std::string part = {}; // whose times are modelled; empty where time isn't
};

// Of a device with the setting stats=on.
class LaunchCounts {
public:
    explicit LaunchCounts(const hip::Device &device) : device_(device) {}

    // Of the dispatch since the last call; empty on a real GPU. Throws where the
    // line is for another kernel or there is not exactly one.
    std::optional<LaunchStats> next_launch(std::string_view kernel);
    // Of that, the counts.
    std::optional<Instructions> next(std::string_view kernel);
    // Lets the launches so far pass.
    void skip() { device_.take_stats(); }

private:
    const hip::Device &device_;
};

} // namespace nw::bench
