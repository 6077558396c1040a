// SPDX-License-Identifier: MIT
// Host and device code in one file, as clang -x hip compiles it: registers its fat binary before main, and
// launches with <<<...>>>. Without the device library, so the keywords are spelled out.
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#include <stdint.h>
#include <stdio.h>

#define KERNEL __attribute__((global))
#define DEVICE __attribute__((device))

DEVICE int scale = 3;

KERNEL void multiples(int *out, int n, int first) {
    const int i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                  __builtin_amdgcn_workitem_id_x();
    if (i < n)
        out[i] = first + i * scale;
}

KERNEL void nothing() {}

static int fail(const char *what, hipError_t error) {
    printf("%s: %s\n0 passed, 1 failed\n", what, hipGetErrorName(error));
    return 1;
}

int main() {
    const int n = 1000;
    int *out = nullptr, got[n], new_scale = 5;
    void *symbol = nullptr;
    size_t symbol_bytes = 0;
    hipError_t error = hipMalloc((void **)&out, sizeof got);
    if (error)
        return fail("hipMalloc", error);
    for (int expected : {3, 5}) {
        multiples<<<dim3(4), dim3(256)>>>(out, n, 7);
        if ((error = hipGetLastError()))
            return fail("launch", error);
        if ((error = hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost)))
            return fail("hipMemcpy", error);
        for (int i = 0; i < n; ++i)
            if (got[i] != 7 + i * expected)
                return printf("out[%d] is %d\n0 passed, 1 failed\n", i, got[i]), 1;
        if ((error = hipGetSymbolAddress(&symbol, scale)) || (error = hipGetSymbolSize(&symbol_bytes, scale)))
            return fail("hipGetSymbol", error);
        if (symbol_bytes != sizeof scale)
            return fail("hipGetSymbolSize", hipErrorUnknown);
        if ((error = hipMemcpyHtoD(symbol, &new_scale, sizeof new_scale)))
            return fail("hipMemcpyHtoD", error);
    }
    nothing<<<dim3(1), dim3(1)>>>();
    if ((error = hipDeviceSynchronize()))
        return fail("nothing", error);
    multiples<<<dim3(1), dim3(2048)>>>(out, n, 7);
    if (hipGetLastError() == hipSuccess)
        return fail("2048 work-items", hipErrorUnknown);
    multiples<<<dim3(1), dim3(1), SIZE_MAX>>>(out, n, 7);
    if (hipGetLastError() == hipSuccess)
        return fail("more LDS than there is", hipErrorUnknown);
    printf("1 passed, 0 failed\n");
    return 0;
}
