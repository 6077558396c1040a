// SPDX-License-Identifier: MIT
#include "measure/quantized_product.h"

#include <vector>

#include "measure/cold_product.h"
#include "measure/launch_times.h"
#include "runtime/choose.h"
#include "runtime/launch.h"

namespace nw {

namespace {

Op rows_op(OpKind kind, Dtype dtype, u64 m, u64 k) {
    Op op{.kind = kind};
    op.dtype = word_of(dtype);
    op.m = m, op.k = k;
    op.x_stride = 2 * k;
    return op;
}

const Kernel &kernel_for(std::string_view gfx, const Op &op) {
    check_shape(op);
    return choose(gfx, op);
}

// Memory for the operands of launches, one buffer each.
class Operands {
public:
    explicit Operands(const hip::Device &device) : device_(device) {}

    void give(std::initializer_list<u64 Op::*> arguments, Op &op, const Kernel &kernel) {
        for (const auto argument : arguments)
            if (const u64 bytes =
                    operand_bytes(kernel.contract->operands, argument, op, kernel, {})) {
                buffers_.push_back(device_.allocate(bytes));
                buffers_.back().fill(0);
                op.*argument = address(buffers_.back().data());
            }
    }

private:
    const hip::Device &device_;
    std::vector<hip::Buffer> buffers_;
};

} // namespace

QuantizedProduct int8_product(const ProductShape &p) {
    QuantizedProduct out{rows_op(OpKind::quantize_rows, p.dtype, p.m, p.k), p.op()};
    out.product.kind = OpKind::linear_w4a8;
    return out;
}

QuantizedProduct fp8_product(const GgufShape &p) {
    QuantizedProduct out{rows_op(OpKind::quantize_fp8, Dtype::f16, p.m, p.k), p.op()};
    out.product.kind = OpKind::linear_gguf_fp8;
    return out;
}

QuantizedProduct fp8_experts(const GgufMoeShape &p) {
    QuantizedProduct out{rows_op(OpKind::quantize_fp8, Dtype::f16, p.rows(), p.k), p.op()};
    out.product.kind = OpKind::moe_gguf_fp8;
    return out;
}

QuantizedKernels quantized_kernels(std::string_view gfx, const QuantizedProduct &p) {
    return {&kernel_for(gfx, p.rows), &kernel_for(gfx, p.product)};
}

QuantizedTime quantized_time(const hip::Device &device, const QuantizedProduct &p) {
    const QuantizedKernels kernels = quantized_kernels(device.info().gfx, p);
    auto [rows, product] = p;
    Operands operands(device);
    operands.give({&Op::x, &Op::y, &Op::y_scale}, rows, *kernels.rows);
    product.a = rows.y, product.a_scale = rows.y_scale;
    operands.give({&Op::w, &Op::s, &Op::z, &Op::c}, product, *kernels.product);
    Modules modules(device);
    modules.function(*kernels.rows);
    modules.function(*kernels.product);
    const hip::Event start = device.event(), between = device.event(), stop = device.event();
    device.record(start);
    launch(modules, *kernels.rows, rows);
    device.record(between);
    launch(modules, *kernels.product, product);
    device.record(stop);
    const QuantizedTime out{1000 * f64{device.elapsed_ms(start, between)},
                            1000 * f64{device.elapsed_ms(between, stop)}};
    need_time(device, out.us());
    return out;
}

QuantizedTime quantized_time(const hip::Device &device, const QuantizedProduct &p,
                             std::span<const i32> routes) {
    const QuantizedKernels kernels = quantized_kernels(device.info().gfx, p);
    const LaunchTimes times =
        time_launches(device, {*kernels.product, p.product, routes, &p.rows}, 1, {}, Warm::no);
    return {times.convert_us, times.lists_us + times.us};
}

} // namespace nw
