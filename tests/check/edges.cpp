// SPDX-License-Identifier: MIT
#include "check/edges.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string_view>

#include "runtime/choose.h"

namespace nw::check {

namespace {

struct Value {
    u64 Op::*field;
    u64 constant;
};

struct Edges {
    u64 Op::*size;
    u64 least;
    std::vector<Number> lengths;
};

struct Shapes {
    std::string_view family;
    OpKind op;
    const std::vector<Value> &sizes;
    const std::vector<Edges> &edges;
};

// clang-format off
#include "contract_edges.inc"
// clang-format on

bool allowed(const Family &family, const Op &op) {
    try {
        family.check_shape(op);
        return true;
    } catch (const Refusal &) {
        return false;
    }
}

// The op with the least such size from `value` on that the contract allows.
Op raised(const Family &family, Op op, u64 Op::*size, u64 value) {
    constexpr u64 most = 4096; // no size must be a multiple of more
    for (op.*size = value; op.*size < value + most; ++(op.*size))
        if (allowed(family, op))
            return op;
    throw Error(fmt::format("{}: [edges]: no size from {} to {} keeps the contract's rules",
                            family.name, value, value + most));
}

EdgeShape shape_of(const Op &op) {
    const auto small = [](u64 size) { return static_cast<u32>(size); };
    return {small(op.m), small(op.n), small(op.k), small(op.slots), small(op.experts)};
}

} // namespace

std::vector<EdgeShape> edge_shapes(const Kernel &kernel) {
    const Machine machine = usual_machine(kernel.gfx);
    const Family &family = *kernel.contract;
    const auto found = std::ranges::find(shapes, family.name, &Shapes::family);
    if (found == shapes.end())
        throw Error(fmt::format("{}: its contract has no [edges]", family.name));
    Op example{.kind = found->op};
    for (const Value &value : found->sizes)
        example.*value.field = value.constant;
    for (const Match &match : family.match)
        example.*match.op = kernel.p.*match.parameter;
    std::vector<EdgeShape> out;
    for (const Edges &edges : found->edges) {
        std::vector<u64> values = {edges.least};
        u64 last = 0;
        for (const Number length : edges.lengths) {
            last = length(example, kernel, machine);
            for (u64 value : {last - 1, last, last + 1})
                values.push_back(std::max(value, edges.least));
        }
        values.push_back(2 * last + 5);
        std::set<u64> seen;
        for (u64 value : values)
            if (const Op op = raised(family, example, edges.size, value);
                seen.insert(op.*edges.size).second)
                out.push_back(shape_of(op));
    }
    return out;
}

} // namespace nw::check
