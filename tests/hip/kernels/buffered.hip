// SPDX-License-Identifier: MIT
// printf into hidden_printf_buffer: compiled with -mprintf-kind=buffered.
#define __device__ __attribute__((device))
#define __global__ extern "C" __attribute__((global))

extern "C" __device__ int printf(const char *, ...);

__global__ void buffered(const char *text, const char *format) {
    const unsigned item = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                          __builtin_amdgcn_workitem_id_x();
    printf("%u: %s, %c %.3f %lld 100%%\n", item, text, 'x', 0.5, -5000000000ll);
    if (item == 0)
        printf(format, 7u);
}
