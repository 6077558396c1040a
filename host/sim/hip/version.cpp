// SPDX-License-Identifier: MIT
#include "sim/hip/version.h"

#include <dlfcn.h>

#include <string_view>

#include "sim/hip/error.h"

namespace nw::hipsim {

static int major_of_our_file_name() {
    Dl_info info{};
    if (!dladdr(reinterpret_cast<const void *>(&host_major), &info) || !info.dli_fname)
        return 6;
    const std::string_view path = info.dli_fname;
    for (int major : {5, 7})
        if (path.ends_with(".so." + std::to_string(major)))
            return major;
    return 6;
}

int host_major() {
    static const int major = major_of_our_file_name();
    return major;
}

int host_version() {
    constexpr int minor_of_6 = 2; // the launch checks that we follow are those of 6.2
    const int minor = host_major() == 5 ? 2 : host_major() == 6 ? minor_of_6 : 0;
    return host_major() * 10'000'000 + minor * 100'000;
}

} // namespace nw::hipsim

using namespace nw::hipsim;

static hipError_t give_version(const char *call, int *version) {
    return api(call, [&] {
        require(version != nullptr, hipErrorInvalidValue);
        *version = host_version();
    });
}

hipError_t hipDriverGetVersion(int *version) { return give_version(__func__, version); }
hipError_t hipRuntimeGetVersion(int *version) { return give_version(__func__, version); }

extern "C" int hipsim_marker() { return 1; }
