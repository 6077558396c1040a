// SPDX-License-Identifier: MIT
#include "sim/isa/instruction.h"

#include "sim/isa/hazards/unused_fields.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace nw::sim {

namespace {

constexpr std::array<std::pair<std::string_view, u16>, 17> named_sgprs{{
    {"vcc_lo", sreg::vcc},
    {"vcc_hi", sreg::vcc + 1},
    {"vcc", sreg::vcc},
    {"exec_lo", sreg::exec},
    {"exec_hi", sreg::exec + 1},
    {"exec", sreg::exec},
    {"m0", sreg::m0},
    {"null", sreg::null},
    {"src_scc", sreg::scc},
    {"scc", sreg::scc},
    {"src_vccz", sreg::vccz},
    {"src_execz", sreg::execz},
    {"src_shared_base", sreg::shared_base},
    {"src_shared_limit", sreg::shared_limit},
    {"src_private_base", sreg::private_base},
    {"src_private_limit", sreg::private_limit},
    {"lds_direct", sreg::count}, // not readable in compute: its use is reported
}};

std::string_view trim(std::string_view s) {
    auto blank = [](char c) { return c == ' ' || c == '\t'; };
    while (!s.empty() && blank(s.front()))
        s.remove_prefix(1);
    while (!s.empty() && blank(s.back()))
        s.remove_suffix(1);
    return s;
}

// Cuts `s` at the first `sep` outside brackets; the rest is empty if there is none.
std::string_view take_until(std::string_view &s, char sep) {
    int depth = 0;
    for (size_t i = 0; i < s.size(); ++i) {
        char c = s[i];
        depth += c == '[' || c == '(';
        depth -= c == ']' || c == ')';
        if (c == sep && depth <= 0)
            return std::exchange(s, s.substr(i + 1)).substr(0, i);
    }
    return std::exchange(s, {});
}

bool parse_integer(std::string_view s, i64 &value) {
    bool negative = s.starts_with('-');
    if (negative)
        s.remove_prefix(1);
    int base = s.starts_with("0x") ? 16 : 10;
    if (base == 16)
        s.remove_prefix(2);
    u64 magnitude = 0;
    auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), magnitude, base);
    if (s.empty() || error != std::errc() || end != s.data() + s.size())
        return false;
    value = static_cast<i64>(negative ? 0 - magnitude : magnitude);
    return true;
}

bool parse_real(std::string_view s, double &value) {
    auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
    return !s.empty() && error == std::errc() && end == s.data() + s.size();
}

// "12", "[4:7]", "[4]": the part after v, s or ttmp.
bool parse_registers(std::string_view s, Operand &op) {
    i64 first = 0, last = 0;
    if (s.starts_with('[') && s.ends_with(']')) {
        s = s.substr(1, s.size() - 2);
        std::string_view head = take_until(s, ':');
        if (!parse_integer(head, first))
            return false;
        if (s.empty())
            last = first;
        else if (!parse_integer(s, last))
            return false;
    } else if (s.empty() || s[0] < '0' || s[0] > '9' || !parse_integer(s, first)) {
        return false;
    } else {
        last = first;
    }
    if (first < 0 || last < first || last > 1023)
        return false;
    op.reg = static_cast<u16>(first);
    op.count = static_cast<u16>(last - first + 1);
    return true;
}

bool parse_register(std::string_view s, Operand &op) {
    for (auto [name, reg] : named_sgprs) {
        if (s != name)
            continue;
        op.kind = Operand::Kind::sgpr;
        op.reg = reg;
        op.count = s == "vcc" || s == "exec" || reg >= sreg::shared_base ? 2 : 1;
        return true;
    }
    if (s.starts_with("ttmp") && parse_registers(s.substr(4), op)) {
        op.kind = Operand::Kind::sgpr;
        op.reg += sreg::ttmp0;
        return op.reg + op.count <= sreg::null;
    }
    if (s.size() < 2 || (s[0] != 'v' && s[0] != 's'))
        return false;
    if (s.ends_with(".l") || s.ends_with(".h")) {
        op.half = s.back() == 'l' ? Operand::Half::low : Operand::Half::high;
        s.remove_suffix(2);
    }
    op.kind = s[0] == 'v' ? Operand::Kind::vgpr : Operand::Kind::sgpr;
    return parse_registers(s.substr(1), op) && op.reg + op.count <= (s[0] == 'v' ? 256 : 106);
}

