// SPDX-License-Identifier: MIT
// How an op is done: launches, one after the other, each a kernel, its arguments and its grid. A
// product whose kernel takes fewer rows at a time is done in slices; what a kernel wants converted
// or listed first comes before it, in a piece of the workspace.
#pragma once
#include <algorithm>
#include <array>
#include <span>

#include "runtime/choose.h"
#include "runtime/op.h"

namespace nw {

inline constexpr u32 most_kernarg_bytes = 256;

struct Step {
    const Kernel *kernel;
    u32 workgroups, dynamic_lds;
    std::array<std::byte, most_kernarg_bytes> kernarg;

    std::span<const std::byte> arguments() const {
        return std::span(kernarg).first(kernel->kernarg_bytes());
    }
};

// One launch by this kernel, of an op that has all its arguments. Throws Refusal where one breaks a
// rule of the kernel's contract, Error where the kernel is for other ops. `checked`: the family
// whose rules for sizes check_shape() has applied already.
Step step(const Kernel &, const Op &, const Machine &, const Family *checked = nullptr);

struct Plan {
    Op op;
    Machine machine;
    const Kernel *kernel, *last; // of the slices; of the last one, which may have fewer rows
    u64 rows;                    // of a slice
    u64 workspace_bytes;         // that op.workspace must have
    const Family *checked;       // by check_shape()

    bool is_one_step() const { return kernel->contract->before.empty() && rows >= op.m; }
    // use(const Step &) of each launch, in their order. Throws as step() does.
    template <class Use> void each(const Use &use) const;
    // The same without pointers: use(const Kernel &) of each kernel, once for equal slices.
    template <class Use> void each_kernel(const Use &use) const;

private:
    template <class Use> u64 steps_of(const Kernel &, const Op &, u64 at, const Use &) const;
};

// By the kernel that is chosen for it, or by that one, which may be one that is never chosen, of an
// op whose check_shape() holds and gave `checked`. Throws Error where there is no kernel, or where
// it is for other ops.
Plan plan(const Op &, const Machine &, const Family *checked = nullptr);
Plan plan(const Op &, const Kernel &, const Machine &, const Family *checked = nullptr);

// Bytes of workspace that are enough for such an op, and for each of fewer rows, by any kernel.
u64 workspace_for_any(const Op &, const Machine &);

// Pointers, strides and workspace of an op that takes several launches; a single launch is checked
// as it is made. Throws Refusal.
void check_operands(const Plan &);

// ---- the templates' half

struct Slice {
    Op op;
    const Kernel *kernel;
};
u64 slice_count(const Plan &);
u64 after_counters(const Plan &); // where in the workspace the first piece begins
Slice slice(const Plan &, u64 number);
// The launch before that one, with memory for its results from `at` on; both ops get it. Moves
// `at` behind it. In the dry, nothing but `at` is of use.
const Kernel &kernel_before(const Before &, const Kernel &product);
struct Made {
    const Kernel *kernel;
    Op op;
};
Made made_before(const Before &, const Kernel &, Op &product, const Machine &, u64 &at);
// Memory for what the launch alone uses.
void place_scratch(const Kernel &, Op &, const Machine &, u64 &at);

template <class Use>
u64 Plan::steps_of(const Kernel &product, const Op &of, u64 at, const Use &use) const {
    Op own = of;
    for (const Before &before : product.contract->before) {
        const Made made = made_before(before, product, own, machine, at);
        use(step(*made.kernel, made.op, machine));
    }
    place_scratch(product, own, machine, at);
    use(step(product, own, machine, checked));
    return at;
}

template <class Use> void Plan::each(const Use &use) const {
    for (u64 i = 0; i < slice_count(*this); ++i) {
        const Slice s = slice(*this, i);
        steps_of(*s.kernel, s.op, after_counters(*this), use);
    }
}

template <class Use> void Plan::each_kernel(const Use &use) const {
    const auto of = [&](const Kernel &product) {
        for (const Before &before : product.contract->before)
            use(kernel_before(before, product));
        use(product);
    };
    of(*kernel);
    if (last != kernel)
        use(*last);
}

} // namespace nw
