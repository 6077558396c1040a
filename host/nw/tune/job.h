// SPDX-License-Identifier: MIT
// Jobs of nw tune: kinds of products, each a section of a table of gen/tuning.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/types.h"
#include "nw/manifest.h"
#include "nw/tune/tuning_table.h"
#include "runtime/catalogue.h"

namespace nw::cli {

// A shape and its kernels, the default first.
struct TuneJob {
    u32 n, k;
    Op op; // sizes and strides
    std::vector<const Kernel *> kernels;

    std::string text() const { return std::to_string(n) + "x" + std::to_string(k); }
};

struct TuneKind {
    TunedKind section;
    std::string label;
    std::vector<TuneJob> jobs;
};

struct TunePlan {
    std::vector<TuneKind> kinds;
    std::shared_ptr<const Manifest> manifest; // whose kernels they are; null: the build's
    std::filesystem::path kernels;            // directory of their code objects; empty: the build's
};

// Leaves each job the default and the kernels that its row of the table names, as the others were
// slower when it was written; all of them where a named kernel is none of the job's, which is said.
// Jobs without a row go.
void keep_named(std::vector<TuneKind> &, const TuningTable &);

} // namespace nw::cli
