/* SPDX-License-Identifier: MIT */
/* One product by the C API: C = A * dequant(W)^T + bias, two rows of activations, f16, and the
 * same in double. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <nibblewave.h>
#include <stdio.h>
#include <stdlib.h>

#include "upload.h"

enum { M = 2, N = 100, K = 4096, GROUP = 128 };

#define HIP(call)                                                                                  \
    do {                                                                                           \
        hipError_t e = (call);                                                                     \
        if (e != hipSuccess)                                                                       \
            return printf("%s: %s\n", #call, hipGetErrorName(e)), 1;                               \
    } while (0)

#define NW(call)                                                                                   \
    do {                                                                                           \
        nw_status s = (call);                                                                      \
        if (s != NW_OK)                                                                            \
            return printf("%s: %s: %s\n", #call, nw_status_name(s), nw_last_error()), 1;           \
    } while (0)

static const int order[8] = {0, 2, 4, 6, 1, 3, 5, 7}; /* k of each nibble of a dword */

static _Float16 a[M][K], s[N][K / GROUP], bias[N], c[M][N];
static unsigned char q[N][K];

static void make_inputs(void) {
    for (int m = 0; m < M; m++)
        for (int k = 0; k < K; k++)
            a[m][k] = (_Float16)(((m + 3) * k % 17 - 8) / 8.0);
    for (int n = 0; n < N; n++) {
        bias[n] = (_Float16)(n % 7 - 3);
        for (int g = 0; g < K / GROUP; g++)
            s[n][g] = (_Float16)(((n + g) % 5 + 1) / 64.0);
        for (int k = 0; k < K; k++)
            q[n][k] = (unsigned char)((n * k + k / 9 + n) % 16);
    }
}

/* Rows of dwords, `stride` bytes apart; eight weights in each. */
static uint32_t *pack(uint64_t stride) {
    uint32_t *w = calloc(N, stride);
    for (int n = 0; w && n < N; n++)
        for (int k = 0; k < K; k++)
            w[n * stride / 4 + k / 8] |= (uint32_t)q[n][k / 8 * 8 + order[k % 8]] << 4 * (k % 8);
    return w;
}

/* The exact C[m][n] and, in *bound, the error bound of nibblewave.h, rounding to f16 included. */
static double exact(int m, int n, double *bound) {
    double sum = bias[n], sizes = 0;
    for (int k = 0; k < K; k++) {
        const double factor = (double)a[m][k] * (double)s[n][k / GROUP];
        sum += factor * (q[n][k] - 8);
        sizes += factor < 0 ? -factor : factor;
    }
    *bound = (sizes + (sum < 0 ? -sum : sum)) / 2048;
    return sum;
}

/* A copy in device memory; null where there is none. */
static void *on_device(const void *from, size_t bytes) {
    void *to = NULL;
    if (hipMalloc(&to, bytes) != hipSuccess || (from && upload(to, from, bytes) != hipSuccess))
        return NULL;
    return to;
}

int main(void) {
    nw_context *context;
    nw_w4a16 p = NW_W4A16_INIT;
    hipStream_t stream;
    HIP(hipSetDevice(0));
    NW(nw_context_create(NULL, &context));
    HIP(hipStreamCreate(&stream));

    make_inputs();
    p.dtype = NW_F16;
    p.m = M, p.n = N, p.k = K, p.group = GROUP;
    p.w_stride = nw_weight_row_stride(nw_context_gfx(context), K);
    p.s_stride = sizeof s[0];
    uint32_t *w = pack(p.w_stride);
    p.a = on_device(a, sizeof a);
    p.w = on_device(w, N * p.w_stride);
    p.s = on_device(s, sizeof s);
    p.bias = on_device(bias, sizeof bias);
    p.c = on_device(NULL, sizeof c);

    NW(nw_linear_w4a16(context, &p, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipMemcpy(c, p.c, sizeof c, hipMemcpyDeviceToHost));

    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double bound, want = exact(m, n, &bound), off = (double)c[m][n] - want;
            if (!(off <= bound && -off <= bound)) /* also where it is NaN */
                return printf("c[%d][%d] is %g, not %g\n", m, n, (double)c[m][n], want), 1;
        }
    printf("%s: %d x %d outputs, all as in double\n", nw_context_gfx(context), M, N);
    free(w);
    nw_context_destroy(context);
    return 0;
}
