// SPDX-License-Identifier: MIT
#include "nw/choose/int8.h"

#include "base/error.h"
#include "measure/cold_product.h"
#include "measure/on_cores.h"
#include "nw/choose/row.h"

namespace nw::cli {

Int8Choice choose_int8(std::string_view gfx, const ProductShape &p, const Kernel &other) {
    Int8Choice out{.other = &other};
    try {
        out.kernels = int8_kernels(gfx, p);
    } catch (const Error &e) {
        out.refused = e.what();
        return out;
    }
    const std::vector<Int8Time> times = on_cores<Int8Time>({1, 1}, [&](u64 i) {
        const hip::Device device = model_device("sim:" + std::string(gfx), 2);
        if (i == 0)
            return int8_time(device, p);
        const Op op = p.op();
        return Int8Time{0, ColdProduct(device, {&op, 1}, 1).us_as_new(other, op)};
    });
    out.time = times[0], out.other_us = times[1].us();
    return out;
}

void print(const Int8Choice &c) {
    if (!c.refused.empty())
        return row("int8", "no product: " + c.refused);
    const auto &[rows, product] = c.kernels;
    const std::string parts = fmt::format("{:.2f} us (sim), {:.2f} of them {}", c.time.us(),
                                          c.time.rows_us, rows->symbol);
    if (!c.is_faster())
        return row("int8", fmt::format("{}, then {}: {}; activations in 16 bits {:.2f} us",
                                       rows->symbol, product->symbol, parts, c.other_us));
    row("launches", fmt::format("{}, then this kernel", rows->symbol));
    row("because", "activations may be in int8, and it is faster on the model");
    row("time", parts);
    row("others",
        fmt::format("{:.2f} us (sim)  {}, activations in 16 bits", c.other_us, c.other->symbol));
}

nlohmann::json to_json(const Int8Choice &c) {
    if (!c.refused.empty())
        return {{"refused", c.refused}};
    return {{"kernel", c.kernels.product->symbol},
            {"convert", c.kernels.rows->symbol},
            {"convert_us", c.time.rows_us},
            {"product_us", c.time.product_us},
            {"us", c.time.us()},
            {"other", c.other->symbol},
            {"other_us", c.other_us}};
}

} // namespace nw::cli
