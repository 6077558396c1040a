// SPDX-License-Identifier: MIT
// Events of other processes.
#include "sim/hip/ipc/shared_event.h"
#include "sim/hip/runtime.h"

using namespace nw::hipsim;

extern "C" {

hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t *handle, hipEvent_t event_handle) {
    return api(__func__, [&] {
        runtime();
        require(handle && event_handle, hipErrorInvalidValue);
        const auto event = runtime().event(event_handle);
        require(event->shared != nullptr, hipErrorInvalidConfiguration);
        *handle = pack<hipIpcEventHandle_t>(event->shared->handle());
    });
}

hipError_t hipIpcOpenEventHandle(hipEvent_t *event_handle, hipIpcEventHandle_t handle) {
    return api(__func__, [&] {
        runtime();
        require(event_handle != nullptr, hipErrorInvalidValue);
        auto event = std::make_shared<Event>();
        event->shared = std::make_shared<SharedEvent>(unpack<EventHandle>(handle));
        event->flags = hipEventDisableTiming | hipEventInterprocess;
        event->device = runtime().current_ordinal();
        *event_handle = runtime().events.add(std::move(event));
    });
}
}
