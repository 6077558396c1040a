// SPDX-License-Identifier: MIT
#include "lint/flow.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "sim/isa/code.h"
#include "sim/isa/hazards/unused_fields.h"

namespace nw::lint {

namespace {

using sim::Code, sim::Instruction, sim::Operand;
constexpr u32 none = Flow::none;

// The successors of an instruction.
struct Exit {
    enum Kind : u8 { falls, jumps, branches, calls, returns, ends } kind = falls;
    u32 target = none; // jumps, branches, calls
};

// SGPRs that hold addresses made of s_getpc_b64 and constants.
class Addresses {
public:
    explicit Addresses(const Code &code) : code_(code) {}

    // Value of the pair before an instruction, from the straight-line code before it.
    std::optional<u64> before(u32 instruction, u16 pair) {
        values_.clear();
        u32 first = instruction;
        while (first > 0 && instruction - first < window && !ends(code_.instructions[first - 1]))
            --first;
        for (u32 i = first; i < instruction; ++i)
            step(code_.instructions[i]);
        const auto low = get(pair), high = get(pair + 1);
        return low && high ? std::optional(u64{*high} << 32 | *low) : std::nullopt;
    }

private:
    static constexpr u32 window = 64;

    static bool ends(const Instruction &i) {
        const std::string_view n = i.x.mnemonic;
        return n == "s_branch" || n == "s_setpc_b64" || n == "s_endpgm" || i.text.empty();
    }
    std::optional<u32> get(u16 reg) const {
        const auto found = values_.find(reg);
        return found == values_.end() ? std::nullopt : std::optional(found->second);
    }
    std::optional<u32> value(const Operand &o) const {
        return o.kind == Operand::Kind::integer ? std::optional(static_cast<u32>(o.integer))
               : o.kind == Operand::Kind::sgpr  ? get(o.reg)
                                                : std::nullopt;
    }
    void set(u16 reg, std::optional<u32> v) {
        if (v)
            values_[reg] = *v;
        else
            values_.erase(reg);
    }

    void step(const Instruction &i) {
        const auto &o = i.x.operands;
        const std::string_view n = i.x.mnemonic;
        if (o.empty() || o[0].kind != Operand::Kind::sgpr)
            return;
        const u16 d = o[0].reg;
        if (n == "s_getpc_b64") {
            const u64 pc = code_.base + i.offset + i.size;
            set(d, static_cast<u32>(pc));
            set(d + 1, static_cast<u32>(pc >> 32));
        } else if ((n == "s_add_u32" || n == "s_add_co_u32") && o.size() == 3) {
            const auto a = value(o[1]), b = value(o[2]);
            carry_ = a && b && u64{*a} + *b > ~u32{0};
            set(d, a && b ? std::optional(*a + *b) : std::nullopt);
        } else if ((n == "s_addc_u32" || n == "s_add_co_ci_u32") && o.size() == 3) {
            const auto a = value(o[1]), b = value(o[2]);
            set(d, a && b ? std::optional(*a + *b + carry_) : std::nullopt);
        } else if (n == "s_sext_i32_i16" && o.size() == 2 && o[1].kind == Operand::Kind::sgpr) {
            set(d, get(o[1].reg)); // of an address of 48 bits: what is there
        } else if (n == "s_mov_b32" && o.size() == 2) {
            set(d, value(o[1]));
        } else if (n == "s_mov_b64" && o.size() == 2 && o[1].kind == Operand::Kind::sgpr) {
            const auto low = get(o[1].reg), high = get(o[1].reg + 1);
            set(d, low), set(d + 1, high);
        } else if (!n.starts_with("s_cmp") && !n.starts_with("s_wait")) {
            for (u16 reg = 0; reg < o[0].count; ++reg)
                values_.erase(d + reg);
        }
    }

    const Code &code_;
    std::map<u16, u32> values_;
    bool carry_ = false;
};

// Finds the functions (targets of calls and the kernel's entry), then joins their graphs.
class Builder {
public:
    explicit Builder(const Code &code) : code_(code), addresses_(code) {}

