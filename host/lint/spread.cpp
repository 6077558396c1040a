// SPDX-License-Identifier: MIT
#include "lint/spread.h"

#include <algorithm>

#include "sim/isa/tables/memory_ops.h"

namespace nw::lint {

namespace {

using namespace sim;

constexpr i32 whole = -1;

bool is_scalar(const Operand &o) { return o.kind == Operand::Kind::sgpr; }
bool is_integer(const Operand &o) { return o.kind == Operand::Kind::integer; }

Spread most(Spread a, Spread b) { return std::max(a, b); }

// Bitwise operations on masks.
bool combines_masks(std::string_view n) {
    for (std::string_view prefix : {"s_and_", "s_or_", "s_xor_", "s_and_not1_", "s_or_not1_",
                                    "s_not_", "s_mov_", "s_cselect_"})
        if (n.starts_with(prefix))
            return true;
    return false;
}

// Values that other lanes decide, or how many there are.
bool mixes_lanes(const Operation &op) {
    const std::string_view n = op.mnemonic;
    return op.dpp || n.starts_with("v_permlane") || n.starts_with("ds_bpermute") ||
           n.starts_with("ds_permute") || n.starts_with("ds_swizzle");
}

// How the results of a memory instruction differ where its addresses do so.
Spread loaded(const Operation &op, Spread addresses) {
    const MemoryOp memory = find_memory_op(op.mnemonic);
    if (memory.updates())
        return Spread::varying;
    const bool own = op.mnemonic.starts_with("flat_") || op.mnemonic.starts_with("scratch_") ||
                     op.mnemonic.starts_with("buffer_"); // scratch memory, perhaps
    return own ? most(addresses, Spread::unknown) : addresses;
}

} // namespace

Spreads::Spreads(u32 item_id_vgprs) {
    for (u32 v = 0; v < item_id_vgprs; ++v)
        values_[{RegisterSet::of_vgpr(v), whole}] = {.spread = Spread::varying};
    for (u32 s = 0; s < sreg::exec; ++s)
        values_[{RegisterSet::of_sgpr(s), whole}] = {.mask = Spread::varying};
}

bool Spreads::join(const Spreads &o) {
    const auto lost = [&](const auto &v) {
        return v.first.second == whole && !o.values_.contains(v.first);
    };
    bool news = std::erase_if(values_, lost) > 0;
    // A lane that one path has not written, of a register that it knows, is undefined there.
    const auto undefined_in = [](const Spreads &s, Place place) {
        return !s.find(place) && s.find({place.first, whole});
    };
    for (const auto &[place, value] : o.values_)
        if (place.second != whole && !values_.contains(place))
            values_[place] = undefined_in(*this, place) ? value : Value{}, news = true;
    for (auto &[place, mine] : values_) {
        if (undefined_in(o, place))
            continue;
        const Value other = o.get(place), was = mine;
        mine.spread = most(mine.spread, other.spread), mine.mask = most(mine.mask, other.mask);
        mine.aperture &= other.aperture;
        if (mine.constant != other.constant)
            mine.constant.reset();
        if (mine.origin != other.origin)
            mine.origin = 0;
        news |= !(mine == was);
    }
    news |= scc_ && scc_ != o.scc_;
    if (scc_ != o.scc_)
        scc_.reset();
    return news;
}

const Value *Spreads::find(Place place) const {
    const auto at = values_.find(place);
    return at == values_.end() ? nullptr : &at->second;
}

Value Spreads::get(Place place) const {
    const Value *value = find(place);
    return value ? *value : Value{};
}

void Spreads::set(Place place, const Value &value) { values_[place] = value; }

void Spreads::erase(u64 container) {
    values_.erase(values_.lower_bound({container, whole}),
                  values_.lower_bound({container + 1, whole}));
}

Spread Spreads::mask(const Operand &o) const {
    if (is_integer(o))
        return o.integer == 0 || o.integer == -1 ? Spread::uniform : Spread::varying;
    return is_scalar(o) ? get(place_of(o)).mask : Spread::unknown;
}

Spread Spreads::sources(const Fact &fact) const {
    Spread s = Spread::uniform;
    for (const RegisterUse &use : fact.role.uses)
        for (unsigned n = 0; !use.write && use.bank == RegisterUse::vgpr && n < use.count; ++n)
            s = most(s, get({use.place(n), whole}).spread);
    for (const RegisterUse &use : fact.role.masks)
        s = most(s, get({use.place(0), whole}).mask);
    return s;
}

std::vector<Place> Spreads::copies_of(Place place) const {
    std::vector<Place> out{place};
    const u32 origin = get(place).origin;
    for (const auto &[other, value] : values_)
        if (origin && value.origin == origin && other != place)
            out.push_back(other);
    return out;
}

std::optional<Spill> Spreads::slot(const Operation &op, const Target &target) const {
    if (auto spill = spill_of(op, target)) {
        if (const Value base = get({RegisterSet::of_sgpr(spill->base), whole}); base.constant)
            spill->offset += static_cast<i32>(*base.constant), spill->base = sreg::null;
        return spill;
    }
    const MemoryOp memory = find_memory_op(op.mnemonic);
    if (!op.mnemonic.starts_with("flat_") || memory.access == Access::none || memory.updates() ||
        memory.bytes < 4 || op.operands.size() < 2)
        return std::nullopt;
    const Operand &address = op.operands[memory.loads() ? 1 : 0],
                  &data = op.operands[memory.loads() ? 0 : 1];
    const Value low = get({RegisterSet::of_vgpr(address.reg), whole});
    if (data.kind != Operand::Kind::vgpr || !low.constant ||
        !get({RegisterSet::of_vgpr(address.reg + 1), whole}).aperture)
        return std::nullopt;
    return Spill{memory.stores(), data.reg, data.count, sreg::null,
                 static_cast<i32>(*low.constant) + op.value("offset", 0)};
}

// Lanes that are off keep what they had.
void Spreads::move(u64 to, u64 from, Spread exec) {
    const Value old = get({to, whole});
    std::map<Place, Value> moved;
    for (auto at = values_.lower_bound({from, whole});
         at != values_.end() && at->first.first == from; ++at)
        moved[{to, at->first.second}] = at->second;
    erase(to);
    values_.merge(moved);
    const auto all = values_.find({to, whole});
    if (all == values_.end() || exec == Spread::uniform)
        return;
    all->second.spread = most(all->second.spread, exec);
    if (old.constant != all->second.constant)
        all->second.constant.reset();
}

void Spreads::scalar(const Operation &op, u32 index, const Fact &fact, Spread exec) {
    const std::string_view n = op.mnemonic;
    const auto &o = op.operands;
    const auto constant = [&](const Operand &x) -> std::optional<u32> {
        if (is_integer(x))
            return static_cast<u32>(x.integer);
        return is_scalar(x) && x.count == 1 ? get(place_of(x)).constant : std::nullopt;
    };
    const auto mask_of = [&](const Operand &x) { return is_exec(x) ? exec : mask(x); };
    const auto value_of = [&](const Operand &x, unsigned dword) {
        Value v;
        if (is_integer(x)) {
            v.constant = static_cast<u32>(x.integer >> 32 * dword);
            v.mask = mask(x);
        } else if (is_exec(x)) {
            v.mask = exec;
        } else if (is_scalar(x) && x.reg == sreg::private_base) {
            v.aperture = dword == 1;
            v.mask = Spread::varying;
        } else if (is_scalar(x)) {
            v = get({RegisterSet::of_sgpr(x.reg + dword), whole});
        }
        return v;
    };
    Value result{.mask = Spread::varying};
    const Operand *copied = nullptr;
    std::optional<bool> scc =
        fact.writes.has(RegisterSet::of_sgpr(sreg::scc)) ? std::nullopt : scc_;
    if ((n == "s_mov_b32" || n == "s_mov_b64") && o.size() == 2)
        copied = &o[1];
    if (n.starts_with("s_cselect_b") && scc_ && o.size() == 3)
        copied = &o[*scc_ ? 1 : 2];
    if (o.size() == 3 &&
        (n == "s_add_i32" || n == "s_add_u32" || n == "s_add_co_i32" || n == "s_add_co_u32"))
        if (const auto a = constant(o[1]), b = constant(o[2]); a && b)
            result.constant = *a + *b;
    if (n == "s_cmp_lg_u32" || n == "s_cmp_eq_u32")
        if (const auto a = constant(o[0]), b = constant(o[1]); a && b)
            scc = (*a == *b) == (n == "s_cmp_eq_u32");
    // All lanes, or none, whatever the other mask is.
    const bool covered = exec == Spread::uniform && o.size() == 3 &&
                         ((n.starts_with("s_or_b") && (is_exec(o[1]) || is_exec(o[2]))) ||
                          (n.starts_with("s_and_not1_b") && is_exec(o[2])));
    if (covered)
        result.mask = Spread::uniform;
    else if (n.find("saveexec") != n.npos)
        result.mask = exec;
    else if (combines_masks(n)) {
        result.mask = Spread::uniform;
        for (size_t k = 1; k < o.size(); ++k)
            result.mask = most(result.mask, mask_of(o[k]));
    }
    result.origin = index + 1;
    std::vector<Value> values;
    for (const RegisterUse &use : fact.role.uses)
        for (unsigned r = 0; use.write && use.bank == RegisterUse::sgpr && r < use.count; ++r)
            values.push_back(copied ? value_of(*copied, r) : result);
    size_t next = 0;
    for (const RegisterUse &use : fact.role.uses)
        for (unsigned r = 0; use.write && use.bank == RegisterUse::sgpr && r < use.count; ++r) {
            Value &v = values[next++];
            if (v.origin == 0)
                v.origin = index + 1;
            set({use.place(r), whole}, v);
        }
    scc_ = scc;
}

void Spreads::step(const Instruction &inst, u32 index, const Fact &fact, const Target &target,
                   Spread exec) {
    const Operation &op = inst.x;
    const std::string_view n = op.mnemonic;
    const auto &o = op.operands;
    for (auto &[place, value] : values_)
        if (value.origin == index + 1)
            value.origin = 0;
    if (const auto spill = slot(op, target)) {
        for (unsigned r = 0; r < spill->count; ++r) {
            const u64 vgpr = RegisterSet::of_vgpr(spill->vgpr + r), memory = spill->place(r);
            spill->store ? move(memory, vgpr, exec) : move(vgpr, memory, exec);
        }
        return;
    }
    const bool to_lane = n == "v_writelane_b32", from_lane = n == "v_readlane_b32";
    if ((to_lane || from_lane) && o.size() == 3 && is_integer(o[2])) {
        const Place lane{RegisterSet::of_vgpr(o[to_lane ? 0 : 1].reg),
                         static_cast<i32>(o[2].integer)};
        if (to_lane) {
            values_.try_emplace({lane.first, whole});
            set(lane, is_integer(o[1])
                          ? Value{.mask = mask(o[1]), .constant = static_cast<u32>(o[1].integer)}
                      : is_exec(o[1]) ? Value{.mask = exec}
                                      : get(place_of(o[1])));
        } else {
            // A lane that nothing wrote is undefined: a loop's mask before its first round.
            const bool undefined = !find(lane) && find({lane.first, whole});
            set(place_of(o[0]), undefined ? Value{.mask = Spread::uniform} : get(lane));
        }
        return;
    }
    if (fact.role.unit == HazardRole::salu)
        return scalar(op, index, fact, exec);

    const bool memory = find_memory_op(n).access != Access::none;
    Spread s = most(sources(fact), exec);
    if (memory)
        s = loaded(op, s);
    if (n.starts_with("v_mbcnt"))
        s = Spread::varying;
    if (mixes_lanes(op))
        s = most(s, Spread::unknown);
    Value value{.spread = s};
    if (n == "v_mov_b32" && !op.dpp && o.size() == 2) {
        const Value from = is_integer(o[1]) ? Value{.constant = static_cast<u32>(o[1].integer)}
                                            : get(place_of(o[1]));
        value.constant = from.constant, value.aperture = from.aperture;
    }
    // Masks of a comparison or of carries; else scalars.
    const bool masks = n.starts_with("v_") && !n.starts_with("v_read");
    for (const RegisterUse &use : fact.role.uses)
        for (unsigned r = 0; use.write && r < use.count; ++r) {
            erase(use.place(r));
            set({use.place(r), whole},
                use.bank == RegisterUse::vgpr
                    ? value
                    : Value{.mask = masks ? s : Spread::varying, .origin = index + 1});
        }
}

} // namespace nw::lint
