// SPDX-License-Identifier: MIT
#include "hip/library.h"
#include "base/targets.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace nw::hip {

namespace fs = std::filesystem;

static std::string path_of(void *handle, const std::string &asked) {
    link_map *map = nullptr;
    const bool known = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && *map->l_name;
    return known ? map->l_name : asked;
}

std::shared_ptr<const Loaded> Loaded::open(const std::string &path, std::string &why) {
    void *const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        why = dlerror();
        return nullptr;
    }
    return with(handle, path_of(handle, path), why);
}

std::shared_ptr<const Loaded> Loaded::with(void *handle, std::string path, std::string &why) {
    auto loaded = std::make_shared<Loaded>();
    loaded->handle_ = handle;
    loaded->path = std::move(path);
    loaded->simulated = dlsym(handle, "hipsim_marker") != nullptr;
    const char *missing = nullptr;
    const auto find = [&]<class F>(F &function, const char *name) {
        function = reinterpret_cast<F>(dlsym(handle, name));
        if (!function)
            missing = name;
    };
#define NW_FIND(name) find(loaded->call.name, #name);
    NW_HIP_ENTRY_POINTS(NW_FIND)
#undef NW_FIND
    if (loaded->simulated) {
        find(loaded->sim.hipsimOpenDevice, "hipsimOpenDevice");
        find(loaded->sim.hipsimCloseDevice, "hipsimCloseDevice");
        find(loaded->sim.hipsimTakeStats, "hipsimTakeStats");
        find(loaded->sim.hipsimPartConstants, "hipsimPartConstants");
        find(loaded->sim.hipsimLastMessage, "hipsimLastMessage");
    }
    const auto find_if_there = [&]<class F>(F &function, const char *name) {
        function = reinterpret_cast<F>(dlsym(handle, name));
    };
    find_if_there(loaded->optional.hipMallocAsync, "hipMallocAsync");
    find_if_there(loaded->optional.hipFreeAsync, "hipFreeAsync");
    find_if_there(loaded->optional.hipGraphExecUpdate, "hipGraphExecUpdate");
    if (missing) {
        why = fmt::format("{} has no {}", loaded->path, missing);
        return nullptr;
    }
    return loaded;
}

void Loaded::check(hipError_t code, const char *call_name, std::string_view detail) const {
    if (code == hipSuccess)
        return;
    const std::string name = call.hipGetErrorName(code);
    const std::string call_text =
        detail.empty() ? call_name : fmt::format("{}({})", call_name, detail);
    throw Error(code, name, call_name, fmt::format("{}: {} ({})", call_text, name, int{code}));
}

int Loaded::device_count() const {
    int count = 0;
    check(call.hipGetDeviceCount(&count), "hipGetDeviceCount");
    return count;
}

// hipDeviceProp_t grew in ROCm 6. A library's symbol determines its layout, whatever headers this
// build used: hipGetDevicePropertiesR0600 is the new one, the plain name the old one. The offsets
// of gcnArchName are measured with the headers of HIP 5.2.3 and 6.2.
std::string Loaded::gfx(int ordinal) const {
    constexpr std::size_t arch_bytes = 256, old_offset = 396, new_offset = 1160;
    using GetProperties = hipError_t (*)(void *, int);
    alignas(16) std::array<char, 4096> prop{}; // the larger layout is 1472 bytes

    const char *symbol = "hipGetDevicePropertiesR0600";
    std::size_t offset = new_offset;
    auto get = reinterpret_cast<GetProperties>(dlsym(handle_, symbol));
    if (!get) {
        symbol = "hipGetDeviceProperties";
        offset = old_offset;
        get = reinterpret_cast<GetProperties>(dlsym(handle_, symbol));
    }
    if (!get)
        throw Error(-1, {}, symbol, fmt::format("{} has no {}", path, symbol));
    check(get(prop.data(), ordinal), symbol, std::to_string(ordinal));
    const std::string_view arch(prop.data() + offset, strnlen(prop.data() + offset, arch_bytes));
    return std::string(arch.substr(0, arch.find(':')));
}

