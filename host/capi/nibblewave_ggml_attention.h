/* SPDX-License-Identifier: MIT */
/*
 * How a ggml backend calls nibblewave's attention: GGML_OP_FLASH_ATTN_EXT, and the
 * FLASH_ATTN_SPARSE of forks that have block-sparse prefill. Included by nibblewave_ggml.h.
 *
 * ggml_flash_attn_ext(q, k, v, mask, scale, max_bias, logit_softcap), src[4] = sinks:
 *
 *     q [D, Sq, H, B], f32        k, v [D, Sk, Hk, B], f16, bf16 or quantized       ne[0] first
 *     mask [Sk, >= Sq, ..], f16, added to the logits        dst [D, H, Sq, B], f32
 *
 * unchanged, with k and v in f16: nw_ggml_flash_attn_ext. nw_ggml_flash_attn is for backends that
 * know the meaning of their masks and convert q: nw_attention with q_s = q.nb[1], q_h = q.nb[2],
 * q_b = q.nb[3], k and v likewise, and o_h = dst.nb[1], o_s = dst.nb[2], o_b = dst.nb[3]: no tensor
 * is transposed or copied for its layout. Differences from ggml:
 * - q and dst have k's type. The backend converts q from f32 to f16 or bf16 before, and dst to f32
 *   after, by its own copy kernel (GGML_OP_CPY). q16 and o16 below describe the converted tensors,
 *   which may have any strides.
 * - k and v are f16 or bf16; or q8_0, and then q16 and o16 are f16.
 * - There is no mask tensor, since the host can't read ggml's. The backend passes its meaning:
 *   `causal`, and `keys`, the number of cells of the cache in use. llama.cpp's mask of one sequence
 *   with cells in order is causal = 1, keys = the last query's position + 1. Later cells, which are
 *   part of the padded ne[1], are not read. Several sequences take a call each, on views.
 *   Sliding windows, trees of drafts and other masks are not supported.
 * - max_bias (ALiBi), logit_softcap and sinks are refused unless they are 0, 0 and null.
 *
 * FLASH_ATTN_SPARSE(q, k, v, scale, alpha): the same tensors, k and v not q8_0 unless alpha >= 1,
 * Sq = Sk, causal, no mask: nw_attention_select with NW_SCORE_CANONICAL, NW_SELECT_PEAK, share =
 * alpha, sink 2, window 4, last_full 2, then nw_attention over its lists. alpha >= 1 means dense.
 * Forks that score by pooled queries list other blocks for the same alpha.
 */
#ifndef NIBBLEWAVE_GGML_ATTENTION_H
#define NIBBLEWAVE_GGML_ATTENTION_H

#include "nibblewave_ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the elements of a head are contiguous, and heads and rows are 16-byte aligned. */
static inline int nw_ggml_heads_apart(const nw_ggml_tensor *t, uint64_t element) {
    return t->nb[0] == element && nw_ggml_aligned(t, 16, 1);
}

static inline const char *nw_ggml_attn_dims_refusal(const nw_ggml_tensor *q,
                                                    const nw_ggml_tensor *k,
                                                    const nw_ggml_tensor *dst) {
    if (q->ne[2] % k->ne[2] || q->ne[3] != k->ne[3])
        return "heads of q must be a multiple of k's, and batches equal";
    if (dst->ne[0] != q->ne[0] || dst->ne[1] != q->ne[2] || dst->ne[2] != q->ne[1] ||
        dst->ne[3] != q->ne[3])
        return "dst must be [q.ne[0], q.ne[2], q.ne[1], q.ne[3]]";
    return NULL;
}

/* The reason why nw_ggml_flash_attn refuses these after conversion of q and dst; null if it takes
 * them. q and dst may be f32, as ggml has them, or converted. */
