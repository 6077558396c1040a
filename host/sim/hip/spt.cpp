// SPDX-License-Identifier: MIT
// Entry points of programs compiled for a default stream per thread: `hipX_spt` is `hipX` with the
// null stream replaced by the thread's own.
#include "sim/hip/graph/capture.h"
#include "sim/hip/launch/kernel_call.h"
#include "sim/hip/module/symbols.h"

namespace nw::hipsim {

static hipStream_t own(hipStream_t stream) {
    const hipStream_t legacy = reinterpret_cast<hipStream_t>(1);
    return stream && stream != legacy ? stream : hipStreamPerThread;
}

// hipX_spt(args..., stream), declared as hipX is.
#define WITH_OWN_STREAM(name, params, args)                                                        \
    hipError_t name##_own params asm(#name "_spt");                                                \
    hipError_t name##_own params { return name args; }

template <class Make> static hipError_t copy_own(const char *call, Make &&make) {
    return api(call, [&] {
        runtime();
        return copy_now(hipStreamPerThread, make());
    });
}

template <class Make> static hipError_t fill_own(const char *call, Make &&make) {
    return api(call, [&] {
        const auto stream = runtime().stream(hipStreamPerThread);
        forbid_synchronous_in_capture();
        const Fill fill = make();
        if (fill.empty())
            return hipSuccess;
        return fill_now(*stream, fill);
    });
}

} // namespace nw::hipsim

using namespace nw;
using namespace nw::hipsim;

extern "C" {
// clang-format off
WITH_OWN_STREAM(hipMemcpyAsync, (void *to, const void *from, size_t bytes, hipMemcpyKind kind, hipStream_t s),
                (to, from, bytes, kind, own(s)))
WITH_OWN_STREAM(hipMemcpy2DAsync, (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                                   size_t height, hipMemcpyKind kind, hipStream_t s),
                (to, to_pitch, from, from_pitch, width, height, kind, own(s)))
WITH_OWN_STREAM(hipMemcpy3DAsync, (const hipMemcpy3DParms *params, hipStream_t s), (params, own(s)))
WITH_OWN_STREAM(hipMemcpyToSymbolAsync, (const void *symbol, const void *from, size_t bytes, size_t offset,
                                         hipMemcpyKind kind, hipStream_t s),
                (symbol, from, bytes, offset, kind, own(s)))
WITH_OWN_STREAM(hipMemcpyFromSymbolAsync, (void *to, const void *symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind, hipStream_t s),
                (to, symbol, bytes, offset, kind, own(s)))
WITH_OWN_STREAM(hipMemsetAsync, (void *to, int value, size_t bytes, hipStream_t s), (to, value, bytes, own(s)))
WITH_OWN_STREAM(hipMemset2DAsync, (void *to, size_t pitch, int value, size_t width, size_t height, hipStream_t s),
                (to, pitch, value, width, height, own(s)))
WITH_OWN_STREAM(hipMemset3DAsync, (hipPitchedPtr to, int value, hipExtent extent, hipStream_t s),
                (to, value, extent, own(s)))
WITH_OWN_STREAM(hipStreamSynchronize, (hipStream_t s), (own(s)))
WITH_OWN_STREAM(hipStreamQuery, (hipStream_t s), (own(s)))
WITH_OWN_STREAM(hipStreamGetFlags, (hipStream_t s, unsigned *flags), (own(s), flags))
WITH_OWN_STREAM(hipStreamGetPriority, (hipStream_t s, int *priority), (own(s), priority))
WITH_OWN_STREAM(hipStreamWaitEvent, (hipStream_t s, hipEvent_t event, unsigned flags), (own(s), event, flags))
WITH_OWN_STREAM(hipEventRecord, (hipEvent_t event, hipStream_t s), (event, own(s)))
WITH_OWN_STREAM(hipStreamAddCallback, (hipStream_t s, hipStreamCallback_t function, void *data, unsigned flags),
                (own(s), function, data, flags))
WITH_OWN_STREAM(hipLaunchHostFunc, (hipStream_t s, hipHostFn_t function, void *data), (own(s), function, data))
WITH_OWN_STREAM(hipLaunchKernel, (const void *function, dim3 grid, dim3 block, void **params, size_t dynamic_lds,
                                  hipStream_t s),
                (function, grid, block, params, dynamic_lds, own(s)))
WITH_OWN_STREAM(hipLaunchCooperativeKernel, (const void *function, dim3 grid, dim3 block, void **params,
                                             unsigned dynamic_lds, hipStream_t s),
                (function, grid, block, params, dynamic_lds, own(s)))
WITH_OWN_STREAM(hipGraphLaunch, (hipGraphExec_t exec, hipStream_t s), (exec, own(s)))
WITH_OWN_STREAM(hipStreamBeginCapture, (hipStream_t s, hipStreamCaptureMode mode), (own(s), mode))
WITH_OWN_STREAM(hipStreamEndCapture, (hipStream_t s, hipGraph_t *graph), (own(s), graph))
WITH_OWN_STREAM(hipStreamIsCapturing, (hipStream_t s, hipStreamCaptureStatus *status), (own(s), status))
WITH_OWN_STREAM(hipStreamGetCaptureInfo, (hipStream_t s, hipStreamCaptureStatus *status, unsigned long long *id),
                (own(s), status, id))
WITH_OWN_STREAM(hipStreamGetCaptureInfo_v2, (hipStream_t s, hipStreamCaptureStatus *status, unsigned long long *id,
                                             hipGraph_t *graph, const hipGraphNode_t **nodes, size_t *count),
                (own(s), status, id, graph, nodes, count))
// clang-format on

// Functions without a stream argument.

hipError_t copy_spt(void *to, const void *from, size_t bytes,
                    hipMemcpyKind kind) asm("hipMemcpy_spt");
hipError_t copy_spt(void *to, const void *from, size_t bytes, hipMemcpyKind kind) {
    return copy_own("hipMemcpy_spt", [&] { return linear_copy(to, from, bytes, kind); });
}

hipError_t rows_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, hipMemcpyKind kind) asm("hipMemcpy2D_spt");
hipError_t rows_spt(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, hipMemcpyKind kind) {
    return copy_own("hipMemcpy2D_spt",
                    [&] { return rows_copy(to, to_pitch, from, from_pitch, width, height, kind); });
}