    void add(u32 entry) {
        std::vector<u32> todo{entry};
        while (!todo.empty()) {
            const u32 at = todo.back();
            todo.pop_back();
            const auto [function, fresh] = functions_.try_emplace(at);
            if (fresh)
                function->second = walk(at);
            for (u32 call : function->second.calls)
                if (const u32 target = exits_[call].target; fresh && target != none)
                    todo.push_back(target);
        }
        for (const auto &[at, f] : functions_)
            for (u32 call : f.calls)
                if (const u32 target = exits_[call].target;
                    target != none && call + 1 < code_.instructions.size())
                    for (u32 back : functions_[target].returns)
                        goes_on_[back].push_back(call + 1);
    }

    std::vector<u32> next(u32 i) const {
        const Exit &exit = exits_.at(i);
        if (exit.kind == Exit::calls && exit.target != none)
            return {exit.target};
        if (exit.kind == Exit::returns) {
            const auto found = goes_on_.find(i);
            return found == goes_on_.end() ? std::vector<u32>{} : found->second;
        }
        return within(i, exit);
    }
    bool unknown_call(u32 i) const {
        return exits_.at(i).kind == Exit::calls && exits_.at(i).target == none;
    }
    bool transfers(u32 i) const { return exits_.at(i).kind != Exit::falls; }
    const std::map<u32, Exit> &exits() const { return exits_; } // of reachable instructions
    std::vector<BadFlow> bad;

private:
    struct Function {
        std::vector<u32> returns, calls;
    };

    Function walk(u32 entry) {
        Function out;
        std::vector<u32> todo{entry};
        std::set<u32> seen;
        while (!todo.empty()) {
            const u32 i = todo.back();
            todo.pop_back();
            if (!seen.insert(i).second)
                continue;
            if (!exits_.contains(i))
                exits_[i] = exit_of(i);
            const Exit exit = exits_[i];
            if (exit.kind == Exit::returns)
                out.returns.push_back(i);
            if (exit.kind == Exit::calls)
                out.calls.push_back(i);
            for (u32 next : within(i, exit))
                todo.push_back(next);
        }
        return out;
    }

    u32 find(u32 from, u64 pc) {
        const u32 target = code_.find(pc);
        if (target == Code::none) {
            bad.push_back({BadFlow::Kind::outside, from});
            return none;
        }
        return target;
    }
    u32 label(u32 i) {
        const Instruction &inst = code_.instructions[i];
        return find(i, code_.base + inst.offset + inst.size +
                           static_cast<u64>(i64{inst.simm16()} * 4));
    }

    Exit exit_of(u32 i) {
        const Instruction &inst = code_.instructions[i];
        const std::string_view n = inst.x.mnemonic;
        if (inst.text.empty() || !sim::invalid_operand(inst).empty()) {
            bad.push_back({BadFlow::Kind::not_decoded, i});
            return {Exit::ends};
        }
        if (n == "s_endpgm" || n == "s_endpgm_saved" || (n == "s_trap" && inst.simm16() == 2))
            return {Exit::ends};
        if (n == "s_branch")
            return {Exit::jumps, label(i)};
        if (n.starts_with("s_cbranch_"))
            return {Exit::branches, label(i)};
        if (n == "s_call_b64")
            return {Exit::calls, label(i)};
        if (n == "s_swappc_b64" || n == "s_setpc_b64") {
            const auto &o = inst.x.operands;
            const auto pc = o.empty() || o.back().kind != Operand::Kind::sgpr
                                ? std::nullopt
                                : addresses_.before(i, o.back().reg);
            const u32 target = pc ? find(i, *pc) : none;
            if (n == "s_swappc_b64")
                return {Exit::calls, target};
            return target == none ? Exit{Exit::returns} : Exit{Exit::jumps, target};
        }
        return {};
    }

    // Within a function: a call falls through.
    std::vector<u32> within(u32 i, const Exit &exit) const {
        std::vector<u32> out;
        const bool stays =
            exit.kind == Exit::falls || exit.kind == Exit::branches || exit.kind == Exit::calls;
        if (stays && i + 1 < code_.instructions.size())
            out.push_back(i + 1);
        if ((exit.kind == Exit::jumps || exit.kind == Exit::branches) && exit.target != none)
            out.push_back(exit.target);
        return out;
    }

