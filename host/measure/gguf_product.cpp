// SPDX-License-Identifier: MIT
#include "measure/gguf_product.h"

#include <algorithm>
#include <vector>

#include "base/median.h"
#include "measure/cold_product.h"
#include "measure/launch_timer.h"

namespace nw {

namespace {

constexpr u32 unit = 16; // rows after which those of every type are aligned as kernels want

// Rows of c that there is memory for. More than n where one launch is timed, as in the figures so
// far: where buffers lie moves times by up to a percent.
u32 room(const GgufShape &shape, u64 rows) {
    return static_cast<u32>(std::min<u64>(rows, u64{2} * shape.n));
}

const Before &conversion(const GgufKernels &kernels) {
    return kernels.product->contract->before.front();
}

// Bytes that a launch over more rows, or fewer, may want of its own.
u64 most_scratch(const Scratch &scratch, const Kernel &kernel, Op op, const Machine &machine,
                 u32 rows) {
    op.n = rows;
    if (!scratch.bytes) // counters, one a tile
        return u64{4} * ceil_div<u64>(op.m, kernel.p.bm) *
               ceil_div(rows, kernel.rows_per_workgroup);
    // No share is smaller than that of the fewest rows.
    Op few = op;
    few.n = kernel.rows_per_workgroup;
    kernel.contract->derive(few, kernel, machine);
    op.share = few.share;
    return scratch.bytes(op, kernel, machine);
}

} // namespace

GgufKernels choose_gguf_kernels(std::string_view gfx, const GgufShape &shape) {
    const Op op = shape.op();
    check_shape(op);
    const Machine machine = usual_machine(gfx);
    Plan p = plan(op, machine);
    if (p.rows < op.m)
        p = plan(op, cheapest(gfx, op), machine);
    if (p.rows < op.m)
        return {};
    GgufKernels out;
    p.each_kernel([&](const Kernel &k) { (&k == p.kernel ? out.product : out.convert) = &k; });
    return out;
}

u64 gguf_activation_bytes(const GgufKernels &kernels, const GgufShape &shape) {
    const Machine machine = usual_machine(kernels.product->gfx);
    const Before &before = conversion(kernels);
    return before.gives.front().bytes(before.op(shape.op(), *kernels.product, machine),
                                      *kernels.convert, machine);
}

u32 dynamic_lds_of(const Kernel &kernel, Op op, u32 wgps) {
    const Machine machine{&target_of(kernel.gfx), wgps};
    if (op.blocks == automatic)
        op.blocks = op.slots; // no matter of LDS
    kernel.contract->settle(op, kernel, machine);
    return kernel.contract->dynamic_lds(op, kernel, machine);
}

GgufProduct::GgufProduct(const hip::Device &device, const GgufKernels &kernels,
                         const GgufShape &shape, u64 rows)
    : kernels_(kernels), shape_(shape), modules_(device), machine_(nw::machine_of(device)),
      w_(device.allocate(rows * ggml_row_bytes(shape.type, shape.k))),
      x_(device.allocate(u64{4} * shape.m * shape.k)),
      a_(device.allocate(gguf_activation_bytes(kernels, shape))),
      c_(device.allocate(u64{4} * shape.m * room(shape, rows))), op_(shape.op()) {
    modules_.function(*kernels_.product); // loading is no part of the time
    modules_.function(*kernels_.convert);
    x_.fill(0);
    if (!device.info().simulated) // whose memory is 0 as it is
        w_.fill(0);
    op_.x = address(x_.data());
    op_.x_stride = u64{4} * shape.k;
    op_.a = address(a_.data());
    op_.c = address(c_.data());
    for (const Scratch &scratch : kernels_.product->contract->scratch) {
        hip::Buffer &memory = scratch_.emplace_back(device.allocate(
            most_scratch(scratch, *kernels_.product, op_, machine_, room(shape, rows))));
        op_.*scratch.argument = address(memory.data());
        if (!scratch.bytes)
            memory.fill(0);
    }
}

void GgufProduct::convert() {
    const Before &before = conversion(kernels_);
    Op op = before.op(op_, *kernels_.product, machine_);
    op.*before.gives.front().result = op_.a;
    launch(modules_, *kernels_.convert, op);
}

void GgufProduct::multiply(u64 first, u32 rows) {
    Op op = op_;
    op.n = rows;
    op.w = address(w_.data()) + first * ggml_row_bytes(shape_.type, shape_.k);
    launch(modules_, *kernels_.product, op);
}

GgufTimes time_gguf_product(const hip::Device &device, const GgufKernels &kernels,
                            const GgufShape &shape, u32 runs,
                            const std::function<void(const Kernel &)> &launched) {
    const u32 n = shape.n;
    const u32 warm_rows = std::min(n, device.info().wgps * kernels.product->rows_per_workgroup);
    const u64 begin = round_up<u64>(warm_rows, unit), each = round_up<u64>(n, unit);
    const u64 others = cold_rest / ggml_row_bytes(shape.type, shape.k);
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
