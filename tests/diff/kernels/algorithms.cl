// SPDX-License-Identifier: MIT
// Longer pieces of code, as programs have them.
#include "prelude.h"

INLINE uint rotate_left(uint x, uint by) { return x << by | x >> (32 - by); }

KERNEL(murmur_hash, words, 128) {
    ITEM;
    const uint words[4] = {a, b, c, d};
    uint h = 0x12345678;
    for (int k = 0; k < 4; ++k) {
        h ^= rotate_left(words[k] * 0xcc9e2d51, 15) * 0x1b873593;
        h = rotate_left(h, 13) * 5 + 0xe6546b64;
    }
    h = (h ^ h >> 16) * 0x85ebca6b;
    h = (h ^ h >> 13) * 0xc2b2ae35;
    out[i] = h ^ h >> 16;
}

KERNEL(crc32, words, 128) {
    ITEM;
    const uint words[4] = {a, b, c, d};
    uint crc = ~0u;
    for (int k = 0; k < 4; ++k) {
        crc ^= words[k];
        for (int bit = 0; bit < 32; ++bit)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    out[i] = ~crc;
}

#define QUARTER(x, y, z, w)                                                                        \
    x += y, w = rotate_left(w ^ x, 16), z += w, y = rotate_left(y ^ z, 12), x += y,                \
        w = rotate_left(w ^ x, 8), z += w, y = rotate_left(y ^ z, 7)

KERNEL(chacha, words, 64) {
    ITEM;
    uint s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574, a, b, c, d, ~a, ~b, ~c, ~d, i, 0, 1, 2};
    uint x[16];
    for (int k = 0; k < 16; ++k)
        x[k] = s[k];
    for (int round = 0; round < 4; ++round) {
        QUARTER(x[0], x[4], x[8], x[12]);
        QUARTER(x[1], x[5], x[9], x[13]);
        QUARTER(x[2], x[6], x[10], x[14]);
        QUARTER(x[3], x[7], x[11], x[15]);
        QUARTER(x[0], x[5], x[10], x[15]);
        QUARTER(x[1], x[6], x[11], x[12]);
        QUARTER(x[2], x[7], x[8], x[13]);
        QUARTER(x[3], x[4], x[9], x[14]);
    }
    for (int k = 0; k < 4; ++k)
        out[k * n + i] = (x[k] + s[k]) ^ (x[k + 4] + s[k + 4]) ^ (x[k + 12] + s[k + 12]);
}

constant uint sha_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

KERNEL(sha256, words, 64) {
    ITEM;
    uint w[16] = {a, b, c, d, 0x80000000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 128};
    uint h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (uint t = 0; t < 64; ++t) {
        if (t >= 16) {
            const uint x = w[(t + 1) & 15], y = w[(t + 14) & 15];
            w[t & 15] += (rotate_left(x, 25) ^ rotate_left(x, 14) ^ x >> 3) + w[(t + 9) & 15] +
                         (rotate_left(y, 15) ^ rotate_left(y, 13) ^ y >> 10);
        }
        const uint t1 = h[7] + (rotate_left(h[4], 26) ^ rotate_left(h[4], 21) ^ rotate_left(h[4], 7)) +
                        ((h[4] & h[5]) ^ (~h[4] & h[6])) + sha_k[t] + w[t & 15];
        const uint t2 = (rotate_left(h[0], 30) ^ rotate_left(h[0], 19) ^ rotate_left(h[0], 10)) +
                        ((h[0] & h[1]) ^ (h[0] & h[2]) ^ (h[1] & h[2]));
        for (int k = 7; k > 0; --k)
            h[k] = h[k - 1];
        h[4] += t1;
        h[0] = t1 + t2;
    }
    out[i] = h[0] + 0x6a09e667;
    out[n + i] = h[4] + 0x510e527f;
    out[2 * n + i] = h[7] + 0x5be0cd19;
}

KERNEL(xorshift_and_lcg, words, 128) {
    ITEM;
    ulong state = u64(a, b) | 1;
    uint walk = c;
    for (int k = 0; k < 20; ++k) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        walk = walk * 1664525 + 1013904223 + (uint)(state >> 40);
    }
    PUT64(0, state);
    out[2 * n + i] = walk;
}

KERNEL(mandelbrot, words, 64) {
    ITEM;
    const float cx = (float)(a & 0xfff) * (3.0f / 4096) - 2.0f, cy = (float)(b & 0xfff) * (2.0f / 4096) - 1.0f;
    float x = 0, y = 0;
    uint steps = 0;
    while (x * x + y * y < 4.0f && steps < 60) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        ++steps;
    }
    out[i] = steps;
    out[n + i] = word_f32(x);
}

