// SPDX-License-Identifier: MIT
#include "lint/trips.h"

#include <algorithm>

#include "sim/isa/code.h"
#include "sim/isa/uses.h"

namespace nw::lint {

namespace {

using namespace sim;

constexpr u64 most_trips = 1 << 20; // simulated; a larger count is unknown

bool is_counter(const Operand &o) {
    return o.kind == Operand::Kind::sgpr && o.count == 1 && o.reg < sreg::vcc;
}
bool is_constant(const Operand &o) { return o.kind == Operand::Kind::integer; }

bool writes(const Instruction &inst, u32 reg) {
    for (const RegisterUse &use : register_uses(inst))
        if (use.write && use.bank == RegisterUse::sgpr && use.first <= reg &&
            reg < u32{use.first} + use.count)
            return true;
    return false;
}

// The relation of a comparison such as "s_cmp_lt_u32"; empty for other instructions.
std::optional<bool> compare(std::string_view n, u32 a, u32 b) {
    const bool is_signed = n.ends_with("_i32");
    if ((!is_signed && !n.ends_with("_u32")) || !(n.starts_with("s_cmp")))
        return {};
    const std::string_view what = n.substr(n.starts_with("s_cmpk_") ? 7 : 6, 2);
    const i64 x = is_signed ? i64{static_cast<i32>(a)} : i64{a};
    const i64 y = is_signed ? i64{static_cast<i32>(b)} : i64{b};
    return what == "eq"   ? std::optional(x == y)
           : what == "lg" ? std::optional(x != y)
           : what == "gt" ? std::optional(x > y)
           : what == "ge" ? std::optional(x >= y)
           : what == "lt" ? std::optional(x < y)
           : what == "le" ? std::optional(x <= y)
                          : std::nullopt;
}

// A constant as the instruction sees it: those of SOPK have 16 bits.
u32 constant(const Operation &op, const Operand &o) {
    const std::string_view n = op.mnemonic;
    const bool is_short = n.starts_with("s_cmpk_") || n == "s_movk_i32" || n.starts_with("s_addk_");
    return !is_short             ? static_cast<u32>(o.integer)
           : n.ends_with("_u32") ? static_cast<u16>(o.integer)
                                 : static_cast<u32>(static_cast<i16>(o.integer));
}

// The constant that an instruction adds to the counter.
std::optional<u32> step_of(const Operation &op, u32 counter) {
    const std::string_view n = op.mnemonic;
    const auto &o = op.operands;
    const auto is = [&](size_t k) { return is_counter(o[k]) && o[k].reg == counter; };
    if (n.starts_with("s_addk_") && o.size() == 2 && is_constant(o[1]))
        return constant(op, o[1]);
    if (o.size() != 3)
        return {};
    const bool adds =
        n == "s_add_u32" || n == "s_add_i32" || n == "s_add_co_u32" || n == "s_add_co_i32";
    const bool subtracts =
        n == "s_sub_u32" || n == "s_sub_i32" || n == "s_sub_co_u32" || n == "s_sub_co_i32";
    if ((adds || subtracts) && is(1) && is_constant(o[2]))
        return adds ? static_cast<u32>(o[2].integer) : 0 - static_cast<u32>(o[2].integer);
    return adds && is(2) && is_constant(o[1]) ? std::optional(static_cast<u32>(o[1].integer))
                                              : std::nullopt;
}

bool says_scc(const Instruction &inst) { return writes(inst, sreg::scc); }

} // namespace

TripCounter::TripCounter(const Flow &flow, const Loops &loops)
    : flow_(flow), loops_(loops), dominators_(dominators(flow)) {}

// For a loop with one back edge and one exit, both of the same branch.
std::optional<TripCounter::Exit> TripCounter::exit_of(const Loop &loop) const {
    if (loop.irreducible || loop.latches.size() != 1)
        return {};
    const u32 latch = loop.latches.front();
    for (u32 n : loop.blocks) {
        const Block &b = flow_.blocks()[n];
        if (b.unknown_call || b.next.empty())
            return {};
        for (u32 next : b.next)
            if (n != latch && !std::ranges::binary_search(loop.blocks, next))
                return {};
    }
    const Block &b = flow_.blocks()[latch];
    const auto &code = flow_.code().instructions;
    const std::string_view branch = code[b.end - 1].x.mnemonic;
    if (b.next.size() != 2 || (branch != "s_cbranch_scc0" && branch != "s_cbranch_scc1"))
        return {};
    const bool falls_in = b.end < code.size() && flow_.block_of(b.end) == loop.head;
    for (u32 i = b.end - 1; i-- > b.first;) {
        if (!says_scc(code[i]))
            continue;
        const auto &o = code[i].x.operands;
        if (o.size() != 2 || !compare(code[i].x.mnemonic, 0, 0))
            return {};
        const Operand &counter = is_counter(o[0]) ? o[0] : o[1];
        if (!is_counter(counter) || !is_constant(&counter == &o[0] ? o[1] : o[0]))
            return {};
        return Exit{counter.reg, latch, i, (branch == "s_cbranch_scc1") != falls_in};
    }
    return {};
}

std::optional<u32> TripCounter::change_of(const Loop &loop, u32 counter) const {
    std::optional<u32> found;
    for (u32 n : loop.blocks)
        for (u32 i = flow_.blocks()[n].first; i < flow_.blocks()[n].end; ++i) {
            if (!writes(flow_.code().instructions[i], counter))
                continue;
            const bool once = &loops_.all()[loops_.of_block(n)] == &loop &&
                              dominates(dominators_, n, loop.latches.front());
            if (found || !once)
                return {};
            found = i;
        }
    return found;
}

// The initial value that straight-line code before the loop moves into the counter.
std::optional<u32> TripCounter::begin_of(const Loop &loop, u32 counter) const {
    u32 n = loop.head;
    std::vector<u32> from;
    for (u32 p : flow_.blocks_before(n))
        if (!std::ranges::binary_search(loop.blocks, p))
            from.push_back(p);
    for (size_t steps = 0; from.size() == 1 && steps < flow_.blocks().size(); ++steps) {
        n = from.front();
        const Block &b = flow_.blocks()[n];
        if (b.unknown_call)
            return {};
        for (u32 i = b.end; i-- > b.first;) {
            const Operation &op = flow_.code().instructions[i].x;
            if (!writes(flow_.code().instructions[i], counter))
                continue;
            const bool moves = op.mnemonic == "s_mov_b32" || op.mnemonic == "s_movk_i32";
            if (!moves || op.operands.size() != 2 || !is_constant(op.operands[1]))
                return {};
            return constant(op, op.operands[1]);
        }
        from = flow_.blocks_before(n);
    }
    return {};
}

std::optional<u64> TripCounter::trips(const Loop &loop) const {
    const auto exit = exit_of(loop);
    if (!exit)
        return {};
    const auto change = change_of(loop, exit->counter);
    const auto begin = begin_of(loop, exit->counter);
    if (!change || !begin)
        return {};
    const auto &code = flow_.code().instructions;
    const auto step = step_of(code[*change].x, exit->counter);
    if (!step)
        return {};
    // In the comparison's block, a change after it takes effect in the next iteration.
    const bool after = *change > exit->index && flow_.block_of(*change) == exit->block;
    const Operation &op = code[exit->index].x;
    u32 value = *begin;
    for (u64 trip = 1; trip <= most_trips; ++trip) {
        const u32 seen = after ? value : value + *step;
        value += *step;
        const auto of = [&](size_t n) {
            return is_counter(op.operands[n]) ? seen : constant(op, op.operands[n]);
        };
        if (*compare(op.mnemonic, of(0), of(1)) != exit->goes_on)
            return trip;
    }
    return {};
}

} // namespace nw::lint
