// SPDX-License-Identifier: MIT
#include "sim/func/init_check.h"

#include <algorithm>
#include <fmt/format.h>

#include "sim/func/launch.h"
#include "sim/isa/memory_ops.h"

namespace nw::sim {

namespace {

// What uninitialised bits are replaced by, to see whether it matters: extremes of integers and of
// floats, and something without a pattern. The first one is the base that others are held against.
constexpr u32 patterns[] = {0, ~0u, 0x3a5c96f1, 0x7fffffff, 0x80000000, 0x7f7fffff, 0xff7fffff};
// Then the value of src0, then of src1: equal operands are what a comparison may depend on.
constexpr unsigned trials = std::size(patterns) + 2;

// Dword `element` of the source in one lane, as the wave has it now.
u32 value_of(const Wave &w, const Source &s, unsigned element, unsigned half, unsigned lane) {
    element = std::min<unsigned>(element, s.rows - 1u);
    switch (s.kind) {
    case Source::vgpr:
        return w.v[half * vgpr_count + s.at + element].lane[lane];
    case Source::sgpr:
        return w.s[s.at + element];
    default:
        return w.constants[s.at + element].lane[0];
    }
}

u32 filling(const Wave &w, const Inst &i, unsigned trial, unsigned element, unsigned half = 0,
            unsigned lane = 0) {
    if (trial < std::size(patterns))
        return patterns[trial];
    unsigned n = trial - static_cast<unsigned>(std::size(patterns));
    if (i.cls == Class::salu && i.src[n].kind == Source::constant && i.src[n].value == 0)
        return static_cast<u32>(i.imm); // SOPK's constant
    return value_of(w, i.src[n], element, half, lane);
}

} // namespace

InitFacts::InitFacts(const Code &code) {
    uses.reserve(code.instructions.size());
    for (const Instruction &inst : code.instructions)
        uses.push_back(inst.text.empty() ? std::vector<RegisterUse>() : register_uses(inst));
}

void InitCheck::reset(const Wave &w) {
    halves_ = w.halves;
    v_.assign(size_t{halves_} * vgpr_count, Row{});
    for (unsigned reg = 0; reg < vgpr_count; ++reg) {
        for (unsigned half = 0; half < halves_; ++half)
            for (unsigned l = 0; l < row_lanes; ++l) {
                bool id = reg == 0 && (w.exec(half) >> l & 1); // the work-item id
                shadow(reg, half).lane[l] = id ? 0 : ~0u;
            }
        note(reg);
    }
    for (unsigned reg = 0; reg < slot::count; ++reg)
        s_[reg] = w.s[reg] == poison && reg < sreg::null ? ~0u : 0;
    s_[sreg::m0] = s_[sreg::scc] = ~0u;
    scratch_.assign(size_t{w.scratch_bytes} * row_lanes * halves_, 0xff);
    trial_.resize(v_.size());
}

void InitCheck::note(unsigned reg) {
    u32 any = 0;
    for (unsigned half = 0; half < halves_; ++half)
        for (u32 bits : shadow(reg, half).lane)
            any |= bits;
    dirty_[reg] = any != 0;
}

bool InitCheck::is_dirty(const std::vector<RegisterUse> &uses, bool scc) const {
    for (const RegisterUse &use : uses)
        for (unsigned reg = use.first; reg < use.first + unsigned{use.count}; ++reg)
            if (use.bank == RegisterUse::vgpr ? dirty_[reg & 255] : s_[reg] != 0)
                return true;
    return scc && s_[sreg::scc];
}

void InitCheck::step(const Wave &w, const Inst &i) {
    if (i.index >= facts_->uses.size())
        return;
    const std::vector<RegisterUse> &uses = facts_->uses[i.index];
    switch (i.cls) {
    case Class::valu:
    case Class::vopd:
    case Class::trans:
    case Class::wmma:
    case Class::salu:
        if (is_dirty(uses, i.cls == Class::salu))
            differ(w, i, uses);
        break;
    case Class::smem:
    case Class::vmem_load:
    case Class::vmem_store:
    case Class::lds:
        memory(w, i);
        break;
    case Class::branch:
        branch(w, i);
        break;
    default:
        break;
    }
}

// ---- instructions that compute ------------------------------------------------------------------

// trial_ and `trial` become the wave with its uninitialised bits filled in.
void InitCheck::fill(Wave &trial, const Wave &w, const Inst &i, unsigned number,
                     const std::vector<RegisterUse> &uses) {
    for (const RegisterUse &use : uses) {
        if (use.bank == RegisterUse::sgpr)
            continue;
        for (unsigned n = 0; n < use.count; ++n)
            for (unsigned half = 0; half < halves_; ++half) {
                unsigned reg = (use.first + n) & 255;
                const u32 *real = w.v[half * vgpr_count + reg].lane, *bits = shadow(reg, half).lane;
                for (unsigned l = 0; l < row_lanes; ++l)
                    trial.row(reg, half)[l] =
                        (real[l] & ~bits[l]) | (filling(w, i, number, n, half, l) & bits[l]);
            }
    }
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; use.bank == RegisterUse::sgpr && n < use.count; ++n) {
            unsigned reg = use.first + n;
            trial.s[reg] = (w.s[reg] & ~s_[reg]) | (filling(w, i, number, n) & s_[reg]);
        }
    if (s_[sreg::scc])
        trial.s[sreg::scc] = number & 1;
}

