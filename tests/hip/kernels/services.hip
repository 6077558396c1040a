// SPDX-License-Identifier: MIT
// Kernels that use device services, linked with host/sim/hiprtc/device/services.cpp.
#define __device__ __attribute__((device))
#define __global__ extern "C" __attribute__((global))

using u32 = unsigned;
using u64 = unsigned long long;

extern "C" __device__ int printf(const char *, ...);
extern "C" __device__ u64 __ockl_dm_alloc(u64);
extern "C" __device__ void __ockl_dm_dealloc(u64);
extern "C" __device__ void __ockl_grid_sync();
extern "C" __device__ bool __ockl_grid_is_valid();
extern "C" __device__ void __ockl_multi_grid_sync();
extern "C" __device__ bool __ockl_multi_grid_is_valid();
extern "C" __device__ u32 __ockl_multi_grid_num_grids();
extern "C" __device__ u32 __ockl_multi_grid_grid_rank();
extern "C" __device__ u32 __ockl_multi_grid_size();
extern "C" __device__ u64 __ockl_fprintf_stderr_begin();
extern "C" __device__ u64 __ockl_fprintf_append_string_n(u64, const char *, u64, u32);
struct Answer {
    u64 words[2];
};
extern "C" __device__ Answer __ockl_call_host_function(u64, u64, u64, u64, u64, u64, u64, u64);

__device__ u32 lane() { return __builtin_amdgcn_workitem_id_x(); }
__device__ u32 group() { return __builtin_amdgcn_workgroup_id_x(); }
__device__ u32 item() { return group() * __builtin_amdgcn_workgroup_size_x() + lane(); }

// ---- printf

__global__ void formats(const char *text, int *written) {
    *written = printf("%d|%5d|%-5d|%05d|%+d|%u|%x|%#X|%o\n", -7, 42, 42, 42, 42, 4000000000u, 255u,
                      255u, 8u);
    printf("%lld %llu %lx %hd %hhd %zu\n", -5000000000ll, 18000000000000000000ull, 1ul << 40,
           70000, 300, static_cast<__SIZE_TYPE__>(9));
    printf("%f %.2f %10.3e %g %a %G\n", 1.5f, 2.345, 12345.678, 1e-7, 1.0, 1e20f);
    printf("%c%c %s [%10s] [%-6.2s] %%\n", 'o', 'k', text, "right", "left");
    printf("[%*d] [%-*d] [%.*f] [%*.*f]\n", 6, 42, 6, 42, 3, 3.14159, 8, 2, 2.71828);
    printf("%s|%p|no arguments\n", "", reinterpret_cast<void *>(0x1234));
    printf("plain\n");
}

__global__ void every_lane() { printf("%u.%u\n", group(), lane()); }

__global__ void some_lanes(int n) {
    for (int i = 0; i < static_cast<int>(lane() % 4) && i < n; ++i)
        printf("lane %u, %d\n", lane(), i);
}

__global__ void to_stderr(const char *text, u64 bytes) {
    if (item() == 0)
        __ockl_fprintf_append_string_n(__ockl_fprintf_stderr_begin(), text, bytes, 1);
}

// As HIP's headers do it.
__global__ void checked(int limit) {
    if (static_cast<int>(item()) >= limit) {
        printf("item %u is not below %d\n", item(), limit);
        __builtin_trap();
    }
}

// ---- the heap

__global__ void fill_and_free(int *out, int words) {
    auto *const mine = reinterpret_cast<int *>(__ockl_dm_alloc(sizeof(int) * words));
    for (int n = 0; n < words; ++n)
        mine[n] = static_cast<int>(item()) * 1000 + n;
    int sum = 0;
    for (int n = 0; n < words; ++n)
        sum += mine[n];
    out[item()] = sum;
    __ockl_dm_dealloc(reinterpret_cast<u64>(mine));
}

// Blocks until there are none left; then frees them.
__global__ void exhaust(u64 bytes, int most, int *got) {
    u64 *last = nullptr;
    for (*got = 0; *got < most; ++*got) {
        auto *const next = reinterpret_cast<u64 *>(__ockl_dm_alloc(bytes));
        if (!next)
            break;
        *next = reinterpret_cast<u64>(last);
        last = next;
    }
    while (last) {
        auto *const before = reinterpret_cast<u64 *>(*last);
        __ockl_dm_dealloc(reinterpret_cast<u64>(last));
        last = before;
    }
}

