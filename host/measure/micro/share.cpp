// SPDX-License-Identifier: MIT
// micro_share: how two waves of a SIMD share it.
#include <algorithm>
#include <fmt/format.h>

#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/plan.h"

namespace nw::micro {

namespace {

constexpr u32 cycles = 100000;
constexpr u32 simds = 4; // of a WGP; wave n is on SIMD n % 4

std::string name_of(const Kernel &kernel) {
    return fmt::format("share of the favoured of two waves, {}", kernel.param("op"));
}

// Share of a SIMD's loops done by its faster wave, in per cent.
std::vector<Row> run(Modules &modules, const Kernel &kernel) {
    const u32 waves = kernel.number("waves");
    const hip::Buffer out = modules.device().allocate(4ull * waves);
    Op op{};
    op.out = address(out.data());
    op.cycles = cycles;
    launch(modules, kernel, op);
    modules.device().synchronize();
    std::vector<u32> loops(waves);
    out.download(loops.data(), 4ull * waves);
    std::vector<f64> shares;
    for (u32 simd = 0; simd < simds; ++simd) {
        const auto [less, more] = std::minmax(loops[simd], loops[simd + simds]);
        shares.push_back(100.0 * more / (less + more));
    }
    Row row;
    row.name = name_of(kernel);
    row.unit = "%";
    row.value = median(shares);
    row.low = *std::ranges::min_element(shares);
    row.high = *std::ranges::max_element(shares);
    row.from = fmt::format("loops in {} cycles, {} SIMDs", cycles, simds);
    return {row};
}

} // namespace

void add_shares(std::vector<Group> &groups, const hip::DeviceInfo &device, const Settings &) {
    for (const Kernel &kernel : kernels(device.gfx))
        if (kernel.family == "micro_share")
            groups.push_back({std::string(kernel.symbol),
                              {name_of(kernel)},
                              [&kernel](Modules &modules) { return run(modules, kernel); }});
}

} // namespace nw::micro
