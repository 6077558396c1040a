// SPDX-License-Identifier: MIT
// OpenCL's printf into hidden_printf_buffer.
kernel void opencl(global const float4 *v, char2 c) {
    printf("%.1v4hlf a:%d\n", *v, 42);
    printf("%v2hhd %s \"%ld\"\n", c, "texts", 1L << 40);
}

// clang calls it after it has linked libraries: so that they have been asked for it.
global char *__printf_alloc(uint bytes);
kernel void unused(global ulong *out) { *out = (ulong)__printf_alloc(0); }
