/* SPDX-License-Identifier: MIT */
/* Every quantized tensor of a GGUF file times activations, through the shim for ggml backends, and
 * the same in double.
 *
 *     gguf MODEL.gguf [rows of activations] */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <nibblewave_ggml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upload.h"

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

/* ---- a file: its tensors, where they are. For files without metadata. ---- */

typedef struct {
    nw_ggml_tensor t; /* data is in this process */
    char name[64];
} tensor;

typedef struct {
    const unsigned char *at, *end;
} reader;

static uint64_t number(reader *r, int bytes) {
    uint64_t out = 0;
    if (r->end - r->at < bytes)
        return r->at = r->end, 0;
    memcpy(&out, r->at, (size_t)bytes);
    r->at += bytes;
    return out;
}

/* A row's bytes, and of a block; 0 for a type that is not quantized. */
static uint64_t row_bytes(int32_t type, int64_t k, uint32_t *block) {
    uint32_t elements;
    nw_ggml_block(type, &elements, block);
    return elements ? (uint64_t)k / elements * *block : 0;
}

static int read_tensor(reader *r, tensor *out) {
    const uint64_t length = number(r, 8);
    if (length >= sizeof out->name || (uint64_t)(r->end - r->at) < length)
        return 0;
    memset(out, 0, sizeof *out);
    memcpy(out->name, r->at, length);
    r->at += length;
    const uint64_t dimensions = number(r, 4);
    for (uint64_t d = 0; d < 4; d++)
        out->t.ne[d] = d < dimensions ? (int64_t)number(r, 8) : 1;
    out->t.type = (int32_t)number(r, 4);
    out->t.nb[1] = number(r, 8); /* its place, for now */
    return dimensions <= 4;
}

/* The number of tensors, or -1. */
static int read_file(const unsigned char *file, size_t size, tensor *out, int most) {
    reader r = {file + 4, file + size};
    if (size < 24 || memcmp(file, "GGUF", 4) || number(&r, 4) != 3)
        return -1;
    const uint64_t count = number(&r, 8);
    if (number(&r, 8) != 0 || count > (uint64_t)most)
        return -1;
    for (uint64_t i = 0; i < count; i++)
        if (!read_tensor(&r, &out[i]))
            return -1;
    const uint64_t data = ((uint64_t)(r.at - file) + 31) / 32 * 32;
    for (uint64_t i = 0; i < count; i++) {
        nw_ggml_tensor *t = &out[i].t;
        uint32_t block;
        const uint64_t row = row_bytes(t->type, t->ne[0], &block), place = data + t->nb[1];
        if (place + row * (uint64_t)(t->ne[1] * t->ne[2] * t->ne[3]) > size)
            return -1;
        t->data = (void *)(file + place);
        t->nb[0] = block, t->nb[1] = row;
        t->nb[2] = row * (uint64_t)t->ne[1], t->nb[3] = t->nb[2] * (uint64_t)t->ne[2];
    }
    return (int)count;
}

/* ---- weights: p - b, as nibblewave.h has it ---- */

static double half(const unsigned char *at) {
    _Float16 h;
    memcpy(&h, at, 2);
    return (double)h;
}

static void weight(int32_t type, const unsigned char *row, uint32_t k, double *p, double *b) {
    *b = 0;
    if (type == NW_GGUF_Q4_0) {
        const unsigned char *w = row + k / 32 * 18;
        *p = half(w) * ((w[2 + k % 16] >> (k % 32 < 16 ? 0 : 4) & 15) - 8);
    } else if (type == NW_GGUF_Q8_0) {
        const unsigned char *w = row + k / 32 * 34;
        *p = half(w) * (signed char)w[2 + k % 32];
    } else if (type == NW_GGUF_Q4_K) {
        const unsigned char *w = row + k / 256 * 144, *s = w + 4;
        const uint32_t j = k % 256 / 32;
        const int scale = j < 4 ? s[j] & 63 : (s[j + 4] & 15) | s[j - 4] >> 6 << 4;
        const int least = j < 4 ? s[j + 4] & 63 : s[j + 4] >> 4 | s[j] >> 6 << 4;
        *p = half(w) * scale * (w[16 + j / 2 * 32 + k % 32] >> (j % 2 ? 4 : 0) & 15);
        *b = half(w + 2) * least;
    } else {
        const unsigned char *w = row + k / 256 * 210;
        const uint32_t i = k % 256, h = i / 128, part = i % 128 / 32, l = i % 32;
        const int low = w[64 * h + 32 * (part % 2) + l] >> (part / 2 ? 4 : 0) & 15;
        const int high = w[128 + 32 * h + l] >> 2 * part & 3;
        *p = half(w + 208) * (signed char)w[192 + i / 16] * ((low | high << 4) - 32);
    }
}

