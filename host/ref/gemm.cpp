// SPDX-License-Identifier: MIT
#include "ref/gemm.h"

#include <cmath>

#include "base/half.h"

namespace nw::ref {

GemmResult gemm_f16(const GemmF16 &p) {
    GemmResult r;
    for (u64 m = 0; m < p.m; ++m)
        for (u64 n = 0; n < p.n; ++n) {
            f64 sum = 0, terms = 0;
            for (u64 k = 0; k < p.k; ++k) {
                const f64 term = f64{to_f32(Dtype::f16, p.a[m * p.k + k])} *
                                 to_f32(Dtype::f16, p.b[n * p.k + k]);
                sum += term;
                terms += std::fabs(term);
            }
            r.c.push_back(sum);
            r.terms.push_back(terms);
        }
    return r;
}

} // namespace nw::ref
