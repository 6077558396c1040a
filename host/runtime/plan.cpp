// SPDX-License-Identifier: MIT
#include "runtime/plan.h"

#include <fmt/format.h>
#include <map>

#include "base/error.h"
#include "runtime/per_target.h"

namespace nw {

namespace {

constexpr u64 any_rows = u64{1} << 32;

// Kernels of each family for a gfx that may run before a product, as conversions and lists do.
using Chosen = std::map<std::string_view, std::vector<const Kernel *>>;
const Chosen &chosen_kernels(std::string_view gfx) {
    static PerTarget<Chosen> all([](std::string_view of) {
        auto out = std::make_unique<Chosen>();
        for (const Kernel &k : kernels(of))
            if (!k.reference && !k.candidate)
                (*out)[k.family].push_back(&k);
        return std::unique_ptr<const Chosen>(std::move(out));
    });
    return all.of(gfx);
}

bool equal(const Kernel &kernel, const Op &op) {
    return std::ranges::all_of(kernel.contract->match, [&](const Match &match) {
        return op.*match.op == kernel.p.*match.parameter;
    });
}

// The family's first kernel whose parameters are the op's.
const Kernel &kernel_of(std::string_view family, std::string_view gfx, const Op &op) {
    const Chosen &all = chosen_kernels(gfx);
    const auto of = all.find(family);
    if (of == all.end())
        throw Error(fmt::format("{}: gfx = {}: no kernel for it", family, gfx));
    const auto found = std::ranges::find_if(of->second, [&](auto *k) { return equal(*k, op); });
    if (found == of->second.end())
        throw Error(fmt::format("{}: gfx = {}: no kernel for {}", family, gfx,
                                kind_label(*of->second.front()->contract, op)));
    need_built(**found);
    return **found;
}

u64 piece_of(const Op &op) {
    const OpContract *contract = contract_of(op.kind);
    return contract ? contract->piece : 1;
}

bool has_first(const OpContract *contract, const Kernel &kernel, const Op &op,
               const Machine &machine) {
    return contract &&
           (std::ranges::any_of(contract->copied, [&](auto &c) { return c.when(op); }) ||
            std::ranges::any_of(contract->before, [&](const OpBefore &first) {
                return first.of == op.kind && runs(first.before, kernel, op, machine);
            }));
}

// Workspace bytes used by the launches of a slice; 0 if they keep nothing there.
u64 end_of_slice(const OpContract *contract, const Kernel &kernel, Op op, const Machine &machine) {
    const bool first = has_first(contract, kernel, op, machine);
    if (kernel.contract->before.empty() && kernel.contract->scratch.empty() && !first)
        return 0;
    op.workspace = 0;
    u64 at = first      ? first_results(contract, kernel, op, machine, [](const Made &) {})
             : contract ? contract->counters
                        : 0;
    for (const Before &before : kernel.contract->before)
        if (runs(before, kernel, op, machine))
            made_before(before, kernel, op, machine, at);
    place_scratch(kernel, op, machine, at);
    return at;
}

u64 rows_at_a_time(const Op &op, const Kernel &kernel, const Machine &machine) {
    const u64 rows = kernel.contract->slice_rows(op, kernel, machine);
    return rows >= any_rows ? any_rows : std::min(op.m, rows);
}

// HIP takes fewer than 2^31 workgroups and 2^32 work-items, and other numbers of them without a
// word where an argument is narrower (A-030, row 14).
u32 workgroups_of(const Family &f, const Op &op, const Kernel &kernel, const Machine &machine) {
    constexpr u64 most_workgroups = (u64{1} << 31) - 1, most_items = (u64{1} << 32) - 1;
    const u64 workgroups = f.grid(op, kernel, machine);
    if (workgroups <= std::min(most_workgroups, most_items / kernel.block))
        return static_cast<u32>(workgroups);
    constexpr u32 no_rule = ~u32{0};
    throw Refusal(fmt::format("{}: {} workgroups of {} work-items: HIP takes at most 2^31 - 1 "
                              "workgroups and 2^32 - 1 work-items; split the product",
                              f.name, workgroups, kernel.block),
                  no_rule);
}

Op with_rows(const Op &op, u64 m) {
    Op out = op;
    out.m = m;
    return out;
}

} // namespace

Step step(const Kernel &kernel, const Op &op, const Machine &machine, const Family *checked) {
    need_built(kernel);
    const Family &f = *kernel.contract;
    if (checked != &f)
        f.check_shape(op);
    if (!equal(kernel, op)) // the text costs more than a launch
        throw Error(fmt::format("{}: {} is not for {}", f.name, kernel.symbol, kind_label(f, op)));
    f.check_operands(op, kernel);
    Op derived = op;
    f.derive(derived, kernel, machine);
    Step out;
    out.kernel = &kernel;
    out.workgroups = workgroups_of(f, derived, kernel, machine);
    out.dynamic_lds = f.dynamic_lds(derived, kernel, machine);
    f.pack(derived, out.kernarg.data());
    return out;
}

bool runs(const Before &before, const Kernel &product, const Op &op, const Machine &machine) {
    return !before.when || before.when(op, product, machine);
}

const Kernel &kernel_before(const Before &before, const Kernel &product, const Op &op,
                            const Machine &machine) {
    return kernel_of(before.family, product.gfx, before.op(op, product, machine));
}

const Kernel &kernel_before(const Before &before, const Kernel &product) {
    return kernel_of(before.family, product.gfx, Op{});
}

Made made_before(const Before &before, const Kernel &kernel, Op &product, const Machine &machine,
                 u64 &at) {
    Op made = before.op(product, kernel, machine);
    const Kernel &made_by = kernel_of(before.family, kernel.gfx, made);
    made_by.contract->settle(made, made_by, machine);
    for (const Gives &gives : before.gives) {
        if (!gives.bytes)
            continue;
        at = round_up(at, piece_of(product));
        made.*gives.result = product.workspace + at;
        product.*gives.argument = product.workspace + at;
        at += gives.bytes(made, made_by, machine);
    }
    made_by.contract->derive(made, made_by, machine);
    for (const Gives &gives : before.gives)
        if (!gives.bytes)
            product.*gives.argument = made.*gives.result;
    return {&made_by, made};
}

void place_scratch(const Kernel &kernel, Op &op, const Machine &machine, u64 &at) {
    for (const Scratch &scratch : kernel.contract->scratch) {
        if (!scratch.bytes) {
            op.*scratch.argument = op.workspace;
            continue;
        }
        at = round_up(at, piece_of(op));
        op.*scratch.argument = op.workspace + at;
        at += scratch.bytes(op, kernel, machine);
    }
}

namespace {

// The op that serves this one: the first of the contract's that has kernels. Throws Refusal.
Op served(const OpContract &contract, const Op &op, const Machine &machine) {
    Op out = op;
    for (const OpKind kind : contract.served_by) {
        out.kind = kind;
        if (kind == contract.served_by.back() || is_served(machine.target->name, out))
            break;
    }
    check_shape(out);
    for (const OpBefore &first : contract.before)
        if (first.of == out.kind)
            find_family(first.before.family)->check_shape(first.before.op(out, Kernel{}, machine));
    return out;
}

// Plan with a kernel that takes the op.
Plan planned(const OpContract *contract, const Op &op, const Kernel &kernel, const Machine &machine,
             const Family *checked) {
    Plan out{.op = op,
             .machine = machine,
             .kernel = &kernel,
             .last = &kernel,
             .rows = rows_at_a_time(op, kernel, machine),
             .workspace_bytes = 0,
             .checked = checked,
             .contract = contract,
             .first = has_first(contract, kernel, op, machine)};
    if (out.rows < any_rows && op.m % out.rows) {
        const Op rest = with_rows(op, op.m % out.rows);
        if (!kernel.contract->takes_rest(rest, kernel, machine))
            out.last = cheapest_of_family(kernel, rest);
    }
    if (contract) {
        if (out.rows >= any_rows || op.m >= out.rows)
            out.workspace_bytes = end_of_slice(
                contract, kernel, out.rows < any_rows ? with_rows(op, out.rows) : op, machine);
        if (out.rows < any_rows && op.m % out.rows)
            out.workspace_bytes = std::max(
                out.workspace_bytes,
                end_of_slice(contract, *out.last, with_rows(op, op.m % out.rows), machine));
    }
    return out;
}

u64 workspace_for_any(const OpContract *contract, const Op &op, const Machine &machine) {
    u64 most = 0;
    for (const Kernel *kernel : kernels_for(machine.target->name, op, References::with)) {
        const u64 rows = rows_at_a_time(op, *kernel, machine);
        if (rows >= any_rows) {
            most = std::max(most, end_of_slice(contract, *kernel, op, machine));
            continue;
        }
        // Scratch grows with the rows, except for uneven shares.
        const u64 by = kernel->contract->slice_step(op, *kernel, machine);
        for (u64 m = std::min(rows, by);; m = std::min(rows, m + by)) {
            most = std::max(most, end_of_slice(contract, *kernel, with_rows(op, m), machine));
            if (m == rows)
                break;
        }
    }
    return most;
}

bool is_served_by_others(const OpContract *contract) {
    return contract && !contract->served_by.empty();
}

} // namespace

Plan plan(const Op &op, const Kernel &kernel, const Machine &machine, const Family *checked) {
    if (!takes(kernel, op))
        throw Error(fmt::format("{}: {} is not for {}, m = {}, n = {}, k = {}", kernel.family,
                                kernel.symbol, kind_label(*kernel.contract, op), op.m, op.n, op.k));
    return planned(contract_of(op.kind), op, kernel, machine, checked);
}

Plan plan(const Op &op, const Machine &machine, const Family *checked) {
    const OpContract *contract = contract_of(op.kind);
    if (!is_served_by_others(contract))
        return planned(contract, op, choose(machine.target->name, op), machine, checked);
    const Op of = served(*contract, op, machine);
    return planned(contract, of, choose(machine.target->name, of), machine, nullptr);
}

u64 workspace_for_any(const Op &op, const Machine &machine) {
    const OpContract *contract = contract_of(op.kind);
    return is_served_by_others(contract)
               ? workspace_for_any(contract, served(*contract, op, machine), machine)
               : workspace_for_any(contract, op, machine);
}

void check_operands(const Plan &p) {
    if (!p.contract)
        return;
    p.contract->check_operands(p.op);
    // Without slices: enough for any kernel, which is the size that callers query. What precedes
    // an op that others serve depends on no kernel.
    const u64 least = p.rows < any_rows || is_served_by_others(p.contract)
                          ? p.workspace_bytes
                          : workspace_for_any(p.contract, p.op, p.machine);
    if (p.op.workspace_bytes < least)
        throw Error(fmt::format("{}: workspace_bytes = {}: must be at least {}", p.contract->name,
                                p.op.workspace_bytes, least));
}

u64 slice_count(const Plan &p) { return p.rows < any_rows ? ceil_div(p.op.m, p.rows) : 1; }

Slice slice(const Plan &p, const Op &op, u64 number) {
    Slice out{op, p.kernel};
    if (p.rows >= any_rows)
        return out;
    const u64 first = number * p.rows;
    out.op.m = std::min(p.rows, op.m - first);
    if (out.op.m < p.rows)
        out.kernel = p.last;
    if (p.contract)
        for (const RowPointer &rows : p.contract->rows)
            out.op.*rows.pointer += first * rows.stride(op);
    return out;
}

} // namespace nw
