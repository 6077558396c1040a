// SPDX-License-Identifier: MIT
// decode.c: c[n] = sum over k of a[k] * (q[n,k] - 8) * s[n,k/128], on whatever GPU hip finds first
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <stdint.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        hipError_t e = (call);                                                                     \
        if (e != hipSuccess)                                                                       \
            return printf("%s: %s\n", #call, hipGetErrorName(e)), 1;                               \
    } while (0)

enum { N = 4096, K = 2560, GROUP = 128, BLOCK = 256, ROWS = 32 }; // BLOCK, ROWS: manifest.json

int main(int argc, char **argv) { // argv[1]: .../gfx1151/decode_w4a16_f16_g128_m1_subnormal.hsaco
    hipModule_t module;
    hipFunction_t kernel;
    TRY(hipModuleLoad(&module, argc > 1 ? argv[1] : ""));
    TRY(hipModuleGetFunction(&kernel, module, "decode_w4a16_f16_g128_m1_subnormal"));

    struct { // the argument block, as manifest.json lists it
        void *a, *w, *s, *bias, *c;
        uint32_t n, k, w_stride, s_stride; // strides of a row in bytes
        void *z;                           // zero points: none, 8 is built into this kernel
        uint32_t z_stride, groups;         // groups: the grid
    } args = {.n = N, .k = K, .w_stride = K / 2, .s_stride = 2 * K / GROUP, .groups = N / ROWS};
    TRY(hipMalloc(&args.a, 2 * K));
    TRY(hipMalloc(&args.w, (size_t)N * args.w_stride));
    TRY(hipMalloc(&args.s, (size_t)N * args.s_stride));
    TRY(hipMalloc(&args.c, 2 * N));
    TRY(hipMemsetD16(args.a, 0x3c00, K));                     // a = 1.0
    TRY(hipMemset(args.w, 0x99, (size_t)N * args.w_stride));  // q = 9, so q - 8 = 1
    TRY(hipMemsetD16(args.s, 0x3800, (size_t)N * K / GROUP)); // s = 0.5

    size_t bytes = sizeof args;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &args, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     HIP_LAUNCH_PARAM_END};
    TRY(hipModuleLaunchKernel(kernel, args.groups, 1, 1, BLOCK, 1, 1, 0, NULL, NULL, extra));

    static uint16_t c[N];
    TRY(hipMemcpy(c, args.c, sizeof c, hipMemcpyDeviceToHost));
    for (int n = 0; n < N; n++)
        if (c[n] != 0x6500) // 1280.0 = 2560 * 1 * 0.5
            return printf("c[%d] is 0x%04x\n", n, c[n]), 1;
    printf("%d outputs, all 1280.0\n", N);
    return 0;
}
