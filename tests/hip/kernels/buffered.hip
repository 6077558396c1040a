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

// A first record takes all of the buffer but `room` bytes.
__global__ void overflow(unsigned room) {
    struct Head {
        unsigned used, size, control;
        char text[8];
    };
    Head *const head = *(Head *const *)((const char *)__builtin_amdgcn_implicitarg_ptr() + 72);
    const unsigned item = __builtin_amdgcn_workitem_id_x();
    if (item == 0) {
        const unsigned bytes = head->size - 8 - room;
        head->control = bytes << 2; // a format in the record follows
        __builtin_memcpy(head->text, "first\n\0", 8);
        __atomic_store_n(&head->used, bytes, __ATOMIC_RELEASE);
    }
    printf("%u\n", item);
}
