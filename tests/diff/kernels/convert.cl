// SPDX-License-Identifier: MIT
// Conversions. Those to integers saturate and take NaN to 0 (-fno-strict-float-cast-overflow).
#include "prelude.h"

KERNEL(f32_to_i32, f32, 128) {
    ITEM;
    out[i] = (uint)(int)f32(a);
    out[n + i] = (uint)f32(b);
    out[2 * n + i] = (uint)(int)(f32(c) * 1000.0f);
    out[3 * n + i] = (uint)elementwise(abs)(f32(d));
}

KERNEL(i32_to_f32, words, 128) {
    ITEM;
    out[i] = word_f32((float)(int)a);
    out[n + i] = word_f32((float)a);
    out[2 * n + i] = word_f32((float)(b & 0xffff) * 0.5f);
    out[3 * n + i] = word_f32((float)(int)(short)c + (float)(uchar)d);
}

KERNEL(bytes_to_f32, words, 128) { // v_cvt_f32_ubyte0..3
    ITEM;
    out[i] = word_f32((float)(a & 0xff));
    out[n + i] = word_f32((float)(a >> 8 & 0xff));
    out[2 * n + i] = word_f32((float)(a >> 16 & 0xff));
    out[3 * n + i] = word_f32((float)(a >> 24) + (float)(signed char)(b >> 8));
}

KERNEL(f32_to_f16, f32, 128) {
    ITEM;
    out[i] = word_f16((half)f32(a));
    // clang makes one v_fma_mixlo_f16 of it, which adds +0: -0 is lost.
    const half tiny = (half)(f32(b) * 0x1p-14f);
    out[n + i] = tiny == 0 ? 0 : word_f16(tiny);
    out[2 * n + i] = word_f16((half)f32(c)) | word_f16((half)f32(d)) << 16;
}

KERNEL(f16_to_f32, f16, 128) {
    ITEM;
    out[i] = word_f32((float)f16(a));
    out[n + i] = word_f32((float)f16(a >> 16));
    out[2 * n + i] = word_f32((float)f16(b) + (float)f16(c));
}

KERNEL(f64_to_f32, f64, 128) {
    ITEM;
    out[i] = word_f32((float)f64(a, b));
    out[n + i] = word_f32((float)(f64(a, b) * 1.0000001));
    PUT64(2, word_f64((double)f32(a) * (double)f32(d)));
}

KERNEL(f64_to_f16, f64, 128) { // one rounding: not through float
    ITEM;
    out[i] = word_f16((half)f64(a, b));
    out[n + i] = word_f16((half)((double)(float)f32(c) * 0x1p-20));
    PUT64(2, word_f64((double)f16(d)));
}

KERNEL(f64_to_i32, f64, 128) {
    ITEM;
    out[i] = (uint)(int)f64(a, b);
    out[n + i] = (uint)f64(c, d);
    PUT64(2, word_f64((double)(int)a + (double)d));
}

KERNEL(f64_to_i64, f64, 64) {
    ITEM;
    PUT64(0, (ulong)(long)f64(a, b));
    PUT64(2, (ulong)f64(c, d));
}

KERNEL(f32_to_i64, f32, 64) {
    ITEM;
    PUT64(0, (ulong)(long)f32(a));
    PUT64(2, (ulong)f32(b));
}

KERNEL(i64_to_f32, words, 128) {
    ITEM;
    out[i] = word_f32((float)(long)u64(a, b));
    out[n + i] = word_f32((float)u64(c, d));
    out[2 * n + i] = word_f32((float)(ulong)(u64(a, b) >> (c & 63)));
}

KERNEL(i64_to_f64, words, 128) {
    ITEM;
    PUT64(0, word_f64((double)(long)u64(a, b)));
    PUT64(2, word_f64((double)(u64(c, d) >> (a & 31))));
}

KERNEL(f16_to_integers, f16, 128) {
    ITEM;
    out[i] = (uint)(int)f16(a);
    out[n + i] = (uint)f16(b);
    out[2 * n + i] = (ushort)(short)f16(c) | (uint)(ushort)f16(d) << 16;
}

KERNEL(integers_to_f16, words, 128) {
    ITEM;
    out[i] = word_f16((half)(short)a);
    out[n + i] = word_f16((half)(ushort)b);
    out[2 * n + i] = word_f16((half)(int)c);
    out[3 * n + i] = word_f16((half)(d & 0xffff));
}

KERNEL(narrow_integers, words, 128) {
    ITEM;
    out[i] = (uint)(signed char)a + (uchar)b;
    out[n + i] = (uint)(short)c - (ushort)d;
    out[2 * n + i] = (uint)(ulong)(long)(int)a ^ (uint)((long)(int)b >> 32);
    out[3 * n + i] = a != 0 && (b & 1);
}

KERNEL(quantize_to_bytes, f32, 128) {
    ITEM;
    const float scaled = elementwise(roundeven)(f32(a) * 127.0f);
    const int value = (int)scaled, clamped = value < -128 ? -128 : value > 127 ? 127 : value;
    out[i] = (uint)clamped & 0xff;
    out[n + i] = word_f32((float)clamped * 0.0078125f);
}
