// SPDX-License-Identifier: MIT
// hiprtc's entry points. No handle, pointer or source makes them crash.
#include <cstdio>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "sim/hiprtc/link.h"
#include "sim/hiprtc/program.h"

namespace nw::hiprtc {

namespace {

// Live objects by handle. Never destroyed: the host may call us at its end.
template <class T> class Table {
public:
    void *add(std::shared_ptr<T> object) {
        const std::lock_guard lock(mutex_);
        void *const handle = object.get();
        (*live_)[handle] = std::move(object);
        return handle;
    }
    std::shared_ptr<T> find(void *handle) {
        const std::lock_guard lock(mutex_);
        const auto at = live_->find(handle);
        return at == live_->end() ? nullptr : at->second;
    }
    bool remove(void *handle) {
        const std::lock_guard lock(mutex_);
        return live_->erase(handle) != 0;
    }

private:
    std::mutex mutex_;
    std::map<void *, std::shared_ptr<T>> *const live_ = new std::map<void *, std::shared_ptr<T>>;
};

auto &programs = *new Table<Program>;
auto &links = *new Table<Link>;

template <class Body> Result guarded(Body &&body) noexcept {
    try {
        return body();
    } catch (const std::bad_alloc &) {
        return Result::out_of_memory;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "hipsim: hiprtc: %s\n", error.what());
        return Result::internal_error;
    }
}

template <class Body> Result with_program(void *handle, Body &&body) noexcept {
    return guarded([&] {
        const auto program = programs.find(handle);
        return program ? body(*program) : Result::invalid_program;
    });
}
template <class Body> Result with_link(void *handle, Body &&body) noexcept {
    return guarded([&] {
        const auto link = links.find(handle);
        return link ? body(*link) : Result::invalid_input;
    });
}

Result copy(const std::string &from, char *to) {
    if (!to)
        return Result::invalid_input;
    std::memcpy(to, from.data(), from.size());
    return Result::success;
}
Result size(const std::string &of, size_t *to) {
    if (!to)
        return Result::invalid_input;
    *to = of.size();
    return Result::success;
}

bool linkable(int type) {
    return type >= static_cast<int>(Input::bitcode) &&
           type <= static_cast<int>(Input::archive_of_bundled_bitcode);
}

// A failure that the host may never ask the log for.
void say(const std::string &log) {
    if (log == no_tools)
        std::fprintf(stderr, "hipsim: %s", log.c_str());
}

} // namespace

} // namespace nw::hiprtc

using namespace nw::hiprtc;

