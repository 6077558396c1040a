// SPDX-License-Identifier: MIT
// Functions that are not inlined: the calling convention, stack frames, saved registers.
#include "prelude.h"
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable

NOINLINE uint mix(uint x, uint y) { return (x ^ y >> 7) * 0x9e3779b1u + y; }

KERNEL(one_call, words, 128) {
    ITEM;
    out[i] = mix(a, b);
}

KERNEL(calls_in_a_loop, words, 128) {
    ITEM;
    uint x = a;
    for (uint k = 0; k < (b & 7); ++k)
        x = mix(x, c + k);
    out[i] = x;
}

NOINLINE uint outer(uint x, uint y) { return mix(mix(x, y), mix(y, x)) + x; }
NOINLINE uint outermost(uint x, uint y, uint z) { return outer(x, z) ^ outer(y, z) ^ z; }

KERNEL(chain_of_calls, words, 128) {
    ITEM;
    out[i] = outermost(a, b, c);
    out[n + i] = outermost(d, a, 5);
}

KERNEL(divergent_calls, words, 128) {
    ITEM;
    uint x = 0;
    if (a & 1)
        x = outer(b, c);
    else if (b & 1)
        x = mix(c, d);
    out[i] = x;
}

NOINLINE uint many_arguments(uint a0, uint a1, uint a2, uint a3, uint a4, uint a5, uint a6, uint a7, ulong b0,
                             ulong b1, ulong b2, ulong b3, uint4 v0, uint4 v1, uint4 v2, uint4 v3, uint t) {
    const ulong sum = b0 + 2 * b1 + 3 * b2 + 5 * b3;
    const uint4 v = v0 + v1 * 3 + v2 * 5 + v3 * 7;
    return (a0 + a1 * 3 + a2 * 5 + a3 * 7 + a4 * 11 + a5 * 13 + a6 * 17 + a7 * 19) ^ (uint)(sum >> 13) ^ v.x ^
           v.y << 1 ^ v.z << 2 ^ v.w << 3 ^ t;
}

KERNEL(arguments_in_registers, words, 128) { // 33 registers: some go over the stack
    ITEM;
    const uint4 v = {a, b, c, d};
    out[i] = many_arguments(a, b, c, d, a + 1, b + 2, c + 3, d + 4, u64(a, b), u64(c, d), u64(b, c), u64(d, a), v,
                            v.wzyx, v + 9, v * v, i);
}

struct Record {
    uint key;
    ulong weight;
    float parts[3];
    uchar tag;
};

NOINLINE struct Record make_record(uint x, uint y) {
    struct Record r = {x * 3, u64(y, x), {1.0f, 2.0f, (float)(x & 0xff)}, (uchar)y};
    return r;
}
NOINLINE uint weigh(struct Record r) { return r.key + (uint)(r.weight >> 7) + (uint)(r.parts[2] * r.parts[1]) + r.tag; }

KERNEL(structs_by_value, words, 128) {
    ITEM;
    struct Record r = make_record(a, b);
    r.parts[1] += 0.5f;
    out[i] = weigh(r);
    out[n + i] = weigh(make_record(c, d));
}

NOINLINE void update(uint *total, const uint *values, int count) {
    for (int k = 0; k < count; ++k)
        *total = *total * 17 + values[k];
}

KERNEL(pointers_to_locals, words, 128) {
    ITEM;
    uint values[4] = {a, b, c, d}, total = 1;
    update(&total, values, 4);
    update(&total, values + 1, (int)(a & 3));
    out[i] = total;
}

typedef uint (*Operation)(uint, uint);
NOINLINE uint add(uint x, uint y) { return x + y; }
NOINLINE uint subtract(uint x, uint y) { return x - y; }
NOINLINE uint multiply(uint x, uint y) { return x * y; }

KERNEL(function_pointers, words, 128) {
    ITEM;
    const Operation chosen = a % 3 == 0 ? add : a % 3 == 1 ? subtract : multiply;
    out[i] = chosen(b, c);
}

NOINLINE float smooth(float x, float y) { return x * x + y * 0.5f; }
NOINLINE double smooth64(double x, float y) { return x * x - y; }
NOINLINE half smooth16(half x, half y) { return x * y + x; }

KERNEL(float_arguments, f32, 128) {
    ITEM;
    out[i] = word_f32(smooth(f32(a), f32(b)));
    PUT64(1, word_f64(smooth64(f32(c), f32(d))));
    out[3 * n + i] = word_f16(smooth16((half)f32(a), (half)f32(c)));
}

NOINLINE uint group_of_the_caller(uint x) { return x + group_id() * 1000 + local_id(); }

KERNEL(ids_inside_a_function, words, 128) { // passed along in registers that the kernel sets up
    ITEM;
    out[i] = group_of_the_caller(a);
    out[n + i] = a & 1 ? group_of_the_caller(b) : c;
}

NOINLINE ulong power(ulong base, uint exponent, ulong modulus) {
    ulong result = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            result = (result * base & 0x7fffffff) ^ modulus;
        base = base * base & 0xffffffff;
    }
    return result;
}

KERNEL(live_across_calls, words, 64) { // values that the callee must not lose
    ITEM;
    uint kept[12];
    for (uint k = 0; k < 12; ++k)
        kept[k] = a * (k + 1) + b;
    const ulong p = power(c, d & 0xff, a);
    uint sum = (uint)p;
    for (uint k = 0; k < 12; ++k)
        sum = sum * 3 ^ kept[k];
    out[i] = sum;
    out[n + i] = (uint)(power(p | 1, a & 31, 3) >> 5) + kept[b % 12];
}

NOINLINE uint4 rotate_vector(uint4 v, uint by) { return by & 1 ? v.yzwx : v.wxyz; }

KERNEL(vectors_by_value, words, 128) {
    ITEM;
    uint4 v = {a, b, c, d};
    for (uint k = 0; k < (a & 3) + 1; ++k)
        v = rotate_vector(v + k, b >> k);
    out[i] = v.x;
    out[n + i] = v.y;
    out[2 * n + i] = v.z;
    out[3 * n + i] = v.w;
}
