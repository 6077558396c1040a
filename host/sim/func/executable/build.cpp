// SPDX-License-Identifier: MIT
#include "sim/func/executable/build.h"

#include <bit>
#include <charconv>
#include <fmt/format.h>

#include "sim/func/alu/fp.h"
#include "sim/func/alu/salu.h"
#include "sim/func/launch/launch.h"
#include "sim/isa/classes.h"
#include "sim/isa/hazards/unused_fields.h"
#include "sim/isa/scope.h"

namespace nw::sim {

namespace {

// Handler of instructions that can't run; the reason is looked up by index.
void unsupported(Wave &w, const Inst &i) {
    const Instruction &inst = w.context->code.code->instructions[i.index];
    if (inst.text.empty())
        fault(w, i, Fault::Kind::illegal_instruction,
              fmt::format("illegal instruction: 0x{:08x} is not an instruction of {}", inst.word0,
                          w.context->device.gfx));
    if (const std::string_view bad = invalid_operand(inst); !bad.empty())
        fault(w, i, Fault::Kind::illegal_instruction,
              fmt::format("illegal operand: {} has {} where the encoding allows none of its kind",
                          inst.x.mnemonic, bad));
    auto why = w.context->code.unsupported.find(i.index);
    fault(w, i, Fault::Kind::illegal_instruction,
          fmt::format("not implemented: {}",
                      why == w.context->code.unsupported.end() ? inst.text : why->second));
}

void end_of_code(Wave &w, const Inst &i) {
    fault(w, i, Fault::Kind::illegal_instruction,
          "the wave ran past the end of the code: s_endpgm is missing");
}

} // namespace

// Parses the "128" of s_load_b128.
static unsigned dwords_of_load(std::string_view bits) {
    unsigned n = 0;
    auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), n);
    if (error != std::errc() || end != bits.data() + bits.size() || n % 32 || n / 32 > 16 || n == 0)
        throw Unsupported{fmt::format("a scalar load of '{}' bits", bits)};
    return n / 32;
}

const Operand &operand(const Operation &op, size_t n) {
    if (n >= op.operands.size())
        throw Unsupported{fmt::format("{} with {} operands", op.mnemonic, op.operands.size())};
    return op.operands[n];
}

u64 constant_bits(const Operand &o, Type type, bool selected_f16) {
    bool wide = rows_of(type) == 2;
    if (o.kind == Operand::Kind::integer) {
        auto low = static_cast<u32>(o.integer);
        if (!wide)
            return low;
        if (!o.literal)
            return static_cast<u64>(o.integer);
        return type == Type::f64   ? u64{low} << 32
               : type == Type::i64 ? static_cast<u64>(static_cast<i32>(low))
                                   : low;
    }
    // The one inline constant that isn't a short decimal: 1 / (2 pi).
    bool inverse_two_pi = o.real > 0.159 && o.real < 0.16;
    bool half = selected_f16 || type == Type::u16 || type == Type::i16 || type == Type::f16 ||
                type == Type::pkf16;
    u32 single = inverse_two_pi ? 0x3e22f983 : std::bit_cast<u32>(static_cast<f32>(o.real));
    if (wide)
        return inverse_two_pi ? 0x3fc45f306dc9c882 : std::bit_cast<u64>(o.real);
    if (half)
        return inverse_two_pi ? 0x3118 : base::fp::narrow16_nearest(static_cast<f32>(o.real));
    if (type == Type::bf16 || type == Type::pkbf16)
        return single >> 16;
    return single;
}

Builder::Builder(Executable &e, const Target &target) : e_(e), frames_(frames()), target_(target) {
    e_.constants.resize(2); // row 0: zero, of 32 and of 64 bits
    pool_[{0, 1}] = pool_[{0, 2}] = 0;
}

Source Builder::constant(u64 value, unsigned rows) {
    auto [it, fresh] = pool_.try_emplace({value, rows}, static_cast<u32>(e_.constants.size()));
    if (fresh)
        for (unsigned r = 0; r < rows; ++r) {
            Row row;
            std::fill(std::begin(row.lane), std::end(row.lane), static_cast<u32>(value >> 32 * r));
            e_.constants.push_back(row);
        }
    Source s;
    s.rows = static_cast<u8>(rows);
    s.at = it->second;
    s.value = static_cast<u32>(value);
    return s;
}

Source Builder::sgpr(const Operand &o, unsigned count) {
    if (o.kind != Operand::Kind::sgpr || o.reg + count > sreg::count)
        throw Unsupported{fmt::format("operand '{}' where SGPRs are expected", o.text)};
    if (o.reg == sreg::vccz || o.reg == sreg::execz)
        throw Unsupported{fmt::format("{} as an operand", o.text)};
    Source s;
    s.kind = Source::sgpr;
    s.rows = static_cast<u8>(count);
    s.at = o.reg;
    return s;
}

