// SPDX-License-Identifier: MIT
// Streams that wait for a word in memory, or write one.
#include <atomic>
#include <chrono>
#include <thread>

#include "sim/hip/copy/copy.h"
#include "sim/hip/copy/word_ops.h"
#include "sim/hip/graph/capture.h"

namespace nw::hipsim {

template <class Word> static bool met(Word now, Word value, Word mask, unsigned condition) {
    switch (condition) {
    case hipStreamWaitValueGte:
        return std::make_signed_t<Word>((now & mask) - (value & mask)) >= 0;
    case hipStreamWaitValueEq:
        return (now & mask) == (value & mask);
    case hipStreamWaitValueAnd:
        return (now & mask & value) != 0;
    default:
        return (~(now | value) & mask) != 0; // hipStreamWaitValueNor
    }
}

template <class Word> static void check_word(void *pointer) {
    require(pointer && reinterpret_cast<u64>(pointer) % sizeof(Word) == 0, hipErrorInvalidValue);
    require(runtime().blocks.left(pointer) >= sizeof(Word), hipErrorInvalidValue);
}

// Until then, or until the process ends and nobody will write it any more.
template <class Word> static void await(void *pointer, Word value, Word mask, unsigned condition) {
    const std::atomic_ref<Word> word(*static_cast<Word *>(pointer));
    while (!met(word.load(std::memory_order_acquire), value, mask, condition) &&
           Runtime::if_running())
        std::this_thread::sleep_for(std::chrono::microseconds(20));
}

template <class Word> static void store(void *pointer, Word value) {
    std::atomic_ref<Word>(*static_cast<Word *>(pointer)).store(value, std::memory_order_release);
    tell_copied(reinterpret_cast<u64>(pointer), 0, sizeof(Word));
}

template <class Word> static std::shared_ptr<Stream> check(hipStream_t handle, void *pointer) {
    const auto stream = runtime().stream(handle);
    check_word<Word>(pointer);
    if (capturing(*stream))
        forbid_wait_in_capture(*stream); // hipErrorStreamCaptureUnsupported
    return stream;
}

template <class Word>
static hipError_t wait_for(const char *call, hipStream_t handle, void *pointer, Word value,
                           unsigned condition, Word mask) {
    return api(call, [&] {
        const auto stream = check<Word>(handle, pointer);
        require(condition <= hipStreamWaitValueNor, hipErrorInvalidValue);
        Device &device = runtime().device_of(*stream);
        const auto wait = [=] {
            await(pointer, value, mask, condition);
            return hipSuccess;
        };
        device.submit(*stream, wait, waiting_for_host(device));
    });
}

template <class Word>
static hipError_t write(const char *call, hipStream_t handle, void *pointer, Word value,
                        unsigned flags) {
    return api(call, [&] {
        const auto stream = check<Word>(handle, pointer);
        require(flags == 0, hipErrorInvalidValue);
        runtime().device_of(*stream).submit(*stream, [=] {
            store(pointer, value);
            return hipSuccess;
        });
    });
}

static void check(const MemoryOp &op) {
    switch (op.type) {
    case MemoryOp::wait32:
    case MemoryOp::write32:
        check_word<u32>(op.address);
        break;
    case MemoryOp::wait64:
    case MemoryOp::write64:
        check_word<u64>(op.address);
        break;
    default: // barriers and flushes, which AMD doesn't support
        fail(hipErrorInvalidValue);
    }
    require(op.flags <= (op.waits() ? hipStreamWaitValueNor : 0), hipErrorInvalidValue);
}

MemoryOps memory_ops(const MemoryOpsParams *params) {
    constexpr u32 most = 256;
    require(params && params->ops && params->count > 0 && params->count <= most &&
                params->flags == 0,
            hipErrorInvalidValue);
    for (u32 i = 0; i < params->count; ++i)
        check(params->ops[i]);
    return {{params->ops, params->ops + params->count}, params->context};
}

hipError_t MemoryOps::run() const noexcept {
    for (const MemoryOp &op : all)
        switch (op.type) {
        case MemoryOp::wait32:
            await<u32>(op.address, static_cast<u32>(op.value), ~u32{0}, op.flags);
            break;
        case MemoryOp::write32:
            store(op.address, static_cast<u32>(op.value));
            break;
        case MemoryOp::wait64:
            await<u64>(op.address, op.value, ~u64{0}, op.flags);
            break;
        default:
            store(op.address, op.value);
        }
    return hipSuccess;
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {

hipError_t batch_ops(hipStream_t stream, u32 count, MemoryOp *ops,
                     u32 flags) asm("hipStreamBatchMemOp");
hipError_t batch_ops(hipStream_t handle, u32 count, MemoryOp *ops, u32 flags) {
    return api("hipStreamBatchMemOp", [&] {
        const auto stream = runtime().stream(handle);
        const MemoryOpsParams params{nullptr, count, ops, flags};
        enqueue(stream, memory_ops(&params));
    });
}

hipError_t hipStreamWaitValue32(hipStream_t stream, void *pointer, uint32_t value, unsigned flags,
                                uint32_t mask) {
    return wait_for(__func__, stream, pointer, value, flags, mask);
}

hipError_t hipStreamWaitValue64(hipStream_t stream, void *pointer, uint64_t value, unsigned flags,
                                uint64_t mask) {
    return wait_for(__func__, stream, pointer, value, flags, mask);
}

hipError_t hipStreamWriteValue32(hipStream_t stream, void *pointer, uint32_t value,
                                 unsigned flags) {
    return write(__func__, stream, pointer, value, flags);
}

hipError_t hipStreamWriteValue64(hipStream_t stream, void *pointer, uint64_t value,
                                 unsigned flags) {
    return write(__func__, stream, pointer, value, flags);
}
}
