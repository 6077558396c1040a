// SPDX-License-Identifier: MIT
// micro_rate: the shader's clock in MHz, by the device's clock of 100 MHz.
#include <algorithm>
#include <fmt/format.h>

#include "measure/micro/derive.h"
#include "measure/micro/launch.h"
#include "measure/micro/plan.h"

namespace nw::micro {

namespace {

constexpr u32 loops =
    16000; // about 15 / 16 of 2^20 cycles: the clock may not run over its 20 bits (T-040)
constexpr f64 ticks_mhz = 100;

std::vector<Row> run(Modules &modules, const Kernel &kernel, u32 repeats) {
    const hip::Buffer out = modules.device().allocate(8);
    std::vector<f64> values;
    for (u32 i = 0; i < repeats; ++i) {
        Op op{};
        op.out = address(out.data());
        op.loops = loops;
        launch(modules, kernel, op);
        modules.device().synchronize();
        u32 clocks[2]; // cycles, ticks
        out.download(clocks, sizeof clocks);
        values.push_back(clocks[1] ? clocks[0] * ticks_mhz / clocks[1] : 0);
    }
    Row row;
    row.name = "shader clock";
    row.unit = "MHz";
    row.value = median(values);
    row.low = *std::min_element(values.begin(), values.end());
    row.high = *std::max_element(values.begin(), values.end());
    row.from = fmt::format("{} loops of s_nop 15 beside 100 MHz, {} launches", loops, repeats);
    return {row};
}

} // namespace

void add_rates(std::vector<Group> &groups, const hip::DeviceInfo &device,
               const Settings &settings) {
    for (const Kernel &kernel : kernels(device.gfx))
        if (kernel.family == "micro_rate")
            groups.push_back({std::string(kernel.symbol),
                              {"shader clock"},
                              [&kernel, repeats = settings.repeats](Modules &modules) {
                                  return run(modules, kernel, repeats);
                              }});
}

} // namespace nw::micro