u16 Builder::vgpr(const Operand &o, unsigned count) {
    if (o.kind != Operand::Kind::vgpr || o.reg + count > vgpr_count)
        throw Unsupported{fmt::format("operand '{}' where {} VGPRs are expected", o.text, count)};
    return o.reg;
}

u16 Builder::sgpr_destination(const Operand &o, unsigned count) {
    if (o.kind != Operand::Kind::sgpr || o.reg + count > sreg::scc)
        throw Unsupported{fmt::format("operand '{}' as a scalar destination", o.text)};
    return o.reg == sreg::null || is_ttmp(o) ? slot::sink : o.reg;
}

Source Builder::source(const Operand &o, Type type, bool selected_f16) {
    unsigned rows = rows_of(type);
    switch (o.kind) {
    case Operand::Kind::vgpr: {
        Source s;
        s.kind = Source::vgpr;
        s.rows = static_cast<u8>(rows);
        s.at = vgpr(o, rows);
        return s;
    }
    case Operand::Kind::sgpr:
        return sgpr(o, rows);
    case Operand::Kind::integer:
    case Operand::Kind::real:
        return constant(constant_bits(o, type, selected_f16), rows);
    default:
        throw Unsupported{fmt::format("operand '{}'", o.text)};
    }
}

void Builder::build(u32 index) {
    Inst &i = e_.insts[index];
    i.index = index;
    i.run = unsupported;
    if (index == e_.code->instructions.size()) {
        i.run = end_of_code;
        return;
    }
    const Instruction &inst = e_.code->instructions[index];
    if (inst.text.empty())
        return;
    try {
        dispatch(i, inst);
        if (!i.run)
            throw Unsupported{"a row without a handler"};
    } catch (const Unsupported &u) {
        i = Inst();
        i.index = index;
        i.run = unsupported;
        e_.unsupported[index] = inst.text + ": " + u.why;
    }
}

void Builder::dispatch(Inst &i, const Instruction &inst) {
    i.cls = class_of(inst);
    if (inst.y)
        return dual(i, inst);
    std::string_view name = inst.x.mnemonic;
    if (name.starts_with("s_load_b"))
        return scalar_load(i, inst.x, dwords_of_load(name.substr(8)));
    if (name.starts_with("s_scratch_load_b")) {
        scalar_load(i, inst.x, dwords_of_load(name.substr(16)));
        i.flag = true;
        return;
    }
    if (const MemoryOp m = find_scalar_write(name); m.access != Access::none)
        return scalar_write(i, inst.x, m);
    if (Handler load = small_scalar_load(name)) {
        scalar_load(i, inst.x, 1);
        i.run = load;
        return;
    }
    if (Handler load = scalar_buffer_load(name)) {
        scalar_load(i, inst.x, operand(inst.x, 0).count);
        i.run = load;
        return;
    }
    if (name.starts_with("ds_bpermute"))
        return lane_exchange(i, inst, run_ds_bpermute);
    if (name == "ds_permute_b32")
        return lane_exchange(i, inst, run_ds_permute);
    if (name == "ds_swizzle_b32")
        return lane_exchange(i, inst, run_ds_swizzle);
    if (MemoryOp m = find_memory_op(name); m.access != Access::none)
        return m.image != ImageForm::none ? image(i, inst, m) : memory(i, inst, m);

    if (const MatrixOp *m = find_matrix_op(name))
        return matrix(i, inst.x, *m);

    std::string plain_name(name); // v_cmpx_lt_f32 uses the row v_cmp_lt_f32
    if (name.starts_with("v_cmpx_"))
        plain_name.erase(5, 1);
    Op op = find_op(plain_name);
    if (std::string_view other = other_purpose(name); !other.empty())
        throw Unsupported{fmt::format("out of scope ({})", other)};
    if (op == Op::none)
        throw Unsupported{"no row of this name"};
    switch (info(op).shape) {
    case Shape::lane:
    case Shape::acc:
    case Shape::mask:
        vector(i, inst.x, op);
        return place_piece(i, inst.x, op);
    case Shape::scalar:
    case Shape::compare:
    case Shape::imm:
        return scalar(i, inst, op);
    case Shape::special:
        break;
    }
    if (control_handler(op))
        return control(i, inst, op);
    vector_special(i, inst.x, op);
    place_piece(i, inst.x, op);
}

const Executable &executable(const Program &program, u32 wave_size) {
    const u32 key = choices_id() << 16 | wave_size << 8 | static_cast<u32>(host_level());
    return program.derived<Executable>(key, [&] {
        auto e = std::make_shared<Executable>();
        e->program = &program;
        e->code = &program.code(wave_size);
        auto count = static_cast<u32>(e->code->instructions.size());
        e->insts.resize(count + 1);
        const Target &target = target_of(program.gfx());
        Builder builder(*e, target);
        for (u32 index = 0; index <= count; ++index)
            builder.build(index);
        for (u32 index = 0; index < count; ++index)
            e->insts[index].tally = e->tallies.entry(
                e->insts[index].cls, e->code->instructions[index], target.generation);
        return e;
    });
}

} // namespace nw::sim
