// SPDX-License-Identifier: MIT
// Streams that wait for a word in memory, or write one.
#include <atomic>
#include <chrono>
#include <thread>

#include "sim/hip/capture.h"

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

template <class Word> static std::shared_ptr<Stream> check(hipStream_t handle, void *pointer) {
    const auto stream = runtime().stream(handle);
    require(pointer && reinterpret_cast<u64>(pointer) % sizeof(Word) == 0, hipErrorInvalidValue);
    require(runtime().blocks.left(pointer) >= sizeof(Word), hipErrorInvalidValue);
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
            const std::atomic_ref<Word> word(*static_cast<Word *>(pointer));
            // Until then, or until the process ends and nobody will write it any more.
            while (!met(word.load(std::memory_order_acquire), value, mask, condition) &&
                   Runtime::if_running())
                std::this_thread::sleep_for(std::chrono::microseconds(20));
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
            std::atomic_ref<Word>(*static_cast<Word *>(pointer))
                .store(value, std::memory_order_release);
            return hipSuccess;
        });
    });
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

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
