// SPDX-License-Identifier: MIT
#include "sim/isa/tables/ops.h"

#include <array>
#include <unordered_map>

namespace nw::sim {

namespace {

constexpr std::array<OpInfo, static_cast<size_t>(Op::count)> table{{
    {},
#define NW_ROW(mn, cls, shape, D, A, B, C)                                                         \
    {#mn, Class::cls, Shape::shape, Type::D, Type::A, Type::B, Type::C},
#include "sim/isa/tables/rows.h"
}};

} // namespace

const OpInfo &info(Op op) { return table[static_cast<size_t>(op)]; }

Op find_op(std::string_view mnemonic) {
    static const auto &by_name = *new auto([] {
        std::unordered_map<std::string_view, Op> map;
        for (size_t i = 1; i < table.size(); ++i)
            map.emplace(table[i].name, static_cast<Op>(i));
        return map;
    }());
    auto it = by_name.find(mnemonic);
    return it == by_name.end() ? Op::none : it->second;
}

} // namespace nw::sim
