// SPDX-License-Identifier: MIT
// Queues ops on a device. All host-side checks precede the first launch.
#pragma once
#include "hip/hip.h"
#include "runtime/modules.h"
#include "runtime/plan.h"

namespace nw {

Machine machine_of(const hip::Device &);

// Queues one step. Allocates nothing once the kernel is loaded.
void launch(Modules &, const Step &, const hip::Stream & = {});

// Queues the copies of a plan, which precede its launches.
void copy(Modules &, const Plan &, const hip::Stream &);

// Queues every copy and launch of a plan, after checking all of them, calling ready(const Kernel &)
// for each kernel. Throws Refusal or Error before the first launch if one breaks a rule.
template <class Ready>
void launch(Modules &, const Plan &, const hip::Stream &, const Ready &ready);
void launch(Modules &, const Plan &, const hip::Stream & = {});

// Queues an op with the chosen kernel.
void launch(Modules &, const Op &, const hip::Stream & = {});

// Queues one launch of the given kernel for an op with all its arguments.
void launch(Modules &, const Kernel &, const Op &, const hip::Stream & = {});

template <class Ready>
void launch(Modules &modules, const Plan &plan, const hip::Stream &stream, const Ready &ready) {
    check_operands(plan);
    if (plan.is_one_step()) {
        const Step one = step(*plan.kernel, plan.op, plan.machine, plan.checked);
        ready(*one.kernel);
        return launch(modules, one, stream);
    }
    std::array<Step, 8> few; // longer plans are made twice: checks precede the first launch
    u64 count = 0;
    plan.each([&](const Step &step) {
        if (count < few.size())
            few[count] = step;
        ++count;
    });
    plan.each_kernel(ready);
    copy(modules, plan, stream);
    if (count > few.size())
        return plan.each([&](const Step &step) { launch(modules, step, stream); });
    for (u64 i = 0; i < count; ++i)
        launch(modules, few[i], stream);
}

} // namespace nw
