// SPDX-License-Identifier: MIT
#include "nw/micro/line.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <regex>

#include "base/error.h"

namespace nw::cli {

namespace {

u32 number_of(const std::string &digits) {
    u32 value = ~u32{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

std::string register_text(char bank, u32 first, u32 count) {
    return count == 1 ? fmt::format("{}{}", bank, first)
                      : fmt::format("{}[{}:{}]", bank, first, first + count - 1);
}

// The text with each operand's registers replaced by what `renamed` says.
template <class F>
std::string with_registers(std::string text, std::vector<Operand> operands, F renamed) {
    std::ranges::sort(operands, std::greater{}, &Operand::at);
    for (const Operand &o : operands)
        text.replace(o.at, o.length, register_text(o.bank, renamed(o), o.count));
    return text;
}

bool begins_with_any(std::string_view name, std::initializer_list<std::string_view> starts) {
    return std::ranges::any_of(starts, [&](auto start) { return name.starts_with(start); });
}

} // namespace

Line::Line(std::string text) : text_(std::move(text)) {
    const auto refuse = [&](std::string_view why) {
        throw Error(fmt::format("'{}': {}", text_, why));
    };
    if (!std::regex_search(text_, std::regex(R"(^\s*[vs]_\w+)")))
        refuse("must be an instruction of VALU or SALU, as in 'v_add_f32 v0, v1, v2'");
    if (text_.find_first_of("\n;") != text_.npos || text_.find("//") != text_.npos)
        refuse("must be one instruction, without a comment");
    const std::string name = text_.substr(text_.find_first_of("vs"));
    if (begins_with_any(name, {"s_load",     "s_store",    "s_buffer",  "s_scratch", "s_dcache",
                               "s_atomic",   "s_prefetch", "s_branch",  "s_cbranch", "s_setpc",
                               "s_swappc",   "s_call",     "s_endpgm",  "s_barrier", "s_sendmsg",
                               "s_trap",     "s_rfe",      "s_sethalt", "s_getpc",   "s_wait",
                               "s_code_end", "v_cmpx"}) ||
        name.find("exec") != name.npos || name.find("saveexec") != name.npos ||
        name.find("wrexec") != name.npos)
        refuse("can't be repeated alone: memory, branches, waits, messages and EXEC are left out; "
               "nw micro --list has some of them");
    const size_t pair = text_.find("::");
    read_half(0, std::min(pair, text_.size()));
    if (pair != text_.npos)
        read_half(pair, text_.size());
    for (const Half &half : halves_)
        for (const Operand &o : half.operands)
            if (o.first + o.count > (o.bank == 'v' ? vgprs : sgprs) ||
                (o.bank == 's' && o.first < 2))
                refuse(fmt::format("{}: use v0 to v{} and s2 to s{}",
                                   register_text(o.bank, o.first, o.count), vgprs - 1, sgprs - 1));
}

void Line::read_half(size_t begin, size_t end) {
    static const std::regex registers(
        R"(\b([vs])(?:(\d+)|\[(\d+)(?::(\d+))?\])(?=\.[lh]\b|\s*(?:,|$|:|\)|\||\s)))");
    const std::string part = text_.substr(begin, end - begin);
    std::smatch word;
    std::regex_search(part, word, std::regex(R"([vs]_\w+)"));
    const std::string name = word.str();
    Half half;
    for (std::sregex_iterator at(part.begin(), part.end(), registers), last; at != last; ++at) {
        const std::smatch &m = *at;
        Operand o{begin + static_cast<size_t>(m.position()), static_cast<size_t>(m.length()),
                  m[1].str()[0], number_of(m[2].matched ? m[2] : m[3]), 1};
        if (m[4].matched)
            o.count = number_of(m[4]) - o.first + 1;
        half.operands.push_back(o);
    }
    // A result comes first. What is compared into SCC or VCC has none that can be renamed.
    const size_t operands = static_cast<size_t>(word.position()) + name.size();
    const bool first = !half.operands.empty() &&
                       part.find_first_not_of(" \t", operands) + begin == half.operands[0].at;
    half.has_result = first && !begins_with_any(name, {"s_cmp_", "s_bitcmp", "s_setreg", "s_set_"});
    static const std::regex tied("fmac|_mac_|dot\\d+c_|dot\\d+acc|writelane|_swap_|v_movrel|s_cmov|"
                                 "bitset|s_addk|s_mulk");
    half.reads_result = half.has_result && std::regex_search(name, tied);
    halves_.push_back(std::move(half));
}

std::optional<std::string> Line::dependent() const {
    std::vector<Operand> changed;
    std::vector<u32> to;
    for (const Half &half : halves_) {
        if (!half.has_result)
            return {};
        const Operand &result = half.operands[0];
        const auto sources = half.operands.begin() + 1;
        if (half.reads_result ||
            std::find(sources, half.operands.end(), result) != half.operands.end())
            continue;
        const auto same = std::find_if(sources, half.operands.end(), [&](const Operand &o) {
            return o.bank == result.bank && o.count == result.count;
        });
        if (same == half.operands.end())
            return {};
        changed.push_back(*same);
        to.push_back(result.first);
    }
    return with_registers(text_, changed, [&](const Operand &o) {
        for (size_t n = 0; n < changed.size(); ++n)
            if (changed[n].at == o.at)
                return to[n];
        return o.first;
    });
}

// Multiples of 4 keep each register in its bank.
u32 Line::stride(const Half &half) const {
    const u32 count = half.operands[0].count;
    return half.operands[0].bank == 'v' ? (count + 3 + half.operands[0].first % 4) / 4 * 4
                                        : (count + 1) / 2 * 2;
}

u32 Line::copies() const {
    u32 most = 8;
    for (const Half &half : halves_)
        if (half.has_result) {
            const bool vector = half.operands[0].bank == 'v';
            const u32 room = (vector ? vgpr_room : sgpr_room) / static_cast<u32>(halves_.size());
            most = std::min(most, room / stride(half));
        }
    return std::max(most, 1u);
}

std::string Line::copy(u32 n, u32 first_vgpr, u32 first_sgpr) const {
    std::vector<Operand> all, results;
    std::vector<u32> to;
    const u32 halves = static_cast<u32>(halves_.size());
    for (u32 h = 0; h < halves; ++h) {
        const Half &half = halves_[h];
        all.insert(all.end(), half.operands.begin(), half.operands.end());
        if (!half.has_result)
            continue;
        const Operand &result = half.operands[0];
        const u32 place = n % copies() * stride(half);
        results.push_back(result);
        to.push_back(result.bank == 'v'
                         ? first_vgpr + h * vgpr_room / halves + place + result.first % 4
                         : first_sgpr + h * sgpr_room / halves + place);
    }
    return with_registers(text_, all, [&](const Operand &o) {
        for (size_t r = 0; r < results.size(); ++r)
            if (o == results[r]) // the result, or the accumulator that it replaces
                return to[r];
        return o.first;
    });
}

} // namespace nw::cli
