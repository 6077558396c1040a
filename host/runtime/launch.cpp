// SPDX-License-Identifier: MIT
#include "runtime/launch.h"

namespace nw {

Machine machine_of(const hip::Device &device) {
    return {&target_of(device.info().gfx), device.info().wgps};
}

void launch(Modules &modules, const Step &step, const hip::Stream &stream) {
    modules.device().launch(modules.function(*step.kernel), step.workgroups, step.kernel->block,
                            step.dynamic_lds, step.arguments(), stream);
}

void copy(Modules &modules, const Plan &plan, const hip::Stream &stream) {
    const Op &op = plan.op;
    each_copy(plan.contract, op, [&](const Copied &copied, u64 at) {
        modules.device().gather(reinterpret_cast<void *>(op.workspace + at),
                                reinterpret_cast<const void *>(op.*copied.argument),
                                copied.stride(op), copied.row(op), copied.rows(op), stream);
    });
}

void launch(Modules &modules, const Plan &plan, const hip::Stream &stream) {
    launch(modules, plan, stream, [](const Kernel &) {});
}

void launch(Modules &modules, const Op &op, const hip::Stream &stream) {
    const Family *checked = check_shape(op);
    launch(modules, plan(op, machine_of(modules.device()), checked), stream);
}

void launch(Modules &modules, const Kernel &kernel, const Op &op, const hip::Stream &stream) {
    launch(modules, step(kernel, op, machine_of(modules.device())), stream);
}

} // namespace nw
