// SPDX-License-Identifier: MIT
// Lanes that read each other: permutes, DPP, masks.
#include "prelude.h"

KERNEL(shuffle_rotated, words, 128) {
    ITEM;
    out[i] = shuffle(EVERYONE, a, lane_id() + 5);
    out[n + i] = shuffle(EVERYONE, b, lane_id() ^ 17);
}

KERNEL(shuffle_by_data, words, 128) {
    ITEM;
    out[i] = shuffle(EVERYONE, a, b);
    out[n + i] = shuffle(EVERYONE, c, a >> 7) + shuffle(EVERYONE, d, i * 11);
}

KERNEL(butterfly_sum, words, 128) {
    ITEM;
    uint sum = a;
    for (uint step = 1; step < 32; step *= 2)
        sum += shuffle(EVERYONE, sum, lane_id() ^ step);
    out[i] = sum;
}

KERNEL(butterfly_max_f32, f32, 128) {
    ITEM;
    float largest = f32(a) == f32(a) ? f32(a) : -1;
    for (uint step = 16; step > 0; step /= 2) {
        const float other = f32(shuffle(EVERYONE, as(uint, largest), lane_id() ^ step));
        largest = other > largest ? other : largest;
    }
    out[i] = word_f32(largest + 0.0f);
}

KERNEL(scan_in_a_wave, words, 128) {
    ITEM;
    const uint lane = lane_id() & 31;
    uint sum = a;
    for (uint step = 1; step < 32; step *= 2) {
        const uint other = shuffle(EVERYONE, sum, lane - step);
        sum += lane >= step ? other : 0;
    }
    out[i] = sum;
}

KERNEL(ballots, words, 128) {
    ITEM;
    PUT64(0, ballot(EVERYONE, a & 1));
    PUT64(2, ballot(EVERYONE, (int)b < (int)c));
}

KERNEL(ballot_in_a_partial_wave, words, 100) {
    ITEM;
    PUT64(0, ballot(EVERYONE, 1));
    PUT64(2, ballot(EVERYONE, a > b));
}

KERNEL(ballot_in_a_branch, words, 128) { // only those inside have a vote
    ITEM;
    const int inside = (a & 3) != 0;
    const ulong members = ballot(EVERYONE, inside);
    ulong mask = 0;
    if (inside)
        mask = ballot(members & EVERYONE, b & 1);
    PUT64(0, mask);
    PUT64(2, members);
}

KERNEL(ballot_in_nested_branches, words, 128) {
    ITEM;
    const int outer = a & 1, inner = b & 1;
    const ulong outer_members = ballot(EVERYONE, outer), inner_members = ballot(EVERYONE, outer && inner);
    uint count = 0;
    if (outer) {
        count = elementwise(popcount)(ballot(outer_members, c & 1));
        if (inner)
            count += 100 * elementwise(popcount)(ballot(inner_members, d & 1));
    }
    out[i] = count;
}

KERNEL(compact_by_mask, words, 128) {
    ITEM;
    const int wanted = (a ^ b) & 1;
    const ulong mask = ballot(EVERYONE, wanted), below = mask & ((1ul << lane_id()) - 1);
    out[i] = wanted ? elementwise(popcount)(below) : 77;
#if DEVICE
    out[n + i] = __builtin_amdgcn_mbcnt_hi((uint)(mask >> 32), __builtin_amdgcn_mbcnt_lo((uint)mask, 0));
#else
    out[n + i] = elementwise(popcount)(below);
#endif
}

KERNEL(read_one_lane, words, 128) {
    ITEM;
    out[i] = read_lane(EVERYONE, a, 0) + read_lane(EVERYONE, b, 31);
    out[n + i] = read_lane(EVERYONE, c, in[group_id()] & 31);
}

KERNEL(first_active_lane, words, 128) {
    ITEM;
    const int inside = a & 2;
    const ulong members = ballot(EVERYONE, inside);
    uint value = 1;
    if (inside) {
#if DEVICE
        value = __builtin_amdgcn_readfirstlane(b);
#else
        value = host_exchange(members, b)[__builtin_ctzl(members)];
#endif
    }
    out[i] = value;
}

