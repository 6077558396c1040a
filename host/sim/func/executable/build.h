// SPDX-License-Identifier: MIT
// Resolves LLVM's operands. One Builder per executable.
#pragma once
#include <map>
#include <span>

#include "base/targets.h"
#include "sim/func/alu/frames.h"
#include "sim/func/executable/executable.h"
#include "sim/func/memory/lane_memory.h"

namespace nw::sim {

// An instruction that the simulator can't run: raised as a Fault when it is executed, not before.
struct Unsupported {
    std::string why;
};

class Builder {
public:
    Builder(Executable &e, const Target &);
    void build(u32 index);

private:
    void dispatch(Inst &, const Instruction &);
    void dual(Inst &, const Instruction &);

    // build_vector.cpp
    void vector(Inst &, const Operation &, Op);
    void vector_sources(Inst &, const Operation &, Op, unsigned first);
    void modifiers(Inst &, const Operation &, Op, Extra &, bool &needed);
    void dpp(const Operation &, Extra &, bool &needed);
    void place_piece(Inst &, const Operation &, Op);
    void choose_frame(Inst &, const Operation &, Op, bool is_mask, bool is_maskx);
    void destination(Inst &, const Operation &, Op, Extra &, bool &needed);

    // build_special.cpp
    void vector_special(Inst &, const Operation &, Op);
    void to_sgpr(Inst &, const Operation &);
    void pseudo_scalar(Inst &, const Operation &, Op);
    void carry(Inst &, const Operation &, Op, bool in);
    void division(Inst &, const Operation &, Op, bool scaled);
    void quad_sad(Inst &, const Operation &, Op);

    // build_scalar.cpp
    void scalar(Inst &, const Instruction &, Op);
    void scalar_sources(Inst &, const Operation &, Op, unsigned first);
    void control(Inst &, const Instruction &, Op);
    const Inst *out_of_code(const Inst &branch);
    void scalar_load(Inst &, const Operation &, unsigned dwords);
    void scalar_write(Inst &, const Operation &, const MemoryOp &);
    void scalar_address(Inst &, const Operation &);

    // build_memory.cpp
    void memory(Inst &, const Instruction &, const MemoryOp &);
    void memory_operands(MemoryAccess &, const Operation &, const LaneMemory &);
    unsigned memory_data(MemoryAccess &, const Operation &, unsigned next);
    void memory_address(MemoryAccess &, const Operand &);
    void lane_exchange(Inst &, const Instruction &, Handler);
    // build_buffer.cpp
    void buffer(Inst &, const Instruction &, const MemoryOp &, bool returns);

    // build_image.cpp
    void image(Inst &, const Instruction &, const MemoryOp &);
    void image_addresses(MemoryAccess &, ImageAccess &, const Operation &);

    // build_matrix.cpp
    void matrix(Inst &, const Operation &, const MatrixOp &);

    // Operands.
    Source source(const Operand &, Type, bool selected_f16 = false);
    Source constant(u64 value, unsigned rows);
    Source sgpr(const Operand &, unsigned count);
    u16 vgpr(const Operand &, unsigned count);
    u16 sgpr_destination(const Operand &, unsigned count);

    Executable &e_;
    const Frames &frames_;
    const Target &target_;
    std::map<std::pair<u64, unsigned>, u32> pool_;
};

// Trap registers: user code can't write them (1.11).
constexpr bool is_ttmp(const Operand &o) {
    return o.kind == Operand::Kind::sgpr && o.reg >= sreg::ttmp0 && o.reg < sreg::null;
}

// The bits of a constant as an operand of this type (0.5 to 0.7, 3.2 to 3.6).
u64 constant_bits(const Operand &, Type, bool selected_f16);

// Element `n` of a modifier with several, as in op_sel:[1,0].
i64 element(const Operation &, std::string_view name, size_t n, i64 otherwise);

// Special rows whose OMOD and CLAMP work as in float arithmetic; rows with one SGPR.
bool divides(Op);
bool is_pseudo_scalar(Op);

const Operand &operand(const Operation &, size_t n); // throws Unsupported

} // namespace nw::sim