static inline const char *nw_ggml_flash_attn_refusal(const nw_ggml_tensor *q,
                                                     const nw_ggml_tensor *k,
                                                     const nw_ggml_tensor *v,
                                                     const nw_ggml_tensor *dst, float max_bias,
                                                     float logit_softcap, int has_sinks) {
    const int blocks = k->type == NW_GGUF_Q8_0, own = blocks ? NW_GGUF_F16 : k->type;
    if (k->type != NW_GGUF_F16 && k->type != NW_GGUF_BF16 && !blocks)
        return "k must be f16, bf16 or q8_0";
    if (v->type != k->type)
        return "v must be of k's type";
    if ((q->type != NW_GGUF_F32 && q->type != own) ||
        (dst->type != NW_GGUF_F32 && dst->type != own))
        return "q and dst must be f32, or of k's type, or f16 for q8_0";
    for (int d = 0; d < 4; d++)
        if (q->ne[d] < 1 || k->ne[d] < 1 || q->ne[d] > UINT32_MAX || k->ne[d] > UINT32_MAX)
            return "a dimension is empty or has 2^32 or more elements";
    for (int d = 0; d < 4; d++)
        if (v->ne[d] != k->ne[d])
            return "v must have k's dimensions, heads included";
    if (q->ne[0] != k->ne[0] || (q->ne[0] != 64 && q->ne[0] != 128 && q->ne[0] != 256))
        return "heads must have 64, 128 or 256 elements: pad q, k and v with zeros";
    const char *const heads_or_dst = nw_ggml_attn_dims_refusal(q, k, dst);
    if (heads_or_dst)
        return heads_or_dst;
    if (max_bias != 0 || logit_softcap != 0 || has_sinks)
        return "max_bias and logit_softcap must be 0, and there must be no sinks";
    if (!(blocks ? k->nb[0] == 34 && nw_ggml_aligned(k, 2, 1) : nw_ggml_heads_apart(k, 2)) ||
        !(blocks ? v->nb[0] == 34 && nw_ggml_aligned(v, 2, 1) : nw_ggml_heads_apart(v, 2)) ||
        (q->type == own && !nw_ggml_heads_apart(q, 2)) ||
        (dst->type == own && !nw_ggml_heads_apart(dst, 2)))
        return "elements of a head must be contiguous, heads and rows 16-byte aligned";
    return NULL;
}

/* For supports_op: 1 or 0. `why`, unless null, is set to the reason for a 0. The backend must also
 * know the meaning of the mask. */
static inline int nw_ggml_supports_flash_attn(const nw_ggml_tensor *q, const nw_ggml_tensor *k,
                                              const nw_ggml_tensor *v, const nw_ggml_tensor *dst,
                                              float max_bias, float logit_softcap, int has_sinks,
                                              const char **why) {
    const char *const refusal =
        nw_ggml_flash_attn_refusal(q, k, v, dst, max_bias, logit_softcap, has_sinks);
    if (why)
        *why = refusal ? refusal : "";
    return refusal == NULL;
}

static inline nw_attn nw_ggml_attn(const nw_ggml_tensor *q16, const nw_ggml_tensor *k,
                                   const nw_ggml_tensor *v, const nw_ggml_tensor *o16, float scale,
                                   int causal, uint32_t keys) {
    nw_attn p = NW_ATTN_INIT;
    p.dtype = k->type == NW_GGUF_BF16 ? NW_BF16 : NW_F16;
    p.kv = k->type == NW_GGUF_Q8_0 ? NW_KV_Q8_0 : NW_KV_SAME;
    p.causal = causal;
    p.b = (uint32_t)q16->ne[3], p.sq = (uint32_t)q16->ne[1], p.sk = keys;
    p.h = (uint32_t)q16->ne[2], p.hk = (uint32_t)k->ne[2], p.d = (uint32_t)q16->ne[0];
    p.scale = scale;
    p.q = q16->data, p.k = k->data, p.v = v->data, p.o = o16->data;
    p.q_s = q16->nb[1], p.q_h = q16->nb[2], p.q_b = q16->nb[3];
    p.k_s = k->nb[1], p.k_h = k->nb[2], p.k_b = k->nb[3];
    p.v_s = v->nb[1], p.v_h = v->nb[2], p.v_b = v->nb[3];
    p.o_h = o16->nb[1], p.o_s = o16->nb[2], p.o_b = o16->nb[3];
    return p;
}

static inline int nw_ggml_attn_refused(const nw_ggml_tensor *q16, const nw_ggml_tensor *k,
                                       const nw_ggml_tensor *v, const nw_ggml_tensor *o16) {
    return q16->type == NW_GGUF_F32 || o16->type == NW_GGUF_F32 ||
           nw_ggml_flash_attn_refusal(q16, k, v, o16, 0, 0, 0);
}

/* Bytes of workspace that nw_ggml_flash_attn needs; NW_UNSUPPORTED if it would refuse the tensors.
 */
static inline nw_status nw_ggml_flash_attn_workspace_size(nw_context *context,
                                                          const nw_ggml_tensor *q16,
                                                          const nw_ggml_tensor *k,
                                                          const nw_ggml_tensor *v,
                                                          const nw_ggml_tensor *o16, int causal,
                                                          uint32_t keys, uint64_t *bytes) {
    if (nw_ggml_attn_refused(q16, k, v, o16))
        return NW_UNSUPPORTED;
    const nw_attn p = nw_ggml_attn(q16, k, v, o16, 1, causal, keys);
    return nw_attention_workspace_size(context, &p, bytes);
}

