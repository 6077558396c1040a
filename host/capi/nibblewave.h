/* SPDX-License-Identifier: MIT */
/*
 * nibblewave: products with 4-bit weights and with GGUF weights, and attention, on AMD GPUs from
 * RDNA1 to RDNA4. C99 and C++; needs no HIP header.
 *
 *     nw_context *context;                       // for the current HIP device
 *     if (nw_context_create(NULL, &context) != NW_OK)
 *         fail(nw_last_error());
 *     nw_w4a16 p = NW_W4A16_INIT;                // C = A * dequant(W)^T + bias
 *     p.dtype = NW_F16, p.m = 1, p.n = 4096, p.k = 4096, p.group = 128;
 *     p.a = a, p.w = w, p.w_stride = nw_weight_row_stride("gfx1151", p.k), ...
 *     if (nw_linear_w4a16(context, &p, stream) != NW_OK)
 *         fail(nw_last_error());
 *
 * Errors. A call that fails returns a code other than NW_OK. It has queued no work and written
 * nothing except the message for nw_last_error(). No C++ exception leaves the library.
 *
 * Threads. Any number of threads may use one context concurrently, on one stream or on many; only
 * nw_context_destroy needs exclusive access. The caller owns the streams. Work is queued in stream
 * order, and no call waits for it. A call leaves the thread's current HIP device unchanged.
 *
 * Graphs. A launch of a loaded kernel allocates no device memory and synchronises nothing, so it
 * may be captured. The first launch loads a kernel, and so does nw_prepare: call that before
 * capture begins. A launch into a capturing stream that would have to load its kernel is refused
 * with NW_NOT_PREPARED; the capture stays valid. A captured graph uses the context's kernels:
 * destroy the graph before the context.
 *
 * HIP. The library uses the libamdhip64 that the process has already loaded. If there is none, it
 * loads libamdhip64.so.7, .6, .5 or .so from the dynamic linker's path, ROCM_PATH/lib or
 * /opt/rocm/lib.
 *
 * ABI. The soname is libnibblewave.so.MAJOR.MINOR while MAJOR is 0, and libnibblewave.so.MAJOR from
 * 1.0 on; symbols have the version NIBBLEWAVE_MAJOR.MINOR in which they appeared.
 * - A patch version (0.1.0 to 0.1.1) adds functions and enumerators at most. Programs need not be
 *   compiled again. Results may change within the stated error bounds, and so may the choice of
 *   kernels, the text of messages, and the size of a workspace.
 * - A minor version before 1.0 (0.1 to 0.2) may change or remove anything here. It has another
 *   soname, so a program never loads a library that it was not compiled for. CHANGELOG.md lists
 *   the changes.
 * - Each struct begins with its `size`. The library refuses a size that is not its own with
 *   NW_INVALID_ARGUMENT. From 1.0 on structs only grow at the end, never into their padding, and a
 *   smaller known size is accepted: missing members have the values of the _INIT macro.
 * Call through the _INIT macros and set members by name; both survive these changes.
 * tests/api/abi.txt lists every symbol, prototype, enumerator, size and offset; a test compares it.
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
    NW_UNSUPPORTED = 2,      /* no kernel for this product or this GPU */
    NW_NO_KERNEL_FILES = 3,  /* the code objects' directory or a file in it is missing or bad */
    NW_NOT_PREPARED = 4,     /* the stream is capturing and the kernel is not loaded */
    NW_HIP_ERROR = 5,        /* a HIP call failed, or no HIP was found */
    NW_OUT_OF_MEMORY = 6,    /* host memory */
    NW_INTERNAL = 7          /* a defect of this library */
} nw_status;

/* "NW_OK", ...; "unknown nw_status" for any other value. */
NW_API const char *nw_status_name(nw_status status);

/* Message of this thread's last failed call: the value, the rule, the remedy. "" before the first
 * failure. The pointer is the same for all calls of a thread, and valid until the thread ends. A
 * failed call changes the text in place, so one printf may contain both the call and
 * nw_last_error(). Longer texts are truncated to 4095 bytes. */
NW_API const char *nw_last_error(void);

/* NW_VERSION of the loaded library; may differ from the header's. */
NW_API uint32_t nw_version(void);

/* ---- context: one device and the kernels loaded on it ---- */

typedef struct nw_context nw_context;

/* Creates a context for the calling thread's current HIP device. `kernel_directory` holds
 * <gfx>/<kernel>.hsaco. Null: the environment's NIBBLEWAVE_HSACO if it is set, else
 * <prefix>/share/nibblewave/hsaco of an installed library, else hsaco/ of the build tree. On
 * failure *context is null. */
NW_API nw_status nw_context_create(const char *kernel_directory, nw_context **context);

/* The environment's NIBBLEWAVE_FORCE, read once per process, names a kernel to use for every
 * product of its family. If that kernel does not exist or does not fit the product,
 * nw_context_create or the launch returns NW_UNSUPPORTED. */

/* Unloads the kernels. All work queued through the context must have completed. Null is allowed. */
NW_API void nw_context_destroy(nw_context *context);

/* For example "gfx1151"; valid as long as the context. "" for null. */
NW_API const char *nw_context_gfx(const nw_context *context);

/* ---- w4a16 linear ---- */

/* Type of a, s, bias and c, and of z with NW_ZEROS_TYPED; 16 bits each. */
enum { NW_BF16 = 0, NW_F16 = 1 };

/* Type of results that may have 32 bits. */
enum { NW_F32 = 2 };

/* Integers of copies and of lists of rows, and elements that are moved, whatever they are. */
enum { NW_I32 = 3, NW_I64 = 4, NW_B8 = 5, NW_B16 = 6, NW_B32 = 7, NW_B64 = 8 };

/* Layout of the zero points. */
enum {
    NW_ZEROS_EIGHT = 0,  /* 8 everywhere: symmetric quantization */
    NW_ZEROS_PACKED = 1, /* uint32 [ceil(N/8), K/G]: row n in bits 4 * (n % 8) of its dword */
    NW_ZEROS_TYPED = 2,  /* [N, K/G] in the activations' type, whole numbers 0..15; m <= 8 */
    NW_ZEROS_CARRIER = 3 /* in s, which is uint32 [N, K/G]: bits 15:0 are the scale, bits 31:16
                            -z * scale rounded (NW_F16) or z as an integer (NW_BF16);
                            nw_make_carriers writes them */
};

/* One group per row: one scale for all of K. m <= 8. */
#define NW_PER_ROW UINT32_MAX

/*
 * Y[m, n] = sum over k of A[m, k] * (q[n, k] - z[n, k / G]) * s[n, k / G] (+ bias[n])
 *
 * C[m, n] = Y[m, n], or with silu_gate_up C[m, i] = SiLU(Y[m, i]) * Y[m, i + N/2]
 *
 * accumulated in float and rounded once to dtype, to nearest even. The error of Y before that
 * rounding depends on the kernel; `nw choose` names it.
 *
 * - decode, up to 8 rows: less than 2^-11 (bf16: 2^-9) of S = the sum over k of |A[m, k] * s[n, k /
 *   G]|, for k <= 32768. An f16 |A| below 2^-14 counts as 2^-14.
 * - mid, 9 to 64 rows, or 1 to 64 with silu_gate_up, where it is faster than prefill; not with
 *   NW_ZEROS_CARRIER: less than 2^-12 + k * 2^-25 (bf16: 2^-8 + 10 * k * 2^-24) of S.
 * - prefill, all others: weights W = (q - z) * s are rounded to dtype first (f16 carrier: z * s
 *   too). Then less than 2^-11 (bf16: 2^-8) + (k + 8) * 2^-24 of the sum over k of |A * W| (f16
 *   carrier: of |A| * (|W| + |z * s|)). An f16 |A| or |W| below 2^-14 counts as 2^-14. An f16
 *   weight out of range, or of a carrier z * s, is infinite; a bf16 scale must be below 2^108.
 *
 * All matrices are row-major. Pointers are device memory of the context's device. Strides are bytes
 * from one row to the next. Rows of w, s and z may be padded; padding is neither read nor written.
 * c may overlap no input.
 */
typedef struct nw_w4a16 {
    size_t size;    /* sizeof(nw_w4a16), the version of this struct; NW_W4A16_INIT sets it */
    int32_t dtype;  /* NW_BF16 or NW_F16 */
    int32_t zeros;  /* NW_ZEROS_EIGHT, _PACKED, _TYPED or _CARRIER */
    uint32_t m;     /* rows of activations, >= 1 */
    uint32_t n;     /* rows of weights, >= 1; even with silu_gate_up; mid and prefill: < 2^22 */
    uint32_t k;     /* a multiple of group; per row: of 16, >= 32; mid and prefill: < 2^22 */
    uint32_t group; /* 32, 64, 128, or NW_PER_ROW with NW_ZEROS_EIGHT */

    const void *a;    /* [M, K] contiguous, 16-byte aligned */
    const void *w;    /* int32 [N, K/8], 16-byte aligned; nibbles of a dword, from bit 0 up: q of
                         k = 0 2 4 6 1 3 5 7 */
    const void *s;    /* scales [N, K/G], or [N, 1] per row; 2-byte aligned, a carrier 4-byte */
    const void *z;    /* zero points by `zeros`: packed 4-byte, typed 2-byte aligned; else null */
    const void *bias; /* [N], 2-byte aligned, or null */
    void *c;          /* [M, N], with silu_gate_up [M, N/2]; contiguous, 2-byte aligned */

    /* Bytes, < 2^30; mid and prefill: < 2^24, and with silu_gate_up N * w_stride, N * s_stride and
     * N/8 * z_stride < 2^32. */
    uint64_t w_stride; /* >= K/2, a multiple of 16; see nw_weight_row_stride() */
    uint64_t s_stride; /* >= 2 * K/G, even; carrier: twice that */
    uint64_t z_stride; /* packed: >= 4 * K/G, a multiple of 4; typed: as s_stride; else unused */

    int32_t silu_gate_up; /* 1: rows n < N/2 of w are gate, the others up. 0: plain */
} nw_w4a16;

