// SPDX-License-Identifier: MIT
#include "golden_figures.h"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "base/error.h"
#include "base/half.h"
#include "base/processes.h"
#include "decode_times.h"
#include "formats/row_stride.h"
#include "stats.h"
#include "temporary_folder.h"

namespace nw::bench {

namespace {

namespace fs = std::filesystem;

// Small: counts of it are those of any other, but for what is done once a workgroup.
constexpr u32 counted_n = 64, counted_k = 2048;

bool in_golden(const Kernel &k, const std::string &gfx) { return k.gfx == gfx && !k.reference; }

// ---- decode_w4a16

ProductShape decode_shape(const Kernel &k, u32 n, u32 length) {
    const std::string_view zeros = k.param("zeros");
    return {k.param("dtype") == name(Dtype::bf16) ? Dtype::bf16 : Dtype::f16,
            zeros == "zp"   ? Zeros::packed
            : zeros == "zt" ? Zeros::typed
                            : Zeros::eight,
            k.number("m"),
            n,
            length,
            k.param("group") == "k" ? per_row : k.number("group"),
            weight_row_stride(k.gfx, length)};
}

f64 decode_slots(ColdProduct &product, const Kernel &k, const ProductShape &p, StatsFile &stats) {
    launch_decode(product, k, p, product.memory(p));
    product.device().synchronize();
    return slots_per_8_weights(stats.next(k.symbol).value(), p);
}

// Of gfx1151, which the kernels are tuned for first, more.
std::vector<DecodeJob> timed_decode(const std::string &gfx) {
    const bool all = gfx == "gfx1151";
    std::vector<DecodeJob> out;
    for (const Kernel &k : kernels()) {
        if (!in_golden(k, gfx) || k.family != "decode_w4a16" || k.param("group") != "128")
            continue;
        const u32 m = k.number("m");
        const std::string_view zeros = k.param("zeros");
        if (m != 1 && m != 4 && !(all && m == 8))
            continue;
        if (zeros != "" && !(all && zeros == "zp"))
            continue;
        out.push_back({decode_shape(k, 2048, 2048), "", "", &k});
        if (all)
            out.push_back({decode_shape(k, 4096, 4096), "", "", &k});
    }
    return out;
}

// ---- all families

Figures static_figures(const Kernel &k) {
    return {{"vgprs", k.vgprs}, {"lds_bytes", k.lds_bytes}, {"waves_per_simd", k.waves_per_simd}};
}

// In a process of its own: what a library simulates is settled when it is opened.
Golden counted(const std::string &gfx) {
    setenv("HIPSIM_TIMING", "off", 1);
    StatsFile stats;
    const hip::Device device("sim:" + gfx);
    std::vector<ProductShape> shapes;
    for (const Kernel &k : kernels())
        if (in_golden(k, gfx) && k.family == "decode_w4a16")
            shapes.push_back(decode_shape(k, counted_n, counted_k));
    ColdProduct product(device, shapes, 1);
    Golden out;
    for (const Kernel &k : kernels()) {
        if (!in_golden(k, gfx))
            continue;
        Figures &figures = out[std::string(k.symbol)] = static_figures(k);
        if (k.family == "decode_w4a16")
            figures["slots"] =
                decode_slots(product, k, decode_shape(k, counted_n, counted_k), stats);
    }
    return out;
}

} // namespace

std::map<std::string, Golden> measure_golden(const std::vector<std::string> &gfx) {
    const TemporaryFolder folder;
    const auto file = [&](u64 i) { return (folder.path() / gfx[i]).string(); };
    static_cast<void>(in_processes<bool>(std::vector<u64>(gfx.size(), 1), [&](u64 i) {
        std::ofstream(file(i)) << to_text(gfx[i], counted(gfx[i]));
        return true;
    }));
    std::map<std::string, Golden> out;
    std::vector<DecodeJob> jobs;
    for (u64 i = 0; i < gfx.size(); ++i) {
        out[gfx[i]] = read_golden(file(i));
        for (const DecodeJob &job : timed_decode(gfx[i]))
            jobs.push_back(job);
    }
    const std::vector<DecodeTime> times = time_decode(jobs);
    for (u64 i = 0; i < jobs.size(); ++i) {
        const DecodeJob &job = jobs[i];
        out[std::string(job.kernel->gfx)][std::string(job.kernel->symbol)]
           [fmt::format("us {}x{}", job.shape.k, job.shape.n)] = times[i].us;
    }
    return out;
}

} // namespace nw::bench
