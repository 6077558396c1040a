// SPDX-License-Identifier: MIT
// Loads of a value that only a compare-exchange sees. LLVM's loops for atomics that a target lacks,
// in LDS as in global memory, begin with a plain load (S-085):
//     global_load_dword v6, v3, s[4:5]
//   .Lagain:
//     v_add_f32 v5, v6, v8
//     global_atomic_cmpswap v5, v[3:4], v[5:6], off glc
// Another wave may change the location in between: then the exchange fails, and nothing but the
// next round depends on what the load got. At -O0 the value passes through scratch memory.
#include "sim/check/race_guess.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "sim/isa/spill.h"
#include "sim/isa/uses.h"

namespace nw::sim {

namespace {

constexpr size_t longest = 128; // instructions from the load to the exchange

constexpr std::string_view leaving[] = {"s_setpc_b64", "s_swappc_b64", "s_call_b64", "s_endpgm"};
constexpr std::string_view loads[] = {"global_load_b32", "global_load_b64", "flat_load_b32",
                                      "flat_load_b64",   "ds_load_b32",     "ds_load_b64"};

bool leaves(std::string_view n) {
    return n.starts_with("s_cbranch") || std::ranges::find(leaving, n) != std::end(leaving);
}

// Comparand of a compare-exchange: `count` dwords of an operand, from `first` on.
struct Expected {
    size_t address; // operand
    size_t operand;
    unsigned first, count;
};

std::optional<Expected> expected_of(const Operation &op, const Target &target) {
    const MemoryOp memory = find_memory_op(op.mnemonic);
    if (memory.atomic != Atomic::compare_exchange)
        return std::nullopt;
    const size_t address = returns_old_value(op, memory) ? 1 : 0;
    const bool lds = op.mnemonic.starts_with("ds_");
    // Memory: the upper half of one tuple. LDS: the second operand, on gfx10 the first.
    const size_t operand = address + (lds && !target.old_names ? 2 : 1);
    if (op.operands.size() <= operand)
        return std::nullopt;
    const unsigned count = memory.registers();
    return Expected{address, operand, lds ? 0 : count, count};
}

// Values from the load on, in instructions one after the other. They are known by their places:
// registers, and slots of scratch memory.
class Guess {
public:
    Guess(const Operand &loaded, const Target &target) : target_(target) {
        for (unsigned n = 0; n < loaded.count; ++n)
            put(RegisterSet::of_vgpr(loaded.reg + n), n);
    }

    enum class Next : u8 { on, compared, seen };
    Next step(const Instruction &inst) {
        const Operation &op = inst.x;
        if (const auto expected = expected_of(op, target_))
            return compares(op, *expected) ? Next::compared : Next::seen;
        if (leaves(op.mnemonic))
            return Next::seen;
        const std::vector<RegisterUse> uses = register_uses(inst);
        if (changes_lanes(op, uses))
            return Next::seen;
        if (const auto spill = spill_of(op, target_)) {
            move(*spill);
            return Next::on;
        }
        const bool reads = std::ranges::any_of(
            uses, [&](const RegisterUse &use) { return !use.write && made_of_load(use); });
        if (reads && !op.mnemonic.starts_with("v_"))
            return Next::seen;
        const std::map<u64, unsigned> before = copies_;
        for (const RegisterUse &use : uses)
            for (unsigned n = 0; use.write && n < use.count; ++n) {
                const bool part = !use.low || !use.high || op.dpp;
                write(use.place(n), reads || (part && made_of_.contains(use.place(n))));
            }
        if (is_widening(op))
            all_lanes_ = RegisterSet::of_sgpr(op.operands[0].reg);
        copy(op, before);
        if (inst.y)
            copy(*inst.y, before);
        return Next::on;
    }

private:
    void put(u64 place, unsigned dword) { copies_[place] = dword, made_of_.insert(place); }

    void write(u64 place, bool of_load) {
        copies_.erase(place);
        if (of_load)
            made_of_.insert(place);
        else
            made_of_.erase(place);
        if (all_lanes_ == place)
            all_lanes_.reset();
    }

