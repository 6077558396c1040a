// SPDX-License-Identifier: MIT
#include "measure/gguf_product.h"

#include <algorithm>
#include <vector>

#include "base/median.h"
#include "measure/cold_product.h"
#include "measure/launch_timer.h"
#include "runtime/gguf_linear.h"
#include "runtime/gguf_mid.h"
#include "runtime/gguf_prefill.h"

namespace nw {

namespace {

constexpr u32 step = 16; // rows after which those of every type are aligned as kernels want

// Rows of c that there is memory for. More than n where one launch is timed, as in the figures so
// far: where buffers lie moves times by up to a percent.
u32 room(const GgufShape &shape, u64 rows) {
    return static_cast<u32>(std::min<u64>(rows, u64{2} * shape.n));
}

} // namespace

GgufKernels choose_gguf_kernels(std::string_view gfx, const GgufShape &shape) {
    const auto &[type, m, n, k] = shape;
    const auto route = [&](const Kernel &kernel) { return gguf_route(kernel, type, m, n, k); };
    GgufRoute way = route(*explain_gguf(gfx, type, m, n, k).kernel);
    if (way.rows < m)
        way = route(default_gguf(gfx, type, m, n, k));
    return way.rows < m ? GgufKernels{} : GgufKernels{way.kernel, way.convert};
}

u64 gguf_activation_bytes(const GgufKernels &kernels, const GgufShape &shape) {
    return kernels.wmma() ? gguf_halves_bytes(shape.m, shape.k) : q8_bytes(shape.m, shape.k);
}

u32 gguf_dynamic_lds(const GgufKernels &kernels, const GgufShape &shape, u32 wgps) {
    if (kernels.wmma())
        return 0;
    GgufDecode product{};
    product.type = shape.type, product.m = shape.m, product.n = shape.n, product.k = shape.k;
    return shape.m * q8_tile_bytes * (gguf_grid(*kernels.product, product, wgps).stage - 1);
}

GgufProduct::GgufProduct(const hip::Device &device, const GgufKernels &kernels,
                         const GgufShape &shape, u64 rows)
    : kernels_(kernels), shape_(shape), modules_(device), wgps_(device.info().wgps),
      w_(device.allocate(rows * gguf_row_bytes(shape.type, shape.k))),
      x_(device.allocate(u64{4} * shape.m * shape.k)),
      a_(device.allocate(gguf_activation_bytes(kernels, shape))),
      c_(device.allocate(u64{4} * shape.m * room(shape, rows))) {
    modules_.function(*kernels_.product); // loading is no part of the time
    modules_.function(*kernels_.convert);
    x_.fill(0);
    if (!device.info().simulated) // whose memory is 0 as it is
        w_.fill(0);
    if (!kernels_.mid())
        return;
    // No share is smaller than that of the fewest rows.
    const Kernel &mid = *kernels_.product;
    parts_ = device.allocate(gguf_mid_parts_bytes(mid, shape.m, room(shape, rows), shape.k,
                                                  share(mid.rows_per_workgroup)));
    arrived_ = device.allocate(gguf_mid_arrived_bytes(mid, shape.m, room(shape, rows)));
    arrived_.fill(0);
}

u32 GgufProduct::share(u32 rows) const {
    return gguf_mid_share(*kernels_.product, shape_.m, rows, shape_.k, wgps_);
}

void GgufProduct::convert() {
    const auto &[type, m, n, k] = shape_;
    if (kernels_.wmma())
        launch(modules_, *kernels_.convert, GgufHalves{m, k, x_.data(), u64{4} * k, a_.data()});
    else
        launch(modules_, *kernels_.convert, QuantizeQ8{m, k, x_.data(), u64{4} * k, a_.data()});
}

void GgufProduct::multiply(u64 first, u32 rows) {
    const auto &[type, m, n, k] = shape_;
    const void *const w =
        static_cast<const std::byte *>(w_.data()) + first * gguf_row_bytes(type, k);
    if (kernels_.mid())
        launch(modules_, *kernels_.product,
               GgufMid{type, m, rows, k, a_.data(), w, c_.data(), parts_.data(), arrived_.data()});
    else if (kernels_.prefill())
        launch(modules_, *kernels_.product, GgufPrefill{type, m, rows, k, a_.data(), w, c_.data()});
    else
        launch(modules_, *kernels_.product, GgufDecode{type, m, rows, k, a_.data(), w, c_.data()});
}

GgufTimes time_gguf_product(const hip::Device &device, const GgufKernels &kernels,
                            const GgufShape &shape, u32 runs,
                            const std::function<void(const Kernel &)> &launched) {
    const u32 n = shape.n;
    const u32 warm_rows = std::min(n, device.info().wgps * kernels.product->rows_per_workgroup);
    const u64 begin = round_up<u64>(warm_rows, step), each = round_up<u64>(n, step);
    const u64 others = cold_rest / gguf_row_bytes(shape.type, shape.k);
    const u64 rows = begin + (runs == 1 ? n : 2 * each + others);
    GgufProduct product(device, kernels, shape, rows);
    const LaunchTimer timer(device, launched);
    const auto convert = [&] { return timer.us(*kernels.convert, [&] { product.convert(); }); };
    const auto multiply = [&](u64 first, u32 count) {
        return timer.us(*kernels.product, [&] { product.multiply(first, count); });
    };
    convert();
    multiply(0, warm_rows);
    std::vector<f64> converts, products;
    for (u64 first = begin; products.size() < runs;
         first = first + 2 * each > rows ? 0 : first + each) {
        converts.push_back(convert());
        products.push_back(multiply(first, n));
    }
    const GgufTimes out{upper_median(products), upper_median(converts)};
    need_time(device, out.us);
    need_time(device, out.convert_us);
    return out;
}

} // namespace nw
