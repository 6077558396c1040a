// SPDX-License-Identifier: MIT
#include "sim/hip/stats.h"

#include <nlohmann/json.hpp>

namespace nw::hipsim {

using Json = nlohmann::ordered_json;

static Json json(const sim::Dim3 &dim) { return {dim.x, dim.y, dim.z}; }

static Json json(const sim::InstCounts &counts) {
    return {{"valu", counts.valu},
            {"vopd", counts.vopd},
            {"trans", counts.trans},
            {"wmma", counts.wmma},
            {"salu", counts.salu},
            {"smem", counts.smem},
            {"vmem_load", counts.vmem_load},
            {"vmem_store", counts.vmem_store},
            {"lds", counts.lds},
            {"branch", counts.branch},
            {"wait", counts.wait},
            {"other", counts.other},
            {"total", counts.total()}};
}

static Json json(const sim::ByteCounts &bytes) {
    return {{"global_load", bytes.global_load},
            {"global_store", bytes.global_store},
            {"lds_read", bytes.lds_read},
            {"lds_write", bytes.lds_write}};
}

static Json json(const sim::FidelityCounts &counts) {
    return {{"exact", counts.exact},
            {"approximate", counts.approximate},
            {"open", counts.open},
            {"notes", counts.notes}};
}

void StatsFile::write(const sim::Dispatch &dispatch, const sim::Device &device,
                      const sim::RunStats &stats) {
    const sim::KernelInfo &kernel = *dispatch.kernel;
    const u32 lds_bytes = kernel.lds_bytes + dispatch.dynamic_lds;
    const u32 workgroup = dispatch.block.x * dispatch.block.y * dispatch.block.z;
    const Json line = {
        {"kernel", kernel.name},
        {"gfx", device.gfx},
        {"grid", json(dispatch.grid)},
        {"block", json(dispatch.block)},
        {"lds_bytes", lds_bytes},
        {"vgprs", kernel.vgprs},
        {"sgprs", kernel.sgprs},
        {"waves_per_simd", sim::waves_per_simd(device, kernel, workgroup, lds_bytes)},
        {"insts", json(stats.insts)},
        {"bytes", json(stats.bytes)},
        {"fidelity", json(stats.fidelity)},
        {"math", stats.fast_math ? "fast" : "exact"},
    };
    file_.append(line);
}

} // namespace nw::hipsim
