// SPDX-License-Identifier: MIT
#include "engines/ggml/hip_calls.h"

#include <dlfcn.h>
#include <link.h>

#include <cstring>
#include <optional>

namespace nw::engine {

namespace {

HipCalls calls;

// Frameworks open their copy RTLD_LOCAL, from any path: a global search doesn't find it.
int keep_path(dl_phdr_info *object, std::size_t, void *found) {
    const char *name = object->dlpi_name ? std::strrchr(object->dlpi_name, '/') : nullptr;
    if (!name || std::strncmp(name, "/libamdhip64", 12) != 0)
        return 0;
    *static_cast<std::string *>(found) = object->dlpi_name;
    return 1;
}

// A handle for dlsym; none if no HIP is loaded. Global names come first, as in libnibblewave.
std::optional<void *> loaded_hip() {
    if (dlsym(RTLD_DEFAULT, "hipModuleLaunchKernel"))
        return RTLD_DEFAULT;
    std::string path;
    if (!dl_iterate_phdr(keep_path, &path))
        return std::nullopt;
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

} // namespace

bool find_hip(std::string &why) {
    const std::optional<void *> library = loaded_hip();
    if (!library) {
        why = "no libamdhip64 is loaded";
        return false;
    }
    const char *missing = nullptr;
#define NW_FIND(name)                                                                              \
    calls.name = reinterpret_cast<decltype(calls.name)>(dlsym(*library, #name));                   \
    if (!calls.name)                                                                               \
        missing = #name;
    NW_ENGINE_HIP_CALLS(NW_FIND)
#undef NW_FIND
    if (missing)
        why = std::string("the libamdhip64 of this process has no ") + missing +
              ": install ROCm 5 or newer";
    return !missing;
}

const HipCalls &hip() { return calls; }

} // namespace nw::engine
