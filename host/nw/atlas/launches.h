// SPDX-License-Identifier: MIT
// Launches of products and of attention, each timed on a device.
#pragma once
#include <array>
#include <span>
#include <string>
#include <vector>

#include "hip/hip.h"
#include "measure/shapes.h"
#include "nw/atlas/plan.h"

namespace nw::cli {

// The launches of a product, by atlas_ops.
struct AtlasTimed {
    std::array<f64, atlas_ops.size()> us{};
    // The simulated GPU's statistics for each, as in HIPSIM_STATS; empty on a card.
    std::array<std::string, atlas_ops.size()> stats{};

    f64 sum() const { return us[0] + us[1] + us[2]; }
};

// On a simulated device on all cores; on a card the medians of `repeats` runs, with a progress bar.
std::vector<AtlasTimed> time_jobs(const std::vector<AtlasJob> &, const hip::DeviceInfo &on,
                                  u32 repeats);

// Attention of one layer: the last sq of sk tokens are queries, q, k and v as a cache without pages
// has them.
struct AttentionJob {
    AttentionLayer of;
    Dtype dtype;
    u32 sq, sk;
    bool lists = false; // also mean, score, select, and attention over what they list

    u64 q_bytes() const { return u64{2} * sq * of.h * of.d; }
    u64 k_bytes() const { return u64{2} * sk * of.hk * of.d; }
    u64 tiles() const { return ceil_div(sq, block); }
    u64 blocks() const { return ceil_div(sk, block); }
    u64 list_entries() const { return of.h * tiles() * blocks(); }
    // Pairs of a query and a key that it sees, per head.
    f64 pairs() const { return sq * (sk - (sq - 1) / 2.0); }

    static constexpr u32 block = 128;
};

struct AttentionLaunch {
    const Kernel *kernel;
    std::string op; // "forward", "decode", "mean", ...; ", lists" after it
    u32 dynamic_lds;
    f64 us;
    std::string stats; // "" on a card
    f64 density = 1;   // keys that queries attend to, of those before them
};

// As time_jobs.
std::vector<std::vector<AttentionLaunch>> time_attention(const std::vector<AttentionJob> &,
                                                         const hip::DeviceInfo &on, u32 repeats);

} // namespace nw::cli
