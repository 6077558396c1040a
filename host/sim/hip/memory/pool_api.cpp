// SPDX-License-Identifier: MIT
#include "sim/hip/memory/pool.h"

#include "sim/hip/graph/capture.h"
#include "sim/hip/graph/graph_memory.h"
#include "sim/hip/memory/allocate.h"

namespace nw::hipsim {

static std::shared_ptr<Pool> find_pool(hipMemPool_t handle) {
    auto pool = runtime().pools.find(handle);
    require(pool != nullptr, hipErrorInvalidValue);
    return pool;
}

static hipMemPool_t handle_of(const std::shared_ptr<Pool> &pool) {
    return reinterpret_cast<hipMemPool_t>(pool.get());
}

static void *allocate_from(Device &device, u64 bytes, std::shared_ptr<Pool> pool,
                           const std::shared_ptr<Stream> &stream) {
    const Block wanted{.size = bytes,
                       .kind = Block::Kind::device,
                       .device = device.ordinal,
                       .pool = pool,
                       .made_by = next_made_by()};
    if (void *const at = pool->take_spare(wanted, stream))
        return at;
    return unwritten(device, allocate_device(device, bytes, std::move(pool), wanted.made_by));
}

// While the stream captures, the memory belongs to the graph.
static void *allocate_in_order(const std::shared_ptr<Stream> &stream, u64 bytes,
                               std::shared_ptr<Pool> pool) {
    Device &device = runtime().device(pool->device);
    if (!capturing(*stream)) {
        void *const at = allocate_from(device, bytes, std::move(pool), stream);
        device.faults.mapped(reinterpret_cast<u64>(at), bytes);
        return at;
    }
    auto memory = std::make_shared<GraphMemory>(device, bytes);
    void *const at = memory->params.pointer;
    enqueue(stream, AllocateMemory{std::move(memory)});
    return at;
}

// The block becomes invalid for the caller now; kernels queued before may still use it.
static void free_in_order(const std::shared_ptr<Stream> &stream, void *pointer) {
    if (capturing(*stream) || planned_left(reinterpret_cast<u64>(pointer)) > 0)
        return enqueue(stream, FreeMemory{pointer}); // a graph's: maybe of a launch still to come
    const auto block = runtime().blocks.find(pointer);
    require(block && block->begin == reinterpret_cast<u64>(pointer) &&
                (block->kind == Block::Kind::device || block->kind == Block::Kind::managed) &&
                runtime().blocks.remove(block->begin),
            hipErrorInvalidValue);
    Device &device = runtime().device_of(*stream);
    if (!block->pool || !block->pool->keeps_spares() || block->borrowed) {
        device.submit(*stream, [block = *block] {
            return guarded("hipFreeAsync", [&] { release_storage(block); });
        });
        return;
    }
    Pool &pool = *block->pool;
    if (pool.spares.bytes() > pool.used()) // as clr: a program that never waits doesn't pile it up
        pool.spares.trim(0);
    pool.gave_back(block->size);
    device.submit(*stream, [block = *block, spare = pool.spares.add(*block, stream)] {
        return guarded("hipFreeAsync",
                       [&] { block.pool->spares.reached(*spare, block, "hipFreeAsync"); });
    });
}

static hipError_t allocate_async(const char *call, void **pointer, u64 bytes, hipStream_t handle,
                                 const hipMemPool_t *pool) {
    return api(call, [&] {
        const auto stream = runtime().stream(handle, hipErrorInvalidHandle);
        require(pointer != nullptr, hipErrorInvalidValue);
        auto source = pool ? find_pool(*pool) : runtime().device_of(*stream).pool();
        require(!source->origin, hipErrorInvalidValue); // it allocates in its own process
        *pointer = nullptr;
        if (bytes > 0)
            *pointer = allocate_in_order(stream, bytes, std::move(source));
    });
}

static void check_location(const hipMemLocation &location) {
    require(location.type == hipMemLocationTypeDevice, hipErrorInvalidValue);
    require(runtime().has_device(location.id), hipErrorInvalidValue);
}

static void set_access(Pool &pool, const hipMemAccessDesc &wish) {
    require(wish.location.type == hipMemLocationTypeDevice, hipErrorInvalidValue);
    require(runtime().has_device(wish.location.id), hipErrorInvalidDevice);
    const bool allowed =
        wish.flags == hipMemAccessFlagsProtReadWrite || wish.flags == hipMemAccessFlagsProtRead;
    const bool none = wish.flags == hipMemAccessFlagsProtNone;
    require(allowed || none, hipErrorInvalidValue);
    require(allowed || wish.location.id != pool.device,
            hipErrorInvalidDevice); // its own can't be locked out
    pool.set_readable(wish.location.id, allowed);
    for (const Block &block : runtime().blocks.of_device(pool.device))
        if (block.pool.get() == &pool)
            runtime().sharing.set_access(block, wish.location.id, allowed);
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t hipMallocAsync(void **pointer, size_t bytes, hipStream_t stream) {
    return allocate_async(__func__, pointer, bytes, stream, nullptr);
}

hipError_t hipMallocFromPoolAsync(void **pointer, size_t bytes, hipMemPool_t pool,
                                  hipStream_t stream) {
    return allocate_async(__func__, pointer, bytes, stream, &pool);
}

hipError_t hipFreeAsync(void *pointer, hipStream_t handle) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle, hipErrorInvalidHandle);
        require(pointer != nullptr, hipErrorInvalidValue);
        free_in_order(stream, pointer);
    });
}

hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t *pool, int device) {
    return api(__func__, [&] {
        runtime();
        require(pool != nullptr, hipErrorInvalidValue);
        *pool = handle_of(runtime().device(device).default_pool);
    });
}

hipError_t hipDeviceSetMemPool(int device, hipMemPool_t handle) {
    return api(__func__, [&] {
        auto pool = find_pool(handle);
        require(runtime().has_device(device) && !pool->origin, hipErrorInvalidValue);
        require(pool->device == device, hipErrorInvalidDevice);
        runtime().device(device).set_pool(std::move(pool));
    });
}

hipError_t hipDeviceGetMemPool(hipMemPool_t *pool, int device) {
    return api(__func__, [&] {
        runtime();
        require(pool && runtime().has_device(device), hipErrorInvalidValue);
        *pool = handle_of(runtime().device(device).pool());
    });
}

hipError_t hipMemPoolCreate(hipMemPool_t *pool, const hipMemPoolProps *props) {
    return api(__func__, [&] {
        runtime();
        require(pool && props, hipErrorInvalidValue);
        require(props->allocType == hipMemAllocationTypePinned, hipErrorInvalidValue);
        require(props->handleTypes == hipMemHandleTypeNone ||
                    props->handleTypes == hipMemHandleTypePosixFileDescriptor,
                hipErrorInvalidValue);
        check_location(props->location);
        u64 max_bytes = 0; // maxSize, since HIP 6, is where the reserved bytes began before
        static_assert(sizeof *props == 88);
        max_bytes = reinterpret_cast<const u64 *>(props)[3];
        *pool = runtime().pools.add(
            std::make_shared<Pool>(props->location.id, max_bytes, props->handleTypes));
    });
}

// Its memory stays valid; the pool is freed with the last allocation.
hipError_t hipMemPoolDestroy(hipMemPool_t handle) {
    return api(__func__, [&] {
        const auto pool = find_pool(handle);
        Device &device = runtime().device(pool->device);
        require(pool != device.default_pool, hipErrorInvalidValue);
        if (device.pool() == pool)
            device.set_pool(device.default_pool);
        runtime().pools.remove(handle);
        pool->spares.close();
    });
}

hipError_t hipMemPoolTrimTo(hipMemPool_t handle, size_t hold) {
    return api(__func__, [&] { find_pool(handle)->spares.trim(hold); });
}

hipError_t hipMemPoolSetAttribute(hipMemPool_t handle, hipMemPoolAttr which, void *value) {
    return api(__func__, [&] {
        const auto pool = find_pool(handle);
        require(value != nullptr, hipErrorInvalidValue);
        pool->set(which, value);
    });
}

hipError_t hipMemPoolGetAttribute(hipMemPool_t handle, hipMemPoolAttr which, void *value) {
    return api(__func__, [&] {
        const auto pool = find_pool(handle);
        require(value != nullptr, hipErrorInvalidValue);
        pool->get(which, value);
    });
}

hipError_t hipMemPoolSetAccess(hipMemPool_t handle, const hipMemAccessDesc *wishes, size_t count) {
    return api(__func__, [&] {
        const auto pool = find_pool(handle);
        require(wishes && count > 0, hipErrorInvalidValue);
        require(count <= static_cast<size_t>(runtime().device_count()), hipErrorInvalidDevice);
        for (size_t i = 0; i < count; ++i)
            set_access(*pool, wishes[i]);
    });
}

hipError_t hipMemPoolGetAccess(hipMemAccessFlags *flags, hipMemPool_t handle,
                               hipMemLocation *location) {
    return api(__func__, [&] {
        const auto pool = find_pool(handle);
        require(flags && location, hipErrorInvalidValue);
        check_location(*location);
        const int accessor = location->id;
        *flags = accessor == pool->device || pool->readable_by(accessor)
                     ? hipMemAccessFlagsProtReadWrite
                     : hipMemAccessFlagsProtNone;
    });
}
}
