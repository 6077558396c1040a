// SPDX-License-Identifier: MIT
#include "ref/rows.h"

#include "base/error.h"
#include "ref/gguf.h"
#include "ref/need_size.h"

namespace nw::ref {

namespace {

u64 row_bytes(GgmlType type, u64 k) {
    const GgmlTypeInfo *info = find_ggml_type(type);
    if (!info)
        throw Error("rows of an unknown type");
    return k / info->elements * info->bytes;
}

u64 rows_of(const RowLists &p) { return u64{p.n[0]} * p.n[1] * p.n[2]; }

} // namespace

std::vector<f32> get_rows(GgmlType type, std::span<const std::byte> x, std::span<const i32> ids,
                          const RowLists &p) {
    const u64 bytes = row_bytes(type, p.k), rows = rows_of(p);
    need_size("x", x.size(), bytes * p.matrix_rows * p.n[1] * p.n[2]);
    need_size("ids", ids.size(), rows);
    std::vector<f32> y(rows * p.k);
    for (u64 row = 0; row < rows; ++row) {
        if (ids[row] < 0 || ids[row] >= static_cast<i64>(p.matrix_rows))
            continue;
        const u64 matrix = row / p.n[0], at = matrix * p.matrix_rows + static_cast<u64>(ids[row]);
        dequantize_row(type, &x[at * bytes], p.k, &y[row * p.k]);
    }
    return y;
}

void set_rows(GgmlType type, std::span<const f32> x, std::span<const i64> ids,
              const std::array<u32, 2> &lists, std::span<std::byte> y, const RowLists &p) {
    const u64 bytes = row_bytes(type, p.k), rows = rows_of(p);
    need_size("x", x.size(), rows * p.k);
    need_size("ids", ids.size(), u64{p.n[0]} * lists[0] * lists[1]);
    need_size("y", y.size(), bytes * p.matrix_rows * p.n[1] * p.n[2]);
    for (u64 row = 0; row < rows; ++row) {
        const u64 i1 = row % p.n[0], i2 = row / p.n[0] % p.n[1], i3 = row / p.n[0] / p.n[1];
        const i64 id = ids[(i3 % lists[1] * lists[0] + i2 % lists[0]) * p.n[0] + i1];
        if (id < 0 || id >= static_cast<i64>(p.matrix_rows))
            continue;
        const u64 at = (i3 * p.n[1] + i2) * p.matrix_rows + static_cast<u64>(id);
        quantize_row(type, x.subspan(row * p.k, p.k), &y[at * bytes]);
    }
}

} // namespace nw::ref
