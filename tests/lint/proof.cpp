// SPDX-License-Identifier: MIT
#include "lint/proof.h"

#include <algorithm>
#include <array>
#include <vector>

#include "lint/solve.h"
#include "sim/isa/code.h"
#include "sim/isa/tables/memory_ops.h"
#include "sim/isa/uses.h"

namespace nw::lint::test {

namespace {

using namespace sim;

constexpr u32 counters = static_cast<u32>(Counter::count);
constexpr u8 landed = 255, oldest = 64;
constexpr u32 registers = RegisterSet::vgprs + RegisterSet::sgprs;
constexpr u32 lds = registers, memory = registers + 1, places = registers + 2;

struct Pending {
    std::array<std::array<u8, places>, counters> age;
    Pending() {
        for (auto &row : age)
            row.fill(landed);
    }
    void forget() { *this = {}; }
    bool join(const Pending &o) {
        bool news = false;
        for (u32 c = 0; c < counters; ++c)
            for (u32 p = 0; p < places; ++p) {
                news |= o.age[c][p] < age[c][p];
                age[c][p] = std::min(age[c][p], o.age[c][p]);
            }
        return news;
    }
    u32 at(u32 place) const {
        u32 all = 0;
        for (u32 c = 0; c < counters; ++c)
            all |= u32{age[c][place]} << 8 * c;
        return all;
    }
};
constexpr u32 none_pending = ~0u;

// Effects of an instruction, as far as they matter here.
struct Act {
    std::vector<RegisterUse> uses;
    Issues issues;
    WaitLimits limits;
    bool to_lds = false, to_memory = false;       // writes
    bool shows_lds = false, shows_memory = false; // makes its writes visible to others
};

Act act_of(const Instruction &inst, bool gfx12) {
    const Generation generation = gfx12 ? Generation::gfx12 : Generation::gfx11;
    Act a{register_uses(inst), issues(inst, generation), wait_limits(inst, generation)};
    const std::string_view n = inst.x.mnemonic;
    const MemoryOp op = find_memory_op(n);
    const bool writes = op.access != Access::none && !op.loads();
    const bool barrier = n == "s_barrier" || n.starts_with("s_barrier_signal");
    a.to_lds = writes && n.starts_with("ds_");
    a.to_memory = writes && !n.starts_with("ds_") && !n.starts_with("scratch_");
    a.shows_lds = barrier;
    // A store that bypasses the caches may be a flag.
    a.shows_memory = barrier || n.find("_atomic_") != n.npos ||
                     (a.to_memory && (inst.x.has("glc") || inst.x.has("scope")));
    return a;
}

void step(Pending &state, const Act &a) {
    for (u32 c = 0; c < counters; ++c) {
        const bool whole = static_cast<Counter>(c) == Counter::smem; // in any order
        if (const u32 limit = a.limits.limit[c]; !whole || limit == 0)
            for (u8 &age : state.age[c])
                age = age >= limit ? landed : age;
        if (!a.issues.on[c])
            continue;
        for (u8 &age : state.age[c])
            age = age < oldest ? age + 1 : age;
        for (const RegisterUse &use : a.uses)
            for (unsigned n = 0; use.write && n < use.count; ++n)
                state.age[c][use.place(n)] = 0;
        if (a.to_lds)
            state.age[c][lds] = 0;
        if (a.to_memory)
            state.age[c][memory] = 0;
    }
}

// Loads of gfx11, and LDS, write one register in the order in which they were issued.
bool in_order(const Act &a, u32 ages, bool gfx12) {
    for (Counter c : {Counter::lds, Counter::load}) {
        const u32 shift = 8 * static_cast<u32>(c);
        const bool alone = (ages | u32{landed} << shift) == none_pending;
        Issues rest = a.issues;
        rest.on[static_cast<u32>(c)] = false;
        if (alone && a.issues.on[static_cast<u32>(c)] && !rest.any() &&
            (c == Counter::lds || !gfx12))
            return true;
    }
    return false;
}

void look(const Pending &state, u32 i, const Act &a, bool gfx12, Touches &to) {
    for (const RegisterUse &use : a.uses)
        for (unsigned n = 0; n < use.count; ++n) {
            const u32 place = use.place(n), ages = state.at(place);
            if (ages != none_pending && !(use.write && in_order(a, ages, gfx12)))
                to.insert({i, static_cast<u16>(place), use.write, ages});
        }
    if (a.shows_lds && state.at(lds) != none_pending)
        to.insert({i, Touch::lds_written, false, state.at(lds)});
    if (a.shows_memory && state.at(memory) != none_pending)
        to.insert({i, Touch::memory_written, false, state.at(memory)});
}

} // namespace

Touches touches_in_flight(const Flow &flow, bool gfx12) {
    const std::vector<Instruction> &code = flow.code().instructions;
    std::vector<Act> acts(code.size());
    for (u32 i = 0; i < code.size(); ++i)
        if (flow.reaches(i))
            acts[i] = act_of(code[i], gfx12);
    const auto at = solve(flow, Pending{}, [&](Pending &state, u32 i) { step(state, acts[i]); });
    Touches out;
    for (u32 n = 0; n < at.size(); ++n) {
        if (!at[n])
            continue;
        Pending state = *at[n];
        for (u32 i = flow.blocks()[n].first; i < flow.blocks()[n].end; ++i) {
            look(state, i, acts[i], gfx12, out);
            step(state, acts[i]);
        }
    }
    return out;
}

} // namespace nw::lint::test