hipError_t box_spt(const hipMemcpy3DParms *params) asm("hipMemcpy3D_spt");
hipError_t box_spt(const hipMemcpy3DParms *params) {
    return copy_own("hipMemcpy3D_spt", [&] {
        require(params != nullptr, hipErrorInvalidValue);
        return box_copy(*params);
    });
}

hipError_t to_symbol_spt(const void *symbol, const void *from, size_t bytes, size_t offset,
                         hipMemcpyKind kind) asm("hipMemcpyToSymbol_spt");
hipError_t to_symbol_spt(const void *symbol, const void *from, size_t bytes, size_t offset,
                         hipMemcpyKind kind) {
    return copy_own("hipMemcpyToSymbol_spt",
                    [&] { return copy_to_symbol(symbol, from, bytes, offset, kind); });
}

hipError_t from_symbol_spt(void *to, const void *symbol, size_t bytes, size_t offset,
                           hipMemcpyKind kind) asm("hipMemcpyFromSymbol_spt");
hipError_t from_symbol_spt(void *to, const void *symbol, size_t bytes, size_t offset,
                           hipMemcpyKind kind) {
    return copy_own("hipMemcpyFromSymbol_spt",
                    [&] { return copy_from_symbol(to, symbol, bytes, offset, kind); });
}

hipError_t fill_spt(void *to, int value, size_t bytes) asm("hipMemset_spt");
hipError_t fill_spt(void *to, int value, size_t bytes) {
    return fill_own("hipMemset_spt",
                    [&] { return linear_fill(to, 1, static_cast<u8>(value), bytes); });
}

hipError_t fill_rows_spt(void *to, size_t pitch, int value, size_t width,
                         size_t height) asm("hipMemset2D_spt");
hipError_t fill_rows_spt(void *to, size_t pitch, int value, size_t width, size_t height) {
    return fill_own("hipMemset2D_spt",
                    [&] { return rows_fill(to, pitch, 1, static_cast<u8>(value), width, height); });
}

hipError_t fill_box_spt(hipPitchedPtr to, int value, hipExtent extent) asm("hipMemset3D_spt");
hipError_t fill_box_spt(hipPitchedPtr to, int value, hipExtent extent) {
    return fill_own("hipMemset3D_spt",
                    [&] { return box_fill(to, static_cast<u8>(value), extent); });
}
}
