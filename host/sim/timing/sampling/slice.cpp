// SPDX-License-Identifier: MIT
#include "sim/timing/sampling/slice.h"

#include <algorithm>

#include "sim/func/launch/launch.h"
#include "sim/isa/tables/memory_ops.h"
#include "sim/isa/uses.h"

namespace nw::sim::timing {

namespace {

using Kind = OpFacts::Kind;

// An instruction as the analysis sees it.
struct Node {
    RegisterSet address; // VGPRs that matter in any case
    RegisterSet data;    // VGPRs that matter if the result does
    RegisterSet writes;
    std::vector<u32> next;
    bool needed = false;     // writes an SGPR or a mode, or isn't of the VALU
    bool overwrites = false; // all of its VGPRs, in active lanes
    bool writes_exec = false;
    bool loads = false, stores = false, lds = false, global = false;
};

bool starts_with_any(std::string_view n, std::initializer_list<const char *> prefixes) {
    return std::ranges::any_of(prefixes, [n](const char *p) { return n.starts_with(p); });
}

// Control flow or registers that depend on a value in a way that isn't followed here.
bool is_opaque(const Instruction &inst) {
    const std::string_view n = inst.x.mnemonic;
    return inst.text.empty() ||
           starts_with_any(n, {"s_setpc", "s_swappc", "s_call", "s_rfe", "s_trap", "v_movrel",
                               "s_movrel", "s_dcache_inv", "image_", "v_illegal", "ds_append",
                               "ds_consume", "ds_ordered", "ds_gws"});
}

// A vector store, or an atomic whose result nobody sees.
bool writes_memory(const OpFacts &f) {
    return f.unit == Unit::vmem && (f.store || (f.atomic && !f.returns));
}

// Lanes or halves of the destination keep what they have.
bool writes_parts(const Operation &op) {
    return op.dpp || op.has("row_mask") || op.mnemonic.starts_with("v_writelane") ||
           op.mnemonic.starts_with("v_permlane") || op.mnemonic.starts_with("v_wmma_f16") ||
           op.mnemonic.starts_with("v_wmma_bf16") || op.mnemonic.starts_with("v_swap");
}

void add_registers(Node &node, const Instruction &inst, const OpFacts &f, const MemoryOp &m) {
    const bool buffer = inst.x.mnemonic.find("buffer_") != std::string_view::npos;
    const size_t data = buffer ? 0 : 1; // operand of a store's data
    bool whole = !writes_parts(inst.x) && !(inst.y && writes_parts(*inst.y));
    for (const RegisterUse &use : register_uses(inst)) {
        if (use.bank == RegisterUse::sgpr) {
            node.needed |= use.write;
            node.writes_exec |=
                use.write && use.first <= sreg::exec + 1 && use.first + use.count > sreg::exec;
            continue;
        }
        if (use.write)
            whole &= use.low && use.high;
        for (unsigned n = 0; n < use.count; ++n)
            (use.write ? node.writes : node.data).add(use.place(n));
    }
    for (const auto &r : f.sgpr_writes)
        node.writes_exec |= r.first == sreg::exec;
    node.needed |= node.writes_exec || f.sgpr_result;
    node.overwrites = whole;
    if (m.access == Access::none)
        return;
    for (size_t n = 0; n < inst.x.operands.size(); ++n) {
        const Operand &o = inst.x.operands[n];
        const bool value = m.loads() ? n == 0 : n == data || (m.two_addresses() && n == data + 1);
        if (o.kind == Operand::Kind::vgpr && !value)
            for (unsigned r = 0; r < o.count; ++r)
                node.address.add(RegisterSet::of_vgpr(o.reg + r));
    }
}

class Slice {
public:
    Slice(const Code &code, const ProgramFacts &facts, u32 entry) : code_(code), facts_(facts) {
        nodes_.resize(code.instructions.size());
        known_ = reach(entry);
        if (known_)
            find_masked();
    }

