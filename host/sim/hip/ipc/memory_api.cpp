// SPDX-License-Identifier: MIT
// Memory of other processes.
#include <unistd.h>

#include "sim/hip/graph/capture.h"
#include "sim/hip/ipc/shared_memory.h"

using namespace nw::hipsim;

extern "C" {

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t *handle, void *pointer) {
    return api(__func__, [&] {
        runtime();
        require(handle && pointer, hipErrorInvalidValue);
        *handle = pack<hipIpcMemHandle_t>(export_memory(pointer));
    });
}

hipError_t hipIpcOpenMemHandle(void **pointer, hipIpcMemHandle_t handle, unsigned flags) {
    return api(__func__, [&] {
        runtime();
        // hipIpcMemLazyEnablePeerAccess is 0 in the headers of HIP 5, 1 in later ones.
        require(pointer && flags <= 1, hipErrorInvalidValue);
        forbid_in_capture();
        const auto theirs = unpack<MemoryHandle>(handle);
        require(theirs.mark == MemoryHandle::right_mark, hipErrorInvalidValue);
        if (theirs.file.process == getpid())
            fail(hipErrorInvalidContext, "the handle is this process's own");
        *pointer = imports().open(theirs);
    });
}

hipError_t hipIpcCloseMemHandle(void *pointer) {
    return api(__func__, [&] {
        runtime();
        require(pointer != nullptr, hipErrorInvalidValue);
        forbid_in_capture();
        imports().close(pointer);
    });
}
}
