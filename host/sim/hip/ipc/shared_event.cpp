// SPDX-License-Identifier: MIT
#include "sim/hip/ipc/shared_event.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "sim/hip/runtime.h"

namespace nw::hipsim {

static int descriptor_of_event(const EventHandle &handle) {
    require(handle.mark == EventHandle::right_mark, hipErrorInvalidValue);
    if (handle.file.process == getpid())
        fail(hipErrorInvalidContext, "the handle is this process's own");
    std::string why;
    const int descriptor = open_file(handle.file, why);
    if (descriptor < 0)
        fail(hipErrorInvalidValue, "the event of this handle is gone: " + why);
    return descriptor;
}

SharedEvent::SharedEvent()
    : file_(host_page), counters_(static_cast<Counters *>(file_.map(0, host_page))) {}

SharedEvent::SharedEvent(const EventHandle &handle)
    : file_(descriptor_of_event(handle)),
      counters_(static_cast<Counters *>(
          (require(file_.bytes() == host_page, hipErrorInvalidValue), file_.map(0, host_page)))) {}

SharedEvent::~SharedEvent() { munmap(counters_, host_page); }

EventHandle SharedEvent::handle() const {
    return {.mark = EventHandle::right_mark, .file = file_.name()};
}

u64 SharedEvent::begin_record() {
    counters_->recorder = getpid();
    return ++counters_->begun;
}

void SharedEvent::reach(u64 record) {
    u64 before = counters_->reached.load();
    while (before < record && !counters_->reached.compare_exchange_weak(before, record))
        ;
}

u64 SharedEvent::last_record() const { return counters_->begun; }

bool SharedEvent::recorded_elsewhere() const {
    return last_record() > 0 && counters_->recorder != getpid();
}

bool SharedEvent::reached(u64 record) const { return counters_->reached >= record; }

static bool has_ended(i32 process) { return kill(process, 0) != 0 && errno == ESRCH; }

hipError_t SharedEvent::wait(u64 record) const {
    for (unsigned round = 0; !reached(record); ++round) {
        if (!Runtime::if_running())
            return hipErrorDeinitialized;
        const i32 recorder = counters_->recorder;
        // It may have reached the record just before its end.
        if (round % 64 == 63 && has_ended(recorder) && !reached(record)) {
            say(fmt::format("process {}, which recorded an event, ended before it was reached",
                            recorder));
            return hipErrorLaunchFailure;
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return hipSuccess;
}

} // namespace nw::hipsim
