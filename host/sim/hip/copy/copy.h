// SPDX-License-Identifier: MIT
// Copies of all shapes. A device address is a host address, so kinds of copies differ only in their
// checks.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "base/types.h"
#include "sim/hip/headers.h"

namespace nw::hipsim {

// `depth` slices of `height` rows of `width` bytes.
struct Copy {
    struct Side {
        u64 at = 0;
        u64 pitch = 0;        // bytes from row to row
        u64 slice = 0;        // bytes from slice to slice
        u64 base = 0;         // an address of the memory that it belongs to; 0: `at`
        bool known = false;   // our allocation; anything else is the caller's pageable memory
        bool planned = false; // of a graph, not there yet: it must be when the copy runs
    };
    Side to, from;
    u64 width = 0, height = 1, depth = 1;
    hipMemcpy3DParms params{}; // the same, for hipGraphMemcpyNodeGetParams
    // The HIP_MEMCPY3D that it was made from, if any, for hipDrvGraphMemcpyNodeGetParams.
    std::shared_ptr<const std::vector<std::byte>> driver = nullptr;

    std::shared_ptr<const std::vector<std::byte>> staging = nullptr; // where `from` is, if anywhere

    bool empty() const { return width == 0 || height == 0 || depth == 0; }
    bool pageable() const { return !to.known || !from.known; }
    hipError_t run() const noexcept;
};

// Device memory: for fills of it and copies within it the host doesn't wait, unless
// HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS is set. It matters where earlier work still runs.
bool stays_on_device(u64 address);

// Tells the initialisation check that these bytes are there now, out of `from`; 0: out of a value.
void tell_copied(u64 to, u64 from, u64 bytes);

// Checked copies; they fail with the codes of real HIP. An empty one needs no pointers.
Copy linear_copy(void *to, const void *from, u64 bytes, hipMemcpyKind kind);
Copy rows_copy(void *to, u64 to_pitch, const void *from, u64 from_pitch, u64 width, u64 height,
               hipMemcpyKind kind);
Copy box_copy(const hipMemcpy3DParms &params);
Copy box_copy(Copy::Side to, Copy::Side from, hipExtent extent, hipMemcpyKind kind);
// The driver API's forms. HIP_MEMCPY3D is wider since ROCm 6: its layout depends on the host.
Copy driver_rows_copy(const hip_Memcpy2D *params);
Copy driver_box_copy(const HIP_MEMCPY3D *params);

// Runs it in order with the stream and returns when it is done; queues it (or captures it).
hipError_t copy_now(hipStream_t stream, const Copy &copy);
hipError_t copy_in_order(hipStream_t stream, const Copy &copy);

} // namespace nw::hipsim