#pragma GCC visibility push(default)
extern "C" {

Result hiprtcVersion(int *major, int *minor) {
    if (!major || !minor)
        return Result::invalid_input;
    *major = 9; // as ROCm 5 and 6 say
    *minor = 0;
    return Result::success;
}

const char *hiprtcGetErrorString(Result result) {
    switch (result) {
    case Result::success:
        return "HIPRTC_SUCCESS";
    case Result::out_of_memory:
        return "HIPRTC_ERROR_OUT_OF_MEMORY";
    case Result::creation_failure:
        return "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    case Result::invalid_input:
        return "HIPRTC_ERROR_INVALID_INPUT";
    case Result::invalid_program:
        return "HIPRTC_ERROR_INVALID_PROGRAM";
    case Result::invalid_option:
        return "HIPRTC_ERROR_INVALID_OPTION";
    case Result::compilation:
        return "HIPRTC_ERROR_COMPILATION";
    case Result::builtin_failure:
        return "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    case Result::names_after_compilation:
        return "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    case Result::no_names_before_compilation:
        return "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    case Result::name_not_valid:
        return "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    case Result::internal_error:
        return "HIPRTC_ERROR_INTERNAL_ERROR";
    case Result::linking:
        return "HIPRTC_ERROR_LINKING";
    }
    return "Invalid HIPRTC error code";
}

Result hiprtcCreateProgram(void **handle, const char *source, const char *name, int header_count,
                           const char **headers, const char **header_names) {
    return guarded([&] {
        if (!handle)
            return Result::invalid_program;
        if (!source || header_count < 0 || (header_count && (!headers || !header_names)))
            return Result::invalid_input;
        auto program = std::make_shared<Program>(source, name ? name : "");
        for (int n = 0; n < header_count; ++n)
            if (!headers[n] || !header_names[n] ||
                !program->add_header(header_names[n], headers[n]))
                return Result::invalid_input;
        *handle = programs.add(std::move(program));
        return Result::success;
    });
}

Result hiprtcCompileProgram(void *handle, int count, const char **options) {
    return with_program(handle, [&](Program &program) {
        if (count < 0 || (count && !options))
            return Result::invalid_input;
        std::vector<std::string> words;
        for (int n = 0; n < count; ++n) {
            if (!options[n])
                return Result::invalid_input;
            words.push_back(options[n]);
        }
        const Result result = program.compile(words);
        say(program.log());
        return result;
    });
}

Result hiprtcDestroyProgram(void **handle) {
    return guarded([&] {
        if (!handle)
            return Result::invalid_input;
        if (!programs.remove(*handle))
            return Result::invalid_program;
        *handle = nullptr;
        return Result::success;
    });
}

Result hiprtcAddNameExpression(void *handle, const char *expression) {
    return with_program(handle, [&](Program &program) {
        return expression ? program.add_name(expression) : Result::invalid_input;
    });
}

Result hiprtcGetLoweredName(void *handle, const char *expression, const char **name) {
    return with_program(handle, [&](Program &program) {
        return expression && name ? program.lowered(expression, name) : Result::invalid_input;
    });
}

// The log counts its final NUL; an empty log has no bytes at all.
Result hiprtcGetProgramLogSize(void *handle, size_t *bytes) {
    return with_program(handle, [&](Program &program) {
        const Result result = size(program.log(), bytes);
        if (result == Result::success && *bytes)
            ++*bytes;
        return result;
    });
}
Result hiprtcGetProgramLog(void *handle, char *log) {
    return with_program(handle, [&](Program &program) {
        const Result result = copy(program.log(), log);
        if (result == Result::success && !program.log().empty())
            log[program.log().size()] = '\0';
        return result;
    });
}

Result hiprtcGetCodeSize(void *handle, size_t *bytes) {
    return with_program(handle, [&](Program &program) { return size(program.code(), bytes); });
}
Result hiprtcGetCode(void *handle, char *code) {
    return with_program(handle, [&](Program &program) { return copy(program.code(), code); });
}
Result hiprtcGetBitcodeSize(void *handle, size_t *bytes) {
    return with_program(handle, [&](Program &program) {
        return program.bitcode().empty() ? Result::invalid_program : size(program.bitcode(), bytes);
    });
}
Result hiprtcGetBitcode(void *handle, char *bitcode) {
    return with_program(handle, [&](Program &program) {
        return program.bitcode().empty() ? Result::invalid_program
                                         : copy(program.bitcode(), bitcode);
    });
}

// Options steer optimization and logs of a compiler that this isn't: accepted without effect.
Result hiprtcLinkCreate(unsigned count, int *options, void **values, void **handle) {
    return guarded([&] {
        if (!handle || (count && (!options || !values)))
            return Result::invalid_input;
        *handle = links.add(std::make_shared<Link>());
        return Result::success;
    });
}

Result hiprtcLinkAddFile(void *handle, int type, const char *path, unsigned, int *, void **) {
    return with_link(handle, [&](Link &link) {
        return path && linkable(type) ? link.add_file(static_cast<Input>(type), path)
                                      : Result::invalid_input;
    });
}

Result hiprtcLinkAddData(void *handle, int type, void *bytes, size_t count, const char *, unsigned,
                         int *, void **) {
    return with_link(handle, [&](Link &link) {
        return bytes && count && linkable(type)
                   ? link.add(static_cast<Input>(type), {static_cast<char *>(bytes), count})
                   : Result::invalid_input;
    });
}

Result hiprtcLinkComplete(void *handle, void **code, size_t *bytes) {
    return with_link(handle, [&](Link &link) {
        if (!code || !bytes)
            return Result::invalid_input;
        const Result result = link.complete();
        if (result != Result::success) {
            std::fprintf(stderr, "hipsim: hiprtcLinkComplete: %s", link.log().c_str());
            return result;
        }
        *code = const_cast<char *>(link.code().data());
        *bytes = link.code().size();
        return result;
    });
}

Result hiprtcLinkDestroy(void *handle) {
    return guarded([&] { return links.remove(handle) ? Result::success : Result::invalid_input; });
}
}
#pragma GCC visibility pop
