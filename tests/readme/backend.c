/* SPDX-License-Identifier: MIT */
/* A ggml backend's part in a product: whether it takes the node, and the node's computation. */
#define __HIP_PLATFORM_AMD__
#include <hip/hip_runtime_api.h>
#include <nibblewave_ggml.h>
#include <stdio.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int code = (int)(call);                                                                    \
        if (code)                                                                                  \
            return printf("%s: error %d: %s\n", #call, code, nw_last_error()), 1;                  \
    } while (0)

enum { K = 256, N = 40, M = 3, BLOCK = 34, BLOCKS = K / 32 }; // q8_0: an f16 scale, 32 int8

// The members of ggml's tensor that a product needs.
struct ggml_tensor {
    int type;
    int64_t ne[4];
    size_t nb[4];
    struct ggml_tensor *src[2];
    void *data;
};

static int supports_op(const struct ggml_tensor *op, const char **why) {
    const nw_ggml_tensor a = NW_GGML_TENSOR(op->src[0]), b = NW_GGML_TENSOR(op->src[1]),
                         c = NW_GGML_TENSOR(op);
    return nw_ggml_supports_mul_mat(&a, &b, &c, why);
}

static nw_status workspace_size(nw_context *context, const struct ggml_tensor *op,
                                uint64_t *bytes) {
    const nw_ggml_tensor a = NW_GGML_TENSOR(op->src[0]), b = NW_GGML_TENSOR(op->src[1]),
                         c = NW_GGML_TENSOR(op);
    return nw_ggml_mul_mat_workspace_size(context, &a, &b, &c, bytes);
}

static nw_status mul_mat(nw_context *context, const struct ggml_tensor *op, void *workspace,
                         uint64_t bytes, void *stream) {
    const nw_ggml_tensor a = NW_GGML_TENSOR(op->src[0]), b = NW_GGML_TENSOR(op->src[1]),
                         c = NW_GGML_TENSOR(op);
    return nw_ggml_mul_mat(context, &a, &b, &c, workspace, bytes, stream);
}

int main(void) {
    static unsigned char weights[N][BLOCKS][BLOCK];
    static float x[M][K], y[M][N];
    for (int n = 0; n < N; n++)
        for (int b = 0; b < BLOCKS; b++) {
            weights[n][b][1] = 0x38; // 0.5 in f16
            for (int i = 2; i < BLOCK; i++)
                weights[n][b][i] = (unsigned char)(n + 1);
        }
    for (int m = 0; m < M; m++)
        for (int k = 0; k < K; k++)
            x[m][k] = 1;

    struct ggml_tensor
        a = {NW_GGUF_Q8_0,
             {K, N, 1, 1},
             {BLOCK, sizeof weights[0], sizeof weights, sizeof weights},
             {0},
             0},
        b = {NW_GGUF_F32, {K, M, 1, 1}, {4, sizeof x[0], sizeof x, sizeof x}, {0}, 0},
        op = {NW_GGUF_F32, {N, M, 1, 1}, {4, sizeof y[0], sizeof y, sizeof y}, {&a, &b}, 0};
    TRY(hipMalloc(&a.data, sizeof weights));
    TRY(hipMalloc(&b.data, sizeof x));
    TRY(hipMalloc(&op.data, sizeof y));
    TRY(hipMemcpy(a.data, weights, sizeof weights, hipMemcpyHostToDevice));
    TRY(hipMemcpy(b.data, x, sizeof x, hipMemcpyHostToDevice));

    const char *why;
    if (!supports_op(&op, &why))
        return printf("not supported: %s\n", why), 1;
    nw_context *context;
    uint64_t bytes;
    void *workspace;
    TRY(nw_context_create(NULL, &context));
    TRY(workspace_size(context, &op, &bytes));
    TRY(hipMalloc(&workspace, bytes));
    TRY(hipMemset(workspace, 0, bytes)); // once
    TRY(mul_mat(context, &op, workspace, bytes, NULL));
    TRY(hipMemcpy(y, op.data, sizeof y, hipMemcpyDeviceToHost));

    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            const double exact = 0.5 * K * (n + 1), off = y[m][n] - exact;
            if (!(off <= exact / 220 && -off <= exact / 220)) // nibblewave.h states it
                return printf("y[%d][%d] is %g, not %g\n", m, n, y[m][n], exact), 1;
        }
    nw_context_destroy(context);
    printf("%d x %d outputs, as stated\n", M, N);
    return 0;
}
