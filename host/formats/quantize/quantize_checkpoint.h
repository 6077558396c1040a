// SPDX-License-Identifier: MIT
#pragma once
#include <filesystem>
#include <functional>
#include <span>

#include "formats/files/work_progress.h"
#include "formats/quantize/quantization_error.h"
#include "formats/quantize/quantize_plan.h"

namespace nw {

struct QuantizedReport {
    std::string name;
    std::string dtype; // it had; of coded weights their format
    u32 experts;       // 0: one matrix
    u32 n, k;
    QuantizationError error;
};

struct QuantizeReport {
    u64 linears = 0, weights = 0;     // quantized
    u64 copies = 0, copied_bytes = 0; // other tensors
    u64 dequantized = 0;              // layers of 4 bits that are no linears
    u64 file_bytes = 0;
    QuantizationError error;                     // of all linears; its place means nothing
    std::optional<std::filesystem::path> config; // config.json, if it was written
    f64 seconds = 0;
};

// Called from any thread, one call at a time.
struct QuantizeWatch {
    WorkProgress progress;                                 // in weights
    std::function<void(const QuantizedReport &)> finished; // in the order of the input
};

// Quantizes the linear weights of safetensors checkpoints, each a file or a model's folder, into
// one file and copies their other tensors. Reads and writes in blocks of rows. The output is
// written to a temporary file and renamed on success. Throws Error.
QuantizeReport quantize_checkpoint(std::span<const std::filesystem::path> inputs,
                                   const std::filesystem::path &out, QuantizeOptions,
                                   const QuantizeWatch &);

} // namespace nw
