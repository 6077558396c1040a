// SPDX-License-Identifier: MIT
#include "measure/op_clock.h"

#include "measure/cold_product.h"

namespace nw {

namespace {

// Allocates the operands' buffers and sets their addresses in the op. `kernel`: of an op of one
// launch.
std::vector<hip::Buffer> allocate_operands(const hip::Device &device, Op &op, const Kernel *kernel,
                                           const Machine &machine, u64 &bytes) {
    std::vector<hip::Buffer> out;
    for (const Operand &operand :
         kernel ? kernel->contract->operands : contract_of(op.kind)->operands) {
        // Rows as int8 beside others, and what a layer adds: where a value names it.
        if (operand.optional && operand.argument == &Op::a && !op.a)
            continue;
        const u64 size = operand.bytes(op, kernel ? *kernel : Kernel{}, machine);
        if (size == 0)
            continue;
        out.push_back(device.allocate(round_up<u64>(size, page)));
        out.back().fill(0); // times do not depend on values, but nothing reads what nobody wrote
        op.*operand.argument = address(out.back().data());
        if (operand.argument != &Op::workspace)
            bytes += size;
    }
    return out;
}

} // namespace

OpTime time_op(const hip::Device &device, Op op) {
    const Machine machine = machine_of(device);
    const Family *checked = check_shape(op);
    const OpContract *contract = contract_of(op.kind);
    const Kernel *kernel = contract ? nullptr : &choose(machine.target->name, op);
    (contract ? contract->contiguous : kernel->contract->contiguous)(op);
    if (contract)
        op.workspace_bytes = workspace_for_any(op, machine);
    OpTime out{};
    const std::vector<hip::Buffer> buffers =
        allocate_operands(device, op, kernel, machine, out.bytes);
    out.plan = plan(op, machine, checked);
    Modules modules(device, {});
    out.plan.each_kernel([&](const Kernel &of) { modules.function(of); });
    const hip::Event start = device.event(), stop = device.event();
    for (int run = 0; run < 2; ++run) {
        device.record(start);
        launch(modules, out.plan);
        device.record(stop);
    }
    out.us = 1000 * f64{device.elapsed_ms(start, stop)};
    need_time(device, out.us);
    return out;
}

} // namespace nw