KERNEL(loop_over_distinct_values, words, 128) { // a scalar loop over what lanes hold
    ITEM;
    const uint key = a & 3;
    ulong todo = EVERYONE;
    uint rounds = 0, mine = 0;
#if DEVICE
    todo = ballot(EVERYONE, 1);
#endif
    while (todo) {
        const uint leader = __builtin_ctzl(todo), chosen = read_lane(EVERYONE, key, leader);
        const ulong same = ballot(EVERYONE, key == chosen);
        if (key == chosen)
            mine = rounds * 1000 + elementwise(popcount)(same);
        todo &= ~same;
        ++rounds;
    }
    out[i] = mine;
    out[n + i] = rounds;
}

// ---- instructions with fixed patterns; on the host, their documented effect
#if DEVICE
#define dpp(old, value, control, row_mask, bank_mask, bound_zero)                                  \
    (uint)__builtin_amdgcn_update_dpp((int)(old), (int)(value), control, row_mask, bank_mask, bound_zero)
#else
#define dpp(old, value, control, row_mask, bank_mask, bound_zero)                                  \
    dpp_on_host(old, value, control, row_mask, bank_mask, bound_zero)
INLINE uint dpp_on_host(uint old, uint value, uint control, uint row_mask, uint bank_mask, int bound_zero) {
    const uint *values = host_exchange(EVERYONE, value);
    const uint lane = lane_id(), row = lane & ~15u, at = lane & 15, by = control & 15;
    uint from = lane;
    int valid = 1;
    if (control < 0x100) // quad_perm
        from = (lane & ~3u) | (control >> 2 * (lane & 3) & 3);
    else if (control < 0x110) // row_shl: from higher lanes
        valid = at + by < 16, from = lane + by;
    else if (control < 0x120) // row_shr
        valid = at >= by, from = lane - by;
    else if (control < 0x130) // row_ror
        from = row | ((at - by) & 15);
    else if (control == 0x140) // row_mirror
        from = row | (15 - at);
    else if (control == 0x141) // row_half_mirror
        from = (lane & ~7u) | (7 - (lane & 7));
    else if (control < 0x160) // row_share
        from = row | by;
    else // row_xmask
        from = lane ^ by;
    if (!(row_mask >> (lane / 16 & 3) & 1) || !(bank_mask >> (lane / 4 & 3) & 1))
        return old;
    return valid ? values[from] : bound_zero ? 0 : old;
}
#endif

KERNEL(dpp_quad_perm, words, 128) {
    ITEM;
    out[i] = dpp(b, a, 0x1b, 15, 15, 0); // reversed
    out[n + i] = dpp(b, a, 0x00, 15, 15, 0);
    out[2 * n + i] = dpp(0, c, 0xb1, 15, 15, 1) + d;
}

KERNEL(dpp_row_shifts, words, 128) {
    ITEM;
    out[i] = dpp(b, a, 0x101, 15, 15, 0);
    out[n + i] = dpp(b, a, 0x113, 15, 15, 0);
    out[2 * n + i] = dpp(0, c, 0x118, 15, 15, 1);
    out[3 * n + i] = dpp(d, c, 0x125, 15, 15, 0);
}

KERNEL(dpp_mirrors_and_masks, words, 128) {
    ITEM;
    out[i] = dpp(b, a, 0x140, 15, 15, 0);
    out[n + i] = dpp(b, a, 0x141, 5, 15, 0);
    out[2 * n + i] = dpp(d, c, 0x140, 15, 9, 0);
    out[3 * n + i] = dpp(d, a, 0x104, 10, 6, 1);
}

KERNEL(dpp_row_share_and_xmask, words, 128) {
    ITEM;
    out[i] = dpp(0, a, 0x157, 15, 15, 0);
    out[n + i] = dpp(0, b, 0x16a, 15, 15, 0);
}

KERNEL(dpp_scan, words, 128) { // folded into v_add at -O2
    ITEM;
    uint sum = a;
    sum += dpp(0, sum, 0x111, 15, 15, 1);
    sum += dpp(0, sum, 0x112, 15, 15, 1);
    sum += dpp(0, sum, 0x114, 15, 15, 1);
    sum += dpp(0, sum, 0x118, 15, 15, 1);
    out[i] = sum;
}

KERNEL(dpp_reduction_f32, f32, 128) {
    ITEM;
    float x = f32(a) == f32(a) ? elementwise(abs)(f32(a)) : 0;
    x += f32(dpp(0, as(uint, x), 0xb1, 15, 15, 1));
    x += f32(dpp(0, as(uint, x), 0x4e, 15, 15, 1));
    x = elementwise(maximum)(x, f32(dpp(0, as(uint, x), 0x141, 15, 15, 1)));
    x = x - 0.5f * f32(dpp(0, as(uint, x), 0x140, 15, 15, 1));
    out[i] = word_f32(x);
}

