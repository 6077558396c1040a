// SPDX-License-Identifier: MIT
// A store past the end of `a` in a function that is inlined twice over, for nw check.
typedef unsigned u32;
#define KERNEL                                                                                     \
    __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(1, 1024), visibility("protected")))
#define X __builtin_amdgcn_workitem_id_x()

__attribute__((always_inline)) static void put(u32 *a, u32 i, u32 value) {
    a[i] = value; // bug
}

__attribute__((always_inline)) static void put_next(u32 *a, u32 i) { put(a, i + 1, i); }

KERNEL void test(u32 *a, u32 *b, u32 n) { put_next(a, X); }

KERNEL void after(u32 *a) {
    if (X == 0)
        a[0] = 0x600d;
}