/* o16 = attention of q16 to the first `keys` of k, queued on `stream`. Returns NW_UNSUPPORTED,
 * without a message for nw_last_error, where nw_ggml_flash_attn_refusal has a reason, q16 or o16 is
 * f32, or k has fewer keys; else the result of nw_attention. */
static inline nw_status nw_ggml_flash_attn(nw_context *context, const nw_ggml_tensor *q16,
                                           const nw_ggml_tensor *k, const nw_ggml_tensor *v,
                                           const nw_ggml_tensor *o16, float scale, int causal,
                                           uint32_t keys, void *workspace, uint64_t workspace_bytes,
                                           void *stream) {
    if (nw_ggml_attn_refused(q16, k, v, o16) || keys > k->ne[1])
        return NW_UNSUPPORTED;
    nw_attn p = nw_ggml_attn(q16, k, v, o16, scale, causal, keys);
    p.workspace = workspace, p.workspace_bytes = workspace_bytes;
    return nw_attention(context, &p, stream);
}

/* ---- GGML_OP_FLASH_ATTN_EXT unchanged: q and dst in f32, the mask a tensor ---- */

/* Whether heads and rows of all tensors that share a key head lie within 2^32 bytes. */
static inline int nw_ggml_within_32_bits(const nw_ggml_tensor *t, int token, int head,
                                         uint64_t heads) {
    return t->nb[token] < 1u << 24 && t->nb[head] < 1ull << 32 && t->nb[3] < 1ull << 32 &&
           (heads - 1) * t->nb[head] + 8 * t->nb[token] < 1ull << 32;
}

static inline const char *nw_ggml_mask_refusal(const nw_ggml_tensor *q, const nw_ggml_tensor *k,
                                               const nw_ggml_tensor *mask) {
    if (mask->type != NW_GGUF_F16)
        return "the mask must be f16";
    if (mask->ne[0] != k->ne[1] || mask->ne[1] < q->ne[1])
        return "the mask must have all keys and queries";
    if ((mask->ne[2] != 1 && mask->ne[2] != q->ne[2]) ||
        (mask->ne[3] != 1 && mask->ne[3] != q->ne[3]))
        return "a mask must have one head or batch, or all of q's";
    if (mask->ne[0] % 8 || !nw_ggml_heads_apart(mask, 2))
        return "rows of the mask must be multiples of 8 elements, at multiples of 16 bytes";
    if (!nw_ggml_within_32_bits(mask, 1, 2, (uint64_t)(q->ne[2] / k->ne[2])))
        return "rows of the mask must be less than 2^24 bytes apart, rows of a key head within "
               "2^32";
    return NULL;
}

/* The reason why nw_ggml_flash_attn_ext refuses the node; null if it takes it. mask and sinks may
 * be null. */
static inline const char *
nw_ggml_flash_attn_ext_refusal(const nw_ggml_tensor *q, const nw_ggml_tensor *k,
                               const nw_ggml_tensor *v, const nw_ggml_tensor *mask,
                               const nw_ggml_tensor *sinks, const nw_ggml_tensor *dst,
                               float max_bias, float logit_softcap) {
    if (k->type != NW_GGUF_F16 || v->type != NW_GGUF_F16)
        return "k and v must be f16";
    if (q->type != NW_GGUF_F32 || dst->type != NW_GGUF_F32)
        return "q and dst must be f32";
    for (int d = 0; d < 4; d++)
        if (q->ne[d] < 1 || k->ne[d] < 1 || v->ne[d] != k->ne[d] || q->ne[d] >= 1 << 26)
            return "a dimension is empty, has 2^26 or more elements, or differs between k and v";
    if (q->ne[0] != k->ne[0] || (q->ne[0] != 64 && q->ne[0] != 128))
        return "heads must have 64 or 128 elements";
    if (k->ne[1] > 1 << 18)
        return "there must be 2^18 keys at most";
    const char *const heads_or_dst = nw_ggml_attn_dims_refusal(q, k, dst);
    if (heads_or_dst)
        return heads_or_dst;
    if (max_bias != 0)
        return "max_bias (ALiBi) must be 0";
    if (logit_softcap != 0)
        return "logit_softcap must be 0";
    if (!nw_ggml_heads_apart(q, 4) || !nw_ggml_heads_apart(k, 2) || !nw_ggml_heads_apart(v, 2) ||
        !nw_ggml_heads_apart(dst, 4))
        return "elements of a head must be contiguous, heads and rows 16-byte aligned";
    const uint64_t heads = (uint64_t)(q->ne[2] / k->ne[2]);
    if (!nw_ggml_within_32_bits(q, 1, 2, heads) || !nw_ggml_within_32_bits(dst, 2, 1, heads) ||
        !nw_ggml_within_32_bits(k, 1, 2, 1) || !nw_ggml_within_32_bits(v, 1, 2, 1))
        return "rows must be less than 2^24 bytes apart, the heads of a key head within 2^32";
    if (sinks && (sinks->type != NW_GGUF_F32 || sinks->ne[0] != q->ne[2] || sinks->nb[0] != 4))
        return "sinks must be f32, one for each head of q";
    return mask ? nw_ggml_mask_refusal(q, k, mask) : NULL;
}

