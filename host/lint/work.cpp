// SPDX-License-Identifier: MIT
#include "lint/work.h"

#include <charconv>

#include "sim/isa/tables/memory_ops.h"
#include "sim/isa/uses.h"

namespace nw::lint {

using namespace sim;

namespace {

constexpr u32 vgpr_banks = 4;

bool contains(std::string_view s, std::string_view part) { return s.find(part) != s.npos; }

bool any_of(std::string_view n, std::initializer_list<std::string_view> prefixes) {
    for (std::string_view prefix : prefixes)
        if (n.starts_with(prefix))
            return true;
    return false;
}

bool is_matrix(std::string_view n) { return any_of(n, {"v_wmma_", "v_swmmac_"}); }

// 2 x M x N x K of "v_wmma_f32_16x16x16_f16".
u32 matrix_operations(std::string_view n) {
    const size_t cross = n.find('x');
    if (cross == n.npos || cross < 2)
        return 0;
    u32 product = n.starts_with("v_swmmac_") ? 1 : 2; // half of A is zero
    const char *at = n.data() + cross - 2, *const end = n.data() + n.size();
    for (int side = 0; side < 3; ++side) {
        u32 size = 0;
        const auto [next, error] = std::from_chars(at, end, size);
        if (error != std::errc())
            return 0;
        product *= size;
        at = next + (next < end);
    }
    return product;
}

// "fmac" of v_fmac_f32, v_dual_fmac_f32, v_pk_fmac_f16, s_fmac_f32.
u32 scalar_operations(std::string_view n) {
    const u32 pairs = n.starts_with("v_pk_") ? 2 : 1;
    for (std::string_view prefix : {"v_dual_", "v_pk_", "v_s_", "v_", "s_"})
        if (n.starts_with(prefix)) {
            n.remove_prefix(prefix.size());
            break;
        }
    if (n.starts_with("dot"))
        return n.starts_with("dot8") ? 16 : n.starts_with("dot4") ? 8 : 4;
    const bool is_float = contains(n, "f16") || contains(n, "f32") || contains(n, "f64");
    if (!is_float)
        return 0;
    if (any_of(n, {"fma_", "fmac_", "fmaak_", "fmamk_", "div_fmas_", "fma_mix", "mad_mix"}))
        return 2 * pairs;
    return any_of(n, {"add_", "sub_", "subrev_", "mul_", "exp_", "log_", "rcp_", "rsq_", "sqrt_",
                      "sin_", "cos_"})
               ? pairs
               : 0;
}

u32 bytes_of_scalar_load(const Instruction &inst) {
    const std::string_view n = inst.x.mnemonic;
    if (n.ends_with("8"))
        return n.ends_with("28") ? 16 : 1; // b128; i8, u8
    return n.ends_with("16") ? 2 : inst.x.operands.empty() ? 0 : 4u * inst.x.operands[0].count;
}

void add_bytes(Work &w, const Instruction &inst, u32 wave_size) {
    const std::string_view n = inst.x.mnemonic;
    const MemoryOp op = find_memory_op(n);
    if (any_of(n, {"s_load_", "s_buffer_load_"}))
        w.scalar_load = bytes_of_scalar_load(inst);
    if (op.access == Access::none)
        return;
    const bool on_lds = n.starts_with("ds_");
    const bool of_wave = n == "ds_append" || n == "ds_consume";
    const u64 bytes =
        u64{op.bytes} * op.elements * (op.two_addresses() ? 2 : 1) * (of_wave ? 1 : wave_size);
    if (!op.stores())
        (on_lds ? w.lds_read : w.global_load) = bytes;
    if (!op.loads())
        (on_lds ? w.lds_write : w.global_store) = bytes;
}

} // namespace

Operations operations_of(const Instruction &inst) {
    if (is_matrix(inst.x.mnemonic))
        return {0, matrix_operations(inst.x.mnemonic)};
    u32 all = scalar_operations(inst.x.mnemonic);
    if (inst.y)
        all += scalar_operations(inst.y->mnemonic);
    const bool of_wave = inst.x.mnemonic.starts_with("s_") || inst.x.mnemonic.starts_with("v_s_");
    return of_wave ? Operations{0, all} : Operations{all, 0};
}

bool wmma_banks_clash(const Instruction &inst) {
    const auto &o = inst.x.operands;
    return is_matrix(inst.x.mnemonic) && o.size() > 2 && o[1].kind == Operand::Kind::vgpr &&
           o[2].kind == Operand::Kind::vgpr && o[1].reg % vgpr_banks == o[2].reg % vgpr_banks;
}

Work work_of(const Instruction &inst, u32 wave_size) {
    Work w;
    w.by_class[static_cast<size_t>(class_of(inst))] = 1;
    if (inst.text.empty())
        return w;
    add_bytes(w, inst, wave_size);
    const Operations operations = operations_of(inst);
    w.flops = u64{operations.of_lane} * wave_size + operations.of_wave;
    w.wmma_clashes = wmma_banks_clash(inst);
    return w;
}

u64 Work::instructions() const {
    u64 all = 0;
    for (u64 n : by_class)
        all += n;
    return all;
}

f64 Work::intensity() const {
    const u64 bytes = global_load + global_store;
    return bytes ? static_cast<f64>(flops) / static_cast<f64>(bytes) : 0;
}

Work &Work::operator+=(const Work &o) {
    for (size_t n = 0; n < by_class.size(); ++n)
        by_class[n] += o.by_class[n];
    global_load += o.global_load, global_store += o.global_store;
    lds_read += o.lds_read, lds_write += o.lds_write, scalar_load += o.scalar_load;
    flops += o.flops, wmma_clashes += o.wmma_clashes;
    return *this;
}

Work Work::operator*(u64 times) const {
    Work w = *this;
    for (u64 &n : w.by_class)
        n *= times;
    for (u64 *n : {&w.global_load, &w.global_store, &w.lds_read, &w.lds_write, &w.scalar_load,
                   &w.flops, &w.wmma_clashes})
        *n *= times;
    return w;
}

} // namespace nw::lint
