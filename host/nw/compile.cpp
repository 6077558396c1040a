// SPDX-License-Identifier: MIT
#include "nw/compile.h"

#include "hip/library.h" // before hiprtc.h: chooses AMD's headers

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hip/hiprtc.h>
#include <map>
#include <regex>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "base/targets.h"
#include "base/temporary_folder.h"
#include "nw/code_object.h"
#include "sim/isa/gfx10_names.h"

extern char **environ;

namespace nw::cli {

namespace {

// Runs it with stderr redirected to a file; returns its exit code, or a negative errno.
int run(std::vector<std::string> command, const std::string &log) {
    std::vector<char *> words;
    for (std::string &word : command)
        words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    pid_t child = 0;
    const int error = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error)
        return -error;
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

std::string folder_of(const std::string &path) {
    return std::filesystem::absolute(path).parent_path();
}

struct Outcome {
    bool ok;
    std::string object, log;
};

// Runs clang on a file; `options` precede the file.
Outcome run_clang(const std::string &path, const std::string &gfx,
                  const std::vector<std::string> &options) {
    const TemporaryFolder folder("the assembler's output");
    const std::string object = folder.file("code.hsaco"), log = folder.file("log");
    // LLVM removes the working directory from file names, even inside a name: so use one that no
    // path begins with.
    std::vector<std::string> command = {NW_CLANG,       "-target", "amdgcn-amd-amdhsa",
                                        "-mcpu=" + gfx, "-g",      "-fdebug-compilation-dir=//"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {path, "-o", object});
    const int code = run(command, log);
    if (code < 0)
        throw Error(
            fmt::format("{}: {}: needed to assemble .s and link .o files; give a .hsaco instead",
                        NW_CLANG, std::strerror(-code)));
    return {code == 0, code == 0 ? read_text(object) : "", read_text(log)};
}

// Text of opencl.cl.
constexpr std::string_view opencl_library =
#include "opencl_library.inc"
    ;

constexpr std::string_view lacking = "instruction not supported on this GPU";

// Generic targets exist from version 6 on.
const char *object_version(const std::string &gfx) {
    return is_generic(gfx) ? "-mcode-object-version=6" : "-mcode-object-version=5";
}

std::vector<std::string> assembler_options(const std::string &gfx) {
    return {object_version(gfx), "-x", "assembler"};
}

// The mnemonics that the assembler's messages say the target lacks, each once.
std::vector<std::string> lacking_instructions(const std::string &log) {
    static const std::regex message(std::string(lacking) + R"([^\n]*\n\s*([a-z]\w*))");
    std::vector<std::string> names;
    for (std::sregex_iterator at(log.begin(), log.end(), message), end; at != end; ++at)
        if (std::ranges::find(names, (*at)[1].str()) == names.end())
            names.push_back((*at)[1]);
    return names;
}

// Which targets have these instructions: one without operands is refused in another way there.
std::string who_has(const std::vector<std::string> &names, const std::string &gfx) {
    const TemporaryFolder folder("the assembler's output");
    const std::string source = folder.file("names.s");
    write_text("the assembler's input", source, fmt::format("{}\n", fmt::join(names, "\n")));
    std::map<std::string, std::vector<std::string_view>> targets_of;
    for (const Target &target : targets()) {
        const std::string name(target.name);
        const auto missing =
            lacking_instructions(run_clang(source, name, assembler_options(name)).log);
        for (const std::string &one : names)
            if (std::ranges::find(missing, one) == missing.end())
                targets_of[one].push_back(target.name);
    }
    std::string text;
    const Target *target = find_target(gfx);
    for (const std::string &one : names) {
        text += fmt::format("{}: {} have it\n", one, fmt::join(targets_of[one], ", "));
        const std::string_view old = sim::name_before_gfx11(one);
        if (target && target->old_names && old != one)
            text += fmt::format("{}: {} calls it {}\n", one, gfx, old);
    }
    return text;
}

// ---- OpenCL C ----

Outcome run_opencl(const std::string &path, const std::string &gfx) {
    const TemporaryFolder folder("the assembler's output");
    const std::string library = folder.file("library.cl"), bitcode = folder.file("library.bc");
    write_text("the compiler's input", library, std::string(opencl_library));
    const std::vector<std::string> common = {"-x",
                                             "cl",
                                             "-cl-std=CL2.0",
                                             "-nogpulib",
                                             object_version(gfx),
                                             "-Xclang",
                                             "-finclude-default-header"};
    const auto with = [&](std::vector<std::string> more) {
        more.insert(more.begin(), common.begin(), common.end());
        return more;
    };
    Outcome made = run_clang(library, gfx, with({"-O2", "-emit-llvm", "-c"}));
    if (!made.ok)
        return made;
    write_text("the compiler's input", bitcode, made.object);
    // Names of values name the arguments in the metadata.
    return run_clang(path, gfx,
                     with({"-O3", "-fno-discard-value-names", "-I" + folder_of(path), "-Xclang",
                           "-mlink-builtin-bitcode", "-Xclang", bitcode}));
}

// ---- hiprtc ----

struct Hiprtc {
    decltype(&::hiprtcCreateProgram) create;
    decltype(&::hiprtcCompileProgram) compile;
    decltype(&::hiprtcGetProgramLogSize) log_size;
    decltype(&::hiprtcGetProgramLog) log;
    decltype(&::hiprtcGetCodeSize) code_size;
    decltype(&::hiprtcGetCode) code;
    decltype(&::hiprtcDestroyProgram) destroy;
};

// The one beside the simulated libamdhip64. It stays loaded.
const Hiprtc &hiprtc() {
    static const Hiprtc functions = [] {
        const auto folder = std::filesystem::path(hip::simulated_library()->path).parent_path();
        const std::string path = folder / "libhiprtc.so";
        void *const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library)
            throw Error(fmt::format("{}: needed to compile .hip files; compile it with hipcc "
                                    "--genco and give the result",
                                    dlerror()));
        const auto find = [&]<class F>(F &to, const char *name) {
            to = reinterpret_cast<F>(dlsym(library, name));
            if (!to)
                throw Error(fmt::format("{}: has no {}", path, name));
        };
        Hiprtc out{};
        find(out.create, "hiprtcCreateProgram");
        find(out.compile, "hiprtcCompileProgram");
        find(out.log_size, "hiprtcGetProgramLogSize");
        find(out.log, "hiprtcGetProgramLog");
        find(out.code_size, "hiprtcGetCodeSize");
        find(out.code, "hiprtcGetCode");
        find(out.destroy, "hiprtcDestroyProgram");
        return out;
    }();
    return functions;
}

// Text of two of hiprtc's functions: one gives the size, one the bytes.
template <class Size, class Bytes>
std::string text_of_program(hiprtcProgram program, Size size, Bytes bytes) {
    size_t count = 0;
    std::string text;
    if (size(program, &count) == HIPRTC_SUCCESS && count) {
        text.resize(count);
        bytes(program, text.data());
    }
    return text;
}

Outcome run_hiprtc(const std::string &path, const std::string &gfx) {
    const std::string source = read_text(path);
    const std::string architecture = "--gpu-architecture=" + gfx;
    const std::string folder = "-I" + folder_of(path); // of its own headers
    // Names of values name the arguments in the metadata.
    const char *options[] = {architecture.c_str(), folder.c_str(), "-gline-tables-only",
                             "-fno-discard-value-names"};
    hiprtcProgram program = nullptr;
    if (hiprtc().create(&program, source.c_str(), path.c_str(), 0, nullptr, nullptr) !=
        HIPRTC_SUCCESS)
        throw Error(fmt::format("{}: hiprtc does not take it", path));
    const bool ok = hiprtc().compile(program, std::size(options), options) == HIPRTC_SUCCESS;
    Outcome out{ok, "", text_of_program(program, hiprtc().log_size, hiprtc().log)};
    while (!out.log.empty() && out.log.back() == '\0')
        out.log.pop_back();
    if (ok)
        out.object = text_of_program(program, hiprtc().code_size, hiprtc().code);
    hiprtc().destroy(&program);
    return out;
}

// A target of each series for which the file compiles, where its builtins depend on that.
std::string who_compiles(const std::string &path) {
    u8 seen = 0;
    std::string names;
    for (const Target &target : targets()) {
        if (seen & target.series)
            continue;
        seen |= target.series;
        if (run_hiprtc(path, std::string(target.name)).ok)
            names += fmt::format("{}{}", names.empty() ? "" : ", ", target.name);
    }
    return names.empty() ? "" : fmt::format("tried one target a series: {} have it\n", names);
}

} // namespace

