/* SPDX-License-Identifier: MIT */
/*
 * nibblewave: products with 4-bit weights, and with those of GGUF files, on AMD RDNA3, 3.5 and 4.
 * C99 and C++; needs no HIP header.
 *
 *     nw_context *context;                       // for the HIP device that is current now
 *     if (nw_context_create(NULL, &context) != NW_OK)
 *         fail(nw_last_error());
 *     nw_w4a16 p = NW_W4A16_INIT;                // C = A * dequant(W)^T + bias
 *     p.dtype = NW_F16, p.m = 1, p.n = 4096, p.k = 4096, p.group = 128;
 *     p.a = a, p.w = w, p.w_stride = nw_weight_row_stride("gfx1151", p.k), ...
 *     if (nw_linear_w4a16(context, &p, stream) != NW_OK)
 *         fail(nw_last_error());
 *
 * Errors. A call that fails returns a code other than NW_OK, has queued nothing and written nothing
 * but the message for nw_last_error(). No C++ exception leaves the library.
 *
 * Threads. Any number of threads may use one context at once, on one stream or on many; only
 * nw_context_destroy needs it for itself. Streams are the caller's: work is queued in stream order
 * and nothing waits. The calling thread's current HIP device is the same before and after a call.
 *
 * Graphs. A launch of a kernel that is loaded only queues it: no device memory is allocated,
 * nothing is synchronised, so it may be captured. A kernel is loaded by its first launch, or by
 * nw_prepare: call that before capture begins. A launch into a capturing stream that would have to
 * load its kernel is refused with NW_NOT_PREPARED, and the capture stays valid. A captured graph
 * uses the context's kernels: destroy it before the context.
 *
 * HIP. The library uses the libamdhip64 that is in the process already, linked or loaded by
 * whatever means; where there is none, it loads libamdhip64.so.7, .6, .5 or .so as the dynamic
 * linker finds them, from ROCM_PATH/lib, or from /opt/rocm/lib.
 */
#ifndef NIBBLEWAVE_H
#define NIBBLEWAVE_H

#include <stddef.h>
#include <stdint.h>

#define NW_VERSION_MAJOR 0
#define NW_VERSION_MINOR 1
#define NW_VERSION_PATCH 0
#define NW_VERSION (NW_VERSION_MAJOR * 10000 + NW_VERSION_MINOR * 100 + NW_VERSION_PATCH)

#if defined(__GNUC__)
#define NW_API __attribute__((visibility("default")))
#else
#define NW_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum nw_status {
    NW_OK = 0,
    NW_INVALID_ARGUMENT = 1, /* an argument breaks a rule of this header */
    NW_UNSUPPORTED = 2,      /* no kernel for this product, or for this GPU */
    NW_NO_KERNEL_FILES = 3,  /* the directory of code objects, or a file in it, is missing or bad */
    NW_NOT_PREPARED = 4,     /* the stream is capturing, and the kernel is not loaded */
    NW_HIP_ERROR = 5,        /* a call to HIP failed, or there is no HIP */
    NW_OUT_OF_MEMORY = 6,    /* of the host */
    NW_INTERNAL = 7          /* a defect of this library */
} nw_status;

/* "NW_OK", ...; "unknown nw_status" for anything else. */
NW_API const char *nw_status_name(nw_status status);

/* What went wrong in the last call of this thread that failed: the value, the rule, the remedy. ""
 * before the first. Valid until the thread's next call that fails. */
NW_API const char *nw_last_error(void);

/* NW_VERSION of the library that is loaded; may differ from the header's. */
NW_API uint32_t nw_version(void);

/* ---- context: one device and the kernels loaded on it ---- */

typedef struct nw_context nw_context;

/* For the HIP device that is current for the calling thread. `kernel_directory` holds
 * <gfx>/<kernel>.hsaco; null stands for the first that is there of: the environment's
 * NIBBLEWAVE_HSACO (if set, nothing else is tried), <prefix>/share/nibblewave/hsaco of an installed
 * library, hsaco/ of the build tree. *context is null where this fails. */
NW_API nw_status nw_context_create(const char *kernel_directory, nw_context **context);

/* The environment's NIBBLEWAVE_FORCE, read once by the process, names the kernel that every product
 * of its family gets; NW_UNSUPPORTED, here or at the launch, where there is no such kernel or it
 * does not fit. */

