// SPDX-License-Identifier: MIT
// Loads of a value that only a compare-exchange sees. LLVM's loops for atomics that a target lacks
// begin with a plain load (S-085):
//     global_load_dword v6, v3, s[4:5]
//   .Lagain:
//     v_add_f32 v5, v6, v8
//     global_atomic_cmpswap v5, v[3:4], v[5:6], off glc
// Another wave may change the location in between: then the exchange fails, and nothing but the
// next round depends on what the load got.
#include "sim/check/race_guess.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "sim/isa/uses.h"

namespace nw::sim {

namespace {

constexpr size_t longest = 64; // instructions from the load to the exchange

constexpr std::string_view leaving[] = {"s_branch", "s_setpc_b64", "s_swappc_b64", "s_call_b64",
                                        "s_endpgm"};
constexpr std::string_view loads[] = {
    "global_load_dword", "global_load_dwordx2", "global_load_b32", "global_load_b64",
    "flat_load_dword",   "flat_load_dwordx2",   "flat_load_b32",   "flat_load_b64"};

// Values from the load on, in instructions one after the other.
class Guess {
public:
    explicit Guess(const Operand &loaded) {
        for (unsigned n = 0; n < loaded.count; ++n)
            copies_[loaded.reg + n] = n, made_of_.add(RegisterSet::of_vgpr(loaded.reg + n));
    }

    enum class Next : u8 { on, compared, seen };
    Next step(const Instruction &inst) {
        const Operation &op = inst.x;
        const std::vector<RegisterUse> uses = register_uses(inst);
        if (op.mnemonic.starts_with("global_atomic_cmpswap") ||
            op.mnemonic.starts_with("flat_atomic_cmpswap"))
            return compares(op) ? Next::compared : Next::seen;
        if (op.mnemonic.starts_with("s_cbranch") ||
            std::ranges::find(leaving, op.mnemonic) != std::end(leaving) ||
            std::ranges::any_of(uses, [](const RegisterUse &use) {
                return use.write && use.bank == RegisterUse::sgpr && use.first >= sreg::exec &&
                       use.first < sreg::scc;
            }))
            return Next::seen;
        const bool reads = std::ranges::any_of(
            uses, [&](const RegisterUse &use) { return !use.write && intersects(use); });
        const bool computes = op.mnemonic.starts_with("v_");
        if (reads && !computes)
            return Next::seen;
        const std::map<unsigned, unsigned> before = copies_;
        for (const RegisterUse &use : uses)
            if (use.write && !write(use, reads))
                return Next::seen;
        if (op.mnemonic == "v_mov_b32" && !op.dpp && op.operands.size() == 2)
            if (const auto from = before.find(op.operands[1].reg);
                op.operands[1].kind == Operand::Kind::vgpr && from != before.end())
                copies_[op.operands[0].reg] = from->second;
        return Next::on;
    }

private:
    bool intersects(const RegisterUse &use) const {
        for (unsigned n = 0; n < use.count; ++n)
            if (made_of_.has(use.place(n)))
                return true;
        return false;
    }

    // False if what is made of the load leaves the VGPRs.
    bool write(const RegisterUse &use, bool of_load) {
        if (use.bank == RegisterUse::sgpr)
            return !of_load;
        for (unsigned n = 0; n < use.count; ++n) {
            copies_.erase(use.first + n);
            if (of_load)
                made_of_.add(use.place(n));
            else
                made_of_.remove(use.place(n));
        }
        return true;
    }

    // Whether its upper half of data, what it compares with, is what was loaded.
    bool compares(const Operation &op) const {
        // The address stands there, then the data.
        const size_t at = returns_old_value(op, find_memory_op(op.mnemonic)) ? 1 : 0;
        if (op.operands.size() < at + 2)
            return false;
        const Operand &address = op.operands[at], &data = op.operands[at + 1];
        for (unsigned n = 0; n < address.count; ++n)
            if (address.kind == Operand::Kind::vgpr &&
                made_of_.has(RegisterSet::of_vgpr(address.reg + n)))
                return false;
        for (unsigned n = 0; n < data.count / 2; ++n)
            if (const auto copy = copies_.find(data.reg + data.count / 2 + n);
                copy == copies_.end() || copy->second != n)
                return false;
        return data.count >= 2;
    }

    std::map<unsigned, unsigned> copies_; // VGPR: which dword of the load
    RegisterSet made_of_;                 // copies and what is computed of them
};

} // namespace

bool is_guess(const Code &code, size_t load) {
    const Operation &op = code.instructions[load].x;
    if (std::ranges::find(loads, op.mnemonic) == std::end(loads) || op.operands.empty() ||
        op.operands[0].kind != Operand::Kind::vgpr)
        return false;
    Guess guess(op.operands[0]);
    for (size_t n = load + 1; n < code.instructions.size() && n <= load + longest; ++n) {
        const Instruction &inst = code.instructions[n];
        if (inst.text.empty())
            return false;
        if (const Guess::Next next = guess.step(inst); next != Guess::Next::on)
            return next == Guess::Next::compared;
    }
    return false;
}

} // namespace nw::sim
