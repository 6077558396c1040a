// SPDX-License-Identifier: MIT
// The rows of control.inc: branches, barriers, hardware registers.
#include <fmt/format.h>

#include "sim/func/alu/salu.h"
#include "sim/func/launch/barrier.h"
#include "sim/func/launch/clock.h"
#include "sim/func/launch/launch.h"
#include "sim/isa/hazards/expert_mode.h"
#include "sim/isa/relative_move.h"

namespace nw::sim {

namespace {

void nop(Wave &, const Inst &) {}

// ---- branches
// ------------------------------------------------------------------------------------

void branch(Wave &w, const Inst &i) { w.pc = i.target; }
void branch_if(Wave &w, const Inst &i, bool taken) { w.pc = taken ? i.target : w.pc; }
u64 vcc(const Wave &w) {
    return w.s[sreg::vcc] | (w.halves == 2 ? u64{w.s[sreg::vcc + 1]} << 32 : 0);
}
void branch_scc0(Wave &w, const Inst &i) { branch_if(w, i, !w.scc()); }
void branch_scc1(Wave &w, const Inst &i) { branch_if(w, i, w.scc()); }
void branch_vccz(Wave &w, const Inst &i) { branch_if(w, i, vcc(w) == 0); }
void branch_vccnz(Wave &w, const Inst &i) { branch_if(w, i, vcc(w) != 0); }
void branch_execz(Wave &w, const Inst &i) { branch_if(w, i, w.exec_mask() == 0); }
void branch_execnz(Wave &w, const Inst &i) { branch_if(w, i, w.exec_mask() != 0); }

u64 next_pc(const Wave &w, const Inst &i) {
    const Executable &e = w.context->code;
    const Instruction &inst = e.code->instructions[i.index];
    return e.code->base + inst.offset + inst.size;
}

void jump(Wave &w, const Inst &i, u64 target) {
    const Executable &e = w.context->code;
    u32 index = e.code->find(target & ~u64{3});
    if (index == Code::none)
        fault(
            w, i, Fault::Kind::illegal_instruction,
            fmt::format("jump out of code: the target 0x{:x} is not an instruction of this program",
                        target));
    w.pc = &e.insts[index];
}

u64 pair(const Wave &w, const Source &s) { return w.s[s.at] | u64{w.s[s.at + 1]} << 32; }
void set_pair(Wave &w, unsigned reg, u64 value) {
    w.s[reg] = static_cast<u32>(value);
    w.s[reg + 1] = static_cast<u32>(value >> 32);
}
void setpc(Wave &w, const Inst &i) { jump(w, i, pair(w, i.src[0])); }
void getpc(Wave &w, const Inst &i) { set_pair(w, i.dst, next_pc(w, i)); }
void swappc(Wave &w, const Inst &i) {
    u64 target = pair(w, i.src[0]);
    set_pair(w, i.dst, next_pc(w, i));
    jump(w, i, target);
}
void call(Wave &w, const Inst &i) {
    set_pair(w, i.dst, next_pc(w, i));
    jump(w, i, next_pc(w, i) + static_cast<u64>(i64{i.imm} * 4));
}

void endpgm(Wave &w, const Inst &) { w.state = State::ended; }
void code_end(Wave &w, const Inst &i) {
    fault(
        w, i, Fault::Kind::illegal_instruction,
        "illegal instruction: s_code_end marks the end of the code, s_endpgm is missing before it");
}

// ---- subvector loops: the low half of EXEC first, then the high half. D saves the inactive half.

void set_half_exec(Wave &w, unsigned half, u32 value) { w.s[sreg::exec + half] = value; }

void subvector_loop_begin(Wave &w, const Inst &i) {
    u32 low = w.s[sreg::exec], high = w.s[sreg::exec + 1];
    if (low == 0 && high == 0) {
        w.pc = i.target;
    } else if (low == 0) {
        w.s[i.dst] = low;
    } else {
        w.s[i.dst] = high;
        set_half_exec(w, 1, 0);
    }
}
void subvector_loop_end(Wave &w, const Inst &i) {
    u32 kept = w.s[i.dst];
    if (w.s[sreg::exec + 1] != 0) { // the high half has just run
        set_half_exec(w, 0, kept);
    } else if (kept != 0) {
        w.s[i.dst] = w.s[sreg::exec];
        set_half_exec(w, 0, 0);
        set_half_exec(w, 1, kept);
        w.pc = i.target;
    }
}

// ---- halting: nothing resumes the wave

[[noreturn]] void halt(Wave &w, const Inst &i) {
    fault(w, i, Fault::Kind::endless, "endless: the wave halts itself, and nothing resumes it");
}
void sethalt(Wave &w, const Inst &i) {
    if (i.imm & 1)
        halt(w, i);
}
void setkill(Wave &w, const Inst &i) {
    if (i.imm & 1)
        w.state = State::ended;
}

// ---- SGPRs chosen by M0

void move_relative(Wave &w, const Inst &i, const RelativeMove &move, u32 count) {
    const RelativeMove::Registers at =
        move.registers(w.s[sreg::m0], i.src[0].at, i.dst, count, selected_sgprs);
    for (u32 n = 0; at.exist && n < count; ++n)
        w.s[at.destination + n] = i.src[0].kind == Source::constant
                                      ? w.constants[i.src[0].at + n].lane[0]
                                      : w.s[at.source + n];
}
void movrels_b32(Wave &w, const Inst &i) { move_relative(w, i, relative::scalar_from, 1); }
void movrels_b64(Wave &w, const Inst &i) { move_relative(w, i, relative::scalar_from, 2); }
void movreld_b32(Wave &w, const Inst &i) { move_relative(w, i, relative::scalar_to, 1); }
void movreld_b64(Wave &w, const Inst &i) { move_relative(w, i, relative::scalar_to, 2); }
void movrelsd_2_b32(Wave &w, const Inst &i) { move_relative(w, i, relative::apart, 1); }

// ---- hardware registers (4.8 to 4.12) ---------------------------------------------------------

enum Hwreg : u32 {
    hw_mode = 1,
    hw_status = 2,
    hw_state_priv = 4,
    hw_gpr_alloc = 5,
    hw_lds_alloc = 6,
    hw_sh_mem_bases = 15,
    hw_flat_scratch = 20,
    hw_flat_scratch_high = 21,
    hw_id1 = 23,
    hw_id2 = 24,
    hw_sched_mode = 26,
    hw_cycles = 29,
    hw_cycles_high = 30
};

u32 read_hwreg(Wave &w, const Inst &i, u32 id) {
    const Target &target = *w.context->device.target;
    bool gfx12 = w.mode.gfx12;
    switch (id) {
    case hw_mode:
        return w.mode.bits;
    case hw_status:
        return w.scc() | (w.exec_mask() == 0) << 9 | (vcc(w) == 0) << 10 | 1 << 11;
    case hw_state_priv:
        if (gfx12)
            return w.scc() << 9;
        break;
    case hw_lds_alloc:
        return static_cast<u32>(w.group->lds.size() / 1024) << 12;
    case hw_sh_mem_bases:
        if (!gfx12)
            return (shared_aperture >> 16) << 16 | private_aperture >> 16;
        break;
    case hw_flat_scratch:
    case hw_flat_scratch_high:
        if (!target.own_scratch)
            return w.flat_scratch[id - hw_flat_scratch];
        break;
    case hw_sched_mode:
        if (gfx12)
            return w.sched_mode;
        break;
    case hw_id1:
        return w.number & 31;
    case hw_id2:
        return 0;
    case hw_cycles:
        if (target.clock_bits == 0)
            break;
        return static_cast<u32>(shader_clock(w, i)) & (gfx12 ? ~0u : 0xfffffu);
    case hw_cycles_high:
        if (gfx12)
            return static_cast<u32>(shader_clock_upper(w) >> 32);
        break;
    default:
        break;
    }
    fault(w, i, Fault::Kind::illegal_instruction,
          fmt::format("hardware register {} can't be read here", id));
}

struct Field {
    u32 id, offset, mask; // mask: `size` ones
};
Field field(const Inst &i) {
    auto imm = static_cast<u32>(i.imm);
    u32 size = (imm >> 11 & 31) + 1;
    return {imm & 63, imm >> 6 & 31, size == 32 ? ~0u : (1u << size) - 1};
}

void set_mode(Wave &w, u32 bits) {
    w.mode.bits = bits;
    w.mode.update();
    set_mxcsr(w.mode.mxcsr32);
}

// Modes 0 and 2 are known: results are the same, and what 2 leaves to the program the wait check
// follows (H-029). Of others nothing is published.
void set_sched_mode(Wave &w, const Inst &i, const Field &f, u32 value) {
    const u32 mask = f.mask << f.offset;
    const u32 mode = (w.sched_mode & ~mask) | ((value << f.offset) & mask);
    if (mode != 0 && mode != expert_mode)
        fault(w, i, Fault::Kind::illegal_instruction,
              fmt::format("SCHED_MODE {} may leave more dependencies to the program than is known; "
                          "set it to 0 or {} (H-029)",
                          mode, expert_mode));
    w.sched_mode = mode;
}

void getreg(Wave &w, const Inst &i) {
    Field f = field(i);
    w.s[i.dst] = read_hwreg(w, i, f.id) >> f.offset & f.mask;
}
void setreg(Wave &w, const Inst &i) {
    Field f = field(i);
    u32 value = i.src[0].kind == Source::sgpr ? w.s[i.src[0].at] : i.src[0].value;
    if (f.id == hw_mode) {
        u32 mask = f.mask << f.offset;
        return set_mode(w, (w.mode.bits & ~mask) | ((value << f.offset) & mask));
    }
    if (!w.context->device.target->own_scratch && f.id / 2 == hw_flat_scratch / 2) {
        u32 &word = w.flat_scratch[f.id - hw_flat_scratch];
        const u32 mask = f.mask << f.offset;
        word = (word & ~mask) | ((value << f.offset) & mask);
        return;
    }
    if (f.id == hw_sched_mode && w.mode.gfx12)
        return set_sched_mode(w, i, f, value);
    fault(w, i, Fault::Kind::illegal_instruction,
          fmt::format("hardware register {} can't be written by a kernel", f.id));
}
void round_mode(Wave &w, const Inst &i) {
    set_mode(w, (w.mode.bits & ~0xfu) | (static_cast<u32>(i.imm) & 0xf));
}
void denorm_mode(Wave &w, const Inst &i) {
    set_mode(w, (w.mode.bits & ~0xf0u) | (static_cast<u32>(i.imm) & 0xf) << 4);
}

void sendmsg(Wave &w, const Inst &i) {
    constexpr i32 interrupt = 1, dealloc_vgprs = 3;
    const bool deallocs = w.context->device.target->dealloc_vgprs;
    if (i.imm != interrupt && !(i.imm == dealloc_vgprs && deallocs))
        fault(w, i, Fault::Kind::illegal_instruction,
              fmt::format("message {} is not for compute kernels", i.imm));
}
void sendmsghalt(Wave &w, const Inst &i) {
    sendmsg(w, i);
    halt(w, i);
}

// 4.13: of the messages, only the time isn't a constant here.
void sendmsg_rtn(Wave &w, const Inst &i) {
    constexpr u32 doorbell = 0x80, ddid = 0x81, trap_memory = 0x82, time = 0x83, trap_base = 0x85,
                  engine = 0x87;
    u32 code = static_cast<u32>(i.imm) & 0xff;
    u64 answer = 0;
    if (code == time)
        answer = constant_clock(w, i);
    else if (code != doorbell && code != ddid && code != trap_memory && code != trap_base &&
             !(code == engine && w.mode.gfx12))
        fault(w, i, Fault::Kind::illegal_instruction,
              fmt::format("message 0x{:x} has no reply for compute kernels", code));
    w.s[i.dst] = static_cast<u32>(answer);
    if (i.dst_rows == 2)
        w.s[i.dst + 1] = static_cast<u32>(answer >> 32);
}

// 64 bits of the shader clock, and of the constant one (gfx10).
void answer64(Wave &w, const Inst &i, u64 value) {
    w.s[i.dst] = static_cast<u32>(value);
    w.s[i.dst + 1] = static_cast<u32>(value >> 32);
}
void memtime(Wave &w, const Inst &i) { answer64(w, i, shader_clock(w, i)); }
void memrealtime(Wave &w, const Inst &i) { answer64(w, i, constant_clock(w, i)); }
void get_waveid(Wave &w, const Inst &i) { w.s[i.dst] = w.number; }

// The wave waits for another wave or for the host: either gets its turn.
void sleep(Wave &w, const Inst &i) {
    if (HostServices *services = w.context->dispatch.services)
        services->serve(w, i);
    if (w.context->together)
        w.state = State::asleep;
}

// Only waves with dynamic VGPRs can be refused (4.17).
void alloc_vgpr(Wave &w, const Inst &) { w.scc() = 1; }

void trap(Wave &w, const Inst &i) {
    constexpr i32 abort_trap = 2; // the HSA ABI's llvm.trap
    if ((i.imm & 0xff) == abort_trap)
        fault(w, i, Fault::Kind::illegal_instruction, "the kernel aborted itself with s_trap 2");
}

} // namespace

Handler control_handler(Op op) {
    switch (op) {
#define SPECIAL(mn, cls, D, A, B, C, handler)                                                      \
    case Op::mn:                                                                                   \
        return handler;
#include "sim/isa/tables/control.inc"
    default:
        return nullptr;
    }
}

} // namespace nw::sim
