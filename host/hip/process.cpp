// SPDX-License-Identifier: MIT
// The libamdhip64 of a caller's streams and memory: the one loaded in the process.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <filesystem>
#include <vector>

#include "hip/library.h"

namespace nw::hip {

namespace {

std::string object_of(void *address) {
    Dl_info info{};
    return dladdr(address, &info) && info.dli_fname ? info.dli_fname : "this process";
}

// Loaded under this name from any path: frameworks bring their own copy, opened RTLD_LOCAL, whose
// names a global search doesn't find.
std::vector<std::string> loaded_objects() {
    std::vector<std::string> out;
    dl_iterate_phdr(
        [](dl_phdr_info *object, std::size_t, void *found) {
            const std::filesystem::path path(object->dlpi_name ? object->dlpi_name : "");
            if (path.filename().string().starts_with("libamdhip64"))
                static_cast<std::vector<std::string> *>(found)->push_back(path.string());
            return 0;
        },
        &out);
    return out;
}

[[noreturn]] void refuse(std::string text) { throw Error(-1, {}, "dlopen", std::move(text)); }

std::shared_ptr<const Loaded> opened(const std::string &path) {
    std::string why;
    auto loaded = Loaded::open(path, why);
    if (!loaded)
        refuse(fmt::format("{}, loaded by this process, can't be used: {}", path, why));
    return loaded;
}

// Global names come first: the program may link HIP, or a tracing tool may be preloaded.
std::shared_ptr<const Loaded> find_in_process() {
    if (void *const launch = dlsym(RTLD_DEFAULT, "hipModuleLaunchKernel")) {
        std::string why;
        auto loaded = Loaded::with(RTLD_DEFAULT, object_of(launch), why);
        if (!loaded)
            refuse(fmt::format("the HIP that this process uses is too old: {}", why));
        return loaded;
    }
    const std::vector<std::string> objects = loaded_objects();
    if (objects.size() > 1)
        refuse(fmt::format("this process has loaded {} HIP libraries, {} and {}, which is "
                           "ambiguous: load only one, or the right one with RTLD_GLOBAL",
                           objects.size(), objects[0], objects[1]));
    return objects.empty() ? nullptr : opened(objects.front());
}

std::shared_ptr<const Loaded> find() {
    if (auto loaded = find_in_process())
        return loaded;
    std::string why, first;
    for (const std::string &path : usual_paths()) {
        if (auto loaded = Loaded::open(path, why))
            return loaded;
        if (first.empty() || std::filesystem::exists(path))
            first = why;
    }
    refuse(fmt::format("no libamdhip64 is loaded and none can be ({}): {}", first, without_gpu()));
}

} // namespace

std::shared_ptr<const Loaded> process_library() {
    static const std::shared_ptr<const Loaded> loaded = find(); // again after a throw
    return loaded;
}

} // namespace nw::hip
