/* SPDX-License-Identifier: MIT
   A HIP host in plain C, linked against the distribution's libamdhip64: it knows nothing of us. The
   tests run it on the simulated GPU by LD_LIBRARY_PATH alone.
   usage: plain_host FILE.hsaco [DEVICE [KERNEL]] */
#include <hip/hip_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define N 100

static void must(hipError_t error, const char *what) {
    if (error != hipSuccess) {
        printf("%s: %s (%s)\n0 passed, 1 failed\n", what, hipGetErrorName(error),
               hipGetErrorString(error));
        exit(1);
    }
}
#define MUST(call) must(call, #call)

int main(int argc, char **argv) {
    if (argc < 2)
        return fprintf(stderr, "usage: plain_host FILE.hsaco [DEVICE [KERNEL]]\n"), 2;
    hipDeviceProp_t prop;
    hipModule_t module;
    hipFunction_t iota;
    int *out, first = 40, n = N, got[N], devices;
    MUST(hipInit(0));
    MUST(hipGetDeviceCount(&devices));
    MUST(hipSetDevice(argc > 2 ? atoi(argv[2]) : 0));
    MUST(hipGetDeviceProperties(&prop, argc > 2 ? atoi(argv[2]) : 0));
    printf("%d device(s), this one: %s, %s, %d multiprocessors\n", devices, prop.name,
           prop.gcnArchName, prop.multiProcessorCount);
    MUST(hipMalloc((void **)&out, sizeof got));
    MUST(hipMemset(out, 0, sizeof got));
    MUST(hipModuleLoad(&module, argv[1]));
    MUST(hipModuleGetFunction(&iota, module, argc > 3 ? argv[3] : "iota"));
    void *params[] = {&out, &first, &n};
    MUST(hipModuleLaunchKernel(iota, 1, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    MUST(hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost));
    MUST(hipModuleUnload(module));
    MUST(hipFree(out));
    for (int i = 0; i < N; ++i)
        if (got[i] != first + i)
            return printf("out[%d] is %d, not %d\n0 passed, 1 failed\n", i, got[i], first + i), 1;
    printf("1 passed, 0 failed\n");
    return 0;
}
