/* SPDX-License-Identifier: MIT */
/*
 * How a ggml backend calls nibblewave: GGML_OP_MUL_MAT and GGML_OP_MUL_MAT_ID with quantized
 * weights, and attention (nibblewave_ggml_attention.h), from ggml's own descriptions of tensors.
 * C99 and C++, no ggml header, nothing to link but libnibblewave.
 *
 *     const nw_ggml_tensor a = NW_GGML_TENSOR(op->src[0]), b = NW_GGML_TENSOR(op->src[1]),
 *                          c = NW_GGML_TENSOR(op);
 *     const char *why;
 *     if (nw_ggml_supports_mul_mat(&a, &b, &c, &why)) // in supports_op
 *         status = nw_ggml_mul_mat(context, &a, &b, &c, workspace, workspace_bytes, stream);
 *
 * Use in a backend:
 * - device init: nw_context_create, one context per device;
 * - model load: nw_gguf_prepare with m = 0 for each (type, n, k), before graphs are captured;
 * - graph reserve: the largest nw_ggml_mul_mat_workspace_size of the graph's nodes; one workspace
 *   per stream, set to 0 once (nibblewave.h: Workspace);
 * - tensors keep the bytes of the file: no repacking, no padding after a row or a tensor. Buffers
 *   must be aligned to at least 16 bytes.
 *
 * ggml_mul_mat(a, b):  a = src0 [K, N, a2, a3] weights    b = src1 [K, M, b2, b3] activations, f32
 *                      dst [N, M, b2, b3], f32            ne[0] first; b2 % a2 == 0, b3 % a3 == 0
 *
 *     dst[n, m, i, j] = sum over k of a[k, n, i / (b2 / a2), j / (b3 / a3)] * b[k, m, i, j]
 *
 * If a is one matrix and the rows of b and of dst have a uniform stride, all of b is one product;
 * otherwise each matrix of b is one. Results and error bounds: as nw_gguf_linear.
 *
 * ggml_mul_mat_id(a, b, ids), a mixture of experts:
 *
 *     a = src0 [K, N, experts]            b = src1 [K, 1 or used, tokens], f32
 *     ids = src2 [used, tokens], i32      dst [N, used, tokens], f32
 *
 *     dst[n, u, t] = sum over k of a[k, n, ids[u, t]] * b[k, u % b.ne[1], t]
 *
 * is nw_gguf_moe_linear. Rows of ids may have gaps: ggml's top-k is a view of sorted rows.
 */
#ifndef NIBBLEWAVE_GGML_H
#define NIBBLEWAVE_GGML_H

#include "nibblewave.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ggml_type of i32. */
enum { NW_GGML_I32 = 26 };

/* The fields of a ggml_tensor that a product needs. */
typedef struct nw_ggml_tensor {
    int32_t type;   /* ggml_type */
    int64_t ne[4];  /* elements of each dimension */
    uint64_t nb[4]; /* strides in bytes; nb[0] from block to block */
    void *data;     /* device memory; null if not allocated yet (supports_op) */
} nw_ggml_tensor;

/* An initializer, from a `const struct ggml_tensor *`. */
#define NW_GGML_TENSOR(t)                                                                          \
    {                                                                                              \
        (int32_t)(t)->type, {(t)->ne[0], (t)->ne[1], (t)->ne[2], (t)->ne[3]},                      \
            {(t)->nb[0], (t)->nb[1], (t)->nb[2], (t)->nb[3]}, (t)->data                            \
    }

/* All rows of a tensor, of ne[0] elements each; rows = 0 if their stride is not uniform. */
typedef struct nw_ggml_rows {
    uint64_t rows, stride;
} nw_ggml_rows;

static inline nw_ggml_rows nw_ggml_rows_of(const nw_ggml_tensor *t, uint64_t row_bytes) {
    nw_ggml_rows out = {1, row_bytes};
    for (int d = 1; d < 4; d++) {
        if (t->ne[d] == 1) /* its nb may be anything */
            continue;
        if (out.rows == 1)
            out.stride = t->nb[d];
        else if (t->nb[d] != out.rows * out.stride)
            out.rows = 0;
        out.rows *= (uint64_t)t->ne[d];
        if (out.rows == 0)
            break;
    }
    return out;
}

