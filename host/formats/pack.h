// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <functional>

#include "formats/packed_model.h"

namespace nw {

struct PackReport {
    u64 linears = 0, matrices = 0; // packed layers; matrices of the checkpoint
    u64 weight_bytes = 0;          // packed, without padding
    u64 file_bytes = 0;
    u64 checked_rows = 0; // against plain dequantization
    f64 seconds = 0;
};

// Progress callback: bytes of weights done, total bytes, current layer. From any thread, one call
// at a time.
using PackProgress = std::function<void(u64, u64, const std::string &)>;

// Packs the checkpoint into `out`, NAME.safetensors, and its layout into NAME.json. Both are
// written to temporary files and renamed on success. Throws Error.
PackReport pack(const std::filesystem::path &checkpoint, const std::filesystem::path &out,
                const PackOptions &, const PackProgress &);

} // namespace nw