    std::vector<bool> idle() {
        std::vector<bool> idle(nodes_.size());
        if (!known_)
            return {};
        solve();
        if (loads_lds_) { // what is stored there matters, too
            for (u32 n : order_)
                if (nodes_[n].lds && nodes_[n].stores) {
                    nodes_[n].needed = true;
                    add(nodes_[n].address, nodes_[n].data);
                }
            solve();
        }
        if (loads_own_stores())
            return {};
        for (u32 n : order_)
            idle[n] = !needed(n) && !nodes_[n].global; // whose addresses are checked
        return idle;
    }

private:
    struct Live {
        RegisterSet same;  // read under the same mask
        RegisterSet other; // read behind a change of the mask
    };

    static void add(RegisterSet &to, const RegisterSet &from) { to.add_all(from); }

    // False if there is an instruction that isn't understood.
    bool reach(u32 entry) {
        std::vector<u32> work{entry};
        std::vector<bool> seen(nodes_.size());
        while (!work.empty()) {
            const u32 n = work.back();
            work.pop_back();
            if (n >= nodes_.size())
                return false;
            if (seen[n])
                continue;
            seen[n] = true;
            if (!make(n))
                return false;
            order_.push_back(n);
            work.insert(work.end(), nodes_[n].next.begin(), nodes_[n].next.end());
        }
        std::ranges::sort(order_, std::greater<>());
        return true;
    }

    bool make(u32 n) {
        const Instruction &inst = code_.instructions[n];
        const OpFacts &f = facts_.ops[n];
        if (is_opaque(inst) || f.unknown)
            return false;
        Node &node = nodes_[n];
        const MemoryOp m = find_memory_op(inst.x.mnemonic);
        node.lds = f.unit == Unit::lds || inst.x.mnemonic.starts_with("flat_");
        node.global = f.unit == Unit::vmem;
        node.loads = m.loads();
        node.stores = m.stores() && m.access != Access::none;
        node.needed = f.unit != Unit::valu && f.unit != Unit::vmem && f.unit != Unit::lds;
        add_registers(node, inst, f, m);
        if (writes_memory(f) && !node.lds) { // a store, too, if it is an atomic
            node.stores = true;
        } else if (m.updates()) {
            if (node.global)
                return false;
            node.needed = true;
            loads_lds_ = true;
        }
        if (f.kind == Kind::end)
            return true;
        if (f.kind != Kind::branch || f.conditional)
            node.next.push_back(n + 1);
        if (f.kind == Kind::branch) {
            const auto to = static_cast<i64>(f.next_offset) + 4 * i64{inst.simm16()};
            const u32 target = to < 0 ? Code::none : code_.find(code_.base + static_cast<u64>(to));
            if (target == Code::none)
                return false;
            node.next.push_back(target);
        }
        return true;
    }

    // Instructions before which EXEC may have changed since the kernel's start.
    void find_masked() {
        masked_.resize(nodes_.size());
        std::vector<u32> work;
        for (u32 n : order_)
            if (nodes_[n].writes_exec)
                work.insert(work.end(), nodes_[n].next.begin(), nodes_[n].next.end());
        while (!work.empty()) {
            const u32 n = work.back();
            work.pop_back();
            if (masked_[n])
                continue;
            masked_[n] = true;
            work.insert(work.end(), nodes_[n].next.begin(), nodes_[n].next.end());
        }
    }

    Live after(u32 n) const {
        Live out;
        for (u32 next : nodes_[n].next)
            add(out.same, before_[next].same), add(out.other, before_[next].other);
        return out;
    }

    bool matters(u32 n, const Live &out) const {
        const Node &node = nodes_[n];
        return node.needed || node.writes.intersects(out.same) || node.writes.intersects(out.other);
    }
    bool needed(u32 n) const { return matters(n, after(n)); }

