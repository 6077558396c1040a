// SPDX-License-Identifier: MIT
// Functions of the host that run in a stream's order.
#include "sim/hip/graph/capture.h"

using namespace nw::hipsim;

extern "C" {

hipError_t hipLaunchHostFunc(hipStream_t stream, hipHostFn_t function, void *data) {
    return api(__func__, [&] {
        const auto target = runtime().stream(stream);
        require(function != nullptr, hipErrorInvalidValue);
        enqueue(target, HostCall{function, data});
    });
}

// The older form: the callback also receives the stream's error, so it can't be a graph node.
hipError_t hipStreamAddCallback(hipStream_t handle, hipStreamCallback_t function, void *data,
                                unsigned flags) {
    return api(__func__, [&] {
        const auto stream = runtime().stream(handle);
        require(function && flags == 0, hipErrorInvalidValue);
        if (capturing(*stream))
            forbid_wait_in_capture(*stream);       // hipErrorStreamCaptureUnsupported
        const std::weak_ptr<Stream> weak = stream; // the queue must not own its stream
        Device &device = runtime().device_of(*stream);
        const auto call = [=] {
            const auto alive = weak.lock();
            const InCallback here;
            function(handle, alive ? alive->peek_error() : hipSuccess, data);
            return hipSuccess;
        };
        device.submit(*stream, call, waiting_for_host(device));
    });
}
}
