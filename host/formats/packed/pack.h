// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>

#include "formats/files/work_progress.h"
#include "formats/packed/packed_model.h"

namespace nw {

struct PackReport {
    u64 linears = 0, matrices = 0; // packed layers; matrices of the checkpoint
    u64 weight_bytes = 0;          // packed, without padding
    u64 file_bytes = 0;
    u64 checked_rows = 0; // against plain dequantization
    f64 seconds = 0;
    std::vector<std::string> notes; // what the caller should know of the checkpoint
};

// Packs the checkpoint into `out`, NAME.safetensors, and its layout into NAME.json. Both are
// written to temporary files and renamed on success. Throws Error.
PackReport pack(const std::filesystem::path &checkpoint, const std::filesystem::path &out,
                const PackOptions &, const WorkProgress &);

} // namespace nw
