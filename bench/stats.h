// SPDX-License-Identifier: MIT
// Statistics of the simulated GPU, a JSON line for each dispatch.
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

// Utilization of the part, if time is modelled.
struct Busy {
    f64 wmma = 0, lds = 0;        // shares of the launch's cycles
    f64 trans = 0;                // the same of transcendentals
    u64 lds_conflicts = 0;        // LDS cycles of bank conflicts
    f64 valu_and_wmma_cycles = 0; // of all SIMDs
};

// Bytes moved by the launch, if time is modelled.
struct Moved {
    u64 dram_read = 0, dram_write = 0;      // bytes
    f64 l2_hit_rate = 0, mall_hit_rate = 0; // of the requests that reach the cache
    u64 asked() const { return loads + stores; }
    u64 loads = 0, stores = 0; // bytes that instructions ask for
};

struct LaunchStats {
    Instructions insts;
    Busy busy;
    Moved moved = {};
    DrawnTime time;        // with error bars, if the device draws
    std::string part = {}; // the modelled part; empty without timing
};

// Statistics of a device with the setting stats=on.
class LaunchCounts {
public:
    explicit LaunchCounts(const hip::Device &device) : device_(device) {}

    // Statistics of the dispatch since the last call; empty on a real GPU. Throws if there is not
    // exactly one line, or if it is another kernel's.
    std::optional<LaunchStats> next_launch(std::string_view kernel);
    // Its instruction counts.
    std::optional<Instructions> next(std::string_view kernel);
    // Discards the statistics of launches so far.
    void skip() { device_.take_stats(); }

private:
    const hip::Device &device_;
};

} // namespace nw::bench