/* Unloads the kernels: all work queued through the context must have ended. Null is allowed. */
NW_API void nw_context_destroy(nw_context *context);

/* "gfx1151"; lives as long as the context. "" for null. */
NW_API const char *nw_context_gfx(const nw_context *context);

/* ---- w4a16 linear ---- */

/* Of a, s, bias, c, and of z where zeros are NW_ZEROS_TYPED. 16 bits each. */
enum { NW_BF16 = 0, NW_F16 = 1 };

/* Where zero points come from. */
enum {
    NW_ZEROS_EIGHT = 0,  /* 8 everywhere: symmetric quantization */
    NW_ZEROS_PACKED = 1, /* uint32 [ceil(N/8), K/G]: row n in bits 4 * (n % 8) of its dword */
    NW_ZEROS_TYPED = 2,  /* [N, K/G] in the activations' type, whole numbers 0..15; m <= 8 */
    NW_ZEROS_CARRIER = 3 /* beside the scale, s being uint32 [N, K/G]: bits 15:0 the scale, 31:16
                            -z * scale rounded (NW_F16), or z as an integer (NW_BF16);
                            nw_make_carriers makes them */
};

/* A group as long as the row: one scale for all of K. m <= 8. */
#define NW_PER_ROW UINT32_MAX

/*
 * Y[m, n] = sum over k of A[m, k] * (q[n, k] - z[n, k / G]) * s[n, k / G]  (+ bias[n])
 *
 * C[m, n] = Y[m, n], or with silu_gate_up C[m, i] = SiLU(Y[m, i]) * Y[m, i + N/2]
 *
 * accumulated in float, rounded once to dtype, to nearest even. Up to 8 rows are decode: before the
 * rounding Y is off by less than 2^-11 (f16; bf16: 2^-9) of the sum over k of |A[m, k] * s[n, k /
 * G]|, for k <= 32768, where an f16 |A| below 2^-14 counts as 2^-14. 9 to 64 rows, or 1 to 64 with
 * silu_gate_up, are mid where that is faster (`nw choose` says), but not with NW_ZEROS_CARRIER: Y
 * is off by less than 2^-12 + k * 2^-25 (bf16: 2^-8 + 10 * k * 2^-24) of the same sum. All others
 * are prefill: weights W = (q - z) * s are rounded to dtype first (f16 carrier: z * s too), and Y
 * is off by less than 2^-11 (bf16: 2^-8) + (k + 8) * 2^-24 of the sum over k of |A * W| (f16
 * carrier: of |A| * (|W| + |z * s|)), where an f16 |A| or |W| below 2^-14 counts as 2^-14; an f16
 * weight out of range is infinite, a bf16 scale must be below 2^108. All matrices are row-major;
 * pointers are device memory of the context's device; strides are bytes from a row to the next.
 * Rows of w, s and z may be padded; what lies between rows is never used. c may overlap no input.
 */
typedef struct nw_w4a16 {
    size_t size; /* sizeof(nw_w4a16): tells versions of this struct apart; NW_W4A16_INIT sets it */
    int32_t dtype;  /* NW_BF16 or NW_F16 */
    int32_t zeros;  /* NW_ZEROS_EIGHT, _PACKED, _TYPED or _CARRIER */
    uint32_t m;     /* rows of activations, >= 1 */
    uint32_t n;     /* rows of weights, >= 1; even with silu_gate_up; mid and prefill: < 2^22 */
    uint32_t k;     /* a multiple of group; per row: of 16, and >= 32; mid and prefill: < 2^22 */
    uint32_t group; /* 32, 64, 128, or NW_PER_ROW with NW_ZEROS_EIGHT */

    const void *a; /* [M, K] contiguous, 16-byte aligned */
    const void *w; /* int32 [N, K/8], 16-byte aligned; the nibbles of a dword, from bit 0 up, are
                      q of k = 0 2 4 6 1 3 5 7 */
    const void *s; /* scales [N, K/G], or [N, 1] per row; 2-byte aligned, a carrier 4-byte */
    const void *z; /* zero points as `zeros` says, 4- or 2-byte aligned; null for eight, carrier */
    const void *bias; /* [N], 2-byte aligned, or null */
    void *c;          /* [M, N], with silu_gate_up [M, N/2]; contiguous, 2-byte aligned */

    /* Bytes, < 2^30; mid and prefill: < 2^24, and with silu_gate_up N of them, of z N/8, < 2^32. */
    uint64_t w_stride; /* >= K/2, a multiple of 16; see nw_weight_row_stride() */
    uint64_t s_stride; /* >= 2 * K/G, even; carrier: twice that */
    uint64_t z_stride; /* packed: >= 4 * K/G, a multiple of 4; typed: as s_stride; else unused */

    int32_t silu_gate_up; /* 1: rows n < N/2 of w are gate, the others up. 0: plain */
} nw_w4a16;

