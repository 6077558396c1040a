// SPDX-License-Identifier: MIT
// Private arrays with computed indices: scratch memory, and what replaces it at -O2.
#include "prelude.h"

KERNEL(array_of_words, words, 128) {
    ITEM;
    uint values[16];
    for (uint k = 0; k < 16; ++k)
        values[k] = a * k + b;
    values[c & 15] ^= d;
    out[i] = values[d & 15];
    out[n + i] = values[(a + b) & 15] + values[7];
}

KERNEL(array_of_bytes, words, 128) {
    ITEM;
    uchar bytes[24];
    for (uint k = 0; k < 24; ++k)
        bytes[k] = (uchar)(a >> (k & 7) ^ b >> (k & 15));
    bytes[c % 24] += 3;
    uint sum = 0;
    for (uint k = 0; k < 24; ++k)
        sum = sum * 5 + bytes[(k * 7 + d) % 24];
    out[i] = sum;
}

KERNEL(array_of_shorts, words, 128) {
    ITEM;
    short values[20];
    for (int k = 0; k < 20; ++k)
        values[k] = (short)(a >> (k & 15)) - (short)(k * b);
    int sum = 0;
    for (uint k = 0; k < 20; ++k)
        sum += values[(k + c) % 20] * (int)k;
    out[i] = (uint)sum;
}

KERNEL(array_of_longs, words, 128) {
    ITEM;
    ulong values[9];
    for (uint k = 0; k < 9; ++k)
        values[k] = u64(a, b) * (k + 1);
    values[c % 9] += u64(c, d);
    PUT64(0, values[d % 9]);
    PUT64(2, values[(a ^ b) % 9] ^ values[3]);
}

KERNEL(array_of_vectors, words, 128) {
    ITEM;
    uint4 values[6];
    for (uint k = 0; k < 6; ++k)
        values[k] = (uint4)(a, b, c, d) + k;
    values[a % 6].z = 99;
    const uint4 v = values[b % 6] ^ values[c % 6];
    out[i] = v.x;
    out[n + i] = v.y;
    out[2 * n + i] = v.z;
    out[3 * n + i] = v.w;
}

KERNEL(insertion_sort, words, 64) {
    ITEM;
    uint values[12];
    for (uint k = 0; k < 12; ++k)
        values[k] = (k & 1 ? a : b) >> k ^ (k & 2 ? c : d) << k;
    for (int k = 1; k < 12; ++k) {
        const uint value = values[k];
        int at = k;
        for (; at > 0 && values[at - 1] > value; --at)
            values[at] = values[at - 1];
        values[at] = value;
    }
    uint sum = 0;
    for (uint k = 0; k < 12; ++k)
        sum = sum * 33 + values[k];
    out[i] = values[0];
    out[n + i] = values[11];
    out[2 * n + i] = sum;
}

KERNEL(stack_machine, words, 64) {
    ITEM;
    uint stack[8], top = 0, program = a;
    stack[top++] = b;
    stack[top++] = c;
    for (uint k = 0; k < 16; ++k, program >>= 2) {
        if ((program & 3) == 0 && top < 8)
            stack[top] = d + k, ++top;
        else if ((program & 3) == 1 && top > 1)
            --top, stack[top - 1] += stack[top];
        else if ((program & 3) == 2)
            stack[top - 1] = stack[top - 1] * 3 + 1;
        else if (top > 1)
            --top, stack[top - 1] ^= stack[top];
    }
    out[i] = stack[top - 1];
    out[n + i] = top;
}

struct Node {
    uint value;
    ushort next;
    uchar used;
};

KERNEL(linked_list, words, 64) {
    ITEM;
    struct Node nodes[10];
    for (uint k = 0; k < 10; ++k) {
        nodes[k].value = a + k * b;
        nodes[k].next = (ushort)((k * 3 + c) % 10);
        nodes[k].used = 0;
    }
    uint at = d % 10, sum = 0;
    while (!nodes[at].used) {
        nodes[at].used = 1;
        sum = sum * 7 + nodes[at].value;
        at = nodes[at].next;
    }
    out[i] = sum;
    out[n + i] = at;
}

KERNEL(copies_of_structs, words, 128) {
    ITEM;
    struct Big { uint words[14]; } x, y;
    for (uint k = 0; k < 14; ++k)
        x.words[k] = a ^ k * b;
    y = x;
    y.words[c % 14] = d;
    if (a & 1)
        x = y;
    out[i] = x.words[c % 14];
    out[n + i] = y.words[d % 14];
}

KERNEL(matrix_in_registers, words, 64) {
    ITEM;
    uint m[4][4], p[4][4];
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column)
            m[row][column] = (row == column ? a : b) + row * c - column * d;
    for (int row = 0; row < 4; ++row)
        for (int column = 0; column < 4; ++column) {
            p[row][column] = 0;
            for (int k = 0; k < 4; ++k)
                p[row][column] += m[row][k] * m[k][column];
        }
    out[i] = p[a & 3][b & 3];
    out[n + i] = p[1][2];
    out[2 * n + i] = p[3][c & 3];
}

KERNEL(many_live_values, words, 64) { // more than registers for some: spills at -O0, long lives at -O3
    ITEM;
    uint v[64];
#pragma unroll
    for (int k = 0; k < 64; ++k)
        v[k] = a * (2 * k + 1) ^ b >> (k & 31);
#pragma unroll
    for (int k = 0; k < 64; ++k)
        v[(k * 37 + 11) & 63] += v[k] * c;
    uint sum = 0;
#pragma unroll
    for (int k = 0; k < 64; ++k)
        sum = (sum << 3 | sum >> 29) ^ v[k];
    out[i] = sum;
}

KERNEL(large_frame, words, 64) { // offsets beyond an instruction's immediate
    ITEM;
    uint values[3000];
    for (uint k = 0; k < 3000; k += 61)
        values[k] = a + k;
    values[(b % 49) * 61] = c;
    values[2999] = d;
    out[i] = values[(c % 49) * 61] + values[2999];
    out[n + i] = values[2928];
}

KERNEL(unaligned_bytes, words, 128) {
    ITEM;
    uchar bytes[32];
    for (uint k = 0; k < 32; ++k)
        bytes[k] = (uchar)(a * k + b);
    uint word;
    ulong both;
    __builtin_memcpy(&word, bytes + (c & 15), 4);
    __builtin_memcpy(&both, bytes + (d & 7) + 9, 8);
    out[i] = word;
    PUT64(1, both);
}
