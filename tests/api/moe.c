/* SPDX-License-Identifier: MIT */
/* A mixture of experts by the C API: for each token the products of its two experts, SiLU(gate) *
 * up between them, weighted by the router; f16, and the same in double. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <math.h>
#include <nibblewave.h>
#include <stdio.h>
#include <stdlib.h>

#include "upload.h"

enum { TOKENS = 3, EXPERTS = 5, TOP_K = 2, SLOTS = TOKENS * TOP_K };
enum { HIDDEN = 256, INNER = 128, GROUP = 128 };

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

/* The router's choice. */
static const int32_t expert_of[SLOTS] = {4, 0, 2, 4, 1, 3};
static const float weight_of[SLOTS] = {0.75f, 0.25f, 0.5f, 0.5f, 0.875f, 0.125f};

static _Float16 a[TOKENS][HIDDEN], between[SLOTS][INNER], out[SLOTS][HIDDEN];

/* One matrix of all experts: small made-up weights. */
struct weights {
    int n, k;
    uint64_t stride;
    uint32_t *packed;
    _Float16 *s;
};

static int weight(int e, int n, int k) { return (7 * e + 3 * n + 5 * k + n * k / 9) % 16; }

static struct weights make(const char *gfx, int n, int k) {
    struct weights w = {n, k, nw_weight_row_stride(gfx, (uint32_t)k), NULL, NULL};
    w.packed = calloc((size_t)EXPERTS * n, w.stride);
    w.s = calloc((size_t)EXPERTS * n * (k / GROUP), sizeof *w.s);
    for (int row = 0; w.packed && w.s && row < EXPERTS * n; row++) {
        for (int i = 0; i < k; i++)
            w.packed[row * w.stride / 4 + i / 8] |=
                (uint32_t)weight(row / n, row % n, i / 8 * 8 + order[i % 8]) << 4 * (i % 8);
        for (int g = 0; g < k / GROUP; g++)
            w.s[row * (k / GROUP) + g] = (_Float16)((row + g) % 5 / 256.0 + 1.0 / 256);
    }
    return w;
}

/* y[n] of one expert, and how far off nibblewave.h lets it be. */
static double exact(const struct weights *w, const _Float16 *x, int e, int n, double *bound) {
    double sum = 0, sizes = 0;
    for (int k = 0; k < w->k; k++) {
        const double s = (double)w->s[(e * w->n + n) * (w->k / GROUP) + k / GROUP];
        sum += (double)x[k] * s * (weight(e, n, k) - 8);
        sizes += fabs((double)x[k] * s);
    }
    *bound = sizes / 2048;
    return sum;
}

static double silu(double x) { return x / (1 + exp(-x)); }

/* A copy in device memory; null where there is none. */
static void *on_device(const void *from, size_t bytes) {
    void *to = NULL;
    if (hipMalloc(&to, bytes) != hipSuccess || (from && upload(to, from, bytes) != hipSuccess))
        return NULL;
    return to;
}

static nw_moe_w4a16 product(const struct weights *w) {
    nw_moe_w4a16 p = NW_MOE_W4A16_INIT;
    p.dtype = NW_F16;
    p.block_size_m = 1, p.blocks = p.slots = SLOTS, p.experts = EXPERTS;
    p.n = (uint32_t)w->n, p.k = (uint32_t)w->k, p.group = GROUP;
    p.w_stride = w->stride, p.w_expert = w->n * w->stride;
    p.s_stride = (uint64_t)(w->k / GROUP) * sizeof *w->s, p.s_expert = w->n * p.s_stride;
    p.w = on_device(w->packed, EXPERTS * p.w_expert);
    p.s = on_device(w->s, EXPERTS * p.s_expert);
    return p;
}

static int off(const char *what, int slot, int n, double got, double want, double bound) {
    if (fabs(got - want) <= bound + fabs(want) / 2048 + 1e-7) /* and one rounding; false for NaN */
        return 0;
    printf("%s[%d][%d] is %g, not %g\n", what, slot, n, got, want);
    return 1;
}

static int check(const struct weights *up, const struct weights *down) {
    for (int slot = 0; slot < SLOTS; slot++) {
        const int e = expert_of[slot];
        for (int n = 0; n < INNER; n++) {
            double dg, du;
            const double g = exact(up, a[slot / TOP_K], e, n, &dg);
            const double u = exact(up, a[slot / TOP_K], e, n + INNER, &du);
            /* the slope of SiLU is below 1.1 */
            const double bound = 1.1 * dg * (fabs(u) + du) + fabs(silu(g)) * du;
            if (off("between", slot, n, (double)between[slot][n], silu(g) * u, bound))
                return 1;
        }
        for (int n = 0; n < HIDDEN; n++) {
            double bound;
            const double y = exact(down, between[slot], e, n, &bound);
            if (off("out", slot, n, (double)out[slot][n], weight_of[slot] * y,
                    weight_of[slot] * bound))
                return 1;
        }
    }
    return 0;
}

int main(void) {
    nw_context *context;
    hipStream_t stream;
    HIP(hipSetDevice(0));
    NW(nw_context_create(NULL, &context));
    HIP(hipStreamCreate(&stream));
    const char *gfx = nw_context_gfx(context);
    for (int t = 0; t < TOKENS; t++)
        for (int k = 0; k < HIDDEN; k++)
            a[t][k] = (_Float16)(((t + 3) * k % 17 - 8) / 8.0);
    struct weights up = make(gfx, 2 * INNER, HIDDEN), down = make(gfx, HIDDEN, INNER);

    /* Rows 0 .. INNER-1 of an expert are gate, the others up: between = silu(gate) * up. */
    nw_moe_w4a16 first = product(&up);
    first.silu_gate_up = 1;
    first.top_k = TOP_K; /* slots t and t + 1 are of one token */
    first.a = on_device(a, sizeof a);
    first.expert_ids = on_device(expert_of, sizeof expert_of);
    first.c = on_device(NULL, sizeof between);

    nw_moe_w4a16 second = product(&down);
    second.top_k = 1; /* a row of `between` is a slot's own */
    second.a = first.c;
    second.expert_ids = first.expert_ids;
    second.topk_weights = on_device(weight_of, sizeof weight_of);
    second.c = on_device(NULL, sizeof out);

    NW(nw_moe_linear_w4a16(context, &first, stream));
    NW(nw_moe_linear_w4a16(context, &second, stream));
    HIP(hipStreamSynchronize(stream));
    HIP(hipMemcpy(between, first.c, sizeof between, hipMemcpyDeviceToHost));
    HIP(hipMemcpy(out, second.c, sizeof out, hipMemcpyDeviceToHost));
    if (check(&up, &down))
        return 1;
    printf("%s: %d slots of %d tokens, all as in double\n", gfx, SLOTS, TOKENS);
    nw_context_destroy(context);
    return 0;
}
