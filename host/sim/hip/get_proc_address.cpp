// SPDX-License-Identifier: MIT
// hipGetProcAddress, from the list that also generates the version script.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "sim/hip/error.h"

namespace nw::hipsim {

namespace {

// Declared without their types: only the addresses are taken, and some names are newer than the
// headers.
namespace address_of {
#define HIP_ENTRY(node, name) extern "C" char name##_entry asm(#name);
#define HIP_MISSING(node, name, pointers) HIP_ENTRY(node, name)
#include "sim/hip/entry_points.inc"
#undef HIP_ENTRY
} // namespace address_of

struct EntryPoint {
    std::string_view name;
    void *address;
};

const EntryPoint entry_points[] = {
#define HIP_ENTRY(node, name) {#name, &address_of::name##_entry},
#include "sim/hip/entry_points.inc"
#undef HIP_ENTRY
#undef HIP_MISSING
};

enum QueryResult { found = 0, not_found = 1 }; // hipDriverProcAddressQueryResult

} // namespace

// Hosts of ROCm 6 write hipGetDeviceProperties and mean their headers' R0600. `version` is
// HIP_VERSION (60200000 for 6.2) or, in some hosts, 600.
static std::string_view versioned(std::string_view name, int version) {
    const bool six = version >= 60'000'000 || (version >= 600 && version < 1'000'000);
    if (six && name == "hipGetDeviceProperties")
        return "hipGetDevicePropertiesR0600";
    return six && name == "hipChooseDevice" ? "hipChooseDeviceR0600" : name;
}

static hipError_t give_address(std::string_view name, void **address, int *result) {
    const auto entry = std::ranges::find(entry_points, name, &EntryPoint::name);
    const bool have = entry != std::end(entry_points);
    *address = have ? entry->address : nullptr;
    if (result)
        *result = have ? found : not_found;
    return have ? hipSuccess : hipErrorInvalidValue;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

// By assembler name: newer headers declare it with an enum of theirs.
extern "C" hipError_t get_proc_address(const char *symbol, void **address, int version, uint64_t,
                                       int *result) asm("hipGetProcAddress");
hipError_t get_proc_address(const char *symbol, void **address, int version, uint64_t,
                            int *result) {
    return api("hipGetProcAddress", [&] {
        require(symbol && *symbol && address, hipErrorInvalidValue);
        return give_address(versioned(symbol, version), address, result);
    });
}

// Since HIP 7.1. With a default stream per thread, a name means its _spt form where there is one.
static hipError_t driver_entry_point(const char *call, const char *symbol, void **address,
                                     int *result, bool own_stream) {
    return api(call, [&] {
        require(symbol && *symbol && address, hipErrorInvalidValue);
        const std::string name(versioned(symbol, 700));
        if (own_stream && give_address(name + "_spt", address, result) == hipSuccess)
            return hipSuccess;
        return give_address(name, address, result);
    });
}

extern "C" {

hipError_t entry_point(const char *symbol, void **address, unsigned long long flags,
                       int *result) asm("hipGetDriverEntryPoint");
hipError_t entry_point(const char *symbol, void **address, unsigned long long flags, int *result) {
    constexpr unsigned long long per_thread = 2; // hipEnablePerThreadDefaultStream
    return driver_entry_point("hipGetDriverEntryPoint", symbol, address, result,
                              flags == per_thread);
}

hipError_t entry_point_spt(const char *symbol, void **address, unsigned long long flags,
                           int *result) asm("hipGetDriverEntryPoint_spt");
hipError_t entry_point_spt(const char *symbol, void **address, unsigned long long, int *result) {
    return driver_entry_point("hipGetDriverEntryPoint_spt", symbol, address, result, true);
}
}
