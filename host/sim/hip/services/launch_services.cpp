// SPDX-License-Identifier: MIT
#include "sim/hip/services/launch_services.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

#include "sim/func/launch/hidden_args.h"
#include "sim/func/wave.h"
#include "sim/hip/error.h"
#include "sim/hip/services/multi_grid.h"

namespace nw::hipsim {

namespace {

enum Service : u32 { call_host = 1, printf_message = 2, device_memory = 3, sanitizer = 4 };

constexpr u16 wants_queue_ptr = 1 << 2; // of a kernel descriptor

[[noreturn]] void refuse(const sim::Wave &w, const sim::Inst &i, const std::string &why) {
    sim::fault(w, i, sim::Fault::Kind::illegal_instruction, "hidden_hostcall_buffer: " + why);
}

// A kernel may send any number for a function of the host.
void call(const sim::Wave &w, const sim::Inst &i, u64 (&slots)[8]) {
    auto *const address = reinterpret_cast<void *>(slots[0]);
    Dl_info info;
    if (!dladdr(address, &info))
        refuse(w, i,
               fmt::format("the kernel calls the host's function at 0x{:x}, but no library "
                           "of this process is there",
                           slots[0]));
    u64 result[2] = {};
    reinterpret_cast<void (*)(u64 *, const u64 *)>(address)(result, slots + 1);
    std::copy_n(result, 2, slots);
}

void serve_memory(const sim::Wave &w, const sim::Inst &i, DeviceHeap &heap, u64 (&slots)[8]) {
    if (!slots[0])
        slots[0] = heap.allocate(slots[1]);
    else if (!heap.free(slots[0]))
        refuse(
            w, i,
            fmt::format("free(0x{:x}), which malloc has not returned or free has freed", slots[0]));
}

} // namespace

LaunchServices::LaunchServices(DeviceServices &device, sim::Dispatch &dispatch, u32 live_waves)
    : device_(device), program_(*dispatch.program) {
    if (dispatch.kernel->properties & wants_queue_ptr)
        dispatch.queue = device.queue();
    for (const sim::Arg &arg : dispatch.kernel->args) {
        if (!sim::is_hidden(arg) || u64{arg.offset} + sizeof(u64) > dispatch.kernarg.size())
            continue;
        const u64 value = value_of(arg, dispatch, live_waves);
        if (value == 0)
            continue;
        if (kernarg_.empty()) {
            kernarg_.assign(dispatch.kernarg.begin(), dispatch.kernarg.end());
            dispatch.kernarg = kernarg_;
        }
        std::memcpy(kernarg_.data() + arg.offset, &value, sizeof value);
    }
    if (grid_sync_)
        dispatch.grid_sync = reinterpret_cast<u64>(grid_sync_);
    if (hostcall_)
        dispatch.services = this;
}

// 0: none of these.
u64 LaunchServices::value_of(const sim::Arg &arg, const sim::Dispatch &dispatch, u32 live_waves) {
    const std::string &kind = arg.value_kind;
    if (kind == "hidden_hostcall_buffer") {
        if (!hostcall_)
            hostcall_ = device_.take_hostcall(live_waves);
        return hostcall_->address();
    }
    if (kind == "hidden_printf_buffer") {
        if (!printf_)
            printf_ = std::make_unique<PrintfBuffer>(device_.memory());
        return printf_->address();
    }
    if (kind == "hidden_heap_v1")
        return device_.heap().state();
    if (kind == "hidden_queue_ptr")
        return device_.queue();
    if (kind == "hidden_multigrid_sync_arg" && dispatch.cooperative)
        return dispatch.grid_sync ? dispatch.grid_sync : make_grid_sync(dispatch);
    return 0;
}

// One grid; its counters start at 0. It isn't one of several: their number is 0, too.
u64 LaunchServices::make_grid_sync(const sim::Dispatch &dispatch) {
    const sim::Dim3 &grid = dispatch.grid;
    grid_sync_ = device_.memory().allocate(sizeof(GridSync), "the grid's counters");
    if (!grid_sync_)
        throw std::bad_alloc();
    new (grid_sync_) GridSync{.groups = static_cast<u32>(u64{grid.x} * grid.y * grid.z)};
    return reinterpret_cast<u64>(grid_sync_);
}

LaunchServices::~LaunchServices() {
    static_cast<void>(guarded("printf in a kernel", [&] {
        if (printf_)
            if (const std::string lost = printf_->print(program_.printf_formats()); !lost.empty())
                say(lost);
        if (messages_.unfinished())
            say(fmt::format("{} messages of printf are lost: the launch ended within them",
                            messages_.unfinished()));
        if (printf_ || printed_)
            std::fflush(stdout);
        if (hostcall_ && !damaged_)
            device_.give_back(std::move(hostcall_));
    }));
    if (grid_sync_)
        device_.memory().release(grid_sync_);
}

void LaunchServices::serve(const sim::Wave &w, const sim::Inst &i) {
    const bool whole = hostcall_->serve([&](const HostcallRequest &request) {
        const std::lock_guard lock(mutex_);
        answer(w, i, request);
    });
    if (!whole)
        refuse(w, i, "its list of packets is damaged");
}

void LaunchServices::answer(const sim::Wave &w, const sim::Inst &i,
                            const HostcallRequest &request) {
    damaged_ = true; // a fault leaves the packet unanswered
    for (u64 rest = request.lanes; rest; rest &= rest - 1) {
        u64(&slots)[8] = request.slots[__builtin_ctzll(rest)];
        switch (request.service) {
        case call_host:
            call(w, i, slots);
            break;
        case printf_message:
            slots[0] = messages_.part(slots);
            printed_ = true;
            break;
        case device_memory:
            serve_memory(w, i, device_.heap(), slots);
            break;
        default:
            refuse(w, i,
                   fmt::format("service {}{} is not simulated; these are: 1 (host function), "
                               "2 (printf), 3 (device memory)",
                               request.service,
                               request.service == sanitizer ? " (sanitizer)" : ""));
        }
    }
    damaged_ = false;
}

} // namespace nw::hipsim
