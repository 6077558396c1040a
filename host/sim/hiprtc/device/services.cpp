// SPDX-License-Identifier: MIT
// Device side of the services (host/sim/hip/services), by the names that clang and HIP's headers
// call: printf, assert, malloc and grid sync. Compiled as HIP, for code object V5 and later.
#define __device__ __attribute__((device))

namespace {

using u32 = unsigned;
using u64 = unsigned long long;

// Offsets of the implicit arguments.
enum : u32 { printf_buffer = 72, hostcall_buffer = 80, multigrid_sync_arg = 88 };

template <class T> __device__ T *implicit_pointer(u32 offset) {
    return *reinterpret_cast<T *const *>(
        reinterpret_cast<const char *>(__builtin_amdgcn_implicitarg_ptr()) + offset);
}

// ---- hostcall

struct Header {
    u64 next, active;
    u32 service, control; // bit 0: waits for the host
};
using Payload = u64[64][8];
struct Signal {
    u64 kind;
    long long value;
};
struct Hostcall {
    Header *headers;
    Payload *payloads;
    Signal *doorbell;
    u64 free_stack, ready_stack; // an index and a tag above index_mask
    u64 index_mask;
};
struct Answer {
    u64 words[2];
};

__device__ u32 lane_id() {
    return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}

__device__ u64 first_lane(u64 value) {
    const u32 low = __builtin_amdgcn_readfirstlane(static_cast<u32>(value));
    const u32 high = __builtin_amdgcn_readfirstlane(static_cast<u32>(value >> 32));
    return u64{high} << 32 | low;
}

__device__ u64 pop(Hostcall *b) {
    u64 top = __hip_atomic_load(&b->free_stack, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM);
    while (true) {
        const u64 next = __hip_atomic_load(&b->headers[top & b->index_mask].next, __ATOMIC_RELAXED,
                                           __HIP_MEMORY_SCOPE_SYSTEM);
        if (__hip_atomic_compare_exchange_strong(&b->free_stack, &top, next, __ATOMIC_ACQUIRE,
                                                 __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM))
            return top;
        __builtin_amdgcn_s_sleep(1);
    }
}

__device__ void push(Hostcall *b, u64 *stack, u64 packet) {
    u64 top = __hip_atomic_load(stack, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
    do
        __hip_atomic_store(&b->headers[packet & b->index_mask].next, top, __ATOMIC_RELAXED,
                           __HIP_MEMORY_SCOPE_SYSTEM);
    while (!__hip_atomic_compare_exchange_strong(stack, &top, packet, __ATOMIC_RELEASE,
                                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM));
}

__device__ void wait_for_host(const Header &header, bool first) {
    while (true) {
        u32 waits = 0;
        if (first)
            waits =
                __hip_atomic_load(&header.control, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM) & 1;
        if (!__builtin_amdgcn_readfirstlane(waits))
            return;
        __builtin_amdgcn_s_sleep(1);
    }
}

// One call for all active lanes: one service per wave, words per lane.
__device__ __attribute__((noinline)) Answer call_host(u32 service, u64 a, u64 b, u64 c, u64 d,
                                                      u64 e, u64 f, u64 g, u64 h) {
    auto *const buffer = implicit_pointer<Hostcall>(hostcall_buffer);
    const u64 lanes = __builtin_amdgcn_read_exec();
    const u32 lane = lane_id();
    const bool first = lane == static_cast<u32>(__builtin_ctzll(lanes));
    u64 packet = 0;
    if (first)
        packet = pop(buffer);
    packet = first_lane(packet);
    Header &header = buffer->headers[packet & buffer->index_mask];
    u64(&slot)[8] = buffer->payloads[packet & buffer->index_mask][lane];
    if (first) {
        header.active = lanes;
        header.service = service;
        header.control = 1;
    }
    const u64 words[8] = {a, b, c, d, e, f, g, h};
    for (u32 n = 0; n < 8; ++n)
        slot[n] = words[n];
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "");
    if (first) {
        push(buffer, &buffer->ready_stack, packet);
        __hip_atomic_fetch_add(&buffer->doorbell->value, 1ll, __ATOMIC_RELEASE,
                               __HIP_MEMORY_SCOPE_SYSTEM);
    }
    wait_for_host(header, first);
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "");
    const Answer answer = {{slot[0], slot[1]}};
    if (first) {
        u64 tagged = packet + buffer->index_mask + 1;
        tagged += tagged == 0 ? buffer->index_mask + 1 : 0;
        push(buffer, &buffer->free_stack, tagged);
    }
    return answer;
}

enum : u32 { service_function = 1, service_printf = 2, service_memory = 3 };

// ---- messages in parts: a descriptor and up to seven words each

constexpr u64 message_begin = 1, message_end = 2, length_mask = 7 << 5;

__device__ u64 send(u64 descriptor, u32 words, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g,
                    bool last) {
    descriptor =
        (descriptor & ~(message_end | length_mask)) | u64{words} << 5 | (last ? message_end : 0);
    return call_host(service_printf, descriptor, a, b, c, d, e, f, g).words[0];
}

__device__ u64 send_text(u64 descriptor, const char *text, u64 bytes, bool last) {
    if (!text)
        return send(descriptor, 1, 0, 0, 0, 0, 0, 0, 0, last);
    constexpr u64 most = 56;
    do {
        u64 words[7] = {};
        const u64 now = bytes < most ? bytes : most;
        for (u64 n = 0; n < now; ++n)
            words[n / 8] |= u64{static_cast<unsigned char>(text[n])} << n % 8 * 8;
        text += now;
        bytes -= now;
        descriptor = send(descriptor, static_cast<u32>((now + 7) / 8), words[0], words[1], words[2],
                          words[3], words[4], words[5], words[6], last && bytes == 0);
    } while (bytes);
    return descriptor;
}

