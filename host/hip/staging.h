// SPDX-License-Identifier: MIT
// The only way from pageable memory of the host to a device: through pinned, coherent memory of
// our own. HIP's own staging loses copies on gfx11, and so would any caller that passes by;
// tests/rules/test_copies.py refuses other copies to the device in host/ and bench/.
// For libnibblewave and for plug-ins of engines: it needs HIP's headers alone.
#pragma once
#ifndef __HIP_PLATFORM_AMD__
#define __HIP_PLATFORM_AMD__ 1
#endif
#define __HIP_DISABLE_CPP_FUNCTIONS__ 1 // overloads would make decltype(&hipMalloc) ambiguous
#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace nw::hip {

// `Calls` has HIP's functions as members. One thread at a time; the device must be current.
template <class Calls> class Staging {
public:
    explicit Staging(const Calls &call) : call_(call) {}
    Staging(const Staging &) = delete;
    Staging &operator=(const Staging &) = delete;

    // Copies in order with the null stream. The bytes are on the device when it returns.
    hipError_t upload(void *to, const void *from, std::size_t bytes) {
        for (std::size_t done = 0; done < bytes;) {
            if (const hipError_t error = allocate(); error != hipSuccess)
                return error;
            const std::size_t part = std::min(bytes - done, piece_bytes);
            std::memcpy(memory_, static_cast<const char *>(from) + done, part);
            if (const hipError_t error = call_.hipMemcpy(static_cast<char *>(to) + done, memory_,
                                                         part, hipMemcpyHostToDevice);
                error != hipSuccess)
                return error;
            done += part;
        }
        return hipSuccess;
    }

    // Queues copies on the stream, the same at each call. The caller may change the source as soon
    // as this returns.
    hipError_t queue(void *to, const void *from, std::size_t bytes, hipStream_t stream) {
        for (std::size_t done = 0; done < bytes;) {
            if (const hipError_t error = make_room(stream); error != hipSuccess)
                return error;
            Piece &piece = pieces_[current_];
            const std::size_t part = std::min(bytes - done, piece_bytes - piece.used);
            char *const slot = memory_ + current_ * piece_bytes + piece.used;
            std::memcpy(slot, static_cast<const char *>(from) + done, part);
            if (const hipError_t error = call_.hipMemcpyAsync(static_cast<char *>(to) + done, slot,
                                                              part, hipMemcpyHostToDevice, stream);
                error != hipSuccess)
                return error;
            done += part;
            piece.used = (piece.used + part + line - 1) / line * line;
        }
        return hipSuccess;
    }

    // Once nothing is queued. Without it the memory stays until the process ends.
    void release() {
        for (Piece &piece : pieces_) {
            if (piece.left)
                static_cast<void>(call_.hipEventDestroy(piece.left));
            piece = {};
        }
        if (memory_)
            static_cast<void>(call_.hipHostFree(memory_));
        memory_ = nullptr;
    }

private:
    static constexpr std::size_t piece_bytes = std::size_t{2} << 20;
    static constexpr std::size_t line = 256; // copies share no cache line of any GPU

    struct Piece {
        std::size_t used = 0;
        hipEvent_t left = nullptr; // recorded after its last copy
    };

    hipError_t allocate() {
        if (memory_)
            return hipSuccess;
        void *memory = nullptr;
        const hipError_t error = call_.hipHostMalloc(&memory, 2 * piece_bytes,
                                                     hipHostMallocPortable | hipHostMallocCoherent);
        memory_ = static_cast<char *>(memory);
        return error;
    }

    // The two pieces alternate: the host fills one while the device reads the other.
    hipError_t make_room(hipStream_t stream) {
        if (const hipError_t error = allocate(); error != hipSuccess)
            return error;
        Piece &full = pieces_[current_];
        if (full.used < piece_bytes)
            return hipSuccess;
        hipError_t error = full.left ? hipSuccess : call_.hipEventCreate(&full.left);
        if (error == hipSuccess)
            error = call_.hipEventRecord(full.left, stream);
        current_ = 1 - current_;
        Piece &next = pieces_[current_];
        if (error == hipSuccess && next.left)
            error = call_.hipEventSynchronize(next.left);
        next.used = 0;
        return error;
    }

    const Calls &call_;
    char *memory_ = nullptr; // of both pieces
    Piece pieces_[2];
    unsigned current_ = 0;
};

} // namespace nw::hip