void InitCheck::differ(const Wave &w, const Inst &i, const std::vector<RegisterUse> &uses) {
    std::vector<u16> vgprs;
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; use.bank == RegisterUse::vgpr && n < use.count; ++n)
            vgprs.push_back((use.first + n) & 255);
    std::vector<Row> base, differing(vgprs.size() * halves_, Row{});
    u32 base_s[slot::count], differing_s[slot::count] = {};
    for (unsigned number = 0; number < trials; ++number) {
        Wave trial = w;
        trial.v = trial_.data();
        fill(trial, w, i, number, uses);
        i.run(trial, i);
        size_t at = 0;
        for (u16 reg : vgprs)
            for (unsigned half = 0; half < halves_; ++half, ++at) {
                const Row &now = trial.v[half * vgpr_count + reg];
                if (number == 0)
                    base.push_back(now);
                for (unsigned l = 0; l < row_lanes; ++l)
                    differing[at].lane[l] |= now.lane[l] ^ base[at].lane[l];
            }
        if (number == 0)
            std::copy(std::begin(trial.s), std::end(trial.s), base_s);
        for (unsigned reg = 0; reg < slot::count; ++reg)
            differing_s[reg] |= trial.s[reg] ^ base_s[reg];
    }
    size_t at = 0;
    for (u16 reg : vgprs) {
        for (unsigned half = 0; half < halves_; ++half)
            shadow(reg, half) = differing[at++];
        note(reg);
    }
    for (const RegisterUse &use : uses)
        for (unsigned n = 0; use.bank == RegisterUse::sgpr && n < use.count; ++n)
            s_[use.first + n] = differing_s[use.first + n];
    for (unsigned implied : {sreg::scc, sreg::exec, static_cast<u16>(sreg::exec + 1)})
        s_[implied] = differing_s[implied];
    if (s_[sreg::exec] || (halves_ == 2 && s_[sreg::exec + 1]))
        report(w, i, "the new EXEC", "a lane mask");
}

void InitCheck::branch(const Wave &w, const Inst &i) {
    std::string_view name = w.context->code.code->instructions[i.index].x.mnemonic;
    if (name.starts_with("s_cbranch_scc"))
        require_sgpr(w, i, sreg::scc, "a branch condition");
    if (name.starts_with("s_cbranch_vcc"))
        for (unsigned half = 0; half < halves_; ++half)
            require_sgpr(w, i, sreg::vcc + half, "a branch condition");
    if (name == "s_setpc_b64" || name == "s_swappc_b64") {
        require_sgpr(w, i, i.src[0].at, "a jump target");
        require_sgpr(w, i, i.src[0].at + 1, "a jump target");
    }
    if (name == "s_swappc_b64" || name == "s_call_b64")
        s_[i.dst] = s_[i.dst + 1] = 0;
}

// ---- memory
// ---------------------------------------------------------------------------------------

void InitCheck::memory(const Wave &w, const Inst &i) {
    auto require_source = [&](const Source &s, const char *purpose) {
        for (unsigned r = 0; r < s.rows; ++r)
            if (s.kind == Source::sgpr)
                require_sgpr(w, i, s.at + r, purpose);
            else if (s.kind == Source::vgpr)
                require_vgpr(w, i, s.at + r, purpose);
    };
    if (i.cls == Class::smem) {
        require_source(i.src[0], "an address");
        require_source(i.src[1], "an address");
        for (unsigned r = 0; r < i.dst_rows; ++r)
            s_[i.dst + r] = 0;
        return;
    }
    const MemoryAccess &a = *i.access;
    if (a.exchanges_lanes) { // registers only
        if (i.run != run_ds_swizzle)
            require_source(a.address, "an address");
        if (is_dirty(facts_->uses[i.index], false))
            differ(w, i, facts_->uses[i.index]);
        return;
    }
    require_source(a.address, "an address");
    require_source(a.base, "an address");
    bool leaves = a.space == Space::global; // flat: decided per lane in transfer()
    unsigned registers = a.op.registers();
    u32 bits = a.op.extend == Extend::high_zero ? (a.op.bytes == 1 ? 0xff0000u : 0xffff0000u)
               : a.op.bytes == 1                ? 0xffu
               : a.op.bytes == 2                ? 0xffffu
                                                : ~0u;
    bool two_values = a.op.atomic == Atomic::compare_exchange || a.op.atomic == Atomic::mask_or;
    if (leaves && !a.op.loads())
        for (unsigned r = 0; r < registers; ++r) {
            require_vgpr(w, i, a.data + r, "a value stored to memory", bits);
            if (two_values)
                require_vgpr(w, i, a.data2 + r, "a value stored to memory", bits);
        }
    for (unsigned half = 0; half < halves_; ++half)
        for (u32 rest = w.exec(half); rest; rest &= rest - 1) {
            auto l = static_cast<unsigned>(__builtin_ctz(rest));
            if (a.op.loads()) {
                transfer(w, i, half, l, a.offset, a.result, true);
                if (a.op.two_addresses())
                    transfer(w, i, half, l, a.offset2, a.result + registers, true);
            } else if (!leaves) {
                if (a.returns)
                    transfer(w, i, half, l, a.offset, a.result, true);
                transfer(w, i, half, l, a.offset, a.data, false);
                if (a.op.two_addresses())
                    transfer(w, i, half, l, a.offset2, a.data2, false);
            } else if (a.returns) {
                for (unsigned r = 0; r < registers; ++r)
                    shadow(a.result + r, half).lane[l] = 0;
            }
        }
    if (a.returns)
        for (unsigned r = 0; r < registers * (a.op.two_addresses() ? 2 : 1); ++r)
            note(a.result + r);
}