bool is_assembly(const std::string &path) {
    return std::filesystem::path(path).extension() == ".s";
}
bool is_hip(const std::string &path) { return std::filesystem::path(path).extension() == ".hip"; }
bool is_opencl(const std::string &path) { return std::filesystem::path(path).extension() == ".cl"; }
bool is_source(const std::string &path) {
    return is_assembly(path) || is_hip(path) || is_opencl(path);
}

// The same options as for the collection's files, with a line table.
std::string assemble(const std::string &path, const std::string &gfx) {
    const std::string source = read_text(path);
    std::vector<std::string> options = assembler_options(gfx);
    options.push_back("-I" + folder_of(path)); // of files that it includes
    if (std::regex_search(source, std::regex(R"(\.amdhsa_wavefront_size32\s+0\b)")))
        options.insert(options.begin(), "-mwavefrontsize64");
    Outcome out = run_clang(path, gfx, options);
    if (out.ok)
        return std::move(out.object);
    const auto names = lacking_instructions(out.log);
    throw Error(fmt::format("{}: it can't be assembled for {}:\n{}{}", path, gfx, out.log,
                            names.empty() ? "" : who_has(names, gfx)));
}

std::string assemble_text(const std::string &text, const std::string &gfx) {
    const TemporaryFolder folder("the assembler's output");
    const std::string path = folder.file("kernel.s");
    write_text("the assembler's input", path, text);
    Outcome out = run_clang(path, gfx, assembler_options(gfx));
    if (out.ok)
        return std::move(out.object);
    const auto names = lacking_instructions(out.log);
    throw Error(fmt::format("it can't be assembled for {}:\n{}{}", gfx,
                            std::regex_replace(out.log, std::regex(".*/kernel\\.s:"), ""),
                            names.empty() ? "" : who_has(names, gfx)));
}

