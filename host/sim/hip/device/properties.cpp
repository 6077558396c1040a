// SPDX-License-Identifier: MIT
#include "sim/hip/device/properties.h"

#include <fmt/format.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "sim/func/launch/clock.h"
#include "sim/hip/runtime.h"
#include "sim/hip/texture/array.h"

namespace nw::hipsim {

u64 total_memory() {
    static const u64 bytes =
        static_cast<u64>(sysconf(_SC_PHYS_PAGES)) * static_cast<u64>(sysconf(_SC_PAGESIZE));
    return bytes;
}

static void put(char (&field)[256], std::string_view text) {
    text.copy(field, sizeof field - 1); // the struct came zeroed
}

// The fields that both layouts have, under the same names.
template <class Prop> static void describe(Prop &p, const sim::Device &device, int ordinal) {
    put(p.name, device.marketing_name);
    put(p.gcnArchName, device.gfx);
    const int target = std::atoi(device.gfx + std::strlen("gfx")); // 1151 is 11.5.1
    p.major = target / 100;
    p.minor = target / 10 % 10;
    p.totalGlobalMem = total_memory();
    p.totalConstMem = INT_MAX;
    p.memPitch = INT_MAX;
    p.textureAlignment = p.texturePitchAlignment = texture_alignment;
    p.multiProcessorCount = static_cast<int>(device.wgps);
    p.l2CacheSize = static_cast<int>(device.l2_bytes);
    p.clockRate = static_cast<int>(device.clock_khz);
    p.memoryClockRate = static_cast<int>(device.memory_clock_khz);
    p.memoryBusWidth = static_cast<int>(device.memory_bus_bits);
    p.clockInstructionRate = 100'000; // s_memrealtime's 100 MHz
    p.warpSize = 32;
    p.sharedMemPerBlock = p.maxSharedMemoryPerMultiProcessor = device.target->lds_per_workgroup;
    p.regsPerBlock = 65536;
    p.maxThreadsPerBlock = max_workgroup;
    p.maxThreadsPerMultiProcessor =
        static_cast<int>(device.target->simds_per_wgp * device.target->max_waves * 32);
    p.maxGridSize[0] = max_grid_x;
    p.maxGridSize[1] = p.maxGridSize[2] = max_grid_yz;
    for (int &side : p.maxThreadsDim)
        side = max_workgroup;
    p.concurrentKernels = 1;
    p.canMapHostMemory = 1;
    p.cooperativeLaunch = p.cooperativeMultiDeviceLaunch = 1;
    p.cooperativeMultiDeviceUnmatchedFunc = p.cooperativeMultiDeviceUnmatchedGridDim =
        p.cooperativeMultiDeviceUnmatchedBlockDim = p.cooperativeMultiDeviceUnmatchedSharedMem = 1;
    if (device.target->generation != Generation::gfx10) { // else it has no images
        p.maxTexture1DLinear = INT_MAX;
        p.maxTexture1D = p.maxTexture2D[0] = p.maxTexture2D[1] = most_texels;
        p.maxTexture3D[0] = p.maxTexture3D[1] = most_texels;
        p.maxTexture3D[2] = most_slices;
    }
    p.managedMemory = p.concurrentManagedAccess = p.directManagedMemAccessFromHost = 1;
    p.isLargeBar = 1;
    p.integrated = device.apu;
    p.pciBusID = ordinal + 1;
    p.arch = {.hasGlobalInt32Atomics = 1,
              .hasGlobalFloatAtomicExch = 1,
              .hasSharedInt32Atomics = 1,
              .hasSharedFloatAtomicExch = 1,
              .hasFloatAtomicAdd = 1,
              .hasGlobalInt64Atomics = 1,
              .hasSharedInt64Atomics = 1,
              .hasDoubles = 1,
              .hasWarpVote = 1,
              .hasWarpBallot = 1,
              .hasWarpShuffle = 1,
              .hasThreadFenceSystem = 1,
              .has3dGrid = 1};
}

static PropR0000 old_properties(const sim::Device &device, int ordinal) {
    PropR0000 p{};
    describe(p, device, ordinal);
    p.gcnArch = std::atoi(device.gfx + std::strlen("gfx"));
    return p;
}

PropR0600 properties(const sim::Device &device, int ordinal) {
    PropR0600 p{};
    describe(p, device, ordinal);
    fmt::format_to_n(p.uuid, sizeof p.uuid, "hipsim-{:09d}", ordinal);
    p.unifiedAddressing = 1;
    p.asyncEngineCount = p.deviceOverlap = 1;
    p.streamPrioritiesSupported = 1;
    p.surfaceAlignment = p.textureAlignment;
    p.maxSurface1D = p.maxTexture1D;
    std::copy_n(p.maxTexture2D, 2, p.maxSurface2D);
    std::copy_n(p.maxTexture3D, 3, p.maxSurface3D);
    p.sharedMemPerMultiprocessor = p.sharedMemPerBlockOptin = p.sharedMemPerBlock;
    p.regsPerMultiprocessor = p.regsPerBlock;
    p.maxBlocksPerMultiProcessor = p.maxThreadsPerMultiProcessor / p.warpSize;
    p.globalL1CacheSupported = p.localL1CacheSupported = 1;
    p.hostRegisterSupported = p.canUseHostPointerForRegisteredMem = 1;
    p.memoryPoolsSupported = p.ipcEventSupported = 1;
    p.memoryPoolSupportedHandleTypes = hipMemHandleTypePosixFileDescriptor;
    return p;
}

// Values of hipDeviceGetAttribute, from the same properties.
static int attribute(const PropR0600 &p, hipDeviceAttribute_t which) {
    const auto fits = [](size_t bytes) {
        return static_cast<int>(std::min<size_t>(bytes, INT_MAX));
    };
    switch (static_cast<int>(which)) { // newer headers know more than ours
    case hipDeviceAttributeCanMapHostMemory:
        return p.canMapHostMemory;
    case hipDeviceAttributeClockRate:
        return p.clockRate;
    case hipDeviceAttributeComputeMode:
        return p.computeMode;
    case hipDeviceAttributeConcurrentKernels:
        return p.concurrentKernels;
    case hipDeviceAttributeCooperativeLaunch:
        return p.cooperativeLaunch;
    case hipDeviceAttributeCooperativeMultiDeviceLaunch:
        return p.cooperativeMultiDeviceLaunch;
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc:
        return p.cooperativeMultiDeviceUnmatchedFunc;
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim:
        return p.cooperativeMultiDeviceUnmatchedGridDim;
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim:
        return p.cooperativeMultiDeviceUnmatchedBlockDim;
    case hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem:
        return p.cooperativeMultiDeviceUnmatchedSharedMem;
    case hipDeviceAttributeMaxTexture1DWidth:
        return p.maxTexture1D;
    case hipDeviceAttributeMaxTexture1DLinear:
        return p.maxTexture1DLinear;
    case hipDeviceAttributeMaxSurface1D:
        return p.maxSurface1D;
    case hipDeviceAttributeSurfaceAlignment:
        return fits(p.surfaceAlignment);
    case hipDeviceAttributeImageSupport:
        return p.maxTexture1D > 0;
    case hipDeviceAttributeStreamPrioritiesSupported:
        return p.streamPrioritiesSupported;
    case hipDeviceAttributeDeviceOverlap:
        return p.deviceOverlap;
    case hipDeviceAttributeMaxTexture2DWidth:
        return p.maxTexture2D[0];
    case hipDeviceAttributeMaxTexture2DHeight:
        return p.maxTexture2D[1];
    case hipDeviceAttributeMaxTexture3DWidth:
        return p.maxTexture3D[0];
    case hipDeviceAttributeMaxTexture3DHeight:
        return p.maxTexture3D[1];
    case hipDeviceAttributeMaxTexture3DDepth:
        return p.maxTexture3D[2];
    case hipDeviceAttributeIntegrated:
        return p.integrated;
    case hipDeviceAttributeL2CacheSize:
        return p.l2CacheSize;
    case hipDeviceAttributeComputeCapabilityMajor:
        return p.major;
    case hipDeviceAttributeComputeCapabilityMinor:
        return p.minor;
    case hipDeviceAttributeManagedMemory:
        return p.managedMemory;
    case hipDeviceAttributeMaxBlocksPerMultiProcessor:
        return p.maxBlocksPerMultiProcessor;
    case hipDeviceAttributeMaxBlockDimX:
        return p.maxThreadsDim[0];
    case hipDeviceAttributeMaxBlockDimY:
        return p.maxThreadsDim[1];
    case hipDeviceAttributeMaxBlockDimZ:
        return p.maxThreadsDim[2];
    case hipDeviceAttributeMaxGridDimX:
        return p.maxGridSize[0];
    case hipDeviceAttributeMaxGridDimY:
        return p.maxGridSize[1];
    case hipDeviceAttributeMaxGridDimZ:
        return p.maxGridSize[2];
    case hipDeviceAttributeMaxThreadsPerBlock:
        return p.maxThreadsPerBlock;
    case hipDeviceAttributeMaxThreadsPerMultiProcessor:
        return p.maxThreadsPerMultiProcessor;
    case hipDeviceAttributeMaxPitch:
        return fits(p.memPitch);
    case hipDeviceAttributeTextureAlignment:
        return fits(p.textureAlignment);
    case hipDeviceAttributeTexturePitchAlignment:
        return fits(p.texturePitchAlignment);
    case hipDeviceAttributeMemoryBusWidth:
        return p.memoryBusWidth;
    case hipDeviceAttributeMemoryClockRate:
        return p.memoryClockRate;
    case hipDeviceAttributeMultiprocessorCount:
        return p.multiProcessorCount;
    case hipDeviceAttributePciBusId:
        return p.pciBusID;
    case hipDeviceAttributePciDeviceId:
        return p.pciDeviceID;
    case hipDeviceAttributePciDomainID:
        return p.pciDomainID;
    case hipDeviceAttributeMaxRegistersPerBlock:
        return p.regsPerBlock;
    case hipDeviceAttributeMaxRegistersPerMultiprocessor:
        return p.regsPerMultiprocessor;
    case hipDeviceAttributeMaxSharedMemoryPerBlock:
        return fits(p.sharedMemPerBlock);
    case hipDeviceAttributeSharedMemPerBlockOptin:
        return fits(p.sharedMemPerBlockOptin);
    case hipDeviceAttributeSharedMemPerMultiprocessor:
        return fits(p.sharedMemPerMultiprocessor);
    case hipDeviceAttributeTotalConstantMemory:
        return fits(p.totalConstMem);
    case hipDeviceAttributeTotalGlobalMem:
        return fits(p.totalGlobalMem);
    case hipDeviceAttributeUnifiedAddressing:
        return p.unifiedAddressing;
    case hipDeviceAttributeAsyncEngineCount:
        return p.asyncEngineCount;
    case hipDeviceAttributeGlobalL1CacheSupported:
        return p.globalL1CacheSupported;
    case hipDeviceAttributeLocalL1CacheSupported:
        return p.localL1CacheSupported;
    case hipDeviceAttributeWarpSize:
        return p.warpSize;
    case hipDeviceAttributeClockInstructionRate:
        return p.clockInstructionRate;
    case hipDeviceAttributeMaxSharedMemoryPerMultiprocessor:
        return fits(p.maxSharedMemoryPerMultiProcessor);
    case hipDeviceAttributeIsLargeBar:
        return p.isLargeBar;
    case hipDeviceAttributePhysicalMultiProcessorCount:
        return p.multiProcessorCount;
    case hipDeviceAttributeConcurrentManagedAccess:
        return p.concurrentManagedAccess;
    case hipDeviceAttributeDirectManagedMemAccessFromHost:
        return p.directManagedMemAccessFromHost;
    case hipDeviceAttributeCanUseHostPointerForRegisteredMem:
        return p.canUseHostPointerForRegisteredMem;
    case hipDeviceAttributeMemoryPoolsSupported:
        return p.memoryPoolsSupported;
    case hipDeviceAttributeMemoryPoolsSupported + 3: // MemoryPoolSupportedHandleTypes, HIP 6
        return static_cast<int>(p.memoryPoolSupportedHandleTypes);
    case hipDeviceAttributeMemoryPoolsSupported + 1: // VirtualMemoryManagementSupported, HIP 6
    case hipDeviceAttributeMemoryPoolsSupported + 2: // HostRegisterSupported, HIP 6
    case hipDeviceAttributeCanUseStreamWaitValue:
    case hipDeviceAttributeFineGrainSupport:
        return 1;
    case hipDeviceAttributeFineGrainSupport + 1: // WallClockRate in kHz, HIP 6
        return static_cast<int>(1000 * sim::constant_clock_mhz);
    default:
        break;
    }
    // The others are features that the simulated device does not have; a number that no header
    // knows is a mistake.
    const bool known = (which >= 0 && which <= hipDeviceAttributeMemoryPoolsSupported + 4) ||
                       (which >= hipDeviceAttributeAmdSpecificBegin &&
                        which <= hipDeviceAttributeFineGrainSupport + 4);
    require(known, hipErrorInvalidValue);
    return 0;
}

template <class Prop>
static hipError_t give_properties(const char *call, void *to, int ordinal,
                                  Prop (*describe)(const sim::Device &, int)) {
    return api(call, [&] {
        const sim::Device &facts = runtime().device(ordinal).facts;
        require(to != nullptr, hipErrorInvalidValue);
        const Prop prop = describe(facts, ordinal);
        std::memcpy(to, &prop, sizeof prop);
    });
}

} // namespace nw::hipsim