    // Values that matter before each instruction, backwards until nothing changes.
    void solve() {
        before_.resize(nodes_.size());
        for (bool changed = true; changed;) {
            changed = false;
            for (u32 n : order_) {
                const Node &node = nodes_[n];
                Live live = after(n);
                const bool needed = matters(n, live);
                if (node.writes_exec) {
                    add(live.other, live.same);
                    live.same.clear();
                }
                if (node.overwrites) {
                    live.same.remove_all(node.writes);
                    if (!masked_[n])
                        live.other.remove_all(node.writes);
                }
                add(live.same, node.address);
                if (needed && !node.stores)
                    add(live.same, node.data);
                loads_lds_ |= needed && node.lds && node.loads;
                changed |= before_[n].same.add_all(live.same);
                changed |= before_[n].other.add_all(live.other);
            }
        }
    }

    // An address from memory that a store of this launch may precede, or that a wave may wait for.
    bool loads_own_stores() const {
        for (u32 n : order_)
            if (nodes_[n].global && nodes_[n].loads && needed(n))
                for (u32 from : order_)
                    if ((from == n || (nodes_[from].global && nodes_[from].stores)) &&
                        follows(from, n))
                        return true;
        return false;
    }

    bool follows(u32 from, u32 n) const {
        std::vector<bool> seen(nodes_.size());
        std::vector<u32> work = nodes_[from].next;
        while (!work.empty()) {
            const u32 at = work.back();
            work.pop_back();
            if (at == n)
                return true;
            if (seen[at])
                continue;
            seen[at] = true;
            work.insert(work.end(), nodes_[at].next.begin(), nodes_[at].next.end());
        }
        return false;
    }

    const Code &code_;
    const ProgramFacts &facts_;
    std::vector<Node> nodes_;
    std::vector<u32> order_; // reached, last first
    std::vector<bool> masked_;
    std::vector<Live> before_;
    bool known_ = false, loads_lds_ = false;
};

// Its branches go to its own instructions.
std::unique_ptr<Executable> copy_of(const Executable &code) {
    auto copy = std::make_unique<Executable>(code);
    const Inst *begin = code.insts.data(), *end = begin + code.insts.size();
    for (Inst &i : copy->insts)
        if (i.cls == Class::branch && i.target >= begin && i.target < end)
            i.target = copy->insts.data() + (i.target - begin);
    return copy;
}

void pass(Wave &, const Inst &) {}

// The first of a row: the others are recorded here.
void pass_row(Wave &w, const Inst &i) {
    const auto more = static_cast<u32>(i.imm);
    if (w.observed)
        Recorder::trace_of(w).runs.back().count += more;
    for (u32 n = 0; n < more; ++n)
        ++w.counts[w.pc++->tally];
}

} // namespace

std::vector<bool> idle_instructions(const Code &code, const ProgramFacts &facts, u32 entry) {
    return Slice(code, facts, entry).idle();
}

std::unique_ptr<Executable> without_stores(const Executable &code, const ProgramFacts &facts) {
    auto copy = copy_of(code);
    for (size_t n = 0; n < facts.ops.size(); ++n)
        if (writes_memory(facts.ops[n]))
            copy->insts[n].run = pass;
    return copy;
}

std::unique_ptr<Executable> without_idle(const Executable &code, const ProgramFacts &facts,
                                         const std::vector<bool> &idle) {
    auto copy = copy_of(code);
    u32 row = 0; // idle instructions without memory accesses that follow
    for (size_t n = copy->insts.size(); n-- > 0;) {
        Inst &i = copy->insts[n];
        if (n >= idle.size() || !idle[n]) {
            row = 0;
            continue;
        }
        const bool plain = facts.payloads[n] == Payload::none;
        i.run = plain && row ? pass_row : pass;
        i.imm = plain ? static_cast<i32>(row) : i.imm;
        row = plain ? row + 1 : 0;
    }
    return copy;
}

} // namespace nw::sim::timing