/* The product of a row of weights and one of activations, and how far off nibblewave.h lets it be.
 */
static double exact(int32_t type, const unsigned char *row, const float *x, uint32_t k,
                    double *bound) {
    double sum = 0, most = 0;
    for (uint32_t i = 0; i < k; i++)
        most = x[i] > most ? x[i] : -x[i] > most ? -x[i] : most;
    *bound = 0;
    for (uint32_t i = 0; i < k; i++) {
        double p, b, block = 1.0 / 128, size = x[i] < 0 ? -x[i] : x[i];
        for (uint32_t j = i / 32 * 32; j < i / 32 * 32 + 32; j++)
            block = x[j] > block ? x[j] : -x[j] > block ? -x[j] : block;
        weight(type, row, i, &p, &b);
        sum += (p - b) * x[i];
        p = p < 0 ? -p : p, b = b < 0 ? -b : b;
        *bound += p * block / 220 + b * block / 700 + (p + b) * most / (1 << 29) + size / (1 << 25);
    }
    return sum;
}

/* ---- products ---- */

static const char *at(const nw_ggml_tensor *t, uint64_t d1, uint64_t d2, uint64_t d3) {
    return (const char *)t->data + d1 * t->nb[1] + d2 * t->nb[2] + d3 * t->nb[3];
}

/* f32 [ne0, ne1, ne2, ne3] in host memory, `padding` bytes behind a row and behind a matrix. */
static nw_ggml_tensor floats(int64_t ne0, int64_t ne1, int64_t ne2, int64_t ne3, uint64_t padding) {
    nw_ggml_tensor t = {NW_GGUF_F32, {ne0, ne1, ne2, ne3}, {4, 0, 0, 0}, NULL};
    t.nb[1] = 4 * (uint64_t)ne0 + padding;
    t.nb[2] = (uint64_t)ne1 * t.nb[1] + padding;
    t.nb[3] = (uint64_t)ne2 * t.nb[2];
    t.data = calloc(1, t.nb[3] * (uint64_t)ne3);
    return t;
}

/* A copy in device memory of host memory. */
static int to_device(const nw_ggml_tensor *host, nw_ggml_tensor *out) {
    const size_t bytes = host->nb[3] * (uint64_t)host->ne[3];
    *out = *host;
    HIP(hipMalloc(&out->data, bytes));
    HIP(upload(out->data, host->data, bytes));
    return 0;
}

static int compare(const char *name, const nw_ggml_tensor *a, const nw_ggml_tensor *b,
                   const nw_ggml_tensor *c) {
    for (int64_t j = 0; j < c->ne[3]; j++)
        for (int64_t i = 0; i < c->ne[2]; i++)
            for (int64_t m = 0; m < c->ne[1]; m++)
                for (int64_t n = 0; n < c->ne[0]; n++) {
                    double bound, want;
                    want = exact(a->type,
                                 (const unsigned char *)at(a, n, i / (c->ne[2] / a->ne[2]),
                                                           j / (c->ne[3] / a->ne[3])),
                                 (const float *)at(b, m, i, j), (uint32_t)a->ne[0], &bound);
                    const double got = ((const float *)at(c, m, i, j))[n], off = got - want;
                    if (!(off < bound && -off < bound)) /* also where it is NaN */
                        return printf("%s: dst[%d][%d][%d][%d] is %g, not %g\n", name, (int)j,
                                      (int)i, (int)m, (int)n, got, want),
                               1;
                }
    return 0;
}

/* With `more` matrices of activations to one of weights, rows apart by `padding`. */
static int multiply(nw_context *context, const tensor *w, int rows, int more, uint64_t padding) {
    const nw_ggml_tensor *a = &w->t;
    nw_ggml_tensor b = floats(a->ne[0], rows, a->ne[2] * more, a->ne[3], padding),
                   c = floats(a->ne[1], rows, b.ne[2], b.ne[3], 0), on_a, on_b, on_c;
    const char *why;
    uint64_t bytes;
    void *workspace;
    for (uint64_t i = 0; i < b.nb[3] * (uint64_t)b.ne[3] / 4; i++)
        ((float *)b.data)[i] = (float)((int)(i * 37 % 101) - 50) / 32;
    if (to_device(a, &on_a) || to_device(&b, &on_b) || to_device(&c, &on_c))
        return 1;
    if (!nw_ggml_supports_mul_mat(&on_a, &on_b, &on_c, &why))
        return printf("%s: %s\n", w->name, why), 1;
    NW(nw_ggml_mul_mat_workspace_size(context, &on_a, &on_b, &on_c, &bytes));
    HIP(hipMalloc(&workspace, bytes));
    HIP(hipMemset(workspace, 0, bytes));
    NW(nw_ggml_mul_mat(context, &on_a, &on_b, &on_c, workspace, bytes, NULL));
    HIP(hipDeviceSynchronize());
    HIP(hipMemcpy(c.data, on_c.data, c.nb[3] * (uint64_t)c.ne[3], hipMemcpyDeviceToHost));
    const int wrong = compare(w->name, a, &b, &c);
    free(b.data), free(c.data);
    HIP(hipFree(on_a.data));
    HIP(hipFree(on_b.data));
    HIP(hipFree(on_c.data));
    HIP(hipFree(workspace));
    return wrong;
}

