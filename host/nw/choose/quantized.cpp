// SPDX-License-Identifier: MIT
#include "nw/choose/quantized.h"

#include <functional>

#include "base/error.h"
#include "measure/cold_product.h"
#include "measure/launch_times.h"
#include "measure/on_cores.h"
#include "nw/choose/row.h"

namespace nw::cli {

namespace {

using Time = std::function<QuantizedTime(const hip::Device &)>;

QuantizedChoice choose(std::string_view gfx, const Quantization &to, const QuantizedProduct &p,
                       const Kernel &other, const Time &quantized, const Time &plain) {
    QuantizedChoice out{.to = to, .other = &other};
    try {
        out.kernels = quantized_kernels(gfx, p);
    } catch (const Error &e) {
        out.refused = e.what();
        return out;
    }
    const std::vector<QuantizedTime> times = on_cores<QuantizedTime>({1, 1}, [&](u64 i) {
        const hip::Device device = model_device("sim:" + std::string(gfx), 2);
        return i == 0 ? quantized(device) : plain(device);
    });
    out.time = times[0], out.other_us = times[1].us();
    return out;
}

// "quantize_fp8_f16, then moe_align, then this kernel"
std::string launches(const QuantizedKernels &of) {
    const Kernel *lists = lists_before(*of.product);
    return fmt::format("{}, then {}this kernel", of.rows->symbol,
                       lists ? fmt::format("{}, then ", lists->symbol) : "");
}

} // namespace

QuantizedChoice choose_quantized(std::string_view gfx, const Quantization &to,
                                 const QuantizedProduct &p, const Op &op, const Kernel &other) {
    return choose(
        gfx, to, p, other, [&](const hip::Device &device) { return quantized_time(device, p); },
        [&](const hip::Device &device) {
            return QuantizedTime{0, ColdProduct(device, {&op, 1}, 1).us_as_new(other, op)};
        });
}

QuantizedChoice choose_quantized(std::string_view gfx, const Quantization &to,
                                 const QuantizedProduct &p, const Op &op, const Kernel &other,
                                 std::span<const i32> routes) {
    return choose(
        gfx, to, p, other,
        [&](const hip::Device &device) { return quantized_time(device, p, routes); },
        [&](const hip::Device &device) {
            const LaunchTimes t = time_launches(device, {other, op, routes}, 1, {}, Warm::no);
            return QuantizedTime{0, t.convert_us + t.lists_us + t.us};
        });
}

void print(const QuantizedChoice &c) {
    if (!c.refused.empty())
        return row(c.to.name, "no product: " + c.refused);
    const auto &[rows, product] = c.kernels;
    const std::string parts = fmt::format("{:.2f} us (sim), {:.2f} of them {}", c.time.us(),
                                          c.time.rows_us, rows->symbol);
    if (!c.is_faster())
        return row(c.to.name, fmt::format("{}, then {}: {}; {} {:.2f} us", rows->symbol,
                                          product->symbol, parts, c.to.without, c.other_us));
    row("launches", launches(c.kernels));
    row("because",
        fmt::format("activations may be in {}, and it is faster on the model", c.to.name));
    row("error", std::string(c.to.error));
    row("time", parts);
    row("others",
        fmt::format("{:.2f} us (sim)  {}, {}", c.other_us, c.other->symbol, c.to.without));
}

nlohmann::json to_json(const QuantizedChoice &c) {
    if (!c.refused.empty())
        return {{"refused", c.refused}};
    return {{"kernel", c.kernels.product->symbol},
            {"convert", c.kernels.rows->symbol},
            {"error", c.to.error},
            {"convert_us", c.time.rows_us},
            {"product_us", c.time.product_us},
            {"us", c.time.us()},
            {"other", c.other->symbol},
            {"other_us", c.other_us}};
}

} // namespace nw::cli
