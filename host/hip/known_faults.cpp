// SPDX-License-Identifier: MIT
#include "hip/known_faults.h"

#include <fmt/format.h>

#include <cstdio>
#include <iterator>
#include <limits>

namespace nw::hip {

namespace {

constexpr int release(int major, int minor) { return major * 10'000'000 + minor * 100'000; }
constexpr int any = std::numeric_limits<int>::max();

// By HIP's version: from `first` up to and without `end`, where that is known.
struct OfHip {
    const char *row, *gfx; // gfx: the beginning of its name
    int first, end;
    const char *text;
};
constexpr OfHip of_hip[] = {
    {"1", "gfx10", 0, any,
     "kernels may read old data where memory is the host's: leave NIBBLEWAVE_GGML_MEMORY alone"},
    {"1", "gfx11", 0, any,
     "kernels may read old data where memory is the host's: leave NIBBLEWAVE_GGML_MEMORY alone"},
    {"3", "gfx11", 0, release(7, 15),
     "copies of at most 64 bytes from pageable memory get lost: programs that do not pin their "
     "memory are affected, nibblewave is not"},
    {"4", "gfx1", release(6, 4), release(7, 15),
     "hipGraphExecUpdate leaks, and then replays old packets: instantiate graphs again instead"},
    {"5", "gfx1201", 0, any, "replays of graphs of 200 kernels and more may read old pointers"},
    {"8", "gfx1201", release(7, 2), release(7, 3),
     "memory of hipMemMap and hipMallocAsync is there late: results in a pool of PyTorch may be "
     "lost (PYTORCH_NO_HIP_MEMORY_CACHING=1 avoids pools)"},
    {"9", "gfx1030", release(7, 2), release(7, 3),
     "memory of hipMallocAsync may come back zeroed: set its pool's release threshold to "
     "UINT64_MAX"},
    {"10", "gfx1100", release(7, 0), release(8, 0), "hipMallocAsync fails or crashes"},
    {"10", "gfx1101", release(7, 0), release(8, 0), "hipMallocAsync fails or crashes"},
    {"17", "gfx1", release(10, 0), release(10, 1),
     "driver and runtime may disagree on the size of a save area: the first launch fails with "
     "CREATE_QUEUE: EINVAL; take runtime and driver of one release"},
};

struct Release {
    int major = 0, minor = 0;
    bool operator<(const Release &other) const {
        return major != other.major ? major < other.major : minor < other.minor;
    }
};

Release linux_release(const std::string &text) {
    Release out;
    static_cast<void>(std::sscanf(text.c_str(), "%d.%d", &out.major, &out.minor));
    return out;
}

// By the kernel and its firmware. {} in the text: the kernel's release.
struct OfSystem {
    const char *row, *gfx;
    bool (*is)(const Platform &);
    const char *text;
};
constexpr OfSystem of_system[] = {
    {"18", "gfx1151",
     [](const Platform &on) {
         const Release release = linux_release(on.system);
         const bool oem = on.system.find("oem") != std::string::npos;
         return release.major > 0 && release < (oem ? Release{6, 17} : Release{6, 18});
     },
     "Linux {} saves too few registers of gfx1151 when it preempts a kernel: hangs, wrong results; "
     "take Linux 6.18, or an OEM kernel 6.17"},
    {"18", "gfx1151", [](const Platform &on) { return (on.mes & 0xfff) == 0x83; },
     "scheduler firmware (MES) 0x83 faults; 0x80 is right: take another linux-firmware"},
    {"11", "gfx1100", [](const Platform &on) { return on.system.starts_with("7.0.0-28"); },
     "Linux {} resets the GPU when a registered page of a file is reclaimed: leave "
     "NIBBLEWAVE_GGML_MEMORY alone"},
};

} // namespace

std::string hip_version_text(int version) {
    return fmt::format("{}.{}.{}", version / 10'000'000, version / 100'000 % 100,
                       version % 100'000);
}

std::vector<KnownFault> known_faults(const Platform &on) {
    std::vector<KnownFault> out;
    for (const OfHip &fault : of_hip)
        if (on.hip > 0 && on.gfx.starts_with(fault.gfx) && on.hip >= fault.first &&
            on.hip < fault.end)
            out.push_back({fault.row, fmt::format("HIP {} on {}: {}", hip_version_text(on.hip),
                                                  on.gfx, fault.text)});
    for (const OfSystem &fault : of_system)
        if (on.gfx.starts_with(fault.gfx) && fault.is(on))
            out.push_back({fault.row, fmt::format(fmt::runtime(fault.text), on.system)});
    return out;
}

} // namespace nw::hip
