// SPDX-License-Identifier: MIT
// base/hipsim.h: devices with settings of their own.
#include "base/hipsim.h"

#include "sim/hip/runtime.h"
#include "sim/timing/constants/constants_json.h"

namespace nw::hipsim {

static std::string &last_message() {
    thread_local std::string text;
    return text;
}

// The reason is returned to the caller, not printed on stderr.
template <class Body> static int told(const Body &body) noexcept {
    try {
        last_message().clear();
        return body(), hipSuccess;
    } catch (const Failure &failure) {
        last_message() = failure.text.empty() ? error_name(failure.code) : failure.text;
        return failure.code;
    } catch (const std::exception &error) {
        last_message() = error.what();
        return hipErrorInvalidValue;
    }
}

} // namespace nw::hipsim

using namespace nw::hipsim;

extern "C" {

int hipsimOpenDevice(const char *spec, const char *defaults, int own, int *ordinal) {
    return told([&] {
        require(spec && ordinal, hipErrorInvalidValue);
        *ordinal = Runtime::get().open(spec, defaults ? defaults : "", own != 0);
    });
}

int hipsimCloseDevice(int ordinal) {
    return told([&] { Runtime::get().close(ordinal); });
}

int hipsimTakeStats(int ordinal, void (*line)(const char *text, void *user), void *user) {
    return told([&] {
        require(line != nullptr, hipErrorInvalidValue);
        Device &device = Runtime::get().device(ordinal);
        device.wait();
        for (const std::string &text : device.take_stats())
            line(text.c_str(), user);
    });
}

int hipsimPartConstants(const char *part, void (*json)(const char *text, void *user), void *user) {
    return told([&] {
        require(part && json, hipErrorInvalidValue);
        using namespace nw::sim::timing;
        const Part *named = find_part(part);
        if (!named && !default_part(part))
            throw nw::Error(std::string(part) + ": the model of time has no such part");
        const Part found = at_clock(named ? *named : part_of_gfx(part));
        json(constants_json(found, costs_for(found.gfx)).c_str(), user);
    });
}

const char *hipsimLastMessage() {
    if (Runtime *runtime = Runtime::if_running(); runtime && last_message().empty())
        last_message() = runtime->refusal();
    return last_message().c_str();
}
}
