// SPDX-License-Identifier: MIT
// Queues ops on a device. Everything that the host can see is checked before anything is launched.
#pragma once
#include "hip/hip.h"
#include "runtime/modules.h"
#include "runtime/plan.h"

namespace nw {

Machine machine_of(const hip::Device &);

// Of a step. Allocates nothing once the kernel is loaded.
void launch(Modules &, const Step &, const hip::Stream & = {});

// Every launch of a plan, after all of them were checked and ready(const Kernel &) was called for
// their kernels. Throws Refusal or Error, with nothing launched, where one breaks a rule.
template <class Ready>
void launch(Modules &, const Plan &, const hip::Stream &, const Ready &ready);
void launch(Modules &, const Plan &, const hip::Stream & = {});

// An op by the kernel that is chosen for it.
void launch(Modules &, const Op &, const hip::Stream & = {});

// A single launch of a kernel of the caller's choice, of an op that has all its arguments.
void launch(Modules &, const Kernel &, const Op &, const hip::Stream & = {});

template <class Ready>
void launch(Modules &modules, const Plan &plan, const hip::Stream &stream, const Ready &ready) {
    check_operands(plan);
    if (plan.is_one_step()) {
        const Step one = step(*plan.kernel, plan.op, plan.machine, plan.checked);
        ready(*one.kernel);
        return launch(modules, one, stream);
    }
    std::array<Step, 8> few; // more are made twice: what breaks a rule must not follow a launch
    u64 count = 0;
    plan.each([&](const Step &step) {
        if (count < few.size())
            few[count] = step;
        ++count;
    });
    plan.each_kernel(ready);
    if (count > few.size())
        return plan.each([&](const Step &step) { launch(modules, step, stream); });
    for (u64 i = 0; i < count; ++i)
        launch(modules, few[i], stream);
}

} // namespace nw