    void copy(const Operation &op, const std::map<u64, unsigned> &before) {
        const auto &o = op.operands;
        if ((op.mnemonic != "v_mov_b32" && op.mnemonic != "v_dual_mov_b32") || op.dpp ||
            o.size() != 2 || o[1].kind != Operand::Kind::vgpr)
            return;
        const auto from = before.find(RegisterSet::of_vgpr(o[1].reg));
        if (from != before.end())
            put(RegisterSet::of_vgpr(o[0].reg), from->second);
    }

    bool made_of_load(const RegisterUse &use) const {
        for (unsigned n = 0; n < use.count; ++n)
            if (made_of_.contains(use.place(n)))
                return true;
        return false;
    }

    static bool is_widening(const Operation &op) {
        const auto &o = op.operands;
        return op.mnemonic.starts_with("s_or_saveexec_b") && o.size() == 2 &&
               o[0].kind == Operand::Kind::sgpr && o[1].kind == Operand::Kind::integer &&
               o[1].integer == -1;
    }

    // EXEC may be all lanes for a while, as for the lanes of a register that holds SGPRs.
    bool changes_lanes(const Operation &op, const std::vector<RegisterUse> &uses) {
        const std::string_view n = op.mnemonic;
        if (is_widening(op))
            return all_lanes_.has_value();
        const bool writes = std::ranges::any_of(uses, [](const RegisterUse &use) {
            return use.write && use.bank == RegisterUse::sgpr && use.first >= sreg::exec &&
                   use.first < sreg::scc;
        });
        if (writes && n.starts_with("s_mov_b") && all_lanes_ &&
            op.operands[1].kind == Operand::Kind::sgpr &&
            RegisterSet::of_sgpr(op.operands[1].reg) == *all_lanes_) {
            all_lanes_.reset();
            return false;
        }
        return writes || n.starts_with("v_cmpx_") || n.find("saveexec") != n.npos ||
               n.find("wrexec") != n.npos;
    }

    void move(const Spill &s) {
        for (unsigned n = 0; n < s.count; ++n) {
            u64 from = RegisterSet::of_vgpr(s.vgpr + n), to = s.place(n);
            if (!s.store)
                std::swap(from, to);
            const auto copy = copies_.find(from);
            const std::optional<unsigned> dword =
                copy == copies_.end() ? std::nullopt : std::optional(copy->second);
            write(to, made_of_.contains(from));
            if (dword)
                put(to, *dword);
        }
    }

    bool compares(const Operation &op, const Expected &e) const {
        const Operand &address = op.operands[e.address], &data = op.operands[e.operand];
        for (unsigned n = 0; n < address.count; ++n)
            if (address.kind == Operand::Kind::vgpr &&
                made_of_.contains(RegisterSet::of_vgpr(address.reg + n)))
                return false;
        for (unsigned n = 0; n < e.count; ++n)
            if (const auto copy = copies_.find(RegisterSet::of_vgpr(data.reg + e.first + n));
                copy == copies_.end() || copy->second != n)
                return false;
        return data.kind == Operand::Kind::vgpr && !all_lanes_;
    }

    const Target &target_;
    std::map<u64, unsigned> copies_; // places: which dword of the load
    std::set<u64> made_of_;          // copies and what is computed of them
    std::optional<u64> all_lanes_;   // where EXEC is kept meanwhile
};

// The instruction that follows; none: not known.
size_t after(const Code &code, size_t at) {
    const Instruction &inst = code.instructions[at];
    if (inst.x.mnemonic != "s_branch")
        return at + 1;
    const u32 target =
        code.find(code.base + inst.offset + inst.size + static_cast<u64>(i64{inst.simm16()} * 4));
    return target == Code::none ? code.instructions.size() : target;
}

} // namespace

bool is_guess(const Code &code, size_t load, const Target &target) {
    const Operation &op = code.instructions[load].x;
    if (std::ranges::find(loads, op.mnemonic) == std::end(loads) || op.operands.empty() ||
        op.operands[0].kind != Operand::Kind::vgpr)
        return false;
    Guess guess(op.operands[0], target);
    size_t at = load + 1;
    for (size_t n = 0; n < longest && at < code.instructions.size(); ++n) {
        const Instruction &inst = code.instructions[at];
        if (inst.text.empty())
            return false;
        if (const Guess::Next next = guess.step(inst); next != Guess::Next::on)
            return next == Guess::Next::compared;
        at = after(code, at);
    }
    return false;
}

} // namespace nw::sim