static inline nw_attn_masked nw_ggml_attn_masked(const nw_ggml_tensor *q, const nw_ggml_tensor *k,
                                                 const nw_ggml_tensor *v,
                                                 const nw_ggml_tensor *mask,
                                                 const nw_ggml_tensor *sinks,
                                                 const nw_ggml_tensor *dst, float scale) {
    nw_attn_masked p = NW_ATTN_MASKED_INIT;
    p.b = (uint32_t)q->ne[3], p.sq = (uint32_t)q->ne[1], p.sk = (uint32_t)k->ne[1];
    p.h = (uint32_t)q->ne[2], p.hk = (uint32_t)k->ne[2], p.d = (uint32_t)q->ne[0];
    p.scale = scale;
    p.q = (const float *)q->data, p.k = k->data, p.v = v->data, p.o = (float *)dst->data;
    p.q_s = q->nb[1], p.q_h = q->nb[2], p.q_b = q->nb[3];
    p.k_s = k->nb[1], p.k_h = k->nb[2], p.k_b = k->nb[3];
    p.v_s = v->nb[1], p.v_h = v->nb[2], p.v_b = v->nb[3];
    p.o_h = dst->nb[1], p.o_s = dst->nb[2], p.o_b = dst->nb[3];
    if (mask) {
        p.mask = mask->data, p.mask_s = mask->nb[1];
        p.mask_h = mask->ne[2] > 1 ? mask->nb[2] : 0, p.mask_b = mask->ne[3] > 1 ? mask->nb[3] : 0;
    }
    p.sinks = sinks ? (const float *)sinks->data : NULL;
    return p;
}

/* Bytes of workspace that nw_ggml_flash_attn_ext needs. Tensors that are refused: NW_UNSUPPORTED,
 * without a message for nw_last_error. */
static inline nw_status
nw_ggml_flash_attn_ext_workspace_size(nw_context *context, const nw_ggml_tensor *q,
                                      const nw_ggml_tensor *k, const nw_ggml_tensor *v,
                                      const nw_ggml_tensor *mask, const nw_ggml_tensor *sinks,
                                      const nw_ggml_tensor *dst, uint64_t *bytes) {
    if (nw_ggml_flash_attn_ext_refusal(q, k, v, mask, sinks, dst, 0, 0))
        return NW_UNSUPPORTED;
    const nw_attn_masked p = nw_ggml_attn_masked(q, k, v, mask, sinks, dst, 1);
    return nw_attention_masked_workspace_size(context, &p, bytes);
}

/* The node with max_bias and logit_softcap 0, queued on `stream`; else as above. */
static inline nw_status
nw_ggml_flash_attn_ext(nw_context *context, const nw_ggml_tensor *q, const nw_ggml_tensor *k,
                       const nw_ggml_tensor *v, const nw_ggml_tensor *mask,
                       const nw_ggml_tensor *sinks, const nw_ggml_tensor *dst, float scale,
                       void *workspace, uint64_t workspace_bytes, void *stream) {
    if (nw_ggml_flash_attn_ext_refusal(q, k, v, mask, sinks, dst, 0, 0))
        return NW_UNSUPPORTED;
    nw_attn_masked p = nw_ggml_attn_masked(q, k, v, mask, sinks, dst, scale);
    p.workspace = workspace, p.workspace_bytes = workspace_bytes;
    return nw_attention_masked(context, &p, stream);
}

/* ---- FLASH_ATTN_SPARSE ---- */

