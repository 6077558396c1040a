// SPDX-License-Identifier: MIT
#include "measure/op_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

#include "base/error.h"

namespace nw {

namespace {

struct KindName {
    std::string_view name;
    OpKind kind;
};
struct FieldName {
    std::string_view name;
    u64 Op::*field;
    bool text; // its value is a word
};
#include "op_names.inc"

u64 number_of(std::string_view text, std::string_view name) {
    u64 out = 0;
    const auto [end, error] = std::from_chars(text.begin(), text.end(), out);
    if (error == std::errc{} && end == text.end() && !text.empty())
        return out;
    const std::string copy(text);
    char *rest = nullptr;
    const f32 real = std::strtof(copy.c_str(), &rest);
    if (copy.empty() || *rest || copy.find_first_of(".e") == copy.npos)
        throw Error(fmt::format("{} = {}: must be a whole number, or a decimal one as 1e-6 where "
                                "it is a float",
                                name, text));
    return std::bit_cast<u32>(real);
}

} // namespace

std::string kind_names() {
    std::string out;
    for (const KindName &known : kind_names_table)
        out += fmt::format("{}{}", out.empty() ? "" : ", ", known.name);
    return out;
}

Op parse_op(std::string_view kind, std::span<const std::string> values) {
    const auto known = std::ranges::find(kind_names_table, kind, &KindName::name);
    if (known == std::ranges::end(kind_names_table))
        throw Error(fmt::format("op = {}: must be one of {}", kind, kind_names()));
    Op op{.kind = known->kind};
    for (const std::string_view value : values) {
        const u64 equals = std::min(value.find('='), value.size());
        const std::string_view name = value.substr(0, equals);
        const auto field = std::ranges::find(field_names, name, &FieldName::name);
        if (equals == value.size() || field == std::ranges::end(field_names))
            throw Error(fmt::format("{}: must be NAME=VALUE with a name of the op's contract "
                                    "(asm/{}/family.toml or asm/ops/{}/op.toml)",
                                    value, kind, kind));
        const std::string_view text = value.substr(equals + 1);
        op.*field->field = field->text ? find_word(text) : number_of(text, name);
    }
    return op;
}

} // namespace nw