/* Size of a type's block; 0 elements for a type without kernels. */
static inline void nw_ggml_block(int32_t type, uint32_t *elements, uint32_t *bytes) {
    static const struct {
        int32_t type;
        uint32_t elements, bytes;
    } blocks[] = {{NW_GGUF_Q4_0, 32, 18},     {NW_GGUF_Q4_1, 32, 20},   {NW_GGUF_Q5_0, 32, 22},
                  {NW_GGUF_Q5_1, 32, 24},     {NW_GGUF_Q8_0, 32, 34},   {NW_GGUF_IQ4_NL, 32, 18},
                  {NW_GGUF_MXFP4, 32, 17},    {NW_GGUF_Q2_K, 256, 84},  {NW_GGUF_Q3_K, 256, 110},
                  {NW_GGUF_Q4_K, 256, 144},   {NW_GGUF_Q5_K, 256, 176}, {NW_GGUF_Q6_K, 256, 210},
                  {NW_GGUF_IQ4_XS, 256, 136}, {NW_GGUF_NVFP4, 64, 36}};
    *elements = *bytes = 0;
    for (unsigned i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (blocks[i].type == type)
            *elements = blocks[i].elements, *bytes = blocks[i].bytes;
}

/* Whether the data and all strides from dimension `first` on are multiples of `unit`. */
static inline int nw_ggml_aligned(const nw_ggml_tensor *t, uint64_t unit, int first) {
    for (int d = first; d < 4; d++)
        if (t->ne[d] > 1 && t->nb[d] % unit)
            return 0;
    return (uintptr_t)t->data % unit == 0;
}

/* The reason why nw_ggml_mul_mat refuses it; null if it is supported. */
static inline const char *nw_ggml_mul_mat_refusal(const nw_ggml_tensor *a, const nw_ggml_tensor *b,
                                                  const nw_ggml_tensor *c) {
    uint32_t elements, bytes;
    nw_ggml_block(a->type, &elements, &bytes);
    if (!elements)
        return "src0's type has no kernels: convert it to a quantized type of nibblewave.h";
    if (b->type != NW_GGUF_F32 || c->type != NW_GGUF_F32)
        return "src1 and dst must be f32: convert them";
    for (int d = 0; d < 4; d++)
        if (a->ne[d] < 1 || b->ne[d] < 1 || a->ne[d] > UINT32_MAX || b->ne[d] > UINT32_MAX)
            return "a dimension is empty or has 2^32 or more elements";
    if (a->ne[0] != b->ne[0] || a->ne[0] % elements)
        return "src0 and src1 must have equal row lengths, in whole blocks of src0's type";
    if (b->ne[2] % a->ne[2] || b->ne[3] % a->ne[3])
        return "ne[2] and ne[3] of src1 must be multiples of src0's";
    if (c->ne[0] != a->ne[1] || c->ne[1] != b->ne[1] || c->ne[2] != b->ne[2] ||
        c->ne[3] != b->ne[3])
        return "dst must be [src0.ne[1], src1.ne[1], src1.ne[2], src1.ne[3]]";
    const uint64_t k = (uint64_t)a->ne[0], a_row = k / elements * bytes;
    if (a->nb[0] != bytes || (a->ne[1] > 1 && a->nb[1] != a_row))
        return "src0's rows must be contiguous: no transposed or permuted weights; make them so";
    if (b->nb[0] != 4 || (b->ne[1] > 1 && b->nb[1] < 4 * k))
        return "src1 must not be transposed: make its rows contiguous";
    if (c->nb[0] != 4 || (c->ne[1] > 1 && c->nb[1] != 4 * (uint64_t)c->ne[0]))
        return "matrices of dst must be contiguous";
    if (!nw_ggml_aligned(a, 16, 2) || !nw_ggml_aligned(b, 16, 1) || !nw_ggml_aligned(c, 4, 1))
        return "matrices of src0 and rows of src1 must begin at multiples of 16 bytes, dst's of 4";
    return NULL;
}

/* For supports_op: 1 or 0. `why`, unless null, is set to the reason for a 0. */
static inline int nw_ggml_supports_mul_mat(const nw_ggml_tensor *src0, const nw_ggml_tensor *src1,
                                           const nw_ggml_tensor *dst, const char **why) {
    const char *const refusal = nw_ggml_mul_mat_refusal(src0, src1, dst);
    if (why)
        *why = refusal ? refusal : "";
    return refusal == NULL;
}

/* One product: all rows of src1, or one of its matrices (`whole` 0). */
static inline nw_gguf nw_ggml_product(const nw_ggml_tensor *a, const nw_ggml_tensor *b,
                                      const nw_ggml_tensor *c, int *whole) {
    const uint64_t k = (uint64_t)b->ne[0], n = (uint64_t)c->ne[0];
    const nw_ggml_rows x = nw_ggml_rows_of(b, 4 * k), y = nw_ggml_rows_of(c, 4 * n);
    nw_gguf p = NW_GGUF_INIT;
    *whole = a->ne[2] == 1 && a->ne[3] == 1 && x.rows && x.rows <= UINT32_MAX &&
             x.stride >= 4 * k && y.rows && (y.rows == 1 || y.stride == 4 * n);
    p.type = a->type;
    p.m = *whole ? (uint32_t)x.rows : (uint32_t)b->ne[1];
    p.n = (uint32_t)n;
    p.k = (uint32_t)k;
    p.x_stride = *whole ? x.stride : b->ne[1] > 1 ? b->nb[1] : 4 * k;
    return p;
}

/* Bytes of workspace that nw_ggml_mul_mat needs; NW_UNSUPPORTED if it would refuse the product. */
static inline nw_status nw_ggml_mul_mat_workspace_size(nw_context *context,
                                                       const nw_ggml_tensor *src0,
                                                       const nw_ggml_tensor *src1,
                                                       const nw_ggml_tensor *dst, uint64_t *bytes) {
    int whole;
    if (nw_ggml_mul_mat_refusal(src0, src1, dst))
        return NW_UNSUPPORTED;
    const nw_gguf p = nw_ggml_product(src0, src1, dst, &whole);
    return nw_gguf_workspace_size(context, &p, bytes);
}

/* dst = ggml_mul_mat(src0, src1), queued on `stream`; the workspace as for nw_gguf_linear. Returns
 * NW_UNSUPPORTED, without a message for nw_last_error, if nw_ggml_supports_mul_mat returns 0; else
 * the result of nw_gguf_linear. */
static inline nw_status nw_ggml_mul_mat(nw_context *context, const nw_ggml_tensor *src0,
                                        const nw_ggml_tensor *src1, const nw_ggml_tensor *dst,
                                        void *workspace, uint64_t workspace_bytes, void *stream) {
    int whole;
    if (nw_ggml_mul_mat_refusal(src0, src1, dst))
        return NW_UNSUPPORTED;
    nw_gguf p = nw_ggml_product(src0, src1, dst, &whole);
    p.workspace = workspace, p.workspace_bytes = workspace_bytes;
    const int64_t across = whole ? 1 : src1->ne[2], deep = whole ? 1 : src1->ne[3];
    for (int64_t j = 0; j < deep; j++)
        for (int64_t i = 0; i < across; i++) {
            const uint64_t ai = (uint64_t)(i / (src1->ne[2] / src0->ne[2])),
                           aj = (uint64_t)(j / (src1->ne[3] / src0->ne[3]));
            p.w = (const char *)src0->data + ai * src0->nb[2] + aj * src0->nb[3];
            p.x = (const char *)src1->data + (uint64_t)i * src1->nb[2] + (uint64_t)j * src1->nb[3];
            p.c = (char *)dst->data + (uint64_t)i * dst->nb[2] + (uint64_t)j * dst->nb[3];
            const nw_status status = nw_gguf_linear(context, &p, stream);
            if (status != NW_OK)
                return status;
        }
    return NW_OK;
}

/* As nw_ggml_mul_mat_refusal, for nw_ggml_mul_mat_id. */
static inline const char *nw_ggml_mul_mat_id_refusal(const nw_ggml_tensor *a,
                                                     const nw_ggml_tensor *b,
                                                     const nw_ggml_tensor *ids,
                                                     const nw_ggml_tensor *c) {
    uint32_t elements, bytes;
    nw_ggml_block(a->type, &elements, &bytes);
    if (!elements)
        return "src0's type has no kernels: convert it to a quantized type of nibblewave.h";
    if (b->type != NW_GGUF_F32 || c->type != NW_GGUF_F32 || ids->type != NW_GGML_I32)
        return "src1 and dst must be f32, ids i32: convert them";
    for (int d = 0; d < 4; d++)
        if (a->ne[d] < 1 || b->ne[d] < 1 || ids->ne[d] < 1 || a->ne[d] > UINT32_MAX ||
            b->ne[d] > UINT32_MAX || ids->ne[d] > UINT32_MAX)
            return "a dimension is empty or has 2^32 or more elements";
    if (a->ne[3] != 1 || b->ne[3] != 1 || ids->ne[2] != 1 || ids->ne[3] != 1 || c->ne[3] != 1)
        return "src0, src1 and dst have 3 dimensions, ids has 2";
    if (a->ne[0] != b->ne[0] || a->ne[0] % elements)
        return "src0 and src1 must have equal row lengths, in whole blocks of src0's type";
    if (ids->ne[1] != b->ne[2] || (b->ne[1] != 1 && b->ne[1] != ids->ne[0]))
        return "src1 must be [K, 1 or ids.ne[0], ids.ne[1]]";
    if (c->ne[0] != a->ne[1] || c->ne[1] != ids->ne[0] || c->ne[2] != ids->ne[1])
        return "dst must be [src0.ne[1], ids.ne[0], ids.ne[1]]";
    const uint64_t k = (uint64_t)a->ne[0], a_row = k / elements * bytes;
    if (a->nb[0] != bytes || (a->ne[1] > 1 && a->nb[1] != a_row) ||
        (a->ne[2] > 1 && a->nb[2] < (uint64_t)a->ne[1] * a_row))
        return "src0's rows must be contiguous: no transposed or permuted weights; make them so";
    const nw_ggml_rows x = nw_ggml_rows_of(b, 4 * k),
                       y = nw_ggml_rows_of(c, 4 * (uint64_t)c->ne[0]);
    if (b->nb[0] != 4 || !x.rows || x.stride < 4 * k)
        return "src1 must have contiguous rows with a uniform stride: make it contiguous";
    if (c->nb[0] != 4 || !y.rows || y.stride != 4 * (uint64_t)c->ne[0])
        return "dst must be contiguous";
    if (ids->nb[0] != 4 || (ids->ne[1] > 1 && ids->nb[1] < 4 * (uint64_t)ids->ne[0]))
        return "ids must not be transposed: make its rows contiguous";
    if (!nw_ggml_aligned(a, 2, 2) || x.stride % 16 || (uintptr_t)b->data % 16 ||
        !nw_ggml_aligned(c, 4, 1) || !nw_ggml_aligned(ids, 4, 1))
        return "experts of src0 must begin at even bytes, rows of src1 at multiples of 16, dst and "
               "ids of 4";
    return NULL;
}

/* For supports_op: 1 or 0. `why`, unless null, is set to the reason for a 0. */
static inline int nw_ggml_supports_mul_mat_id(const nw_ggml_tensor *src0,
                                              const nw_ggml_tensor *src1, const nw_ggml_tensor *ids,
                                              const nw_ggml_tensor *dst, const char **why) {
    const char *const refusal = nw_ggml_mul_mat_id_refusal(src0, src1, ids, dst);
    if (why)
        *why = refusal ? refusal : "";
    return refusal == NULL;
}

static inline nw_gguf_moe nw_ggml_moe_product(const nw_ggml_tensor *a, const nw_ggml_tensor *b,
                                              const nw_ggml_tensor *ids, const nw_ggml_tensor *c) {
    nw_gguf_moe p = NW_GGUF_MOE_INIT;
    const uint64_t slots = (uint64_t)ids->ne[0] * (uint64_t)ids->ne[1];
    p.type = a->type;
    p.n = (uint32_t)a->ne[1], p.k = (uint32_t)a->ne[0], p.experts = (uint32_t)a->ne[2];
    p.slots = slots > UINT32_MAX ? UINT32_MAX : (uint32_t)slots; /* too many: refused */
    p.top_k = b->ne[1] == 1 ? (uint32_t)ids->ne[0] : 1;
    p.x = b->data, p.w = a->data, p.expert_ids = (const int32_t *)ids->data, p.c = c->data;
    p.x_stride = nw_ggml_rows_of(b, 4 * (uint64_t)p.k).stride;
    p.w_expert = a->ne[2] > 1 ? a->nb[2] : (uint64_t)p.n * nw_gguf_row_bytes(p.type, p.k);
    if (ids->ne[1] > 1)
        p.ids_row = (uint64_t)ids->ne[0], p.ids_stride = ids->nb[1];
    return p;
}

/* Bytes of workspace that nw_ggml_mul_mat_id needs; NW_UNSUPPORTED if it would refuse the product.
 */
static inline nw_status
nw_ggml_mul_mat_id_workspace_size(nw_context *context, const nw_ggml_tensor *src0,
                                  const nw_ggml_tensor *src1, const nw_ggml_tensor *ids,
                                  const nw_ggml_tensor *dst, uint64_t *bytes) {
    if (nw_ggml_mul_mat_id_refusal(src0, src1, ids, dst))
        return NW_UNSUPPORTED;
    const nw_gguf_moe p = nw_ggml_moe_product(src0, src1, ids, dst);
    return nw_gguf_moe_workspace_size(context, &p, bytes);
}

/* dst = ggml_mul_mat_id(src0, src1, ids), queued on `stream`, as nw_ggml_mul_mat. */
static inline nw_status nw_ggml_mul_mat_id(nw_context *context, const nw_ggml_tensor *src0,
                                           const nw_ggml_tensor *src1, const nw_ggml_tensor *ids,
                                           const nw_ggml_tensor *dst, void *workspace,
                                           uint64_t workspace_bytes, void *stream) {
    if (nw_ggml_mul_mat_id_refusal(src0, src1, ids, dst))
        return NW_UNSUPPORTED;
    nw_gguf_moe p = nw_ggml_moe_product(src0, src1, ids, dst);
    p.workspace = workspace, p.workspace_bytes = workspace_bytes;
    return nw_gguf_moe_linear(context, &p, stream);
}

#ifdef __cplusplus
}
#endif

/* GGML_OP_FLASH_ATTN_EXT, and the FLASH_ATTN_SPARSE of forks. */
#include "nibblewave_ggml_attention.h"

#endif