__global__ void past_the_end(int at) {
    reinterpret_cast<char *>(__ockl_dm_alloc(4096))[at] = 1;
}

__global__ void free_twice() {
    const u64 at = __ockl_dm_alloc(5000);
    __ockl_dm_dealloc(at);
    __ockl_dm_dealloc(at);
}

// ---- functions of the host

#ifndef OUR_LIBRARY // ROCm's returns a vector

__global__ void call_host(u64 function, u64 *out) {
    const Answer answer =
        __ockl_call_host_function(function, item(), 2, 3, 4, 5, 6, 7);
    out[2 * item()] = answer.words[0];
    out[2 * item() + 1] = answer.words[1];
}
#endif

// ---- cooperative launches

// Each step needs all of the step before.
__global__ void reduce(int *data, int count, int *sum) {
    const int items = static_cast<int>(__builtin_amdgcn_grid_size_x());
    for (int width = count; width > 1; width = (width + 1) / 2) {
        const int half = (width + 1) / 2;
        for (int n = item(); n + half < width; n += items)
            data[n] += data[n + half];
        __ockl_grid_sync();
        __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent"); // ROCm's has none after it
    }
    if (item() == 0)
        *sum = data[0];
}

__global__ void sync_unless_first(int rounds) {
    for (int n = 0; n < rounds; ++n)
        __ockl_grid_sync();
    if (group() != 0)
        __ockl_grid_sync();
}

__global__ void valid(int *out) { out[item()] = __ockl_grid_is_valid(); }

// ---- launches over several devices

// Each grid writes its part of `parts`, which all read after they have met; `rounds` times.
__global__ void sum_of_grids(u32 *parts, u32 *sums, u32 rounds) {
    const u32 rank = __ockl_multi_grid_grid_rank(), grids = __ockl_multi_grid_num_grids();
    u32 sum = 0;
    for (u32 n = 1; n <= rounds; ++n) {
        if (item() == 0)
            __hip_atomic_store(&parts[rank], n * (rank + 1), __ATOMIC_RELAXED,
                               __HIP_MEMORY_SCOPE_SYSTEM);
        __ockl_multi_grid_sync();
        for (u32 other = 0; other < grids; ++other)
            sum += __hip_atomic_load(&parts[other], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
        __ockl_multi_grid_sync();
    }
    if (item() == 0) {
        sums[2 * rank] = sum;
        sums[2 * rank + 1] = __ockl_multi_grid_size();
    }
}

// The first grid comes once less than the others.
__global__ void sync_unless_first_grid(u32 rounds) {
    for (u32 n = 0; n < rounds; ++n)
        __ockl_multi_grid_sync();
    if (__ockl_multi_grid_grid_rank() != 0)
        __ockl_multi_grid_sync();
}

__global__ void valid_grids(int *out) { out[item()] = __ockl_multi_grid_is_valid(); }

// ---- packets and queues

__global__ void packet(u32 *out) {
    using Words = const __attribute__((address_space(4))) u32 *;
    const auto dispatch = reinterpret_cast<Words>(reinterpret_cast<u64>(__builtin_amdgcn_dispatch_ptr()));
    const auto queue = reinterpret_cast<Words>(reinterpret_cast<u64>(__builtin_amdgcn_queue_ptr()));
    out[0] = dispatch[1] & 0xffff; // workgroup_size_x
    out[1] = dispatch[3];          // grid_size_x
    out[2] = queue[16]; // group_segment_aperture_base_hi
}

template <int Offset> __device__ u32 first_word_of() {
    const auto block = reinterpret_cast<u64>(__builtin_amdgcn_implicitarg_ptr());
    return **reinterpret_cast<u32 *const *>(block + Offset);
}
__global__ void default_queue(u32 *out) { *out = first_word_of<104>(); }
__global__ void completion_action(u32 *out) { *out = first_word_of<112>(); }