KERNEL(dpp8, words, 128) {
    ITEM;
#if DEVICE
    out[i] = __builtin_amdgcn_mov_dpp8(a, 0x053977);
#else
    out[i] = host_exchange(EVERYONE, a)[(lane_id() & ~7u) | (0x053977 >> 3 * (lane_id() & 7) & 7)];
#endif
}

KERNEL(permlane16, words, 128) {
    ITEM;
#if DEVICE
    out[i] = __builtin_amdgcn_permlane16(0, a, 0x76543210, 0xfedcba98, 0, 0);
    out[n + i] = __builtin_amdgcn_permlane16(0, b, 0x01234567, 0x89abcdef, 0, 0);
    out[2 * n + i] = __builtin_amdgcn_permlanex16(0, c, 0x76543210, 0xfedcba98, 0, 0);
    out[3 * n + i] = __builtin_amdgcn_permlanex16(0, d, 0x00112233, 0xf0e1d2c3, 0, 0);
#else
    const uint lane = lane_id(), at = lane & 15, row = lane & ~15u;
    out[i] = a;
    out[n + i] = host_exchange(EVERYONE, b)[row | ((u64(0x01234567, 0x89abcdef) >> 4 * at) & 15)];
    out[2 * n + i] = host_exchange(EVERYONE, c)[lane ^ 16];
    out[3 * n + i] = host_exchange(EVERYONE, d)[(row ^ 16) | ((u64(0x00112233, 0xf0e1d2c3) >> 4 * at) & 15)];
#endif
}

#if DEVICE
#define swizzle(value, pattern) (uint)__builtin_amdgcn_ds_swizzle((int)(value), pattern)
#else
#define swizzle(value, pattern) swizzle_on_host(value, pattern)
INLINE uint swizzle_on_host(uint value, uint pattern) {
    const uint *values = host_exchange(EVERYONE, value);
    const uint lane = lane_id();
    if (pattern >> 15) // quad_perm
        return values[(lane & ~3u) | (pattern >> 2 * (lane & 3) & 3)];
    const uint and_mask = pattern & 31, or_mask = pattern >> 5 & 31, xor_mask = pattern >> 10 & 31;
    return values[(lane & 32) | (((lane & and_mask) | or_mask) ^ xor_mask)];
}
#endif

KERNEL(swizzles, words, 128) {
    ITEM;
    out[i] = swizzle(a, 0x041f);               // swap neighbours
    out[n + i] = swizzle(b, 0x401f);           // swap halves of 32
    out[2 * n + i] = swizzle(c, 0x0018 | 0x60); // broadcast within eight
    out[3 * n + i] = swizzle(d, 0x801b);
}

KERNEL(scatter_to_lanes, words, 128) { // ds_permute: lanes push; a permutation, so nobody loses
    ITEM;
    const uint to = (lane_id() * 7 + 3) & 31;
#if DEVICE
    out[i] = (uint)__builtin_amdgcn_ds_permute((int)((lane_id() & 32) | to) << 2, (int)a);
#else
    const uint *values = host_exchange(EVERYONE, a);
    uint got = 0;
    for (uint lane = lane_id() & 32; lane < (lane_id() & 32) + 32; ++lane)
        if (((lane * 7 + 3) & 31) == (lane_id() & 31))
            got = values[lane];
    out[i] = got;
#endif
}

KERNEL(shuffle_in_a_partial_wave, words, 96) { // wave64: the second wave is half empty
    ITEM;
    out[i] = shuffle(EVERYONE, a, lane_id() ^ 1) + shuffle(EVERYONE, b, 31 - lane_id());
}

KERNEL(transpose_4x4_by_shuffles, words, 128) {
    ITEM;
    const uint values[4] = {a, b, c, d};
    uint rows[4];
    for (uint k = 0; k < 4; ++k) {
        const uint from = (lane_id() & ~3u) | ((lane_id() + k) & 3);
        uint picked = 0;
        for (uint j = 0; j < 4; ++j) {
            const uint other = shuffle(EVERYONE, values[j], from);
            picked = j == (lane_id() & 3) ? other : picked;
        }
        rows[k] = picked;
    }
    for (uint k = 0; k < 4; ++k)
        out[k * n + i] = rows[k];
}
