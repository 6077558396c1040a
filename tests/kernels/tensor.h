// SPDX-License-Identifier: MIT
// Tensors of four dimensions in memory, rows apart from each other, for tests of elementwise
// kernels.
#pragma once
#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <vector>

#include "base/rng.h"
#include "check/check.h"

namespace nw::check {

struct Tensor {
    std::array<u32, 4> n;              // the innermost dimension first
    std::array<u64, 4> stride;         // bytes; [0]: of an element
    static constexpr u8 poison = 0x5e; // between rows

    u64 rows() const { return u64{n[1]} * n[2] * n[3]; }
    u64 elements() const { return rows() * n[0]; }
    u64 row_bytes() const { return n[0] * stride[0]; }
    u64 bytes() const { return offset(rows() - 1) + row_bytes(); }
    // Bytes from the first row to this one; the first dimension is counted fastest.
    u64 offset(u64 row) const {
        return row % n[1] * stride[1] + row / n[1] % n[2] * stride[2] +
               row / n[1] / n[2] * stride[3];
    }
};

// pad: elements between rows. permuted: rows of the second dimension are the nearest.
Tensor tensor(std::array<u32, 4> n, u64 size, u64 pad, bool permuted = false);

// The values in such memory.
template <class T> std::vector<u8> placed(const Tensor &in, const std::vector<T> &values) {
    std::vector<u8> out(in.bytes(), Tensor::poison);
    for (u64 row = 0; row < in.rows(); ++row)
        std::memcpy(&out[in.offset(row)], &values[row * in.n[0]], in.row_bytes());
    return out;
}

// The values in a region. Fails where something between rows or around them was written.
template <class T>
std::vector<T> taken(Test &t, const char *name, const Tensor &in, const Region &region,
                     std::source_location where) {
    std::vector<u8> bytes = region.read_as<u8>();
    std::vector<T> out(in.elements());
    for (u64 row = 0; row < in.rows(); ++row) {
        std::memcpy(&out[row * in.n[0]], &bytes[in.offset(row)], in.row_bytes());
        std::fill_n(&bytes[in.offset(row)], in.row_bytes(), Tensor::poison);
    }
    const auto bad = std::ranges::find_if(bytes, [](u8 b) { return b != Tensor::poison; });
    if (bad != bytes.end())
        t.fail(
            fmt::format("byte {} of {}, between its rows, is written", bad - bytes.begin(), name),
            where);
    t.guards_clean(name, region, where);
    return out;
}

// Zeros, subnormals, infinities, NaN, the ends of the range and others that arithmetic treats
// apart; then random values of any size. Of two operands, `second` meets each of the first.
std::vector<f32> hard_values(Rng &, u64 count, bool second = false);
std::vector<f32> normal_values(Rng &, u64 count, f32 size = 1);

} // namespace nw::check
