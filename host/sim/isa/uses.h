// SPDX-License-Identifier: MIT
// The registers an instruction reads and writes, and the counters it increments or waits for.
#pragma once
#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/targets.h"
#include "sim/isa/instruction.h"
#include "sim/isa/register_set.h"
#include "sim/isa/tables/memory_ops.h"

namespace nw::sim {

struct RegisterUse {
    enum Bank : u8 { vgpr, sgpr };
    Bank bank = vgpr;
    bool write = false; // else it is read
    u16 first = 0, count = 1;
    // For a VGPR, the halves that are accessed: a d16 load preserves the other one.
    bool low = true, high = true;

    // Place of its n-th register in a RegisterSet.
    unsigned place(unsigned n) const {
        return bank == vgpr ? RegisterSet::of_vgpr(first + n) : RegisterSet::of_sgpr(first + n);
    }
};

// True if they share a register; two halves of a VGPR are two registers.
inline bool overlap(const RegisterUse &a, const RegisterUse &b) {
    return a.bank == b.bank && a.first < b.first + b.count && b.first < a.first + a.count &&
           ((a.low && b.low) || (a.high && b.high));
}

// A set of registers with the halves of VGPRs apart. SGPRs are in both.
struct RegisterHalves {
    RegisterSet low, high;

    void add(const RegisterUse &use) {
        for (unsigned n = 0; n < use.count; ++n) {
            if (use.low)
                low.add(use.place(n));
            if (use.high)
                high.add(use.place(n));
        }
    }
    void remove(const RegisterUse &use) {
        for (unsigned n = 0; n < use.count; ++n) {
            if (use.low)
                low.remove(use.place(n));
            if (use.high)
                high.remove(use.place(n));
        }
    }
    // Any half of those that the use has of its n-th register.
    bool has(const RegisterUse &use, unsigned n) const {
        return (use.low && low.has(use.place(n))) || (use.high && high.has(use.place(n)));
    }
    bool add_all(const RegisterHalves &o) {
        const bool fresh = low.add_all(o.low);
        return high.add_all(o.high) || fresh;
    }
};

// Explicit operands, accumulators, and VCC and SCC where they are implied. Implied EXEC and M0 are
// not listed: no memory instruction returns into them.
std::vector<RegisterUse> register_uses(const Instruction &);
std::vector<RegisterUse> register_uses(const Operation &);
RegisterSet registers(const std::vector<RegisterUse> &);

// Whether an atomic returns the previous value.
bool returns_old_value(const Operation &, const MemoryOp &);

// Counters of outstanding memory instructions and exports, by content, for all generations. gfx10
// and gfx11 merge lds and smem into lgkmcnt, load, sample and bvh into vmcnt; store is vscnt. The
// simulator runs the instructions of the first five.
enum class Counter : u8 { load, store, lds, smem, sample, exp, bvh, count };
inline constexpr unsigned simulated_counters = 5;

// The counters that issuing the instruction increments; flat ones increment two.
struct Issues {
    // Kinds of loads from memory: those of two kinds return in no order.
    enum Kind : u8 { plain, sampler, ray };
    bool on[static_cast<int>(Counter::count)] = {};
    Kind kind = plain;
    bool any() const { return std::ranges::find(on, true) != std::end(on); }
};
Issues issues(const Instruction &, Generation);

// True if the results of two loads reach a register in the order of issue (H-010).
bool return_in_order(const Issues &older, const Issues &younger, const Target &);

// True if an instruction must not use these registers while `load`, which writes `loaded`, is in
// flight. A load into half of a VGPR may write all of it from gfx11 on (H-028).
bool clashes(const RegisterUse &loaded, const Issues &load, const RegisterUse &use,
             const Issues &user, const Target &);

// A load that writes LDS, when vmcnt counts it (gfx10).
bool loads_to_lds(const Operation &);

// The barrier whose s_barrier_wait brings SCC of s_barrier_signal_isfirst, which else comes by
// kmcnt: of either of the two, unless M0 names it.
struct IsFirst {
    std::optional<i64> signalled, awaited;
};
IsFirst is_first(const Operation &);

// How many may be outstanding after a wait instruction; `unlimited` if it doesn't wait.
struct WaitLimits {
    static constexpr u32 unlimited = ~0u;
    u32 limit[static_cast<int>(Counter::count)];
    WaitLimits() { std::ranges::fill(limit, unlimited); }
};
WaitLimits wait_limits(const Instruction &, Generation);

// How many of a kind may be unfinished after s_waitcnt_depctr or s_wait_alu; a full field doesn't
// wait.
struct AluLimits {
    static constexpr u8 all_va = 15, all_vm = 7;
    u8 va_vdst = all_va, va_sdst = 7, va_vcc = 1; // vector instructions, by what they write
    u8 vm_vsrc = all_vm;                          // memory instructions that have not read VGPRs
    u8 sa_sdst = 1;                               // scalar instructions
};
// Empty for other instructions.
std::optional<AluLimits> alu_limits(const Instruction &);

} // namespace nw::sim