using namespace nw::hipsim;

hipError_t hipDeviceGetAttribute(int *value, hipDeviceAttribute_t which, int ordinal) {
    return api(__func__, [&] {
        const auto &facts = runtime().device(ordinal).facts;
        require(value != nullptr, hipErrorInvalidValue);
        *value = attribute(properties(facts, ordinal), which);
    });
}

// The layout goes with the symbol, whatever headers the host had: the plain name is R0000 for ever.
// Exported by assembler name, because each ROCm's headers declare them with their own types.
extern "C" {

hipError_t plain_properties(void *to, int ordinal) asm("hipGetDeviceProperties");
hipError_t plain_properties(void *to, int ordinal) {
    return give_properties("hipGetDeviceProperties", to, ordinal, old_properties);
}

hipError_t r0000_properties(void *to, int ordinal) asm("hipGetDevicePropertiesR0000");
hipError_t r0000_properties(void *to, int ordinal) {
    return give_properties("hipGetDevicePropertiesR0000", to, ordinal, old_properties);
}

hipError_t r0600_properties(void *to, int ordinal) asm("hipGetDevicePropertiesR0600");
hipError_t r0600_properties(void *to, int ordinal) {
    return give_properties("hipGetDevicePropertiesR0600", to, ordinal, properties);
}
}
