// SPDX-License-Identifier: MIT
#include "runtime/operands.h"

namespace nw {

namespace {

u64 groups(const W4A16 &p) { return p.group == per_row ? 1 : p.k / p.group; }

// A scale has two bytes, a zero point too where it has a type; a carrier has both, eight packed
// zero points have four bytes.
u64 scale_bytes(const W4A16 &p) { return p.zeros == Zeros::carrier ? 4 : 2; }
u64 zero_bytes(const W4A16 &p) { return p.zeros == Zeros::packed ? 4 : 2; }
bool has_z(const W4A16 &p) { return p.zeros == Zeros::packed || p.zeros == Zeros::typed; }

void check_zeros(const Rules &rules, const W4A16 &p, const Reach &reach) {
    if (!has_z(p)) {
        rules.need(!p.z,
                   "z is given, but zeros are {}: say in `zeros` which form it has, or pass null",
                   p.zeros == Zeros::eight ? "eight" : "in the carrier");
        return;
    }
    const u64 each = zero_bytes(p);
    rules.pointer("z", p.z, each);
    rules.stride({"z_stride", p.z_stride, each * groups(p),
                  each == 4 ? "a row, 4*K/G" : "a row, 2*K/G", each, reach.below, reach.why});
}

} // namespace

void check_groups(const Rules &rules, u32 k, u32 group, const char *lengths) {
    rules.need(group == 32 || group == 64 || group == 128,
               "group = {}: must be {}; repeat the scales of larger groups", group, lengths);
    rules.need(k > 0, "k = 0: must be a positive multiple of the group size {}", group);
    rules.need(
        k % group == 0,
        "k = {}: must be a multiple of the group size {}; pad activations and weights with zeros "
        "to k = {}",
        k, group, round_up<u64>(k, group));
}

void check_operands(const Rules &rules, const W4A16 &p, const Reach &reach) {
    const u64 each = scale_bytes(p);
    rules.pointer("a", p.a, 16);
    rules.pointer("w", p.w, 16);
    rules.pointer("s", p.s, each);
    if (p.bias)
        rules.pointer("bias", p.bias, 2);
    rules.pointer("c", p.c, 2);
    rules.stride({"w_stride", p.w_stride, p.k / 2, "a row, K/2", 16, reach.below, reach.why});
    rules.stride({"s_stride", p.s_stride, each * groups(p),
                  each == 4 ? "a row, 4*K/G" : "a row, 2*K/G", each, reach.below, reach.why});
    check_zeros(rules, p, reach);
}

void check_overlap(const Rules &rules, const W4A16 &p) {
    const auto flat = [](const char *argument, const void *from, u64 bytes) {
        return Rules::rows(argument, from, 1, 0, bytes);
    };
    const u64 columns = p.silu_gate_up ? p.n / 2 : p.n;
    const u64 z_rows = p.zeros == Zeros::packed ? ceil_div<u64>(p.n, 8) : p.n;
    const Rules::Range c = flat("c", p.c, 2 * p.m * columns);
    for (const Rules::Range &in :
         {flat("a", p.a, u64{2} * p.m * p.k), Rules::rows("w", p.w, p.n, p.w_stride, p.k / 2),
          Rules::rows("s", p.s, p.n, p.s_stride, scale_bytes(p) * groups(p)),
          Rules::rows("z", p.z, z_rows, p.z_stride, zero_bytes(p) * groups(p)),
          flat("bias", p.bias, u64{2} * p.n)})
        rules.apart(c, in);
}

} // namespace nw
