// SPDX-License-Identifier: MIT
#include "runtime/choose.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "base/error.h"
#include "base/parts.h"
#include "runtime/force.h"
#include "runtime/per_target.h"

namespace nw {

namespace {

constexpr u64 most_matches = 4;
using Values = std::array<u64, most_matches>;

// Tuned shapes for one number of rows, indexed for lookup at launch.
struct TunedShapes {
    std::vector<Tuned> shapes;
    std::vector<LogShape> at; // where they are

    void add(const Tuned &shape) {
        shapes.push_back(shape);
        at.push_back(log_shape(shape.n, shape.k));
    }
    std::pair<const Tuned *, f64> nearest(u64 n, u64 k) const {
        const auto found = nearest_shape(at, log_shape(n, k));
        if (!found)
            return {nullptr, 0};
        return {&shapes[found->index], found->distance};
    }
};

// The kernels for one kind of op, in catalogue order.
struct Kind {
    std::vector<const Kernel *> kernels;
    std::map<u64, TunedShapes> tuned;  // by rows
    const Kernel *not_built = nullptr; // one of them
};
using Kinds = std::map<Values, Kind>; // by what is matched

// Families with a common table of tuned shapes and the same matches.
struct Table {
    u64 number = 0;
    std::vector<const Family *> families;