DeviceInfo Loaded::describe(int ordinal) const {
    DeviceInfo info;
    info.gfx = gfx(ordinal);
    info.simulated = simulated;
    std::array<char, 256> name{};
    check(call.hipDeviceGetName(name.data(), name.size(), ordinal), "hipDeviceGetName");
    info.name = name.data();
    info.spec = simulated ? "sim:" + info.gfx : fmt::format("hip:{}", ordinal);
    info.label = simulated ? "sim " + info.gfx : info.name;
    int units = 0;
    check(call.hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, ordinal),
          "hipDeviceGetAttribute", "MultiprocessorCount");
    info.wgps = static_cast<u32>(units);
    std::size_t bytes = 0;
    check(call.hipDeviceTotalMem(&bytes, ordinal), "hipDeviceTotalMem");
    info.memory_bytes = bytes;
    return info;
}

hipError_t Loaded::upload(void *to, const void *from, u64 bytes) const {
    // A copy that waits does not block other devices' copies.
    if (const hipError_t error = call.hipStreamSynchronize(nullptr); error != hipSuccess)
        return error;
    const std::lock_guard lock(staging_mutex_);
    return staging_.upload(to, from, bytes);
}

// ---- where the libraries are

std::vector<std::string> usual_paths() {
    std::vector<std::string> folders{""};
    if (const char *rocm = std::getenv("ROCM_PATH"); rocm && *rocm)
        folders.push_back(std::string(rocm) + "/lib/");
    folders.push_back("/opt/rocm/lib/");
    std::vector<std::string> out;
    for (const std::string &folder : folders)
        for (const char *end : {".so.7", ".so.6", ".so.5", ".so"})
            out.push_back(folder + "libamdhip64" + end);
    return out;
}

static std::shared_ptr<const Loaded> find_real(std::string &why) {
    std::string reason;
    for (const std::string &path : usual_paths()) {
        auto loaded = Loaded::open(path, reason);
        if (loaded && !loaded->simulated)
            return loaded;
        if (loaded) // LD_LIBRARY_PATH points at it, or a `sim:` device was opened before
            reason = loaded->path + " is the simulated one";
        if (why.empty() || fs::exists(path))
            why = reason;
    }
    return nullptr;
}

std::shared_ptr<const Loaded> real_library(std::string &why) {
    static std::string reason;
    static const std::shared_ptr<const Loaded> loaded = find_real(reason);
    why = reason;
    return loaded;
}

// The caller's path; else beside the program or shared library that contains this code, then in
// the build tree.
static std::vector<fs::path> simulated_candidates() {
    std::vector<fs::path> paths;
    std::error_code ignored;
    const auto beside = [&](const fs::path &file) {
        paths.push_back(file.parent_path().parent_path() / "hipsim" / "libamdhip64.so");
    };
    if (const char *given = std::getenv("NIBBLEWAVE_HIPSIM"); given && *given)
        return {fs::is_directory(given, ignored) ? fs::path(given) / "libamdhip64.so" : given};
    beside(fs::read_symlink("/proc/self/exe", ignored));
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void *>(&simulated_candidates), &info) && info.dli_fname)
        beside(fs::absolute(info.dli_fname, ignored));
    paths.push_back(fs::path(NW_BUILD_HIPSIM) / "libamdhip64.so");
    return paths;
}

static std::shared_ptr<const Loaded> find_simulated() {
    std::string tried;
    for (const fs::path &path : simulated_candidates()) {
        if (!fs::exists(path)) {
            tried += fmt::format("\n  {}: not found", path.string());
            continue;
        }
        std::string why;
        if (auto loaded = Loaded::open(fs::absolute(path).string(), why))
            return loaded;
        tried += fmt::format("\n  {}: {}", path.string(), why);
    }
    throw Error(-1, {}, "dlopen",
                "the simulated libamdhip64.so was not found; build it (target amdhip64) or set "
                "NIBBLEWAVE_HIPSIM to its directory. Tried:" +
                    tried);
}

std::shared_ptr<const Loaded> simulated_library() {
    static const std::shared_ptr<const Loaded> loaded = find_simulated(); // again after a throw
    return loaded;
}

} // namespace nw::hip
