// SPDX-License-Identifier: MIT
// LDS and barriers.
#include "prelude.h"

KERNEL(reduce_sum, words, 128) {
    ITEM;
    local uint tile[128];
    const uint id = local_id();
    tile[id] = a;
    for (uint half_size = 64; half_size > 0; half_size >>= 1) {
        barrier();
        if (id < half_size)
            tile[id] += tile[id + half_size];
    }
    barrier();
    out[i] = tile[0];
}

KERNEL(reduce_max_f32, f32, 256) {
    ITEM;
    local float tile[256];
    const uint id = local_id();
    const float x = f32(a);
    tile[id] = x == x ? x : -1.0f;
    barrier();
    for (uint half_size = 128; half_size > 0; half_size >>= 1) {
        if (id < half_size)
            tile[id] = tile[id + half_size] > tile[id] ? tile[id + half_size] : tile[id];
        barrier();
    }
    out[i] = word_f32(tile[0] + 0.0f);
}

KERNEL(reduce_sum_f32_in_order, f32, 64) { // one fixed tree, so the same roundings
    ITEM;
    local float tile[64];
    tile[local_id()] = f32(a) * 0x1p-60f;
    for (uint stride = 1; stride < 64; stride *= 2) {
        barrier();
        if (local_id() % (2 * stride) == 0)
            tile[local_id()] += tile[local_id() + stride];
    }
    barrier();
    out[i] = word_f32(tile[0]);
}

KERNEL(prefix_sum, words, 128) {
    ITEM;
    local uint tile[2][128];
    const uint id = local_id();
    uint at = 0;
    tile[0][id] = a;
    barrier();
    for (uint step = 1; step < 128; step *= 2, at ^= 1) {
        tile[at ^ 1][id] = tile[at][id] + (id >= step ? tile[at][id - step] : 0);
        barrier();
    }
    out[i] = tile[at][id];
}

KERNEL(transpose, words, 256) {
    ITEM;
    local uint tile[16][17];
    const uint row = local_id() / 16, column = local_id() % 16;
    tile[row][column] = a;
    barrier();
    out[i] = tile[column][row];
}

KERNEL(reverse_within_the_group, words, 100) {
    ITEM;
    local uint tile[100];
    tile[local_id()] = a + b;
    barrier();
    out[i] = tile[99 - local_id()];
}

KERNEL(ring_of_neighbours, words, 128) {
    ITEM;
    local uint tile[128];
    const uint id = local_id();
    uint x = a;
    for (uint k = 0; k < 10; ++k) {
        tile[id] = x;
        barrier();
        x = tile[(id + 1) & 127] * 3 + tile[(id + 127) & 127] ^ x >> k;
        barrier();
    }
    out[i] = x;
}

KERNEL(bytes_in_lds, words, 128) {
    ITEM;
    local uchar bytes[512];
    const uint id = local_id();
    bytes[4 * id] = (uchar)a, bytes[4 * id + 1] = (uchar)(a >> 8);
    bytes[4 * id + 2] = (uchar)b, bytes[4 * id + 3] = (uchar)(b >> 24);
    barrier();
    out[i] = bytes[id] | (uint)bytes[511 - id] << 8 | (uint)(signed char)bytes[(id * 5) & 511] << 16;
}

KERNEL(shorts_in_lds, words, 128) {
    ITEM;
    local short values[256];
    values[2 * local_id()] = (short)a;
    values[2 * local_id() + 1] = (short)(b >> 3);
    barrier();
    out[i] = (uint)(int)values[255 - local_id()];
    out[n + i] = (ushort)values[local_id()] | (uint)(ushort)values[local_id() + 100] << 16;
}

KERNEL(longs_in_lds, words, 128) {
    ITEM;
    local ulong values[128];
    values[local_id()] = u64(a, b);
    barrier();
    PUT64(0, values[127 - local_id()] + values[local_id() ^ 5]);
}

KERNEL(vectors_in_lds, words, 128) {
    ITEM;
    local uint4 values[128];
    values[local_id()] = (uint4)(a, b, c, d);
    barrier();
    const uint4 v = values[(local_id() * 3 + 1) & 127];
    out[i] = v.x;
    out[n + i] = v.y;
    out[2 * n + i] = v.z;
    out[3 * n + i] = v.w;
}

KERNEL(two_addresses, words, 64) { // ds_load_2addr and its 64-element strides
    ITEM;
    local uint tile[64 * 4];
    const uint id = local_id();
    tile[id] = a, tile[id + 64] = b, tile[id + 128] = c, tile[id + 192] = d;
    barrier();
    const uint other = 63 - id;
    out[i] = tile[other] + tile[other + 64] * 3;
    out[n + i] = tile[other + 128] ^ tile[other + 192];
    out[2 * n + i] = tile[id & 31] - tile[(id & 31) + 7];
}

KERNEL(bitonic_sort, words, 128) {
    ITEM;
    local uint tile[128];
    const uint id = local_id();
    tile[id] = a;
    for (uint size = 2; size <= 128; size *= 2)
        for (uint stride = size / 2; stride > 0; stride /= 2) {
            barrier();
            const uint other = id ^ stride;
            if (other > id) {
                const uint x = tile[id], y = tile[other];
                if ((x > y) == ((id & size) == 0))
                    tile[id] = y, tile[other] = x;
            }
        }
    barrier();
    out[i] = tile[id];
}

KERNEL(matrix_product, words, 256) {
    ITEM;
    local uint left[16][16], right[16][16];
    const uint row = local_id() / 16, column = local_id() % 16;
    uint sum = 0;
    for (uint k = 0; k < 3; ++k) {
        left[row][column] = a + k * b;
        right[row][column] = c ^ k * d;
        barrier();
        for (uint j = 0; j < 16; ++j)
            sum += left[row][j] * right[j][column];
        barrier();
    }
    out[i] = sum;
}

KERNEL(large_lds, words, 256) { // 48 KiB
    ITEM;
    local uint tile[12288];
    for (uint k = local_id(); k < 12288; k += 256)
        tile[k] = in[k % (4 * n)] + k;
    barrier();
    out[i] = tile[a % 12288] ^ tile[12287 - (b % 12288)];
}

KERNEL(barrier_in_a_uniform_branch, words, 128) {
    ITEM;
    local uint tile[128];
    uint x = a;
    if (in[group_id()] & 1) {
        tile[local_id()] = a * 3;
        barrier();
        x = tile[local_id() ^ 64];
    }
    out[i] = x;
}

KERNEL(one_lane_speaks, words, 256) {
    ITEM;
    local uint word;
    if (local_id() == (in[group_id()] & 255))
        word = a ^ 0x1234;
    barrier();
    out[i] = word + b;
}