#define NW_W4A16_INIT                                                                              \
    { sizeof(nw_w4a16), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/* Queues the product on `stream`, a hipStream_t of the context's device; null: the null stream. */
NW_API nw_status nw_linear_w4a16(nw_context *context, const nw_w4a16 *product, void *stream);

/* Loads the kernels that the product needs, so that its launch loads none. Reads dtype, zeros, m,
 * n, k, group and silu_gate_up only; m = 0 means all of 1..8. With NW_ZEROS_CARRIER it loads the
 * kernel of nw_make_carriers too. */
NW_API nw_status nw_prepare(nw_context *context, const nw_w4a16 *product);

/* Bytes of device memory that a launch of the product needs besides its operands: 0 for every
 * product of this version, so nw_w4a16 has no workspace member yet. Reads what nw_prepare reads; m
 * is at least 1. */
NW_API nw_status nw_workspace_size(nw_context *context, const nw_w4a16 *product, uint64_t *bytes);

/*
 * Weights of act-order (GPTQ's desc_act, compressed-tensors' actorder = group): nw pack sorts their
 * columns by group, and column k of w belongs to activation perm[k]. perm is its NAME.perm: uint32
 * [K] on the device, 16-byte aligned, each of 0..K-1 once; a number beyond reads other memory.
 *
 * nw_permuted_linear_w4a16 is nw_linear_w4a16 of a[:, perm], to the bit, in one launch: for m <= 4,
 * zeros NW_ZEROS_EIGHT or _PACKED, groups, no silu_gate_up, and K <= 16384, 8192, 4096, 4096 with
 * m = 1, 2, 3, 4. Refuses others with NW_INVALID_ARGUMENT: they take nw_permute first.
 */
NW_API nw_status nw_permuted_linear_w4a16(nw_context *context, const nw_w4a16 *product,
                                          const void *perm, void *stream);

/* Loads the kernels of both, so that a launch loads none. Reads dtype, zeros, m, n, k and group of
 * the product; where nw_permuted_linear_w4a16 refuses these, loads nw_permute's alone. */
NW_API nw_status nw_permute_prepare(nw_context *context, const nw_w4a16 *product);

/* Queues y[m, k] = a[m, perm[k]] on `stream`. */
typedef struct nw_permutation {
    size_t size;      /* sizeof(nw_permutation); NW_PERMUTATION_INIT sets it */
    uint32_t m;       /* rows of activations, 1..2^24 - 1 */
    uint32_t k;       /* a multiple of 8, <= 32768 */
    const void *a;    /* [M, K] of 16 bits each, contiguous, 16-byte aligned */
    const void *perm; /* as above; indices may repeat */
    void *y;          /* as a; overlaps neither a nor perm */
} nw_permutation;

#define NW_PERMUTATION_INIT                                                                        \
    { sizeof(nw_permutation), 0, 0, NULL, NULL, NULL }

NW_API nw_status nw_permute(nw_context *context, const nw_permutation *permutation, void *stream);

/* Queues nw_linear_w4a16 of a[:, perm], to the bit, for every product that it takes with k <=
 * 32768: as nw_permuted_linear_w4a16 where that takes it, else nw_permute into `workspace`, then
 * the product. `workspace`: device memory, 16-byte aligned, for this product alone until it is
 * done; null where the size is 0. */
NW_API nw_status nw_act_order_linear_w4a16(nw_context *context, const nw_w4a16 *product,
                                           const void *perm, void *workspace,
                                           uint64_t workspace_bytes, void *stream);

/* 0 where one launch is the product, else 2 * m * k. Reads what nw_prepare reads; m is at least 1.
 */
NW_API nw_status nw_act_order_workspace_size(nw_context *context, const nw_w4a16 *product,
                                             uint64_t *bytes);

/* Loads the kernels of nw_act_order_linear_w4a16. Reads what nw_prepare reads; m = 0 means all of
 * 1..8. */
NW_API nw_status nw_act_order_prepare(nw_context *context, const nw_w4a16 *product);

/*
 * Packs scales and NW_ZEROS_PACKED zero points into carriers: s of nw_w4a16 with NW_ZEROS_CARRIER.
 * Scales are copied bit by bit. With NW_F16, -z * scale is rounded to nearest even; for z = 0 it is
 * -scale * 0. Padding between rows is neither read nor written.
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

/* Queues the conversion on `stream`. */
NW_API nw_status nw_make_carriers(nw_context *context, const nw_carriers *carriers, void *stream);

/* ---- w4a16 weights, int8 activations ---- */

/*
 * Quantizes activations to int8, with one scale per row:
 *
 *     y_scale[i] = max over k of |X[i, k]| / 127          y[i, k] = X[i, k] / y_scale[i], rounded
 *
 * y stores each eight consecutive k in the order 0 4 1 5 2 6 3 7. A scale below 2^-126 becomes 0,
 * and so does its row of y; for a row with a NaN or an infinity y_scale is NaN. Several products
 * may share the result.
 */
typedef struct nw_int8_rows {
    size_t size;       /* sizeof(nw_int8_rows); NW_INT8_ROWS_INIT sets it */
    int32_t dtype;     /* type of x: NW_BF16 or NW_F16 */
    uint32_t m;        /* rows, 1..2^24 - 1 */
    uint32_t k;        /* a multiple of 8, < 2^28 */
    const void *x;     /* [M, K], 16-byte aligned */
    uint64_t x_stride; /* bytes, >= 2 * K, a multiple of 16 */
    void *y;           /* int8 [M, K] contiguous, 16-byte aligned; overlaps nothing else */
    void *y_scale;     /* float [M], 4-byte aligned; overlaps nothing else */
} nw_int8_rows;

#define NW_INT8_ROWS_INIT                                                                          \
    { sizeof(nw_int8_rows), 0, 0, 0, NULL, 0, NULL, NULL }

/* Queues the conversion on `stream`. */
NW_API nw_status nw_quantize_rows(nw_context *context, const nw_int8_rows *rows, void *stream);

/*
 *     Y[m, n] = a_scale[m] * sum over groups g of s[n, g] * sum over k in g of A[m, k] * (q[n, k] -
 *               z[n, g])  (+ bias[n])
 *
 * and C as in nw_w4a16. The inner sum is exact, all others are rounded in float. What int8 loses of
 * the activations is up to the caller: no other call of this library quantizes them so, and where a
 * few channels are much larger than the others it is much (asm/prefill_w4a8/notes.md). It is for
 * many rows, on RDNA4 first of all: `nw_linear_w4a16` is the faster one for few.
 */
typedef struct nw_w4a8 {
    size_t size;    /* sizeof(nw_w4a8); NW_W4A8_INIT sets it */
    int32_t dtype;  /* of s, bias and c: NW_BF16 or NW_F16 */
    int32_t zeros;  /* NW_ZEROS_EIGHT or NW_ZEROS_PACKED */
    uint32_t m;     /* rows of activations, >= 1 */
    uint32_t n;     /* rows of weights, 1..2^22 - 1; even with silu_gate_up */
    uint32_t k;     /* a multiple of group and of 64, < 2^22 */
    uint32_t group; /* 32, 64 or 128 */

    const void *a;       /* y of nw_quantize_rows, int8 [M, K], 16-byte aligned */
    const void *a_scale; /* y_scale of nw_quantize_rows, float [M], 4-byte aligned */

    /* As in nw_w4a16: bytes of strides are < 2^24, and with silu_gate_up N * w_stride, N * s_stride
     * and N/8 * z_stride < 2^32. */
    const void *w, *s, *z, *bias;
    void *c;
    uint64_t w_stride, s_stride, z_stride;

    int32_t silu_gate_up; /* as in nw_w4a16 */
} nw_w4a8;

#define NW_W4A8_INIT                                                                               \
    { sizeof(nw_w4a8), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/* Queues the product on `stream`. gfx11 and gfx12. */
NW_API nw_status nw_linear_w4a8(nw_context *context, const nw_w4a8 *product, void *stream);

/* Loads the product's kernel and that of nw_quantize_rows. Reads dtype, zeros, m, n, k, group and
 * silu_gate_up only. */
NW_API nw_status nw_w4a8_prepare(nw_context *context, const nw_w4a8 *product);

/* ---- w4a16 linear of a mixture of experts ---- */

/*
 * A slot is one token at one of its experts, a row of C. A block is block_size_m slots of one
 * expert. For slot t of a block with expert e
 *
 *     Y[n] = sum over k of A[t / top_k, k] * (q[e, n, k] - z[e, n, k / G]) * s[e, n, k / G]
 *            (+ bias[e, n])
 *
 *     C[t, n] = topk_weights[t] * Y[n]
 *
 *     C[t, n] = topk_weights[t] * SiLU(Y[n]) * Y[n + N/2], with silu_gate_up
 *
 * in float, rounded once to dtype. The error of Y is that of nw_w4a16: of decode for blocks of 1,
 * 2, 4 and 8, of prefill for blocks of 16, 32 and 64, which are meant for many tokens. One launch
 * runs all blocks.
 *
 * Device data that the host can't check is safe: blocks with an expert outside 0..experts-1 (such
 * as -1) are skipped and leave their rows of C unchanged; slots outside 0..slots-1 (padding) are
 * not stored. If two blocks hold the same slot, either's result is stored.
 *
 * In a first product (gate and up) A holds the tokens and top_k is the number of experts of a
 * token. In a second product (down) A has a row for each slot and top_k is 1. With block_size_m 1
 * and all experts on this device, expert_ids may be the router's own [tokens, top_k] and
 * sorted_token_ids null.
 */
typedef struct nw_moe_w4a16 {
    size_t size;           /* sizeof(nw_moe_w4a16); NW_MOE_W4A16_INIT sets it */
    int32_t dtype;         /* NW_BF16 or NW_F16 */
    int32_t zeros;         /* NW_ZEROS_EIGHT or NW_ZEROS_PACKED */
    int32_t silu_gate_up;  /* 1: rows n < N/2 of an expert are gate, the others up; N even, with
                              packed zero points a multiple of 8. 0: plain */
    uint32_t block_size_m; /* slots in a block: 1, 2, 4, 8, 16, 32 or 64; from 16 on, a and c must
                              each be smaller than 4 GiB */
    uint32_t blocks;       /* >= 1 */
    uint32_t slots;        /* rows of c, >= 1 */
    uint32_t top_k;        /* slots for each row of a, >= 1 */
    uint32_t experts;      /* experts in w, >= 1 */
    uint32_t n;            /* rows of an expert's weights, >= 1 */
    uint32_t k;            /* a multiple of group */
    uint32_t group;        /* 32, 64 or 128 */

    const void *a;    /* [ceil(slots / top_k), K] contiguous, 16-byte aligned */
    const void *w;    /* int32 [experts, N, K/8] as in nw_w4a16 */
    const void *s;    /* scales [experts, N, K/G] */
    const void *z;    /* uint32 [experts, ceil(N/8), K/G] as in nw_w4a16; null for eight */
    const void *bias; /* [experts, N] contiguous, or null */
    void *c;          /* [slots, N], or [slots, N/2]; contiguous; overlaps nothing else */

    const int32_t *expert_ids;             /* [blocks] */
    const int32_t *sorted_token_ids;       /* [blocks, block_size_m]: slots; or null: 0, 1, 2,
                                              ... */
    const float *topk_weights;             /* [slots], or null: 1 */
    const int32_t *num_tokens_post_padded; /* one number: blocks that start at or after this index
                                              of sorted_token_ids are skipped; or null */

    /* Bytes: row strides as in nw_w4a16; expert strides of at least an expert's rows, of the same
     * alignment, < 2^32. */
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

/* As nw_prepare. Reads dtype, zeros, silu_gate_up, block_size_m, n, k and group only;
 * block_size_m = 0 means all block sizes. Loads the kernel of nw_moe_align too. */
NW_API nw_status nw_moe_prepare(nw_context *context, const nw_moe_w4a16 *product);

/* As nw_workspace_size. Reads what nw_moe_prepare reads; 0 in this version. */
NW_API nw_status nw_moe_workspace_size(nw_context *context, const nw_moe_w4a16 *product,
                                       uint64_t *bytes);

/*
 * nw_moe_linear_w4a16 with weights of act-order: column k of expert e's w belongs to activation
 * perm[e, k]. perm is nw pack's NAME.perm of experts: uint32 [experts, K] on the device, 16-byte
 * aligned, each row as nw_permuted_linear_w4a16's. K <= 32768.
 *
 * One launch where there is a kernel for it: on gfx11 and gfx12 blocks of 1, 2 and 4 slots with
 * K <= 16384, 8192 and 4096. Else two: the workspace gets a row for each slot, its activations in
 * the order of its block's expert, and the product reads these. The result is the same to the bit.
 *
 * workspace: device memory, 16-byte aligned, for this product alone until it is done; null where
 * the size is 0. Where there are two launches and blocks of different experts hold the same slot,
 * its row of C is undefined.
 */
NW_API nw_status nw_act_order_moe_linear_w4a16(nw_context *context, const nw_moe_w4a16 *product,
                                               const void *perm, void *workspace,
                                               uint64_t workspace_bytes, void *stream);

/* 0 where one launch is the product, else 2 * slots * K. Reads what nw_moe_prepare reads, and
 * slots; block_size_m is not 0. */
NW_API nw_status nw_act_order_moe_workspace_size(nw_context *context, const nw_moe_w4a16 *product,
                                                 uint64_t *bytes);

/* As nw_moe_prepare. Loads no kernel of nw_moe_align. */
NW_API nw_status nw_act_order_moe_prepare(nw_context *context, const nw_moe_w4a16 *product);

/*
 * Sorts the router's choice into the lists of nw_moe_w4a16. Each expert's slots, in ascending
 * order, fill blocks of that expert; experts follow each other in order. The last block of an
 * expert is padded with the value `slots`, which is no slot. Slots with an expert outside
 * 0..experts-1 are in no block; an expert without slots has no block. The rest of sorted_token_ids
 * is set to `slots`, the rest of expert_ids to -1. The result is deterministic.
 */
typedef struct nw_moe_routing {
    size_t size;           /* sizeof(nw_moe_routing); NW_MOE_ROUTING_INIT sets it */
    uint32_t slots;        /* tokens times top_k, 1..2^30-1 */
    uint32_t experts;      /* 1..512 */
    uint32_t block_size_m; /* as in nw_moe_w4a16 */
    uint32_t blocks;       /* capacity of the lists, >= nw_moe_blocks(); blocks * block_size_m <
                              2^30 */

    const int32_t *topk_ids;         /* [slots]: experts */
    int32_t *sorted_token_ids;       /* [blocks, block_size_m] */
    int32_t *expert_ids;             /* [blocks] */
    int32_t *num_tokens_post_padded; /* one number: entries in blocks of an expert, padding
                                        included */
} nw_moe_routing;

#define NW_MOE_ROUTING_INIT                                                                        \
    { sizeof(nw_moe_routing), 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* Queues it on `stream`. The lists may overlap neither each other nor topk_ids. */
NW_API nw_status nw_moe_align(nw_context *context, const nw_moe_routing *routing, void *stream);

/* The largest number of blocks that the slots can need. */
NW_API uint64_t nw_moe_blocks(uint32_t slots, uint32_t experts, uint32_t block_size_m);

/* ---- linear with the weights of a GGUF file ---- */

/* Values of ggml_type. NW_GGUF_F32, _F16 and _BF16 are not quantized: products with them are
 * refused with NW_UNSUPPORTED, as with every type that is not listed here. */
enum {
    NW_GGUF_F32 = 0,
    NW_GGUF_F16 = 1,
    NW_GGUF_Q4_0 = 2,    /* blocks of 32 weights in 18 bytes */
    NW_GGUF_Q4_1 = 3,    /* of 32 in 20 */
    NW_GGUF_Q5_0 = 6,    /* of 32 in 22 */
    NW_GGUF_Q5_1 = 7,    /* of 32 in 24 */
    NW_GGUF_Q8_0 = 8,    /* of 32 in 34 */
    NW_GGUF_Q2_K = 10,   /* of 256 in 84 */
    NW_GGUF_Q3_K = 11,   /* of 256 in 110 */
    NW_GGUF_Q4_K = 12,   /* of 256 in 144 */
    NW_GGUF_Q5_K = 13,   /* of 256 in 176 */
    NW_GGUF_Q6_K = 14,   /* of 256 in 210 */
    NW_GGUF_IQ4_NL = 20, /* of 32 in 18 */
    NW_GGUF_IQ4_XS = 23, /* of 256 in 136 */
    NW_GGUF_I32 = 26,    /* rows that are gathered */
    NW_GGUF_BF16 = 30,
    NW_GGUF_MXFP4 = 39, /* of 32 in 17 */
    NW_GGUF_NVFP4 = 40  /* of 64 in 36 */
};

/*
 * C[m, n] = sum over k of X[m, k] * w[n, k]
 *
 * with w as ggml defines it: q4_0: d * (q - 8); q4_1, q5_1: d * q + m; q5_0: d * (q - 16); q8_0:
 * d * q; q2_K, q4_K, q5_K: d * scale * q - dmin * min; q3_K: d * scale * (q - 4); q6_K: d * scale *
 * (q - 32); iq4_nl, iq4_xs, mxfp4, nvfp4: scale * value(q). As in ggml, mxfp4's e8m0 of 255 is
 * 2^128; of nvfp4's e4m3 the sign counts for nothing, and 0x7f is 0; what a tensor of nvfp4 has as
 * a scale of its own is the caller's. Weights keep the layout of the file. X is converted on the
 * device first: for few rows to int8 in blocks of 32 like ggml's q8_0, for more rows to f16, each
 * row scaled by a power of two, or to int8 where the GPU has no WMMA; `nw choose --gguf` names the
 * kernels. Let w = p - b, where b is q4_K's and q5_K's dmin * min, q4_1's and q5_1's -m, and 0 for
 * the other types; B the largest |X| of a block of 32 k, at least 2^-89; R the largest |X| of the
 * row. The error of C is less than
 *
 *     sum over k of |w| * B / 220 + (|p| + |b|) * (B / 700 + R * 2^-29) + |X| * 2^-25
 *
 * for k <= 32768, |b| < 65504 and any finite X whose sum over k of |X| * (|p| + |b|) is finite in
 * float. gguf_prefill rounds weights to f16 first: add |X| * 2^-19 to the summand; a weight of 4094
 * or more may become infinite. The result of a row is deterministic: it depends only on the row,
 * the weights, m, n, k and the kernels. A scale or an X that is not finite makes its column or row
 * of C not finite. The contracts in asm/gguf_* and asm/dot_gguf state every rounding.
 *
 * Workspace. Device memory that launches need besides the operands: 16-byte aligned, at least
 * nw_gguf_workspace_size bytes. The caller sets it to 0 once after allocation (hipMemset), and
 * again after a device fault aborted a launch. Its first 256 KiB are counters that every launch
 * leaves at 0. So products of any shape and type may use it one after the other, and no launch has
 * to clear it. Launches that may run concurrently, on two streams or in two branches of a graph,
 * need separate workspaces; one per stream is enough. A captured graph uses the workspace that it
 * was captured with.
 */
typedef struct nw_gguf {
    size_t size;  /* sizeof(nw_gguf); NW_GGUF_INIT sets it */
    int32_t type; /* of w: NW_GGUF_Q4_0 and so on */
    uint32_t m;   /* rows of activations, >= 1 */
    uint32_t n;   /* rows of weights, >= 1, 4 * n < 2^32 */
    uint32_t k;   /* a multiple of the type's block */

    const void *x; /* float [M, K], 16-byte aligned */
    const void *w; /* [N, K / block] blocks, contiguous, 16-byte aligned */
    void *c;       /* float [M, N] contiguous, 4-byte aligned; overlaps nothing else */
    const void *a; /* x as int8 by nw_rms_norm, 16-byte aligned, of at most 8 rows; null: converted
                      here */

    uint64_t x_stride; /* bytes from a row of x to the next: >= 4 * K, a multiple of 16, < 2^32 */

    void *workspace;          /* see above; overlaps nothing else */
    uint64_t workspace_bytes; /* its size */
} nw_gguf;

#define NW_GGUF_INIT                                                                               \
    { sizeof(nw_gguf), 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, 0 }

/* Queues the product on `stream`: two launches, or two for every 8 rows. */
NW_API nw_status nw_gguf_linear(nw_context *context, const nw_gguf *product, void *stream);

/* Loads the kernels that the product needs. Reads type, m, n and k only; m = 0 means any number of
 * rows. */
NW_API nw_status nw_gguf_prepare(nw_context *context, const nw_gguf *product);

/* Bytes of workspace for the product and for any with fewer rows, whichever kernels are chosen.
 * Reads type, m, n and k; m is at least 1. For several products take the largest. */
NW_API nw_status nw_gguf_workspace_size(nw_context *context, const nw_gguf *product,
                                        uint64_t *bytes);

/* Bytes of a row of k weights. 0, with a message for nw_last_error, if the type has no kernels or k
 * is not a multiple of its block. */
NW_API uint64_t nw_gguf_row_bytes(int32_t type, uint32_t k);

/*
 * The same for a mixture of experts (ggml's mul_mat_id). A slot is one token at one of its experts,
 * a row of C: C[t, n] = sum over k of X[t / top_k, k] * w[expert_ids[t], n, k]. Slots with an
 * expert outside 0..experts-1 are skipped and leave their rows of C unchanged. Error bounds and
 * workspace are those of nw_gguf_linear; both may share one workspace. With few slots for each
 * expert, or more than 512 experts, each slot is a product of one row. Otherwise the slots of an
 * expert are processed in blocks of 16 (k at least 256) or 64 (any k).
 */
typedef struct nw_gguf_moe {
    size_t size;      /* sizeof(nw_gguf_moe); NW_GGUF_MOE_INIT sets it */
    int32_t type;     /* of w: NW_GGUF_Q4_0 and so on */
    uint32_t n;       /* rows of an expert's weights, >= 1 */
    uint32_t k;       /* a multiple of the type's block */
    uint32_t experts; /* experts in w, >= 1 */
    uint32_t slots;   /* rows of c, 1..2^30-1; slots * n * 4 < 2^32 if processed in blocks */
    uint32_t top_k;   /* slots for each row of x, >= 1; 1 if each slot has its own row */

    const void *x;             /* float [ceil(slots / top_k), K], 16-byte aligned */
    const void *w;             /* [experts, N, K / block] blocks, an expert's contiguous; even */
    const int32_t *expert_ids; /* [slots], or rows of it: see ids_row */
    void *c;                   /* float [slots, N] contiguous, 4-byte aligned */
    const void *a;             /* x as int8 by nw_rms_norm, 16-byte aligned, row after row; null:
                                  converted here. Read where slots are products of one row */

    uint64_t x_stride; /* bytes from row to row: >= 4 * K, a multiple of 16, < 2^32 */
    uint64_t w_expert; /* bytes from expert to expert: even, >= an expert's weights, < 2^32 */

    void *workspace; /* c and workspace overlap nothing else */
    uint64_t workspace_bytes;

    /* Rows of expert_ids with gaps between them, as ggml's top-k has: slot t is entry t % ids_row
     * of row t / ids_row. The ids are gathered into the workspace first, by a copy on the stream.
     */
    uint64_t ids_row;    /* entries of a row, a divisor of slots; 0: no gaps, ids_stride is
                            unused */
    uint64_t ids_stride; /* bytes from row to row: >= 4 * ids_row, a multiple of 4 */
} nw_gguf_moe;

#define NW_GGUF_MOE_INIT                                                                           \
    { sizeof(nw_gguf_moe), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, 0, 0, 0 }

/* Queues the product on `stream`: two or three launches, and a copy if expert_ids has gaps. */
NW_API nw_status nw_gguf_moe_linear(nw_context *context, const nw_gguf_moe *product, void *stream);

/* Loads the kernels that products with weights of this type need. Reads type only. */
NW_API nw_status nw_gguf_moe_prepare(nw_context *context, const nw_gguf_moe *product);

/* Bytes of workspace for the product and for any with fewer slots. Reads type, n, k, experts,
 * slots, top_k, ids_row and ids_stride. */
NW_API nw_status nw_gguf_moe_workspace_size(nw_context *context, const nw_gguf_moe *product,
                                            uint64_t *bytes);

enum {
    NW_ACT_NONE = 0,   /* C = G */
    NW_ACT_SWIGLU = 1, /* gpt-oss's, clamped */
    NW_ACT_SILU = 2    /* C = U * SiLU(G) */
};

/*
 * nw_gguf_moe_linear with a bias for each expert and column, and the activation between an expert's
 * first products. With e = expert_ids[t]
 *
 *     G[t, i] = bias[e, i] + sum over k of X[t / top_k, k] * w[e, i, k]
 *     U[t, i] = bias_up[e, i] + sum over k of X[t / top_k, k] * w_up[e, i, k]
 *
 *     C[t, i] = G[t, i], or with NW_ACT_SWIGLU, g = min(G, limit), u = min(max(U, -limit), limit):
 *     C[t, i] = (u + 1) * g / (1 + exp(-alpha * g))
 *
 * and with NW_ACT_SILU C[t, i] = U[t, i] * G[t, i] / (1 + exp(-G[t, i])).
 *
 * With `norm`, each row of x is first divided by its root mean square, 1 / sqrt(mean + eps), and
 * multiplied by these weights: in the same launch, so NW_UNSUPPORTED where x takes a launch of its
 * own.
 *
 * gpt-oss has alpha = 1.702 and limit = 7. Its checkpoints hold rows of gate and up in turn: then
 * w_up is w + a row, w_row two rows, bias_up is bias + 1 and bias_row 8. Its GGUF files hold them
 * in tensors of their own: w_row is a row and bias_row 4. Kernels of NW_ACT_SWIGLU exist for
 * NW_GGUF_MXFP4 and NW_GGUF_NVFP4. A product of one row with an addend, as a residual, is one
 * expert and one slot with it as bias. Sums have the error bound of nw_gguf_linear; what follows is
 * float arithmetic. NaN passes through clamps. Each slot is a product of one row, which reads its
 * expert's weights: where experts have many slots, nw_gguf_moe_linear is faster.
 */
typedef struct nw_gguf_moe_act {
    size_t size;      /* sizeof(nw_gguf_moe_act); NW_GGUF_MOE_ACT_INIT sets it */
    int32_t type;     /* of w: NW_GGUF_Q4_0 and so on */
    int32_t act;      /* NW_ACT_NONE, NW_ACT_SWIGLU or NW_ACT_SILU */
    uint32_t n;       /* columns of c, rows of an expert's w, >= 1 */
    uint32_t k;       /* a multiple of the type's block */
    uint32_t experts; /* experts in w, >= 1 */
    uint32_t slots;   /* rows of c, 1..2^30-1 */
    uint32_t top_k;   /* slots for each row of x, >= 1; 1 if each slot has its own row */
    float alpha;      /* of swiglu: finite, >= 0 */
    float limit;      /* of swiglu: >= 0, infinity for none */
    float eps;        /* added to the mean of squares, with `norm`: finite, >= 0 */

    const void *x;        /* float [ceil(slots / top_k), K], 16-byte aligned; null with `a` */
    const float *norm;    /* [K], 16-byte aligned, or null: x as it is; null with `a` */
    const void *w;        /* [experts, N, K / block] blocks; even */
    const void *w_up;     /* as w, with its strides; null with NW_ACT_NONE */
    const float *bias;    /* [experts, N], or null */
    const float *bias_up; /* as bias, with its strides, or null */

    const int32_t *expert_ids; /* [slots] */
    void *c;                   /* float [slots, N] contiguous, 4-byte aligned; may be bias itself
                                  with one slot of one expert */
    const void *a;             /* x as int8 by nw_rms_norm, 16-byte aligned, row after row; null:
                                  converted here */

    uint64_t x_stride;    /* bytes from row to row: >= 4 * K, a multiple of 16, < 2^32 */
    uint64_t w_expert;    /* bytes from expert to expert: even, >= an expert's rows, < 2^32 */
    uint64_t w_row;       /* bytes from row to row of w: >= nw_gguf_row_bytes, < 2^32 */
    uint64_t bias_expert; /* bytes from expert to expert: a multiple of 4, < 2^32 */
    uint64_t bias_row;    /* bytes from column to column: a multiple of 4, >= 4 */

    void *workspace; /* c and workspace overlap nothing else */
    uint64_t workspace_bytes;
} nw_gguf_moe_act;

#define NW_GGUF_MOE_ACT_INIT                                                                       \
    {                                                                                              \
        sizeof(nw_gguf_moe_act), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, \
            NULL, NULL, NULL, 0, 0, 0, 0, 4, NULL, 0                                               \
    }

/* Queues the product on `stream`: one launch; on devices without dots of bytes, or where LDS is too
 * small for a row of x, two, but one with `a`. */
NW_API nw_status nw_gguf_moe_act_linear(nw_context *context, const nw_gguf_moe_act *product,
                                        void *stream);

/* Loads the kernels that such products need. Reads type and act only. */
NW_API nw_status nw_gguf_moe_act_prepare(nw_context *context, const nw_gguf_moe_act *product);

/* Bytes of workspace for the product and for any with fewer slots. Reads type, act, n, k, experts,
 * slots and top_k. */
NW_API nw_status nw_gguf_moe_act_workspace_size(nw_context *context, const nw_gguf_moe_act *product,
                                                uint64_t *bytes);

/*
 * Products of 1 to 8 rows with up to three GGUF matrices in one launch, as a layer's q, k and v
 *
 *     C[m, i] = bias[m, i] + sum over k of Y[m, k] * w[i, k]
 *
 * and likewise c2 of w2, c3 of w3. With NW_ACT_SILU, of 2 rows and more, w is gate and w2 up, of N
 * rows each:
 *
 *     G = sum over k of Y[m, k] * w[i, k]
 *     U = sum over k of Y[m, k] * w2[i, k]
 *     C[m, i] = U * G / (1 + exp(-G))
 *
 * `bias` is one row for all rows of C, or with bias_stride a row for each, as a residual. Y is X
 * or, with `norm`, X divided by its root mean square and multiplied by these weights:
 *
 *     Y[k] = X[k] * norm[k] / sqrt(mean of X^2 + eps)
 *
 * in the same launch, so NW_UNSUPPORTED where x takes a launch of its own, and of several rows. w3
 * may be of another type than w and w2 for one row where there are dots of bytes, LDS holds a row
 * of x, and llama.cpp's mixtures have such types of q and v: q4_K with q5_K or q6_K, q5_K with
 * q6_K, q3_K with q4_K or q5_K, q2_K with q3_K, q4_K or q5_K, iq4_nl or iq4_xs with q5_K, q5_0 or
 * q5_1 with q8_0; else NW_UNSUPPORTED, as several rows on devices without dots of bytes. Y is
 * quantized as by nw_gguf_linear, and sums have its error bound.
 */
typedef struct nw_gguf_joint {
    size_t size;   /* sizeof(nw_gguf_joint); NW_GGUF_JOINT_INIT sets it */
    int32_t type;  /* of w and w2: NW_GGUF_Q4_0 and so on */
    int32_t type3; /* of w3; 0: as type */
    uint32_t m;    /* rows of x, 1..8 */
    int32_t act;   /* NW_ACT_NONE or NW_ACT_SILU */
    uint32_t k;    /* a multiple of the types' blocks */
    uint32_t n;    /* columns of c, rows of w, >= 1 */
    uint32_t n2;   /* of c2; 0: one matrix */
    uint32_t n3;   /* of c3; 0: two matrices */
    float eps;     /* added to the mean of squares, with `norm`: finite, >= 0 */

    const void *x;      /* float [M, K] without gaps, 16-byte aligned; null with `a` */
    const void *a;      /* x as int8 by nw_rms_norm, 16-byte aligned; null: converted here */
    const float *norm;  /* [K], 16-byte aligned, or null: x as it is; null with `a` */
    const void *w;      /* [N, K / block] blocks, rows without gaps; even */
    const void *w2;     /* [N2, K / block], null if N2 is 0 */
    const void *w3;     /* [N3, K / block], null if N3 is 0 */
    const float *bias;  /* [N], or with bias_stride [M, N]; or null */
    const float *bias2; /* [N2] likewise, or null */
    const float *bias3; /* [N3] likewise, or null */

    float *c;  /* float [M, N]; may be bias itself with bias_stride = 4 * N */
    float *c2; /* float [M, N2], null if N2 is 0 or with NW_ACT_SILU */
    float *c3; /* float [M, N3], null if N3 is 0 */

    uint64_t bias_stride; /* bytes from row to row of biases, a multiple of 4; 0: one row */

    void *workspace; /* c, c2, c3 and workspace overlap nothing else */
    uint64_t workspace_bytes;
} nw_gguf_joint;

#define NW_GGUF_JOINT_INIT                                                                         \
    {                                                                                              \
        sizeof(nw_gguf_joint), 0, 0, 1, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL,      \
            NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0                                         \
    }

/* Queues the products on `stream`: of one row one launch; on devices without dots of bytes, or
 * where LDS is too small for a row of x, two; of more rows two; but one with `a`. */
NW_API nw_status nw_gguf_joint_linear(nw_context *context, const nw_gguf_joint *products,
                                      void *stream);

/* Loads the kernels that such products need. Reads type and type3 only. */
NW_API nw_status nw_gguf_joint_prepare(nw_context *context, const nw_gguf_joint *products);

/* Bytes of workspace for the products. Reads type, type3, m, act, n, n2, n3 and k. */
NW_API nw_status nw_gguf_joint_workspace_size(nw_context *context, const nw_gguf_joint *products,
                                              uint64_t *bytes);

/* ---- GGUF weights, fp8 activations: gfx12 ---- */

/*
 * Quantizes activations to fp8 e4m3, which has no infinity and 448 as its largest number, with one
 * scale per row:
 *
 *     y_scale[i] = max over k of |X[i, k]| / 448          y[i, k] = X[i, k] / y_scale[i], rounded
 *
 * y keeps the order of k. The error |X[i, k] - y_scale[i] * y[i, k]| is less than |X[i, k]| / 16 +
 * 2^-18 * the largest |X| of the row. A scale below 2^-126 becomes 0, and so does its row of y; for
 * a row with a NaN or an infinity y_scale is NaN. Several products may share the result.
 */
typedef struct nw_fp8_rows {
    size_t size;       /* sizeof(nw_fp8_rows); NW_FP8_ROWS_INIT sets it */
    int32_t dtype;     /* type of x: NW_BF16 or NW_F16 */
    uint32_t m;        /* rows, 1..2^24 - 1 */
    uint32_t k;        /* a multiple of 8, < 2^28 */
    const void *x;     /* [M, K], 16-byte aligned */
    uint64_t x_stride; /* bytes, >= 2 * K, a multiple of 16 */
    void *y;           /* e4m3 [M, K] contiguous, 16-byte aligned; overlaps nothing else */
    void *y_scale;     /* float [M], 4-byte aligned; overlaps nothing else */
} nw_fp8_rows;

#define NW_FP8_ROWS_INIT                                                                           \
    { sizeof(nw_fp8_rows), 0, 0, 0, NULL, 0, NULL, NULL }

/* Queues the conversion on `stream`. */
NW_API nw_status nw_quantize_fp8(nw_context *context, const nw_fp8_rows *rows, void *stream);

/*
 * C[m, n] = a_scale[m] * sum over k of A[m, k] * w[n, k]
 *
 * with w as in nw_gguf, by FP8 WMMA. A weight is exact. With S = the sum over k of |a_scale[m] *
 * A[m, k] * w[n, k]| the error of C is less than S * (k / 32 + 34) * 2^-23 where nothing overflows
 * or is below 2^-126. What fp8 loses of the activations comes on top, up to 1/16 of each, and is
 * the caller's choice: no other call of this library quantizes them so. It is for many rows:
 * `nw choose --gguf mxfp4 --fp8-activations` compares it to nw_gguf_linear. Kernels exist for
 * NW_GGUF_MXFP4 on gfx12; other types and GPUs are refused with NW_UNSUPPORTED.
 */
typedef struct nw_gguf_fp8 {
    size_t size;  /* sizeof(nw_gguf_fp8); NW_GGUF_FP8_INIT sets it */
    int32_t type; /* of w: NW_GGUF_MXFP4 */
    uint32_t m;   /* rows of activations, >= 1 */
    uint32_t n;   /* rows of weights, 1..2^22 - 1 */
    uint32_t k;   /* a multiple of 64, < 2^22 */

    const void *a;       /* e4m3 [M, K] contiguous, 16-byte aligned; y of nw_quantize_fp8 */
    const void *a_scale; /* float [M], 4-byte aligned; y_scale of nw_quantize_fp8 */
    const void *w;       /* [N, K / block] blocks, contiguous, 16-byte aligned */
    void *c;             /* float [M, N] contiguous, 4-byte aligned; overlaps nothing else */
} nw_gguf_fp8;

#define NW_GGUF_FP8_INIT                                                                           \
    { sizeof(nw_gguf_fp8), 0, 0, 0, 0, NULL, NULL, NULL, NULL }

/* Queues the product on `stream`: one launch, without a workspace. */
NW_API nw_status nw_gguf_fp8_linear(nw_context *context, const nw_gguf_fp8 *product, void *stream);

/* Loads the product's kernel and those of nw_quantize_fp8. Reads type, m, n and k only. */
NW_API nw_status nw_gguf_fp8_prepare(nw_context *context, const nw_gguf_fp8 *product);

/*
 * The same for a mixture of experts: C[t, n] = a_scale[t / top_k] * sum over k of A[t / top_k, k] *
 * w[expert_ids[t], n, k], with slots, expert_ids and workspace as in nw_gguf_moe and the error of
 * nw_gguf_fp8. Slots with an expert outside 0..experts-1 are skipped and leave their rows of C
 * unchanged. The slots of an expert are processed in blocks of 64, so it is for many tokens:
 * `nw choose experts --gguf mxfp4 --fp8-activations` compares it to nw_gguf_moe_linear.
 */
typedef struct nw_gguf_moe_fp8 {
    size_t size;      /* sizeof(nw_gguf_moe_fp8); NW_GGUF_MOE_FP8_INIT sets it */
    int32_t type;     /* of w: NW_GGUF_MXFP4 */
    uint32_t n;       /* rows of an expert's weights, >= 1 */
    uint32_t k;       /* a multiple of 64, < 2^22 */
    uint32_t experts; /* experts in w, 1..512 */
    uint32_t slots;   /* rows of c, 1..2^30-1; slots * n * 4 < 2^32, rows of a times k < 2^32 */
    uint32_t top_k;   /* slots for each row of a, >= 1; 1 if each slot has its own row */

    const void *a;             /* e4m3 [ceil(slots / top_k), K] contiguous, 16-byte aligned */
    const void *a_scale;       /* float [ceil(slots / top_k)], 4-byte aligned */
    const void *w;             /* [experts, N, K / block] blocks, an expert's contiguous; even */
    const int32_t *expert_ids; /* [slots] */
    void *c;                   /* float [slots, N] contiguous, 4-byte aligned */

    uint64_t w_expert; /* bytes from expert to expert: even, >= an expert's weights, < 2^32 */

    void *workspace; /* c and workspace overlap nothing else */
    uint64_t workspace_bytes;
} nw_gguf_moe_fp8;

#define NW_GGUF_MOE_FP8_INIT                                                                       \
    { sizeof(nw_gguf_moe_fp8), 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 0 }

/* Queues the product on `stream`: two launches. */
NW_API nw_status nw_gguf_moe_fp8_linear(nw_context *context, const nw_gguf_moe_fp8 *product,
                                        void *stream);

/* Loads the kernels that such products need, and those of nw_quantize_fp8. Reads type only. */
NW_API nw_status nw_gguf_moe_fp8_prepare(nw_context *context, const nw_gguf_moe_fp8 *product);

/* Bytes of workspace for the product and for any with fewer slots. Reads type, n, k, experts, slots
 * and top_k. */
NW_API nw_status nw_gguf_moe_fp8_workspace_size(nw_context *context, const nw_gguf_moe_fp8 *product,
                                                uint64_t *bytes);

/* ---- attention ---- */

/* Elements of k and v. */
enum {
    NW_KV_SAME = 0, /* of dtype */
    NW_KV_Q8_0 = 1, /* f16(d * q) of GGUF's q8_0: a head is d / 32 blocks of 34 bytes */
    NW_KV_FP8 = 2   /* E4M3 bytes; gfx1200 and gfx1201 */
};

/*
 * For query i and head h of batch b, with key head g = h / (H / Hk)
 *
 *     s[j] = scale * sum over d of q[b, i, h, d] * k[b, j, g, d]
 *
 *     o[b, i, h, d] = sum over j of p[j] * v[b, j, g, d] / sum over j of p[j]
 *
 *     lse[b, h, i] = ln(sum over j of exp(s[j]))
 *
 * with p[j] = exp(s[j] - the largest s), over all keys j, or with `causal` over j - i <= sk - sq:
 * the last query sees all keys. Products and sums are float, p is rounded towards 0 to dtype, o
 * once to the nearest. Let A be the sum of p * |v| / the sum of p, L the largest 2^-20 * (4 +
 * scale * sum over d of |q * k|) of a key, and u 2^-10 (NW_F16) or 2^-7 (NW_BF16). Before o is
 * rounded, its error is less than
 *
 *     (u / 2 + L) * (A + |o|)
 *
 * With NW_F16 add the sum of min(p, 2^-15) * |v| / the sum of p: small p are subnormal.
 *
 * A query that sees no key has o = 0 and lse = -inf. A NaN or +inf among its s makes its o NaN. The
 * result is deterministic.
 *
 * Lists of blocks. With `idx` and `cnt`, a block of 128 queries, m = i / 128, sees only keys of the
 * blocks of 128 keys idx[b, h, m, 0..cnt[b, h, m]-1]. The host can't check them; whatever they hold
 * is safe: a cnt below 0 is 0, one above the number of blocks is cut to it; entries below 0 or past
 * the last block that the queries can see are skipped. They may be in any order, and a block that
 * is listed twice counts twice. nw_attention_select makes such lists.
 *
 * Without lists, q_start and k_start, 1 to 8 queries have a kernel of their own. It splits the keys
 * over the GPU and keeps its parts in the workspace.
 *
 * Tensors are [batch, token, head, d] with elements of a head contiguous and any strides: a fused
 * projection is three views of one array, and a cache [batch, head, token, d] has k_h > k_s.
 */
typedef struct nw_attn {
    size_t size;    /* sizeof(nw_attn); NW_ATTN_INIT sets it */
    int32_t dtype;  /* of q and o: NW_BF16 or NW_F16 */
    int32_t kv;     /* of k and v: NW_KV_SAME, NW_KV_Q8_0 (with NW_F16) or NW_KV_FP8 */
    int32_t causal; /* 1: sq <= sk, see above; 0: every query sees all keys */
    uint32_t b;     /* batches, 1..65535 */
    uint32_t sq;    /* queries, 1..2^26 */
    uint32_t sk;    /* keys, 1..2^26 */
    uint32_t h;     /* query heads, 1..65535, a multiple of hk */
    uint32_t hk;    /* key heads, >= 1 */
    uint32_t d;     /* 64, 128 or 256; for others pad q, k and v with zeros */
    float scale;    /* 2^-64 to 2^64; 1 / sqrt(d) as a rule */

    const void *q; /* [b, sq, h, d], 16-byte aligned */
    const void *k; /* [b, sk, hk, d], 16-byte aligned */
    const void *v; /* as k */
    void *o;       /* as q; overlaps nothing else */

    /* Bytes from batch to batch, token to token, head to head: >= 2 * d, multiples of 16, < 2^32,
     * those of tokens < 2^24. Those of batches are not read where b = 1, nor with q_start (of q and
     * o) and k_start (of k and v). Rows of o may not overlap: of its three dimensions one spans the
     * next, which spans the third. */
    uint64_t q_b, q_s, q_h;
    uint64_t k_b, k_s, k_h;
    uint64_t v_b, v_s, v_h;
    uint64_t o_b, o_s, o_h;

    const int32_t *idx; /* [b, h, ceil(sq/128), ceil(sk/128)] contiguous, or null: all blocks */
    const int32_t *cnt; /* [b, h, ceil(sq/128)] contiguous; null if idx is */
    float *lse;         /* [b, h, sq] contiguous, or null */

    /* Sequences one after the other, as cu_seqlens has them. With q_start q and o are [1, tq, h,
     * d], and sequence i has tokens q_start[i] to q_start[i+1] - 1, the first sq of them at most;
     * with k_start, not with pages, k and v are [1, tk, hk, d] likewise. Entries count as tq and tk
     * at most. lse stays [b, h, sq]. */
    const int32_t *q_start; /* [b + 1], ascending, or null */
    const int32_t *k_start; /* [b + 1], ascending, or null */
    uint32_t tq, tk;        /* tokens in all, 1..2^26; not read without q_start, k_start */

    /* A sequence has kv_len[b] keys: below 0 none, above sk or null: sk. Its last query sees them
     * all, with `causal` each before it one fewer, down to none. With `page` k and v are [pages,
     * page, hk, d], k_b and v_b bytes from page to page: key j is key j % page of page
     * page_table[b, j / page]. Entries below 0 or past the last page read the last page. Those of
     * keys past kv_len[b] may be anything. */
    const int32_t *kv_len;     /* [b], or null */
    const int32_t *page_table; /* [b, ceil(sk/page)]; null if page is 0 */
    uint64_t table_b;          /* bytes from sequence to sequence, a multiple of 4 */
    uint32_t page;             /* 16, 32, 64, 128 or 256 keys; 0: no pages */
    uint32_t pages;            /* of the cache; not read if page is 0 */

    /* As nw_gguf's, set to 0 once, and may be the same: at least nw_attention_workspace_size bytes;
     * null if that is 0. Overlaps nothing else. Launches that may run at the same time need one
     * each. */
    void *workspace;
    uint64_t workspace_bytes;
} nw_attn;

#define NW_ATTN_INIT                                                                               \
    {                                                                                              \
        sizeof(nw_attn), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0,   \
            0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, 0, 0, 0, NULL, 0     \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_attention(nw_context *context, const nw_attn *attention, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads dtype, kv and d
 * only. */
NW_API nw_status nw_attention_prepare(nw_context *context, const nw_attn *attention);

/* Bytes of workspace, whichever kernel is chosen: 0 for more than 8 queries, lists, and sequences
 * one after the other. Reads dtype, kv, causal, b, sq, sk, h, hk, d, page and pages, and whether
 * idx, q_start and k_start are null. Take the size for the most keys: fewer may need fewer. */
NW_API nw_status nw_attention_workspace_size(nw_context *context, const nw_attn *attention,
                                             uint64_t *bytes);

/*
 * o[b, i, h, :] = softmax over j of (scale * sum over d of q16[b, i, h, d] * k[b, j, kh, d] +
 * mask[b, h, i, j]), times v[b, j, kh, :], kh = h / (h / hk): as GGML_OP_FLASH_ATTN_EXT has it. q16
 * is q rounded to half, to nearest even. With `sinks` exp(sinks[h]) is in the softmax's sum, too. A
 * query whose mask hides all keys has o = 0. What nw_attention says of errors with NW_F16 holds
 * before o is rounded, with |mask| added to the sum in L, of keys with p > 2^-57.
 *
 * 1 to 8 queries have a kernel of their own, with its parts in the workspace. For more, keys that
 * the mask hides from all of 128 queries are neither read nor multiplied.
 */
typedef struct nw_attn_masked {
    size_t size; /* sizeof(nw_attn_masked); NW_ATTN_MASKED_INIT sets it */
    uint32_t b;  /* batches, 1..65535 */
    uint32_t sq; /* queries, 1..2^26 */
    uint32_t sk; /* keys, 1..2^18; with a mask a multiple of 8 */
    uint32_t h;  /* query heads, 1..65535, a multiple of hk */
    uint32_t hk; /* key heads, >= 1 */
    uint32_t d;  /* 64 or 128 */
    float scale; /* 2^-64 to 2^64; 1 / sqrt(d) as a rule */

    const float *q;     /* [b, sq, h, d], 16-byte aligned */
    const void *k;      /* [b, sk, hk, d], half, 16-byte aligned */
    const void *v;      /* as k; where the mask hides a key v has to be finite */
    float *o;           /* as q; overlaps nothing else */
    const void *mask;   /* [b or 1, h or 1, sq, sk], half, 16-byte aligned; or null: 0 */
    const float *sinks; /* [h], or null: none */

    /* As in nw_attn; those of q and o are >= 4 * d, of k and v >= 2 * d. */
    uint64_t q_b, q_s, q_h;
    uint64_t k_b, k_s, k_h;
    uint64_t v_b, v_s, v_h;
    uint64_t o_b, o_s, o_h;
    uint64_t mask_b, mask_s, mask_h; /* mask_b, mask_h 0: batches or heads share a mask */

    void *workspace; /* as in nw_attn */
    uint64_t workspace_bytes;
} nw_attn_masked;

#define NW_ATTN_MASKED_INIT                                                                        \
    {                                                                                              \
        sizeof(nw_attn_masked), 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0,  \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0                                            \
    }

/* As nw_attention. */
NW_API nw_status nw_attention_masked(nw_context *context, const nw_attn_masked *attention,
                                     void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads d only. */
NW_API nw_status nw_attention_masked_prepare(nw_context *context, const nw_attn_masked *attention);

/* Bytes of workspace, whichever kernel is chosen. Reads b, sq, sk, h, hk and d. */
NW_API nw_status nw_attention_masked_workspace_size(nw_context *context,
                                                    const nw_attn_masked *attention,
                                                    uint64_t *bytes);

/*
 * Attention as GGML_OP_FLASH_ATTN_EXT has it, with keys and values of several types, any size of
 * heads, ALiBi, soft cap and sinks
 *
 *     o[b, i, h, :] = sum over j of p[b, i, h, j] v[b, j, h / (h / hk), :]
 *     p = softmax over j of cap(scale * sum over d of q[b, i, h, d] k[b, j, h / (h / hk), d]) +
 *     slope(h) mask[b % mask_n3, h % mask_n2, i, j], with sinks[h] in the softmax's sum
 *     cap(x) = softcap tanh(x / softcap)       slope(h) = 2^(-max_bias (h + 1) / P), for h >= P
 *     2^(-max_bias (h - P + 1/2) / P), P the largest power of two <= h; 1 where max_bias is 0
 *
 * In f32: elements of k and v are taken as they are, and p is not rounded. A query whose mask hides
 * all keys has o = 0. nw_attention_masked is faster for many queries where it takes the types. For
 * few queries keys are split among workgroups, with their parts in the workspace.
 */
typedef struct nw_flash_attention_op {
    size_t size;               /* sizeof(nw_flash_attention_op); NW_FLASH_ATTENTION_OP_INIT sets
                                  it */
    int32_t k_type;            /* of k: NW_GGUF_F16, _BF16, _F32, _Q8_0 or _Q4_0 */
    int32_t v_type;            /* of v, as k_type */
    uint32_t b;                /* sequences, <= 65535 */
    uint32_t sq;               /* queries, <= 2^26 */
    uint32_t sk;               /* keys, <= 2^26 */
    uint32_t h, hk;            /* heads of q, and of k and v; h is a multiple of hk */
    uint32_t d, d_v;           /* sizes of heads: multiples of 8, of q8_0 and q4_0 of 32; d <= 576,
                                  d_v <= 512 */
    uint32_t mask_n2, mask_n3; /* heads and sequences of the mask; they divide h and b */
    float scale;               /* finite; 1 / sqrt(d) as a rule */
    float max_bias;            /* of ALiBi, 0..100; 0 for none */
    float softcap;             /* 2^-64 to 2^64; 0 for none */

    const float *q;     /* [b, sq, h, d], 4-byte aligned */
    const void *k;      /* [b, sk, hk, d] in rows of its type, 2-byte aligned, f32 4 */
    const void *v;      /* [b, sk, hk, d_v], as k; where the mask hides a key v has to be finite */
    float *o;           /* [b, sq, h, d_v], 4-byte aligned; overlaps nothing else */
    const void *mask;   /* [mask_n3, mask_n2, sq, sk], half, 2-byte aligned; or null: 0 */
    const float *sinks; /* [h], or null: none */

    /* Bytes from one sequence (_b), token (_s) and head (_h) to the next, in any order, at least a
     * row, < 2^32; k_s and v_s < 2^24. k_b or v_b of 0: sequences share k or v. */
    uint64_t q_b, q_s, q_h;
    uint64_t k_b, k_s, k_h;
    uint64_t v_b, v_s, v_h;
    uint64_t o_b, o_s, o_h;
    uint64_t mask_b, mask_h, mask_s;

    void *workspace; /* as in nw_attn */
    uint64_t workspace_bytes;
} nw_flash_attention_op;

#define NW_FLASH_ATTENTION_OP_INIT                                                                 \
    {                                                                                              \
        sizeof(nw_flash_attention_op), 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, NULL, NULL, NULL, \
            NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0                 \
    }

/* As nw_attention. */
NW_API nw_status nw_flash_attention(nw_context *context, const nw_flash_attention_op *attention,
                                    void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k_type, v_type, d
 * and d_v only. */
NW_API nw_status nw_flash_attention_prepare(nw_context *context,
                                            const nw_flash_attention_op *attention);

/* Bytes of workspace, whichever kernel is chosen. Reads k_type, v_type, b, sq, sk, h, hk, d, d_v,
 * mask_n2 and mask_n3. */
NW_API nw_status nw_flash_attention_workspace_size(nw_context *context,
                                                   const nw_flash_attention_op *attention,
                                                   uint64_t *bytes);

/* The queries are the last tokens, as in causal attention: query i has key j = i + sk - sq of its
 * own and sees keys up to it. How blocks of keys are scored for a block of queries, m. mean_k is
 * the mean of a block of keys, mean_q of queries, each rounded to dtype; e[i, n] = scale * log2(e)
 * * (q[i] . mean_k[n]) for query i of block m. Of block n only queries with j >= 128 * n + 127
 * count, or with `all_rows` those with j >= 128 * n. */
enum {
    NW_SCORE_CANONICAL = 0, /* sum over i of 2^(e[i, n] - the largest e[i, n'] of any i, n') */
    NW_SCORE_RAW = 1,       /* sum over i of 2^(e[i, n] - the largest e[i', n] of any i') */
    NW_SCORE_POOLED = 2     /* scale * (mean_q[m] . mean_k[n]) */
};

/* Which blocks n are listed, of those up to the last one that a query of m sees, beside the forced
 * ones. */
enum {
    NW_SELECT_PEAK = 0, /* score[n] >= share * the largest score of m; NaN is ignored. A largest
                           score below 0 (NW_SCORE_POOLED) lists none */
    NW_SELECT_MASS = 1  /* the fewest that together have `share` of the sum of all scores of m */
};

/*
 * Makes lists of blocks for nw_attention, causal. Listed are the first `sink` blocks, the `window`
 * ones up to and with that of m's first own key and what follows it (a block more, where 128 does
 * not divide sk - sq), all blocks for the last `last_full` blocks of queries, and those that `rule`
 * picks: ascending, the rest of a row of idx is -1. Scores are within 1e-5 * (1 + the largest |e|)
 * of the exact ones, relatively, given the means; the choice by scores is exact, and the result
 * deterministic. It queues three or four launches.
 */
typedef struct nw_attn_select {
    size_t size;        /* sizeof(nw_attn_select); NW_ATTN_SELECT_INIT sets it */
    int32_t dtype;      /* of q, k and mean_k: NW_BF16 or NW_F16 */
    int32_t score;      /* NW_SCORE_CANONICAL, _RAW or _POOLED */
    int32_t rule;       /* NW_SELECT_PEAK or _MASS */
    int32_t all_rows;   /* 0 or 1, see above; not read with NW_SCORE_POOLED */
    uint32_t b;         /* batches, 1..65535 */
    uint32_t sq;        /* queries, 1..sk */
    uint32_t sk;        /* keys, 1..2^20 */
    uint32_t h;         /* query heads, 1..1024, a multiple of hk */
    uint32_t hk;        /* key heads */
    uint32_t d;         /* 64, 128 or 256 */
    uint32_t sink;      /* blocks, any number */
    uint32_t window;    /* >= 1 lists the diagonal, so every query sees a key */
    uint32_t last_full; /* blocks of queries */
    float scale;        /* positive; 1 / sqrt(d) as a rule */
    float share;        /* 0 to 1 */

    const void *q;      /* [b, sq, h, d], 16-byte aligned */
    const void *k;      /* [b, sk, hk, d], 16-byte aligned */
    const void *mean_k; /* [b, ceil(sk/128), hk, d] contiguous, 16-byte aligned, as
                           nw_attention_mean makes them; or null: they are made in the workspace */
    int32_t *idx;       /* [b, h, ceil(sq/128), ceil(sk/128)] contiguous */
    int32_t *cnt;       /* [b, h, ceil(sq/128)] contiguous */

    /* As in nw_attn; the heads of a token lie within 2^32 bytes. */
    uint64_t q_b, q_s, q_h;
    uint64_t k_b, k_s, k_h;

    /* Device memory of nw_attention_select_workspace_size bytes, for means and scores; 16-byte
     * aligned, contents do not matter. idx, cnt and workspace overlap nothing else. */
    void *workspace;
    uint64_t workspace_bytes;
} nw_attn_select;

/* Sink 2, window 4, last_full 2 and share 0.12, as the method's authors have them. */
#define NW_ATTN_SELECT_INIT                                                                        \
    {                                                                                              \
        sizeof(nw_attn_select), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 4, 2, 0, 0.12f, NULL, NULL, NULL, \
            NULL, NULL, 0, 0, 0, 0, 0, 0, NULL, 0                                                  \
    }

/* As nw_attention. */
NW_API nw_status nw_attention_select(nw_context *context, const nw_attn_select *selection,
                                     void *stream);

/* Loads its kernels, and that of nw_attention_mean. Reads dtype, score, rule and d only. */
NW_API nw_status nw_attention_select_prepare(nw_context *context, const nw_attn_select *selection);

/* Bytes of workspace, with mean_k or without. Reads dtype, score, rule, b, sq, sk, h, hk and d. */
NW_API nw_status nw_attention_select_workspace_size(nw_context *context,
                                                    const nw_attn_select *selection,
                                                    uint64_t *bytes);

/*
 * mean[b, n, h, d] = the mean of x[b, t, h, d] over tokens t of block n, 128 * n <= t < 128 * (n +
 * 1) and t < tokens: a float sum in ascending order, divided and rounded once. For engines that
 * keep the means of keys between selections and update them when keys are written.
 */
typedef struct nw_attn_mean {
    size_t size;     /* sizeof(nw_attn_mean); NW_ATTN_MEAN_INIT sets it */
    int32_t dtype;   /* type of x and mean: NW_BF16 or NW_F16 */
    uint32_t b;      /* batches, 1..65535 */
    uint32_t tokens; /* 1..2^20 */
    uint32_t h;      /* heads, 1..1024 */
    uint32_t d;      /* 64, 128 or 256 */

    const void *x; /* [b, tokens, h, d], 16-byte aligned */
    void *mean;    /* [b, ceil(tokens/128), h, d] contiguous, 16-byte aligned; must not overlap x */

    uint64_t x_b, x_s, x_h; /* bytes: multiples of 16, < 2^32, x_s < 2^31; as in nw_attn_select */
} nw_attn_mean;

#define NW_ATTN_MEAN_INIT                                                                          \
    { sizeof(nw_attn_mean), 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0 }

/* As nw_attention; nw_attention_select_prepare loads its kernel. */
NW_API nw_status nw_attention_mean(nw_context *context, const nw_attn_mean *mean, void *stream);

/* ---- norms ---- */

/*
 *     Y[m, k] = X[m, k] * r[m] * w[k], rounded after each product
 *     r[m] = 1 / sqrt(sum over k of X[m, k]^2 / K + eps)
 *     with b in place of X: Z[m, k] = X[m, k] + B[m, k]
 *
 * The relative error of r is at most 2^-22 + (K / 128 + 11) * 2^-25; the mean square plus eps must
 * be at least 2^-126. NaN and infinities propagate as in the formula.
 */
typedef struct nw_norm {
    size_t size;    /* sizeof(nw_norm); NW_NORM_INIT sets it */
    int32_t y_type; /* type of y: NW_F32 or NW_F16 */
    uint32_t m;     /* rows, >= 1 */
    uint32_t k;     /* a multiple of 4, <= 2^24 */
    float eps;      /* finite, >= 0 */

    const float *x; /* [M, K], 16-byte aligned */
    const float *w; /* [K], 16-byte aligned, or null: 1 */
    void *y;        /* [M, K], 16-byte aligned; may be x or b itself if f32 with its stride, else
                       overlaps nothing */
    void *a;        /* y as int8 for the products' a: ceil(k / 1024) * m * 1152 bytes, 16-byte
                       aligned; or null. NW_F32, k % 32 = 0, k > 512 */

    const float *b; /* [M, K], 16-byte aligned, as a residual; or null: none */
    float *z;       /* [M, K], 16-byte aligned: X + B; may be x or b with its stride, else overlaps
                       nothing; null without b */

    /* Bytes from row to row, < 2^32. */
    uint64_t x_stride; /* >= 4 * K, a multiple of 16 */
    uint64_t y_stride; /* >= 4 * K, a multiple of 16; NW_F16: >= 2 * K, of 8 */
    uint64_t b_stride; /* as x_stride, with b */
    uint64_t z_stride; /* as x_stride, with b */
} nw_norm;

#define NW_NORM_INIT                                                                               \
    { sizeof(nw_norm), 0, 0, 0, 1e-6f, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_rms_norm(nw_context *context, const nw_norm *norm, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads y_type only. */
NW_API nw_status nw_rms_norm_prepare(nw_context *context, const nw_norm *norm);

/* ---- elementwise ops, gated units, rotary embedding ---- */

enum { NW_ADD = 0, NW_SUB = 1, NW_MUL = 2, NW_DIV = 3 };

/*
 * Elementwise sums, differences, products and quotients of tensors of four dimensions, as ggml has
 * them: b is repeated to the shape of a. Each has its own type.
 *
 *     C[i3, i2, i1, k] = A[i3, i2, i1, k] + B[i3 % b_n3, i2 % b_n2, i1 % b_n1, k % b_k], or -, *, /
 *
 * Results are rounded to float once, to nearest even, then to the type of c; quotients below 2^-126
 * may round twice. Floats whose rows are contiguous, with sizes, pointers and strides that are
 * multiples of 16 bytes, are faster.
 */
typedef struct nw_binary_op {
    size_t size;                    /* sizeof(nw_binary_op); NW_BINARY_OP_INIT sets it */
    int32_t function;               /* NW_ADD, NW_SUB, NW_MUL or NW_DIV */
    int32_t a_type, b_type, c_type; /* NW_F32, NW_F16 or NW_BF16 */
    uint32_t k;                     /* elements of a row, <= 2^28 */
    uint32_t n1, n2, n3;            /* rows in each dimension of a and c, the inner first */
    uint32_t b_k, b_n1, b_n2, b_n3; /* the same of b; each divides that of a */

    const void *a;
    const void *b;
    void *c; /* a, or b of a's shape, with the same type and strides, else overlaps nothing */

    /* Bytes from one to the next of each dimension, < 2^32, where the size is more than 1: in any
     * order, of a and b also 0. */
    uint64_t a_s0, b_s0, c_s0; /* of elements of a row */
    uint64_t a_s1, a_s2, a_s3;
    uint64_t b_s1, b_s2, b_s3;
    uint64_t c_s1, c_s2, c_s3;
} nw_binary_op;

#define NW_BINARY_OP_INIT                                                                          \
    {                                                                                              \
        sizeof(nw_binary_op), 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, NULL, NULL, NULL, 4, 4, 4, 0, 0, \
            0, 0, 0, 0, 0, 0, 0                                                                    \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_binary(nw_context *context, const nw_binary_op *binary, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads function only. */
NW_API nw_status nw_binary_prepare(nw_context *context, const nw_binary_op *binary);

/*
 * A contiguous float tensor times a number, plus another
 *
 *     Y[i] = scale * X[i] + bias, rounded once
 */
typedef struct nw_scale_op {
    size_t size; /* sizeof(nw_scale_op); NW_SCALE_OP_INIT sets it */
    uint32_t n;  /* elements, >= 1 */
    float scale; /* finite */
    float bias;  /* finite */

    const float *x; /* [N], 16-byte aligned */
    float *y;       /* [N], 16-byte aligned; x itself, else overlaps nothing */
} nw_scale_op;

#define NW_SCALE_OP_INIT                                                                           \
    { sizeof(nw_scale_op), 0, 1.0f, 0, NULL, NULL }

/* Queues it on `stream`. */
NW_API nw_status nw_scale(nw_context *context, const nw_scale_op *scale, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads n only. */
NW_API nw_status nw_scale_prepare(nw_context *context, const nw_scale_op *scale);

/* As ggml numbers them. */
enum {
    NW_GLU_REGLU = 0,
    NW_GLU_GEGLU = 1,
    NW_GLU_SWIGLU = 2,
    NW_GLU_SWIGLU_OAI = 3,
    NW_GLU_GEGLU_ERF = 4,
    NW_GLU_GEGLU_QUICK = 5,
    NW_GLU_SWIGLU_CLAMP = 6
};

/*
 *     Y[m, k] = f(gate[m, k]) * up[m, k]
 *     NW_GLU_SWIGLU: f(x) = x / (1 + exp(-x))       NW_GLU_GEGLU_QUICK: x / (1 + exp(-1.702 x))
 *     NW_GLU_GEGLU: x / (1 + exp(-2 sqrt(2 / pi) (x + 0.044715 x^3))), 0 for x <= -10
 *     NW_GLU_GEGLU_ERF: x (1 + erf(x / sqrt(2))) / 2       NW_GLU_REGLU: max(x, 0)
 *     NW_GLU_SWIGLU_OAI: Y = (u + 1) * x / (1 + exp(-alpha x)),
 *     x = min(gate, limit), u = min(max(up, -limit), limit)
 *     NW_GLU_SWIGLU_CLAMP: Y = u * x / (1 + exp(-x)), of the same x and u
 *
 * Gated linear units. Where a matrix holds both halves in its rows, gate and up point to the
 * halves, and both strides are its stride. The error is that of float arithmetic;
 * asm/glu/family.toml bounds it. NaN passes through clamps. Whole fours of columns and 16-byte
 * aligned rows are faster.
 */
typedef struct nw_glu_op {
    size_t size; /* sizeof(nw_glu_op); NW_GLU_OP_INIT sets it */
    int32_t act; /* NW_GLU_SWIGLU, ... */
    uint32_t m;  /* rows, >= 1 */
    uint32_t k;  /* columns of y, <= 2^28 */
    float alpha; /* of NW_GLU_SWIGLU_OAI: finite, >= 0 */
    float limit; /* of NW_GLU_SWIGLU_OAI and _CLAMP: >= 0, infinity for none */

    const float *gate; /* [M, K], 4-byte aligned */
    const float *up;   /* [M, K], 4-byte aligned */
    float *y;          /* [M, K], 4-byte aligned; gate or up itself with its stride, else overlaps
                          nothing */

    /* Bytes from row to row: >= 4 * K, multiples of 4, < 2^32. */
    uint64_t gate_stride;
    uint64_t up_stride;
    uint64_t y_stride;
} nw_glu_op;

#define NW_GLU_OP_INIT                                                                             \
    { sizeof(nw_glu_op), 0, 0, 0, 1.702f, 7.0f, NULL, NULL, NULL, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_glu(nw_context *context, const nw_glu_op *glu, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads act only. */
NW_API nw_status nw_glu_prepare(nw_context *context, const nw_glu_op *glu);

/*
 * Copies a tensor of four dimensions into another, which may have other sizes but must have as many
 * elements; moves or converts them
 *
 *     Y[i] = X[i] for each i in linear order: i = ((i3 * n2 + i2) * n1 + i1) * n0 + i0
 *     in X, and the same of y_n0, y_n1, y_n2 in Y
 *
 * Strides are bytes, in any order and of any size: permuted, transposed, and 0 of x to repeat it.
 * Conversions: NW_F32 to NW_F16, NW_BF16 and NW_I32; NW_F16 to NW_F32 and NW_BF16; NW_BF16 to
 * NW_F32 and NW_F16; NW_I32 to NW_F32. Elements of one type are moved: both types are then NW_B8,
 * NW_B16, NW_B32 or NW_B64. f16 and bf16 are rounded to nearest even; i32 of f32 is rounded towards
 * 0, and saturated. Faster are, of equal shapes, rows of contiguous elements, and of moves of 16
 * and 32 bits and of NW_F32 to NW_F16 dimension 1 of x contiguous, 0 of y; and two contiguous
 * tensors of any shapes. Other copies: x and y may span less than 2^32 bytes each.
 */
typedef struct nw_copy_op {
    size_t size;                     /* sizeof(nw_copy_op); NW_COPY_OP_INIT sets it */
    int32_t x_type;                  /* as above */
    int32_t y_type;                  /* as above */
    uint32_t n0, n1, n2, n3;         /* sizes of x, the innermost first; n0 <= 2^28 */
    uint32_t y_n0, y_n1, y_n2, y_n3; /* of y; y_n0 <= 2^28 */

    const void *x; /* any alignment */
    void *y;       /* any alignment; its elements overlap nothing else */

    /* Bytes from one element to the next of each dimension, < 2^32. */
    uint64_t x_s0, x_s1, x_s2, x_s3;
    uint64_t y_s0, y_s1, y_s2, y_s3;
} nw_copy_op;

#define NW_COPY_OP_INIT                                                                            \
    { sizeof(nw_copy_op), 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_copy(nw_context *context, const nw_copy_op *copy, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads x_type and y_type
 * only. */
NW_API nw_status nw_copy_prepare(nw_context *context, const nw_copy_op *copy);

/*
 * Tensors of floats that are made from indices: padding, plain and circular, rolls, triangles,
 * diagonals, masks, constants and ramps
 *
 *     Y[i] = X[j], j_d = i_d - at_d, where j is in X and 0 <= i0 - i1 + n1 - 1 - first < count
 *     Y[i] = value + increment * i0 elsewhere
 *
 * With wrap each j_d is taken modulo X's size: a roll, or circular padding. Diagonals of dimensions
 * 0 and 1 are counted from the corner of i0 = 0, i1 = n1 - 1: n1 - 1 is the main one. All of them
 * are first = 0, count = 4294967295. A diagonal matrix has x_s1 = 0, first = n1 - 1 and count = 1.
 * Without X all of Y is value + increment * i0.
 */
typedef struct nw_pad_op {
    size_t size;                     /* sizeof(nw_pad_op); NW_PAD_OP_INIT sets it */
    uint32_t n0, n1, n2, n3;         /* sizes of Y */
    uint32_t x_n0, x_n1, x_n2, x_n3; /* sizes of X */
    uint32_t at0, at1, at2, at3;     /* of Y's element that is X's first; with wrap at most X's
                                        sizes */
    int32_t wrap;                    /* 1: X goes on beyond its ends */
    uint32_t first;                  /* diagonal of X that counts, < 2^31 */
    uint32_t count;                  /* of diagonals that count */
    float value;                     /* where X does not count */
    float increment;                 /* of that from element to element of a row */

    const void *x; /* or null */
    void *y;       /* X with its sizes and strides, else overlaps nothing */

    /* Bytes from one to the next of each dimension, < 2^32, where the size is more than 1: in any
     * order, of X also 0. */
    uint64_t x_s0; /* of elements of a row */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s0; /* of elements of a row */
    uint64_t y_s1, y_s2, y_s3;
} nw_pad_op;

#define NW_PAD_OP_INIT                                                                             \
    {                                                                                              \
        sizeof(nw_pad_op), 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 4294967295, 0, 0, NULL, NULL, \
            4, 0, 0, 0, 4, 0, 0, 0                                                                 \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_pad(nw_context *context, const nw_pad_op *pad, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads n0 only. */
NW_API nw_status nw_pad_prepare(nw_context *context, const nw_pad_op *pad);

/*
 * Rows of a matrix or of a stack of them, by index, converted to float, as ggml has it
 *
 *     Y[i3, i2, i1, k] = X[i3, i2, ids[i3, i2, i1], k] as f32
 *
 * Quantized rows are dequantized to the bit as ggml does; those of NW_GGUF_I32 stay as they are. An
 * index outside 0 <= id < x_rows gives a row of zeros. With ids null row i1 itself is taken: so
 * rows are dequantized in place of indices.
 */
typedef struct nw_get_rows_op {
    size_t size;         /* sizeof(nw_get_rows_op); NW_GET_ROWS_OP_INIT sets it */
    int32_t type;        /* of x: NW_GGUF_Q4_0 and so on, NW_GGUF_F32, _F16, _BF16 or _I32 */
    uint32_t k;          /* elements of a row, <= 2^28, a multiple of the type's block */
    uint32_t n1, n2, n3; /* indices of a list, and lists in two dimensions */
    uint32_t x_rows;     /* rows of a matrix */

    const void *x;      /* any alignment */
    const int32_t *ids; /* or null */
    float *y;           /* 4-byte aligned; overlaps nothing else */

    /* Bytes from one to the next of each dimension, where the size is more than 1: < 2^32, in any
     * order, at least a row, or an index. */
    uint64_t x_s1, x_s2, x_s3;       /* rows, matrices of n2, of n3 */
    uint64_t y_s1, y_s2, y_s3;       /* multiples of 4 */
    uint64_t ids_s1, ids_s2, ids_s3; /* multiples of 4 */
} nw_get_rows_op;

#define NW_GET_ROWS_OP_INIT                                                                        \
    { sizeof(nw_get_rows_op), 0, 0, 1, 1, 1, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_get_rows(nw_context *context, const nw_get_rows_op *rows, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads type only. */
NW_API nw_status nw_get_rows_prepare(nw_context *context, const nw_get_rows_op *rows);

/*
 * Writes rows into a matrix or a stack of them, at indices, converted or quantized as ggml's
 * reference does, to the bit
 *
 *     Y[i3, i2, ids[i3 % ids_n3, i2 % ids_n2, i1], k] = X[i3, i2, i1, k]
 *
 * A minimum of zero is +0. Quants of a block whose scale is 0 as f16, and all of a block with NaN
 * or infinities, are not defined. Rows whose index is outside 0 <= id < y_rows are left out. With
 * ids null row i1 itself is written: so rows are quantized in order.
 */
typedef struct nw_set_rows_op {
    size_t size;             /* sizeof(nw_set_rows_op); NW_SET_ROWS_OP_INIT sets it */
    int32_t type;            /* of y: NW_GGUF_F32, _F16, _BF16, _Q8_0, _Q4_0, _Q4_1, _Q5_0, _Q5_1 or
                                _IQ4_NL */
    int32_t x_type;          /* NW_F32, or NW_F16 with y of NW_GGUF_F16 */
    int32_t ids_type;        /* NW_I32 or NW_I64 */
    uint32_t k;              /* elements of a row, <= 2^28, a multiple of the type's block */
    uint32_t n1, n2, n3;     /* rows of x in each dimension, the inner first */
    uint32_t y_rows;         /* rows of a matrix of y, of which there are n2 x n3 */
    uint32_t ids_n2, ids_n3; /* lists of n1 indices; they divide n2 and n3 */

    const void *x;   /* any alignment */
    const void *ids; /* 4-byte aligned, or null */
    void *y;         /* any alignment; overlaps nothing else */

    /* Bytes from one to the next of each dimension, where the size is more than 1: < 2^32, in any
     * order, at least a row, or an index. */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s1, y_s2, y_s3;       /* of y_rows, n2, n3 */
    uint64_t ids_s1, ids_s2, ids_s3; /* multiples of 4 */
} nw_set_rows_op;

#define NW_SET_ROWS_OP_INIT                                                                        \
    {                                                                                              \
        sizeof(nw_set_rows_op), 0, 0, 0, 0, 1, 1, 1, 0, 1, 1, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0                                                                                \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_set_rows(nw_context *context, const nw_set_rows_op *rows, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads type and x_type
 * only. */
NW_API nw_status nw_set_rows_prepare(nw_context *context, const nw_set_rows_op *rows);

/* As ggml numbers them. */
enum { NW_ROPE_NORMAL = 0, NW_ROPE_NEOX = 2 };

/*
 * Rotary position embedding of rows of d elements, of n1 heads, n2 tokens and n3 sequences
 *
 *     Y[a] = scale * (X[a] cos t - X[b] sin t), Y[b] = scale * (X[a] sin t + X[b] cos t)
 *     of row X[i3, i2, i1], for j < pairs: a = first + 2 j, b = a + 1,
 *     or with NW_ROPE_NEOX a = first + j, b = a + pairs
 *     t = 2 pi turns[j] / 2^64 * pos[s, i2], s = turns[j] % 4
 *
 * Elements of a row before and after its pairs are copied unchanged. Rows of whole eights of
 * elements, whole fours of pairs and first = 0 are faster, 16-byte aligned ones of NW_F32, 8-byte
 * aligned ones of NW_F16. turns[j] is a 64-bit number, low word first: the turns of pair j from a
 * position to the next, times 2^64, so that t is exact at any position. Bases, frequency factors
 * and YaRN are in it, and its lowest two bits say which of the `streams` positions of a token
 * counts, for models with several. t is exact to 2^-25 of a turn, sin and cos to 2^-21.
 */
typedef struct nw_rope_op {
    size_t size;         /* sizeof(nw_rope_op); NW_ROPE_OP_INIT sets it */
    int32_t y_type;      /* of x and y: NW_F32 or NW_F16 */
    int32_t layout;      /* NW_ROPE_NORMAL or NW_ROPE_NEOX */
    uint32_t d;          /* elements of a row: 2..65536 */
    uint32_t n1, n2, n3; /* heads, tokens, sequences */
    uint32_t pairs;      /* that are rotated: at least 1, first + 2 * pairs <= d */
    uint32_t streams;    /* positions of a token: 1..4 */
    float scale;         /* finite, >= 0 */
    uint32_t first;      /* element of a row that the pairs begin with */

    const void *x;      /* 4-byte aligned; NW_F16: 2 */
    void *y;            /* as x; x itself with its strides, else overlaps nothing */
    const int32_t *pos; /* [streams, n2] */
    const void *turns;  /* uint64_t [pairs], 16-byte aligned */

    /* Bytes from one head, token and sequence to the next, where there are several: multiples of 4,
     * of 2 with NW_F16, < 2^32. Those of x in any order, at least a row; each of y at least what it
     * spans. */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s1, y_s2, y_s3;
} nw_rope_op;

#define NW_ROPE_OP_INIT                                                                            \
    {                                                                                              \
        sizeof(nw_rope_op), 0, 0, 0, 1, 1, 1, 0, 1, 1.0f, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0,   \
            0, 0                                                                                   \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_rope(nw_context *context, const nw_rope_op *rope, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads y_type and layout
 * only. */
NW_API nw_status nw_rope_prepare(nw_context *context, const nw_rope_op *rope);

/* Parameters of a model's rotation. With YaRN nw_rope's scale is the model's attention factor
 * times 1 + 0.1 * log(1 / frequency_scale). */
typedef struct nw_rope_model {
    size_t size;               /* sizeof(nw_rope_model); NW_ROPE_MODEL_INIT sets it */
    uint32_t pairs;            /* 1..32768 */
    float base;                /* > 1: pair j turns by base^(-j / pairs) radians */
    float frequency_scale;     /* > 0: times this; 1 / factor of linear scaling and of YaRN */
    float extension;           /* of YaRN: 0 for none, else 1 */
    float beta_fast;           /* of YaRN, >= beta_slow */
    float beta_slow;           /* of YaRN, > 0 */
    uint32_t original_context; /* of YaRN: tokens, > 0 */
    const float
        *factors; /* [pairs] in host memory, not 0: frequencies are divided by them; or null */
    const uint8_t *streams; /* [pairs] in host memory: which position of a token counts, 0..3; or
                               null: 0 */
} nw_rope_model;

#define NW_ROPE_MODEL_INIT                                                                         \
    { sizeof(nw_rope_model), 0, 10000.0f, 1.0f, 0, 32.0f, 1.0f, 0, NULL, NULL }

/* Writes turns[pairs], to host memory, for nw_rope: copy them to the device once. */
NW_API nw_status nw_rope_turns(const nw_rope_model *model, uint64_t *turns);

/*
 * Norm, rotation and cache row of n1 heads of n2 tokens: all between the products of a decoder and
 * its attention
 *
 *     Y[ids[i2], i1] = Z[i2, i1] rotated as by nw_rope at pos[i2]
 *     Z = X * w / sqrt(mean of X^2 over the row + eps); X if w is null
 *
 * With pairs = 0 nothing is rotated. Errors are the sum of those of nw_rms_norm and nw_rope. A
 * token whose index is outside 0 <= id < y_rows is not stored. turns are those of nw_rope.
 */
typedef struct nw_rope_norm_op {
    size_t size;      /* sizeof(nw_rope_norm_op); NW_ROPE_NORM_OP_INIT sets it */
    int32_t y_type;   /* type of y: NW_F32 or NW_F16; x is NW_F32 */
    int32_t layout;   /* NW_ROPE_NORMAL or NW_ROPE_NEOX */
    int32_t ids_type; /* NW_I32 or NW_I64 */
    uint32_t d;       /* elements of a row: 64, 128 or 256 */
    uint32_t n1, n2;  /* heads, tokens */
    uint32_t y_rows;  /* rows of n1 heads in y; n2 without ids */
    uint32_t pairs;   /* that are rotated: a multiple of 4, <= d / 2 */
    uint32_t streams; /* positions of a token: 1..4 */
    float eps;        /* finite, >= 0 */
    float scale;      /* of the rotation: finite, >= 0 */

    const float *x;     /* 16-byte aligned */
    void *y;            /* 16-byte aligned, NW_F16: 8; x itself with its strides if f32 without ids,
                           else overlaps nothing */
    const float *w;     /* [d], 16-byte aligned, or null: no norm */
    const int32_t *pos; /* [streams, n2]; null if pairs is 0 */
    const void *turns;  /* uint64_t [pairs], 16-byte aligned; null if pairs is 0 */
    const void *ids;    /* [n2], the row of y for each token, 4-byte aligned, or null */

    /* Bytes from one head and token to the next, and of y from row to row, where there are several:
     * at least a row of d, multiples of 16, of y with NW_F16 of 8, < 2^32. Of ids multiples of 4.
     */
    uint64_t x_s1, x_s2;
    uint64_t y_s1, y_s2;
    uint64_t ids_s1;
} nw_rope_norm_op;

#define NW_ROPE_NORM_OP_INIT                                                                       \
    {                                                                                              \
        sizeof(nw_rope_norm_op), 0, 0, 0, 0, 1, 1, 0, 0, 1, 1e-6f, 1.0f, NULL, NULL, NULL, NULL,   \
            NULL, NULL, 0, 0, 0, 0, 0                                                              \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_rope_norm(nw_context *context, const nw_rope_norm_op *rope, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads y_type and layout
 * only. */
NW_API nw_status nw_rope_norm_prepare(nw_context *context, const nw_rope_norm_op *rope);

/*
 * Heads of new tokens: all between the products of a decoder and its attention, with f16 caches
 *
 *     Q_Y[t, i] = Z(Q[t, i])
 *     K_CACHE[k_ids[t], i] = Z(K[t, i])       V_CACHE[v_ids[t], i] = V[t, i]
 *     Z(X) = X * w / sqrt(mean of X^2 over the row + eps) rotated as by nw_rope at pos[t]
 *
 * One launch in place of nw_rope_norm for queries and keys and nw_set_rows for values, with their
 * results to the bit. With pairs = 0 nothing is rotated. A token whose index is outside 0 <= id <
 * cache_rows is not stored. turns are those of nw_rope.
 */
typedef struct nw_qkv_heads_op {
    size_t size;         /* sizeof(nw_qkv_heads_op); NW_QKV_HEADS_OP_INIT sets it */
    int32_t layout;      /* NW_ROPE_NORMAL or NW_ROPE_NEOX */
    int32_t ids_type;    /* NW_I32 or NW_I64, of both lists */
    uint32_t d;          /* elements of a head: 64, 128 or 256 */
    uint32_t h, hk;      /* heads of queries; of keys and values */
    uint32_t tokens;     /* >= 1 */
    uint32_t cache_rows; /* of hk heads, in each cache */
    uint32_t pairs;      /* that are rotated: a multiple of 4, <= d / 2 */
    uint32_t streams;    /* positions of a token: 1..4 */
    float eps;           /* finite, >= 0 */
    float scale;         /* of the rotation: finite, >= 0 */

    const float *q;     /* 16-byte aligned */
    float *q_y;         /* 16-byte aligned; q itself with its strides, else overlaps nothing */
    const float *q_w;   /* [d], 16-byte aligned, or null: no norm */
    const float *k;     /* 16-byte aligned */
    void *k_cache;      /* f16, 8-byte aligned; overlaps nothing */
    const float *k_w;   /* [d], 16-byte aligned, or null: no norm */
    const void *k_ids;  /* [tokens], rows of k_cache, 4-byte aligned */
    const float *v;     /* 16-byte aligned */
    void *v_cache;      /* f16, 8-byte aligned; overlaps nothing */
    const void *v_ids;  /* [tokens], rows of v_cache, 4-byte aligned */
    const int32_t *pos; /* [streams, tokens]; null if pairs is 0 */
    const void *turns;  /* uint64_t [pairs], 16-byte aligned; null if pairs is 0 */

    /* Bytes from one head (1) and token to the next, and of caches from row to row, where there are
     * several: at least a row of d, multiples of 16, of caches of 8, < 2^32. Of indices multiples
     * of 4. */
    uint64_t q_s1, q_s2, q_y_s1, q_y_s2;
    uint64_t k_s1, k_s2, k_cache_s1, k_cache_s2;
    uint64_t v_s1, v_s2, v_cache_s1, v_cache_s2;
    uint64_t k_ids_s1, v_ids_s1;
} nw_qkv_heads_op;

#define NW_QKV_HEADS_OP_INIT                                                                       \
    {                                                                                              \
        sizeof(nw_qkv_heads_op), 0, 0, 0, 1, 1, 1, 0, 0, 1, 1e-6f, 1.0f, NULL, NULL, NULL, NULL,   \
            NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, \
            0                                                                                      \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_qkv_heads(nw_context *context, const nw_qkv_heads_op *heads, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads layout only. */
NW_API nw_status nw_qkv_heads_prepare(nw_context *context, const nw_qkv_heads_op *heads);

/*
 * The router's choice of experts, from its logits
 *
 *     p = softmax of row i of X; ids[i, :] = the top_k experts of largest p, the largest first
 *     Y[i, j] = scale * p[ids[i, j]], or if normed that / max(sum over j of p[ids[i, j]], limit)
 *
 * The lower number of equal experts comes first. The relative error of Y is at most 2^-15 for
 * |X| <= 88.
 */
typedef struct nw_topk_moe_op {
    size_t size;      /* sizeof(nw_topk_moe_op); NW_TOPK_MOE_OP_INIT sets it */
    uint32_t m;       /* tokens, >= 1 */
    uint32_t experts; /* 1..256 */
    uint32_t top_k;   /* experts of a token: 1..32, <= experts */
    uint32_t normed;  /* 1, not 0: weights of a token are brought to a sum of 1 */
    float limit;      /* least sum */
    float scale;      /* of the weights */

    const float *x; /* [m, experts] */
    float *y;       /* [m, top_k] */
    int32_t *ids;   /* [m, top_k]; x itself with its stride, or apart; with one token both may
                       overlap x */

    /* Bytes from token to token: at least a row, multiples of 4, < 2^32. */
    uint64_t x_stride;
    uint64_t y_stride;
    uint64_t ids_stride;
} nw_topk_moe_op;

#define NW_TOPK_MOE_OP_INIT                                                                        \
    { sizeof(nw_topk_moe_op), 0, 0, 0, 1, 6.103515625e-5f, 1.0f, NULL, NULL, NULL, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_topk_moe(nw_context *context, const nw_topk_moe_op *route, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads experts only. */
NW_API nw_status nw_topk_moe_prepare(nw_context *context, const nw_topk_moe_op *route);

/*
 * A router: its product, optionally behind a norm, and nw_topk_moe, in one launch
 *
 *     L[i, e] = bias[e] + sum over k of Z[i, k] * w[e, k]
 *     Z = X, or with norm Z[i, k] = X[i, k] * norm[k] / sqrt(mean of X[i]^2 + eps)
 *     p = softmax of row i of L; ids[i, :] = the top_k experts of largest p, the largest first
 *     Y[i, j] = scale * p[ids[i, j]], or if normed that / max(sum over j of p[ids[i, j]], limit)
 *
 * The lower number of equal experts comes first. In f32: the error of L is at most E = 2^-24 * (K /
 * 64 + 32) * (sum over k of |Z * w| + |bias|), and the relative error of Y at most 2^-15 + 4 E
 * where L is at most 87 below the token's largest; further below Y may be 0, and the lower number
 * comes first. Experts whose L differ by less than 2 E may change places. Each token reads w: for
 * more than a few nw_dense and nw_topk_moe are faster.
 */
typedef struct nw_route_moe_op {
    size_t size;      /* sizeof(nw_route_moe_op); NW_ROUTE_MOE_OP_INIT sets it */
    uint32_t m;       /* tokens, 1..65536 */
    uint32_t k;       /* a multiple of 4, 4..2^24 */
    uint32_t experts; /* 1..256 */
    uint32_t top_k;   /* experts of a token: 1..32, <= experts */
    uint32_t normed;  /* 1, not 0: weights of a token are brought to a sum of 1 */
    float limit;      /* least sum */
    float scale;      /* of the weights */
    float eps;        /* added to the mean of squares, with `norm`: finite, >= 0 */

    const float *x;    /* [m, K], 16-byte aligned */
    const float *norm; /* [K], 16-byte aligned, or null: x as it is */
    const float *w;    /* [experts, K], 16-byte aligned */
    const float *bias; /* [experts], or null */
    float *y;          /* [m, top_k]; overlaps nothing else */
    int32_t *ids;      /* [m, top_k]; overlaps nothing else */

    /* Bytes from row to row: at least a row, multiples of 4, of x and w of 16, < 2^32. */
    uint64_t x_stride;
    uint64_t w_stride;
    uint64_t y_stride;
    uint64_t ids_stride;

    void *workspace; /* as in nw_attn */
    uint64_t workspace_bytes;
} nw_route_moe_op;

#define NW_ROUTE_MOE_OP_INIT                                                                       \
    {                                                                                              \
        sizeof(nw_route_moe_op), 1, 0, 0, 0, 1, 6.103515625e-5f, 1.0f, 0, NULL, NULL, NULL, NULL,  \
            NULL, NULL, 0, 0, 0, 0, NULL, 0                                                        \
    }

/* As nw_attention. */
NW_API nw_status nw_route_moe(nw_context *context, const nw_route_moe_op *route, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads experts only. */
NW_API nw_status nw_route_moe_prepare(nw_context *context, const nw_route_moe_op *route);

/* Bytes of workspace for these and for fewer tokens. Reads m, k, experts and top_k. */
NW_API nw_status nw_route_moe_workspace_size(nw_context *context, const nw_route_moe_op *route,
                                             uint64_t *bytes);

/*
 * A token's experts times the router's weights, and a residual
 *
 *     Y[i, k] = sum over e of X[i, e, k] * w[i, e], plus bias[i, k]
 *
 * Each product and sum is rounded, in this order.
 */
typedef struct nw_moe_sum_op {
    size_t size;    /* sizeof(nw_moe_sum_op); NW_MOE_SUM_OP_INIT sets it */
    uint32_t m;     /* tokens, >= 1 */
    uint32_t k;     /* a multiple of 4, <= 2^28 */
    uint32_t top_k; /* experts of a token, >= 1 */

    const float *x;    /* [m, top_k, k], 16-byte aligned */
    const float *w;    /* [m, top_k] */
    const float *bias; /* [m, k], 16-byte aligned, or null */
    float *y;          /* [m, k], 16-byte aligned; bias itself with its stride, else overlaps
                          nothing */

    /* Bytes from one expert (1) and token to the next, where there are several: at least a row,
     * multiples of 16, of w of 4, < 2^32. */
    uint64_t x_s1, x_s2;
    uint64_t w_s1; /* from token to token */
    uint64_t bias_row;
    uint64_t y_stride;
} nw_moe_sum_op;

#define NW_MOE_SUM_OP_INIT                                                                         \
    { sizeof(nw_moe_sum_op), 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_moe_sum(nw_context *context, const nw_moe_sum_op *sum, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k only. */
NW_API nw_status nw_moe_sum_prepare(nw_context *context, const nw_moe_sum_op *sum);

/* ---- functions of an element, reductions of rows ---- */

enum {
    NW_UNARY_ABS = 0,
    NW_UNARY_SGN = 1,
    NW_UNARY_NEG = 2,
    NW_UNARY_STEP = 3,
    NW_UNARY_TANH = 4,
    NW_UNARY_ELU = 5,
    NW_UNARY_RELU = 6,
    NW_UNARY_SIGMOID = 7,
    NW_UNARY_GELU = 8,
    NW_UNARY_GELU_QUICK = 9,
    NW_UNARY_SILU = 10,
    NW_UNARY_HARDSWISH = 11,
    NW_UNARY_HARDSIGMOID = 12,
    NW_UNARY_EXP = 13,
    NW_UNARY_EXPM1 = 14,
    NW_UNARY_GELU_ERF = 15,
    NW_UNARY_SOFTPLUS = 16,
    NW_UNARY_XIELU = 17,
    NW_UNARY_FLOOR = 18,
    NW_UNARY_CEIL = 19,
    NW_UNARY_ROUND = 20,
    NW_UNARY_TRUNC = 21,
    NW_UNARY_SQR = 22,
    NW_UNARY_SQRT = 23,
    NW_UNARY_LOG = 24,
    NW_UNARY_SIN = 25,
    NW_UNARY_COS = 26,
    NW_UNARY_CLAMP = 27,
    NW_UNARY_LEAKY_RELU = 28,
};

/*
 * Functions of each element, as ggml has them, of rows of k elements in three dimensions more
 *
 *     Y[i3, i2, i1, k] = f(X[i3, i2, i1, k])
 *
 *     ABS, SGN, NEG, FLOOR, CEIL, ROUND (halves away from 0), TRUNC, SQR, SQRT, LOG, EXP, EXPM1,
 *     SIN, COS, TANH
 *     STEP: 1 for x > 0, else 0       RELU: max(x, 0)       LEAKY_RELU: x, for x < 0 alpha x
 *     ELU: x, for x <= 0 exp(x) - 1       SOFTPLUS: log(1 + exp(x)), x for x > 20
 *     SIGMOID: 1 / (1 + exp(-x))       SILU: x sigmoid(x)       GELU_QUICK: x sigmoid(1.702 x)
 *     GELU: x sigmoid(2 sqrt(2 / pi) (x + 0.044715 x^3)), 0 for x <= -10
 *     GELU_ERF: x (1 + erf(x / sqrt(2))) / 2       HARDSIGMOID: min(1, max(0, (x + 3) / 6))
 *     HARDSWISH: x hardsigmoid(x)       CLAMP: max(min(x, high), low)
 *     XIELU: alpha_p x^2 + beta x, for x <= 0 (exp(min(x, eps)) - 1 - x) alpha + beta x
 *
 * asm/unary/family.toml bounds the errors. A contiguous tensor is one row.
 */
typedef struct nw_unary_op {
    size_t size;              /* sizeof(nw_unary_op); NW_UNARY_OP_INIT sets it */
    int32_t function;         /* NW_UNARY_ABS, ... */
    int32_t y_type;           /* of x and y: NW_F32 or NW_F16 */
    uint32_t k;               /* elements of a row, <= 2^28 */
    uint32_t n1, n2, n3;      /* rows in each dimension, the inner first */
    float alpha;              /* of LEAKY_RELU and XIELU: finite */
    float alpha_p, beta, eps; /* of XIELU: finite */
    float low, high;          /* of CLAMP: no NaN */

    const void *x; /* as the type aligned */
    void *y;       /* as x; x itself with its strides, else overlaps nothing */

    /* Bytes from one row to the next of each dimension, where the size is more than 1: multiples of
     * an element, < 2^32. Those of x in any order, at least a row; each of y at least what it
     * spans. */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s1, y_s2, y_s3;
} nw_unary_op;

#define NW_UNARY_OP_INIT                                                                           \
    {                                                                                              \
        sizeof(nw_unary_op), 0, 0, 0, 1, 1, 1, 0.0f, 0.0f, 0.0f, 0.0f, 0, 0, NULL, NULL, 0, 0, 0,  \
            0, 0, 0                                                                                \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_unary(nw_context *context, const nw_unary_op *unary, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads function only. */
NW_API nw_status nw_unary_prepare(nw_context *context, const nw_unary_op *unary);

/*
 * Softmax of rows of k floats, of n1 queries, n2 heads and n3 sequences, as ggml has it
 *
 *     Y[i3, i2, i1, k] = exp(z[k] - c) / (sum over k of exp(z[k] - c) + exp(sinks[i2] - c))
 *     z[k] = scale * X[i3, i2, i1, k] + slope(i2) * mask[i3 % mask_n3, i2 % mask_n2, i1, k]
 *     c = the largest z and sink       slope(h) = 2^(-max_bias (h + 1) / P), for h >= P
 *     2^(-max_bias (h - P + 1/2) / P), P the largest power of two <= n2; 1 where max_bias is 0
 *
 * Where z is -infinity y is 0; a row of nothing else, without a sink, is NaN, as is one with NaN or
 * +infinity. asm/soft_max/family.toml bounds the error.
 */
typedef struct nw_soft_max_op {
    size_t size;               /* sizeof(nw_soft_max_op); NW_SOFT_MAX_OP_INIT sets it */
    int32_t mask_type;         /* of the mask: NW_F32 or NW_F16 */
    uint32_t k;                /* elements of a row, <= 2^28 */
    uint32_t n1, n2, n3;       /* queries, heads, sequences */
    uint32_t mask_n2, mask_n3; /* heads and sequences of the mask; each divides that of x */
    float scale;               /* finite */
    float max_bias;            /* of ALiBi, 0..100; 0 for none */

    const float *x;     /* 4-byte aligned */
    const void *mask;   /* 4-byte aligned, NW_F16 2; or null: 0 */
    const float *sinks; /* [n2], or null: none */
    float *y;           /* 4-byte aligned; x itself with its strides, else overlaps nothing */

    /* Bytes from one query, head and sequence to the next, where there are several: multiples of an
     * element, < 2^32. Those of x and the mask in any order, at least a row; each of y at least
     * what it spans. */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s1, y_s2, y_s3;
    uint64_t mask_s, mask_h, mask_b;
} nw_soft_max_op;

#define NW_SOFT_MAX_OP_INIT                                                                        \
    {                                                                                              \
        sizeof(nw_soft_max_op), 0, 0, 1, 1, 1, 1, 1, 1.0f, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0,  \
            0, 0, 0, 0, 0                                                                          \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_soft_max(nw_context *context, const nw_soft_max_op *soft_max, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k only. */
NW_API nw_status nw_soft_max_prepare(nw_context *context, const nw_soft_max_op *soft_max);

enum { NW_NORM_LAYER = 0, NW_NORM_RMS = 1, NW_NORM_L2 = 2 };

/*
 * Rows of k floats in three dimensions brought to one size, as ggml's NORM, RMS_NORM and L2_NORM
 * have it, and GROUP_NORM: a group of contiguous channels is a row
 *
 *     Y[i3, i2, i1, k] = (X[i3, i2, i1, k] - c) * r
 *     NW_NORM_LAYER: c = mean of the row, r = 1 / sqrt(mean of (X - c)^2 + eps)
 *     NW_NORM_RMS: c = 0, r = 1 / sqrt(mean of X^2 + eps)
 *     NW_NORM_L2: c = 0, r = 1 / max(sqrt(sum of X^2), eps)
 *
 * The relative error of r is at most 2^-22 + (K / 128 + 13) * 2^-25; what is under the root must be
 * at least 2^-126. nw_rms_norm has weights.
 */
typedef struct nw_norm_rows_op {
    size_t size;         /* sizeof(nw_norm_rows_op); NW_NORM_ROWS_OP_INIT sets it */
    int32_t function;    /* NW_NORM_LAYER, NW_NORM_RMS or NW_NORM_L2 */
    uint32_t k;          /* elements of a row, <= 2^24 */
    uint32_t n1, n2, n3; /* rows in each dimension, the inner first */
    float eps;           /* finite, >= 0 */

    const float *x; /* 4-byte aligned */
    float *y;       /* 4-byte aligned; x itself with its strides, else overlaps nothing */

    /* Bytes from one row to the next of each dimension, where the size is more than 1: multiples of
     * 4, < 2^32. Those of x in any order, at least a row; each of y at least what it spans. */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s1, y_s2, y_s3;
} nw_norm_rows_op;

#define NW_NORM_ROWS_OP_INIT                                                                       \
    { sizeof(nw_norm_rows_op), 0, 0, 1, 1, 1, 1e-6f, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_norm_rows(nw_context *context, const nw_norm_rows_op *norm, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads function and k
 * only. */
NW_API nw_status nw_norm_rows_prepare(nw_context *context, const nw_norm_rows_op *norm);

enum { NW_SUM = 0, NW_MEAN = 1 };

/*
 * Sums or means of rows of k floats in three dimensions
 *
 *     Y[i3, i2, i1] = sum over k of X[i3, i2, i1, k], with NW_MEAN divided by K
 *
 * The error is at most (K / 128 + 14) * 2^-24 of the sum of |X|. A contiguous tensor is one row.
 */
typedef struct nw_sum_rows_op {
    size_t size;         /* sizeof(nw_sum_rows_op); NW_SUM_ROWS_OP_INIT sets it */
    int32_t function;    /* NW_SUM or NW_MEAN */
    uint32_t k;          /* elements of a row, <= 2^28 */
    uint32_t n1, n2, n3; /* rows in each dimension, the inner first */

    const float *x; /* 4-byte aligned */
    float *y;       /* [n3, n2, n1], 4-byte aligned; overlaps nothing */

    /* Bytes from one row to the next of each dimension, where the size is more than 1: multiples of
     * 4, < 2^32. Those of x in any order, at least a row; each of y at least what it spans. */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s1, y_s2, y_s3;
} nw_sum_rows_op;

#define NW_SUM_ROWS_OP_INIT                                                                        \
    { sizeof(nw_sum_rows_op), 0, 0, 1, 1, 1, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_sum_rows(nw_context *context, const nw_sum_rows_op *sums, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k only. */
NW_API nw_status nw_sum_rows_prepare(nw_context *context, const nw_sum_rows_op *sums);

/*
 * Running sums of rows of k floats in three dimensions
 *
 *     Y[i3, i2, i1, k] = sum over j <= k of X[i3, i2, i1, j]
 */
typedef struct nw_cumsum_op {
    size_t size;         /* sizeof(nw_cumsum_op); NW_CUMSUM_OP_INIT sets it */
    uint32_t k;          /* elements of a row, <= 2^28 */
    uint32_t n1, n2, n3; /* rows in each dimension, the inner first */

    const float *x; /* 4-byte aligned */
    float *y;       /* X with its strides, else overlaps nothing; 4-byte aligned */

    /* Bytes from one row to the next in each dimension, where there are several: multiples of 4, <
     * 2^32. Those of X in any order, at least a row; each of Y at least what it spans. */
    uint64_t x_s1, x_s2, x_s3;
    uint64_t y_s1, y_s2, y_s3;
} nw_cumsum_op;

#define NW_CUMSUM_OP_INIT                                                                          \
    { sizeof(nw_cumsum_op), 0, 1, 1, 1, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_cumsum(nw_context *context, const nw_cumsum_op *sum, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k only. */
NW_API nw_status nw_cumsum_prepare(nw_context *context, const nw_cumsum_op *sum);

/*
 * Where the largest element of each row is
 *
 *     Y[m] = the last k with X[m, k] = max over k of X[m, k]
 *
 * NaN is passed over; a row of nothing else gives 0.
 */
typedef struct nw_argmax_op {
    size_t size; /* sizeof(nw_argmax_op); NW_ARGMAX_OP_INIT sets it */
    uint32_t m;  /* rows, >= 1 */
    uint32_t k;  /* elements of a row, <= 2^28 */

    const float *x; /* [M, K], 4-byte aligned */
    int32_t *y;     /* [M], 4-byte aligned; overlaps nothing */

    uint64_t x_stride; /* bytes from row to row, where there are several: >= 4 * K, a multiple of
                          4, < 2^32 */
} nw_argmax_op;

#define NW_ARGMAX_OP_INIT                                                                          \
    { sizeof(nw_argmax_op), 0, 0, NULL, NULL, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_argmax(nw_context *context, const nw_argmax_op *argmax, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k only. */
NW_API nw_status nw_argmax_prepare(nw_context *context, const nw_argmax_op *argmax);

/*
 * Order of the elements of each row, or its beginning: ggml's ARGSORT, and TOP_K
 *
 *     Y[m, 0..count-1] = the first of the k of X[m, k], sorted by X; equal ones by k
 *
 * -0 comes before 0, NaN beyond infinity, on the side of its sign.
 */
typedef struct nw_argsort_op {
    size_t size;        /* sizeof(nw_argsort_op); NW_ARGSORT_OP_INIT sets it */
    uint32_t m;         /* rows, >= 1 */
    uint32_t k;         /* elements of a row, <= 8192 */
    uint32_t count;     /* that y has of a row, <= k */
    int32_t descending; /* 0 or 1: the largest first */

    const float *x; /* [M, K], 4-byte aligned */
    int32_t *y;     /* [M, count], 4-byte aligned; overlaps nothing */

    /* Bytes from row to row, where there are several: multiples of 4, < 2^32. */
    uint64_t x_stride; /* >= 4 * K */
    uint64_t y_stride; /* >= 4 * count */
} nw_argsort_op;

#define NW_ARGSORT_OP_INIT                                                                         \
    { sizeof(nw_argsort_op), 0, 0, 0, 0, NULL, NULL, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_argsort(nw_context *context, const nw_argsort_op *sort, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k only. */
NW_API nw_status nw_argsort_prepare(nw_context *context, const nw_argsort_op *sort);

/*
 * Rows of floats plus the rows of another matrix that ids name, as ggml's ADD_ID: biases of experts
 *
 *     C[i2, i1, k] = A[i2, i1, k] + B[ids[i2, i1], k]
 *
 * Where an index is not 0..experts-1, C is NaN.
 */
typedef struct nw_add_id_op {
    size_t size;      /* sizeof(nw_add_id_op); NW_ADD_ID_OP_INIT sets it */
    uint32_t k;       /* elements of a row, <= 2^28 */
    uint32_t n1, n2;  /* rows in each dimension, the inner first */
    uint32_t experts; /* rows of b */

    const float *a;     /* [n2, n1, K], 4-byte aligned */
    const float *b;     /* [experts, K], 4-byte aligned */
    const int32_t *ids; /* [n2, n1], 4-byte aligned */
    float *c;           /* [n2, n1, K], 4-byte aligned; a itself with its strides, else overlaps
                           nothing */

    /* Bytes from one row to the next of each dimension, where the size is more than 1: multiples of
     * 4, < 2^32. Those of a in any order, at least a row; others at least what they span. */
    uint64_t a_s1, a_s2;
    uint64_t b_s1;
    uint64_t c_s1, c_s2;
    uint64_t ids_stride;
} nw_add_id_op;

#define NW_ADD_ID_OP_INIT                                                                          \
    { sizeof(nw_add_id_op), 0, 1, 1, 0, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_add_id(nw_context *context, const nw_add_id_op *add, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads k only. */
NW_API nw_status nw_add_id_prepare(nw_context *context, const nw_add_id_op *add);

/*
 * Products of float activations with matrices of float, half or bfloat16, as ggml's MUL_MAT has
 * them, and with ids its MUL_MAT_ID
 *
 *     C[i3, i2, m, n] = sum over k of A[i3, i2 % a_n2, m, k] * W[j3, j2, n, k]
 *     j3 = i3 / (n3 / w_n3), j2 = i2 / (n2 / w_n2); or with ids j3 = 0, j2 = ids[i3, i2]
 *
 * Sums are in float. With S the sum over k of |A * W|, the error of C is at most
 *
 * - (k + 20) * 2^-24 * S for up to 8 rows, with NW_F32, and where the GPU has no WMMA: neither a
 *   nor w is rounded;
 * - (k + 20) * 2^-23 * S + 2^-14 * S for more rows with NW_BF16: a counts with 16 bits;
 * - (k + 20) * 2^-23 * S + the sum over k of |W| * (|A| * 2^-11 + R * 2^-19) for more rows with
 *   NW_F16, R the largest |A| of the row: a counts as a half times a power of two.
 *
 * No finite a overflows. A NaN or an infinity in a row of a or w makes its row or column of C not
 * finite; up to 8 rows as in the formula. Where ids[i3, i2] is not in 0..w_n2-1, c[i3, i2] is not
 * written. Neighbouring matrices that share weights and have one row each are faster as rows of one
 * matrix: m = n2 / w_n2, with the strides of the matrices.
 */
typedef struct nw_dense_op {
    size_t size;         /* sizeof(nw_dense_op); NW_DENSE_OP_INIT sets it */
    int32_t dtype;       /* of w: NW_BF16, NW_F16 or NW_F32 */
    uint32_t m;          /* rows of activations, >= 1 */
    uint32_t n;          /* rows of weights, 1..2^28 */
    uint32_t k;          /* elements of a row, 1..2^28 */
    uint32_t n2, n3;     /* matrices of c in each dimension, the inner first */
    uint32_t a_n2;       /* the same of a, whose outer dimension is n3; divides n2 */
    uint32_t w_n2, w_n3; /* the same of w; without ids they divide n2 and n3, with ids only the
                            first of w_n3 counts */

    const float *a;     /* 4-byte aligned */
    const void *w;      /* 2-byte aligned; NW_F32: 4 */
    float *c;           /* 4-byte aligned; overlaps nothing else */
    const int32_t *ids; /* [n3, n2], or null */

    /* Bytes from one to the next of each dimension, where there are several: rows, then matrices; <
     * 2^32; of a, c and ids multiples of 4, of w of its type's size. Those of a and w in any order,
     * at least a row; each of c at least what it spans. */
    uint64_t a_s1, a_s2, a_s3;
    uint64_t w_s1, w_s2, w_s3;
    uint64_t c_s1, c_s2, c_s3;
    uint64_t ids_stride;
} nw_dense_op;

#define NW_DENSE_OP_INIT                                                                           \
    {                                                                                              \
        sizeof(nw_dense_op), 0, 0, 0, 0, 1, 1, 1, 1, 1, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0, 0                                                                             \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_dense(nw_context *context, const nw_dense_op *product, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads dtype only. */
NW_API nw_status nw_dense_prepare(nw_context *context, const nw_dense_op *product);
/* ---- state space models and linear attention ---- */

/*
 * The short convolution of each channel over tokens, of state space models and linear attention:
 * GGML_OP_SSM_CONV, optionally with bias and SiLU
 *
 *     Y[i, t, c] = f(sum over j < taps of X[i, c, t + j] * W[c, j] + bias[c])
 *     f(z) = z, with `silu` z / (1 + exp(-z))
 *
 * A row of X has the last taps - 1 inputs of the tokens before, then the tokens.
 */
typedef struct nw_ssm_conv_op {
    size_t size;     /* sizeof(nw_ssm_conv_op); NW_SSM_CONV_OP_INIT sets it */
    uint32_t taps;   /* 3, 4 or 9 */
    int32_t silu;    /* 1: f is SiLU */
    uint32_t b;      /* sequences, <= 65535 */
    uint32_t n;      /* channels, <= 2^26 */
    uint32_t tokens; /* of each sequence, <= 2^26 */

    const float *x;    /* [b, N, tokens + taps - 1] */
    const float *w;    /* [N, taps] */
    const float *bias; /* [N], or null: 0 */
    float *y;          /* [b, tokens, N] */

    /* Bytes from sequence to sequence (_b), from channel to channel of x, from token to token of y:
     * multiples of 4, < 2^32, where there are several. Those of x in any order, at least a row;
     * each of y at least what it spans. */
    uint64_t x_b, x_stride;
    uint64_t y_b, y_stride;
} nw_ssm_conv_op;

#define NW_SSM_CONV_OP_INIT                                                                        \
    { sizeof(nw_ssm_conv_op), 0, 0, 1, 0, 1, NULL, NULL, NULL, NULL, 0, 0, 0, 0 }

/* Queues it on `stream`. */
NW_API nw_status nw_ssm_conv(nw_context *context, const nw_ssm_conv_op *conv, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads taps only. */
NW_API nw_status nw_ssm_conv_prepare(nw_context *context, const nw_ssm_conv_op *conv);

/*
 * nw_ssm_conv of a few tokens, with each channel's last inputs in a cache: one launch for what
 * copies, a concatenation and the convolution do
 *
 *     with X[i, c, :] = state[idx[i], c, :], then x[i, :, c]
 *     Y[i, t, c] = f(sum over j < taps of X[i, c, t + j] * W[c, j] + bias[c])
 *     new_state[i, c, :] = the last taps - 1 of X[i, c, :]
 *     f(z) = z, with `silu` z / (1 + exp(-z))
 *
 * Sequence i begins with row idx[i] of `state`; without idx with row i. Indices out of range are
 * clamped to 0..states - 1. Results are those of nw_ssm_conv to the bit. A sequence must not write
 * a row that another one reads or writes; it may be the one that it reads itself.
 */
typedef struct nw_conv_state_op {
    size_t size;     /* sizeof(nw_conv_state_op); NW_CONV_STATE_OP_INIT sets it */
    uint32_t taps;   /* 3 or 4 */
    int32_t silu;    /* 1: f is SiLU */
    uint32_t b;      /* sequences, <= 65535 */
    uint32_t n;      /* channels, <= 2^26 */
    uint32_t tokens; /* of each sequence, <= 2^26; a wave has all of them */
    uint32_t states; /* rows of `state`; without idx at least b */

    const float *x;     /* [b, tokens, N] */
    const float *w;     /* [N, taps] */
    const float *bias;  /* [N], or null: 0 */
    const float *state; /* [states, N, taps - 1] */
    const int32_t *idx; /* [b], or null */
    float *new_state;   /* [b, N, taps - 1]; may be rows of `state`: without idx the rows that are
                           read, or later ones; else overlaps nothing */
    float *y;           /* [b, tokens, N] */

    /* Bytes from sequence to sequence (_b), from token to token, from row to row of states:
     * multiples of 4, < 2^32, where there are several. Those of x in any order, at least N
     * elements; each of the others at least what it spans. */
    uint64_t x_b, x_stride;
    uint64_t y_b, y_stride;
    uint64_t state_stride, new_stride;
} nw_conv_state_op;

#define NW_CONV_STATE_OP_INIT                                                                      \
    {                                                                                              \
        sizeof(nw_conv_state_op), 0, 0, 1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0,   \
            0, 0, 0, 0, 0                                                                          \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_conv_state(nw_context *context, const nw_conv_state_op *conv, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads taps only. */
NW_API nw_status nw_conv_state_prepare(nw_context *context, const nw_conv_state_op *conv);

/*
 * The gated delta rule of linear attention, as of Qwen3-Next and Qwen3.5; of Kimi Linear with a
 * gate per channel
 *
 *     for tokens t in order, with S [d, d] the state of value head j of sequence i:
 *     S = exp(g[i, t, j]) * S      u = beta[i, t, j] * (v[i, t, j] - S k[i, t, kj])
 *     S = S + u k[i, t, kj]^T      o[i, t, j] = scale * S q[i, t, kj]
 *     kj = j % hk, with `interleaved` j / (h / hk)
 *     with vector_gate exp(g[i, t, j, c]) is the factor of column c of S
 *
 *     With a, dt, z and norm, as a layer of Qwen3.5 has them, in place of
 *     exp(g): exp(a[j] * softplus(g + dt[j])), softplus(x) = x > 20 ? x : log(1 + exp(x))
 *     beta: 1 / (1 + exp(-beta))
 *     q and k: q / sqrt(sum of q^2 over d + unit_eps), likewise k
 *     o: o / sqrt(mean of o^2 over d + norm_eps) * norm * z / (1 + exp(-z))
 *
 * Sequence i begins with row idx[i] of `state`; without idx with row i. Indices out of range are
 * clamped to 0..states - 1. Slot s of new_state gets the state after all tokens but the last s, in
 * row new_idx[i]; without new_idx in row i. Slots s >= tokens are not written. A sequence must not
 * write a row that another one reads or writes. GGML_OP_GATED_DELTA_NET has o and new_state,
 * contiguous, one behind the other.
 */
typedef struct nw_gated_delta_op {
    size_t size;         /* sizeof(nw_gated_delta_op); NW_GATED_DELTA_OP_INIT sets it */
    uint32_t d;          /* 16, 32, 64 or 128: size of heads */
    int32_t vector_gate; /* 1: g has d elements per head */
    int32_t interleaved; /* 1: consecutive value heads share a key head */
    uint32_t b;          /* sequences, <= 65535 */
    uint32_t tokens;     /* of each sequence, <= 2^26 */
    uint32_t h, hk;      /* heads of v, and of q and k; h is a multiple of hk */
    uint32_t slots;      /* states to keep of each sequence: 1, the last one */
    uint32_t states;     /* rows of `state`; without idx at least b */
    float scale;         /* finite; 1 / sqrt(d) as a rule */

    const float *q;         /* [b, tokens, hk, d], 16-byte aligned */
    const float *k;         /* [b, tokens, hk, d], 16-byte aligned */
    const float *v;         /* [b, tokens, h, d], 16-byte aligned */
    const float *g;         /* [b, tokens, h], or [b, tokens, h, d], 16-byte aligned */
    const float *beta;      /* [b, tokens, h] */
    const float *state;     /* [states, h, d, d], 16-byte aligned */
    float *new_state;       /* [slots, b, h, d, d], 16-byte aligned; with new_idx [slots, states, h,
                               d, d]; may be state itself with its stride; else, without indices,
                               overlaps nothing */
    float *o;               /* [b, tokens, h, d], 16-byte aligned */
    const int32_t *idx;     /* [b], or null */
    const int32_t *new_idx; /* [b], or null */

    /* Bytes from one sequence (_b), token (_s) and head (_h) to the next, from state to state and
     * from slot to slot, where there are several: multiples of 16, < 2^32. Those of q, k and v in
     * any order, at least a row; each of the others at least what it spans. */
    uint64_t q_b, q_s, q_h;
    uint64_t k_b, k_s, k_h;
    uint64_t v_b, v_s, v_h;
    uint64_t o_b, o_s, o_h;
    uint64_t state_stride, new_stride, slot_stride;

    /* A layer's: all, with d = 64 or 128 and vector_gate = 0, or none. Then g and beta are raw. */
    const float *a;    /* [h], or null */
    const float *dt;   /* [h], or null */
    const float *z;    /* [b, tokens, h, d], 16-byte aligned, or null */
    const float *norm; /* [d], 16-byte aligned, or null */

    /* As of v; and what is added to squares: finite, >= 0. Each sum of them must be at least
     * 2^-126. */
    uint64_t z_b, z_s, z_h;
    float unit_eps; /* to sums over q and k */
    float norm_eps; /* to means over o */
} nw_gated_delta_op;

#define NW_GATED_DELTA_OP_INIT                                                                     \
    {                                                                                              \
        sizeof(nw_gated_delta_op), 0, 0, 0, 1, 1, 0, 0, 1, 1, 1.0f, NULL, NULL, NULL, NULL, NULL,  \
            NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, \
            NULL, NULL, 0, 0, 0, 1e-6f, 1e-6f                                                      \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_gated_delta_net(nw_context *context, const nw_gated_delta_op *delta,
                                    void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads d and vector_gate,
 * and whether a is null. */
NW_API nw_status nw_gated_delta_net_prepare(nw_context *context, const nw_gated_delta_op *delta);

/*
 * The selective scan of state space models: Mamba 1, with a[j, c] and n = 16, and Mamba 2.
 * GGML_OP_SSM_SCAN
 *
 *     with the state S [d, n] of head j, g = j / (h / groups), t = log(1 + exp(dt[j])):
 *     S[r, c] = exp(t a[j]) S[r, c] + k[g, c] t x[j, r], o[j, r] = sum_c q[g, c] S[r, c]
 *
 * k and q are Mamba's B and C. Sequence i begins with row idx[i] of `state`; without idx with row
 * i. Indices out of range are clamped to 0..states - 1. Slot s of new_state gets the state after
 * all tokens but the last s, in row i. Slots s >= tokens are not written.
 */
typedef struct nw_ssm_scan_op {
    size_t size;         /* sizeof(nw_ssm_scan_op); NW_SSM_SCAN_OP_INIT sets it */
    uint32_t n;          /* elements of a row of a state: 96, 128 or 256; 16 with vector_gate */
    int32_t vector_gate; /* 1: a has n elements per head */
    uint32_t b;          /* sequences, <= 65535 */
    uint32_t tokens;     /* of each sequence */
    uint32_t h;          /* heads */
    uint32_t d;          /* rows of a head: even, with vector_gate any */
    uint32_t groups;     /* of heads, which share k and q */
    uint32_t slots;      /* states to keep of each sequence: 1, the last one */
    uint32_t states;     /* rows of `state`; without idx at least b */

    const float *x;     /* [b, tokens, h, d] */
    const float *dt;    /* [b, tokens, h] */
    const float *a;     /* [h], or [h, n] */
    const float *k;     /* [b, tokens, groups, n] */
    const float *q;     /* [b, tokens, groups, n] */
    const float *state; /* [states, h, d, n] */
    float *new_state;   /* [slots, b, h, d, n] */
    float *o;           /* [b, tokens, h, d] */
    const int32_t *idx; /* [b], or null */

    /* Bytes from one sequence (_b) and token (_s) to the next, from state to state, both of state
     * and new_state, and from slot to slot, where there are several: multiples of 4, < 2^32. Those
     * of x, k and q in any order, at least a row; of states and slots at least what they span. */
    uint64_t x_b, x_s;
    uint64_t k_b, k_s;
    uint64_t q_b, q_s;
    uint64_t state_stride, slot_stride;
} nw_ssm_scan_op;

#define NW_SSM_SCAN_OP_INIT                                                                        \
    {                                                                                              \
        sizeof(nw_ssm_scan_op), 0, 0, 1, 1, 0, 0, 1, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL,     \
            NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0                                               \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_ssm_scan(nw_context *context, const nw_ssm_scan_op *scan, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads n and vector_gate
 * only. */
NW_API nw_status nw_ssm_scan_prepare(nw_context *context, const nw_ssm_scan_op *scan);

enum { NW_RWKV6 = 0, NW_RWKV7 = 1, NW_GLA = 2 };

/*
 * Linear attention of RWKV 6 and 7, and gated linear attention, as ggml has them
 *
 *     of each token, with the state S [d, d] of its sequence and head:
 *     NW_RWKV6:
 *     o[j] = sum_i q[i] (S[i, j] + bonus[i] k[i] v[j]), S[i, j] = g[i] S[i, j] + k[i] v[j]
 *     NW_GLA: S[i, j] = g[i] S[i, j] + k[i] v[j], o[j] = scale * sum_i q[i] S[i, j]
 *     NW_RWKV7: S[i, j] = g[j] S[i, j] + v[i] k[j] + replace[j] * sum_l remove[l] S[i, l],
 *     o[i] = sum_j q[j] S[i, j]
 */
typedef struct nw_wkv_op {
    size_t size;      /* sizeof(nw_wkv_op); NW_WKV_OP_INIT sets it */
    int32_t function; /* NW_RWKV6, NW_GLA or NW_RWKV7 */
    uint32_t d;       /* size of heads: 64 */
    uint32_t b;       /* sequences, <= 65535 */
    uint32_t tokens;  /* of each sequence */
    uint32_t h;       /* heads, <= 65535 */
    float scale;      /* of NW_GLA: finite */

    const float *q;       /* [b, tokens, h, d]; RWKV's r */
    const float *k;       /* [b, tokens, h, d] */
    const float *v;       /* [b, tokens, h, d] */
    const float *g;       /* [b, tokens, h, d]: what is kept of the state; RWKV's w */
    const float *bonus;   /* [h, d], of NW_RWKV6: its u */
    const float *remove;  /* [b, tokens, h, d], of NW_RWKV7: its a */
    const float *replace; /* [b, tokens, h, d], of NW_RWKV7: its b */
    const float *state;   /* [b, h, d, d] */
    float *new_state;     /* [b, h, d, d], after the last token */
    float *o;             /* [b, tokens, h, d] */
} nw_wkv_op;

#define NW_WKV_OP_INIT                                                                             \
    {                                                                                              \
        sizeof(nw_wkv_op), 0, 64, 1, 1, 0, 1.0f, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,   \
            NULL, NULL                                                                             \
    }

/* Queues it on `stream`. */
NW_API nw_status nw_wkv(nw_context *context, const nw_wkv_op *wkv, void *stream);

/* Loads the kernels that such launches need, whatever their other members. Reads function and d
 * only. */
NW_API nw_status nw_wkv_prepare(nw_context *context, const nw_wkv_op *wkv);

/* ---- layouts ---- */

/* Recommended row stride of packed weights, in bytes. Rows are contiguous, except on gfx1151 if
 * contiguous rows would use few DRAM channels: then 128 bytes of padding are added. `gfx` is a
 * gcnArchName; a colon and the text after it are ignored. Returns 0, with a message for
 * nw_last_error, for an unknown gfx or k = 0. */
NW_API uint64_t nw_weight_row_stride(const char *gfx, uint32_t k);

#ifdef __cplusplus
}
#endif

#endif
