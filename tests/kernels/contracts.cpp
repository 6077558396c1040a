// SPDX-License-Identifier: MIT
// Each rule of each contract, broken once: contract_cases.inc (gen/emit_cases.py) has the launch of
// every contract's [example], and what breaks its rules. Nothing is launched.
#include <algorithm>
#include <doctest/doctest.h>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "runtime/catalogue.h"
#include "runtime/choose.h"
#include "runtime/plan.h"

using namespace nw;

namespace {

// A value of an op: a constant, or what follows from the example.
struct Value {
    u64 Op::*field;
    u64 constant;
    u64 (*of_example)(const Op &, const Kernel &, const Machine &) = nullptr;
};

// The fields that a case gives itself.
class Given {
public:
    Given(std::initializer_list<const std::vector<Value> *> lists) : lists_(lists) {}
    bool operator()(u64 Op::*field) const {
        return std::ranges::any_of(lists_, [&](const std::vector<Value> *values) {
            return std::ranges::find(*values, field, &Value::field) != values->end();
        });
    }

private:
    std::vector<const std::vector<Value> *> lists_;
};

struct Breaks {
    u32 rule, same; // its place; that of the first rule that is the same
    const char *needs;
    std::vector<Value> values;
    Parameters parameters; // of the kernel
};

struct Contract {
    const char *name;
    bool family; // else an op that takes several launches
    OpKind op;
    const std::vector<Value> &sizes;
    const Parameters &parameters;
    void (*operands)(Op &, const Kernel &, const Machine &, const Given &);
    const std::vector<Breaks> &rules;
};

// clang-format off
#include "contract_cases.inc"
// clang-format on

constexpr std::string_view gfx = "gfx1151";

// The catalogue's, or one that has these parameters.
Kernel kernel_of(const Contract &c, const Parameters &p) {
    if (!c.family)
        return {};
    const Family *family = find_family(c.name);
    REQUIRE(family);
    for (const Kernel &k : kernels(gfx))
        if (k.contract == family && k.p == p)
            return k;
    return {.symbol = family->name,
            .gfx = gfx,
            .family = family->name,
            .contract = family,
            .p = p,
            .block = 32 * p.waves,
            .rows_per_workgroup = p.waves * p.rows,
            .built = true,
            .lds_bytes = 4096,
            .vgprs = 100,
            .sgprs = 100,
            .waves_per_simd = 8};
}

struct Refused {
    std::optional<u32> rule;
    std::string text;
};

// Fills in what follows where nothing is wrong.
Refused refused(const Contract &c, Op &op, const Kernel &kernel, const Machine &machine) {
    try {
        if (c.family) {
            kernel.contract->check_shape(op);
            kernel.contract->check_operands(op, kernel);
            kernel.contract->derive(op, kernel, machine);
        } else {
            contract_of(c.op)->check_shape(op);
            contract_of(c.op)->check_operands(op);
        }
    } catch (const Refusal &refusal) {
        return {refusal.rule, refusal.what()};
    }
    return {};
}

Op example(const Contract &c, const Kernel &kernel, const Machine &machine) {
    Op op{.kind = c.op};
    for (const Value &value : c.sizes)
        op.*value.field = value.constant;
    c.operands(op, kernel, machine, {});
    return op;
}

} // namespace

TEST_CASE("no rule refuses the example of a contract") {
    const Machine machine = usual_machine(gfx);
    for (const Contract &c : contracts) {
        CAPTURE(c.name);
        const Kernel kernel = kernel_of(c, c.parameters);
        Op op = example(c, kernel, machine);
        const Refused found = refused(c, op, kernel, machine);
        CHECK_MESSAGE(!found.rule, found.text);
    }
}

TEST_CASE("each rule refuses what breaks it, and says so in the contract's name") {
    const Machine machine = usual_machine(gfx);
    u64 rules = 0;
    for (const Contract &c : contracts) {
        const Kernel usual = kernel_of(c, c.parameters);
        Op whole = example(c, usual, machine);
        refused(c, whole, usual, machine);
        for (const Breaks &broken : c.rules) {
            const std::string name(c.name), needs(broken.needs);
            CAPTURE(name);
            CAPTURE(needs);
            const Kernel kernel = kernel_of(c, broken.parameters);
            Op op{.kind = c.op};
            for (const Value &value : c.sizes)
                op.*value.field = value.constant;
            for (const Value &value : broken.values)
                op.*value.field =
                    value.of_example ? value.of_example(whole, usual, machine) : value.constant;
            c.operands(op, kernel, machine, {&broken.values});
            const Refused found = refused(c, op, kernel, machine);
            CAPTURE(found.text);
            const bool by_it = found.rule == broken.rule || found.rule == broken.same;
            CHECK_MESSAGE(by_it, "refused by rule ",
                          found.rule ? static_cast<int>(*found.rule) : -1, ", not ", broken.rule);
            CHECK(found.text.starts_with(std::string(c.name) + ": "));
            CHECK(found.text.find('\n') == std::string::npos);
            ++rules;
        }
    }
    MESSAGE(rules, " rules of ", contracts.size(), " contracts");
    CHECK(rules >= 600);
}

// A contract without a rule for its grid: what the arguments of HIP can't hold is never launched.
TEST_CASE("a grid that HIP does not take is refused, and not cut short") {
    const Machine machine = usual_machine(gfx);
    const Contract &c =
        *std::ranges::find(contracts, std::string_view("permute_a"), &Contract::name);
    Kernel kernel = kernel_of(c, c.parameters);
    Family family = *kernel.contract;
    kernel.contract = &family;
    const Op op = example(c, kernel, machine);
    using Grid = u64 (*)(const Op &, const Kernel &, const Machine &);
    const auto said = [&](u32 block, Grid grid) {
        kernel.block = block;
        family.grid = grid;
        try {
            const Step made = step(kernel, op, machine);
            return std::to_string(made.workgroups);
        } catch (const Refusal &refusal) {
            return std::string(refusal.what());
        }
    };
    constexpr Grid wraps = [](const Op &, const Kernel &, const Machine &) {
        return (u64{1} << 32) + 3;
    };
    constexpr Grid most = [](const Op &, const Kernel &, const Machine &) {
        return (u64{1} << 31) - 1;
    };
    CHECK_EQ(said(1, most), "2147483647");
    CHECK_EQ(said(1, wraps), "permute_a: 4294967299 workgroups of 1 work-items: HIP takes at most "
                             "2^31 - 1 workgroups and 2^32 - 1 work-items; split the product");
    CHECK(said(256, most).starts_with("permute_a: 2147483647 workgroups of 256 work-items: HIP "));
}