    const Code &code_;
    Addresses addresses_;
    std::map<u32, Function> functions_;       // by entry
    std::map<u32, Exit> exits_;               // by instruction
    std::map<u32, std::vector<u32>> goes_on_; // of returns
};

// Depth-first search without recursion: kernels have thousands of blocks.
std::vector<u32> reverse_postorder(const std::vector<Block> &blocks, u32 entry) {
    std::vector<u32> order;
    std::vector<u8> seen(blocks.size());
    std::vector<std::pair<u32, size_t>> path{{entry, 0}};
    seen[entry] = 1;
    while (!path.empty()) {
        auto &[block, child] = path.back();
        if (child == blocks[block].next.size()) {
            order.push_back(block);
            path.pop_back();
            continue;
        }
        const u32 next = blocks[block].next[child++];
        if (!seen[next]) {
            seen[next] = 1;
            path.emplace_back(next, 0);
        }
    }
    std::ranges::reverse(order);
    return order;
}

} // namespace

Flow::Flow(const Code &code, u32 entry) : code_(code) {
    Builder builder(code);
    builder.add(entry);
    std::set<u32> heads{entry};
    for (const auto &[i, exit] : builder.exits()) {
        if (exit.kind == Exit::falls)
            continue;
        for (u32 next : builder.next(i))
            heads.insert(next);
        if (builder.exits().contains(i + 1))
            heads.insert(i + 1);
    }
    std::vector<Block> blocks;
    std::map<u32, u32> at; // first instruction -> block
    for (const auto &[i, exit] : builder.exits()) {
        if (heads.contains(i) || blocks.empty() || blocks.back().end != i) {
            at[i] = static_cast<u32>(blocks.size());
            blocks.push_back({i, i, {}, false});
        }
        blocks.back().end = i + 1;
    }
    for (Block &block : blocks) {
        const u32 last = block.end - 1;
        block.unknown_call = builder.unknown_call(last);
        const std::vector<u32> next = builder.next(last);
        if (next.empty() && builder.exits().at(last).kind == Exit::falls)
            bad_.push_back({BadFlow::Kind::no_end, last});
        for (u32 i : next)
            block.next.push_back(at.at(i));
    }
    const std::vector<u32> order = reverse_postorder(blocks, at.at(entry));
    std::vector<u32> place(blocks.size());
    for (u32 n = 0; n < order.size(); ++n)
        place[order[n]] = n;
    for (u32 n : order) {
        Block &block = blocks_.emplace_back(std::move(blocks[n]));
        for (u32 &next : block.next)
            next = place[next];
        std::ranges::sort(block.next);
        block.next.erase(std::ranges::unique(block.next).begin(), block.next.end());
    }
    for (u32 n = 0; n < blocks_.size(); ++n) {
        block_of_.resize(std::max<size_t>(block_of_.size(), blocks_[n].end), none);
        std::fill(block_of_.begin() + blocks_[n].first, block_of_.begin() + blocks_[n].end, n);
    }
    first_ = std::ranges::min(blocks_, {}, &Block::first).first;
    before_.resize(blocks_.size());
    for (u32 n = 0; n < blocks_.size(); ++n)
        for (u32 next : blocks_[n].next)
            before_[next].push_back(n);
    bad_.insert(bad_.end(), builder.bad.begin(), builder.bad.end());
}

u32 Flow::block_of(u32 instruction) const {
    return instruction < block_of_.size() ? block_of_[instruction] : none;
}

std::vector<u32> Flow::before(u32 instruction) const {
    const u32 n = block_of_[instruction];
    if (blocks_[n].first != instruction)
        return {instruction - 1};
    std::vector<u32> out;
    for (u32 block : before_[n])
        out.push_back(blocks_[block].end - 1);
    return out;
}

std::vector<u32> Flow::after(u32 instruction) const {
    const Block &block = blocks_[block_of_[instruction]];
    if (instruction + 1 < block.end)
        return {instruction + 1};
    std::vector<u32> out;
    for (u32 next : block.next)
        out.push_back(blocks_[next].first);
    return out;
}

} // namespace nw::lint
