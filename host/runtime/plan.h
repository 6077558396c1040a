// SPDX-License-Identifier: MIT
// The launches of an op in order, each with kernel, arguments and grid. An op with more rows than
// its kernel supports is split into slices. Conversions and lists that a kernel reads are launches
// before it, with results in the workspace. What an op itself has before precedes all of them.
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

// One launch of this kernel for an op with all its arguments. Throws Refusal if one breaks a rule
// of the kernel's contract, Error if the kernel does not match the op. `checked`: the family whose
// size rules check_shape() has already applied.
Step step(const Kernel &, const Op &, const Machine &, const Family *checked = nullptr);

struct Plan {
    Op op; // of one that others serve: the op of these
    Machine machine;
    const Kernel *kernel, *last; // of full slices; of the last slice, which may have fewer rows
    u64 rows;                    // per slice
    u64 workspace_bytes;         // required size of op.workspace
    const Family *checked;       // result of check_shape()
    const OpContract *contract;  // of an op of several launches
    bool first;                  // with copies or launches of the op itself

    // One launch whose arguments are all the op's.
    bool is_one_step() const {
        return kernel->contract->before.empty() && kernel->contract->scratch.empty() &&
               rows >= op.m && !first;
    }
    // Calls use(const Step &) for each launch in order. Throws as step() does.
    template <class Use> void each(const Use &use) const;
    // Calls use(const Kernel &) for each kernel, once for equal slices; needs no pointers.
    template <class Use> void each_kernel(const Use &use) const;

private:
    template <class Use> void each_of(const Op &, u64 at, const Use &use) const; // slices
    template <class Use> u64 steps_of(const Kernel &, const Op &, u64 at, const Use &) const;
};

// With the chosen kernel, or with the given one, which may be a baseline. Requires check_shape(),
// which returned `checked`. Throws Error if there is no kernel or if the given one does not match
// the op.
Plan plan(const Op &, const Machine &, const Family *checked = nullptr);
Plan plan(const Op &, const Kernel &, const Machine &, const Family *checked = nullptr);

// Workspace bytes sufficient for the op, and for fewer rows, with any kernel.
u64 workspace_for_any(const Op &, const Machine &);

// Checks pointers, strides and workspace of an op of several launches; step() checks single ones.
// Throws Refusal.
void check_operands(const Plan &);

// ---- implementation of the templates

struct Slice {
    Op op;
    const Kernel *kernel;
};
u64 slice_count(const Plan &);
Slice slice(const Plan &, const Op &, u64 number);
template <class Use> u64 each_copy(const OpContract *contract, const Op &op, const Use &use) {
    if (!contract)
        return 0;
    u64 at = contract->counters;
    for (const Copied &copied : contract->copied) {
        if (!copied.when(op))
            continue;
        at = round_up(at, contract->piece);
        use(copied, at);
        at += copied.rows(op) * copied.row(op);
    }
    return at;
}
bool runs(const Before &, const Kernel &product, const Op &, const Machine &);
const Kernel &kernel_before(const Before &, const Kernel &product, const Op &, const Machine &);
const Kernel &kernel_before(const Before &, const Kernel &product); // of a family with only one
// The launch before the product, its results at workspace offset `at` or above; sets them in both
// ops and advances `at`. Without a workspace address only `at` is meaningful.
struct Made {
    const Kernel *kernel;
    Op op;
};
Made made_before(const Before &, const Kernel &, Op &product, const Machine &, u64 &at);
// Assigns scratch memory from offset `at` and advances it.
void place_scratch(const Kernel &, Op &, const Machine &, u64 &at);

template <class Use>
u64 Plan::steps_of(const Kernel &product, const Op &of, u64 at, const Use &use) const {
    Op own = of;
    for (const Before &before : product.contract->before) {
        if (!runs(before, product, own, machine))
            continue;
        const Made made = made_before(before, product, own, machine, at);
        use(step(*made.kernel, made.op, machine));
    }
    place_scratch(product, own, machine, at);
    use(step(product, own, machine, checked));
    return at;
}

// Copies and launches before all slices: sets the operands that they make, calls use(const Made &)
// for each launch, and returns the workspace offset after their results.
template <class Use>
u64 first_results(const OpContract *contract, const Kernel &kernel, Op &op, const Machine &machine,
                  const Use &use) {
    u64 at = each_copy(contract, op, [&](const Copied &copied, u64 to) {
        op.*copied.argument = op.workspace + to;
    });
    for (const OpBefore &first : contract ? contract->before : std::span<const OpBefore>{}) {
        if (first.of != op.kind || !runs(first.before, kernel, op, machine))
            continue;
        use(made_before(first.before, kernel, op, machine, at));
        first.then(op);
    }
    return at;
}

template <class Use> void Plan::each_of(const Op &of, u64 at, const Use &use) const {
    for (u64 i = 0; i < slice_count(*this); ++i) {
        const Slice s = slice(*this, of, i);
        steps_of(*s.kernel, s.op, at, use);
    }
}

template <class Use> void Plan::each(const Use &use) const {
    if (!first)
        return each_of(op, contract ? contract->counters : 0, use);
    Op own = op;
    const u64 at = first_results(contract, *kernel, own, machine, [&](const Made &made) {
        use(step(*made.kernel, made.op, machine));
    });
    each_of(own, at, use);
}

template <class Use> void Plan::each_kernel(const Use &use) const {
    for (const OpBefore &first : contract ? contract->before : std::span<const OpBefore>{})
        if (first.of == op.kind && runs(first.before, *kernel, op, machine))
            use(kernel_before(first.before, *kernel, op, machine));
    const auto of = [&](const Kernel &product) {
        for (const Before &before : product.contract->before)
            if (runs(before, product, op, machine))
                use(kernel_before(before, product, op, machine));
        use(product);
    };
    of(*kernel);
    if (last != kernel)
        use(*last);
}

} // namespace nw
