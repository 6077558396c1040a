// SPDX-License-Identifier: MIT
#include "measure/int8_product.h"

#include <vector>

#include "measure/cold_product.h"
#include "runtime/choose.h"
#include "runtime/launch.h"

namespace nw {

namespace {

Op rows_op(const ProductShape &p) {
    Op op{.kind = OpKind::quantize_rows};
    op.dtype = word_of(p.dtype);
    op.m = p.m, op.k = p.k;
    op.x_stride = u64{2} * p.k;
    return op;
}

Op product_op(const ProductShape &p) {
    Op op = p.op();
    op.kind = OpKind::linear_w4a8;
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

Int8Kernels int8_kernels(std::string_view gfx, const ProductShape &p) {
    return {&kernel_for(gfx, rows_op(p)), &kernel_for(gfx, product_op(p))};
}

Int8Time int8_time(const hip::Device &device, const ProductShape &p) {
    const Int8Kernels kernels = int8_kernels(device.info().gfx, p);
    Op rows = rows_op(p), product = product_op(p);
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
    const Int8Time out{1000 * f64{device.elapsed_ms(start, between)},
                       1000 * f64{device.elapsed_ms(between, stop)}};
    need_time(device, out.us());
    return out;
}

} // namespace nw
