// SPDX-License-Identifier: MIT
// hipLink*, since HIP 6.4: hiprtc's linker under names of the runtime.
#include "sim/hip/error.h"

extern "C" {
int hiprtcLinkCreate(unsigned count, int *options, void **values, void **link);
int hiprtcLinkAddFile(void *link, int type, const char *path, unsigned count, int *options,
                      void **values);
int hiprtcLinkAddData(void *link, int type, void *bytes, size_t size, const char *name,
                      unsigned count, int *options, void **values);
int hiprtcLinkComplete(void *link, void **code, size_t *bytes);
int hiprtcLinkDestroy(void *link);
}

namespace nw::hipsim {

static hipError_t link_call(const char *call, int result) {
    constexpr int none = 0, memory = 1, internal = 11, linking = 100; // hiprtcResult
    return api(call, [&] {
        switch (result) {
        case none:
            return hipSuccess;
        case memory:
            return hipErrorOutOfMemory;
        case internal:
            return hipErrorNotSupported; // no libhiprtc.so, or no clang
        case linking:
            return hipErrorInvalidImage;
        default:
            return hipErrorInvalidValue;
        }
    });
}

} // namespace nw::hipsim

using nw::hipsim::link_call;

extern "C" {

hipError_t hipLinkCreate(unsigned count, int *options, void **values, void **link) {
    return link_call(__func__, hiprtcLinkCreate(count, options, values, link));
}
hipError_t hipLinkAddData(void *link, int type, void *bytes, size_t size, const char *name,
                          unsigned count, int *options, void **values) {
    return link_call(__func__,
                     hiprtcLinkAddData(link, type, bytes, size, name, count, options, values));
}
hipError_t hipLinkAddFile(void *link, int type, const char *path, unsigned count, int *options,
                          void **values) {
    return link_call(__func__, hiprtcLinkAddFile(link, type, path, count, options, values));
}
hipError_t hipLinkComplete(void *link, void **code, size_t *bytes) {
    return link_call(__func__, hiprtcLinkComplete(link, code, bytes));
}
hipError_t hipLinkDestroy(void *link) { return link_call(__func__, hiprtcLinkDestroy(link)); }
}
