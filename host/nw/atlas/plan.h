// SPDX-License-Identifier: MIT
// nw atlas --suite gguf: the launches to time.
#pragma once
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "formats/packed/linear_shapes.h"
#include "measure/launch_times.h"
#include "measure/shapes.h"
#include "nw/atlas/run.h"

namespace nw::cli {

// A mixture of experts and its routing.
struct AtlasExperts {
    GgufMoeShape shape;
    std::vector<i32> routes;
};

// A product that is timed once, for all layers of its shape.
struct AtlasJob {
    GgufShape shape;      // of experts: m tokens, one expert's n and k
    const Kernel *kernel; // of the product; null: there is none
    std::optional<AtlasExperts> experts;

    Op op() const { return experts ? experts->shape.op() : shape.op(); }

    // The launches, in the order of atlas_ops; null: there is none.
    std::array<const Kernel *, 3> launches() const;
};
inline constexpr std::array<std::string_view, 3> atlas_ops = {"activations", "lists", "product"};

struct AtlasPlanned {
    LinearShape layer; // as GGUF files have it: experts' gate and up apart
    u64 job;
};

struct AtlasPlan {
    std::vector<AtlasJob> jobs;
    std::vector<AtlasPlanned> rows;
    std::set<std::string> complete; // sets of which no layer is left out
};

// "MODEL TYPE M"
std::string atlas_set(const LinearShape &, const GgufShape &);

// Reports skipped products on stderr. Throws Error if there is nothing to run.
AtlasPlan plan_atlas(const AtlasRunOptions &, std::string_view gfx);

} // namespace nw::cli