Operand parse_operand(std::string_view s) {
    Operand op;
    op.text = s;
    if (s.starts_with("neg(") && s.ends_with(')')) {
        op.neg = true;
        s = s.substr(4, s.size() - 5);
    } else if (s.size() > 1 && s[0] == '-' && (s[1] < '0' || s[1] > '9')) {
        op.neg = true; // -v0, -|v0|, -s4; "-1.0" is a constant, not a modifier
        s.remove_prefix(1);
    }
    if (s.starts_with("sext(") && s.ends_with(')')) {
        op.sext = true;
        s = s.substr(5, s.size() - 6);
    }
    // LLVM closes the bars of v_cndmask's second source after its mask: "|v0, vcc_lo|".
    if (s.starts_with('|')) {
        op.abs = true;
        s.remove_prefix(1);
    }
    if (s.ends_with('|'))
        s.remove_suffix(1);
    if (s.starts_with("lit(") && s.ends_with(')')) // a literal whose value has an inline code
        s = s.substr(4, s.size() - 5);
    if (parse_register(s, op))
        return op;
    op.half = Operand::Half::none;
    if (s == "off") {
        op.kind = Operand::Kind::off;
    } else if (parse_integer(s, op.integer)) {
        op.kind = Operand::Kind::integer;
        op.literal = s.starts_with("0x");
    } else if (parse_real(s, op.real)) {
        op.kind = Operand::Kind::real;
    } else {
        op.kind = Operand::Kind::text;
    }
    return op;
}

Modifier parse_modifier(std::string_view s) {
    Modifier m;
    std::string_view rest = s;
    m.name = take_until(rest, ':');
    m.text = rest;
    if (rest.starts_with('[') && rest.ends_with(']'))
        rest = rest.substr(1, rest.size() - 2);
    while (!rest.empty()) {
        i64 value = 0;
        if (!parse_integer(trim(take_until(rest, ',')), value))
            break; // a word, such as th:TH_LOAD_NT: `text` has it
        m.values.push_back(value);
    }
    return m;
}

constexpr std::array<std::string_view, 5> encodings{"_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa"};

void strip_encoding(Operation &op) {
    for (std::string_view suffix : encodings) {
        if (!op.mnemonic.ends_with(suffix))
            continue;
        op.e64 = suffix.starts_with("_e64");
        op.dpp = suffix.ends_with("_dpp");
        op.mnemonic.remove_suffix(suffix.size());
        return;
    }
}

} // namespace

const Modifier *Operation::modifier(std::string_view name) const {
    auto it = std::find_if(modifiers.begin(), modifiers.end(),
                           [&](const Modifier &m) { return m.name == name; });
    return it == modifiers.end() ? nullptr : &*it;
}

i64 Operation::value(std::string_view name, i64 otherwise) const {
    const Modifier *m = modifier(name);
    return m && !m->values.empty() ? m->values[0] : otherwise;
}

std::optional<f32> Instruction::inline_float(const Operation &op, unsigned n) const {
    constexpr u32 vop3p = 0x33, vop3 = 0x35, vopd = 0x32; // the encoding's upper six bits
    constexpr u32 first = 240, code_mask = 0x1ff, code_bits = 9;
    constexpr f32 values[] = {0.5f, -0.5f, 1, -1, 2, -2, 4, -4, 0.15915494f};
    const u32 encoding = word0 >> 26;
    const bool three = encoding == vop3 || encoding == vop3p;
    if (n > 2 || (n > 0 && !three))
        return {};
    const u32 word = three || (encoding == vopd && y && &op == &*y) ? word1 : word0;
    const u32 value = (word >> (three ? code_bits * n : 0) & code_mask) - first;
    return value < std::size(values) ? std::optional(values[value]) : std::nullopt;
}

std::string_view invalid_operand(const Instruction &inst) {
    const std::string_view text = inst.text;
    const size_t end = text.find("/*Invalid register");
    if (end == text.npos)
        return {};
    const size_t begin = text.find_last_of(" ,|-(", end - 1) + 1;
    return text.substr(begin, end - begin);
}

Operation parse_operation(std::string_view text) {
    Operation op;
    text = trim(text);
    op.mnemonic = take_until(text, ' ');
    strip_encoding(op);
    text = trim(text);
    while (!text.empty()) {
        std::string_view piece = trim(take_until(text, ','));
        std::string_view operand = trim(take_until(piece, ' '));
        if (operand.starts_with('[') && operand.ends_with(']')) { // addresses of an image
            operand = operand.substr(1, operand.size() - 2);
            while (!operand.empty())
                op.operands.push_back(parse_operand(trim(take_until(operand, ','))));
        } else {
            op.operands.push_back(parse_operand(operand));
        }
        for (piece = trim(piece); !piece.empty(); piece = trim(piece))
            op.modifiers.push_back(parse_modifier(take_until(piece, ' ')));
        text = trim(text);
    }
    // LLVM writes v_cmp_eq_i32_e64_dpp, but VOPC's own DPP without a suffix.
    op.dpp |= op.has("row_mask") || op.has("dpp8");
    return op;
}

void parse(Instruction &inst) {
    std::string_view text = inst.text;
    size_t pair = text.find(" :: ");
    inst.x = parse_operation(text.substr(0, pair));
    if (pair != text.npos)
        inst.y = parse_operation(text.substr(pair + 4));
}

} // namespace nw::sim
