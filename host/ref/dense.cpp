// SPDX-License-Identifier: MIT
#include "ref/dense.h"

#include <algorithm>
#include <cmath>

#include "ref/need_size.h"

namespace nw::ref {

DenseResult dense(const DenseShape &s, std::span<const f32> a, std::span<const f32> w,
                  std::span<const i32> ids) {
    const u64 matrices = u64{s.n3} * s.n2;
    need_size("a", a.size(), u64{s.n3} * s.a_n2 * s.m * s.k);
    need_size("w", w.size(), u64{s.w_n3} * s.w_n2 * s.n * s.k);
    need_size("ids", ids.size(), ids.empty() ? 0 : matrices);
    DenseResult out;
    out.c.assign(matrices * s.m * s.n, 0);
    out.terms = out.largest = out.c;
    out.skipped.assign(matrices, 0);
    for (u64 matrix = 0; matrix < matrices; ++matrix) {
        const u64 i3 = matrix / s.n2, i2 = matrix % s.n2;
        u64 of_w;
        if (ids.empty()) {
            of_w = i3 / (s.n3 / s.w_n3) * s.w_n2 + i2 / (s.n2 / s.w_n2);
        } else if (ids[matrix] >= 0 && static_cast<u32>(ids[matrix]) < s.w_n2) {
            of_w = static_cast<u64>(ids[matrix]);
        } else {
            out.skipped[matrix] = 1;
            continue;
        }
        const auto left = a.subspan((i3 * s.a_n2 + i2 % s.a_n2) * s.m * s.k, u64{s.m} * s.k);
        const auto right = w.subspan(of_w * s.n * s.k, u64{s.n} * s.k);
        for (u64 m = 0; m < s.m; ++m)
            for (u64 n = 0; n < s.n; ++n) {
                f64 sum = 0, terms = 0, most = 0, size = 0;
                for (u64 k = 0; k < s.k; ++k) {
                    const f64 term = f64{left[m * s.k + k]} * right[n * s.k + k];
                    sum += term;
                    terms += std::fabs(term);
                    most = std::max(most, std::fabs(f64{left[m * s.k + k]}));
                    size += std::fabs(f64{right[n * s.k + k]});
                }
                out.c[(matrix * s.m + m) * s.n + n] = sum;
                out.terms[(matrix * s.m + m) * s.n + n] = terms;
                out.largest[(matrix * s.m + m) * s.n + n] = most * size;
            }
    }
    return out;
}

} // namespace nw::ref
