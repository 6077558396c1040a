// SPDX-License-Identifier: MIT
#include "sim/hiprtc/options.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

namespace nw::hiprtc {

namespace {

// "gfx90a:sramecc+:xnack-" and "amdgcn-amd-amdhsa--gfx1100" as "gfx...".
std::string plain_gfx(std::string_view name) {
    name = name.substr(std::min(name.rfind("gfx"), name.size()));
    return std::string(name.substr(0, name.find(':')));
}

void *hip_function(const char *name) {
    if (void *const known = dlsym(RTLD_DEFAULT, name))
        return known;
    for (const char *library :
         {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
        if (void *const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD))
            return dlsym(handle, name);
    return nullptr;
}

// The value of an option that is spelled name=value, or name followed by another word.
bool takes(std::string_view name, const std::vector<std::string> &words, size_t &at,
           std::string *value) {
    const std::string &word = words[at];
    if (word == name && at + 1 < words.size()) {
        *value = words[++at];
        return true;
    }
    if (!word.starts_with(name) || word.size() <= name.size() || word[name.size()] != '=')
        return false;
    *value = word.substr(name.size() + 1);
    return true;
}

} // namespace

std::string device_gfx() {
    constexpr size_t bytes = 1472, name_at = 1160; // of hipDeviceProp_tR0600
    std::vector<char> properties(2 * bytes);
    using GetDevice = int (*)(int *);
    using GetProperties = int (*)(void *, int);
    const auto get_device = reinterpret_cast<GetDevice>(hip_function("hipGetDevice"));
    const auto get_properties =
        reinterpret_cast<GetProperties>(hip_function("hipGetDevicePropertiesR0600"));
    int device = 0;
    if (get_device && get_properties && get_device(&device) == 0 &&
        get_properties(properties.data(), device) == 0)
        return plain_gfx({&properties[name_at], strnlen(&properties[name_at], 256)});
    const char *const wanted = std::getenv("HIPSIM_ARCH");
    const std::string first =
        wanted ? std::string(wanted).substr(0, std::strcspn(wanted, ",?")) : "";
    return first.empty() ? "gfx1151" : plain_gfx(first);
}

Options read_options(const std::vector<std::string> &given) {
    constexpr std::string_view architecture[] = {"--gpu-architecture", "--offload-arch", "-arch"};
    constexpr std::string_view ours[] = {
        "-o", "-c", "-S", "-E", "-emit-llvm", "-fsyntax-only", "--help", "--version", "-###"};
    std::vector<std::string> words; // an option may hold several
    for (const std::string &option : given) {
        std::istringstream text(option);
        if (option.starts_with("-D") || option.starts_with("-I"))
            words.push_back(option);
        else
            for (std::string word; text >> word;)
                words.push_back(word);
    }
    Options options;
    for (size_t at = 0; at < words.size(); ++at) {
        std::string value;
        const std::string &word = words[at];
        if (std::ranges::any_of(architecture,
                                [&](auto name) { return takes(name, words, at, &value); }))
            options.gfx = plain_gfx(value);
        else if (word == "-fgpu-rdc")
            options.relocatable = true;
        else if (word == "-hip-pch" || word == "-fno-gpu-rdc") // nothing to do
            continue;
        else if (std::ranges::find(ours, word) != std::end(ours))
            options.refused = word;
        else {
            options.wave64 |= word == "-mwavefrontsize64";
            if (word.starts_with("-mprintf-kind="))
                options.printf_kind = word;
            if (word.starts_with("-I") && word.size() > 2)
                options.include.push_back(word.substr(2));
            else if (word == "-I" && at + 1 < words.size())
                options.include.push_back(words[at + 1]);
            options.clang.push_back(word);
        }
    }
    if (options.gfx.empty())
        options.gfx = device_gfx();
    return options;
}

} // namespace nw::hiprtc
