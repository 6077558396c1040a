// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "formats/quantize/quantization_error.h"
#include "formats/quantize/quantize_plan.h"
#include "formats/safetensors/tensor_writer.h"

namespace nw {

inline constexpr u64 quantized_rows_step = 8; // a dword of zero points has eight rows

// Quantizes rows of a linear and writes them; one per thread, with reusable buffers.
class RowQuantizer {
public:
    RowQuantizer(const QuantizeOptions &o, TensorWriter &file) : options_(o), file_(file) {}

    // Rows of one matrix: `first` is a multiple of quantized_rows_step; so is `count`, except at
    // the end. Throws Error, naming tensor and place, if a weight is not finite or a scale is out
    // of range.
    QuantizationError run(const QuantizedLinear &, u64 matrix, u64 first, u64 count);

private:
    void load(const QuantizedLinear &, u64 row);
    // Loads what becomes the row, lets work() quantize it, throws Errors that name the input's row,
    // and adds its error.
    template <class Quantize>
    void quantize(const QuantizedLinear &, u64 row, QuantizationError &, const Quantize &work);
    // `first`: with the rows of the matrices before.
    void write_q4_K(const QuantizedLinear &, u64 first, u64 count, QuantizationError &);
    void write_mxfp4(const QuantizedLinear &, u64 first, u64 count, QuantizationError &);
    void put_mxfp4(u64 at, std::byte *codes, std::byte *exponent);
    void write_int4(const QuantizedLinear &, u64 matrix, u64 first, u64 count, QuantizationError &);

    const QuantizeOptions &options_;
    TensorWriter &file_;
    std::vector<f32> weights_; // of a row
    std::vector<f64> stored_;  // what its quantized form stands for
    std::vector<u8> q_, z_;    // of a row
    std::vector<u16> scales_;  // of all rows, as are those below
    std::vector<u32> packed_, zeros_;
    std::vector<std::byte> blocks_, exponents_;
};

} // namespace nw
