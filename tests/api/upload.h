/* SPDX-License-Identifier: MIT */
/* A copy to the device by way of pinned memory: of small copies from other memory HIP loses some on
 * gfx11, without an error (isa_notes/A-031). */
#ifndef UPLOAD_H
#define UPLOAD_H
#include <string.h>

static inline hipError_t upload(void *to, const void *from, size_t bytes) {
    void *pinned = NULL;
    hipError_t error = hipHostMalloc(&pinned, bytes, hipHostMallocCoherent);
    if (error != hipSuccess)
        return error;
    memcpy(pinned, from, bytes);
    error = hipMemcpy(to, pinned, bytes, hipMemcpyHostToDevice);
    (void)hipHostFree(pinned);
    return error;
}

#endif