KERNEL(exponential_by_polynomial, f32, 128) {
    ITEM;
    float x = f32(a);
    x = x != x ? 0 : x > 80 ? 80 : x < -80 ? -80 : x;
    const float k = elementwise(roundeven)(x * 1.44269504f);
    float r = fma32(k, -0.693359375f, x);
    r = fma32(k, 2.12194440e-4f, r);
    float p = 1.9875691500e-4f;
    p = fma32(p, r, 1.3981999507e-3f);
    p = fma32(p, r, 8.3334519073e-3f);
    p = fma32(p, r, 4.1665795894e-2f);
    p = fma32(p, r, 1.6666665459e-1f);
    p = fma32(p, r, 0.5f);
    p = fma32(p * r, r, r + 1.0f);
    out[i] = word_f32(__builtin_ldexpf(p, (int)k));
}

KERNEL(solve_3x3_f64, f64, 64) {
    ITEM;
    double m[3][4];
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 4; ++column)
            m[row][column] = (double)(int)((a >> (row * 4 + column)) + b * column) * 0x1p-20 + (row == column ? 5000.0 : 0.0);
    for (int k = 0; k < 3; ++k)
        for (int row = k + 1; row < 3; ++row) {
            const double f = m[row][k] / m[k][k];
            for (int column = k; column < 4; ++column)
                m[row][column] -= f * m[k][column];
        }
    const double z = m[2][3] / m[2][2], y = (m[1][3] - m[1][2] * z) / m[1][1];
    PUT64(0, word_f64(z));
    PUT64(2, word_f64(y));
}

KERNEL(life, words, 256) { // 16 x 16 cells per group, 6 generations
    ITEM;
    local uint cells[2][16][16];
    const uint row = local_id() / 16, column = local_id() % 16;
    cells[0][row][column] = a >> 5 & 1;
    uint now = 0;
    for (uint step = 0; step < 6; ++step) {
        barrier();
        uint around = 0;
        for (uint dy = 15; dy < 18; ++dy)
            for (uint dx = 15; dx < 18; ++dx)
                around += cells[now][(row + dy) & 15][(column + dx) & 15];
        around -= cells[now][row][column];
        cells[now ^ 1][row][column] = around == 3 || (around == 2 && cells[now][row][column]);
        now ^= 1;
    }
    out[i] = cells[now][row][column];
}

KERNEL(unpack_nibbles, words, 128) { // an int4 row times activations, as the decode kernels define it
    ITEM;
    const uint order[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    float sum = 0;
    int exact = 0;
    for (uint k = 0; k < 8; ++k) {
        const int q = (int)(a >> 4 * order[k] & 15) - 8;
        const int x = (int)((k & 1 ? b : c) >> (k & 14) & 0x7f) - 64;
        sum = fma32((float)q, (float)x, sum);
        exact += q * x;
    }
    out[i] = word_f32(sum * 0.0625f);
    out[n + i] = (uint)exact;
}

KERNEL(softmax_shape, f32, 64) { // maximum, shifted sum, division
    ITEM;
    local float tile[64];
    const float x = (float)(a & 0xff) * 0.125f;
    tile[local_id()] = x;
    barrier();
    float largest = tile[0], sum = 0;
    for (uint k = 1; k < 64; ++k)
        largest = tile[k] > largest ? tile[k] : largest;
    for (uint k = 0; k < 64; ++k) {
        const float t = tile[k] - largest;
        sum += 1.0f / fma32(t, t, 1.0f);
    }
    out[i] = word_f32(1.0f / fma32(x - largest, x - largest, 1.0f) / sum);
}

KERNEL(multiply_256_bits, words, 64) {
    ITEM;
    const uint x[8] = {a, b, c, d, ~a, ~b, ~c, ~d}, y[8] = {d, c, b, a, a, b, c, d};
    uint product[16] = {0};
    for (int j = 0; j < 8; ++j) {
        ulong carry = 0;
        for (int k = 0; k < 8; ++k) {
            carry += (ulong)x[j] * y[k] + product[j + k];
            product[j + k] = (uint)carry;
            carry >>= 32;
        }
        product[j + 8] = (uint)carry;
    }
    for (int k = 0; k < 4; ++k)
        out[k * n + i] = product[k] ^ product[k + 4] * 3 ^ product[k + 8] * 5 ^ product[k + 12];
}

KERNEL(queens, words, 64) { // recursion by hand over a stack of bit masks
    ITEM;
    uint columns[7], left[7], right[7], free_places[7], solutions = 0;
    const uint size = 6, all = 63;
    int row = 0;
    columns[0] = 0, left[0] = a & 3, right[0] = b & 1;
    free_places[0] = all & ~(columns[0] | left[0] | right[0]);
    while (row >= 0) {
        if (!free_places[row]) {
            --row;
            continue;
        }
        const uint place = free_places[row] & -free_places[row];
        free_places[row] ^= place;
        if (row == (int)size - 1) {
            ++solutions;
            continue;
        }
        columns[row + 1] = columns[row] | place;
        left[row + 1] = (left[row] | place) << 1;
        right[row + 1] = (right[row] | place) >> 1;
        ++row;
        free_places[row] = all & ~(columns[row] | left[row] | right[row]);
    }
    out[i] = solutions;
}