    std::span<const Match> match() const { return families.front()->match; }
    bool region(const Op &op) const {
        return std::ranges::any_of(families, [&](const Family *f) { return f->region(op); });
    }
};

Values values_of(const Family &f, const Kernel &k) {
    Values out{};
    for (u64 i = 0; i < f.match.size(); ++i)
        out[i] = k.p.*f.match[i].parameter;
    return out;
}

Values values_of(const Family &f, const Op &op) {
    Values out{};
    for (u64 i = 0; i < f.match.size(); ++i)
        out[i] = op.*f.match[i].op;
    return out;
}

bool alike(const Kernel &a, const Kernel &b) {
    return a.family == b.family && std::ranges::all_of(a.contract->alike, [&](auto parameter) {
               return a.p.*parameter == b.p.*parameter;
           });
}

// Tuned shapes of one kind applied to another, which may lack a kernel.
std::map<u64, TunedShapes> for_others(const std::map<u64, TunedShapes> &tuned, const Kind &kind) {
    std::map<u64, TunedShapes> out;
    for (const auto &[m, shapes] : tuned)
        for (Tuned shape : shapes.shapes) {
            const auto same = std::ranges::find_if(
                kind.kernels, [&](const Kernel *k) { return alike(*k, *shape.kernel); });
            if (same == kind.kernels.end())
                continue;
            shape.kernel = *same;
            out[m].add(shape);
        }
    return out;
}

void borrow(const Table &table, Kinds &kinds) {
    const Kinds own = kinds;
    for (auto &[key, kind] : kinds) {
        if (!kind.tuned.empty())
            continue;
        for (const Borrow &from : table.families.front()->borrow) {
            Values values = key;
            for (u64 i = 0; i < values.size(); ++i)
                if (from.values[i] != automatic)
                    values[i] = from.values[i];
            if (const auto like = own.find(values); like != own.end())
                kind.tuned = for_others(like->second.tuned, kind);
            if (!kind.tuned.empty())
                break;
        }
    }
}

// By name.
const std::map<std::string_view, Table> &all_tables() {
    static const auto all = [] {
        std::map<std::string_view, Table> out;
        for (const Family &f : families()) { // the table's namesake first: its matches are used
            auto &in = out[f.tuning].families;
            in.insert(f.name == f.tuning ? in.begin() : in.end(), &f);
        }
        u64 number = 0;
        for (auto &[name, table] : out)
            table.number = number++;
        return out;
    }();
    return all;
}

// Tables by kind of op.
const std::vector<const Table *> &tables_for(OpKind op) {
    static const auto by_op = [] {
        std::map<OpKind, std::vector<const Table *>> out;
        for (const Family &f : families())
            if (auto &tables = out[f.op];
                std::ranges::find(tables, &all_tables().at(f.tuning)) == tables.end())
                tables.push_back(&all_tables().at(f.tuning));
        return out;
    }();
    static const std::vector<const Table *> none;
    const auto found = by_op.find(op);
    return found == by_op.end() ? none : found->second;
}

const Table &table_for(const Op &op) {
    for (const Table *table : tables_for(op.kind))
        if (table->region(op))
            return *table;
    throw Error("no family of kernels is for such an op");
}

using AllKinds = std::vector<Kinds>; // by the number of the table

// Made once: searching the catalogue at each launch is too slow.
std::unique_ptr<const AllKinds> make_kinds(std::string_view gfx) {
    auto out = std::make_unique<AllKinds>(all_tables().size());
    for (const Kernel &k : kernels(gfx)) {
        Kind &kind = (*out)[all_tables().at(k.contract->tuning).number][values_of(*k.contract, k)];
        kind.kernels.push_back(&k);
        if (!k.built && !k.reference) // references are never chosen, and built where a test asks
            kind.not_built = &k;
    }
    for (const TunedRow &row : tuned_rows()) {
        if (row.gfx != gfx)
            continue;
        Tuned shape = row.shape;
        shape.kernel = find_kernel(gfx, row.kernel); // gen/tuning.py refuses others
        const Family &f = *shape.kernel->contract;
        Kinds &kinds = (*out)[all_tables().at(f.tuning).number];
        kinds.at(values_of(f, *shape.kernel)).tuned[row.m].add(shape);
    }
    for (const auto &[name, table] : all_tables())
        borrow(table, (*out)[table.number]);
    return out;
}

const Kinds &kinds_of(const Table &table, std::string_view gfx) {
    static PerTarget<AllKinds> all(make_kinds);
    return all.of(gfx)[table.number];
}

std::string label(const Family &f, const Values &values, u64 count = most_matches) {
    std::string out;
    for (u64 i = 0; i < std::min<u64>(count, f.match.size()); ++i) {
        const Match &match = f.match[i];
        const bool text = std::ranges::any_of(f.parameters, [&](const ParameterName &p) {
            return p.at == match.parameter && p.text;
        });
        const std::string value =
            text                   ? std::string(values[i] < std::size(words) ? words[values[i]]
                                                                              : std::string_view("?"))
            : values[i] == per_row ? "k"
                                   : fmt::format("{}", values[i]);
        if (!value.empty())
            out += fmt::format("{}{}{}", out.empty() ? "" : " ",
                               text                         ? ""
                               : match.name == "block_size" ? "b"
                                                            : match.name.substr(0, 1),
                               value);
    }
    return out;
}

// "f16 g128 m 1 2 4; f16 g128 zp m 1": a numeric last value is listed.
std::string available(const Table &table, std::string_view gfx) {
    const Family &f = *table.families.front();
    const u64 last = f.match.empty() ? 0 : f.match.size() - 1;
    const bool listed = last > 0 && std::ranges::none_of(f.parameters, [&](const ParameterName &p) {
                            return p.at == f.match[last].parameter && p.text;
                        });
    std::map<std::string, std::vector<u64>> have;
    for (const auto &[values, kind] : kinds_of(table, gfx))
        have[label(f, values, listed ? last : f.match.size())].push_back(values[last]);
    std::string out;
    for (const auto &[text, numbers] : have) {
        out += fmt::format("{}{}", out.empty() ? "" : "; ", text);
        if (listed)
            out += fmt::format(" {} {}", f.match[last].name, fmt::join(numbers, " "));
    }
    return out;
}

[[noreturn]] void refuse_kind(const Table &table, std::string_view gfx, const Op &op) {
    const Family &f = *table.families.front();
    const std::string have = available(table, gfx);
    throw Error(fmt::format("{}: no kernel for {} on {}; there is {}", f.name, kind_label(f, op),
                            gfx, have.empty() ? "none" : have));
}

const Kind &kind_for(const Table &table, std::string_view gfx, const Op &op) {
    const Kinds &kinds = kinds_of(table, gfx);
    const auto found = kinds.find(values_of(*table.families.front(), op));
    if (found == kinds.end())
        refuse_kind(table, gfx, op);
    if (found->second.not_built) // a choice among some of them would be another one
        need_built(*found->second.not_built);
    return found->second;
}

bool sliced(const Kernel &kernel, const Op &op) {
    return kernel.contract->slice_rows(op, kernel, usual_machine(kernel.gfx)) < u64{1} << 32;
}

// takes_text with the kernel's parameters: "m >= 8" for m >= p.m.
std::string taken_text(const Kernel &kernel) {
    std::string out(kernel.contract->takes_text);
    for (const ParameterName &name : kernel.contract->parameters) {
        const std::string inserted = fmt::format("p.{}", name.name);
        for (u64 at = 0; (at = out.find(inserted, at)) != out.npos;) {
            const u64 end = at + inserted.size();
            if (end < out.size() &&
                (std::isalnum(static_cast<unsigned char>(out[end])) || out[end] == '_'))
                at = end;
            else
                out.replace(at, inserted.size(), kernel.param(name.name));
        }
    }
    return out;
}

const Kernel *forced_for(const Table &table, std::string_view gfx, const Op &op) {
    for (const Family *f : table.families)
        if (const Kernel *kernel = forced(f->name, gfx)) {
            if (!matches(*kernel, op))
                throw Error(fmt::format("NIBBLEWAVE_FORCE={}: it is for {}, the product is {}: "
                                        "unset it, or name a kernel for such products",
                                        kernel->symbol, label(*f, values_of(*f, *kernel)),
                                        kind_label(*f, op)));
            if (!takes(*kernel, op))
                throw Error(fmt::format(
                    "NIBBLEWAVE_FORCE={}: it is for {}, the product is m = {}, n = {}, k = {}: "
                    "unset it, or name a kernel for such products",
                    kernel->symbol, taken_text(*kernel), op.m, op.n, op.k));
            return kernel;
        }
    return nullptr;
}

// The tuned kernel, or the kernel of its family for this number of rows.
const Kernel *tuned_for(const Kernel &kernel, const Op &op) {
    return takes(kernel, op)    ? &kernel
           : sliced(kernel, op) ? cheapest_of_family(kernel, op)
                                : nullptr;
}

// Least cost among the kernels that match the op.
template <class Matches>
const Kernel *least(std::span<const Kernel *const> kernels, const Op &op, const Matches &matches) {
    if (kernels.empty())
        return nullptr;
    const Machine machine = usual_machine(kernels.front()->gfx);
    const Kernel *best = nullptr;
    Cost least{};
    for (const Kernel *kernel : kernels) {
        const Family &f = *kernel->contract;
        if (kernel->reference || kernel->candidate || !matches(*kernel) ||
            !f.takes(op, *kernel, machine))
            continue;
        const Cost cost = f.cost(op, *kernel, machine);
        if (!best || cost < least)
            best = kernel, least = cost;
    }
    return best;
}

// Families of one kind may serve different regions.
const Kernel *least(const Kind &kind, const Op &op) {
    return least(kind.kernels, op, [&](const Kernel &k) { return k.contract->region(op); });
}

} // namespace

Machine usual_machine(std::string_view gfx) {
    static const auto all = [] {
        std::vector<Machine> out;
        for (const Target &target : targets())
            out.push_back({&target, default_part(target.name)->wgps});
        return out;
    }();
    return all[target_number(gfx)];
}

bool matches(const Kernel &kernel, const Op &op) {
    const Family &f = *kernel.contract;
    return f.op == op.kind && f.region(op) && values_of(f, kernel) == values_of(f, op);
}

bool takes(const Kernel &kernel, const Op &op) {
    return matches(kernel, op) && kernel.contract->takes(op, kernel, usual_machine(kernel.gfx));
}

std::string kind_label(const Family &f, const Op &op) { return label(f, values_of(f, op)); }

const Family *check_shape(const Op &op) {
    if (const OpContract *contract = contract_of(op.kind)) {
        contract->check_shape(op);
        return nullptr;
    }
    const Table &table = table_for(op);
    const Family *f =
        *std::ranges::find_if(table.families, [&](const Family *of) { return of->region(op); });
    f->check_shape(op);
    return f;
}

const Kernel *cheapest(std::span<const Kernel *const> among, const Op &op) {
    return least(among, op, [&](const Kernel &k) { return matches(k, op); });
}

const Kernel *cheapest_of_family(const Kernel &kernel, const Op &op) {
    const Kind &kind = kind_for(table_for(op), kernel.gfx, op);
    return least(kind.kernels, op, [&](const Kernel &k) {
        return k.contract == kernel.contract && k.contract->region(op);
    });
}

const Kernel &cheapest(std::string_view gfx, const Op &op) {
    const Table &table = table_for(op);
    if (const Kernel *kernel = least(kind_for(table, gfx, op), op))
        return *kernel;
    refuse_kind(table, gfx, op);
}

Choice explain(std::string_view gfx, const Op &op) {
    const Table &table = table_for(op);
    if (const Kernel *kernel = forced_for(table, gfx, op))
        return {kernel, Choice::Why::forced};
    const Kind &kind = kind_for(table, gfx, op);
    if (const auto rows = kind.tuned.lower_bound(op.m);
        rows != kind.tuned.end() && rows->first < 2 * op.m)
        if (const auto [shape, distance] = rows->second.nearest(op.n, op.k); shape)
            if (const Kernel *kernel = tuned_for(*shape->kernel, op)) {
                const bool same = shape->n == op.n && shape->k == op.k && rows->first == op.m;
                return {kernel, same ? Choice::Why::tuned : Choice::Why::near, shape, distance};
            }
    if (const Kernel *kernel = least(kind, op))
        return {kernel, Choice::Why::untuned};
    refuse_kind(table, gfx, op);
}

const Kernel &choose(std::string_view gfx, const Op &op) { return *explain(gfx, op).kernel; }

bool is_served(std::string_view gfx, const Op &op) {
    const Table &table = table_for(op);
    if (!kinds_of(table, gfx).contains(values_of(*table.families.front(), op)))
        return false;
    try {
        check_shape(op);
        return true;
    } catch (const Refusal &) {
        return false;
    }
}

std::vector<const Kernel *> kernels_for(std::string_view gfx, const Op &op, References references) {
    std::vector<const Kernel *> out;
    for (const Kernel *kernel : kind_for(table_for(op), gfx, op).kernels)
        if ((references == References::with || !kernel->reference) && takes(*kernel, op))
            out.push_back(kernel);
    return out;
}

} // namespace nw