// ---- grid sync: the launch's counters

struct GridSync {
    u64 all_grids;
    u32 grid, grids;
    u64 items_before, items;
    u32 arrived, all_arrived;
    u32 groups;
};

__device__ bool is_first_item() {
    return !(__builtin_amdgcn_workitem_id_x() | __builtin_amdgcn_workitem_id_y() |
             __builtin_amdgcn_workitem_id_z());
}

// The low half counts members that have arrived, the high half completed phases.
template <int scope> __device__ void meet(u32 *arrived, u32 members) {
    constexpr u32 phase = 0x10000;
    const u32 before = __hip_atomic_fetch_add(arrived, 1u, __ATOMIC_RELAXED, scope);
    if (before % phase == members - 1)
        __hip_atomic_fetch_add(arrived, phase - members, __ATOMIC_RELAXED, scope);
    else
        while (((__hip_atomic_load(arrived, __ATOMIC_RELAXED, scope) ^ before) & ~(phase - 1)) == 0)
            __builtin_amdgcn_s_sleep(1);
}

} // namespace

#define EXPORT extern "C" __device__ __attribute__((noinline))

EXPORT u64 __ockl_fprintf_stdout_begin() {
    return send(message_begin, 1, 0, 0, 0, 0, 0, 0, 0, false);
}
EXPORT u64 __ockl_fprintf_stderr_begin() {
    return send(message_begin, 1, 1, 0, 0, 0, 0, 0, 0, false);
}
EXPORT u64 __ockl_fprintf_append_args(u64 message, u32 count, u64 a, u64 b, u64 c, u64 d, u64 e,
                                      u64 f, u64 g, u32 last) {
    return send(message, count, a, b, c, d, e, f, g, last != 0);
}
EXPORT u64 __ockl_fprintf_append_string_n(u64 message, const char *text, u64 bytes, u32 last) {
    return send_text(message, text, bytes, last != 0);
}
EXPORT u64 __ockl_printf_begin(u64) { return __ockl_fprintf_stdout_begin(); }
EXPORT u64 __ockl_printf_append_args(u64 message, u32 count, u64 a, u64 b, u64 c, u64 d, u64 e,
                                     u64 f, u64 g, u32 last) {
    return send(message, count, a, b, c, d, e, f, g, last != 0);
}
EXPORT u64 __ockl_printf_append_string_n(u64 message, const char *text, u64 bytes, u32 last) {
    return send_text(message, text, bytes, last != 0);
}

EXPORT u64 __ockl_dm_alloc(u64 bytes) {
    return call_host(service_memory, 0, bytes, 0, 0, 0, 0, 0, 0).words[0];
}
EXPORT void __ockl_dm_dealloc(u64 address) {
    if (address)
        call_host(service_memory, address, 0, 0, 0, 0, 0, 0, 0);
}
EXPORT Answer __ockl_call_host_function(u64 function, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f,
                                        u64 g) {
    return call_host(service_function, function, a, b, c, d, e, f, g);
}

// A record's bytes in the printf buffer: {used, size} and records; null when it is full.
EXPORT char *__printf_alloc(u32 bytes) {
    auto *const head = implicit_pointer<u32>(printf_buffer);
    u32 used = __hip_atomic_load(head, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
    do
        if (u64{used} + bytes + 8 > head[1])
            return nullptr;
    while (!__hip_atomic_compare_exchange_strong(head, &used, used + bytes, __ATOMIC_RELAXED,
                                                 __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT));
    return reinterpret_cast<char *>(head + 2) + used;
}

EXPORT bool __ockl_grid_is_valid() { return implicit_pointer<GridSync>(multigrid_sync_arg); }

EXPORT void __ockl_grid_sync() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
    __builtin_amdgcn_s_barrier();
    auto *const sync = implicit_pointer<GridSync>(multigrid_sync_arg);
    if (is_first_item())
        meet<__HIP_MEMORY_SCOPE_AGENT>(&sync->arrived, sync->groups);
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent");
}

// ---- the grids of several devices: each by itself, their first workgroups, each by itself again

EXPORT u32 __ockl_multi_grid_num_grids() {
    return implicit_pointer<GridSync>(multigrid_sync_arg)->grids;
}
EXPORT u32 __ockl_multi_grid_grid_rank() {
    return implicit_pointer<GridSync>(multigrid_sync_arg)->grid;
}
EXPORT u32 __ockl_multi_grid_size() {
    return static_cast<u32>(implicit_pointer<GridSync>(multigrid_sync_arg)->items);
}
EXPORT bool __ockl_multi_grid_is_valid() {
    auto *const sync = implicit_pointer<GridSync>(multigrid_sync_arg);
    return sync && sync->grids > 0;
}

EXPORT void __ockl_multi_grid_sync() {
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
    __builtin_amdgcn_s_barrier();
    auto *const sync = implicit_pointer<GridSync>(multigrid_sync_arg);
    if (is_first_item()) {
        meet<__HIP_MEMORY_SCOPE_AGENT>(&sync->arrived, sync->groups);
        if (!(__builtin_amdgcn_workgroup_id_x() | __builtin_amdgcn_workgroup_id_y() |
              __builtin_amdgcn_workgroup_id_z()))
            meet<__HIP_MEMORY_SCOPE_SYSTEM>(reinterpret_cast<u32 *>(sync->all_grids), sync->grids);
        meet<__HIP_MEMORY_SCOPE_AGENT>(&sync->arrived, sync->groups);
    }
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "");
}