#define NW_W4A16_INIT                                                                              \
    { sizeof(nw_w4a16), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/* Queues the product on `stream`, a hipStream_t of the context's device; null: the null stream. */
NW_API nw_status nw_linear_w4a16(nw_context *context, const nw_w4a16 *product, void *stream);

/* Loads the kernels that such a product needs, so that its launch has nothing left to load. Reads
 * dtype, zeros, m, n, k, group, silu_gate_up, and nothing else; m = 0 stands for each of 1..8. With
 * NW_ZEROS_CARRIER it loads the kernel of nw_make_carriers too. */
NW_API nw_status nw_prepare(nw_context *context, const nw_w4a16 *product);

/* Device memory that a launch of such a product needs beside its operands, in bytes. 0 for each
 * that this version has a kernel for, so nw_w4a16 has no member for one yet: a version that needs
 * some says so here, and knows by `size` whether its caller does. Reads what nw_prepare reads; m is
 * at least 1. */
NW_API nw_status nw_workspace_size(nw_context *context, const nw_w4a16 *product, uint64_t *bytes);

/*
 * From scales and NW_ZEROS_PACKED zero points to what nw_w4a16 takes as s with NW_ZEROS_CARRIER.
 * Scales are carried to the bit; -z * scale of NW_F16 is rounded to nearest even, and is -scale * 0
 * where z is 0. What lies between rows is neither read nor written.
 */
typedef struct nw_carriers {
    size_t size;    /* sizeof(nw_carriers); NW_CARRIERS_INIT sets it */
    int32_t dtype;  /* NW_BF16 or NW_F16 */
    uint32_t n;     /* rows, 1..2^26 */
    uint32_t k;     /* a multiple of group */
    uint32_t group; /* 32, 64 or 128 */

    const void *s; /* scales [N, K/G], 2-byte aligned */
    const void *z; /* uint32 [ceil(N/8), K/G]: row n in bits 4 * (n % 8); 4-byte aligned */
    void *carrier; /* uint32 [N, K/G], 4-byte aligned; overlaps neither s nor z */

    /* Bytes, < 2^32. */
    uint64_t s_stride;       /* >= 2 * K/G, even */
    uint64_t z_stride;       /* >= 4 * K/G, a multiple of 4 */
    uint64_t carrier_stride; /* as z_stride */
} nw_carriers;

#define NW_CARRIERS_INIT                                                                           \
    { sizeof(nw_carriers), 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0 }

/* Queues it. */
NW_API nw_status nw_make_carriers(nw_context *context, const nw_carriers *carriers, void *stream);

/* ---- w4a16 linear of a mixture of experts ---- */

/*
 * A slot is one token at one of its experts: a row of C. Slots come in blocks of block_size_m, each
 * block with one expert. For slot t of a block with expert e
 *
 *     Y[n] = sum over k of A[t / top_k, k] * (q[e, n, k] - z[e, n, k / G]) * s[e, n, k / G]
 *            (+ bias[e, n])
 *
 *     C[t, n] = topk_weights[t] * Y[n]
 *
 *     C[t, n] = topk_weights[t] * SiLU(Y[n]) * Y[n + N/2], with silu_gate_up
 *
 * in float, rounded once to dtype, with the accuracy of nw_w4a16 for Y: that of decode in blocks of
 * 1, 2, 4 and 8, that of prefill in blocks of 16, 32 and 64, which are for many tokens. All blocks
 * run at once.
 *
 * What the host can't see does no harm: blocks whose expert is none of 0..experts-1 (-1, say) are
 * skipped, their rows of C stay as they are; slots that are none of 0..slots-1 (padding) are not
 * stored. A slot in two blocks gets either's row.
 *
 * For a first product (gate and up) top_k is how many experts a token has, A holds the tokens; for
 * a second one (down) it is 1, A holds a row per slot. With block_size_m 1 and all experts here,
 * expert_ids may be the router's own [tokens, top_k] and sorted_token_ids null.
 */
typedef struct nw_moe_w4a16 {
    size_t size;           /* sizeof(nw_moe_w4a16); NW_MOE_W4A16_INIT sets it */
    int32_t dtype;         /* NW_BF16 or NW_F16 */
    int32_t zeros;         /* NW_ZEROS_EIGHT or NW_ZEROS_PACKED */
    int32_t silu_gate_up;  /* 1: rows n < N/2 of an expert are gate, the others up; N even, with
                              packed zero points a multiple of 8. 0: plain */
    uint32_t block_size_m; /* slots of a block: 1, 2, 4, 8, 16, 32 or 64; from 16 on a and c must be
                              smaller than 4 GiB each */
    uint32_t blocks;       /* >= 1 */
    uint32_t slots;        /* rows of c, >= 1 */
    uint32_t top_k;        /* slots of a row of a, >= 1 */
    uint32_t experts;      /* that w has, >= 1 */
    uint32_t n;            /* rows of an expert's weights, >= 1 */
    uint32_t k;            /* a multiple of group */
    uint32_t group;        /* 32, 64 or 128 */

    const void *a;    /* [ceil(slots / top_k), K] contiguous, 16-byte aligned */
    const void *w;    /* int32 [experts, N, K/8] as in nw_w4a16 */
    const void *s;    /* scales [experts, N, K/G] */
    const void *z;    /* uint32 [experts, ceil(N/8), K/G] as in nw_w4a16; null for eight */
    const void *bias; /* [experts, N] contiguous, or null */
    void *c;          /* [slots, N], or [slots, N/2]; contiguous; overlaps nothing else */

    const int32_t *expert_ids;       /* [blocks] */
    const int32_t *sorted_token_ids; /* [blocks, block_size_m]: slots; or null: 0, 1, 2, ... */
    const float *topk_weights;       /* [slots], or null: 1 */
    const int32_t *num_tokens_post_padded; /* one number: blocks that begin there or later in
                                              sorted_token_ids are skipped; or null */

    /* Bytes from row to row, as in nw_w4a16, and from expert to expert: at least an expert's rows,
     * of the rows' multiple, < 2^32. */
    uint64_t w_stride, w_expert;
    uint64_t s_stride, s_expert;
    uint64_t z_stride, z_expert;
} nw_moe_w4a16;

#define NW_MOE_W4A16_INIT                                                                          \
    {                                                                                              \
        sizeof(nw_moe_w4a16), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0                                               \
    }

/* As nw_linear_w4a16. */
NW_API nw_status nw_moe_linear_w4a16(nw_context *context, const nw_moe_w4a16 *product,
                                     void *stream);

/* As nw_prepare. Reads dtype, zeros, silu_gate_up, block_size_m, n, k, group, and nothing else;
 * block_size_m = 0 stands for each that there is. Loads the kernel of nw_moe_align too. */
NW_API nw_status nw_moe_prepare(nw_context *context, const nw_moe_w4a16 *product);

/* As nw_workspace_size, of what nw_moe_prepare reads: 0 in this version. */
NW_API nw_status nw_moe_workspace_size(nw_context *context, const nw_moe_w4a16 *product,
                                       uint64_t *bytes);

/*
 * From the router's choice to the lists of nw_moe_w4a16. The slots of each expert come together, in
 * ascending order, in blocks of one expert each, expert after expert; the rest of an expert's last
 * block is filled with the number `slots`, which stands for no slot. A slot whose expert is none of
 * 0..experts-1 is in no block; an expert without slots has none. All that is left of
 * sorted_token_ids is `slots`, of expert_ids -1. The same lists every time.
 */
typedef struct nw_moe_routing {
    size_t size;           /* sizeof(nw_moe_routing); NW_MOE_ROUTING_INIT sets it */
    uint32_t slots;        /* tokens times experts of a token, 1..2^30-1 */
    uint32_t experts;      /* 1..512 */
    uint32_t block_size_m; /* as in nw_moe_w4a16 */
    uint32_t blocks; /* that there is room for, >= nw_moe_blocks(); times block_size_m < 2^30 */

    const int32_t *topk_ids;         /* [slots]: experts */
    int32_t *sorted_token_ids;       /* [blocks, block_size_m] */
    int32_t *expert_ids;             /* [blocks] */
    int32_t *num_tokens_post_padded; /* one number: slots and fillings in blocks of an expert */
} nw_moe_routing;

#define NW_MOE_ROUTING_INIT                                                                        \
    { sizeof(nw_moe_routing), 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* Queues it. The lists may overlap neither each other nor topk_ids. */
NW_API nw_status nw_moe_align(nw_context *context, const nw_moe_routing *routing, void *stream);

/* The most blocks that so many slots at so many experts can take. */
NW_API uint64_t nw_moe_blocks(uint32_t slots, uint32_t experts, uint32_t block_size_m);

/* ---- linear with the weights of a GGUF file ---- */

/* ggml's numbers of its types. NW_GGUF_F32, _F16 and _BF16 are no quantized types: they are refused
 * with NW_UNSUPPORTED, and so is every number that is not here. */
enum {
    NW_GGUF_F32 = 0,
    NW_GGUF_F16 = 1,
    NW_GGUF_Q4_0 = 2,  /* blocks of 32 weights in 18 bytes */
    NW_GGUF_Q8_0 = 8,  /* of 32 in 34 */
    NW_GGUF_Q4_K = 12, /* of 256 in 144 */
    NW_GGUF_Q6_K = 14, /* of 256 in 210 */
    NW_GGUF_BF16 = 30
};

/*
 * C[m, n] = sum over k of X[m, k] * w[n, k]
 *
 * with w as ggml defines it: q4_0: d * (q - 8); q8_0: d * q; q4_K: d * scale * q - dmin * min;
 * q6_K: d * scale * (q - 32). Weights are read as they lie in the file. X is converted first, on
 * the device: for few rows to int8 in blocks of 32 as ggml's q8_1, for more to f16, each row times
 * a power of two; `nw choose --gguf` says which. Say w = p - b, where b is q4_K's dmin * min and 0
 * of the other types, B the greatest |X| of a block of 32 k, at least 2^-7, and R that of the row:
 * C is off by less than
 *
 *     sum over k of |p| * B / 220 + |b| * B / 700 + (|p| + |b|) * R * 2^-29 + |X| * 2^-25
 *
 * for k <= 32768, |b| < 65504, B < 2^22 and sums of 32 X below 65504. Where `nw choose` names a
 * kernel of gguf_prefill weights are rounded to f16 first: add |X| * 2^-19, and a weight of 4094
 * and more may be infinite. The result of a row depends on nothing but the row, the weights, m, n,
 * k and the kernels: it is the same every time. A scale or an X that is not finite makes its row or
 * column so. asm/gguf_* say every rounding.
 *
 * Workspace. Some device memory that launches need beside the operands: 16-byte aligned, at least
 * nw_gguf_workspace_size, set to 0 once by the caller after it was allocated (hipMemset; and again
 * should a launch have been broken off by a fault of the device). Its first 256 KiB are counters
 * that every launch leaves at 0, so products of any shapes and types may use it one after the
 * other, and no launch spends time on clearing it. Two launches that may run at the same time, on
 * two streams or in two branches of a graph, need a workspace each: one per stream is enough. A
 * captured graph uses the workspace that it was captured with, each time it runs.
 */
typedef struct nw_gguf {
    size_t size;  /* sizeof(nw_gguf); NW_GGUF_INIT sets it */
    int32_t type; /* of w: NW_GGUF_Q4_0, _Q8_0, _Q4_K or _Q6_K */
    uint32_t m;   /* rows of activations, >= 1 */
    uint32_t n;   /* rows of weights, >= 1, 4 * n < 2^32 */
    uint32_t k;   /* a multiple of the type's block */

    const void *x; /* float [M, K], 16-byte aligned */
    const void *w; /* [N, K / block] blocks, contiguous, 16-byte aligned */
    void *c;       /* float [M, N] contiguous, 4-byte aligned; overlaps nothing else */

    uint64_t x_stride; /* bytes from a row of x to the next: >= 4 * K, a multiple of 16, < 2^32 */

    void *workspace;          /* see above; overlaps nothing else */
    uint64_t workspace_bytes; /* that there are */
} nw_gguf;

#define NW_GGUF_INIT                                                                               \
    { sizeof(nw_gguf), 0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0 }

/* Queues the product on `stream`: two launches, or two for each 8 rows. */
NW_API nw_status nw_gguf_linear(nw_context *context, const nw_gguf *product, void *stream);

/* Loads the kernels that such a product needs. Reads type, m, n, k and nothing else; m = 0 stands
 * for each number of rows. */
NW_API nw_status nw_gguf_prepare(nw_context *context, const nw_gguf *product);

/* Bytes of workspace that are enough for such a product and for each of fewer rows, whichever
 * kernels are chosen. Reads type, m, n, k; m is at least 1. For several products: the largest. */
NW_API nw_status nw_gguf_workspace_size(nw_context *context, const nw_gguf *product,
                                        uint64_t *bytes);

/* Bytes of a row of k weights. 0, and a message, for a type without kernels or a k that is no
 * multiple of its block. */
NW_API uint64_t nw_gguf_row_bytes(int32_t type, uint32_t k);

/*
 * The same for a mixture of experts (ggml's mul_mat_id). A slot is one token at one of its experts,
 * a row of C: C[t, n] = sum over k of X[t / top_k, k] * w[expert_ids[t], n, k]. Slots whose expert
 * is none of 0..experts-1 are skipped, their rows of C stay as they are. Accuracy, workspace and
 * its counters are those of nw_gguf_linear; a workspace may serve both. Where experts have few
 * slots each is a product of one row; else the slots of an expert come together in blocks of 16 or
 * 32, where k is a multiple of 256 and there are 512 experts at most.
 */
typedef struct nw_gguf_moe {
    size_t size;      /* sizeof(nw_gguf_moe); NW_GGUF_MOE_INIT sets it */
    int32_t type;     /* of w: NW_GGUF_Q4_0, _Q8_0, _Q4_K or _Q6_K */
    uint32_t n;       /* rows of an expert's weights, >= 1 */
    uint32_t k;       /* a multiple of the type's block */
    uint32_t experts; /* that w has, >= 1 */
    uint32_t slots;   /* rows of c, 1..2^30-1; slots * n * 4 < 2^32 where they come in blocks */
    uint32_t top_k;   /* slots of a row of x, >= 1: 1 where each slot has a row of its own */

    const void *x;             /* float [ceil(slots / top_k), K], 16-byte aligned */
    const void *w;             /* [experts, N, K / block] blocks, an expert's contiguous; even */
    const int32_t *expert_ids; /* [slots] */
    void *c;                   /* float [slots, N] contiguous, 4-byte aligned */

    uint64_t x_stride; /* bytes from row to row: >= 4 * K, a multiple of 16, < 2^32 */
    uint64_t w_expert; /* from expert to expert: even, >= an expert's, < 2^32 */

    void *workspace; /* c and workspace overlap nothing else */
    uint64_t workspace_bytes;
} nw_gguf_moe;

#define NW_GGUF_MOE_INIT                                                                           \
    { sizeof(nw_gguf_moe), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, 0 }

/* Queues it: two launches, or three. */
NW_API nw_status nw_gguf_moe_linear(nw_context *context, const nw_gguf_moe *product, void *stream);

/* Loads the kernels that products with such weights need. Reads type. */
NW_API nw_status nw_gguf_moe_prepare(nw_context *context, const nw_gguf_moe *product);

/* Bytes of workspace that are enough for such a product and for fewer slots. Reads type, n, k,
 * experts, slots, top_k. */
NW_API nw_status nw_gguf_moe_workspace_size(nw_context *context, const nw_gguf_moe *product,
                                            uint64_t *bytes);

/* ---- layouts ---- */

/* Bytes from one row of packed weights to the next that suit a GPU: contiguous rows, except on
 * gfx1151 those that would gather on few DRAM channels, which get 128 bytes more. `gfx` as in
 * gcnArchName; what follows a colon is ignored. 0, and a message, for an unknown gfx or k = 0. */
NW_API uint64_t nw_weight_row_stride(const char *gfx, uint32_t k);

#ifdef __cplusplus
}
#endif

#endif