// One lane's bytes between a register's shadow and the shadow of LDS or scratch. Memory proper is
// taken as initialised.
void InitCheck::transfer(const Wave &w, const Inst &i, unsigned half, unsigned lane, i64 offset,
                         unsigned reg, bool load) {
    const MemoryAccess &a = *i.access;
    auto vgpr = [&](unsigned r) { return w.v[half * vgpr_count + r].lane[lane]; };
    u8 *place = nullptr;
    size_t size = 0;
    u64 at = 0;
    bool shared = a.space == Space::lds, local = a.space == Space::scratch;
    if (a.space == Space::flat) {
        u32 high = vgpr(a.address.at + 1);
        shared = high == shared_aperture;
        local = high == private_aperture;
    }
    if (shared || local) {
        at = (a.address.kind == Source::vgpr ? vgpr(a.address.at) : 0u) + static_cast<u64>(offset) +
             (local && a.base.kind == Source::sgpr ? w.s[a.base.at] : 0u);
        at = local ? static_cast<u32>(at) + u64{half * row_lanes + lane} * w.scratch_bytes : at;
        place = shared ? shared_->lds.data() : scratch_.data();
        size = shared ? shared_->lds.size() : scratch_.size();
    }
    unsigned bytes = a.op.bytes == 8 ? 8 : a.op.bytes * a.op.elements;
    bool high_half = a.op.extend >= Extend::high_zero;
    bool low_half = a.op.extend == Extend::low_zero || a.op.extend == Extend::low_sign;
    u32 words[4] = {};
    unsigned registers = std::max(1u, bytes / 4);
    if (!load) {
        for (unsigned r = 0; r < registers; ++r)
            words[r] = shadow(reg + r, half).lane[lane] >> (high_half ? 16 : 0);
        if (!place && (words[0] | words[1] | words[2] | words[3]))
            report(w, i, fmt::format("v{} of lane {}", reg, lane), "a value stored to memory");
        if (place && at + bytes <= size) // out of range: the access itself faults
            std::memcpy(place + at, words, bytes);
        return;
    }
    if (place && at + bytes <= size)
        std::memcpy(words, place + at, bytes);
    for (unsigned r = 0; r < registers; ++r) {
        u32 &s = shadow(reg + r, half).lane[lane];
        u32 value = bytes < 4 && words[r] ? ~0u : words[r];
        s = high_half  ? (s & 0xffff) | value << 16
            : low_half ? (s & 0xffff0000) | (value & 0xffff)
                       : value;
    }
}

// ---- reports
// --------------------------------------------------------------------------------------

void InitCheck::require_vgpr(const Wave &w, const Inst &i, unsigned reg, const char *purpose,
                             u32 bits) {
    if (!dirty_[reg])
        return;
    for (unsigned half = 0; half < halves_; ++half)
        for (u32 rest = w.exec(half); rest; rest &= rest - 1) {
            auto l = static_cast<unsigned>(__builtin_ctz(rest));
            if (shadow(reg, half).lane[l] & bits)
                report(w, i, fmt::format("v{} of lane {}", reg, l + half * row_lanes), purpose);
        }
}

void InitCheck::require_sgpr(const Wave &w, const Inst &i, unsigned reg, const char *purpose) {
    if (!s_[reg])
        return;
    std::string name = reg == sreg::scc   ? "SCC"
                       : reg == sreg::vcc ? "VCC"
                       : reg == sreg::m0  ? "m0"
                                          : fmt::format("s{}", reg);
    report(w, i, name, purpose);
}

void InitCheck::report(const Wave &w, const Inst &i, const std::string &what, const char *purpose) {
    fault(w, i, Fault::Kind::checker,
          fmt::format("init: {} is computed from registers or LDS that nothing has written, and is "
                      "used as {}",
                      what, purpose));
}

} // namespace nw::sim
