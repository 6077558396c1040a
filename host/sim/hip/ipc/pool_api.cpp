// SPDX-License-Identifier: MIT
// Pools of other processes: a file descriptor names the pool, export data names its allocations.
#include <unistd.h>

#include "sim/hip/copy/host_copy.h"
#include "sim/hip/ipc/shared_memory.h"
#include "sim/hip/runtime.h"

namespace nw::hipsim {

// The contents of a pool's shareable file.
struct PoolRecord {
    static constexpr u64 right_mark = 0x6c6f6f70636970;
    u64 mark = right_mark;
    Pool::Origin origin;
};

static std::shared_ptr<Pool> live_pool(hipMemPool_t handle) {
    auto pool = runtime().pools.find(handle);
    require(pool != nullptr, hipErrorInvalidValue);
    return pool;
}

static Pool::Origin read_record(int descriptor) {
    PoolRecord record;
    const bool whole = pread(descriptor, &record, sizeof record, 0) == sizeof record;
    if (!whole || record.mark != PoolRecord::right_mark)
        fail(hipErrorInvalidValue, "the descriptor isn't that of a memory pool");
    return record.origin;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

// The caller closes the descriptor.
hipError_t hipMemPoolExportToShareableHandle(void *shared, hipMemPool_t handle,
                                             hipMemAllocationHandleType type, unsigned flags) {
    return api(__func__, [&] {
        runtime();
        require(shared && flags == 0, hipErrorInvalidValue);
        const auto pool = live_pool(handle);
        require(type == hipMemHandleTypePosixFileDescriptor && type == pool->handle_type &&
                    !pool->origin,
                hipErrorInvalidValue);
        const SharedFile file(sizeof(PoolRecord));
        const PoolRecord record{.origin = {getpid(), reinterpret_cast<nw::u64>(pool.get())}};
        require(pwrite(file.descriptor(), &record, sizeof record, 0) == sizeof record,
                hipErrorOutOfMemory);
        const int descriptor = dup(file.descriptor());
        require(descriptor >= 0, hipErrorOutOfMemory);
        *static_cast<int *>(shared) = descriptor;
    });
}

hipError_t hipMemPoolImportFromShareableHandle(hipMemPool_t *handle, void *shared,
                                               hipMemAllocationHandleType type, unsigned flags) {
    return api(__func__, [&] {
        runtime();
        require(handle && shared && flags == 0 && type == hipMemHandleTypePosixFileDescriptor,
                hipErrorInvalidValue);
        const Pool::Origin origin = read_record(descriptor_of(shared));
        *handle = runtime().pools.add(
            std::make_shared<Pool>(runtime().current_device().ordinal, 0, type, origin));
    });
}

hipError_t hipMemPoolExportPointer(hipMemPoolPtrExportData *data, void *pointer) {
    return api(__func__, [&] {
        runtime();
        require(data && pointer, hipErrorInvalidValue);
        const auto block = runtime().blocks.find(pointer);
        require(block && block->pool && block->pool->handle_type != hipMemHandleTypeNone,
                hipErrorInvalidValue);
        *data = pack<hipMemPoolPtrExportData>(export_memory(pointer));
    });
}

// Freed by hipFree or hipFreeAsync.
hipError_t hipMemPoolImportPointer(void **pointer, hipMemPool_t handle,
                                   hipMemPoolPtrExportData *data) {
    return api(__func__, [&] {
        runtime();
        require(pointer && data, hipErrorInvalidValue);
        const auto pool = live_pool(handle);
        const auto theirs = unpack<MemoryHandle>(*data);
        require(pool->origin == Pool::Origin{theirs.file.process, theirs.pool},
                hipErrorInvalidValue);
        *pointer = imports().add(theirs, pool);
    });
}
}
