// SPDX-License-Identifier: MIT
// hiprtc's names, which ROCm 5 and 6 export from libamdhip64, too: they call libhiprtc.so, which is
// beside this library.
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <filesystem>

#include "sim/hip/error.h"

namespace nw::hipsim {

constexpr int internal_error = 11; // HIPRTC_ERROR_INTERNAL_ERROR

static void *load_compiler() {
    Dl_info self;
    if (!dladdr(reinterpret_cast<void *>(&load_compiler), &self))
        return nullptr;
    const auto path = std::filesystem::path(self.dli_fname).replace_filename("libhiprtc.so");
    void *const library = dlopen(path.c_str(), RTLD_NOW);
    if (!library)
        say(fmt::format("hiprtc: {}", dlerror()));
    return library;
}

// The function of the other library; null if there is none.
static void *compiler_function(const char *name) {
    static void *const library = load_compiler();
    return library ? dlsym(library, name) : nullptr;
}

template <class... Args> static int call_compiler(const char *name, Args... args) {
    const auto function = reinterpret_cast<int (*)(Args...)>(compiler_function(name));
    return function ? function(args...) : internal_error;
}

} // namespace nw::hipsim

using nw::hipsim::call_compiler;

extern "C" {

const char *hiprtcGetErrorString(int result) {
    const auto function = reinterpret_cast<const char *(*)(int)>(
        nw::hipsim::compiler_function("hiprtcGetErrorString"));
    return function ? function(result) : "HIPRTC_ERROR_INTERNAL_ERROR";
}
int hiprtcVersion(int *major, int *minor) { return call_compiler(__func__, major, minor); }
int hiprtcCreateProgram(void **program, const char *source, const char *name, int headers,
                        const char **texts, const char **names) {
    return call_compiler(__func__, program, source, name, headers, texts, names);
}
int hiprtcCompileProgram(void *program, int count, const char **options) {
    return call_compiler(__func__, program, count, options);
}
int hiprtcDestroyProgram(void **program) { return call_compiler(__func__, program); }
int hiprtcAddNameExpression(void *program, const char *expression) {
    return call_compiler(__func__, program, expression);
}
int hiprtcGetLoweredName(void *program, const char *expression, const char **name) {
    return call_compiler(__func__, program, expression, name);
}
int hiprtcGetProgramLogSize(void *program, size_t *bytes) {
    return call_compiler(__func__, program, bytes);
}
int hiprtcGetProgramLog(void *program, char *log) { return call_compiler(__func__, program, log); }
int hiprtcGetCodeSize(void *program, size_t *bytes) {
    return call_compiler(__func__, program, bytes);
}
int hiprtcGetCode(void *program, char *code) { return call_compiler(__func__, program, code); }
int hiprtcGetBitcodeSize(void *program, size_t *bytes) {
    return call_compiler(__func__, program, bytes);
}
int hiprtcGetBitcode(void *program, char *code) { return call_compiler(__func__, program, code); }
int hiprtcLinkCreate(unsigned count, int *options, void **values, void **link) {
    return call_compiler(__func__, count, options, values, link);
}
int hiprtcLinkAddFile(void *link, int type, const char *path, unsigned count, int *options,
                      void **values) {
    return call_compiler(__func__, link, type, path, count, options, values);
}
int hiprtcLinkAddData(void *link, int type, void *bytes, size_t size, const char *name,
                      unsigned count, int *options, void **values) {
    return call_compiler(__func__, link, type, bytes, size, name, count, options, values);
}
int hiprtcLinkComplete(void *link, void **code, size_t *bytes) {
    return call_compiler(__func__, link, code, bytes);
}
int hiprtcLinkDestroy(void *link) { return call_compiler(__func__, link); }
}