static inline nw_attn_select nw_ggml_attn_selection(const nw_attn *p, float alpha) {
    nw_attn_select s = NW_ATTN_SELECT_INIT;
    s.dtype = p->dtype;
    s.b = p->b, s.sq = p->sq, s.sk = p->sk, s.h = p->h, s.hk = p->hk, s.d = p->d;
    s.scale = p->scale, s.share = alpha;
    s.q = p->q, s.q_b = p->q_b, s.q_s = p->q_s, s.q_h = p->q_h;
    s.k = p->k, s.k_b = p->k_b, s.k_s = p->k_s, s.k_h = p->k_h;
    return s;
}

/* Bytes of the lists at the start of the workspace, rounded up; the selection's part follows. */
static inline uint64_t nw_ggml_attn_list_bytes(const nw_attn *p, uint64_t of_a_tile) {
    const uint64_t tiles = ((uint64_t)p->sq + 127) / 128;
    return ((uint64_t)p->b * p->h * tiles * of_a_tile * 4 + 255) / 256 * 256;
}

/* A selection reads keys of f16 or bf16. */
static inline int nw_ggml_attn_sparse_refused(const nw_ggml_tensor *q16, const nw_ggml_tensor *k,
                                              const nw_ggml_tensor *v, const nw_ggml_tensor *o16,
                                              float alpha) {
    return nw_ggml_attn_refused(q16, k, v, o16) || q16->ne[1] != k->ne[1] ||
           (alpha < 1 && k->type == NW_GGUF_Q8_0);
}

/* As nw_ggml_flash_attn_workspace_size. */
static inline nw_status
nw_ggml_flash_attn_sparse_workspace_size(nw_context *context, const nw_ggml_tensor *q16,
                                         const nw_ggml_tensor *k, const nw_ggml_tensor *v,
                                         const nw_ggml_tensor *o16, float alpha, uint64_t *bytes) {
    if (nw_ggml_attn_sparse_refused(q16, k, v, o16, alpha))
        return NW_UNSUPPORTED;
    const nw_attn p = nw_ggml_attn(q16, k, v, o16, 1, 1, (uint32_t)k->ne[1]);
    uint64_t dense = 0;
    nw_status status = nw_attention_workspace_size(context, &p, &dense);
    if (status != NW_OK || alpha >= 1) {
        *bytes = dense;
        return status;
    }
    const nw_attn_select s = nw_ggml_attn_selection(&p, alpha);
    status = nw_attention_select_workspace_size(context, &s, bytes);
    if (status == NW_OK) /* attention's own follows the lists, in place of the selection's */
        *bytes = (*bytes > dense ? *bytes : dense) +
                 nw_ggml_attn_list_bytes(&p, ((uint64_t)p.sq + 127) / 128) +
                 nw_ggml_attn_list_bytes(&p, 1);
    return status;
}

/* As nw_ggml_flash_attn, over the blocks that alpha lists; k has one key per query of q16. If only
 * attention is refused, the selection is already queued; it writes to the workspace only. */
static inline nw_status nw_ggml_flash_attn_sparse(nw_context *context, const nw_ggml_tensor *q16,
                                                  const nw_ggml_tensor *k, const nw_ggml_tensor *v,
                                                  const nw_ggml_tensor *o16, float scale,
                                                  float alpha, void *workspace,
                                                  uint64_t workspace_bytes, void *stream) {
    if (nw_ggml_attn_sparse_refused(q16, k, v, o16, alpha))
        return NW_UNSUPPORTED;
    nw_attn p = nw_ggml_attn(q16, k, v, o16, scale, 1, (uint32_t)k->ne[1]);
    p.workspace = workspace, p.workspace_bytes = workspace_bytes;
    if (alpha >= 1)
        return nw_attention(context, &p, stream);
    const uint64_t lists = nw_ggml_attn_list_bytes(&p, ((uint64_t)p.sq + 127) / 128),
                   lengths = nw_ggml_attn_list_bytes(&p, 1);
    nw_attn_select s = nw_ggml_attn_selection(&p, alpha);
    s.idx = (int32_t *)workspace;
    s.cnt = (int32_t *)((char *)workspace + lists);
    s.workspace = (char *)workspace + lists + lengths;
    s.workspace_bytes = workspace_bytes > lists + lengths ? workspace_bytes - lists - lengths : 0;
    const nw_status status = nw_attention_select(context, &s, stream);
    if (status != NW_OK)
        return status;
    p.idx = s.idx, p.cnt = s.cnt;
    p.workspace = s.workspace, p.workspace_bytes = s.workspace_bytes;
    return nw_attention(context, &p, stream);
}

#ifdef __cplusplus
}
#endif

#endif
