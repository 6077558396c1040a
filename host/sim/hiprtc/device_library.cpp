// SPDX-License-Identifier: MIT
#include "sim/hiprtc/device_library.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <mutex>
#include <string_view>

namespace nw::hiprtc {

namespace {

namespace fs = std::filesystem;

// The files of device/.
constexpr struct {
    std::string_view name, text;
} files[] = {
#include "device_files.inc"
};

constexpr const char *own = "hiprtc_device"; // subfolder

std::vector<std::string> target(const Options &options) {
    std::vector<std::string> words = {"--offload-arch=" + options.gfx, "--cuda-device-only",
                                      "-nogpulib", "-nogpuinc"};
    if (options.wave64)
        words.push_back("-mwavefrontsize64");
    if (!options.printf_kind.empty()) // modules of two kinds don't link
        words.push_back(options.printf_kind);
    return words;
}

// ROCm's number of a target: gfx1151 is 11501, gfx90a 9010.
int isa_version(const std::string &gfx) {
    std::string digits = gfx.substr(std::min<size_t>(3, gfx.size()));
    digits = digits.substr(0, digits.find('-'));
    if (gfx.find('-') != std::string::npos) // a generic target
        digits += "00";
    if (digits.size() < 3)
        return 0;
    const auto number = [&](size_t from, size_t count, int base) {
        int value = 0;
        std::from_chars(digits.data() + from, digits.data() + from + count, value, base);
        return value;
    };
    const size_t major = digits.size() - 2;
    return number(0, major, 10) * 1000 + number(major, 1, 16) * 100 + number(major + 1, 1, 16);
}

// The constants that ROCm's libraries read.
std::string control_constants(const Options &options) {
    const std::string start = " = linkonce_odr protected local_unnamed_addr addrspace(4) constant ";
    std::string text = "target triple = \"amdgcn-amd-amdhsa\"\n";
    const auto add = [&](const char *name, const char *type, int value) {
        text += "@__oclc_" + std::string(name) + start + type + " " + std::to_string(value) + "\n";
    };
    add("ISA_version", "i32", isa_version(options.gfx));
    add("ABI_version", "i32", 500);
    add("wavefrontsize64", "i8", options.wave64);
    add("finite_only_opt", "i8", 0);
    add("unsafe_math_opt", "i8", 0);
    add("daz_opt", "i8", 0);
    add("correctly_rounded_sqrt32", "i8", 1);
    return text;
}

// One compiled for this target before in this process is taken again.
bool write_compiled(const std::string &name, const Folder &folder, const Tools &tools,
                    const Options &options, std::string *said) {
    static auto *const known = new std::map<std::string, std::string>; // never destroyed
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    const std::string key = options.gfx + (options.wave64 ? " wave64 " : " ") + name +
                            options.printf_kind + tools.clang;
    std::string &bitcode = (*known)[key];
    if (bitcode.empty()) {
        std::vector<std::string> command = {tools.clang, "-x",        "hip",        "-std=c++17",
                                            "-O2",       "-fgpu-rdc", "-emit-llvm", "-c"};
        for (const std::string &word : target(options))
            command.push_back(word);
        command.insert(command.end(), {(folder.path / own / (name + ".cpp")).string(), "-o",
                                       (folder.path / (name + ".bc")).string()});
        const Outcome outcome = run(command, folder);
        bitcode = folder.read(name + ".bc");
        if (!outcome.ok || bitcode.empty()) {
            *said += outcome.said;
            bitcode.clear();
            return false;
        }
    }
    return folder.write(name + ".bc", bitcode);
}

bool write_constants(const Folder &folder, const Tools &tools, const Options &options,
                     std::string *said) {
    const std::string out = (folder.path / "oclc.bc").string();
    if (!folder.write("oclc.ll", control_constants(options)))
        return false;
    const Outcome outcome = run({tools.clang, "-x", "ir", "--target=amdgcn-amd-amdhsa", "-nogpulib",
                                 "-emit-llvm", "-c", (folder.path / "oclc.ll").string(), "-o", out},
                                folder);
    *said += outcome.ok ? "" : outcome.said;
    return outcome.ok;
}

} // namespace

std::vector<std::string> header_arguments(const Folder &folder, const Options &options) {
    for (const auto &[name, text] : files)
        folder.write(std::string(own) + "/" + std::string(name), std::string(text));
    const std::string wave = options.wave64 ? "64" : "32";
    std::vector<std::string> words = target(options);
    words.insert(words.end(), {"-D__HIPCC_RTC__", "-D__AMDGCN_WAVEFRONT_SIZE__=" + wave,
                               "-D__AMDGCN_WAVEFRONT_SIZE=" + wave});
    const bool theirs = std::ranges::any_of(options.include, [](const std::string &include) {
        return access((fs::path(include) / "hip/hip_runtime.h").c_str(), R_OK) == 0;
    });
    if (theirs)
        words.insert(words.end(), {"-include", "hip/hip_version.h", "-include",
                                   "__clang_hip_runtime_wrapper.h"});
    else
        words.insert(words.end(), {"-isystem", (folder.path / own).string()});
    words.insert(words.end(), {"-include", "hip/hip_runtime.h"});
    return words;
}

std::vector<std::string> library_arguments(const Folder &folder, const Tools &tools,
                                           const Options &options, std::string *said) {
    std::vector<fs::path> libraries;
    if (write_compiled("services", folder, tools, options, said))
        libraries.push_back(folder.path / "services.bc");
    if (const auto rocm = find_bitcode()) {
        libraries.insert(libraries.end(), {*rocm / "ocml.bc", *rocm / "ockl.bc"});
        if (write_constants(folder, tools, options, said))
            libraries.push_back(folder.path / "oclc.bc");
    } else if (write_compiled("math", folder, tools, options, said))
        libraries.push_back(folder.path / "math.bc");
    std::vector<std::string> words;
    for (const fs::path &library : libraries)
        words.insert(words.end(),
                     {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", library.string()});
    return words;
}

} // namespace nw::hiprtc