/* Queries of supports_op, each with one property broken. */
static int refusals(const nw_ggml_tensor *a) {
    nw_ggml_tensor b = {NW_GGUF_F32, {a->ne[0], 3, a->ne[2], a->ne[3]}, {4, 0, 0, 0}, NULL},
                   c = {NW_GGUF_F32, {a->ne[1], 3, a->ne[2], a->ne[3]}, {4, 0, 0, 0}, NULL};
    for (int d = 1; d < 4; d++)
        b.nb[d] = b.nb[d - 1] * (uint64_t)b.ne[d - 1],
        c.nb[d] = c.nb[d - 1] * (uint64_t)c.ne[d - 1];
    nw_ggml_tensor bad[12][3];
    const char *why;
    const int count = (int)(sizeof bad / sizeof bad[0]);
    for (int i = 0; i < count; i++)
        bad[i][0] = *a, bad[i][1] = b, bad[i][2] = c;
    if (!nw_ggml_supports_mul_mat(&bad[0][0], &b, &c, &why) || *why)
        return printf("supports_mul_mat says no: %s\n", why), 1;
    bad[0][0].type = NW_GGUF_F16;
    bad[1][0].type = 13;
    bad[2][1].type = NW_GGUF_F16;
    bad[3][2].type = NW_GGUF_F16;
    bad[4][0].nb[1] *= 2;  /* every other row */
    bad[5][0].nb[0] *= 2;  /* permuted */
    bad[6][1].nb[0] = 8;   /* transposed */
    bad[7][1].nb[1] += 4;  /* off 16 bytes */
    bad[8][2].nb[1] += 16; /* rows apart */
    bad[9][2].ne[0]++;
    bad[10][1].ne[1] = 0;
    bad[11][1].data = (void *)8;
    for (int i = 0; i < count; i++)
        if (nw_ggml_supports_mul_mat(&bad[i][0], &bad[i][1], &bad[i][2], &why) || !*why ||
            nw_ggml_mul_mat(NULL, &bad[i][0], &bad[i][1], &bad[i][2], NULL, 0, NULL) !=
                NW_UNSUPPORTED)
            return printf("supports_mul_mat says yes to case %d\n", i), 1;
    return 0;
}

int main(int argc, char **argv) {
    enum { MOST = 64 };
    static tensor tensors[MOST];
    nw_context *context;
    const int rows = argc > 2 ? atoi(argv[2]) : 11;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file || rows < 1 || fseek(file, 0, SEEK_END))
        return printf("usage: gguf MODEL.gguf [rows of activations]\n"), 1;
    const long size = ftell(file);
    unsigned char *bytes = malloc((size_t)size);
    rewind(file);
    if (!bytes || fread(bytes, 1, (size_t)size, file) != (size_t)size)
        return printf("%s: can't be read\n", argv[1]), 1;
    fclose(file);
    const int count = read_file(bytes, (size_t)size, tensors, MOST);
    if (count < 0)
        return printf("%s: no GGUF 3 file without metadata\n", argv[1]), 1;

    HIP(hipSetDevice(0));
    NW(nw_context_create(NULL, &context));
    int products = 0;
    for (int i = 0; i < count; i++) {
        const nw_ggml_tensor *a = &tensors[i].t;
        if (a->nb[0] == 0) /* norms and the like */
            continue;
        if (refusals(a))
            return 1;
        for (int more = 1; more <= 2; more++)
            for (int padding = 0; padding <= 32; padding += 32, products++)
                if (multiply(context, &tensors[i], rows, more, (uint64_t)padding))
                    return 1;
    }
    printf("%s: %d products, all as in double\n", nw_context_gfx(context), products);
    free(bytes);
    nw_context_destroy(context);
    return 0;
}
