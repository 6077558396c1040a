// SPDX-License-Identifier: MIT
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>

#include "runtime/contract.h"

namespace nw {

void refuse(std::string_view family, u32 rule, std::string_view text,
            std::initializer_list<u64> values) {
    std::string out = fmt::format("{}: ", family);
    const u64 *value = values.begin();
    while (!text.empty()) {
        const u64 brace = text.find('{');
        out += text.substr(0, brace);
        if (brace == text.npos)
            break;
        const u64 end = text.find('}', brace);
        const std::string_view kind = text.substr(brace + 1, end - brace - 1);
        const u64 v = value < values.end() ? *value++ : 0;
        out += kind == "x"   ? fmt::format("{:#x}", v)
               : kind == "f" ? fmt::format("{}", std::bit_cast<f32>(static_cast<u32>(v)))
               : kind == "w" ? std::string(v < std::size(words) ? words[v] : "?")
                             : fmt::format("{}", v);
        text.remove_prefix(end + 1);
    }
    throw Refusal(out, rule);
}

namespace {

// clang-format off
#include "contracts.inc"
// clang-format on

const Family family_table[] = {
#include "family_table.inc"
};

} // namespace

std::span<const Family> families() { return family_table; }

const Family *find_family(std::string_view name) {
    const auto found = std::ranges::find(family_table, name, &Family::name);
    return found == std::ranges::end(family_table) ? nullptr : &*found;
}

const OpContract *contract_of(OpKind op) {
    for (const OpContract &contract : ops_)
        if (contract.op == op)
            return &contract;
    return nullptr;
}

std::span<const KernelArg> Kernel::args() const { return contract->arguments; }
u32 Kernel::kernarg_bytes() const { return contract->kernarg_bytes; }

std::string Kernel::param(std::string_view key) const {
    for (const ParameterName &name : contract->parameters)
        if (name.name == key) {
            const u32 value = p.*name.at;
            return name.text          ? std::string(words[value])
                   : value == per_row ? "k"
                                      : fmt::format("{}", value);
        }
    return {};
}

u32 Kernel::number(std::string_view key) const {
    for (const ParameterName &name : contract->parameters)
        if (name.name == key && !name.text)
            return p.*name.at;
    throw Error(
        fmt::format("kernel {}: parameter '{}' is '{}', not a number", symbol, key, param(key)));
}

} // namespace nw