std::string link_object(const std::string &path, const std::string &gfx) {
    Outcome out = run_clang(path, gfx, {});
    if (!out.ok)
        throw Error(fmt::format("{}: it can't be linked for {}:\n{}", path, gfx, out.log));
    return std::move(out.object);
}

std::string compile_hip(const std::string &path, const std::string &gfx) {
    Outcome out = run_hiprtc(path, gfx);
    if (out.ok)
        return std::move(out.object);
    const bool of_target = out.log.find("needs target feature") != out.log.npos ||
                           out.log.find(lacking) != out.log.npos;
    const std::string source = read_text(path);
    const bool of_host = source.find("<<<") != source.npos || source.find("main(") != source.npos;
    throw Error(fmt::format("{}: it can't be compiled for {}:\n{}{}{}", path, gfx, out.log,
                            of_target ? who_compiles(path) : "",
                            of_host
                                ? "nw compiles kernels alone, as hiprtc does: put what the host "
                                  "runs between #ifndef __HIPCC_RTC__ and #endif\n"
                                : ""));
}

std::string compile_opencl(const std::string &path, const std::string &gfx) {
    Outcome out = run_opencl(path, gfx);
    if (out.ok)
        return std::move(out.object);
    const bool undefined = out.log.find("undefined hidden symbol") != out.log.npos;
    throw Error(fmt::format("{}: it can't be compiled for {}:\n{}{}", path, gfx, out.log,
                            undefined ? "nw's OpenCL C has no such function (host/nw/opencl.cl): "
                                        "compile it with ROCm's clang and give the result\n"
                                      : ""));
}

std::string compile(const std::string &path, const std::string &gfx) {
    return is_assembly(path) ? assemble(path, gfx)
           : is_hip(path)    ? compile_hip(path, gfx)
                             : compile_opencl(path, gfx);
}

} // namespace nw::cli
