// SPDX-License-Identifier: MIT
// hipGetProcAddress, out of the list that also makes the version script.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "sim/hip/error.h"

namespace nw::hipsim {

namespace {

// Declared without their types: only the addresses are taken, and some names are newer than the
// headers.
namespace address_of {
#define HIP_ENTRY(node, name) extern "C" char name##_entry asm(#name);
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
};

enum QueryResult { found = 0, not_found = 1 }; // hipDriverProcAddressQueryResult

} // namespace

// Hosts of ROCm 6 write hipGetDeviceProperties and mean their headers' R0600. `version` is
// HIP_VERSION (60200000 for 6.2) or, in some hosts, 600.
static std::string_view versioned(std::string_view name, int version) {
    const bool six = version >= 60'000'000 || (version >= 600 && version < 1'000'000);
    return six && name == "hipGetDeviceProperties" ? "hipGetDevicePropertiesR0600" : name;
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
        const auto entry =
            std::ranges::find(entry_points, versioned(symbol, version), &EntryPoint::name);
        const bool have = entry != std::end(entry_points);
        *address = have ? entry->address : nullptr;
        if (result)
            *result = have ? found : not_found;
        return have ? hipSuccess : hipErrorInvalidValue;
    });
}
