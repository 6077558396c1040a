// SPDX-License-Identifier: MIT
// Products by the kernels that the library chooses, and their times.
#include <fmt/format.h>

#include "base/pattern.h"
#include "bench/product.h"
#include "formats/packed/row_stride.h"

namespace nw::bench {

std::vector<DenseJob> dense_jobs(const Options &o, const std::string &gfx, const LinearShape &layer,
                                 const Sweep &sweep) {
    const Pattern only("--only", o.only);
    std::vector<DenseJob> out;
    for (Dtype dtype : o.dtypes)
        for (Zeros zeros : sweep.zeros)
            for (u32 m : sweep.m) {
                const ProductShape p{dtype,
                                     zeros,
                                     m,
                                     layer.n,
                                     layer.k,
                                     sweep.group,
                                     weight_row_stride(gfx, layer.k)};
                if (only.found_in(sweep.name(p)))
                    out.push_back({p, &sweep.choose(gfx, p), {}, layer.model, layer.layer});
            }
    return out;
}

Json time_by_m1(const Options &o, const std::vector<DenseJob> &jobs, const std::string &gfx) {
    const Bound bound = dram_bound(gfx);
    fmt::print("\nLinear layers on sim {}: modelled times, weights cold.\n"
               "type: of activations; sym: no zero points; zp: packed zero points; mM: M rows of "
               "activations.\n"
               "GB/s: of all bytes moved; % bound: the time of these bytes at {:.1f} GB/s, which "
               "DRAM sustains,\n"
               "by the time of the kernel; /m1: time by that of one row of activations.{}\n\n",
               gfx, bound.gb_per_s,
               o.verbose ? "\nslots: VALU issue slots per 8 weights and lane." : "");
    Table table(
        product_columns + time_columns(o, 9) +
        "; GB/s {gb_per_s:>6.1f}; % bound {pct_of_bound:>7.1f}; "
        "/m1 {of_m1:>6.3f}" +
        (o.verbose ? "; slots {valu_slots_per_8w:>6.2f}; VGPRs {vgprs:>5}; kernel {_kernel}" : ""));
    Json rows = Json::array();
    OfM1 of_m1({"k", "n", "group", "dtype", "zp"});
    time_dense(jobs, [&](u64 i, const Timed &time) {
        rows.push_back(to_json(jobs[i], time, bound));
        of_m1.add(rows.back());
        table.print(rows.back());
    });
    of_m1.add_all(rows);
    return rows;
}

} // namespace nw::bench
