// SPDX-License-Identifier: MIT
// Events with hipEventInterprocess: two counters in a memory file, which any process may raise or
// wait for.
#pragma once
#include <atomic>
#include <functional>
#include <memory>

#include "sim/hip/headers.h"
#include "sim/hip/ipc/shared_file.h"

namespace nw::hipsim {

// Contents of hipIpcEventHandle_t.
struct EventHandle {
    static constexpr u64 right_mark = 0x746e657665637069;
    u64 mark = 0;
    FileName file;
};

class SharedEvent {
public:
    SharedEvent();                                   // never recorded
    explicit SharedEvent(const EventHandle &handle); // hipErrorInvalidValue when it is gone
    ~SharedEvent();
    SharedEvent(const SharedEvent &) = delete;
    EventHandle handle() const;

    // A record is begun by the call and reached by the stream.
    u64 begin_record();
    void reach(u64 record);

    u64 last_record() const;         // 0: none
    bool recorded_elsewhere() const; // the last record is another process's
    bool reached(u64 record) const;
    // hipErrorLaunchFailure if the recording process ends first; hipErrorDeinitialized if this one
    // does.
    hipError_t wait(u64 record) const;

private:
    struct Counters {
        std::atomic<u64> begun, reached;
        std::atomic<i32> recorder; // process of the last record
    };
    static_assert(std::atomic<u64>::is_always_lock_free);
    const SharedFile file_;
    Counters *const counters_;
};

} // namespace nw::hipsim
