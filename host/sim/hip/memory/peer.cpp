// SPDX-License-Identifier: MIT
// Peer access between devices.
#include "sim/hip/runtime.h"

namespace nw::hipsim {

static void enable(int accessor, int owner, unsigned flags) {
    runtime().device(owner);
    require(flags == 0, hipErrorInvalidValue);
    require(accessor != owner, hipErrorInvalidDevice);
    require(runtime().sharing.enable_peer(accessor, owner), hipErrorPeerAccessAlreadyEnabled);
}

static void disable(int accessor, int owner) {
    runtime().device(owner);
    runtime().wait(); // kernels may still use it
    require(runtime().sharing.disable_peer(accessor, owner), hipErrorPeerAccessNotEnabled);
}

static int ordinal_of(hipCtx_t context) {
    Device *const device = runtime().device_of(context);
    require(device != nullptr, hipErrorInvalidContext);
    return device->ordinal;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

hipError_t hipDeviceCanAccessPeer(int *can, int device, int peer) {
    return api(__func__, [&] {
        runtime();
        require(can != nullptr, hipErrorInvalidValue);
        runtime().device(device);
        runtime().device(peer);
        *can = device != peer;
    });
}

hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
    return api(__func__, [&] { enable(runtime().current_ordinal(), peer, flags); });
}

hipError_t hipDeviceDisablePeerAccess(int peer) {
    return api(__func__, [&] { disable(runtime().current_ordinal(), peer); });
}

hipError_t hipCtxEnablePeerAccess(hipCtx_t peer, unsigned flags) {
    return api(__func__, [&] { enable(runtime().current_ordinal(), ordinal_of(peer), flags); });
}

hipError_t hipCtxDisablePeerAccess(hipCtx_t peer) {
    return api(__func__, [&] { disable(runtime().current_ordinal(), ordinal_of(peer)); });
}

hipError_t hipDeviceGetP2PAttribute(int *value, hipDeviceP2PAttr which, int source,
                                    int destination) {
    return api(__func__, [&] {
        runtime();
        require(value && source != destination, hipErrorInvalidValue);
        runtime().device(source);
        runtime().device(destination);
        switch (which) {
        case hipDevP2PAttrPerformanceRank:
        case hipDevP2PAttrHipArrayAccessSupported:
            *value = 0;
            return;
        case hipDevP2PAttrAccessSupported:
        case hipDevP2PAttrNativeAtomicSupported:
            *value = 1;
            return;
        }
        fail(hipErrorInvalidValue);
    });
}

hipError_t link_and_hops(int source, int destination, uint32_t *link,
                         uint32_t *hops) asm("hipExtGetLinkTypeAndHopCount");
hipError_t link_and_hops(int source, int destination, uint32_t *link, uint32_t *hops) {
    return api("hipExtGetLinkTypeAndHopCount", [&] {
        runtime();
        require(link && hops, hipErrorInvalidValue);
        require(source != destination && source >= 0 && destination >= 0, hipErrorInvalidValue);
        runtime().device(source);
        runtime().device(destination);
        constexpr uint32_t pcie = 2; // HSA_AMD_LINK_INFO_TYPE_PCIE
        *link = pcie;
        *hops = 1;
    });
}
}
